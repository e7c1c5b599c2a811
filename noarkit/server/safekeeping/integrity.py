"""Checks an archive folder whole: every row, every link, every file and its bytes. Changes nothing.

It may be served meanwhile. What is wrong is asked about once more at the end, so that a file that comes or goes while
it is looked for is no flaw. In a finished backup every file of the manifest is checked as well.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.errors import ConfigFault, UsageFault
from noarkit.safe.digest import sha256_of
from noarkit.server import DATABASE_FILE, SERVING_FILE, STORE_FOLDER, UPLOADS_FILE
from noarkit.server.file_store import content_path
from noarkit.server.safekeeping import manifest
from noarkit.server.safekeeping.row_checks import row_flaws
from noarkit.server.schema import SCHEMA_VERSION, schema

_RECHECK_S = (0.0, 0.5, 2.0)
_FLAWS_TOLD = 100
_BLOCK = 500


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something that is wrong: its kind, where it is, and what else is known (a column, a path, what was expected)."""

    kind: str
    where: str
    detail: str = ""


@dataclass(slots=True)
class FolderCheck:
    """What was checked, and what was wrong; `flaw_count` counts those too that are not among `flaws`."""

    rows: int = 0
    files: int = 0
    bytes: int = 0
    flaw_count: int = 0
    is_backup: bool = False
    flaws: list[Flaw] = field(default_factory=list)

    def add(self, flaw: Flaw) -> None:
        """Counts a flaw, and keeps it where there are not too many."""
        self.flaw_count += 1
        if len(self.flaws) < _FLAWS_TOLD:
            self.flaws.append(flaw)


Progress = Callable[[FolderCheck], None]


def check_folder(folder: Path, progress: Progress = lambda check: None, *, unfinished: bool = False) -> FolderCheck:
    """Checks the archive in a folder; that of a backup which is not finished only with `unfinished`.

    Raises `UsageFault` where there is none, `ConfigFault` for one of another version.
    """
    if not (folder / DATABASE_FILE).is_file():
        raise UsageFault(what="no-archive-here", where=str(folder))
    if (folder / manifest.UNFINISHED_FILE).exists() and not unfinished:
        raise UsageFault(what="backup-unfinished", where=str(folder), do="noarkit backup DIR -o TARGET")
    check = FolderCheck(is_backup=manifest.is_backup(folder))
    if check.is_backup:
        _check_manifest(folder, check)
    try:
        with closing(_open(folder, still=check.is_backup)) as db:
            if not _check_database(db, check):
                return check
            _check_rows(db, check, progress)
            _check_links(db, check)
            _check_file_rows(db, check)
        _check_contents(folder, check, progress)
    except sqlite3.DatabaseError as error:
        check.add(Flaw("database-damaged", DATABASE_FILE, type(error).__name__))
    return check


def _open(folder: Path, *, still: bool, name: str = DATABASE_FILE) -> sqlite3.Connection:
    # A backup may lie on a medium that cannot be written to, and nothing may appear beside its files.
    mode = "immutable=1" if still else "mode=ro"
    db = sqlite3.connect(f"{(folder / name).resolve().as_uri()}?{mode}", uri=True, isolation_level=None, timeout=30.0)
    db.row_factory = sqlite3.Row
    return db


def _check_database(db: sqlite3.Connection, check: FolderCheck) -> bool:
    """Checks the pages of the database; False where nothing in it can be read."""
    try:
        version = db.execute("SELECT version FROM archive_schema").fetchone()[0]
        if version != SCHEMA_VERSION:
            raise ConfigFault(where=DATABASE_FILE, why=f"tables {version}")
        for (message,) in db.execute(f"PRAGMA integrity_check({_FLAWS_TOLD})").fetchall():
            if message != "ok":
                check.add(Flaw("database-damaged", DATABASE_FILE, str(message)))
    except sqlite3.DatabaseError as error:
        check.add(Flaw("database-damaged", DATABASE_FILE, str(error)))
        return False
    return True


def _check_rows(db: sqlite3.Connection, check: FolderCheck, progress: Progress) -> None:
    for table in schema().tables.values():
        for row in db.execute(f"SELECT * FROM {table.name} ORDER BY id"):  # noqa: S608  # names of the metamodel
            values = dict(row)
            for name in row_flaws(table, values):
                check.add(Flaw("row-value", f"{values['type']} {values['id']}", name))
            check.rows += 1
            if check.rows % 10_000 == 0:
                progress(check)


