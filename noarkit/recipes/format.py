"""The shape of a recipe once it is read: frozen values, each knowing the line it stands on.

Noark type and field names stand here as they were written; whether they exist is for `check` to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from noarkit.graph.entity import Target
from noarkit.recipes.values import Formats


@dataclass(frozen=True, slots=True)
class RecipeProblem:
    """A fault of a recipe: `key` is the stable word of its sentence, `data` fills it. Warnings do not stop a plan."""

    line: int
    key: str
    data: Mapping[str, object] = field(default_factory=dict)
    warning: bool = False
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """A constant, or an expression where it is a text that begins with "= "."""

    raw: object
    line: int

    @property
    def expression(self) -> str | None:
        """What stands after "= ", None for a constant."""
        return self.raw[2:] if isinstance(self.raw, str) and self.raw.startswith("= ") else None


Fields = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class ClassRule:
    """Which class something belongs to. `system` is the name of a classification; None is the primary one."""

    line: int
    ident: Value
    title: Value | None = None
    titles: Value | None = None
    system: str | None = None
    fields: Fields = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DeclaredClass:
    """A class that the recipe lists, so that it stands there whether or not a record uses it."""

    line: int
    ident: str
    title: str
    fields: Fields = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PartRule:
    """Something that hangs under a folder, record or document: a party, note … `section` is its name in the recipe."""

    section: str
    line: int
    type: str | None = None
    each: Value | None = None
    when: Value | None = None
    fields: Fields = field(default_factory=dict)
    by: Value | None = None


@dataclass(frozen=True, slots=True)
class CrossReference:
    """References by key to records or folders (`to`), made from source records or by parents (`made_from`)."""

    line: int
    to: str
    key: Value
    made_from: str
    each: Value | None = None
    when: Value | None = None


@dataclass(frozen=True, slots=True)
class Traits:
    """What folders, records and documents can have besides fields."""

    in_class: ClassRule | None = None
    secondary_classes: tuple[ClassRule, ...] = ()
    parts: tuple[PartRule, ...] = ()
    cross_references: tuple[CrossReference, ...] = ()
    business_metadata: Mapping[str, Mapping[str, tuple[Value, ...]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VersionRule:
    """A version of a document: which content, and its fields."""

    line: int
    content: Value | None = None
    each: Value | None = None
    when: Value | None = None
    fields: Fields = field(default_factory=dict)
    traits: Traits = field(default_factory=Traits)


@dataclass(frozen=True, slots=True)
class DocumentRule:
    """Documents of a record; `versions` None: one, of the item itself."""

    line: int
    each: Value | None = None
    when: Value | None = None
    fields: Fields = field(default_factory=dict)
    traits: Traits = field(default_factory=Traits)
    versions: tuple[VersionRule, ...] | None = None


@dataclass(frozen=True, slots=True)
class FolderRule:
    """A folder made when the first record needs it."""

    line: int
    key: Value | None = None
    type: str | None = None
    each: Value | None = None
    when: Value | None = None
    fields: Fields = field(default_factory=dict)
    traits: Traits = field(default_factory=Traits)


@dataclass(frozen=True, slots=True)
class MapRule:
    """What source records of some kinds become. `parents` and `documents` None: as the archive model has it."""

    line: int
    kinds: tuple[str, ...] = ()
    when: Value | None = None
    type: str | None = None
    key: Value | None = None
    arkivdel: Value | None = None
    parent: Value | None = None
    parents: tuple[FolderRule, ...] | None = None
    documents: tuple[DocumentRule, ...] | None = None
    fields: Fields = field(default_factory=dict)
    traits: Traits = field(default_factory=Traits)


@dataclass(frozen=True, slots=True)
class SkipRule:
    """Source records that are left out, and why."""

    line: int
    kinds: tuple[str, ...]
    when: Value | None
    reason: Value


@dataclass(frozen=True, slots=True)
class TargetRule:
    """An arkivskaper, arkiv or arkivdel: found or made."""

    line: int
    type: str
    name: str = ""
    mode: Target = Target.FIND_OR_CREATE
    fields: Fields = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Classification:
    """A classification system, its declared classes, and its rule for leaves."""

    line: int
    name: str
    mode: Target = Target.FIND_OR_CREATE
    primary: bool = True
    fields: Fields = field(default_factory=dict)
    arkivdeler: tuple[str, ...] = ()
    separator: str = "."
    leaf: str = "fault"
    leaf_ident: str = "0"
    leaf_title: str = "Generelt"
    default_class: DeclaredClass | None = None
    classes: tuple[DeclaredClass, ...] = ()
    class_mode: Target = Target.FIND_OR_CREATE


@dataclass(frozen=True, slots=True)
class TargetPlace:
    """Where in the archive things go."""

    external_system: str = ""
    model: int = 1
    zone: str = "Europe/Oslo"
    close: bool = True
    arkivskaper: TargetRule | None = None
    arkiv: TargetRule | None = None
    arkivdeler: tuple[TargetRule, ...] = ()
    classifications: tuple[Classification, ...] = ()
    line: int = 1
    follow: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PersonalData:
    """What is done where an identity number is found: report, set-aside, or screen with a skjerming code."""

    identity_numbers: str = "report"
    screening: str | None = None
    line: int = 1


@dataclass(frozen=True, slots=True)
class Recipe:
    """A whole recipe. `problems` are those that reading met; `data` is the TOML as plain values, `text` as it stood."""

    name: str
    kinds: tuple[str, ...] = ()
    target: TargetPlace = field(default_factory=TargetPlace)
    personal_data: PersonalData = field(default_factory=PersonalData)
    skips: tuple[SkipRule, ...] = ()
    codes: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    formats: Formats = field(default_factory=Formats)
    defaults: Mapping[str, Fields] = field(default_factory=dict)
    maps: tuple[MapRule, ...] = ()
    problems: tuple[RecipeProblem, ...] = ()
    data: Mapping[str, object] = field(default_factory=dict)
    text: str = ""
