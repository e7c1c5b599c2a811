"""Databases made by hand or at random, held in memory, as `write_siard` wants them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO

from noarkit.forms.siard.model import Archive, Column, ForeignKey, Key, Reference, Schema, Table, User, View
from noarkit.safe.digest import Readable

Rows = Mapping[str, Sequence[Sequence[object]]]


@dataclass(frozen=True, slots=True)
class Memory:
    """A database whose rows lie in lists, by the names of the tables."""

    archive: Archive
    held: Rows
    stamp: str = ""

    def rows(self, schema: Schema, table: Table) -> Iterator[Sequence[object]]:
        """The rows of a table."""
        return iter(self.held[table.name])


@dataclass(frozen=True, slots=True)
class Stream:
    """A large value that comes as a stream."""

    content: bytes

    @contextmanager
    def open(self) -> Iterator[Readable]:
        """The bytes."""
        yield BytesIO(self.content)


def archive_of(*tables: Table, **more: object) -> Archive:
    """An archive of one schema with these tables."""
    facts: dict[str, object] = {
        "dbname": "records",
        "data_owner": "The town",
        "data_origin_timespan": "1990-2020",
        "archival_date": "2024-05-06",
        "users": (User("admin"),),
        **more,
    }
    return Archive(schemas=(Schema("public", tables=tables, views=VIEWS),), **facts)  # type: ignore[arg-type]  # as above


VIEWS = (View("all_cases", "SELECT 1", columns=(Column("one", type="INTEGER"),)),)
CASES = Table(
    "cases",
    columns=(
        Column("id", type="INTEGER", nullable=False),
        Column("title", type="CHARACTER VARYING(200)"),
        Column("opened", type="DATE"),
        Column("changed", type="TIMESTAMP"),
        Column("amount", type="DECIMAL(12,2)"),
        Column("share", type="DOUBLE PRECISION"),
        Column("closed", type="BOOLEAN"),
        Column("scan", type="BINARY LARGE OBJECT"),
        Column("note", type="CHARACTER LARGE OBJECT"),
        Column("mark", type="BINARY VARYING(20)"),
    ),
    primary_key=Key("pk_cases", ("id",)),
)
NOTES = Table(
    "notes",
    columns=(Column("case_id", type="INTEGER"), Column("line", type="CHARACTER VARYING(100)")),
    foreign_keys=(ForeignKey("fk_case", "public", "cases", (Reference("case_id", "id"),)),),
)


def case_row(number: int, *, scan: object = b"\x00\x01", note: object = "") -> tuple[object, ...]:
    """A row of `cases`."""
    title = f"Case {number} \\ <&>  two spaces\r\nå \x00\x1f\x7f\x85"
    return (number, title, "2020-02-29Z", "2020-02-29T12:30:00.5Z", "12.50", 0.1, True, scan, note, b"\xff\x00")


def sample(**more: object) -> Memory:
    """Two related tables with every common type, NULLs, empty texts and large values."""
    rows: dict[str, Sequence[Sequence[object]]] = {
        "cases": [
            case_row(1),
            (2, None, None, None, None, None, None, None, None, None),
            case_row(3, scan=bytes(range(256)) * 40, note="Long ø \\ text\n" * 900),
            case_row(4, scan=Stream(b"stream" * 300_000), note=Stream("strøm ".encode() * 2_000)),
            (5, "", "0001-01-01Z", "9999-12-31T23:59:59Z", "0", -0.0, False, b"", "", b""),
        ],
        "notes": [(1, "first"), (1, ""), (3, None)],
    }
    return Memory(archive_of(CASES, NOTES), rows, **more)  # type: ignore[arg-type]  # a stamp
