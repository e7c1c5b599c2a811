"""A line is added whole, and is on the disk when that is told."""

from __future__ import annotations

import sys
from pathlib import Path
from subprocess import run

import pytest

from noarkit.errors import DiskFull
from noarkit.safe.atomic import append_line


def test_lines_follow_each_other(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    for line in (b"a", b"b"):
        append_line(path, line)
    assert path.read_bytes() == b"a\nb\n"
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_unfinished_line_is_ended_first(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"a\nhal")
    path.chmod(0o600)
    append_line(path, b"b")
    assert path.read_bytes() == b"a\nhal\nb\n"


_LIMITED = """
import resource, signal, sys
from pathlib import Path
from noarkit.safe.atomic import append_line
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
append_line(Path(sys.argv[1]), b"x" * 200)
"""


def test_a_line_that_does_not_fit_is_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    append_line(path, b"a")
    ended = run([sys.executable, "-B", "-c", _LIMITED, str(path)], capture_output=True, check=False)
    assert ended.returncode != 0
    assert path.read_bytes() == b"a\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_told_as_such() -> None:
    with pytest.raises(DiskFull):
        append_line(Path("/dev/full"), b"a")
