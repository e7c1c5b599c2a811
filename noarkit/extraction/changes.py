"""The change log: what was changed in the units of the package, by whom, from what to what.

Left out by rule, and counted: that something was made or deleted; changes by accounts that loaded with noarkit, who
are known by the anchors and guards they left; changes of what the form has no element for. That such an account closed
something is told, unless the log is to hold what users changed alone: the standard wants it logged, and it happened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from noarkit.archive.administration import Administration
from noarkit.archive.port import Archive
from noarkit.archive.values import Json, Parameter, Query
from noarkit.errors import ArchiveNotFound, ArchiveRefused, NotAllowed
from noarkit.extraction.bundles import Bundles
from noarkit.extraction.output import hashed
from noarkit.extraction.store import ExtractStore, Progress, Row, key_of
from noarkit.forms.noark5.moments import Moments
from noarkit.forms.noark5.read.changes import read_changes
from noarkit.forms.noark5.read.values import timestamp
from noarkit.forms.noark5.spec import CHANGE_LOG, WRITTEN_VERSION
from noarkit.forms.noark5.write.content import Codes, xml_text
from noarkit.forms.noark5.write.placeholders import NO_CHANGES
from noarkit.forms.noark5.write.structure import namespaces
from noarkit.model.mapping import mapping
from noarkit.model.own_marks import CHUNK_ANCHORS, MARKER_TITLE
from noarkit.model.xml_model import xml_model

_GUARDED = "refKlassifikasjonssystem.tittel = @s"
_TASK = "changes"
_KEPT = "kept-changes"
_WITH_UUID = ("unit", "document", "version")
CHANGED_MEANWHILE = "changed-meanwhile"
"""The fact under which the store remembers that somebody changed something while it was fetched."""

LogFlaw = Literal["no-changes", "changes-noted", "changes-left-out"]

ChangeLog = Literal["closing", "from-archive", "empty-note", "none"]
"""Which change log a package gets: what users changed and what the load closed, or a note where neither is told; what
users changed; the same, or a note; or none."""

_CLOSINGS = frozenset({"arkivstatus", "arkivdelstatus", "saksstatus"})
"""The fields that say that something is closed and that the standard wants logged."""
_NOTING = frozenset({"closing", "empty-note"})
_COLUMNS = "uuid, field, at, actor, old, new"
_USERS_CHANGES = f"SELECT {_COLUMNS} FROM change"  # noqa: S608  # our own names
# what a kept log tells of a closing is not told again by the load that repeated it
_WITH_CLOSINGS = (
    f"{_USERS_CHANGES} UNION ALL SELECT {_COLUMNS} FROM closing c WHERE NOT EXISTS (SELECT 1 FROM change k"  # noqa: S608  # our own names
    " WHERE k.uuid = c.uuid AND k.field = c.field AND k.new = c.new)"
)

_BATCH = 500
_LOGGED_REVISIONS = ("UPDATE", "MOVE")


@dataclass(frozen=True, slots=True)
class WrittenChanges:
    """The file that was written; `noted` where its one entry says that there is no change."""

    sha256: str
    entries: int
    is_note: bool = False


def fetch_changes(archive: Archive, store: ExtractStore, codes: Codes, pause: Callable[[], None]) -> None:
    """Reads the change log of all units into the store; remembers where the account may not read it."""
    if store.progress(_TASK).is_done:
        return
    store.db.execute("DELETE FROM change")
    store.db.execute("DELETE FROM closing")
    own_ids, left_counts, rows = own_accounts(archive), Counter[str](), []
    begun_at = store.fact("begun") or ""
    try:
        for entry in _entries(archive, store, own_ids):
            if entry.get("modifiedByUserId") in own_ids:
                _keep_closing(entry, store, codes, left_counts)
                continue
            row = _row(entry, store, codes, left_counts)
            if row is not None and str(row[2]) > begun_at:
                store.remember(CHANGED_MEANWHILE, str(row[2]))
            if row is not None:
                rows.append(row)
            if len(rows) >= _BATCH:
                store.add({"change": rows}, _TASK, Progress("", False))
                rows.clear()
                pause()
    except (NotAllowed, ArchiveNotFound, ArchiveRefused) as fault:
        store.remember("changes-unseen", fault.code)
    for rule, count in sorted(left_counts.items()):
        store.remember(f"changes-left-out/{rule}", str(count))
    store.add({"change": rows}, _TASK, Progress("", True))


def merge_kept(store: ExtractStore, path: Path, zone: str) -> None:
    """Adds the changes of a kept endringslogg.xml that are of units in the store, once."""
    if store.progress(_KEPT).is_done:
        return
    rows: list[Row] = []
    for table in _WITH_UUID:
        store.db.execute(f"CREATE INDEX IF NOT EXISTS {table}_uuid ON {table} (uuid)")
    for change in read_changes(path):
        unit = change.unit.lower()
        if any(store.number(f"SELECT 1 FROM {table} WHERE uuid = ?", (unit,)) for table in _WITH_UUID):  # noqa: S608  # our own names
            at = timestamp(change.at, ZoneInfo(zone))
            rows.append((unit, change.element, at, change.actor, xml_text(change.old), xml_text(change.new)))
    store.add({"change": rows}, _KEPT, Progress("", True))


def own_accounts(archive: Archive) -> frozenset[str]:
    """The accounts that loaded with noarkit into this archive."""
    account_ids: list[str] = []
    for kind, mark, value in (("EksternId", "eksterntSystem = @s", CHUNK_ANCHORS), ("Klasse", _GUARDED, MARKER_TITLE)):
        while True:
            condition = " && ".join([mark, *(f"opprettetAvBrukerIdent != @a{n}" for n in range(len(account_ids)))])
            parameters: dict[str, Parameter] = {"@s": value, **{f"@a{n}": name for n, name in enumerate(account_ids)}}
            answer = archive.query(Query(kind, condition, parameters, limit=1)).objects
            if not answer:
                break
            account_ids.append(str(answer[0].fields.get("opprettetAvBrukerIdent", "")))
    return frozenset(account_ids)


def _entries(archive: Archive, store: ExtractStore, own_ids: frozenset[str]) -> Iterator[Mapping[str, Json]]:
    """The entries that may matter."""

    def fonds_ids() -> list[str]:
        return [str(fonds) for (fonds,) in store.rows("SELECT id FROM unit WHERE kind = 'F'")]

    return Administration(archive).changes_of_all(
        fonds_ids, kinds=_LOGGED_REVISIONS, not_by=sorted(own_ids), but_of=sorted(_CLOSINGS)
    )


def _row(entry: Mapping[str, Json], store: ExtractStore, codes: Codes, left_counts: Counter[str]) -> Row | None:
    kind = entry.get("revisionType")
    if kind not in _LOGGED_REVISIONS:
        return None
    change = _move_change(entry) if kind == "MOVE" else _field_change(entry, codes) if kind == "UPDATE" else None
    unit = _unit_of(entry, store)
    if change is None or unit is None:
        left_counts["no-element" if change is None else "not-in-package"] += 1
        return None
    element, old, new = change
    unknown = mapping().words.texts["unknown"]
    at, actor = str(entry.get("modifiedDate", "")), str(entry.get("modifiedBy") or unknown)
    return (unit, element, at, actor, old or unknown, new or unknown)


def _field_change(entry: Mapping[str, Json], codes: Codes) -> tuple[str, str, str] | None:
    kind, field = str(entry.get("type")), str(entry.get("modifiedField"))
    type_mapping = mapping().types.get(kind)
    element = type_mapping.fields.get(field) if type_mapping else None
    if element is None and field in xml_model(WRITTEN_VERSION).values:  # it came with an extract, told by its element
        return field, _value(entry.get("oldValue"), field, {}), _value(entry.get("newValue"), field, {})
    if element is None or element.path is None:
        return None
    names = codes.names_of(field) if element.rule == "code" else {}
    return (
        element.path.split("/")[-1],
        _value(entry.get("oldValue"), field, names),
        _value(entry.get("newValue"), field, names),
    )


def _value(json_value: Json, field: str, names: Mapping[str, str]) -> str:
    value = json_value.get(field) if isinstance(json_value, dict) else None
    if value is None or isinstance(value, dict | list):
        return ""
    text = xml_text(str(value).lower() if isinstance(value, bool) else str(value))
    return names.get(text, text)


def _move_change(entry: Mapping[str, Json]) -> tuple[str, str, str] | None:
    before, after = entry.get("previousParent"), entry.get("currentParent")
    if not isinstance(before, dict) or not isinstance(after, dict):
        return None
    element = "referanseArkivdel" if after.get("type") == "Arkivdel" else "referanseForelder"
    return element, str(before.get("systemId", "")), str(after.get("systemId", ""))


def _unit_of(entry: Mapping[str, Json], store: ExtractStore) -> str | None:
    """The uuid of the unit that was changed; for a part of a unit, that of the unit."""
    key = key_of(str(entry.get("id", "")))
    for sql in (
        "SELECT uuid FROM unit WHERE id = ?",
        "SELECT uuid FROM document WHERE id = ?",
        "SELECT uuid FROM version WHERE id = ? AND done < 2",
        "SELECT u.uuid FROM part p JOIN unit u ON u.id = p.parent WHERE p.id = ?",
    ):
        row = store.db.execute(sql, (key,)).fetchone()
        if row is not None:
            return str(row[0])
    return None


def _keep_closing(entry: Mapping[str, Json], store: ExtractStore, codes: Codes, left_counts: Counter[str]) -> None:
    """Keeps that a load closed something; whatever else it changed is counted as left out."""
    if entry.get("revisionType") not in _LOGGED_REVISIONS:
        return
    row = _row(entry, store, codes, left_counts) if entry.get("modifiedField") in _CLOSINGS else None
    if row is None:
        left_counts["own-load"] += 1
    elif row[4] != row[5]:
        store.db.execute("INSERT INTO closing VALUES (?, ?, ?, ?, ?, ?)", row)


def count_changes(bundles: Bundles) -> int:
    """How many changes there are to tell, with those that a load made by closing."""
    return int(bundles.db.execute(f"SELECT count(*) FROM ({_WITH_CLOSINGS})").fetchone()[0])  # noqa: S608  # our own names


def write_changes(
    bundles: Bundles, path: Path, moments: Moments, change_log: ChangeLog = "closing"
) -> WrittenChanges | None:
    """Writes endringslogg.xml by time and unit. Where nothing was changed there is no such file, or one with a note:
    the schema wants a change, so it is one that leaves the title of the arkiv as it was, on the day it was closed."""
    rows = _WITH_CLOSINGS if change_log == "closing" else _USERS_CHANGES
    count = int(bundles.db.execute(f"SELECT count(*) FROM ({rows})").fetchone()[0])  # noqa: S608  # our own names
    if change_log == "none" or not (count or change_log in _NOTING):
        return None
    with hashed(path) as out:
        out.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<{CHANGE_LOG} {namespaces(CHANGE_LOG)}>\n'.encode())
        for unit, element, at, actor, old, new in bundles.db.execute(
            f"{rows} ORDER BY at, uuid, field, old, new, actor"
        ):
            out.write(
                (
                    f"<endring>\n<referanseArkivenhet>{unit}</referanseArkivenhet>\n"
                    f"<referanseMetadata>{element}</referanseMetadata>\n<endretDato>{moments.local(at)}</endretDato>\n"
                    f"<endretAv>{xml_text(actor)}</endretAv>\n<tidligereVerdi>{_local(old, moments)}</tidligereVerdi>\n"
                    f"<nyVerdi>{_local(new, moments)}</nyVerdi>\n</endring>\n"
                ).encode()
            )
        if not count:
            out.write(_note(bundles, moments).encode())
        out.write(f"</{CHANGE_LOG}>\n".encode())
    return WrittenChanges(out.sha256, count or 1, is_note=not count)


def _note(bundles: Bundles, moments: Moments) -> str:
    fields = next(unit for _, unit in bundles.units("", "F"))["o"]["f"]
    title, at = fields.get("tittel"), fields.get("avsluttetDato") or fields.get("opprettetDato")
    return (
        f"<endring>\n<referanseArkivenhet>{fields.get('uuid')}</referanseArkivenhet>\n"
        f"<referanseMetadata>tittel</referanseMetadata>\n<endretDato>{moments.local(str(at))}</endretDato>\n"
        f"<endretAv>{NO_CHANGES}</endretAv>\n<tidligereVerdi>{title}</tidligereVerdi>\n"
        f"<nyVerdi>{title}</nyVerdi>\n</endring>\n"
    )


def _local(value: str, moments: Moments) -> str:
    """A moment as the form tells moments; anything else as it is."""
    is_moment = len(value) == 24 and value[10] == "T" and value[-1] == "Z" and value[4] == "-" and value[:4].isdigit()
    return moments.local(value) if is_moment else value
