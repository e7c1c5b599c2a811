"""PRONOM identifiers, told by a worker process: the library that knows them brings a runtime that must not share ours.

A worker that dies or hangs costs one answer; the next question starts another. Needs the extra `pronom`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sys
from collections import OrderedDict
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from noarkit.documents.detect import looks_like_mail
from noarkit.errors import UsageFault
from noarkit.safe.children import WorkerLost
from noarkit.safe.descriptors import read_at
from noarkit.safe.line_worker import LineWorker
from noarkit.safe.workplace import temporary_folder
from noarkit.wings import extra_command

_REMEMBERED = 50_000
_HASHED_BYTES = 256 * 1024
_PATIENCE_S = 120.0
_PROGRAM = "noarkit.sources.files.puids"


@dataclass(frozen=True, slots=True)
class PuidMatch:
    """A format by its PRONOM identifier, and what that rests on, as the identifying library words it."""

    puid: str
    media_type: str = ""
    basis: str = ""
    """`byte match …`, `container …`, `text match …`, `extension match …`; several in one."""
    warning: str = ""
    """`extension mismatch`, `match on extension only`; empty if all agree."""


class Puids:
    """Tells PUIDs of open files. Use as a context; the worker starts with the first question."""

    def __init__(self) -> None:
        if importlib.util.find_spec("pygfried") is None:
            raise UsageFault(what="no-pronom", where="puids", do=extra_command("pronom"))
        self._worker: LineWorker | None = None
        self._known: OrderedDict[tuple[str, int, bytes], PuidMatch | None] = OrderedDict()
        self._open = ExitStack()
        self._links = self._open.enter_context(temporary_folder("puid"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the worker."""
        self._end()
        self._open.close()

    def of(self, descriptor: int, ext: str, head: bytes) -> str | None:
        """The PUID of the open file, or None if it is unknown. Alike small files are asked for once."""
        match = self.match(descriptor, ext, head)
        return match.puid if match is not None else None

    def match(self, descriptor: int, ext: str, head: bytes) -> PuidMatch | None:
        """The same with what it rests on."""
        size = os.fstat(descriptor).st_size
        if not size:
            return None
        if size > _HASHED_BYTES:
            return self._identify(descriptor, ext) or _mail_match(head, ext)
        alike = (ext, size, hashlib.sha256(read_at(descriptor, _HASHED_BYTES, 0)).digest())
        if alike not in self._known:
            self._known[alike] = self._identify(descriptor, ext) or _mail_match(head, ext)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return self._known[alike]

    def _identify(self, descriptor: int, ext: str) -> PuidMatch | None:
        path = self._path(descriptor, ext)
        if path is None:
            return None
        self._worker = self._worker or LineWorker(_PROGRAM, "serve", quiet=True)
        try:
            answer = json.loads(self._worker.ask(json.dumps(str(path)).encode(), _PATIENCE_S))
        except (WorkerLost, OSError, ValueError):
            self._end()
            return None
        finally:
            path.unlink(missing_ok=True)
        return PuidMatch(*map(str, answer)) if isinstance(answer, list) else None

    def _path(self, descriptor: int, ext: str) -> Path | None:
        """A plain short name for the open file, so that no odd name or swapped link reaches the worker."""
        plain = "".join(sign for sign in ext if sign.isascii() and sign.isalnum())
        link = self._links / (f"file.{plain}" if plain else "file")
        place = Path(f"/proc/{os.getpid()}/fd/{descriptor}")
        if not place.exists():
            return self._copy(descriptor, link)
        link.symlink_to(place)
        return link

    def _copy(self, descriptor: int, target: Path) -> Path | None:
        """Where the system has no `/proc`: the first and last bytes do not suffice, so large files are left unknown."""
        if os.fstat(descriptor).st_size > 64 * 1024 * 1024:
            return None
        target.write_bytes(read_at(descriptor, 64 * 1024 * 1024, 0))
        return target

    def _end(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()


def serve() -> None:
    """The worker: a path in JSON comes in on a line, its match as a list, or null, goes out on one."""
    import pygfried

    for line in sys.stdin:
        try:
            matches = pygfried.identify(json.loads(line), True)["files"][0]["matches"]
        except OSError:
            matches = []
        match = matches[0] if matches and matches[0]["id"] not in ("", "UNKNOWN") else None
        answer = [match[name] for name in ("id", "mime", "basis", "warning")] if match else None
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _mail_match(head: bytes, ext: str) -> PuidMatch | None:
    if ext != "eml" or not looks_like_mail(head, ext):
        return None
    puid = "fmt/950" if b"\nmime-version:" in b"\n" + head.lower() else "fmt/278"
    return PuidMatch(puid, "message/rfc822", "byte match of header lines")