def _check_links(db: sqlite3.Connection, check: FolderCheck) -> None:
    """Finds links to objects that are not there, and parents that are needed and missing."""
    archive_schema = schema()
    for family, name, other_family in _link_columns():
        table, target = archive_schema.tables[family].name, archive_schema.tables[other_family].name
        rows = db.execute(
            f'SELECT id, type, "{name}" FROM {table} WHERE "{name}" IS NOT NULL'  # noqa: S608  # names of the metamodel
            f' AND NOT EXISTS (SELECT 1 FROM {target} t WHERE t.id = {table}."{name}")'
        )
        for row in rows:
            check.add(Flaw("link-dangling", f"{row[1]} {row[0]}", f"{name} {row[2]}"))
    for pair, sides in _pair_sides().items():
        for column, family in sides.items():
            target = archive_schema.tables[family].name
            rows = db.execute(
                f"SELECT a, b FROM {pair} WHERE NOT EXISTS (SELECT 1 FROM {target} t WHERE t.id = {pair}.{column})"  # noqa: S608  # names of the metamodel
            )
            for row in rows:
                check.add(Flaw("link-dangling", pair, f"{row[0]} {row[1]}"))


def _link_columns() -> Iterator[tuple[str, str, str]]:
    columns = {
        (schema().model.family(type_name), link.column, link.other_family)
        for (type_name, _), link in schema().links.items()
        if link.kind == "column"
    }
    yield from sorted(columns)


def _pair_sides() -> dict[str, dict[str, str]]:
    """The family of each column of each table of pairs."""
    sides: dict[str, dict[str, str]] = {}
    for (type_name, _), link in schema().links.items():
        if link.kind == "pairs":
            own = schema().model.family(type_name)
            sides.setdefault(link.pair_table, {}).update({link.own_column: own, link.other_column: link.other_family})
    return sides


_FILE_ROWS = {
    # a version and the row of its file must say the same
    "file-row": (
        "SELECT v.id, v.referanseDokumentfil FROM o_dokumentversjon v LEFT JOIN stored_file f"
        " ON f.file_id = CAST(v.referanseDokumentfil AS INTEGER)"
        " WHERE f.file_id IS NULL OR f.sha256 IS NOT v.sjekksum OR f.size_bytes IS NOT v.filstoerrelse"
    ),
    "file-unused": (
        "SELECT f.file_id, f.sha256 FROM stored_file f WHERE NOT EXISTS"
        " (SELECT 1 FROM o_dokumentversjon v WHERE v.referanseDokumentfil = CAST(f.file_id AS TEXT))"
        " AND NOT EXISTS (SELECT 1 FROM light_pdf l WHERE l.light_file_id = f.file_id)"
    ),
    "light-pdf": (
        "SELECT l.file_id, l.light_file_id FROM light_pdf l WHERE NOT EXISTS"
        " (SELECT 1 FROM stored_file f WHERE f.file_id = l.file_id)"
        " OR NOT EXISTS (SELECT 1 FROM stored_file f WHERE f.file_id = l.light_file_id)"
    ),
}


def _check_file_rows(db: sqlite3.Connection, check: FolderCheck) -> None:
    for kind, sql in _FILE_ROWS.items():
        for row in db.execute(sql):
            check.add(Flaw(kind, f"Dokumentversjon {row[0]}" if kind == "file-row" else str(row[0]), str(row[1])))


def _check_contents(folder: Path, check: FolderCheck, progress: Progress) -> None:
    """Hashes every content that a row refers to, then looks for contents that none does."""
    suspects: dict[str, Flaw] = {}
    with closing(_open(folder, still=check.is_backup)) as db:
        rows = db.execute("SELECT sha256, max(size_bytes) FROM stored_file GROUP BY sha256 ORDER BY sha256")
        for sha256, size_bytes in rows:
            flaw = _content_flaw(folder, sha256, size_bytes)
            if flaw is not None:
                suspects[sha256] = flaw
            check.files += 1
            check.bytes += size_bytes
            if check.files % _BLOCK == 0:
                progress(check)
    with closing(_KnownContents(folder, still=check.is_backup)) as contents:
        for path in _contents(folder):
            if path.name not in suspects and not contents.has(path.name):
                suspects[path.name] = Flaw("file-surplus", _name(folder, path))
        is_served = (folder / SERVING_FILE).exists()
        for pause_s in _RECHECK_S if is_served else ():
            if suspects:
                time.sleep(pause_s)
                suspects = {
                    name: flaw for name, flaw in suspects.items() if _is_still_wrong(folder, flaw, name, contents)
                }
    for flaw in suspects.values():
        check.add(flaw)


