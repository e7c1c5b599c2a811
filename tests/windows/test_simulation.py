"""The road from a folder to a validated extract on a machine that looks like Windows to noarkit (`as_windows`).

What the real thing does beyond that (its own paths, its scanner of viruses, its console) nobody has seen here; the
manual says so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from noarkit.safe.signals import is_running

ROOT = Path(__file__).resolve().parents[2]
AS_WINDOWS = ROOT / "tests" / "programs" / "as_windows"
FILES = {
    "2019/Søknad.txt": b"med\r\nto linjer\r\n",
    "2019/CON.txt": b"a device, elsewhere",
    "2020/dot. /blank .txt": b"names that end in dots and blanks",
    "brev.eml": b"From: a@example.com\r\nTo: b@example.com\r\nSubject: hei\r\n\r\nhei\r\n",
}
STEPS = """
scan in
plan in -o run --hash
ingest run --archive embedded:arc --workers 2
status run
verify run --depth bytes
close run
extract -o pkg --as noark5 --archive embedded:arc --include-open
validate pkg
extract -o bag --as bagit --archive embedded:arc --include-open
validate bag
"""
_RUN = "import os, sys\nfrom noarkit.cli.main import main\n"
_EACH = 'for line in sys.stdin:\n    print("==", line.split()[0], main(line.split(), os.environ), flush=True)\n'


def as_windows(code: str, folder: Path, text: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """A program in an interpreter of its own, which looks like Windows to noarkit, and so do all its children.

    Its temporary folders are its own: they bear no lock, so that to any other process they look as if left behind.
    """
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    kept = ("PATH", "HOME")
    return subprocess.run(
        [sys.executable, "-P", "-c", code],
        input=text,
        cwd=folder,
        env={
            **{name: os.environ[name] for name in kept if name in os.environ},
            "PYTHONPATH": os.pathsep.join([str(AS_WINDOWS), str(ROOT)]),
            "TMPDIR": str(temporary),
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )


def lay_out(folder: Path, files: Mapping[str, bytes] = FILES) -> None:
    """The source."""
    for name, content in files.items():
        path = folder / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@pytest.fixture(scope="module")
def journey(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """All steps, in one process; what starts notes itself."""
    folder = tmp_path_factory.mktemp("windows")
    lay_out(folder)
    done = as_windows(_RUN + _EACH, folder, STEPS.strip() + "\n", AS_WINDOWS_STARTS=str(folder / "starts"))
    return folder, done


def test_every_step_from_scan_to_validate_ends_well(journey: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    _, done = journey
    ends = [line for line in done.stdout.splitlines() if line.startswith("== ")]
    steps = ["scan", "plan", "ingest", "status", "verify", "close", "extract", "validate", "extract", "validate"]
    assert [line.split()[1] for line in ends] == steps, done.stderr
    # an extract without a named creator is made, but no delivery: 3
    assert [int(line.split()[2]) for line in ends] == [0, 0, 0, 0, 0, 0, 3, 3, 3, 3], done.stdout + done.stderr


def test_what_comes_out_is_what_went_in(journey: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, _ = journey
    documents = {path.read_bytes() for path in (folder / "pkg" / "dokumenter").rglob("*") if path.is_file()}
    assert documents == set(FILES.values())


def test_children_saw_the_same_machine(journey: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, _ = journey
    starts = (folder / "starts").read_text("utf-8")
    assert "multiprocessing-fork" in starts, starts  # the loading workers were spawned
    assert "noarkit.embedded" in starts  # the archive


def test_hooks_are_started_given_their_event_and_ended(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a.txt": b"a"})
    hooks = {
        "tell it.py": "import sys\nopen('heard', 'ab').write(sys.stdin.buffer.read())\n",
        "hang.py": "import os, time\nopen('hung', 'w').write(str(os.getpid()))\ntime.sleep(600)\n",
    }
    for name, code in hooks.items():
        (tmp_path / name).write_text(code, "utf-8")
    tell, hang = f'"{sys.executable}" "tell it.py"', f'"{sys.executable}" hang.py'
    words = ["scan", "in", "--json", *("--hook", "start", tell, "--hook", "each", tell, "--hook", "success", hang)]
    done = as_windows(_RUN + f"sys.exit(main({words!r}, os.environ))", tmp_path, NOARKIT_HOOK_TIMEOUT_S="3")
    assert done.returncode == 0, done.stderr
    faults = [line for line in map(json.loads, done.stdout.splitlines()) if line["event"] == "fault"]
    assert [fault["data"]["why"] for fault in faults] == ["hook-too-slow"], faults
    heard = [json.loads(line)["event"] for line in (tmp_path / "heard").read_text("utf-8").splitlines()]
    assert heard[0] == "start" and "summary" in heard
    assert not is_running(int((tmp_path / "hung").read_text("utf-8")))


def test_a_command_is_split_at_its_quotes_and_keeps_its_backslashes(tmp_path: Path) -> None:
    line = r""""C:\Program Files\Tell\tell.exe" --to='a b' C:\new\x.txt \\server\share "" """
    code = "import sys\nfrom noarkit.safe.commands import split_command\nprint(split_command(sys.stdin.read()))"
    done = as_windows(code, tmp_path, line)
    assert done.stdout.strip() == repr(
        ["C:\\Program Files\\Tell\\tell.exe", "--to=a b", "C:\\new\\x.txt", "\\\\server\\share", ""]
    ), done.stderr


def test_a_hook_of_the_settings_is_read_by_the_rules_of_the_system(tmp_path: Path) -> None:
    code = "import sys\nfrom noarkit.setting_values import read_commands\nprint(*read_commands(sys.stdin.read(), 'x'))"
    done = as_windows(code, tmp_path, '"C:\\Tell\\"')  # elsewhere its last quotation mark would be escaped
    assert done.stdout.strip() == '"C:\\Tell\\"', done.stderr


@pytest.mark.parametrize(
    ("use", "refusal"),
    [
        ("import fcntl", "ModuleNotFoundError"),
        ("from resource import RLIMIT_AS", "ModuleNotFoundError"),
        ("import pwd", "ModuleNotFoundError"),
        ("import os; os.fork()", "AttributeError"),
        ("import os; os.pread(0, 1, 0)", "AttributeError"),
        ("import os; os.getuid()", "AttributeError"),
        ("import os; os.O_CLOEXEC", "AttributeError"),
        ("import os; os.open('.', os.O_RDONLY | os.O_BINARY)", "PermissionError"),
        ("import os; os.open('a', os.O_WRONLY | os.O_CREAT)", "AssertionError"),
        ("import os; os.stat('.', dir_fd=0)", "NotImplementedError"),
        ("import os; os.kill(os.getpid(), 0)", "AssertionError"),
        ("import signal; signal.SIGKILL", "AttributeError"),
        ("import signal; signal.SIGUSR1", "AttributeError"),
        ("import select; select.poll()", "AttributeError"),
        ("import multiprocessing; multiprocessing.get_context('fork')", "ValueError"),
        ("from multiprocessing.context import ForkContext", "ImportError"),
        ("import subprocess; subprocess.Popen(['true'], start_new_session=True)", "AssertionError"),
        ("file = open('b', 'w'); import os; os.remove('b')", "PermissionError"),
    ],
)
def test_what_windows_lacks_fails_in_a_module_of_ours(use: str, refusal: str, tmp_path: Path) -> None:
    code = f"import noarkit.version as ours\nexec({use!r}, vars(ours))"
    done = as_windows(code, tmp_path)
    assert done.stderr.splitlines()[-1].startswith(refusal), done.stderr
