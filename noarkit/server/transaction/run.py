"""Runs one transaction from its request to its answer, all or nothing.

read      parses every action
perform   applies each in its order, in memory
finish    finalises, inherits, claims files, numbers; then checks rules and rights
write     objects, pairs, log; then the checks that need the written database; then the deletes

Files are made durable last, just before the commit: a row must never refer to bytes that a loss of power could take.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping
from typing import Protocol, TypeVar

import orjson

from noarkit.server.rendering import render_values
from noarkit.server.transaction import log
from noarkit.server.transaction.checks import check_all
from noarkit.server.transaction.final_checks import check_known_parents, check_moved_below, delete_all
from noarkit.server.transaction.generate import generate
from noarkit.server.transaction.link import link, unlink
from noarkit.server.transaction.permit import check_permissions
from noarkit.server.transaction.plan import CLOSED_BY, CLOSED_BY_ID, CLOSED_DATE, CLOSING, FILE, FILE_NAME
from noarkit.server.transaction.request import Action
from noarkit.server.transaction.save import check_version, save
from noarkit.server.transaction.stage import Stage, StagedEntity
from noarkit.server.transaction.write import bump, write_stage
from noarkit.server.values import Stored
from noarkit.server.wire import Refusal


def perform(stage: Stage, actions: list[Action]) -> None:
    """Carries out the actions in memory. Raises Refusal for the first that cannot be."""
    stage.admit(actions)
    for action in actions:
        _PERFORM[action.verb](stage, action)


def finish(stage: Stage, files: FileClaims[FactsT]) -> bytes:
    """Completes, checks and writes what was performed; returns the answer, ready for the commit."""
    # Each step needs the ones before it: screening is inherited over the final links, the archive's own values see the
    # files and links, rules see the object as it will be, and rights are judged by where each object ends up.
    stage.find_parents()
    finalise(stage)
    inherit_screening(stage)
    claims = claim_files(stage, files)
    generate(stage)
    check_all(stage)
    check_permissions(stage)
    actor = log.Actor(stage.caller.name, stage.caller.account, stage.now_ms)
    for entity, _ in stage.deleting:
        # Before anything is written: the parent's new version goes out with the other changes.
        above = stage.old_parent_of(entity)
        if above is not None:
            bump(above)
    json_by_id = write_stage(stage, actor)
    # These two ask the database what children and links there are now, so they come after the writes. A refusal rolls
    # everything back.
    check_known_parents(stage)
    check_moved_below(stage)
    replaced_ids = replaced_files(stage)
    if replaced_ids:
        files.release(stage.db, replaced_ids)
    if stage.deleting:
        delete_all(stage, actor, files)
    answer = _answer(stage, json_by_id)
    # Last of all, since it waits for the disk; and before the commit, since a committed row must never name bytes that
    # a power cut can take.
    if claims:
        files.make_durable(claims)
    return answer


def _delete(stage: Stage, action: Action) -> None:
    if not isinstance(action.key, int):
        raise Refusal(400, f"{action.location}: only a permanent id can be deleted.")
    entity = stage.subject(action)
    check_version(stage, entity, action)
    entity.is_deleted = True
    stage.deleting.append((entity, action))


def _answer(stage: Stage, json_by_id: Mapping[int, bytes]) -> bytes:
    newer = stage.settings.show_newer
    parts = []
    for name, entity in stage.saved_entities.items():
        if not entity.is_deleted:
            object_json = json_by_id.get(entity.id) if newer else None
            parts.append(orjson.dumps(name) + b":" + (object_json or _render(entity, newer)))
    warnings = b',"warnings":' + orjson.dumps(stage.warnings) if stage.warnings else b""
    return b'{"saved":{' + b",".join(parts) + b"}" + warnings + b"}"


def _render(entity: StagedEntity, newer: bool) -> bytes:
    return orjson.dumps(render_values(entity.plan.name, entity.values, newer=newer))


_PERFORM: Mapping[str, Callable[[Stage, Action], None]] = {
    "save": save,
    "link": link,
    "unlink": unlink,
    "delete": _delete,
}


def finalise(stage: Stage) -> None:
    """Completes every object that was finalised or opened here. Raises Refusal (400) for a date without its status."""
    for entity in stage.saved_entities.values():
        if entity.plan.closes:
            _complete(stage, entity)


def _complete(stage: Stage, entity: StagedEntity) -> None:
    now_final = entity.plan.is_final(entity.values)
    if entity.old is None and not now_final and entity.plan.name != "Saksmappe":
        return
    was_final = entity.old is not None and entity.plan.is_final(entity.old)
    if entity.plan.name == "Saksmappe" and not now_final:
        _refuse_early_date(entity)
    if now_final and not was_final:
        close(stage.caller.name, stage.caller.account, stage.now_ms, entity)
    elif was_final and not now_final:
        for name in CLOSING:
            entity.set_value(name, None)


def close(name: str, account: str, now_ms: int, entity: StagedEntity) -> None:
    """Says when and by whom, where it is not said already."""
    for column, value in ((CLOSED_DATE, now_ms), (CLOSED_BY, name), (CLOSED_BY_ID, account)):
        if entity.values.get(column) is None:
            entity.set_value(column, value)


def _refuse_early_date(entity: StagedEntity) -> None:
    date = entity.values.get(CLOSED_DATE)
    if date is not None and date != (entity.old or {}).get(CLOSED_DATE):
        raise Refusal(400, f"{entity.location}: field {CLOSED_DATE} cannot be set while saksstatus is not A.")


_CODE = "skjerming"


def inherit_screening(stage: Stage) -> None:
    """Settles the screening of every new object that can inherit it; parents before their children."""
    settled_ids: set[int] = set()
    for entity in stage.new:
        if entity.plan.inherits_screening and entity.id not in settled_ids:
            above = entity.above
            if above is None or above.old is not None or above.id in settled_ids:
                settled_ids.add(entity.id)
                _settle(stage, entity)
                continue
            for member in _from_the_top(entity, settled_ids):
                _settle(stage, member)


def _from_the_top(entity: StagedEntity, settled_ids: set[int]) -> list[StagedEntity]:
    """The thing and those new ones above it that are not settled yet, topmost first."""
    chain: list[StagedEntity] = []
    member: StagedEntity | None = entity
    while member is not None and member.old is None and member.id not in settled_ids:
        # Each object is settled once, however many below it ask: parents first, so that a child inherits what its
        # parent has just inherited.
        settled_ids.add(member.id)
        chain.append(member)
        member = member.above
    chain.reverse()
    return [member for member in chain if member.plan.inherits_screening]


def _settle(stage: Stage, entity: StagedEntity) -> None:
    if _CODE in entity.values or (entity.nulled_columns and _CODE in entity.nulled_columns):
        return
    code = _inherited(stage, entity)
    if code:
        entity.values[_CODE] = code


def _inherited(stage: Stage, entity: StagedEntity) -> Stored:
    code = entity.above.values.get(_CODE) if entity.above is not None else None
    if code:
        return code
    primary = entity.values.get("refPrimaerKlasse")
    if primary is not None:
        code = _code_of_class(stage, int(primary))
        if code:
            return code
    if not entity.secondary_class_ids:
        return stage.settings.default_screening
    class_codes = [code for code in (_code_of_class(stage, member) for member in entity.secondary_class_ids) if code]
    return class_codes[0] if len(class_codes) == 1 else stage.settings.default_screening


def _code_of_class(stage: Stage, class_id: int) -> Stored:
    class_entity = stage.look_up("Klasse", class_id)
    return class_entity.values.get(_CODE) if class_entity is not None else None


class Facts(Protocol):
    """What is known of an uploaded file."""

    @property
    def sha256(self) -> str:
        """The SHA-256 of its bytes, in hexadecimal."""
        ...

    @property
    def size_bytes(self) -> int:
        """Its length."""
        ...

    @property
    def name(self) -> str:
        """The file name it was uploaded under."""
        ...

    @property
    def media_type(self) -> str:
        """Its media type."""
        ...


_NAMELESS = "file"
_OCTETS = "application/octet-stream"
FactsT = TypeVar("FactsT", bound=Facts)


class FileClaims(Protocol[FactsT]):
    """Where uploaded files wait for a version to refer to them."""

    def claim(self, db: sqlite3.Connection, file_id: str, account: str) -> FactsT:
        """Makes an upload part of the archive, inside `db`. Refuses with 400 what is unknown or another's."""
        ...

    def make_durable(self, claims: Collection[FactsT]) -> None:
        """Returns once the claimed bytes would survive a loss of power."""
        ...

    def release(self, db: sqlite3.Connection, file_ids: Collection[str]) -> None:
        """Lets go of files that no version refers to any more."""
        ...


