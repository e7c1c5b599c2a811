"""The compiled form of a recipe: constants already in wire form, expressions compiled, links looked up.

Running is in `mapper`; what cannot be run is raised as a `RecipeMismatch`, which names the recipe line. Everything that
does not depend on a record is done once, when the recipe is compiled, for a run repeats the rest for millions of them.

    fields = { tittel = "= record.subject", journalposttype = "I" }
        -> FieldPlan(constants={"journalposttype": "I"}, slots=(FieldSlot("tittel", <compiled>, …),), …)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from noarkit.graph.entity import CreationMode, Entity, FieldValue, MappedRecord
from noarkit.recipes.expressions import ExpressionRefused, Scene
from noarkit.recipes.values import Formats, ValueRefused, is_blank, to_text

Run = Callable[[Scene], object]
RunMap = Callable[..., MappedRecord]
Convert = Callable[[object, Formats], FieldValue]


class RecipeMismatch(Exception):
    """A record that the recipe does not fit: the line, a stable word why, and what: a name, or a code no table has."""

    def __init__(self, line: int, why: str, what: str = "") -> None:
        super().__init__(line, why, what)
        self.line = line
        self.why = why
        self.what = what


@dataclass(frozen=True, slots=True)
class Slot:
    """A value of the recipe: gives what it is for the record on the scene."""

    line: int
    run: Run
    constant: bool = False

    def get(self, scene: Scene) -> object:
        """The value. Raises RecipeMismatch where the record lacks what the expression asks for."""
        try:
            return self.run(scene)
        except ExpressionRefused as fault:
            raise RecipeMismatch(self.line, fault.why, fault.what) from fault

    def text(self, scene: Scene) -> str | None:
        """The value as text; None if blank."""
        value = self.get(scene)
        if is_blank(value):
            return None
        try:
            return value if isinstance(value, str) else to_text(value)
        except ValueRefused as fault:
            raise RecipeMismatch(self.line, str(fault)) from fault

    def items(self, scene: Scene) -> list[object]:
        """The value as a list: none is empty, a single thing is a list of one."""
        value = self.get(scene)
        if value is None:
            return []
        return list(value) if isinstance(value, list | tuple) else [value]


@dataclass(frozen=True, slots=True)
class FieldSlot:
    """A field filled from an expression: `plain` texts need no conversion, `open` ones are searched for numbers."""

    name: str
    slot: Slot
    convert: Convert
    plain: bool
    open: bool


@dataclass(frozen=True, slots=True)
class FieldPlan:
    """The fields of one rule. `required` must have a value; of each set in `one_of`, exactly one."""

    type: str
    line: int
    constants: Mapping[str, FieldValue]
    slots: tuple[FieldSlot, ...]
    required: tuple[str, ...]
    one_of: tuple[tuple[str, ...], ...] = ()
    business: tuple[tuple[str, str, tuple[Slot, ...]], ...] = ()
    run: Callable[[dict[str, object]], dict[str, FieldValue]] | None = None
    """Makes all of them at once for an ordinary record, and raises for any other (`field_code`)."""

    def check(self, fields: Mapping[str, FieldValue]) -> None:
        """Raises RecipeMismatch where a field that must have a value has none."""
        for name in self.required:
            if name not in fields:
                raise RecipeMismatch(self.line, "mandatory-without-value", f"{self.type}.{name}")
        for names in self.one_of:
            if sum(name in fields for name in names) != 1:
                raise RecipeMismatch(self.line, "exactly-one", f"{self.type}: {', '.join(names)}")


@dataclass(slots=True)
class ItemCounter:
    """Numbers the items of a section, from 1, over all its rules."""

    last: int = 0


@dataclass(frozen=True, slots=True)
class Occurrences:
    """`each` and `when` of a rule."""

    each: Slot | None = None
    when: Slot | None = None

    def iterate(self, scene: Scene, numbers: ItemCounter) -> Iterator[int]:
        """Shows each item in turn and yields its number. What `when` leaves out is counted but not yielded."""
        if self.each is None:
            numbers.last = number = numbers.last + 1
            if self.when is None or self.when.get(scene):
                yield number
            return
        items = self.each.items(scene)
        outer = scene.current()
        for index, item in enumerate(items):
            # The number is part of the key of what is made, so it counts what `when` leaves out too: otherwise an item
            # that is left out today and not tomorrow would shift the keys of all that follow (invariant 2).
            numbers.last = number = numbers.last + 1
            scene.enter(item, index, items)
            if self.when is None or self.when.get(scene):
                yield number
        # An `each` within an `each` hides the outer item only for as long as it runs.
        scene.restore(outer)


@dataclass(frozen=True, slots=True)
class System:
    """A classification as records use it."""

    key: str
    name: str
    separator: str
    child_of_all: bool
    leaf_ident: str
    leaf_title: str
    mode: CreationMode
    declared_classes: Mapping[str, Entity] = field(default_factory=dict)
    inner: frozenset[str] = frozenset()
    by_default: Mapping[str, Entity] = field(default_factory=dict)  # what the default class is called, once it is used


@dataclass(frozen=True, slots=True)
class ClassPlan:
    """Which class a folder or record belongs to, by which link."""

    line: int
    link: str
    system: System
    ident: Slot
    title: Slot | None
    titles: Slot | None
    fields: FieldPlan
    must: bool = False


@dataclass(frozen=True, slots=True)
class PartPlan:
    """Something that hangs under a thing: `letter` and number make its key, `link` leads up."""

    letter: str
    type: str
    link: str
    occurrences: Occurrences
    fields: FieldPlan
    by: Slot | None = None


@dataclass(frozen=True, slots=True)
class ReferencePlan:
    """References by key to other folders or records."""

    link: str
    occurrences: Occurrences
    key: Slot
    from_parents: bool


@dataclass(frozen=True, slots=True)
class EntityPlan:
    """A folder, record, document or version with all that hangs under it; `must` names parts it cannot be without."""

    type: str
    line: int
    fields: FieldPlan
    parts: tuple[PartPlan, ...] = ()
    classes: tuple[ClassPlan, ...] = ()
    references: tuple[ReferencePlan, ...] = ()
    must: tuple[str, ...] = ()
    screenable: bool = False


@dataclass(frozen=True, slots=True)
class VersionPlan:
    """A version: `content` None is the item itself."""

    occurrences: Occurrences
    content: Slot | None
    entity: EntityPlan


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """Documents of a record, with their versions."""

    occurrences: Occurrences
    entity: EntityPlan
    versions: tuple[VersionPlan, ...]


@dataclass(frozen=True, slots=True)
class FolderPlan:
    """A folder on the way to a record. `links` says how it hangs under an Arkivdel or another folder."""

    occurrences: Occurrences
    key: Slot
    entity: EntityPlan
    links: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MapPlan:
    """What source records of some kinds become."""

    line: int
    kinds: frozenset[str]
    when: Slot | None
    key: Slot | None
    entity: EntityPlan
    links: Mapping[str, str]
    arkivdel: Slot | None
    parent: Slot | None
    parent_link: str | None
    folders: tuple[FolderPlan, ...]
    documents: tuple[DocumentPlan, ...]
    run: RunMap | None = None
    """Makes all of it at once for an ordinary record, and raises for any other (`map_code`)."""


@dataclass(frozen=True, slots=True)
class SkipPlan:
    """Source records that are left out."""

    kinds: frozenset[str]
    when: Slot | None
    reason: Slot


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole recipe, ready to run. `arkivdeler` are entity keys by name, the first being the default."""

    targets: tuple[Entity, ...]
    arkivdeler: Mapping[str, str]
    skips: tuple[SkipPlan, ...]
    maps: tuple[MapPlan, ...]
    formats: Formats
    identity_numbers: str
    screening: str | None


def convert_value(convert: Convert, value: object, formats: Formats, line: int, name: str) -> FieldValue:
    """`value` in wire form. Raises RecipeMismatch where it has not that kind."""
    try:
        return convert(value, formats)
    except ValueRefused as fault:
        raise RecipeMismatch(line, str(fault), name) from fault
