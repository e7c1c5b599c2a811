"""The verification of a run, step by step: source, keys, objects and what is below them, links, files, rows."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing

from noarkit.archive.administration import Administration
from noarkit.archive.port import Archive
from noarkit.archive.registers import ListedCodes
from noarkit.errors import ArchiveMediaType, ArchiveNotFound, ArchiveRefused, ArchiveStrange, NotAllowed
from noarkit.events import Listener
from noarkit.graph.losses import losses
from noarkit.graph.store import GraphStore
from noarkit.loading import registers
from noarkit.loading.folder import RunFolder
from noarkit.loading.lease import RunFacts
from noarkit.loading.numbers import numbers
from noarkit.loading.verification.below import compare_below
from noarkit.loading.verification.changes import ChangeLog
from noarkit.loading.verification.cross_links import compare_cross_links
from noarkit.loading.verification.expectation import SCREENING, Expectation
from noarkit.loading.verification.files import FileSources, compare_files
from noarkit.loading.verification.keys import collect_keys, compare_keys, compare_outcomes
from noarkit.loading.verification.ledger import Ledger
from noarkit.loading.verification.objects import ObjectComparison, compare_by_id, compare_many_links
from noarkit.loading.verification.order import compare_order
from noarkit.loading.verification.outcome import FIELDS, LINKS, SUMS, Depths, VerifyResult
from noarkit.loading.verification.screening import Screening
from noarkit.loading.verification.source_walk import account_for_records, walk_source
from noarkit.records import Source

_UNREADABLE = (ArchiveRefused, ArchiveNotFound, NotAllowed, ArchiveMediaType, ArchiveStrange)


def verify(
    folder: RunFolder,
    source: Source,
    archive: Archive,
    depths: Depths,
    emit: Listener,
    *,
    downloads: Archive | None = None,
) -> VerifyResult:
    """Compares source, plan and archive. `downloads` fetches files, with less patience than `archive` where it matters.

    Raises RunFault where the run is broken or its plan was changed, archive faults where the archive is away,
    SourceGone.
    """
    folder.open_graph().close()  # proves that the plan is the one that was frozen
    result = VerifyResult(depths.depth, numbers(folder), sample=depths.sample)
    _count_losses(folder, result)
    by_id, with_fields = depths.reaches("ids"), depths.reaches("fields")
    with Ledger(folder) as ledger:
        result.began = ledger.began
        if result.numbers.add_up:
            result.agree(SUMS)
        else:
            result.differ(SUMS, "V100", "", str(result.numbers))
        walk_source(ledger, source, result, emit)
        ledger.fill()
        collect_keys(ledger, archive, emit)
        compare_keys(ledger, result, by_id=by_id)
        compare_outcomes(ledger, result)
        if by_id:
            comparison = _make_comparison(folder, ledger, archive, result, depths)
            compare_below(comparison)
            compare_by_id(comparison, ledger.families())
            compare_many_links(comparison)
            compare_cross_links(comparison)
        if with_fields:
            comparison.judge_defaults()
            compare_order(ledger, result, comparison.find_renumbering)
        account_for_records(ledger, result, by_id=by_id)
        _count_unasked(ledger, result, by_id=by_id, with_fields=with_fields)
        compare_files(ledger, FileSources(archive, downloads or archive, source), depths, result, emit)
    return result


def _count_losses(folder: RunFolder, result: VerifyResult) -> None:
    with closing(GraphStore.open(folder.graph)) as graph:
        fields: set[str] = set()
        for loss in losses(graph.db):
            result.left_behind += 1
            fields.add(loss.element)
    result.left_behind_fields = len(fields)


def _make_comparison(
    folder: RunFolder, ledger: Ledger, archive: Archive, result: VerifyResult, depths: Depths
) -> ObjectComparison:
    code_lists = _read_code_lists(archive)
    codes, unread = _archive_codes(folder, archive, code_lists)
    facts = RunFacts(
        plan=ledger.plan_sha256[:16],
        external_system=ledger.system,
        honours_versions=False,
        sets_system_fields=ledger.sets_system_fields,
        fresh=False,
        deadline_s=0,
        closes=ledger.closes,
        codes=codes,
    )
    defaults = {
        (code_list.type, code_list.field): code_list.default
        for code_list in code_lists or ()
        if code_list.default is not None
    }
    screening = next((code for (_, name), code in defaults.items() if name == SCREENING), None)
    return ObjectComparison(
        ledger,
        archive,
        Expectation(facts, ledger.closed, defaults, unread, ledger.not_closed),
        Screening(ledger, archive, screening, dict(codes.get(SCREENING, {}))),
        ChangeLog(archive),
        result,
        with_fields=depths.reaches("fields"),
        with_bytes=depths.reaches("bytes"),
    )


def _read_code_lists(archive: Archive) -> tuple[ListedCodes, ...] | None:
    """The archive's code lists; None where they cannot be read."""
    try:
        return Administration(archive).code_lists()
    except _UNREADABLE:
        return None


def _archive_codes(
    folder: RunFolder, archive: Archive, code_lists: tuple[ListedCodes, ...] | None
) -> tuple[Mapping[str, Mapping[str, str]], frozenset[str]]:
    """What the archive calls a planned code, by list; and the lists that cannot be read although the plan brings codes
    of its own."""
    graph = GraphStore.open(folder.graph)
    try:
        if code_lists is not None:
            return registers.prepare(archive, graph, rehearsal=True), frozenset()
        return {}, frozenset(registers.needed_lists(graph))
    finally:
        graph.close()


_LEFT_OBJECTS = "SELECT type, state, count(*) FROM plan WHERE state NOT IN ('done', 'already_there') AND NOT EXISTS"
_STANDS = "(SELECT 1 FROM standing s WHERE s.n = plan.n)"


def _count_unasked(ledger: Ledger, result: VerifyResult, *, by_id: bool, with_fields: bool) -> None:
    """Everything planned that was not asked for gets its reason, so that each row counts all there is."""
    db = ledger.db
    if not by_id:
        for kind, count in db.execute("SELECT type, count(*) FROM graph.entity GROUP BY type"):
            result.leave(str(kind), "depth", count)
        result.leave(LINKS, "depth", ledger.count("SELECT count(*) FROM graph.link"))
    else:
        for kind, state, count in db.execute(f"{_LEFT_OBJECTS} {_STANDS} GROUP BY type, state"):
            # what the journal says stands, below a parent that does not, is missing with it
            result.leave(str(kind), "not_there" if state == "unnamed" else str(state), count)
        for kind, count in db.execute("SELECT type, count(*) FROM graph.entity GROUP BY type").fetchall():
            result.leave(str(kind), "not_reached", max(0, count - result.row(str(kind)).all))
    fields = "SELECT sum((SELECT count(*) FROM json_each(plan_fields.fields))) FROM graph.entity plan_fields"
    if not with_fields:
        result.leave(FIELDS, "depth", ledger.count(fields))
        return
    rows = db.execute(
        "SELECT plan.state, sum((SELECT count(*) FROM json_each(e.fields))) FROM plan"
        " JOIN graph.entity e ON e.n = plan.n WHERE NOT EXISTS (SELECT 1 FROM standing s WHERE s.n = plan.n)"
        " GROUP BY plan.state"
    )
    for state, count in rows:
        result.leave(FIELDS, "not_there" if state == "unnamed" else str(state), count or 0)
