"""Compares case files that an earlier run loaded with what their source says now, and updates what the recipe allows.

What differs is listed in `changed-there.csv` and counted; the fields that the recipe names follow the source. Nothing
that is finalised is touched, and no party is taken away. A second time changes nothing, so an answer that was lost is
simply asked for again: each change bears the version that it was compared with.
"""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Action, Link, Query, Save, SavedObject
from noarkit.errors import ArchiveConflict, ArchiveNotFound, ArchiveRefused, NotAllowed
from noarkit.events import Event, Listener
from noarkit.graph.entity import FOLLOWED, PARTIES
from noarkit.loading.attached import open_plan_and_journal
from noarkit.loading.finality import DATE, STATUS
from noarkit.loading.folder import RunFolder
from noarkit.loading.lease import RunFacts
from noarkit.loading.lookup import ORDERS, objects_of_ids
from noarkit.model import metamodel
from noarkit.safe.csv_files import cell_from_csv, write_csv

FILE = "changed-there.csv"
HEAD = ("key", "type", "archive_id", "field", "in_the_archive", "in_the_source", "done")
_BATCH_SIZE = 100
_PARTY = ("sakspartRolle", "sakspartNavn")
Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _EarlierFolder:
    """A folder that an earlier run loaded: its planned fields and parties, and its id in the archive."""

    key: str
    type: str
    id: str
    fields: Mapping[str, object]
    parties: Sequence[Mapping[str, object]]


@dataclass(slots=True)
class _FolderDifferences:
    """The differences of one folder: rows to be listed, fields and parties to be changed."""

    rows: list[tuple[str, str, str, bool]] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)
    parties: list[Mapping[str, object]] = field(default_factory=list)


def follow(folder: RunFolder, archive: Archive, facts: RunFacts, emit: Listener) -> None:
    """Compares every folder of an earlier run with its plan, where the recipe asks for that.

    What the archive refuses is listed so, and the rest goes on. Raises archive faults that may be tried again."""
    rows: list[Row] = []
    with open_plan_and_journal(folder) as db:
        meta_row = db.execute("SELECT value FROM meta WHERE name = 'follow'").fetchone()
        names_by_kind = orjson.loads(meta_row[0]) if meta_row and meta_row[0] else {}
        for kind, names in names_by_kind.items():
            for batch in _folder_batches(db, kind):
                rows += _compare_folders(archive, batch, frozenset(names), facts)
    if rows:
        write_csv(folder.path / FILE, HEAD, [*_earlier_rows(folder), *rows])
        change_count = sum(row[-1] == "yes" for row in rows)
        for reason, count in (("cases-followed", change_count), ("cases-differ", len(rows) - change_count)):
            if count:
                emit(Event("remark", {"stream": "", "why": reason, "count": count}))


def _compare_folders(
    archive: Archive, batch: list[_EarlierFolder], followed: frozenset[str], facts: RunFacts
) -> Iterator[Row]:
    by_id = {item.id: item for item in objects_of_ids(archive, batch[0].type, (folder.id for folder in batch))}
    parties = _parties_of(archive, {folder.id: folder for folder in batch if folder.id in by_id})
    for folder in batch:
        actual = by_id.get(folder.id)
        if actual is None:
            continue
        differences = _differences(folder, actual, parties.get(folder.id, frozenset()), followed, facts)
        result = (
            _change_folder(archive, folder, actual, differences, facts)
            if differences.fields or differences.parties
            else ""
        )
        for name, before, now, follows in differences.rows:
            yield (folder.key, folder.type, folder.id, name, before, now, result if follows else "no")


def _differences(
    folder: _EarlierFolder, actual: SavedObject, parties: frozenset[Row], followed: frozenset[str], facts: RunFacts
) -> _FolderDifferences:
    differences = _FolderDifferences()
    is_final = _is_final(actual)
    for name in FOLLOWED[folder.type]:
        if name not in folder.fields or (is_final and name == "saksstatus"):
            continue
        now, before = _archive_value(folder, name, facts), str(actual.fields.get(name) or "")
        if now != before:
            follows = name in followed and not is_final
            differences.rows.append((name, before, now, follows))
            differences.fields |= {name: now} if follows else {}
    for party in folder.parties:
        row = _party_row(party)
        if row not in parties:
            follows = PARTIES in followed and not is_final
            differences.rows.append((PARTIES, "", ": ".join(row), follows))
            differences.parties += [party] if follows else []
    return differences


