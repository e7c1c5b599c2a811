"""Databases as packages and back: a live database becomes a SIARD archive, and a SIARD archive a SQLite file."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from noarkit.errors import PackageFault, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.extraction.convert import ConvertOptions, ConvertResult, set_aside_path
from noarkit.forms.metadata.facts import read_facts
from noarkit.forms.metadata.model import PackageMetadata
from noarkit.forms.recognition import detect_form
from noarkit.safe.csv_files import write_csv
from noarkit.safe.scratch import scratch

SIARD, SQLITE = "siard", "sqlite"
_SQLITE_HEAD = b"SQLite format 3\0"


Connections = Mapping[str, Mapping[str, object]]


def convert_database(
    source: str,
    target: Path,
    options: ConvertOptions,
    *,
    connections: Connections | None = None,
    despite_damage: bool = False,
    emit: Listener = ignore_event,
) -> ConvertResult:
    """Makes the SIARD archive, or the SQLite file, `target`; `connections` of a config may keep the password of a
    database. Raises `UsageFault` for a source of another kind, `PackageFault` for an archive whose message digest is
    another (unless `despite_damage`), and whatever reading it raises."""
    if options.form == SQLITE:
        return _sqlite(Path(source), target, options, despite_damage, emit)
    return _siard(source, target, options, connections, emit)


def _sqlite(source: Path, target: Path, options: ConvertOptions, despite_damage: bool, emit: Listener) -> ConvertResult:
    from noarkit.forms.siard.read.gaps import RULES, Gap
    from noarkit.forms.siard.sqlite.database import SqliteOrder, sqlite_of

    if not source.exists() or detect_form(source, options.limits).form != SIARD:
        raise UsageFault(what="not-a-siard", where=str(source))
    with closing(scratch()) as gaps_db:
        gaps_db.execute("CREATE TABLE gaps (place, code, why)")

        def keep(gap: Gap) -> None:
            if gap.why == "message-digest" and not despite_damage:
                raise PackageFault(where=str(source), why="damaged-source", detail=RULES[gap.why])
            place = f"{gap.key} {gap.name}".strip()
            gaps_db.execute("INSERT INTO gaps VALUES (?, ?, ?)", (place, RULES[gap.why], gap.why))

        result = sqlite_of(source, target, SqliteOrder(options.limits, gaps=keep), emit=emit)
        (aside,) = gaps_db.execute("SELECT count(*) FROM gaps").fetchone()
        if aside:
            rows = gaps_db.execute("SELECT place, code, why FROM gaps ORDER BY rowid")
            write_csv(set_aside_path(target), ("key", "code", "kind"), rows)
    return ConvertResult(result.path, SIARD, result.files, result.size_bytes, result.resumed, False, aside)


def _siard(
    source: str, target: Path, options: ConvertOptions, connections: Connections | None, emit: Listener
) -> ConvertResult:
    from noarkit.forms.siard.source.live import live_source
    from noarkit.forms.siard.write.archive import SiardOrder, write_siard

    facts = _siard_facts(read_facts(options.package).metadata)
    with live_source(_address(source), facts, connections=connections) as database:
        result = write_siard(database, target, SiardOrder(), emit=emit)
        text_columns, left_out = database.as_text, database.left_out
    if left_out:
        write_csv(set_aside_path(target), ("key", "code", "kind"), ((entry.name, "", entry.kind) for entry in left_out))
    converted = ConvertResult(
        result.path, "database", result.files, result.size_bytes, result.resumed, options.package is None
    )
    names = tuple(f"{entry.name} ({entry.rows})" for entry in left_out)
    return replace(converted, set_aside=len(left_out), as_text=text_columns, left_out=names)


def _address(source: str) -> str:
    """The URL of a database; that of a SQLite file is made of its path."""
    path = Path(source)
    if not path.is_file():
        return source
    with path.open("rb") as file:
        if file.read(len(_SQLITE_HEAD)) != _SQLITE_HEAD:
            raise UsageFault(what="no-database-behind", where=source)
    return f"sqlite:///{path.absolute()}"


def _siard_facts(metadata: PackageMetadata) -> dict[str, str]:
    owner = next(iter(metadata.owners or metadata.creators), None)
    archivers = [party for party in (metadata.producer, metadata.submitter) if party]
    contact = next((person for party in archivers for person in party.people), None)
    span = " – ".join(day for day in (metadata.start, metadata.end) if day)
    return {
        "description": metadata.description,
        "archiver": archivers[0].name if archivers else "",
        "archiver_contact": contact.email or contact.name if contact else "",
        "data_owner": owner.name if owner else "",
        "data_origin_timespan": span,
    }
