"""Of a document and its archival copy, an extract delivers the copy: a package holds archive formats alone.

A copy names its original by an external id, or stands beside it under the same number. A copy for reading stands for
nothing: it is left out, unless it is asked for. What is delivered in a format that no depot takes is listed by folder
and record beside the package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from noarkit.extraction.delivered_formats import NO_PDFA_BESIDE, NOT_TAKEN, reason_not_taken
from noarkit.extraction.store import ExtractStore
from noarkit.model.conversions import parse_details, source_of
from noarkit.model.formats import PDFA_WANTED, is_accepted
from noarkit.model.own_marks import ACCESS_COPY_OF, DERIVED_FROM
from noarkit.safe.csv_files import Cell, write_csv
from noarkit.words.texts import texts

PAIRED = "copies-paired"
_PRODUCTION = "P"
RENUMBERED = "copies-renumbered"
ACCESS_LEFT_OUT = "access-copies-left-out"
_PUID = re.compile(r"(?:^|[ ;])((?:x-)?fmt/\d+)(?=$|[ ;·])")
_PDFA = frozenset({"fmt/95", "fmt/354", "fmt/476", "fmt/477", "fmt/478", "fmt/479", "fmt/480", "fmt/481"})
COLUMNS = ("folder", "record", "document", "format", "file", "code", "means")
_COPIES = (
    "SELECT v.rowid, v.parent, v.sort, v.data, p.rowid, json_extract(p.data, '$.f.eksternID') FROM part p"
    " JOIN version v ON v.id = p.parent"
    " WHERE p.family = 'V' AND p.type = 'EksternId' AND json_extract(p.data, '$.f.eksterntSystem') = ?"
    " ORDER BY v.parent, v.sort, v.uuid"
)
_ORIGINALS = (
    "SELECT rowid, sort, data FROM version WHERE parent = ? AND rowid != ?"
    " AND lower(json_extract(data, '$.f.sjekksum')) = ? ORDER BY sort > ?, abs(sort - ?), uuid"
)
_BESIDE = (
    "SELECT p.rowid, p.data FROM version p WHERE json_extract(p.data, '$.f.variantformat') = 'P'"
    " AND p.rowid NOT IN (SELECT copy FROM access_copy) AND EXISTS"
    " (SELECT 1 FROM version a WHERE a.parent = p.parent AND a.sort = p.sort AND a.rowid != p.rowid"
    " AND json_extract(a.data, '$.f.variantformat') = 'A')"
)
_FACTS = (
    "v.path, v.data, EXISTS (SELECT 1 FROM version a WHERE a.parent = v.parent AND a.sort = v.sort"
    " AND a.rowid != v.rowid AND json_extract(a.data, '$.f.variantformat') = 'A')"
)
_VERSIONS = f"SELECT {_FACTS} FROM version v WHERE v.done < 2"  # noqa: S608  # our own names
_DELIVERED = (
    "SELECT coalesce(json_extract(m.data, '$.f.mappeIdent'), ''),"  # noqa: S608  # our own names
    f" coalesce(json_extract(r.data, '$.f.registreringsIdent'), ''), coalesce(d.sort, 0), {_FACTS}"
    " FROM version v LEFT JOIN document d ON d.id = v.parent LEFT JOIN unit r ON r.id = d.parent AND r.kind = 'R'"
    " LEFT JOIN unit m ON m.id = r.parent AND m.kind = 'M' WHERE v.done < 2 ORDER BY m.sort, r.sort, d.sort, v.path"
)


@dataclass(frozen=True, slots=True)
class FormatCounts:
    """Versions delivered in a format that no depot takes, originals that their copies stand for, and copies that are
    written under the number of their original although the archive numbered them on."""

    not_taken: int = 0
    stood_for: int = 0
    renumbered: int = 0
    access_left_out: int = 0
    """Copies for reading that are not delivered."""


def deliver_copies(store: ExtractStore, *, with_originals: bool, with_access: bool = False) -> None:
    """Leaves out, once, what has a copy, and copies for reading; `with_originals`, not where its own format is taken
    too, and `with_access`, not the copies for reading."""
    if store.fact(PAIRED) is not None:
        return
    renumbered = stood_for = 0
    store.db.execute("BEGIN")
    store.db.execute("CREATE TABLE copy_of (copy INTEGER NOT NULL, original INTEGER NOT NULL)")
    store.remember(ACCESS_LEFT_OUT, str(_settle_access(store, with_access=with_access)))
    for copy, document, sort, data, label, name in list(store.rows(_COPIES, (DERIVED_FROM,))):
        source = source_of(str(name))
        proven = _is_proven(data, source)
        if proven:
            # the conversion tells it, in an element of its own
            store.db.execute("DELETE FROM part WHERE rowid = ?", (label,))
        original = store.db.execute(_ORIGINALS, (document, copy, source or "", sort, sort)).fetchone()
        if original is None:
            continue
        row, number, original_data = original
        if proven:
            store.db.execute("INSERT INTO copy_of VALUES (?, ?)", (copy, row))
        if number != sort:
            renumbered += 1
            store.db.execute(
                "UPDATE version SET sort = ?, data = json_set(data, '$.f.versjonsnummer', ?) WHERE rowid = ?",
                (number, number, copy),
            )
        stood_for += _leave_out(store, row, original_data, with_originals=with_originals)
    for row, data in list(store.rows(_BESIDE)):
        stood_for += _leave_out(store, row, str(data), with_originals=with_originals)
    store.remember(RENUMBERED, str(renumbered))
    store.remember(PAIRED, str(stood_for))
    store.db.execute("COMMIT")


def _settle_access(store: ExtractStore, *, with_access: bool) -> int:
    """Leaves out the copies for reading, and says how many; those that go along are told by their conversion."""
    left_out = 0
    store.db.execute("CREATE TABLE access_copy (copy INTEGER PRIMARY KEY, original INTEGER)")
    for copy, document, sort, data, label, name in list(store.rows(_COPIES, (ACCESS_COPY_OF,))):
        source = source_of(str(name))
        original = store.db.execute(_ORIGINALS, (document, copy, source or "", sort, sort)).fetchone()
        proven = _is_proven(data, source)
        if proven:
            store.db.execute("DELETE FROM part WHERE rowid = ?", (label,))
        row = original[0] if proven and original is not None else None
        store.db.execute("INSERT OR IGNORE INTO access_copy VALUES (?, ?)", (copy, row))
        if not with_access:
            left_out += store.db.execute("UPDATE version SET done = 2 WHERE rowid = ? AND done = 0", (copy,)).rowcount
    return left_out


def _is_proven(data: object, source: str | None) -> bool:
    """True for a copy whose conversion names the source that its external id names."""
    conversion = parse_details(str(orjson.loads(str(data))["f"].get("formatDetaljer", "")))
    return source is not None and conversion is not None and conversion.source_sha256 == source


def table_path(target: Path) -> Path:
    """Where the list stands of what is delivered in a format that no depot takes."""
    return target.parent / f"{target.name}.formats-not-taken.csv"


def list_formats(store: ExtractStore, target: Path, package: Path, lang: str) -> FormatCounts:
    """Lists what is delivered, in the folder `package`, in a format that no depot takes or in a state that none can
    use, with the reason in the language `lang`; there is no list where there is nothing."""
    path = table_path(target)
    fact_counts = (int(store.fact(name) or 0) for name in (PAIRED, RENUMBERED, ACCESS_LEFT_OUT))
    counts = FormatCounts(0, *fact_counts)
    # mostly there is nothing to list: then nothing need be looked up and sorted
    if all(_reason_of(row, package) is None for row in store.rows(_VERSIONS)):
        path.unlink(missing_ok=True)
        return counts
    count = 0

    def rows() -> Iterator[tuple[Cell, ...]]:
        nonlocal count
        for folder, record, document, *version in store.rows(_DELIVERED):
            code = _reason_of(version, package)
            if code is not None:
                count += 1
                means = texts(lang).text("delivered_formats", code)
                file = str(version[0])
                yield str(folder), str(record), int(str(document)), _suffix(file), file, code, means

    write_csv(path, COLUMNS, rows(), mode=0o644, sync=False)
    return replace(counts, not_taken=count)


def _reason_of(version: Sequence[str | int | None], package: Path) -> str | None:
    file, data, has_copy = version
    return _reason(orjson.loads(str(data))["f"], package / str(file), has_copy=bool(has_copy))


def _reason(fields: dict[str, object], path: Path, *, has_copy: bool) -> str | None:
    """Why no depot takes a version: by its format, by its bytes where nothing proved them, or because it is an office
    document without its PDF/A. None where one does."""
    if not is_taken(fields):
        return NOT_TAKEN
    details = str(fields.get("formatDetaljer", ""))
    match = _PUID.search(details)
    if parse_details(details) is not None or (match is not None and match[1] in _PDFA):
        return None
    suffix = path.suffix[1:].lower()
    is_alone = suffix in PDFA_WANTED and fields.get("variantformat") == _PRODUCTION and not has_copy
    try:
        return reason_not_taken(path, suffix) or (NO_PDFA_BESIDE if is_alone else None)
    except FileNotFoundError:
        return None  # of a version whose file was not to be had, which is told elsewhere


def is_taken(fields: dict[str, object]) -> bool:
    """True for a version in a format that depots take, by its PRONOM identifier where it is told, else its ending. A
    plain PDF may be a PDF/A: only a validator says so, and the rules of validation ask it."""
    details = str(fields.get("formatDetaljer", ""))
    told_format = parse_details(details)
    match = _PUID.search(details)
    puid = told_format.result_format if told_format is not None else match[1] if match else None
    suffix = _suffix(str(fields.get("referanseDokumentfil", ""))) or str(fields.get("format", ""))
    return is_accepted(puid if puid and "fmt/" in puid else None, suffix)


def _leave_out(store: ExtractStore, row: object, data: str, *, with_originals: bool) -> int:
    if with_originals and is_taken(orjson.loads(data)["f"]):
        return 0
    cursor = store.db.execute("UPDATE version SET done = 2 WHERE rowid = ? AND done = 0", (row,))
    return cursor.rowcount


def _suffix(path: str) -> str:
    return path.rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else ""
