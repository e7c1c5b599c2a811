"""`python -m noarkit`: the command line."""

from noarkit.cli.main import run

if __name__ == "__main__":
    run()
