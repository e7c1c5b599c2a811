"""The verification of a run, step by step: source, keys, objects and what is below them, links, files, rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Literal

from noarkit.archive.administration import Administration
from noarkit.archive.optional import answer_or, has_any, has_field
from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.registers import ListedCodes
from noarkit.archive.values import Parameter, Query
from noarkit.errors import ArchiveStrange
from noarkit.events import Listener
from noarkit.graph.losses import losses
from noarkit.graph.store import GraphStore
from noarkit.loading import registers
from noarkit.loading.earlier_runs import meeting_in
from noarkit.loading.findings import accepted_differences
from noarkit.loading.folder import RunFolder
from noarkit.loading.lease import RunFacts
from noarkit.loading.lookup import ORDERS
from noarkit.loading.numbers import numbers
from noarkit.loading.state import refuse_retracted
from noarkit.loading.verification.below import compare_below
from noarkit.loading.verification.changes import ChangeLog
from noarkit.loading.verification.expectation import SCREENING, Expectation
from noarkit.loading.verification.files import FileSources, compare_files
from noarkit.loading.verification.keys import collect_keys, compare_keys, compare_outcomes
from noarkit.loading.verification.ledger import AMISS, ArchivedEntity, Ledger
from noarkit.loading.verification.objects import ObjectComparison, compare_by_id, compare_many_links
from noarkit.loading.verification.order import compare_order
from noarkit.loading.verification.other_runs import OtherRuns
from noarkit.loading.verification.outcome import FIELDS, LINKS, SUMS, Depths, Finding, SenderAcceptance, VerifyResult
from noarkit.loading.verification.screening import Screening
from noarkit.loading.verification.walk import account_for_records, count_new, walk_source
from noarkit.model import metamodel
from noarkit.records import Source


def verify(
    folder: RunFolder,
    source: Source | None,
    archive: Archive,
    depths: Depths,
    emit: Listener,
    *,
    downloads: Archive | None = None,
    without_source: bool = False,
    sender: SenderAcceptance | None = None,
) -> VerifyResult:
    """Compares source, plan and archive. `downloads` fetches files, with less patience than `archive` where it matters.
    What the `sender` of a bundle accepted is counted apart.

    A source that is gone (None, or found to be) leaves a verification in part; `without_source` holds the archive
    against the plan and its checksums instead. Raises RunFault where the run is broken or its plan was changed, archive
    faults where the archive is away.
    """
    accepted: Mapping[tuple[str, str], list[list[str]]] = {}
    if folder.journal.exists():
        with closing(folder.open_journal()) as journal:
            refuse_retracted(journal, str(folder.path))
            accepted = accepted_differences(journal)
    folder.open_graph().close()  # proves that the plan is the one that was frozen
    against: Literal["read", "plan"] = "plan" if without_source else "read"
    step = _Comparing(folder, source, archive, depths, emit, against=against, accepted=accepted, sender=sender)
    files = FileSources(archive, downloads or archive, source)
    with Ledger(folder) as ledger:
        result = step.compare_objects(ledger)
        if not result.differences:
            compare_files(ledger, files, depths, result, emit)
            return result
    # An answer may have come from something in between, or from before: a difference is believed that is there twice.
    with Ledger(folder) as ledger:
        result_again = step.compare_objects(ledger)
        if _differences(result_again) != _differences(result):
            raise ArchiveStrange(call="query", why="answers-differ")
        compare_files(ledger, files, depths, result_again, emit)
    return result_again


def _differences(result: VerifyResult) -> tuple[Counter[Finding], Mapping[str, int]]:
    return Counter(result.findings), {name: row.differ for name, row in result.rows.items() if row.differ}


@dataclass(frozen=True, slots=True)
class _Comparing:
    """Compares a run with what the archive says of its objects; `against` is what their files are held against."""

    folder: RunFolder
    source: Source | None
    archive: Archive
    depths: Depths
    emit: Listener
    against: Literal["read", "plan"]
    accepted: Mapping[tuple[str, str], list[list[str]]]
    sender: SenderAcceptance | None

    def compare_objects(self, ledger: Ledger) -> VerifyResult:
        """Everything but the bytes of files."""
        depths, archive = self.depths, self.archive
        result = VerifyResult(depths.depth, numbers(self.folder), sample=depths.sample, accepted=self.accepted)
        result.source, result.sender = self.against, self.sender
        _count_losses(self.folder, result)
        by_id, with_fields = depths.reaches("ids"), depths.reaches("fields")
        result.began = ledger.began
        if result.numbers.add_up:
            result.agree(SUMS)
        else:
            result.differ(SUMS, "V100", "", str(result.numbers))
        could_walk = walk_source(ledger, self.source, result, self.emit)
        ledger.fill()
        collect_keys(ledger, archive, self.emit)
        if could_walk and self.source is not None:
            count_new(ledger, self.source, result, self.emit)
        compare_keys(ledger, result, by_id=by_id)
        compare_outcomes(ledger, result)
        if by_id:
            comparison = _make_comparison(self.folder, ledger, archive, result, depths)
            compare_below(comparison)
            compare_by_id(comparison, ledger.families())
            compare_many_links(comparison)
            compare_cross_links(comparison)
        if with_fields:
            comparison.judge_defaults()
            comparison.report_lost_codes()
            compare_order(ledger, result, comparison.find_renumbering)
        account_for_records(ledger, result, by_id=by_id)
        _count_unasked(ledger, result, by_id=by_id, with_fields=with_fields)
        if with_fields:
            _report_other_values(self.folder, ledger, result)
        return result


def _report_other_values(folder: RunFolder, ledger: Ledger, result: VerifyResult) -> None:
    """Fields of what is not in the plan, since the load would not change it, and has other values in the source now."""
    meeting = meeting_in(folder)
    if meeting is None:
        return
    for unit in meeting.units:
        if not ledger.db.execute("SELECT 1 FROM graph.entity WHERE key = ?", (unit.key,)).fetchone():
            for name in unit.fields or ("*",):
                result.report_change(FIELDS, "source_changed", Finding("V105", unit.key, name))
    result.leave(FIELDS, "source_changed", max(0, meeting.differing + meeting.followed - len(meeting.units)))


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
        Expectation(
            facts,
            ledger.closed,
            defaults,
            unread,
            ledger.not_closed,
            _FieldsOf(archive).has_field,
            _listed_codes(code_lists),
        ),
        Screening(ledger, archive, screening, dict(codes.get(SCREENING, {}))),
        ChangeLog(archive),
        OtherRuns(folder),
        result,
        with_fields=depths.reaches("fields"),
        with_bytes=depths.reaches("bytes"),
    )


@dataclass(slots=True)
class _FieldsOf:
    """Which of the fields that only newer archives have this one has; asked when it matters, and once."""

    archive: Archive
    _known: dict[tuple[str, str], bool] = field(default_factory=dict)

    def has_field(self, kind: str, name: str) -> bool:
        """See `has_field`."""
        if (kind, name) not in self._known:
            self._known[kind, name] = has_field(self.archive, kind, name)
        return self._known[kind, name]


def _read_code_lists(archive: Archive) -> tuple[ListedCodes, ...] | None:
    """The archive's code lists; None if they cannot be read."""
    return answer_or(None, Administration(archive).code_lists)


def _listed_codes(code_lists: tuple[ListedCodes, ...] | None) -> Mapping[tuple[str, str], frozenset[str]]:
    return {
        (code_list.type, code_list.field): frozenset(value.code for value in code_list.values)
        for code_list in code_lists or ()
    }


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
_STANDS = "(SELECT 1 FROM planned_object s WHERE s.n = plan.n)"


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
        " JOIN graph.entity e ON e.n = plan.n WHERE NOT EXISTS (SELECT 1 FROM planned_object s WHERE s.n = plan.n)"
        " GROUP BY plan.state"
    )
    for state, count in rows:
        result.leave(FIELDS, "not_there" if state == "unnamed" else str(state), count or 0)


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
    return has_any(archive, queries, crossing.name)


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
