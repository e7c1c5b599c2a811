"""Case files that stood in the archive already, held against what their source says of them now.

What differs is listed in `changed-there.csv` and counted; the fields that the recipe names follow the source. Nothing
that is finalised is touched, and no party is taken away. A second time changes nothing, so an answer that was lost is
simply asked for again: each change bears the version that it was compared with.
"""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import orjson

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Action, Link, Query, Save, SavedObject
from noarkit.errors import ArchiveConflict, ArchiveNotFound, ArchiveRefused, NotAllowed
from noarkit.events import Event, Listener
from noarkit.graph.entity import FOLLOWED, PARTIES
from noarkit.load.finality import DATE, STATUS
from noarkit.load.folder import RunFolder
from noarkit.load.lease import RunFacts
from noarkit.load.lookup import objects_of_ids
from noarkit.model import metamodel
from noarkit.safe.csv_files import cell_from_csv, write_csv

FILE = "changed-there.csv"
HEAD = ("key", "type", "archive_id", "field", "in_the_archive", "in_the_source", "done")
_AT_ONCE = 100
_PARTY = ("sakspartRolle", "sakspartNavn")
Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Known:
    """A folder that was there before this run: how it is planned, with its parties."""

    key: str
    type: str
    id: str
    fields: Mapping[str, object]
    parties: Sequence[Mapping[str, object]]


@dataclass(slots=True)
class _Found:
    """What differs in one folder, and what of it is to be changed."""

    rows: list[tuple[str, str, str, bool]] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    parties: list[Mapping[str, object]] = field(default_factory=list)


def follow(folder: RunFolder, archive: Archive, facts: RunFacts, tell: Listener) -> None:
    """Compares every folder that was there before with what is planned of it, where the recipe asks for that.

    What the archive refuses is listed so, and the rest goes on. Raises archive faults that may be tried again."""
    rows: list[Row] = []
    with closing(_opened(folder)) as db:
        told = db.execute("SELECT value FROM meta WHERE name = 'follow'").fetchone()
        wanted = orjson.loads(told[0]) if told and told[0] else {}
        for kind, names in wanted.items():
            for some in _portions(db, kind):
                rows += _compared(archive, some, frozenset(names), facts)
    if rows:
        write_csv(folder.path / FILE, HEAD, [*_earlier(folder), *rows])
        changed = sum(row[-1] == "yes" for row in rows)
        for why, count in (("cases-followed", changed), ("cases-differ", len(rows) - changed)):
            if count:
                tell(Event("remark", {"stream": "", "why": why, "count": count}))


def _compared(archive: Archive, some: list[_Known], wanted: frozenset[str], facts: RunFacts) -> Iterator[Row]:
    there = {one.id: one for one in objects_of_ids(archive, some[0].type, (known.id for known in some))}
    parties = _parties_of(archive, list(there))
    for known in some:
        actual = there.get(known.id)
        if actual is None:
            continue
        found = _differences(known, actual, parties.get(known.id, frozenset()), wanted, facts)
        done = _changed(archive, known, actual, found, facts) if found.fields or found.parties else ""
        for name, before, now, follows in found.rows:
            yield (known.key, known.type, known.id, name, before, now, done if follows else "no")


def _differences(
    known: _Known, actual: SavedObject, parties: frozenset[Row], wanted: frozenset[str], facts: RunFacts
) -> _Found:
    found = _Found()
    is_final = _is_final(actual)
    for name in FOLLOWED[known.type]:
        if name not in known.fields or (is_final and name == "saksstatus"):
            continue
        now, before = _in_their_words(known, name, facts), str(actual.fields.get(name) or "")
        if now != before:
            follows = name in wanted and not is_final
            found.rows.append((name, before, now, follows))
            found.fields |= {name: now} if follows else {}
    for party in known.parties:
        row = tuple(str(party.get(name) or "") for name in _PARTY)
        if row not in parties:
            follows = PARTIES in wanted and not is_final
            found.rows.append((PARTIES, "", ": ".join(row), follows))
            found.parties += [party] if follows else []
    return found


def _changed(archive: Archive, known: _Known, actual: SavedObject, found: _Found, facts: RunFacts) -> str:
    """Makes the changes of one folder at once; `yes`, or the code that they were refused with."""
    # the folder is always saved, so that its version keeps a late answer and a second attempt from both landing
    fields = found.fields or {"tittel": str(actual.fields.get("tittel") or "")}
    actions: list[Action] = [Save(known.type, known.id, fields, actual.version if facts.honours_versions else None)]
    for place, party in enumerate(found.parties):
        me = f"party-{place}"
        plain = {name: value for name, value in party.items() if name in metamodel().types["Sakspart"].fields}
        actions += [Save("Sakspart", me, plain), Link("Sakspart", me, "refMappe", (known.id,))]  # type: ignore[arg-type]  # values as planned
    try:
        archive.transaction(actions)
    except (ArchiveRefused, ArchiveNotFound, ArchiveConflict, NotAllowed) as fault:
        return fault.code
    return "yes"


def _in_their_words(known: _Known, name: str, facts: RunFacts) -> str:
    """A planned value, by the archive's own code where it has another for it."""
    value = str(known.fields.get(name) or "")
    code_list = metamodel().types[known.type].fields[name].code_list
    return facts.codes.get(code_list or "", {}).get(value, value)


def _is_final(actual: SavedObject) -> bool:
    status = STATUS.get(actual.type)
    return bool(actual.fields.get(DATE)) or (status is not None and actual.fields.get(status[0]) == status[1])


def _parties_of(archive: Archive, ids: list[str]) -> dict[str, frozenset[Row]]:
    found: dict[str, set[Row]] = {}
    if ids:
        parameters = {f"@p{i}": one for i, one in enumerate(ids)}
        where = " || ".join(f"refMappe.id = {name}" for name in parameters)
        for party in objects(archive, Query("Sakspart", where, parameters, order=(("id", "asc"),))):
            row = tuple(str(party.fields.get(name) or "") for name in _PARTY)
            found.setdefault(party.links.get("refMappe", ""), set()).add(row)
    return {one: frozenset(rows) for one, rows in found.items()}


def _opened(folder: RunFolder) -> sqlite3.Connection:
    db = sqlite3.connect(f"{folder.graph.resolve().as_uri()}?mode=ro", uri=True)
    db.execute("ATTACH ? AS run", (f"{folder.journal.resolve().as_uri()}?mode=ro",))
    return db


def _portions(db: sqlite3.Connection, kind: str) -> Iterator[list[_Known]]:
    cursor = db.execute(
        "SELECT p.n, p.key, p.type, e.id, p.fields FROM entity p JOIN run.entity e ON e.n = p.n"
        " WHERE p.type = ? AND e.state = 'already_there' AND e.id != '' ORDER BY p.n",
        (kind,),
    )
    while rows := cursor.fetchmany(_AT_ONCE):
        yield [_Known(key, kind, one, orjson.loads(told), _planned_parties(db, n)) for n, key, kind, one, told in rows]


def _planned_parties(db: sqlite3.Connection, folder: int) -> list[Mapping[str, object]]:
    query = "SELECT fields FROM entity WHERE parent = ? AND type = 'Sakspart' ORDER BY n"
    return [orjson.loads(told) for (told,) in db.execute(query, (folder,))]


def _earlier(folder: RunFolder) -> list[Row]:
    """What an earlier attempt of the same run listed."""
    path = folder.path / FILE
    if not path.is_file():
        return []
    with path.open(encoding="utf-8-sig", newline="") as text:
        return [tuple(cell_from_csv(cell) for cell in row) for row in list(csv.reader(text, delimiter=";"))[1:]]
