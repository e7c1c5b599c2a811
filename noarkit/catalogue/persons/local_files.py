"""Searches the files that noarkit itself keeps for a person: journals, plans, catalogues, logs, lists and reports.

A table of SQLite is read cell by cell, a file of text line by line. What is told is the file with the column, and how
many cells or lines hold the person. Links are not followed; what cannot be read is listed.
"""

from __future__ import annotations

import html
import os
import re
import sqlite3
import stat
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import BinaryIO

from noarkit.catalogue.persons.matching import Certainty, Kind, Person
from noarkit.catalogue.persons.occurrences import Occurrence, Occurrences, Unsearched
from noarkit.catalogue.text.texts import unpack_text
from noarkit.errors import UnsafePath
from noarkit.places import SQLITE_HEAD
from noarkit.safe.folder_handles import is_link
from noarkit.safe.paths import open_without_trace
from noarkit.safe.tree import EntryKind, walk_tree

_SIDE_ENDINGS = ("-wal", "-shm", "-journal")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_MOST_LINE_BYTES = 4 * 1024 * 1024
_OVERLAP = 400
UNREADABLE, LINK = "unreadable", "link"
Counts = dict[tuple[Kind, str], tuple[Certainty, int]]


def search_local_files(place: str, roots: list[Path], person: Person, occurrences: Occurrences) -> int:
    """Searches every file below some folders, and single files among them, and returns how many were searched."""
    searched = 0
    for root in roots:
        for path, kind in files_below(root):
            shown = str(path)
            if kind != "file":
                occurrences.add_unsearched(Unsearched(place, shown, LINK if kind == "link" else UNREADABLE))
                continue
            if path.name.endswith(_SIDE_ENDINGS):
                continue  # read together with its database
            try:
                counts = _counts_in(path, person)
            except (OSError, sqlite3.Error, UnsafePath):
                occurrences.add_unsearched(Unsearched(place, shown, UNREADABLE))
                continue
            searched += 1
            for (kind_of_match, where), (certainty, count) in counts.items():
                fields = (where,) if where else ()
                occurrences.add(Occurrence(place, "local", kind_of_match, certainty, shown, fields=fields, count=count))
    return searched


def files_below(root: Path) -> Iterator[tuple[Path, EntryKind]]:
    """A file itself, or every file below a folder in the order of their names. A link is given as it is, not what it
    leads to; what is neither file nor folder, or cannot be read, as `other`."""
    try:
        status = root.lstat()
    except FileNotFoundError:
        return
    except OSError:
        yield root, "other"
        return
    if is_link(status):
        yield root, "link"
    elif stat.S_ISDIR(status.st_mode):
        yield from sorted(_entries_below(root))
    else:
        yield root, "file" if stat.S_ISREG(status.st_mode) else "other"


def _entries_below(root: Path) -> Iterator[tuple[Path, EntryKind]]:
    try:
        for entry in walk_tree(root):
            if entry.kind != "folder":
                yield root / entry.name, entry.kind
    except OSError:  # the folder itself: of one below it the walk says that
        yield root, "other"


def _counts_in(path: Path, person: Person) -> Counts:
    """How many cells or lines of a file hold the person, by the kind of criterion and the column."""
    counts: Counts = {}
    _count(counts, person, path.name, "file name")
    descriptor = open_without_trace(path)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnsafePath(where=path.name, why="not-a-file")
        head = file.read(len(SQLITE_HEAD))
        file.seek(0)
        if head != SQLITE_HEAD:
            for line in _lines(file):
                _count(counts, person, _unescaped(line, path.suffix), "")
            return counts
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10)) as db:
        for where, text in _cells(db):
            _count(counts, person, text, where)
    return counts


def _count(counts: Counts, person: Person, text: str, where: str) -> None:
    for match in person.matches(text) if len(text) < _MOST_LINE_BYTES else person.matches_in_document(text):
        certainty, count = counts.get((match.kind, where), (match.certainty, 0))
        sure: Certainty = "certain" if "certain" in (certainty, match.certainty) else "possible"
        counts[match.kind, where] = (sure, count + 1)


def _lines(file: BinaryIO) -> Iterator[str]:
    """The lines of a file; of one that is too long pieces that overlap, so that nothing is cut in two."""
    kept = b""
    while line := file.readline(_MOST_LINE_BYTES):
        yield (kept + line).decode("utf-8", "replace")
        kept = b"" if line.endswith(b"\n") else line[-_OVERLAP:]


def _unescaped(line: str, suffix: str) -> str:
    """A line as it reads: JSON, logs and pages write some letters by number."""
    if suffix in (".json", ".jsonl", ".log") and "\\u" in line:
        return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), line)
    return html.unescape(line) if suffix in (".html", ".xml", ".svg") and "&" in line else line


def _cells(db: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Every cell of every table as a text, with `table.column`. Indexes of words hold nothing that tables lack."""
    tables = db.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'").fetchall()
    for (table,) in tables:
        quoted = '"' + table.replace('"', '""') + '"'
        rows = db.execute(f"SELECT * FROM {quoted}")  # noqa: S608  # a name from the schema, quoted
        columns = [f"{table}.{column[0]}" for column in rows.description]
        for row in rows:
            for column, value in zip(columns, row, strict=True):
                text = _cell_text(value)
                if text:
                    yield column, text


def _cell_text(value: object) -> str:
    if isinstance(value, bytes):
        if value[:1] == b"\x78":  # as texts of documents are packed
            with suppress(zlib.error):
                return unpack_text(value)
        return value.decode("utf-8", "replace")
    return "" if value is None or isinstance(value, float) else str(value)
