"""The verification of a run, step by step: source, keys, objects and what is below them, links, files, rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass

from noarkit.archive.administration import Administration
from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.registers import ListedCodes
from noarkit.archive.values import Parameter, Query
from noarkit.errors import ArchiveMediaType, ArchiveNotFound, ArchiveRefused, ArchiveStrange, NotAllowed
from noarkit.events import Event, Listener
from noarkit.graph.losses import losses
from noarkit.graph.store import GraphStore
from noarkit.loading import registers
from noarkit.loading.folder import RunFolder
from noarkit.loading.lease import RunFacts
from noarkit.loading.lookup import ORDERS
from noarkit.loading.numbers import numbers
from noarkit.loading.retraction.record import refuse_retracted
from noarkit.loading.verification.below import compare_below
from noarkit.loading.verification.changes import ChangeLog
from noarkit.loading.verification.expectation import SCREENING, Expectation
from noarkit.loading.verification.files import FileSources, compare_files
from noarkit.loading.verification.keys import collect_keys, compare_keys, compare_outcomes
from noarkit.loading.verification.ledger import AMISS, ArchivedEntity, Ledger
from noarkit.loading.verification.objects import ObjectComparison, compare_by_id, compare_many_links
from noarkit.loading.verification.order import compare_order
from noarkit.loading.verification.outcome import FIELDS, LINKS, RECORDS, SUMS, Depths, VerifyResult
from noarkit.loading.verification.screening import Screening
from noarkit.model import metamodel
from noarkit.records import Groundwork, Source

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
    if folder.journal.exists():
        with closing(folder.open_journal()) as journal:
            refuse_retracted(journal, str(folder.path))
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
    """The archive's code lists; None if they cannot be read."""
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


_TELL_EVERY = 5000

# what became of each record that was planned: its root's own outcome, or the plan's
_RECORDS = """
SELECT r.key, r.state, r.root, w.key IS NOT NULL, p.state, p.key, p.family, s.seen
FROM graph.record r LEFT JOIN walked w ON w.key = r.key
LEFT JOIN plan p ON p.n = r.root LEFT JOIN standing s ON s.n = r.root
ORDER BY r.n
"""


def walk_source(ledger: Ledger, source: Source, result: VerifyResult, emit: Listener) -> None:
    """Keeps the key of every record that the source has now, and counts those that are new."""
    db, planned_count = ledger.db, ledger.count("SELECT count(*) FROM graph.record")
    db.execute("BEGIN")
    for count, item in enumerate(source.records(emit), 1):
        if isinstance(item, Groundwork):
            continue
        key = getattr(item, "key", None) or getattr(item, "record_key", "")
        db.execute("INSERT OR IGNORE INTO walked VALUES (?)", (key,))
        if count % _TELL_EVERY == 0:
            emit(Event("walked", {"records": count, "of": max(planned_count, count)}))
    db.execute("COMMIT")
    result.source_new = ledger.count(
        "SELECT count(*) FROM walked w LEFT JOIN graph.record r ON r.key = w.key WHERE r.n IS NULL"
    )


def account_for_records(ledger: Ledger, result: VerifyResult, *, by_id: bool) -> None:
    """A record is accounted for where the source still has it and the archive has what was made of it.

    `by_id` says that the archive was asked for the objects themselves, not only for the keys.
    """
    for key, state, root, was_walked, became, root_key, family, judgement in ledger.db.execute(_RECORDS):
        if not was_walked and "#again" not in key:
            result.source_gone += 1
            result.notice("V101", key)
        reason = _reason_not_accounted(state, root, became, bool(was_walked))
        if reason:
            result.leave(RECORDS, reason)
        elif root is None:
            result.agree(RECORDS)
        elif (
            (by_id and judgement is None)
            or judgement == AMISS
            or (not by_id and not _is_archived(ledger, str(family), str(root_key)))
        ):
            result.row(RECORDS).differ += 1
        else:
            result.agree(RECORDS)


def _reason_not_accounted(state: str, root: int | None, became: str | None, was_walked: bool) -> str:
    """Why a record is not compared; empty if it is."""
    if state != "mapped":
        return "earlier_run" if state == "already_there" else state
    if root is not None and became in ("open", "set_aside", "refused"):
        return became
    return "" if was_walked else "source_gone"


def _is_archived(ledger: Ledger, family: str, key: str) -> bool:
    """False if a key should be in the archive and is not; families without keys are not asked for."""
    if family not in ("AbstraktMappe", "AbstraktRegistrering"):
        return True
    return ledger.db.execute("SELECT 1 FROM answered WHERE key = ? LIMIT 1", (key,)).fetchone() is not None


