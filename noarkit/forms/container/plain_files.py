"""The plain files of a package as records, with the fields that records of a file tree have: the same recipes fit."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from noarkit.documents.detect import HEAD_BYTES, MediaTypes
from noarkit.errors import ItemUnreadable, ItemVanished, PackageFault, SourceFault, UnsafePath
from noarkit.forms.container.locators import locator_of
from noarkit.graph.entity import Content, Note, SetAside, Skipped
from noarkit.records import SourceItem, SourceRecord
from noarkit.safe.digest import Readable
from noarkit.safe.paths import open_inside
from noarkit.safe.secret_files import SKIPPED_SECRETS, may_hold_secrets, reads_secrets
from noarkit.safe.unpack import Member, form_of
from noarkit.sources.files import policy
from noarkit.sources.files.dates import DateEvidence, latest_day
from noarkit.sources.files.names import key_of, readable
from noarkit.sources.files.records import timestamp

_LAST_DAY = "9999-12-31"
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def evidence_before(packed: str) -> DateEvidence:
    """What dates are told by in a package that was made at that time; files that lie in it were not changed later."""
    match = _DAY.match(packed)
    return DateEvidence(copied=(match[0], _LAST_DAY)) if match else DateEvidence()


@dataclass(frozen=True, slots=True)
class PlainFile:
    """A file as its package lists it: `original_name` is the one it had, `name` that within the package.

    `place` is where it lies in a folder, `member` where in an archive file. `proof` is `algorithm:checksum`, and `:`
    where there is none, or `sha256` tells it.
    """

    original_name: str
    name: str
    size_bytes: int
    place: str
    member: Member | None
    sha256: str | None
    proof: str


class PlainRecords:
    """Makes the records of the files of one package, which `open_file` opens by their names.

    `root` is what the whole is called, `more` what every record has besides. `packed` is the day on which the package
    was made (`2026-03-02`, and whatever follows it): no file was changed since, so that a time of that day or a later
    one tells of a copy alone.
    """

    def __init__(
        self,
        place: Path,
        root: str,
        open_file: Callable[[str], AbstractContextManager[Readable]],
        more: Mapping[str, object],
        packed: str = "",
    ) -> None:
        self._place = place
        self._root = root
        self._open_file = open_file
        self._more = more
        self._folder = place.is_dir()
        self._latest_day = latest_day(time.time())
        self._evidence = evidence_before(packed)
        self._modified_ns = None if self._folder else place.stat().st_mtime_ns
        # in a packed tar every look inside would unpack anew
        looks = self._folder or form_of(place) in ("zip", "tar")
        self._media_types = MediaTypes() if looks else None

    def item(self, file: PlainFile) -> SourceItem:
        """The record of a file, or why there is none."""
        key = key_of(os.fsencode(file.original_name))
        try:
            return self._record(file, key)
        except SourceFault as fault:
            return SetAside(key, fault.code, fault.data)

    def _record(self, file: PlainFile, key: str) -> SourceRecord | Skipped:
        modified_ns = self._modified_ns
        if self._folder:
            with suppress(OSError):
                modified_ns = (self._place / file.place).stat(follow_symlinks=False).st_mtime_ns
        steps = [readable(step) for step in file.original_name.split("/")]
        name = os.fsencode(file.original_name.rpartition("/")[2])
        if may_hold_secrets(name) and self._is_secret(file, name):
            return Skipped(key, SKIPPED_SECRETS)
        ext = steps[-1].rpartition(".")[2].lower()
        media_types = self._media_types
        media_type = None if media_types is None else media_types.of(self._head(file, HEAD_BYTES), ext)
        locator = locator_of(file.member) if file.member is not None else file.place
        content = Content(f"{file.proof}:{locator}", steps[-1], file.size_bytes, modified_ns, file.sha256, media_type)
        fields: dict[str, object] = {
            **path_fields(steps, {"root": self._root}),
            "size": file.size_bytes,
            "modified": self._time_of(file, modified_ns),
            "created": None,
            "owner": "",
            "group": "",
            "mode": "",
            "media_type": media_type,
            "puid": None,
            "mail": {},
            "case": {},
            "register": {},
            **self._more,
        }
        notes: tuple[Note, ...] = () if file.size_bytes else (policy.EMPTY,)
        return self._evidence.dated(SourceRecord("file", key, fields, (content,), notes), self._latest_day)

    def _time_of(self, file: PlainFile, modified_ns: int | None) -> str | None:
        """When a file was last changed, by the folder or by the archive file that it lies in."""
        if self._folder:
            return None if modified_ns is None else timestamp(modified_ns)
        modified_s = None if file.member is None else file.member.modified_s
        return None if not modified_s else timestamp(int(modified_s) * 1_000_000_000)

    def _is_secret(self, file: PlainFile, name: bytes) -> bool:
        with self._opened(file) as content:
            return reads_secrets(name, content)

    def _head(self, file: PlainFile, size_bytes: int) -> bytes:
        with self._opened(file) as content:
            return content.read(size_bytes)

    @contextmanager
    def _opened(self, file: PlainFile) -> Iterator[Readable]:
        try:
            with self._open_file(file.name) as content:
                yield content
        except (OSError, PackageFault, UnsafePath) as error:
            raise ItemUnreadable(key=file.name, why=type(error).__name__) from error


def path_fields(steps: Sequence[str], container: Mapping[str, object] = MappingProxyType({})) -> dict[str, object]:
    """What the place of a file says of it, and of the `container` it lies in."""
    stem, _, ext = steps[-1].rpartition(".")
    return {
        "path": "/".join(steps),
        "parts": list(steps),
        "folder": "/".join(steps[:-1]),
        "folders": list(steps[:-1]),
        "top": steps[0] if len(steps) > 1 else "",
        **container,
        "name": steps[-1],
        "stem": stem or steps[-1],
        "ext": ext.lower() if stem else "",
        "depth": len(steps) - 1,
    }


@contextmanager
def open_below(folder: Path, name: str) -> Iterator[BinaryIO]:
    """A file of a folder that a source has planned. Raises `ItemVanished`, `ItemUnreadable`."""
    try:
        file = open_inside(folder, name)
    except FileNotFoundError as error:
        raise ItemVanished(key=name) from error
    except (OSError, UnsafePath) as error:
        raise ItemUnreadable(key=name, why=str(getattr(error, "strerror", None) or error)) from error
    with file:
        yield file
