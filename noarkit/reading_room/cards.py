"""The card of an item: its fields in the groups that people look for, and its links by name, in bounded sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from noarkit.catalogue.catalogue import Card, Link
from noarkit.catalogue.port import Document, Json

_GROUPS: Mapping[str, frozenset[str]] = {
    "parties": frozenset({"part", "sakspart", "korrespondansepart", "avskriver", "moetedeltaker"}),
    "notes": frozenset({"merknad"}),
    "screening": frozenset(
        {"skjerming", "gradering", "tilgangsrestriksjon", "skjermingshjemmel", "skjermingsvarighet"}
    ),
    "disposal": frozenset({"kassasjon", "utfoertKassasjon", "sletting", "bevaringstid", "kassasjonsvedtak"}),
    "external": frozenset({"eksternId", "referanseEksternNoekkel", "nasjonalIdentifikator"}),
    "business": frozenset({"virksomhetsspesifikkeMetadata"}),
    "system": frozenset(
        """
        id systemID version uuid opprettetDato opprettetAv opprettetAvBrukerIdent avsluttetDato avsluttetAv
        avsluttetAvBrukerIdent arkivertDato arkivertAv oppdatertDato oppdatertAv oppdatertAvBrukerIdent
        referanseArkivertAv referanseOpprettetAv
        """.split()  # noqa: SIM905  # a list of so many would take a line each
    ),
}
_CHOICES = """
arkivstatus arkivdelstatus saksstatus journalstatus dokumentstatus dokumentmedium korrespondanseparttype flytStatus
tilknyttetRegistreringSom journalposttype variantformat avskrivningsmaate
""".split()  # noqa: SIM905  # a list of so many would take a line each
_KINDS: Mapping[str, str] = {
    **{"reason": "reason", "why": "reason", "becomes": "type", "warnings": "code", "size": "size"},
    **dict.fromkeys(_CHOICES, "choice"),
}
"""How the values of fields are told that runs and packages have for themselves, and those of code lists."""
ORDER = ("about", "parties", "notes", "screening", "disposal", "external", "business", "system")
LONG_TEXT = 600
"""From so many characters on, a text stands folded."""
_MOST_CHARACTERS = 100_000
_MOST_VALUES = 200


@dataclass(frozen=True, slots=True)
class Value:
    """A value as a card shows it: a text (cut where it is endless), a list of values, or fields of its own."""

    text: str = ""
    values: tuple[Value, ...] = ()
    fields: tuple[FieldRow, ...] = ()
    kind: str = "text"
    """`text`, `long`, `flag`, `list`, `fields` or `empty`; of what a run or package tells, `reason`, `type`, `code` or
    `size`; of a code list, `choice`."""
    left_out: int = 0
    """How many characters or values are not shown."""


@dataclass(frozen=True, slots=True)
class FieldRow:
    """A field with its own name. What `is_own` is a column of somebody's table, which nobody else names."""

    name: str
    value: Value
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class LinkGroup:
    """Links of one name, either to others or from others."""

    name: str
    is_outward: bool
    links: tuple[Link, ...]


def field_groups(card: Card) -> list[tuple[str, tuple[FieldRow, ...]]]:
    """The fields of a card by group, in the order of the groups; empty groups are left out."""
    groups: dict[str, list[FieldRow]] = {name: [] for name in ORDER}
    is_own = card.entry.type == "row"
    for name, value in card.fields.items():
        group = next((group for group, names in _GROUPS.items() if name in names), "about")
        groups[group].append(FieldRow(name, shown_value(value, name), is_own))
    return [(name, tuple(rows)) for name, rows in groups.items() if rows]


def document_fields(document: Document) -> tuple[FieldRow, ...]:
    """The fields of a document and its version."""
    return tuple(FieldRow(name, shown_value(value, name)) for name, value in document.fields.items())


def link_groups(card: Card) -> list[LinkGroup]:
    """The links of a card, first those to others, each name once."""
    groups: dict[tuple[bool, str], list[Link]] = {}
    for is_outward, links in ((True, card.links), (False, card.links_here)):
        for link in links:
            groups.setdefault((not is_outward, link.name), []).append(link)
    return [LinkGroup(name, not inward, tuple(links)) for (inward, name), links in groups.items()]


def shown_value(value: Json, name: str = "") -> Value:
    """A value of a field of that name, cut where it is endless."""
    if value is None or value == "":
        return Value(kind="empty")
    if isinstance(value, bool):
        return Value("yes" if value else "no", kind="flag")
    if isinstance(value, dict):
        rows = [FieldRow(inner, shown_value(entry, inner)) for inner, entry in islice(value.items(), _MOST_VALUES)]
        return Value(fields=tuple(rows), kind="fields", left_out=max(0, len(value) - _MOST_VALUES))
    if isinstance(value, list):
        if len(value) == 1:
            return shown_value(value[0], name)
        values = [shown_value(entry, name) for entry in islice(value, _MOST_VALUES)]
        return Value(values=tuple(values), kind="list", left_out=max(0, len(value) - _MOST_VALUES))
    text = str(value)
    kind = "long" if len(text) > LONG_TEXT or text.count("\n") > 8 else _KINDS.get(name, "text")
    if kind == "size" and not isinstance(value, int):
        kind = "text"
    return Value(text[:_MOST_CHARACTERS], kind=kind, left_out=max(0, len(text) - _MOST_CHARACTERS))
