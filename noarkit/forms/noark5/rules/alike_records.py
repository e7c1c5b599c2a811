"""The records of arkivstruktur that are all alike: which groups one opens and closes, and which texts are whose.

What is worked out here for one record says the same as the walk through its elements would, for every record of the
same tags whose texts need no second look; all others are walked through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from noarkit.forms.noark5.rules.alike import Pick, Tag, Texts, picker
from noarkit.forms.noark5.rules.fields import CODE, DATE, GROUP, KEEP, NAME, NAMESPACE, REFERENCE, REFERENCES, Field

RECORD = "registrering"
GROUPS = frozenset(
    {
        *(RECORD, "dokumentbeskrivelse", "dokumentobjekt", "korrespondansepart", "part", "merknad", "skjerming"),
        *("avskrivning", "dokumentflyt", "kryssreferanse", "presedens", "kassasjon", "utfoertKassasjon", "sletting"),
        *("konvertering", "elektroniskSignatur", "moetedeltaker"),
    }
)
"""What a record may hold and be alike; the order of what else there is matters too much."""

_MOST_TRUSTED = 10_000


@dataclass(frozen=True, slots=True)
class Opening:
    """A group begins: its number within the record, and the texts that it holds, by their names."""

    kind: str
    type: str
    number: int
    names: tuple[str, ...]
    pick: Pick


@dataclass(frozen=True, slots=True)
class Referring:
    """A reference: its number within the record, its number in `REFERENCES`, and where its text is."""

    number: int
    reference: int
    text: int


Step = Opening | Referring | None
"""One thing to do; None closes the innermost group."""


@dataclass(frozen=True, slots=True)
class RecordPlan:
    """What is done with a record. `count` is the number of its elements, `depth` how many levels they have.

    `trusted` are the codes and names of records that were looked at before.
    """

    steps: tuple[Step, ...]
    count: int
    depth: int
    dates: tuple[int, ...]
    pick: Pick
    choices: tuple[AbstractSet[str], ...]
    trusted: set[Texts] = field(default_factory=set)


class RecordPlanner:
    """Plans records by the fields of arkivstruktur; dates beyond `earliest` and `today` want a second look."""

    def __init__(self, fields: Mapping[str, Field], earliest: str, today: str) -> None:
        self._fields = fields
        self._earliest = earliest
        self._today = today

    def plan(self, tags: Sequence[Tag]) -> tuple[RecordPlan, frozenset[int]] | None:
        """The plan of a record of these tags, and which leaves it takes; None where it must be walked through."""
        draft = _Draft(self._fields)
        return draft.plan() if all(map(draft.take, tags)) else None

    def accepts(self, plan: RecordPlan, texts: Texts) -> bool:
        """True if no date, code or name of a record wants a second look."""
        earliest, today = self._earliest, self._today
        for number in plan.dates:
            if not earliest < texts[number] <= today:
                return False
        choice = plan.pick(texts)
        if choice in plan.trusted:
            return True
        if any(text not in texts for text, texts in zip(choice, plan.choices, strict=True)):
            return False
        if len(plan.trusted) < _MOST_TRUSTED:
            plan.trusted.add(choice)
        return True


@dataclass(slots=True)
class _OpenGroup:
    """A group whose end is not met yet; its step is made when all that it holds is known."""

    tag: Tag
    step: int
    names: list[str] = field(default_factory=list)
    texts: list[int] = field(default_factory=list)
    has_groups: bool = False
    has_references: bool = False


class _Draft:
    """A plan while it is made; `take` returns False for what makes it impossible."""

    def __init__(self, fields: Mapping[str, Field]) -> None:
        self._fields = fields
        self._steps: list[Step] = []
        self._open: list[_OpenGroup] = []
        self._text_numbers: list[int] = []
        self._dates: list[int] = []
        self._checked: list[tuple[int, AbstractSet[str]]] = []
        self._count = self._depth = 0

    def plan(self) -> tuple[RecordPlan, frozenset[int]]:
        """What was drafted."""
        pick = picker([number for number, _ in self._checked])
        choices = tuple(texts for _, texts in self._checked)
        dates, depth = tuple(self._dates), self._depth
        return RecordPlan(tuple(self._steps), self._count, depth, dates, pick, choices), frozenset(self._text_numbers)

    def take(self, tag: Tag) -> bool:
        """The next tag."""
        if not tag.begins:
            group = self._open.pop()
            opening = Opening(group.tag.name, group.tag.type, group.tag.number, tuple(group.names), picker(group.texts))
            self._steps[group.step] = opening
            self._steps.append(None)
            return True
        self._count += 1
        self._depth = max(self._depth, len(self._open) + 1)
        field_ = self._fields.get(NAMESPACE + tag.name)
        if not tag.is_leaf:
            return self._begin(tag, field_)
        return not tag.type and (field_ is None or self._leaf(tag, field_))

    def _begin(self, tag: Tag, field_: Field | None) -> bool:
        if self._open:
            self._open[-1].has_groups = True
        self._open.append(_OpenGroup(tag, len(self._steps)))
        self._steps.append(None)
        return field_ is not None and field_[0] == GROUP and tag.name in GROUPS

    def _leaf(self, tag: Tag, field_: Field) -> bool:
        kind, name, texts = field_
        place, group = len(self._text_numbers), self._open[-1]
        if kind == NAME:
            self._checked.append((place, texts))
        elif kind == REFERENCE:
            # whose it is depends on which of its owner's ids was met before it
            group.has_references = True
            self._steps.append(Referring(tag.number, _REFERENCE_NUMBER[name], place))
        elif kind in (KEEP, DATE, CODE):
            if name == "systemID" and (group.has_groups or group.has_references):
                return False
            group.names.append(name)
            group.texts.append(place)
            if kind == DATE:
                self._dates.append(place)
            elif kind == CODE:
                self._checked.append((place, texts))
        else:
            return False
        self._text_numbers.append(tag.number)
        return True


_REFERENCE_NUMBER = {name: number for number, name in enumerate(REFERENCES)}