def _content_flaw(folder: Path, sha256: str, size_bytes: int) -> Flaw | None:
    path = content_path(folder / STORE_FOLDER, sha256)
    try:
        size = path.stat().st_size
        if size != size_bytes:
            return Flaw("file-bytes", _name(folder, path), f"{size} ≠ {size_bytes}")
        actual_sha256 = sha256_of(path)
    except FileNotFoundError:
        return Flaw("file-missing", _name(folder, path))
    except OSError as error:
        return Flaw("file-unreadable", _name(folder, path), error.strerror or "")
    return None if actual_sha256 == sha256 else Flaw("file-bytes", _name(folder, path), actual_sha256)


def _is_still_wrong(folder: Path, flaw: Flaw, sha256: str, contents: _KnownContents) -> bool:
    """Asks again about a content: rows are younger now, and what was on its way has come or gone."""
    if flaw.kind == "file-surplus":
        return (folder / flaw.where).exists() and not contents.has(sha256)
    return contents.is_stored(sha256)


class _KnownContents:
    """The contents that a row of the archive refers to, or an upload that waits to be referred to; as of now."""

    def __init__(self, folder: Path, *, still: bool) -> None:
        self._archive = _open(folder, still=still)
        has_uploads = (folder / UPLOADS_FILE).exists()
        self._uploads = _open(folder, still=still, name=UPLOADS_FILE) if has_uploads else None

    def is_stored(self, sha256: str) -> bool:
        """True where the archive refers to it."""
        return _has_row(self._archive, "SELECT 1 FROM stored_file WHERE sha256 = ? LIMIT 1", sha256)

    def has(self, name: str) -> bool:
        """True where the archive or an upload refers to it, or where it was let go and waits to be removed."""
        return (
            self.is_stored(name)
            or _has_row(self._archive, "SELECT 1 FROM released_file WHERE sha256 = ? LIMIT 1", name)
            or (
                self._uploads is not None
                and _has_row(self._uploads, "SELECT 1 FROM upload WHERE sha256 = ? LIMIT 1", name)
            )
        )

    def close(self) -> None:
        """Ends the connections."""
        self._archive.close()
        if self._uploads is not None:
            self._uploads.close()


def _has_row(db: sqlite3.Connection, sql: str, value: str) -> bool:
    return db.execute(sql, (value,)).fetchone() is not None


def _contents(folder: Path) -> Iterator[Path]:
    """What lies in the store, but for what is still coming in."""
    store = folder / STORE_FOLDER
    for place in sorted(store.iterdir()) if store.is_dir() else ():
        if place.name == "incoming" and place.is_dir():
            continue
        yield from sorted(place.iterdir()) if place.is_dir() else (place,)


def _check_manifest(folder: Path, check: FolderCheck) -> None:
    facts = manifest.read_facts(folder)
    path = folder / manifest.MANIFEST_FILE
    if not path.is_file() or sha256_of(path) != facts.get("manifest_sha256"):
        check.add(Flaw("manifest-differs", manifest.MANIFEST_FILE))
        return
    listed_names: set[str] = set()
    for sha256, name in manifest.read_lines(folder):
        is_content = name.startswith(f"{STORE_FOLDER}/")
        if not is_content:  # what lies in the store is hashed with the rows
            if name not in manifest.BESIDE_STORE:
                check.add(Flaw("manifest-differs", manifest.MANIFEST_FILE))
                continue
            listed_names.add(name)
            target = folder / name
            if not target.is_file():
                check.add(Flaw("file-missing", name))
            elif sha256_of(target) != sha256:
                check.add(Flaw("file-bytes", name))
    for target in manifest.backup_files(folder):
        name = target.relative_to(folder).as_posix()
        if not name.startswith(f"{STORE_FOLDER}/") and name not in listed_names:
            check.add(Flaw("file-surplus", name))


def _name(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()
