"""A lock is held by one at a time, names its owner, and dies with its process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from noarkit.errors import RunLocked
from noarkit.safe.locks import claimed, held_lock, try_lock

HOLDS = "import sys\nfrom pathlib import Path\nfrom noarkit.safe.locks import claimed\n"
HOLDS += "with claimed(Path(sys.argv[1]), 'there'):\n    print('held', flush=True)\n    sys.stdin.read()\n"


def test_a_claim_names_its_owner_and_dies_with_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        with pytest.raises(RunLocked) as locked, claimed(path, "here"):
            pass
        assert locked.value.data["where"] == "here"
        assert str(locked.value.data["owner"]).startswith(f"process {holder.pid} on ")
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    with claimed(path, "here"):
        assert path.read_text("utf-8").startswith(f"process {os.getpid()} on ")
    assert path.stat().st_mode & 0o077 == 0


def test_who_waits_for_a_lock_gets_it_when_it_is_free(tmp_path: Path) -> None:
    order: list[str] = []

    def second() -> None:
        with held_lock(tmp_path / "lock"):
            order.append("second")

    with held_lock(tmp_path / "lock"):
        waiting = threading.Thread(target=second)
        waiting.start()
        waiting.join(0.2)
        order.append("first")
    waiting.join()
    assert order == ["first", "second"]


def test_who_has_little_patience_goes_on_without_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with held_lock(path):
        with held_lock(path, patience_s=0.1):
            pass
        assert not is_free(path), "it was not ours to let go"
    with held_lock(path, patience_s=0.0):
        assert not is_free(path)
    assert is_free(path)


def is_free(path: Path) -> bool:
    """True if nobody holds the lock."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        return try_lock(descriptor)
    finally:
        os.close(descriptor)


def test_readers_share_a_lock_and_keep_a_writer_out(tmp_path: Path) -> None:
    descriptors = [os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT) for _ in range(3)]
    try:
        assert [try_lock(descriptor, shared=True) for descriptor in descriptors[:2]] == [True, True]
        assert not try_lock(descriptors[2])
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
