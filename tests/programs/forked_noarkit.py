"""Stands for `noarkit` where tests run scripts: has the command forked where everything is imported already, and lives
as long as it. tests/forked.py puts it on the path; it must start at once, so it imports almost nothing."""

import os
import signal
import socket
import sys


def main() -> int:
    """Gives the command its words, folder, environment and streams; passes signals on; ends with its exit code."""
    with socket.socket(socket.AF_UNIX) as forker:
        forker.connect(os.environ["NOARKIT_TEST_FORKER"])
        words = sys.argv[1:]
        environment = [f"{name}={value}" for name, value in os.environ.items()]
        parts = [os.getcwd(), str(len(words)), *words, *environment]  # noqa: PTH109  # pathlib takes its time
        streams = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
        wanted = b"".join(os.fsencode(part) + b"\0" for part in parts)
        size = len(wanted).to_bytes(8, "big")
        forker.sendmsg([size], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
        forker.sendall(wanted)
        with forker.makefile("rb") as told:
            pid = int(told.readline())
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, lambda sent, _: os.kill(pid, sent))
            return int(told.readline() or 1)


if __name__ == "__main__":
    code = main()
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)
