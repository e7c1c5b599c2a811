"""The lists of a run, behind each number that is shown: CSV that opens in a spreadsheet and cannot act there.

ids.csv        what is in the archive: source key, type, archive id, and whether this run or an earlier one put it there
set-aside.csv  what is not: set aside by plan or load, or refused by the archive, with code, reason and recipe line
skipped.csv    what a rule leaves out, with the reason it states      open.csv  what has no outcome yet
retracted.csv  what was taken out of the archive again, with the id it had, and what stayed with the reason
faults.csv     every fault and warning by code, one line a record
mails.csv      which mails were not filed by the case number in their subject, with the reason
other-values.csv  cases, records and others that have other values in the source than earlier runs loaded
register.csv   what of a register and of the folders or files that it is of does not fit
not-in-archive.csv  every value of the source that the archive has no place for
delivered-ids.csv  delivered-set-aside.csv: the same two of a run that was loaded elsewhere, as its receipt tells them
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import orjson

from noarkit.graph.losses import in_documents, losses
from noarkit.loading.attached import open_plan_and_journal
from noarkit.loading.earlier_runs import meeting_in
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import RecordOutcome, outcomes
from noarkit.loading.plan import MAIL, REGISTER
from noarkit.reports.page import iso
from noarkit.reports.remedies import remedies
from noarkit.safe.csv_files import Cell, write_csv
from noarkit.words.texts import Texts, explain, plain, texts

DELIVERED = "delivered-"
NOT_IN_ARCHIVE = "not-in-archive.csv"
REGISTER_LIST = "register.csv"
MAIL_LIST = "mails.csv"
OTHER_VALUES = "other-values.csv"


def write_lists(folder: RunFolder, lang: str) -> list[Path]:
    """Writes every list, whole or not at all; those that would be empty and optional are left away."""
    texts_ = texts(lang)
    rows = {
        "ids.csv": (("key", "type", "id", "state"), _ids(folder)),
        "set-aside.csv": (
            ("key", "state", "code", "meaning", "reason", "recipe_line", "do"),
            _left_out(folder, texts_),
        ),
        "skipped.csv": (("key", "reason"), _skipped(folder, texts_)),
        "faults.csv": (("code", "meaning", "key", "reason", "recipe_line"), _faults(folder, texts_)),
    }
    paths = [write_csv(folder.path / name, head, lines) for name, (head, lines) in rows.items()]
    if next(_retracted(folder), None) is not None:
        columns = ("key", "type", "id", "state", "reason", "detail", "at")
        paths.append(write_csv(folder.path / "retracted.csv", columns, _retracted(folder)))
    register_path = folder.path / REGISTER_LIST
    if oddities := list(_register(folder, texts_)):
        head_of_register = ("remark", "row", "place", "in_register", "in_place")
        paths.append(write_csv(register_path, head_of_register, oddities))
    else:
        register_path.unlink(missing_ok=True)
    other_path = folder.path / OTHER_VALUES
    if others := list(_other_values(folder)):
        paths.append(write_csv(other_path, ("number", "fields", "key", "will_follow"), others))
    else:
        other_path.unlink(missing_ok=True)
    mail_path = folder.path / MAIL_LIST
    if mail_rows := list(_unfiled(folder, texts_)):
        paths.append(write_csv(mail_path, ("remark", "key", "numbers"), mail_rows))
    else:
        mail_path.unlink(missing_ok=True)
    loss_path = folder.path / NOT_IN_ARCHIVE
    if next(_not_in_archive(folder), None) is not None:
        head = ("record", "object", "element", "value", "line", "code")
        paths.append(write_csv(loss_path, head, _not_in_archive(folder)))
    else:
        loss_path.unlink(missing_ok=True)
    still = folder.path / "open.csv"
    if folder.journal.exists() and next(outcomes(folder, "open"), None) is not None:
        paths.append(
            write_csv(still, ("key", "type"), ((outcome.key, outcome.type) for outcome in outcomes(folder, "open")))
        )
    else:
        still.unlink(missing_ok=True)
    return paths


def write_delivered_lists(
    folder: RunFolder, lang: str, told_items: Callable[[], Iterable[Mapping[str, object]]]
) -> None:
    """What a receipt tells of each record: where it stands on the other side, or why it does not."""
    texts_ = texts(lang)
    arrived = (
        (_cell(item, "key"), _cell(item, "type"), _cell(item, "id"), _cell(item, "state")) for item in told_items()
    )
    ids = (row for row in arrived if row[3] in ("archived", "already_there"))
    write_csv(folder.path / f"{DELIVERED}ids.csv", ("key", "type", "id", "state"), ids)
    aside = (item for item in told_items() if item.get("state") in ("set_aside", "refused"))
    rows = ((_cell(item, "key"), _cell(item, "state"), _cell(item, "code"), _meaning(item, texts_)) for item in aside)
    write_csv(folder.path / f"{DELIVERED}set-aside.csv", ("key", "state", "code", "meaning"), rows)


def _cell(item: Mapping[str, object], name: str) -> Cell:
    value = item.get(name)
    return None if value is None else str(value)


def _meaning(item: Mapping[str, object], texts_: Texts) -> Cell:
    return (explain(str(item.get("code")), texts_.lang) or [""])[0]


def _ids(folder: RunFolder) -> Iterator[tuple[Cell, ...]]:
    for outcome in outcomes(folder, "archived", "already_there"):
        yield outcome.key, outcome.type, outcome.id, outcome.state


def _retracted(folder: RunFolder) -> Iterator[tuple[Cell, ...]]:
    with open_plan_and_journal(folder) as db:
        if db.execute("SELECT 1 FROM run.sqlite_master WHERE name = 'retraction'").fetchone() is None:
            return
        rows = db.execute(
            "SELECT p.key, r.type, r.id, r.state, r.reason, r.detail, r.at FROM run.retraction r"
            " JOIN entity p ON p.n = r.n WHERE r.state != 'intent' ORDER BY r.n"
        )
        for *cells, at in rows:
            yield *cells, iso(at)


def _left_out(folder: RunFolder, texts_: Texts) -> Iterator[tuple[Cell, ...]]:
    remedy = remedies(folder, texts_.lang)
    for outcome in outcomes(folder, "set_aside", "refused"):
        code = outcome.code or ""
        reason, line = reason_of(outcome, texts_), _line(outcome.data)
        meaning = (explain(code, texts_.lang) or [""])[0]
        yield outcome.key, outcome.state, outcome.code, meaning, reason, line, remedy(code, outcome.by_plan)


def _skipped(folder: RunFolder, texts_: Texts) -> Iterator[tuple[Cell, ...]]:
    for outcome in outcomes(folder, "skipped"):
        yield outcome.key, texts_.reason(outcome.data.get("reason", ""))


def _faults(folder: RunFolder, texts_: Texts) -> Iterator[tuple[Cell, ...]]:
    for outcome in outcomes(folder, "set_aside", "refused"):
        yield (
            outcome.code,
            (explain(outcome.code or "", texts_.lang) or [""])[0],
            outcome.key,
            reason_of(outcome, texts_),
            _line(outcome.data),
        )
    with closing(folder.graph_store()) as graph:
        db = graph.db
        rows = db.execute(
            "SELECT n.code, coalesce(r.key, ''), n.data FROM note n LEFT JOIN record r ON r.n = n.record"
            " ORDER BY n.code, r.n, n.rowid"
        )
        for code, key, data in rows:
            note = orjson.loads(data)
            field = note.get("field") or note.get("what") or _dangling(note)
            yield code, texts_.text("codes", code) if texts_.has("codes", code) else "", key, str(field), _line(note)


def _dangling(note: Mapping[str, object]) -> str:
    """A link that is left out: its name, and the key that it leads to."""
    return f"{note['name']}: {note['key']}" if note.get("name") and note.get("key") else ""


def _register(folder: RunFolder, texts_: Texts) -> Iterator[tuple[Cell, ...]]:
    with closing(folder.graph_store()) as graph:
        account = orjson.loads(graph.meta(REGISTER) or "null")
    for kind, *cells in account["oddities"] if account else ():
        yield texts_.say(f"register.{kind}"), *cells


def _other_values(folder: RunFolder) -> Iterator[tuple[Cell, ...]]:
    meeting = meeting_in(folder)
    for unit in meeting.units if meeting is not None else ():
        yield unit.name, ", ".join(unit.fields), unit.key, "yes" if unit.will_follow else "no"


def _unfiled(folder: RunFolder, texts_: Texts) -> Iterator[tuple[Cell, ...]]:
    with closing(folder.graph_store()) as graph:
        account = orjson.loads(graph.meta(MAIL) or "null")
    for why, key, numbers in account["unfiled"] if account else ():
        yield texts_.say(f"mail-filing.{why}"), key, numbers


def _not_in_archive(folder: RunFolder) -> Iterator[tuple[Cell, ...]]:
    with closing(folder.graph_store()) as graph:
        db = graph.db
        for loss in losses(db):
            yield loss.record, loss.key, loss.element, loss.value, loss.line or None, loss.code
        for value, _ in in_documents(db):
            yield value.record, value.key, value.element, value.value, None, value.code


def reason_of(outcome: RecordOutcome, texts_: Texts) -> str:
    """Why a record was left out, as far as its data tell."""
    data = outcome.data
    parts = [str(data[name]) for name in ("type", "field") if data.get(name)]
    why = texts_.why(outcome.code, data).rstrip(".")
    parts += [why] if why else []
    parts += [texts_.reason(data["description"])] if data.get("description") else []
    # what it was about is a name of the source or the recipe, and no reason
    about = plain(data.get("what") or "")
    parts += [about] if about and about not in why else []
    return ": ".join(parts)


def _line(data: dict[str, object]) -> Cell:
    line = data.get("line")
    return line if isinstance(line, int) and line > 0 else None
