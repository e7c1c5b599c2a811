r"""Paths as Windows takes them, files that are open elsewhere, and what is printed where not every character can be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from noarkit.errors import UnsafePath
from noarkit.safe import folder_handles
from noarkit.safe.paths import checked_parts, is_device, twin_key
from noarkit.safe.portable import portable_part
from noarkit.safe.signals import is_running, kill
from noarkit.safe.windows import extended, while_open_elsewhere
from tests.windows.test_simulation import as_windows

ROOT = Path(__file__).resolve().parents[2]
SHARING_VIOLATION = 32


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("C:\\Saker\\a.txt", "\\\\?\\C:\\Saker\\a.txt"),
        ("c:/Saker/2019/a.txt", "\\\\?\\c:\\Saker\\2019\\a.txt"),
        ("C:\\Saker\\..\\b\\.\\c", "\\\\?\\C:\\b\\c"),
        ("C:\\Saker\\NUL.txt", "\\\\?\\C:\\Saker\\NUL.txt"),
        ("C:\\Saker\\dot. \\blank ", "\\\\?\\C:\\Saker\\dot. \\blank "),
        ("\\\\server\\share\\sak\\a", "\\\\?\\UNC\\server\\share\\sak\\a"),
        ("//server/share/a", "\\\\?\\UNC\\server\\share\\a"),
        ("\\\\?\\C:\\a/b", "\\\\?\\C:\\a/b"),
        ("\\\\.\\pipe\\a", "\\\\.\\pipe\\a"),
        ("C:\\" + "a" * 200 + "\\" + "b" * 200, "\\\\?\\C:\\" + "a" * 200 + "\\" + "b" * 200),
    ],
)
def test_a_path_is_written_in_the_form_without_a_limit(path: str, form: str) -> None:
    assert extended(path) == form


class _OpenElsewhere:
    """A step that is refused so many times, as Windows refuses it."""

    def __init__(self, times: int, code: int | None = SHARING_VIOLATION) -> None:
        self.left = times
        self.code = code
        self.naps: list[float] = []

    def __call__(self) -> str:
        if self.left:
            self.left -= 1
            error = PermissionError(13, "in use")
            if self.code is not None:
                error.winerror = self.code  # type: ignore[attr-defined]  # of Windows alone
            raise error
        return "done"


def test_a_file_that_is_open_elsewhere_is_tried_again_for_some_seconds() -> None:
    step = _OpenElsewhere(3)
    assert while_open_elsewhere(step, windows=True, sleep=step.naps.append) == "done"
    assert step.naps == sorted(step.naps) and len(step.naps) == 3
    stubborn = _OpenElsewhere(1_000)
    with pytest.raises(PermissionError):
        while_open_elsewhere(stubborn, windows=True, sleep=stubborn.naps.append)
    assert 2 < sum(stubborn.naps) < 10


@pytest.mark.parametrize(("windows", "code"), [(False, SHARING_VIOLATION), (True, 112), (True, None)])
def test_any_other_refusal_is_told_at_once(windows: bool, code: int | None) -> None:
    step = _OpenElsewhere(1, code)
    with pytest.raises(PermissionError):
        while_open_elsewhere(step, windows=windows, sleep=step.naps.append)
    assert step.naps == []


@pytest.mark.parametrize(
    "name", ["C:/a", "c:a", "\\\\server\\share\\a", "//server/share/a", "a\\..\\..\\b", "NUL", "a/con.txt"]
)
def test_a_name_that_leads_elsewhere_on_windows_is_refused_everywhere(name: str) -> None:
    with pytest.raises(UnsafePath):
        checked_parts(name)


@pytest.mark.parametrize("name", ["CON", "nul.txt", "a.", "a ", "a:b", "COM1.log", "LPT³"])
def test_a_name_that_windows_cannot_bear_is_written_so_that_it_can(name: str) -> None:
    portable = portable_part(name)
    assert portable != name and not is_device(portable)
    assert not portable.endswith((".", " ")) and ":" not in portable


def test_names_that_windows_takes_for_one_have_one_key() -> None:
    assert len({twin_key(name) for name in ("Brev.TXT", "brev.txt", "BREV.txt. ")}) == 1


def test_a_handle_of_a_folder_without_descriptors_leads_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    code = (
        "import os\nfrom noarkit.safe import folder_handles as f\n"
        "home = f.open_folder('.')\nassert not f.BY_DESCRIPTOR\n"
        "f.close(f.open_folder_in(b'a', home))\n"
        "for name in (b'link', b'..', b'a/..', b'a\\\\b', b'C:a', b'missing'):\n"
        "    try:\n        f.open_folder_in(name, home)\n    except OSError as error:\n"
        "        print(type(error).__name__, error.errno)\n"
    )
    done = as_windows(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["OSError 40", *["FileNotFoundError 2"] * 5]


def test_whether_a_process_runs_is_asked_without_harm() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert is_running(child.pid) and is_running(os.getpid()) and not is_running(0)
    assert child.poll() is None
    kill(child.pid)
    child.communicate()
    assert not is_running(child.pid)
    kill(child.pid)  # nobody is there any more


@pytest.mark.parametrize("encoding", ["cp1252:strict", "utf-8:strict"])
def test_no_character_ends_a_command_on_a_console_that_lacks_it(encoding: str, tmp_path: Path) -> None:
    """A name of Sámi, Greek, Chinese letters, an emoji and a stray byte, on stdout and stderr."""
    name = "Sámegiella ŋ α 漢 🗂 "
    folder = tmp_path / os.fsdecode(name.encode() + b"\xff")
    folder.mkdir()
    (folder / "brev ŋ 漢.txt").write_text("hei", "utf-8")
    for arguments in (["scan", str(folder)], ["validate", str(folder / "missing 漢")]):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "noarkit", *arguments],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "PYTHONIOENCODING": encoding,
                "PYTHONUTF8": "0",
                "NOARKIT_LANG": "nb",
            },
            capture_output=True,
            check=False,
        )
        told = (done.stdout + done.stderr).decode(encoding.partition(":")[0])
        assert "Traceback" not in told and "F900" not in told, told
        assert told and done.returncode in (0, 4, 8), told


def test_handles_are_descriptors_here() -> None:
    assert folder_handles.BY_DESCRIPTOR
