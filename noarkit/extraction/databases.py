"""Databases as packages and back: a live database becomes a SIARD archive, and a SIARD archive a SQLite file."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from noarkit.errors import PackageFault, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.extraction.convert import ConvertOptions, ConvertResult, conversion_note, noted_result, set_aside_path
from noarkit.extraction.making_note import MakingNote
from noarkit.forms.container.packager import MadePackage
from noarkit.forms.metadata.facts import read_facts
from noarkit.forms.metadata.model import PackageMetadata
from noarkit.forms.recognition import detect_form
from noarkit.safe.csv_files import write_csv
from noarkit.safe.scratch import scratch

SIARD, SQLITE = "siard", "sqlite"


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
    note = conversion_note(source, target, options)
    if note.result() is None:
        try:
            if options.form == SQLITE:
                _make_sqlite(Path(source), note, options, despite_damage, emit)
            else:
                _make_siard(source, note, options, connections, emit)
        except UsageFault:
            note.forget()  # something else has the name
            raise
    return noted_result(note, options)


def _make_sqlite(source: Path, note: MakingNote, options: ConvertOptions, despite_damage: bool, emit: Listener) -> None:
    from noarkit.forms.siard.read.gaps import RULES, Gap
    from noarkit.forms.siard.sqlite.database import SqliteOrder, sqlite_of

    if not source.exists() or detect_form(source, options.limits).form != SIARD:
        raise UsageFault(what="not-a-siard", where=str(source))
    with closing(scratch()) as gaps_db:
        gaps_db.execute("CREATE TABLE gaps (place, code, why)")

        def keep(gap: Gap) -> None:
            if gap.why == "message-digest" and not despite_damage:
                raise PackageFault(
                    where=str(source), why="damaged-source", despite="--despite-damage", detail=RULES[gap.why]
                )
            place = f"{gap.key} {gap.name}".strip()
            gaps_db.execute("INSERT INTO gaps VALUES (?, ?, ?)", (place, RULES[gap.why], gap.why))

        def note_result(package: MadePackage) -> None:
            (aside,) = gaps_db.execute("SELECT count(*) FROM gaps").fetchone()
            if aside:
                rows = gaps_db.execute("SELECT place, code, why FROM gaps ORDER BY rowid")
                write_csv(set_aside_path(note.target), ("key", "code", "kind"), rows)
            result = ConvertResult(
                package.path, SIARD, package.files, package.size_bytes, package.resumed, False, aside
            )
            note.write(asdict(result))

        order = SqliteOrder(options.limits, gaps=keep)
        sqlite_of(source, note.target, order, before_named=note_result, emit=emit)


def _make_siard(
    source: str, note: MakingNote, options: ConvertOptions, connections: Connections | None, emit: Listener
) -> None:
    from noarkit.forms.siard.source.live import live_source
    from noarkit.forms.siard.write.archive import SiardOrder, write_siard

    facts = _siard_facts(read_facts(options.package).metadata)
    with live_source(_address(source), facts, connections=connections) as database:

        def note_result(package: MadePackage) -> None:
            left_out = database.left_out
            if left_out:
                rows = ((entry.name, "", entry.kind) for entry in left_out)
                write_csv(set_aside_path(note.target), ("key", "code", "kind"), rows)
            result = ConvertResult(
                package.path,
                "database",
                package.files,
                package.size_bytes,
                package.resumed,
                options.package is None,
                set_aside=len(left_out),
                as_text=database.as_text,
                left_out=tuple(f"{entry.name} ({entry.rows})" for entry in left_out),
            )
            note.write(asdict(result))

        write_siard(database, note.target, SiardOrder(), before_named=note_result, emit=emit)


def _address(source: str) -> str:
    """The URL of a database. Raises `UsageFault` for a file that is none."""
    if Path(source).is_file():
        raise UsageFault(what="no-database-behind", where=source)
    return source


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
