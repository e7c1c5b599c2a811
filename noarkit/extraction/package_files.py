"""The files of a package as another takes them: with where their bytes come from, and what was said of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Literal
from zoneinfo import ZoneInfo

from noarkit.errors import UnsafeMember
from noarkit.forms.container.building import File
from noarkit.forms.container.digests import with_time
from noarkit.forms.container.locators import locator_of
from noarkit.forms.container.storage import Storage
from noarkit.forms.metadata.model import FileFacts
from noarkit.safe.scratch import scratch

DocumentKind = Literal["descriptive", "other", "documentation", "schema"]
_ZONE = ZoneInfo("Europe/Oslo")
_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class DescriptionFile:
    """A file that describes what is carried: of which kind, and below which name. `part` is empty for all of it;
    `md_type` is what METS calls such metadata."""

    kind: DocumentKind
    part: str
    file: File
    md_type: str = ""


class FileFactsStore:
    """What a package says of its files, by their names from its root; a million cost no memory."""

    def __init__(self) -> None:
        self._db = scratch()
        self._db.execute(
            "CREATE TABLE facts (name TEXT PRIMARY KEY, created TEXT, media TEXT, puid TEXT, format TEXT,"
            " version TEXT, original TEXT) WITHOUT ROWID"
        )
        self._waiting: list[tuple[str, ...]] = []
        self._any = False

    def add(self, name: str, facts: FileFacts) -> None:
        """Remembers what is said of a file. What was said before counts, where it said anything."""
        values = (facts.created, facts.media_type, facts.puid, facts.format_name, facts.format_version)
        self._waiting.append((name, *values, facts.original_name))
        self._any = True
        if len(self._waiting) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        self._db.execute("BEGIN")
        self._db.executemany(_PUT, self._waiting)
        self._db.execute("COMMIT")
        self._waiting.clear()

    def of(self, name: str) -> FileFacts | None:
        """What is said of a file."""
        if not self._any:
            return None
        if self._waiting:
            self._flush()
        row = self._db.execute(f"SELECT {_COLUMNS} FROM facts WHERE name = ?", (name,)).fetchone()  # noqa: S608  # ours
        return None if row is None else FileFacts(*row)

    def close(self) -> None:
        """Forgets everything."""
        self._db.close()


_FIELDS = ("created", "media", "puid", "format", "version", "original")
_COLUMNS = ", ".join(_FIELDS)
_PUT = (
    f"INSERT INTO facts (name, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET "  # noqa: S608  # ours
    + ", ".join(f"{field} = coalesce(nullif(facts.{field}, ''), excluded.{field})" for field in _FIELDS)
)

Facts = Callable[[str], FileFacts | None]


def no_facts(_: str) -> FileFacts | None:
    """Of no file is anything said."""
    return None


def same_name(name: str) -> str:
    """A name that is the original one."""
    return name


@dataclass(frozen=True, slots=True)
class NameMapping:
    """What the files of a package were called, by their stored names, and the way back."""

    to_original: Callable[[str], str] = same_name
    to_stored: Callable[[str], str] = same_name


def files_in(
    storage: Storage, includes: Callable[[str], bool], facts: Facts = no_facts, names: Callable[[str], str] = same_name
) -> Iterator[File]:
    """Every file by its original name, with where its bytes come from. `facts` go by the stored name. Raises
    `UnsafeMember` for a link or device: packages hold none."""
    for file in storage.files_in_order():
        if not includes(file.name):
            continue
        if file.odd:
            raise UnsafeMember(where=file.name, why=file.odd)
        file_facts = facts(file.name)
        moment = moment_of(file_facts.created) if file_facts is not None else None
        if storage.folder is not None:
            stamp = with_time("", _ns(moment)) if moment is not None else ""
            yield names(file.name), f"{storage.folder}/{file.name}", file.size_bytes, stamp
        else:
            member = storage.member(file.name)
            locator = f"{storage.stamp}:{locator_of(member) if member is not None else ''}"
            modified = int(member.modified_s * 1e9) if member is not None and member.modified_s else None
            stamp = with_time(locator, _ns(moment) if moment is not None else modified)
            yield names(file.name), partial(storage.open, file.name), file.size_bytes, stamp


def moment_of(text: str) -> datetime | None:
    """A moment as METS tells it; without a zone it is of the zone of the archives that write so."""
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=_ZONE)).astimezone(UTC)
    return None


def _ns(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp()) * 1_000_000_000
