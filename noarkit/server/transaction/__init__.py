"""Transactions: save, link, unlink and delete actions, done in order, all or nothing, with rules checked at the end.

request    parses the body                   plan       rules of each type, computed once
stage      the objects in memory             save link  apply the actions to them
generate   values that the archive adds      write log  the database and the change log
checks     rules before anything is written  final_checks  rules that need the written database
permit     the caller's permissions          expand     turns a folder or record into a richer type
trees      whole trees in bounded steps      concurrency  concurrent calls on one case file
run        the order of all steps
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from noarkit.server.calling import Call, Handler, Route
from noarkit.server.transaction import log
from noarkit.server.transaction.concurrency import CaseFileGuard, case_files_added_to
from noarkit.server.transaction.expand import TO_CASE_FILE, TO_REGISTRY_ENTRY, Expansion, expand
from noarkit.server.transaction.plan import plans
from noarkit.server.transaction.request import read_actions
from noarkit.server.transaction.run import finish, perform
from noarkit.server.transaction.stage import leniency, open_stage
from noarkit.server.wire import Answer


def statements() -> Iterator[str]:
    """The table of the change log."""
    yield from log.statements()


def routes() -> list[Route]:
    """The calls of this area."""
    return [
        Route("POST", "/transaction", _transaction(CaseFileGuard()), has_body=True),
        Route("POST", "/expand/folder", _expansion(TO_CASE_FILE), has_body=True),
        Route("POST", "/expand/record", _expansion(TO_REGISTRY_ENTRY), has_body=True),
    ]


def _transaction(in_flight: CaseFileGuard) -> Handler:
    def transaction(call: Call) -> Answer:
        settings = call.service.settings
        call.service.note_bulk_call()
        # Parsed before the writer's turn: there is one writer, and a malformed body must not hold it up.
        actions = read_actions(call.body, plans(leniency(settings)), settings.max_actions)
        busy = case_files_added_to(actions) if settings.concurrent_records_conflict else set()
        # The case files first: held inside the transaction they could never be contested, since writers take turns. The
        # hold spans the wait for the turn, so two calls at once do meet, as in a real archive.
        with in_flight.hold(busy), call.service.db.transaction() as db:
            stage = open_stage(db, settings, call.caller, call.service.now_ms())
            perform(stage, actions)
            answer = finish(stage, call.service.files)
        return Answer(raw=answer)

    return transaction


def _expansion(expansion: Expansion) -> Callable[[Call], Answer]:
    def expand_one(call: Call) -> Answer:
        with call.service.db.transaction() as db:
            stage = open_stage(db, call.service.settings, call.caller, call.service.now_ms())
            expand(stage, expansion, call.body)
            answer = finish(stage, call.service.files)
        return Answer(raw=answer)

    return expand_one
