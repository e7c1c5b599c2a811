"""What several gates read of the same file is read once: the latest answer is kept with the file that it is about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")


class LatestAnswer(Generic[T]):
    """Answers as `ask` does; asked of the same file again, which has not changed, it repeats its answer."""

    def __init__(self, ask: Callable[..., T]) -> None:
        self._ask = ask
        self._key: tuple[object, ...] | None = None
        self._answer: list[T] = []

    def __call__(self, path: Path, *more: object) -> T:
        """The answer about a file. Raises what `ask` raises."""
        status = path.stat()
        key = (path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, more)
        if key != self._key:
            self._key = None
            self._answer = [self._ask(path, *more)]
            self._key = key
        return self._answer[0]