def claim_files(stage: Stage, files: FileClaims[FactsT]) -> list[FactsT]:
    """Claims the file of every version made or changed here, and fills in its facts."""
    claims_by_id: dict[Stored, FactsT] = {}
    # One upload claimed by several versions of a transaction is claimed once.
    for entity in stage.saved_entities.values():
        if entity.plan.name == "Dokumentversjon" and _has_new_file(entity):
            file_id = entity.values[FILE]
            if file_id not in claims_by_id:
                claims_by_id[file_id] = _claim(stage, files, entity, str(file_id))
            _fill_in(entity, claims_by_id[file_id])
            if stage.settings.file_names_settable and entity.claimed_values and entity.claimed_values.get(FILE_NAME):
                entity.set_value(FILE_NAME, entity.claimed_values[FILE_NAME])
    return list(claims_by_id.values())


def replaced_files(stage: Stage) -> list[str]:
    """The files that versions changed here no longer refer to."""
    return [
        str(entity.old[FILE])
        for entity in stage.saved_entities.values()
        if entity.old is not None and entity.plan.name == "Dokumentversjon" and FILE in entity.changed_columns()
    ]


def _has_new_file(entity: StagedEntity) -> bool:
    file_id = entity.values.get(FILE)
    return bool(file_id) and (entity.old is None or entity.old.get(FILE) != file_id)


def _claim(stage: Stage, files: FileClaims[FactsT], entity: StagedEntity, file_id: str) -> FactsT:
    if "Store documents" not in stage.caller.rights.service:
        raise Refusal(403, f'{entity.location}: field {FILE}: the service permission "Store documents" is missing.')
    try:
        return files.claim(stage.db, file_id, stage.caller.account)
    except Refusal as refusal:
        raise Refusal(refusal.status, f"{entity.location}: {refusal.description}") from None


def _fill_in(entity: StagedEntity, facts: Facts) -> None:
    columns: dict[str, Stored] = {
        "sjekksum": facts.sha256,
        "sjekksumAlgoritme": "SHA-256",
        "filstoerrelse": facts.size_bytes,
        FILE_NAME: facts.name or _NAMELESS,
        "innholdstype": facts.media_type or _OCTETS,
    }
    for column, value in columns.items():
        entity.set_value(column, value)
