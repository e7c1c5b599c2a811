"""What a search for a person found and what it could not search, in a table on disk that is gone with its holder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import ClassVar, Literal

import orjson

from noarkit.catalogue.persons.matching import Certainty, Kind
from noarkit.results import Result, json_field
from noarkit.safe.scratch import scratch

Layer = Literal["metadata", "document", "local"]
"""What a hit is in: the metadata of an item, the text of a document, a file that noarkit itself keeps."""
Medium = Literal["picture", "sound", "video", ""]
"""What holds something that is only seen or heard."""
MEDIA: tuple[Medium, ...] = ("picture", "sound", "video")
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Occurrence(Result):
    """One place where a person occurs: an item by its ref with the names of the fields, a document of it, or a file of
    noarkit's own with how many lines or cells hold the person. No text of it is here."""

    EVENT: ClassVar = "person_hit"

    place: str
    layer: Layer
    kind: Kind = field(metadata=json_field("by"))
    certainty: Certainty
    ref: str
    type: str = ""
    ident: str = ""
    fields: tuple[str, ...] = ()
    screened: bool = False
    count: int = 1


@dataclass(frozen=True, slots=True)
class Unsearched(Result):
    """Something that could not be searched, or only `in_part`, with the reason. A `medium` is never looked into."""

    EVENT: ClassVar = "person_unsearched"

    place: str
    ref: str
    reason: str
    in_part: bool = False
    medium: Medium = field(default="", metadata=json_field(omitted=True))


class Occurrences:
    """All that one search found."""

    def __init__(self) -> None:
        self._db = scratch()
        self._db.execute("CREATE TABLE hit (n INTEGER PRIMARY KEY, certainty TEXT NOT NULL, body BLOB NOT NULL)")
        self._db.execute(
            "CREATE TABLE missing (n INTEGER PRIMARY KEY, in_part INTEGER NOT NULL, medium TEXT NOT NULL,"
            " body BLOB NOT NULL)"
        )
        self._db.execute("BEGIN")

    def add(self, occurrence: Occurrence) -> None:
        """Keeps a hit."""
        values = (occurrence.certainty, orjson.dumps(_values(occurrence)))
        self._db.execute("INSERT INTO hit (certainty, body) VALUES (?, ?)", values)

    def add_unsearched(self, gap: Unsearched) -> None:
        """Keeps what could not be searched."""
        values = (gap.in_part, gap.medium, orjson.dumps(_values(gap)))
        self._db.execute("INSERT INTO missing (in_part, medium, body) VALUES (?, ?, ?)", values)

    def count(self, certainty: Certainty) -> int:
        """The number of hits of this certainty."""
        return int(self._db.execute("SELECT count(*) FROM hit WHERE certainty = ?", (certainty,)).fetchone()[0])

    def count_unsearched(self, *, in_part: bool) -> int:
        """The number of things that could not be searched at all, or only in part."""
        return int(self._db.execute("SELECT count(*) FROM missing WHERE in_part = ?", (in_part,)).fetchone()[0])

    def count_media(self) -> dict[str, int]:
        """The number of pictures, sound recordings and films, which nobody looked into; every kind, in this order."""
        counts = dict(self._db.execute("SELECT medium, count(*) FROM missing WHERE medium != '' GROUP BY medium"))
        return {medium: counts.get(medium, 0) for medium in MEDIA}

    def hits(self) -> Iterator[Occurrence]:
        """Every hit, in the order of places and items."""
        for body in self._bodies("hit"):
            values = orjson.loads(body)
            yield Occurrence(**{**values, "fields": tuple(values["fields"])})

    def unsearched(self) -> Iterator[Unsearched]:
        """Everything that could not be searched."""
        for body in self._bodies("missing"):
            yield Unsearched(**orjson.loads(body))

    def _bodies(self, table: str) -> Iterator[bytes]:
        last = 0
        query = f"SELECT n, body FROM {table} WHERE n > ? ORDER BY n LIMIT {_BATCH}"  # noqa: S608  # our own tables
        while rows := self._db.execute(query, (last,)).fetchall():
            last = rows[-1][0]
            yield from (row[1] for row in rows)


def _values(entry: Occurrence | Unsearched) -> dict[str, object]:
    return {member.name: getattr(entry, member.name) for member in fields(entry)}
