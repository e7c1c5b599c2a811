"""Runs one transaction from its request to its answer, all or nothing.

read      parses every action
perform   applies each in its order, in memory
finish    finalises, inherits, claims files, numbers; then checks rules and rights
write     objects, pairs, log; then the checks that need the written database; then the deletes

Files are made durable last, just before the commit: a row must never refer to bytes that a loss of power could take.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import orjson

from noarkit.server.rendering import render_values
from noarkit.server.transaction import log
from noarkit.server.transaction.checks import check_all
from noarkit.server.transaction.files import FactsT, FileClaims, claim_files, replaced_files
from noarkit.server.transaction.final_checks import check_known_parents, check_moved_below, delete_all
from noarkit.server.transaction.finalise import finalise
from noarkit.server.transaction.generate import generate
from noarkit.server.transaction.link import link, unlink
from noarkit.server.transaction.permit import check_permissions
from noarkit.server.transaction.request import Action
from noarkit.server.transaction.save import check_version, save
from noarkit.server.transaction.screening import inherit_screening
from noarkit.server.transaction.stage import Stage, StagedEntity
from noarkit.server.transaction.write import bump, write_stage
from noarkit.server.wire import Refusal


def perform(stage: Stage, actions: list[Action]) -> None:
    """Carries out the actions in memory. Raises Refusal for the first that cannot be."""
    stage.admit(actions)
    for action in actions:
        _PERFORM[action.verb](stage, action)


def finish(stage: Stage, files: FileClaims[FactsT]) -> bytes:
    """Completes, checks and writes what was performed; returns the answer, ready for the commit."""
    finalise(stage)
    inherit_screening(stage)
    claims = claim_files(stage, files)
    generate(stage)
    check_all(stage)
    check_permissions(stage)
    actor = log.Actor(stage.caller.name, stage.caller.account, stage.now_ms)
    for entity, _ in stage.deleting:
        above = stage.old_parent_of(entity)
        if above is not None:
            bump(above)
    json_by_id = write_stage(stage, actor)
    check_known_parents(stage)
    check_moved_below(stage)
    replaced_ids = replaced_files(stage)
    if replaced_ids:
        files.release(stage.db, replaced_ids)
    if stage.deleting:
        delete_all(stage, actor, files)
    answer = _answer(stage, json_by_id)
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
