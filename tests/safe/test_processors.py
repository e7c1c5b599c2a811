"""As many workers as processors that may be used, not as many as the machine has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from noarkit.safe.processors import usable_processors

ALLOWED = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@pytest.mark.parametrize(
    ("quota", "expected"),
    [
        ("max 100000", ALLOWED),
        ("100000 100000", 1),
        ("50000 100000", 1),
        ("1000000000 1000", ALLOWED),
        ("nonsense", ALLOWED),
        ("1 0", ALLOWED),
    ],
)
def test_a_container_may_grant_fewer(quota: str, expected: int, tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text(quota + "\n")
    assert usable_processors(tmp_path / "cpu.max") == expected


def test_without_containers_the_scheduler_alone_decides(tmp_path: Path) -> None:
    assert usable_processors(tmp_path / "none") == ALLOWED


def test_a_process_that_is_pinned_to_one_has_one(tmp_path: Path) -> None:
    if not hasattr(os, "sched_setaffinity"):
        return
    program = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    program += "from noarkit.safe.processors import usable_processors; print(usable_processors())"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed == "1\n"
