"""One transaction from its request to its answer: all of it, or nothing.

read      the shape of every action
perform   each in its order, in memory
finish    finalise, inherit, claim files, number; then check rules and rights
write     objects, pairs, log; then what only the written archive can tell; then the deletes
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import orjson

from noarkit.server.rendering import render_values
from noarkit.server.transaction import log
from noarkit.server.transaction.aftermath import check_known_parents, check_moved_below, delete_all
from noarkit.server.transaction.checks import check_all
from noarkit.server.transaction.files import FactsT, FileClaims, claim_files, replaced_files
from noarkit.server.transaction.finalise import finalise
from noarkit.server.transaction.generate import generate
from noarkit.server.transaction.link import link, unlink
from noarkit.server.transaction.permit import check_permissions
from noarkit.server.transaction.request import Action
from noarkit.server.transaction.save import check_version, save
from noarkit.server.transaction.screening import inherit_screening
from noarkit.server.transaction.stage import Stage, Thing
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
    for thing, _ in stage.deleting:
        above = stage.above_before(thing)
        if above is not None:
            bump(above)
    told = write_stage(stage, actor)
    check_known_parents(stage)
    check_moved_below(stage)
    replaced = replaced_files(stage)
    if replaced:
        files.release(stage.db, replaced)
    if stage.deleting:
        delete_all(stage, actor, files)
    answer = _answer(stage, told)
    if claims:
        files.made_durable(claims)
    return answer


def _delete(stage: Stage, action: Action) -> None:
    if not isinstance(action.key, int):
        raise Refusal(400, f"{action.where}: only a permanent id can be deleted.")
    thing = stage.subject(action)
    check_version(stage, thing, action)
    thing.gone = True
    stage.deleting.append((thing, action))


def _answer(stage: Stage, told: Mapping[int, bytes]) -> bytes:
    newer = stage.settings.show_newer
    parts = []
    for name, thing in stage.saved.items():
        if not thing.gone:
            ready = told.get(thing.id) if newer else None
            parts.append(orjson.dumps(name) + b":" + (ready or _tell(thing, newer)))
    warnings = b',"warnings":' + orjson.dumps(stage.warnings) if stage.warnings else b""
    return b'{"saved":{' + b",".join(parts) + b"}" + warnings + b"}"


def _tell(thing: Thing, newer: bool) -> bytes:
    return orjson.dumps(render_values(thing.plan.name, thing.values, newer=newer))


_PERFORM: Mapping[str, Callable[[Stage, Action], None]] = {
    "save": save,
    "link": link,
    "unlink": unlink,
    "delete": _delete,
}