def _change_folder(
    archive: Archive, folder: _EarlierFolder, actual: SavedObject, differences: _FolderDifferences, facts: RunFacts
) -> str:
    """Makes the changes of one folder at once; `yes`, or the code that they were refused with."""
    # the folder is always saved, so that its version keeps a late answer and a second attempt from both landing
    fields = differences.fields or {"tittel": str(actual.fields.get("tittel") or "")}
    actions: list[Action] = [Save(folder.type, folder.id, fields, actual.version if facts.honours_versions else None)]
    for place, party in enumerate(differences.parties):
        me = f"party-{place}"
        plain = {name: value for name, value in party.items() if name in metamodel().types["Sakspart"].fields}
        actions += [Save("Sakspart", me, plain), Link("Sakspart", me, "refMappe", (folder.id,))]  # type: ignore[arg-type]  # values as planned
    try:
        archive.transaction(actions)
    except (ArchiveRefused, ArchiveNotFound, ArchiveConflict, NotAllowed) as fault:
        return fault.code
    return "yes"


def _archive_value(folder: _EarlierFolder, name: str, facts: RunFacts) -> str:
    """A planned value, by the archive's own code where it has another for it."""
    value = str(folder.fields.get(name) or "")
    code_list = metamodel().types[folder.type].fields[name].code_list
    return facts.codes.get(code_list or "", {}).get(value, value)


def _is_final(actual: SavedObject) -> bool:
    status = STATUS.get(actual.type)
    return bool(actual.fields.get(DATE)) or (status is not None and actual.fields.get(status[0]) == status[1])


def _parties_of(archive: Archive, folders: Mapping[str, _EarlierFolder]) -> dict[str, frozenset[Row]]:
    """The parties of folders in the archive, by folder id; asked again while a planned one is missing."""
    rows_by_folder: dict[str, set[Row]] = {folder_id: set() for folder_id in folders}
    parameters = {f"@p{i}": folder_id for i, folder_id in enumerate(folders)}
    condition = " || ".join(f"refMappe.id = {name}" for name in parameters)
    for order in ORDERS if folders else ():
        for party in objects(archive, Query("Sakspart", condition, parameters, order=order)):
            rows_by_folder.setdefault(party.links.get("refMappe", ""), set()).add(_party_row(party.fields))
        if all(_party_row(party) in rows_by_folder[one.id] for one in folders.values() for party in one.parties):
            break
    return {folder_id: frozenset(rows) for folder_id, rows in rows_by_folder.items()}


def _party_row(party: Mapping[str, object]) -> Row:
    return tuple(str(party.get(name) or "") for name in _PARTY)


def _folder_batches(db: sqlite3.Connection, kind: str) -> Iterator[list[_EarlierFolder]]:
    cursor = db.execute(
        "SELECT p.n, p.key, p.type, e.id, p.fields FROM entity p JOIN run.entity e ON e.n = p.n"
        " WHERE p.type = ? AND e.state = 'already_there' AND e.id != '' ORDER BY p.n",
        (kind,),
    )
    while rows := cursor.fetchmany(_BATCH_SIZE):
        yield [
            _EarlierFolder(key, kind, archive_id, orjson.loads(fields), _planned_parties(db, n))
            for n, key, kind, archive_id, fields in rows
        ]


def _planned_parties(db: sqlite3.Connection, folder: int) -> list[Mapping[str, object]]:
    query = "SELECT fields FROM entity WHERE parent = ? AND type = 'Sakspart' ORDER BY n"
    return [orjson.loads(fields) for (fields,) in db.execute(query, (folder,))]


def _earlier_rows(folder: RunFolder) -> list[Row]:
    """The rows that an earlier attempt of the same run wrote."""
    path = folder.path / FILE
    if not path.is_file():
        return []
    with path.open(encoding="utf-8-sig", newline="") as text:
        return [tuple(cell_from_csv(cell) for cell in row) for row in list(csv.reader(text, delimiter=";"))[1:]]