@dataclass(frozen=True, slots=True)
class CrossLink:
    """A kind of link: `name` leads from objects of `family` to objects of `target`, `inverse` leads back."""

    family: str
    name: str
    target: str
    inverse: str


CROSS_LINKS = (
    CrossLink("Arkivdel", "refArkivdelForloeper", "Arkivdel", "refArkivdelArvtaker"),
    CrossLink("Arkivdel", "refSekundaerKlassifikasjonssystem", "Klassifikasjonssystem", "refArkivdelSomSekundaer"),
    CrossLink("AbstraktMappe", "refSekundaerKlasse", "Klasse", "refMappeSomSekundaer"),
    CrossLink("AbstraktRegistrering", "refSekundaerKlasse", "Klasse", "refRegistreringSomSekundaer"),
    CrossLink("AbstraktMappe", "refKryssreferanseTilMappe", "AbstraktMappe", "refKryssreferanseFraMappe"),
    CrossLink("AbstraktMappe", "refKryssreferanseTilRegistrering", "AbstraktRegistrering", "refKryssreferanseFraMappe"),
    CrossLink("AbstraktRegistrering", "refKryssreferanseTilMappe", "AbstraktMappe", "refKryssreferanseFraRegistrering"),
    CrossLink(
        "AbstraktRegistrering",
        "refKryssreferanseTilRegistrering",
        "AbstraktRegistrering",
        "refKryssreferanseFraRegistrering",
    ),
    CrossLink("Saksmappe", "refPresedens", "Presedens", "refSaksmappe"),
    CrossLink("Journalpost", "refPresedens", "Presedens", "refJournalpost"),
    CrossLink("Avskrivning", "refTilknyttetJournalpost", "Journalpost", "refTilknyttetAvskrivning"),
)


def compare_cross_links(comparison: ObjectComparison) -> None:
    """Compares every link of these kinds from objects that the run made itself."""
    for crossing in CROSS_LINKS:
        if not _has_links(comparison.archive, crossing):
            continue
        family = metamodel().family(crossing.family)
        for portion in comparison.ledger.batches(family, f"state = 'done' AND seen != {AMISS}"):
            for source, target in _links(comparison.archive, crossing, {place.id: place for place in portion}):
                if not _is_planned(comparison, crossing, source, target):
                    entity = comparison.ledger.entity(source.n)
                    comparison.report_wrong_link(entity, source, (crossing.name, None), f"- → {target}")


def _has_links(archive: Archive, crossing: CrossLink) -> bool:
    """Whether the archive has any link of this kind; where it has none, no object need be asked for."""
    # asked in all orders, since a false «none» would leave what nobody planned unseen, and certify it
    condition = f"{crossing.name} != @none"
    queries = (Query(crossing.family, condition, {"@none": None}, order=order, limit=1) for order in ORDERS)
    try:
        return any(archive.query(query).objects for query in queries)
    except ArchiveRefused:  # an archive that has no such link has none of them
        return False


def _links(
    archive: Archive, crossing: CrossLink, places: Mapping[str, ArchivedEntity]
) -> Iterator[tuple[ArchivedEntity, str]]:
    """Every link of the kind from these objects: where from, and the id of where to."""
    leading = _ids(archive, crossing.family, f"{crossing.name} != @none", "id", [*places], {"@none": None})
    if not leading:
        return
    for target in _ids(archive, crossing.target, "", f"{crossing.inverse}.id", leading, {}):
        for source in _ids(archive, crossing.family, f"{crossing.name}.id = @end", "id", leading, {"@end": target}):
            yield places[source], target


def _ids(
    archive: Archive, kind: str, restriction: str, among: str, ids: list[str], parameters: Mapping[str, Parameter]
) -> list[str]:
    names = {f"@i{place}": object_id for place, object_id in enumerate(ids)}
    condition = "(" + " || ".join(f"{among} = {name}" for name in names) + ")"
    full_condition = f"{restriction} && {condition}" if restriction else condition
    query = Query(kind, full_condition, {**parameters, **names}, order=(("id", "asc"),))
    return list(dict.fromkeys(object_id.id for object_id in objects(archive, query)))


def _is_planned(comparison: ObjectComparison, crossing: CrossLink, source: ArchivedEntity, target: str) -> bool:
    """True if the plan has the link, from whichever side. What is not in the plan at all is planned by nobody."""
    end = comparison.ledger.archived_as(metamodel().family(crossing.target), target)
    if end is None:
        return False
    return comparison.ledger.has_link(source.n, crossing.name, end.n) or comparison.ledger.has_link(
        end.n, crossing.inverse, source.n
    )
