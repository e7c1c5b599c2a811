"""The lists of a run, behind each number that is shown: CSV that opens in a spreadsheet and cannot act there.

ids.csv        what is in the archive: source key, type, archive id, and whether this run or an earlier one put it there
set-aside.csv  what is not: set aside by plan or load, or refused by the archive, with code, reason and recipe line
skipped.csv    what a rule leaves out, with the reason it states      open.csv  what has no outcome yet
faults.csv     every fault and warning by code, one line a record
not-in-archive.csv  every value of the source that the archive has no place for
delivered-ids.csv  delivered-set-aside.csv: the same two of a run that was loaded elsewhere, as its receipt tells them
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import orjson

from noarkit.graph.losses import in_documents, losses
from noarkit.load.folder import RunFolder
from noarkit.load.numbers import RecordOutcome, outcomes
from noarkit.safe.csv_files import Cell, write_csv
from noarkit.words.texts import Texts, explain, texts

DELIVERED = "delivered-"
NOT_IN_ARCHIVE = "not-in-archive.csv"


def write_lists(folder: RunFolder, lang: str) -> list[Path]:
    """Writes every list, whole or not at all; those that would be empty and optional are left away."""
    told = texts(lang)
    rows = {
        "ids.csv": (("key", "type", "id", "state"), _ids(folder)),
        "set-aside.csv": (("key", "state", "code", "meaning", "reason", "recipe_line", "do"), _left_out(folder, told)),
        "skipped.csv": (("key", "reason"), _skipped(folder, told)),
        "faults.csv": (("code", "meaning", "key", "reason", "recipe_line"), _faults(folder, told)),
    }
    written = [write_csv(folder.path / name, head, lines) for name, (head, lines) in rows.items()]
    left = folder.path / NOT_IN_ARCHIVE
    if next(_not_in_archive(folder), None) is not None:
        head = ("record", "object", "element", "value", "line", "code")
        written.append(write_csv(left, head, _not_in_archive(folder)))
    else:
        left.unlink(missing_ok=True)
    still = folder.path / "open.csv"
    if folder.journal.exists() and next(outcomes(folder, "open"), None) is not None:
        written.append(write_csv(still, ("key", "type"), ((one.key, one.type) for one in outcomes(folder, "open"))))
    else:
        still.unlink(missing_ok=True)
    return written


def write_delivered_lists(
    folder: RunFolder, lang: str, told_items: Callable[[], Iterable[Mapping[str, object]]]
) -> None:
    """What a receipt tells of each record: where it stands on the other side, or why it does not."""
    told = texts(lang)
    arrived = ((_cell(one, "key"), _cell(one, "type"), _cell(one, "id"), _cell(one, "state")) for one in told_items())
    ids = (row for row in arrived if row[3] in ("archived", "already_there"))
    write_csv(folder.path / f"{DELIVERED}ids.csv", ("key", "type", "id", "state"), ids)
    aside = (one for one in told_items() if one.get("state") in ("set_aside", "refused"))
    rows = ((_cell(one, "key"), _cell(one, "state"), _cell(one, "code"), _meaning(one, told)) for one in aside)
    write_csv(folder.path / f"{DELIVERED}set-aside.csv", ("key", "state", "code", "meaning"), rows)


def _cell(one: Mapping[str, object], name: str) -> Cell:
    value = one.get(name)
    return None if value is None else str(value)


def _meaning(one: Mapping[str, object], told: Texts) -> Cell:
    return (explain(str(one.get("code")), told.lang) or [""])[0]


def _ids(folder: RunFolder) -> Iterator[tuple[Cell, ...]]:
    for one in outcomes(folder, "archived", "already_there"):
        yield one.key, one.type, one.id, one.state


def _left_out(folder: RunFolder, told: Texts) -> Iterator[tuple[Cell, ...]]:
    for one in outcomes(folder, "set_aside", "refused"):
        meaning, _, _, remedy = explain(one.code or "", told.lang) or ["", "", "", ""]
        yield one.key, one.state, one.code, meaning, reason_of(one, told), _line(one.data), remedy


def _skipped(folder: RunFolder, told: Texts) -> Iterator[tuple[Cell, ...]]:
    for one in outcomes(folder, "skipped"):
        yield one.key, told.reason(one.data.get("reason", ""))


def _faults(folder: RunFolder, told: Texts) -> Iterator[tuple[Cell, ...]]:
    for one in outcomes(folder, "set_aside", "refused"):
        yield one.code, (explain(one.code or "", told.lang) or [""])[0], one.key, reason_of(one, told), _line(one.data)
    with closing(sqlite3.connect(f"{folder.graph.resolve().as_uri()}?mode=ro", uri=True)) as db:
        rows = db.execute(
            "SELECT n.code, coalesce(r.key, ''), n.data FROM note n LEFT JOIN record r ON r.n = n.record"
            " ORDER BY n.code, r.n, n.rowid"
        )
        for code, key, data in rows:
            found = orjson.loads(data)
            field = found.get("field") or found.get("what") or _dangling(found)
            yield code, told.text("codes", code) if told.has("codes", code) else "", key, str(field), _line(found)


def _dangling(found: Mapping[str, object]) -> str:
    """A link that is left out: its name, and the key that it leads to."""
    return f"{found['name']}: {found['key']}" if found.get("name") and found.get("key") else ""


def _not_in_archive(folder: RunFolder) -> Iterator[tuple[Cell, ...]]:
    with closing(sqlite3.connect(f"{folder.graph.resolve().as_uri()}?mode=ro", uri=True)) as db:
        for one in losses(db):
            yield one.record, one.key, one.element, one.value, one.line or None, one.code
        for one, _ in in_documents(db):
            yield one.record, one.key, one.element, one.value, None, one.code


def reason_of(one: RecordOutcome, told: Texts) -> str:
    """Why a record was left out, as far as its data tell."""
    data = one.data
    parts = [str(data[name]) for name in ("type", "field") if data.get(name)]
    for name in ("why", "description", "what"):
        if data.get(name):
            parts.append(told.reason(data[name]))
    return ": ".join(parts)


def _line(data: dict[str, object]) -> Cell:
    line = data.get("line")
    return line if isinstance(line, int) and line > 0 else None
