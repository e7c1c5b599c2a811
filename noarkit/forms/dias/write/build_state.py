"""Keeps tar and submission description together until both are whole: one rename gives them their folder.

The folder `.noarkit-….part` beside the target holds what was fixed at the first start (`start.json`), a lock, and
`pair/`, in which the tar grows. A build that was killed at any moment is gone on with from here.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from noarkit.errors import PackageFault, RunLocked, UsageFault
from noarkit.safe.atomic import is_temporary, sync_folder, write_text
from noarkit.safe.locks import try_lock


class BuildState:
    """The work on one target. Close it."""

    def __init__(self, target: Path, job: str, first: Callable[[], Mapping[str, str]]) -> None:
        self._target = target
        key = hashlib.blake2b(b"dias " + os.fsencode(target.name), digest_size=8).hexdigest()
        self._home = target.parent / f".noarkit-{key}.part"
        self._begin()
        self._facts = self._read()
        if self._facts.get("job") != job:
            # what lies here is of another order: it cannot be gone on with
            shutil.rmtree(self.folder, ignore_errors=True)
            self._facts = {}
            self.save(job=job, **first())
        self.folder.mkdir(exist_ok=True)

    def _begin(self) -> None:
        self._home.mkdir(exist_ok=True)
        self._lock = os.open(self._home / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if not try_lock(self._lock) or os.fstat(self._lock).st_ino != (self._home / "lock").stat().st_ino:
                raise BlockingIOError  # another cleared up between our two steps
        except (BlockingIOError, FileNotFoundError) as error:
            os.close(self._lock)
            raise RunLocked(where=str(self._home)) from error

    @property
    def folder(self) -> Path:
        """Where both files grow."""
        return self._home / "pair"

    @property
    def facts(self) -> Mapping[str, str]:
        """What is known of the build since its first start."""
        return MappingProxyType(self._facts)

    def save(self, **facts: str) -> None:
        """Keeps facts, durably."""
        self._facts |= facts
        write_text(self._home / "start.json", json.dumps(self._facts))

    def has_file(self, name: str) -> bool:
        """True where a file stands in the pair; what was left of its making is taken away."""
        if not (self.folder / name).is_file():
            return False
        for entry in self.folder.iterdir():
            if is_temporary(entry.name):
                shutil.rmtree(entry, ignore_errors=True)
        return True

    def is_placed(self) -> bool:
        """True where a build before this gave the pair its folder, and was killed before it could clear up."""
        return self._facts.get("phase") == "whole" and os.path.lexists(self._target) and not any(self.folder.iterdir())

    def place(self) -> None:
        """The last step: until here nothing bears the target's name. Both files are on disk already."""
        sync_folder(self.folder)
        self.save(phase="whole")
        if os.path.lexists(self._target):
            raise UsageFault(what="exists", where=str(self._target))
        try:
            self.folder.rename(self._target)
        except OSError as error:
            raise PackageFault(where=str(self._target), why="not-placed", detail=error.strerror) from error
        sync_folder(self._target.parent)

    def clear(self) -> None:
        """Nothing of this is needed any more. What is known goes last: until then the build can be gone on with."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self._home, ignore_errors=True)

    def close(self) -> None:
        """Lets another process go on."""
        os.close(self._lock)

    def _read(self) -> dict[str, str]:
        try:
            return dict(json.loads((self._home / "start.json").read_text("utf-8")))
        except FileNotFoundError:
            return {}
