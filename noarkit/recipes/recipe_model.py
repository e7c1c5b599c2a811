"""The parsed recipe as frozen data classes; most have the line they came from.

Noark type and field names are kept as they were written; `recipes.check` says whether they exist. In all rules:

    each  a list: one is made for each of its items, which expressions then see as `"item"`
    when  a condition: nothing is made where it is false
    by    of a sign-off: the keys of the Journalposter that answer the record
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

from noarkit.graph.entity import CreationMode
from noarkit.recipes.values import Formats

LeafPolicy = Literal["fault", "child"]
"""What becomes of a record in a class that has classes below it: it is set aside, or goes to a child of that class."""
IdentityNumberPolicy = Literal["report", "set-aside", "screen"]
ArchivedPolicy = Literal["last", "load"]
OpenPolicy = Literal["close", "leave-out", "ask"]
"""What becomes of a case that its source has not closed, where others have a closing date."""
ONLY_TEXT = "only-text"
"""What stands for a column that somebody looked at, and that is not what it looks like."""
LeftOutPolicy = Literal["mask", "show"]
RegisterOf = Literal["case", "document"]
RegisterJoin = Literal["case.number", "folder.name", "path"]
NoFolderPolicy = Literal["report", "make", "ask"]
NoRowPolicy = Literal["report", "leave-out", "ask"]


@dataclass(frozen=True, slots=True)
class RecipeProblem:
    """A problem found in a recipe. `key` finds its message in `words/`; `data` fills the placeholders. A warning
    does not stop a plan."""

    line: int
    key: str
    data: Mapping[str, object] = field(default_factory=dict)
    warning: bool = False
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """A constant, or an expression: a string that starts with `= `."""

    raw: object
    line: int

    @property
    def expression(self) -> str | None:
        """The expression without its `= `; None for a constant."""
        return self.raw[2:] if isinstance(self.raw, str) and self.raw.startswith("= ") else None


Fields = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class ClassRule:
    """The class of a folder or record. `system` names a classification; None means the primary one."""

    line: int
    ident: Value
    title: Value | None = None
    titles: Value | None = None
    system: str | None = None
    fields: Fields = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DeclaredClass:
    """A class listed in the recipe; created even if no record uses it."""

    line: int
    ident: str
    title: str
    fields: Fields = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PartRule:
    """A child of a folder, record or document, such as a party or note. `section` is its name in the recipe."""

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
    """Classification, parts, references and business metadata."""

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
    """The documents of a record. `versions` is None for one version, whose content is the item itself."""

    line: int
    each: Value | None = None
    when: Value | None = None
    fields: Fields = field(default_factory=dict)
    traits: Traits = field(default_factory=Traits)
    versions: tuple[VersionRule, ...] | None = None


@dataclass(frozen=True, slots=True)
class FolderRule:
    """A parent folder, created when the first record needs it."""

    line: int
    key: Value | None = None
    type: str | None = None
    each: Value | None = None
    when: Value | None = None
    fields: Fields = field(default_factory=dict)
    traits: Traits = field(default_factory=Traits)


@dataclass(frozen=True, slots=True)
class MapRule:
    """What source records of some kinds become. `parents` and `documents` are None for those of the archive model."""

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
    """Source records that are left out, with the reason."""

    line: int
    kinds: tuple[str, ...]
    when: Value | None
    reason: Value


@dataclass(frozen=True, slots=True)
class TargetRule:
    """An arkivskaper, arkiv or arkivdel that is found or created."""

    line: int
    type: str
    name: str = ""
    mode: CreationMode = CreationMode.FIND_OR_CREATE
    fields: Fields = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Classification:
    """A classification system, its declared classes, and its rule for leaves."""

    line: int
    name: str
    mode: CreationMode = CreationMode.FIND_OR_CREATE
    primary: bool = True
    fields: Fields = field(default_factory=dict)
    arkivdeler: tuple[str, ...] = ()
    separator: str = "."
    leaf: LeafPolicy = "fault"
    leaf_ident: str = "0"
    leaf_title: str = "Generelt"
    default_class: DeclaredClass | None = None
    classes: tuple[DeclaredClass, ...] = ()
    class_mode: CreationMode = CreationMode.FIND_OR_CREATE


@dataclass(frozen=True, slots=True)
class TargetSection:
    """The section `target`: where in the archive records go, and what is created for them.

    `model` is the archive model: 1 records, 2 Mappe, 3 Saksmappe and Journalpost, 4 meetings. `follow` says, by
    type, which fields of a case file that is in the archive already are updated from its source.
    """

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
    """What is done with a record that holds an identity number. `screening` is the code of `screen`. `left_out` says
    how records are shown that nobody mapped: masked where a rule may screen, or always shown."""

    identity_numbers: IdentityNumberPolicy = "report"
    screening: str | None = None
    left_out: LeftOutPolicy = "mask"
    line: int = 1


EVIDENCE = ("register", "name", "mail", "document", "file")
"""What may say the date of a file, the best first."""


@dataclass(frozen=True, slots=True)
class DateRules:
    """What dates are told by, and what is made of them. `evidence`, `period` and `copied` are for the source; empty
    where the recipe is silent. `spans`: folders, and what bears no date of its own, get theirs from the records below.
    `archived`: a record counts as archived on its last date, or when it is loaded. `open_cases`: what becomes of a case
    that has no closing date though its rule has one."""

    evidence: tuple[str, ...] = ()
    period: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()
    spans: bool = False
    archived: ArchivedPolicy = "last"
    open_cases: OpenPolicy = "close"

    def source_settings(self) -> Mapping[str, object]:
        """What a source of files has to know."""
        settings = {"dates_from": self.evidence, "dates_period": self.period, "dates_copied": self.copied}
        return {name: list(value) for name, value in settings.items() if value}


@dataclass(frozen=True, slots=True)
class RegisterRules:
    """A register of cases or documents: the file among the others where it is, or the `database` with its table behind
    a `#`; which `column` joins its rows with what, and the names that recipes have for its other columns. What a table
    has no column for is recognised by what it holds. `"ask"` stands where nobody has decided yet."""

    file: str = ""
    sheet: str = ""
    database: str = ""
    is_of: RegisterOf = "case"
    column: str = ""
    joins: RegisterJoin = "case.number"
    columns: Mapping[str, str] = field(default_factory=dict)
    no_folder: NoFolderPolicy = "report"
    no_row: NoRowPolicy = "report"
    keep: bool = False
    """The register is loaded as a document too."""

    @property
    def place(self) -> str:
        """Where it is; empty where there is none."""
        return self.file or self.database

    @property
    def of_cases(self) -> bool:
        """True where there is one, and its rows are cases."""
        return bool(self.place) and self.is_of == "case"


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe. `problems` were found by reading it; `data` is the TOML as plain values, as it was written. `text` is
    what was written with fields by the names of the archive, so that a plan does not depend on which of the two names
    was chosen; `spellings` says, by line and name, which of them were written otherwise."""

    name: str
    kinds: tuple[str, ...] = ()
    target: TargetSection = field(default_factory=TargetSection)
    dates: DateRules = field(default_factory=DateRules)
    register: RegisterRules = field(default_factory=RegisterRules)
    personal_data: PersonalData = field(default_factory=PersonalData)
    skips: tuple[SkipRule, ...] = ()
    codes: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    only_text: frozenset[str] = frozenset()
    """Columns, as `"sak.merke"`, that are not what they look like."""
    formats: Formats = field(default_factory=Formats)
    defaults: Mapping[str, Fields] = field(default_factory=dict)
    maps: tuple[MapRule, ...] = ()
    problems: tuple[RecipeProblem, ...] = ()
    data: Mapping[str, object] = field(default_factory=dict)
    text: str = ""
    spellings: Mapping[tuple[int, str], str] = field(default_factory=dict)

    def source_settings(self, kind: str) -> Mapping[str, object]:
        """The terms on which a source of a `kind` is read: its own section, and for files what tells their dates, and
        the register that lies among them."""
        source = self.data.get("source")
        terms = source if isinstance(source, Mapping) else {}
        if kind != "files":
            return terms
        register = {"register": asdict(self.register)} if self.register.place else {}
        return {**terms, **self.dates.source_settings(), **register}
