"""Temporary folders of our own go with whoever holds them, and those of the killed go at the next start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from noarkit.safe.workplace import temporary_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders are held by locks that Windows does not have")
ROOT = Path(__file__).resolve().parent.parent.parent
HOLDING = (
    "import sys\n"
    "from noarkit.safe.workplace import temporary_folder\n"
    "with temporary_folder('test') as folder:\n"
    "    (folder / 'inside').mkdir()\n"
    "    print(folder, flush=True)\n"
    "    sys.stdin.read()\n"
)

OWNED = (
    "import os\n"
    "from noarkit.safe.workplace import folder_for_owner\n"
    "owner = type('Owner', (), {})()\n"
    "folder = folder_for_owner(owner, 'test')\n"
    "if os.fork() == 0:\n"
    "    del owner\n"
    "    os._exit(0 if folder.is_dir() else 1)\n"
    "assert os.wait()[1] == 0 and folder.is_dir()\n"
    "del owner\n"
    "assert not folder.exists()\n"
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files lie, here and in processes of the test."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@contextmanager
def another() -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Another process that holds a folder, and that folder."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING], env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        try:
            yield process, Path(process.stdout.readline().strip())
        finally:
            process.kill()


def test_what_a_killed_process_left_goes_when_the_next_one_begins_and_what_is_in_use_stays(home: Path) -> None:
    with another() as (killed, left), another() as (_, used):
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert (left / "inside").is_dir()
        with temporary_folder("test") as mine:
            assert set(home.iterdir()) == {used, mine}
            with temporary_folder("test"):
                assert mine.is_dir()
        assert set(home.iterdir()) == {used}


def test_a_folder_of_another_name_and_a_link_are_left_alone(home: Path) -> None:
    elsewhere = home / "noarkit-verify-of-somebody"
    elsewhere.mkdir()
    link = home / "noarkit-own-link"
    link.symlink_to(elsewhere)
    with temporary_folder("test"):
        pass
    assert set(home.iterdir()) == {elsewhere, link}


def test_a_folder_goes_with_its_owner_and_a_child_leaves_it_be(home: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", OWNED], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(home.iterdir()) == []
