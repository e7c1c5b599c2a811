"""The rules of each concrete type for saves and links, computed once from the metamodel.

A `TypePlan` holds what would otherwise be looked up for every action: the column and converter of each request field,
the targets of each link, what is mandatory, and what the archive fills in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from noarkit.model import Field, ObjectType
from noarkit.server.schema import Link, Schema, schema
from noarkit.server.values import BadValue, Stored, converter, text, whole_number

# The link to the parent of an object: the first of these that is set. The parent of an owned type is any of its owners.
PARENTS: Mapping[str, tuple[str, ...]] = {
    "Arkivdel": ("refArkiv",),
    "Klasse": ("refForelderKlasse", "refKlassifikasjonssystem"),
    "AbstraktMappe": ("refForelderMappe", "refArkivdel"),
    "AbstraktRegistrering": ("refMappe", "refArkivdel"),
    "Dokument": ("refRegistrering",),
    "Dokumentversjon": ("refDokument",),
    "Avskrivning": ("refJournalpost",),
}

CLOSED_DATE, CLOSED_BY, CLOSED_BY_ID = "avsluttetDato", "avsluttetAv", "avsluttetAvBrukerIdent"
CLOSING = (CLOSED_DATE, CLOSED_BY, CLOSED_BY_ID)
METADATA = "virksomhetsspesifikkeMetadata"
FILE = "referanseDokumentfil"
FILE_NAME = "filnavn"

# The status that finalises a type: field, final value, and the value that opens it again.
_STATUS: Mapping[str, tuple[str, str, str]] = {
    "Arkiv": ("arkivstatus", "A", "O"),
    "Arkivdel": ("arkivdelstatus", "P", "A"),
    "Saksmappe": ("saksstatus", "A", "B"),
    "Journalpost": ("journalstatus", "A", "J"),
    "Dokument": ("dokumentstatus", "F", "B"),
}
_INHERITS_SCREENING = ("AbstraktMappe", "AbstraktRegistrering", "Dokument")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LAST_YEAR = 9999
# A number that a caller chooses moves its sequence, which must have room above it.
_LARGEST_COUNT = 10**12
_NEVER_CHANGED = frozenset({("Klasse", "klasseIdent")})
_SET_ONCE = frozenset({"prefiks"})
# Many-to-many links belong to one of their two sides: the one whose change they are.
_OWNING_PAIRS = frozenset(
    {
        "refKryssreferanseTilMappe",
        "refKryssreferanseTilRegistrering",
        "refSaksmappe",
        "refJournalpost",
        "refSekundaerKlasse",
        "refTilknyttetJournalpost",
        "refSekundaerKlassifikasjonssystem",
    }
)


@dataclass(frozen=True, slots=True)
class FieldPlan:
    """A field as a save sees it. `plain` fields need no more than `convert`."""

    name: str
    column: str
    kind: str
    convert: Callable[[object], Stored]
    code_list: str
    save: Literal["x", "cw", "sm"]
    plain: bool
    must: bool
    never_changed: bool
    set_once: bool
    open_text: bool


@dataclass(frozen=True, slots=True)
class LinkPlan:
    """A reference as a link or unlink sees it, from the side of one concrete type."""

    name: str
    kind: Literal["column", "inverse", "pairs"]
    many: bool
    single: bool
    linkable: bool
    unlinkable: bool
    targets: frozenset[str]
    other_family: str
    column: str
    pair_table: str
    mine_first: bool
    inverse: str
    owns: bool


@dataclass(frozen=True, slots=True)
class TypePlan:
    """Everything the engine needs to know of one concrete type."""

    name: str
    family: str
    table: str
    fields: Mapping[str, FieldPlan]
    links: Mapping[str, LinkPlan]
    parents: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    must: tuple[str, ...]
    must_links: tuple[str, ...]
    must_many: tuple[str, ...]
    exactly_one: tuple[tuple[str, ...], ...]
    not_both: tuple[tuple[str, ...], ...]
    tracked: frozenset[str]
    constants: Mapping[str, Stored]
    moments: Mapping[str, str]
    status: tuple[str, str, str] | None
    closes: bool
    inherits_screening: bool
    owned: bool

    def is_final(self, values: Mapping[str, Stored]) -> bool:
        """True if an object of this type with these values is finalised."""
        if self.status is not None:
            return values.get(self.status[0]) == self.status[1]
        return self.closes and values.get(CLOSED_DATE) is not None


@dataclass(frozen=True, slots=True)
class Leniency:
    """Where real archives are stricter or looser, as the settings say."""

    journal_posts_anywhere: bool = False
    meetings_without_participants: bool = False
    meeting_records_in_series: bool = False


@cache
def plans(leniency: Leniency) -> Mapping[str, TypePlan]:
    """The plans of all concrete types."""
    archive_schema = schema()
    return {
        name: _type_plan(archive_schema, object_type, leniency)
        for name, object_type in archive_schema.model.types.items()
    }


@cache
def children_of(family: str) -> tuple[tuple[str, str], ...]:
    """The families directly below `family`, each with the column that leads up: what lives and dies with it."""
    children: dict[tuple[str, str], None] = {}
    for plan in plans(Leniency()).values():
        for column, above in plan.parents:
            if above == family:
                children[plan.family, column] = None
    return tuple(children)


@cache
def users_of(family: str) -> tuple[tuple[str, str], ...]:
    """The families that point to `family` by a column of theirs without being below it, each with that column."""
    archive_schema = schema()
    users: dict[tuple[str, str], None] = {}
    for (type_name, _), link in archive_schema.links.items():
        owner = archive_schema.model.family(type_name)
        if link.kind == "column" and link.other_family == family and (owner, link.column) not in children_of(family):
            users[owner, link.column] = None
    return tuple(users)


@cache
def pairs_of(family: str) -> tuple[tuple[str, str], ...]:
    """The pair tables that hold ids of `family`, each with the column they stand in."""
    archive_schema = schema()
    pairs: dict[tuple[str, str], None] = {}
    for (type_name, _), link in archive_schema.links.items():
        if link.kind == "pairs" and archive_schema.model.family(type_name) == family:
            pairs[link.pair_table, link.own_column] = None
    return tuple(pairs)


def _type_plan(archive_schema: Schema, object_type: ObjectType, leniency: Leniency) -> TypePlan:
    name, family = object_type.name, object_type.family
    links = {reference: _link_plan(archive_schema, name, reference, leniency) for reference in object_type.references}
    exactly_one, not_both = _rules(object_type)
    must_links = [ref for ref in object_type.references.values() if ref.need == "must"]
    must_many = tuple(
        ref.name
        for ref in must_links
        if links[ref.name].kind != "column" and not (leniency.meetings_without_participants and name == "Moetemappe")
    )
    return TypePlan(
        name=name,
        family=family,
        table=archive_schema.tables[family].name,
        fields=_field_plans(object_type),
        links=links,
        parents=_parents(object_type, links),
        columns=tuple(column.name for column in archive_schema.tables[family].columns.values() if name in column.types),
        must=_must(object_type),
        must_links=tuple(ref.name for ref in must_links if links[ref.name].kind == "column"),
        must_many=must_many,
        exactly_one=exactly_one,
        not_both=not_both,
        tracked=frozenset([*must_many, *(rule_name for names in not_both for rule_name in names)]),
        constants=_constants(object_type),
        moments=_moments(object_type),
        status=_STATUS.get(name),
        closes=CLOSED_DATE in object_type.fields,
        inherits_screening=family in _INHERITS_SCREENING,
        owned=object_type.owned,
    )


def _must(object_type: ObjectType) -> tuple[str, ...]:
    """Mandatory fields; those that the archive fills in last, so that a fault names what the caller left out."""
    fields = [field for field in object_type.fields.values() if field.need == "must"]
    return tuple(field.name for field in sorted(fields, key=lambda field: field.save == "sm"))


def _rules(object_type: ObjectType) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]:
    exactly_one = tuple(rule.names for rule in object_type.rules if rule.kind == "exactly-one")
    not_both = tuple(rule.names for rule in object_type.rules if rule.kind != "exactly-one")
    return exactly_one, not_both


def _parents(object_type: ObjectType, links: Mapping[str, LinkPlan]) -> tuple[tuple[str, str], ...]:
    names = PARENTS.get(object_type.family)
    if names is None:
        names = tuple(link.name for link in links.values() if link.kind == "column") if object_type.owned else ()
    return tuple((name, links[name].other_family) for name in names if name in links)


def _field_plans(object_type: ObjectType) -> dict[str, FieldPlan]:
    plans_by_name: dict[str, FieldPlan] = {}
    for field in object_type.fields.values():
        plans_by_name[field.name] = _field_plan(object_type, field)
        if field.also:
            plans_by_name[field.also] = replace(plans_by_name[field.name], name=field.also)
    return plans_by_name


def _field_plan(object_type: ObjectType, field: Field) -> FieldPlan:
    never = (object_type.name, field.name) in _NEVER_CHANGED
    once = field.name in _SET_ONCE
    special = field.name in (METADATA, FILE, "skjerming", "journalstatus") or never or once
    return FieldPlan(
        name=field.name,
        column=field.name,
        kind=field.kind,
        convert=_converter_of(field),
        code_list=field.code_list or "",
        save=field.save,
        plain=field.save == "x" and not field.code_list and not special,
        must=field.need == "must",
        never_changed=never,
        set_once=once,
        open_text=field.kind == "string" and field.save == "x" and not field.code_list and _is_open(field.name),
    )


def _is_open(name: str) -> bool:
    return name not in ("foedselsnummer", "dnummer", FILE)


def _converter_of(field: Field) -> Callable[[object], Stored]:
    if field.name in ("id", "version"):
        return whole_number
    if field.name == FILE:
        return _file_id
    if field.kind == "number" and field.save == "cw":
        return _year if field.name in ("saksaar", "journalaar") else _count
    return _uuid if field.name == "uuid" else converter(field)


def _file_id(value: object) -> Stored:
    return str(whole_number(value))


def _year(value: object) -> Stored:
    year = whole_number(value)
    if not 1 <= year <= _LAST_YEAR:
        raise BadValue(f"takes a year from 1 to {_LAST_YEAR}")
    return year


def _count(value: object) -> Stored:
    count = whole_number(value)
    if not 0 <= count <= _LARGEST_COUNT:
        raise BadValue(f"takes a number from 0 to {_LARGEST_COUNT}")
    return count


def _uuid(value: object) -> Stored:
    if type(value) is str and _UUID.fullmatch(value):
        return value
    uuid_text = text(value).lower()
    if not _UUID.fullmatch(uuid_text):
        raise BadValue("takes a UUID like 123e4567-e89b-42d3-a456-426614174000")
    return uuid_text


def _link_plan(archive_schema: Schema, type_name: str, name: str, leniency: Leniency) -> LinkPlan:
    link = archive_schema.links[type_name, name]
    reference = link.reference
    return LinkPlan(
        name=name,
        kind=link.kind,
        many=reference.many,
        single=link.single,
        linkable=reference.linkable,
        unlinkable=reference.unlinkable,
        targets=_targets(archive_schema, type_name, link, leniency) - _unsupported(type_name, name, leniency),
        other_family=link.other_family,
        column=link.column,
        pair_table=link.pair_table,
        mine_first=link.own_column == "a",
        inverse=reference.inverse,
        owns=name in _OWNING_PAIRS,
    )


def _targets(archive_schema: Schema, type_name: str, link: Link, leniency: Leniency) -> frozenset[str]:
    """The concrete types a link may lead to: what either of its two sides allows."""
    model = archive_schema.model
    target_types = {concrete for target in link.reference.targets for concrete in model.concrete(target)}
    for concrete in model.concrete(link.other_family):
        back = model.types[concrete].references.get(link.reference.inverse)
        if back is not None and any(model.is_a(type_name, target) for target in back.targets):
            target_types.add(concrete)
    family = model.family(type_name)
    if leniency.journal_posts_anywhere and (family, link.other_family, link.reference.name) in _LOOSE:
        target_types.update(model.concrete(link.other_family))
    return frozenset(target_types)


def _unsupported(type_name: str, name: str, leniency: Leniency) -> frozenset[str]:
    """What the archive's own description allows at a link and real ones refuse."""
    if leniency.meeting_records_in_series:
        return frozenset()
    return _REFUSED.get((type_name, name), frozenset())


_REFUSED: Mapping[tuple[str, str], frozenset[str]] = {
    ("Moeteregistrering", "refArkivdel"): frozenset({"Arkivdel"}),
    ("Arkivdel", "refRegistrering"): frozenset({"Moeteregistrering"}),
}
_LOOSE = frozenset(
    {
        ("AbstraktRegistrering", "AbstraktMappe", "refMappe"),
        ("AbstraktMappe", "AbstraktRegistrering", "refRegistrering"),
    }
)


def _constants(object_type: ObjectType) -> dict[str, Stored]:
    """What the archive fills in without having to think."""
    constants: dict[str, Stored] = {}
    for field in object_type.fields.values():
        if field.default is not None and not field.default.startswith(("<", "?")):
            constants[field.name] = converter(field)(field.default)
    return constants


def _moments(object_type: ObjectType) -> dict[str, str]:
    """What the archive fills in from who calls and when: the words of the model, by column."""
    simple = ("<now>", "<today>", "<user-name>", "<user-id>", "<current-year>")
    return {field.name: field.default for field in object_type.fields.values() if field.default in simple}
