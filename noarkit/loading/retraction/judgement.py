"""Asks the archive about objects that a run made: which are as they were made, and what has another need of them.

An object stays where somebody closed, changed or moved it, and where something that the run did not make hangs below it
or refers to it. What the archive does not show is asked for in every order before it counts as gone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from noarkit.archive.optional import has_any
from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Parameter, Query, SavedObject
from noarkit.graph.store import PlannedEntity
from noarkit.loading.finality import BY_DATE, DATE, STATUS, withheld_fields
from noarkit.loading.lease import RunFacts
from noarkit.loading.lookup import ORDERS, key_batches, objects_of_ids
from noarkit.loading.retraction.selection import Candidate, Selection
from noarkit.loading.verification.expectation import SCREENING, Expectation
from noarkit.model import Reference, metamodel

CLOSED, CLOSED_BY_RUN, CHANGED, MOVED, IN_USE = "closed", "closed-by-run", "changed", "moved", "in-use"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the archive says of some candidates: the objects that are there, those that are not, and why some stay."""

    present: Mapping[int, SavedObject]
    absent: frozenset[int]
    reasons: Mapping[int, tuple[str, str]]


@dataclass(slots=True)
class Judge:
    """Judges candidates. `closed` says that the run closed what it made, `takes_closed` that this may go as well."""

    archive: Archive
    selection: Selection
    expectation: Expectation
    closed: bool
    takes_closed: bool
    _used: dict[tuple[str, str], bool] = field(default_factory=dict)
    _orders: int = len(ORDERS)
    _screening: dict[str, object] = field(default_factory=dict)

    def judge(self, candidates: Sequence[Candidate]) -> Verdict:
        """Reads the objects first and what needs them afterwards, so that a version read here is from before."""
        present = self.read(candidates)
        planned = self.selection.planned(present)
        reasons: dict[int, tuple[str, str]] = {}
        for candidate in candidates:
            actual = present.get(candidate.n)
            if actual is not None:
                reason = self._reason(planned[candidate.n], actual)
                if reason is not None:
                    reasons[candidate.n] = reason
        present_candidates = [candidate for candidate in candidates if candidate.n in present]
        for n, user in self._users(present_candidates):
            reasons.setdefault(n, (IN_USE, f"{user.type} {user.id}"))
        absent = frozenset(candidate.n for candidate in candidates) - present.keys()
        return Verdict(present, absent, reasons)

    def look_again(self) -> None:
        """What was in use by nothing is asked for anew; one answer is enough then where each delete bears versions."""
        self._used = {key: True for key, is_used in self._used.items() if is_used}
        if self.expectation.facts.honours_versions:
            self._orders = 1

    def read(self, candidates: Sequence[Candidate]) -> dict[int, SavedObject]:
        """The objects that are there, by number."""
        present: dict[int, SavedObject] = {}
        by_family: dict[str, dict[str, int]] = defaultdict(dict)
        for candidate in candidates:
            by_family[candidate.family][candidate.id] = candidate.n
        for family, numbers in by_family.items():
            for order in ORDERS:
                missing = [archive_id for archive_id, n in numbers.items() if n not in present]
                for actual in objects_of_ids(self.archive, family, missing, order=order):
                    present[numbers[actual.id]] = actual
        return present

    def _reason(self, entity: PlannedEntity, actual: SavedObject) -> tuple[str, str] | None:
        """Why an object stays; None where it is as the run made it."""
        if actual.type != entity.type:
            return CHANGED, f"{entity.type} → {actual.type}"
        if _is_final(actual):
            # What the source says is closed was made so; all else was closed by the run, or by somebody since.
            if not self.closed and not (self.expectation.facts.closes is False and _is_planned_final(entity)):
                return CLOSED, str(actual.fields.get(DATE) or "")
            if not self.takes_closed:
                return CLOSED_BY_RUN, str(actual.fields.get(DATE) or "")
        elif self.closed and entity.type in (*BY_DATE, *STATUS) and not self._may_be_open(actual):
            return CHANGED, DATE
        comparison = self.expectation.compare(entity, "done", actual, self._screenings(entity, actual))
        if comparison.problems:
            return CHANGED, ", ".join(dict.fromkeys(problem.name for problem in comparison.problems))
        moved = self._moved_link(entity, actual)
        if moved:
            return MOVED, moved
        sha256 = self.selection.sha256_of(entity.n)
        stored = str(actual.fields.get("sjekksum") or "").lower()
        if sha256 and stored and len(stored) == len(sha256) and stored != sha256:
            return CHANGED, "referanseDokumentfil"
        return None

    def _may_be_open(self, actual: SavedObject) -> bool:
        return f"{actual.type} {actual.id}" in self.expectation.not_closed or actual.type in STATUS

    def _moved_link(self, entity: PlannedEntity, actual: SavedObject) -> str:
        """The name of a link to one that does not lead where the run led it."""
        planned = dict(self.selection.links_of(entity.n))
        if entity.parent is not None and entity.parent_link is not None:
            planned[entity.parent_link] = self.selection.id_of(entity.parent) or ""
        for name, reference in metamodel().types[entity.type].references.items():
            if reference.many or not reference.viewed:
                continue
            target, expected = actual.links.get(name), planned.get(name)
            if (target is not None and target != expected) or (expected and target is None and name in planned):
                return name
        return ""

    def _screenings(self, entity: PlannedEntity, actual: SavedObject) -> frozenset[object]:
        """What an object may be screened with, where the plan says nothing: as what it hangs under, or its class."""
        if SCREENING in entity.fields or not actual.fields.get(SCREENING):
            return frozenset({None})
        default = self.expectation.defaults.get((entity.type, SCREENING))
        allowed: set[object] = {default}
        references = metamodel().types[entity.type].references
        for name, target in actual.links.items():
            if name in references:
                family = metamodel().family(references[name].targets[0])
                if target not in self._screening:
                    query = Query(family, "id = @i", {"@i": target}, limit=1)
                    above = self.archive.query(query).objects
                    self._screening[target] = above[0].fields.get(SCREENING) if above else None
                allowed.add(self._screening[target])
        return frozenset(allowed)

    def _users(self, candidates: Sequence[Candidate]) -> Iterator[tuple[int, SavedObject]]:
        """What the run did not make, and which hangs below one of these or refers to it."""
        by_type: dict[str, dict[str, int]] = defaultdict(dict)
        for candidate in candidates:
            by_type[candidate.type][candidate.id] = candidate.n
        for kind, numbers in by_type.items():
            for reference in metamodel().types[kind].references.values():
                family = metamodel().family(reference.targets[0])
                if (reference.many or not reference.viewed) and self._is_used(family, reference.inverse):
                    for ids in key_batches(list(numbers)):
                        yield from self._strangers(reference, family, {name: numbers[name] for name in ids})

    def _strangers(
        self, reference: Reference, family: str, numbers: Mapping[str, int]
    ) -> Iterator[tuple[int, SavedObject]]:
        for user in self._ask(family, reference.inverse, list(numbers)):
            if self.selection.has(family, user.id) or _is_anchor(user, self.expectation.facts):
                continue
            # One that refers to many does not say to which; then each is asked for by itself.
            target = user.links.get(reference.inverse)
            is_told = target is not None and target in numbers
            for archive_id in [target] if target is not None and is_told else list(numbers):
                if (reference.name, user.id) in self.selection.links_of(numbers[archive_id]):
                    continue  # the run's own link to what stood there
                if is_told or any(again.id == user.id for again in self._ask(family, reference.inverse, [archive_id])):
                    yield numbers[archive_id], user

    def _ask(self, family: str, inverse: str, ids: Sequence[str]) -> Iterator[SavedObject]:
        parameters: dict[str, Parameter] = {f"@p{place}": archive_id for place, archive_id in enumerate(ids)}
        condition = " || ".join(f"{inverse}.id = {name}" for name in parameters)
        shown_ids: set[str] = set()
        # Where no version protects what one answer leaves out, it is asked for in each order.
        for order in ORDERS[: 1 if self.expectation.facts.honours_versions else len(ORDERS)]:
            for actual in objects(self.archive, Query(family, condition, parameters, order=order)):
                if actual.id not in shown_ids:
                    shown_ids.add(actual.id)
                    yield actual

    def _is_used(self, family: str, inverse: str) -> bool:
        """Whether the archive has anything that refers to anything in this way; where not, no object is asked for."""
        key = (family, inverse)
        if key not in self._used:
            queries = (
                Query(family, f"{inverse} != @none", {"@none": None}, order=order, limit=1)
                for order in ORDERS[: self._orders]
            )
            self._used[key] = has_any(self.archive, queries, inverse)
        return self._used[key]


def _is_final(actual: SavedObject) -> bool:
    if actual.type in STATUS:
        name, final = STATUS[actual.type]
        return actual.fields.get(name) == final
    return bool(actual.fields.get(DATE))


def _is_planned_final(entity: PlannedEntity) -> bool:
    if entity.type in STATUS:
        return entity.fields.get(STATUS[entity.type][0]) == STATUS[entity.type][1]
    return entity.fields.get(DATE) is not None and DATE in withheld_fields(entity.type, entity.fields)


def _is_anchor(user: SavedObject, facts: RunFacts) -> bool:
    """True for a mark of this run's own on what it made."""
    name = str(user.fields.get("eksternID"))
    return (
        user.type == "EksternId"
        and user.fields.get("eksterntSystem") == facts.anchor_system
        and name.startswith(facts.anchor(""))
    )
