"""Databases as packages and back: a live database becomes a SIARD archive, and a SIARD archive a SQLite file."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from noarkit.errors import PackageFault, UsageFault
from noarkit.events import Listener, nobody
from noarkit.extract.convert import Converted, ConvertOptions, set_aside_path
from noarkit.packages.dias.order import DiasOrder, read_order
from noarkit.packages.forms import look
from noarkit.safe.csv_files import write_csv
from noarkit.safe.scratch import scratch

SIARD, SQLITE = "siard", "sqlite"
DATABASES = (SIARD, SQLITE)
"""What a database can be converted to."""
_SQLITE_HEAD = b"SQLite format 3\0"


Connections = Mapping[str, Mapping[str, object]]


def convert_database(
    source: str,
    target: Path,
    wanted: ConvertOptions,
    *,
    connections: Connections | None = None,
    despite_damage: bool = False,
    emit: Listener = nobody,
) -> Converted:
    """Makes the SIARD archive, or the SQLite file, `target`; `connections` of a config may keep the password of a
    database. Raises `UsageFault` for a source of another kind, `PackageFault` for an archive whose message digest is
    another (unless `despite_damage`), and whatever reading it raises."""
    if wanted.form == SQLITE:
        return _sqlite(Path(source), target, wanted, despite_damage, emit)
    return _siard(source, target, wanted, connections, emit)


def _sqlite(source: Path, target: Path, wanted: ConvertOptions, despite_damage: bool, tell: Listener) -> Converted:
    from noarkit.packages.siard.gaps import RULES, Gap
    from noarkit.packages.siard.sqlite import SqliteOrder, sqlite_of

    if not source.exists() or look(source, wanted.limits).form != SIARD:
        raise UsageFault(what="not-a-siard", where=str(source))
    with closing(scratch()) as kept:
        kept.execute("CREATE TABLE gaps (place, code, why)")

        def keep(gap: Gap) -> None:
            if gap.why == "message-digest" and not despite_damage:
                raise PackageFault(where=str(source), why="damaged-source", detail=RULES[gap.why])
            place = f"{gap.key} {gap.name}".strip()
            kept.execute("INSERT INTO gaps VALUES (?, ?, ?)", (place, RULES[gap.why], gap.why))

        made = sqlite_of(source, target, SqliteOrder(wanted.limits, gaps=keep), tell=tell)
        (aside,) = kept.execute("SELECT count(*) FROM gaps").fetchone()
        if aside:
            rows = kept.execute("SELECT place, code, why FROM gaps ORDER BY rowid")
            write_csv(set_aside_path(target), ("key", "code", "kind"), rows)
    return Converted(made.path, SIARD, made.files, made.size_bytes, made.resumed, False, aside)


def _siard(
    source: str, target: Path, wanted: ConvertOptions, connections: Connections | None, tell: Listener
) -> Converted:
    from noarkit.packages.siard.write import SiardOrder, write_siard
    from noarkit.sources.siard.live import live_source

    with live_source(_address(source), _facts(read_order(wanted.package)), connections=connections) as database:
        made = write_siard(database, target, SiardOrder(), tell=tell)
        fallen, left = database.as_text, database.left_out
    if left:
        write_csv(set_aside_path(target), ("key", "code", "kind"), ((one.name, "", one.kind) for one in left))
    told = Converted(made.path, "database", made.files, made.size_bytes, made.resumed, wanted.package is None)
    names = tuple(f"{one.name} ({one.rows})" for one in left)
    return replace(told, set_aside=len(left), as_text=fallen, left_out=names)


def _address(source: str) -> str:
    """The URL of a database; that of a SQLite file is made of its path."""
    path = Path(source)
    if not path.is_file():
        return source
    with path.open("rb") as file:
        if file.read(len(_SQLITE_HEAD)) != _SQLITE_HEAD:
            raise UsageFault(what="no-database-behind", where=source)
    return f"sqlite:///{path.absolute()}"


def _facts(told: DiasOrder) -> dict[str, str]:
    owner = next(iter(told.owners or told.creators), None)
    contact = next((person for party in (told.producer, told.submitter) if party for person in party.people), None)
    archiver = told.producer or told.submitter
    span = " – ".join(day.isoformat() for day in (told.start, told.end) if day is not None)
    return {
        "description": told.description,
        "archiver": archiver.name if archiver else "",
        "archiver_contact": contact.email or contact.name if contact else "",
        "data_owner": owner.name if owner else "",
        "data_origin_timespan": span,
    }
