"""What the documents that describe a package tell, as fields that recipes see: values, events, dates.

As many as a person would read are told one by one; the rest is told by counts, and stands in the document itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib import resources

from noarkit.forms.container.statements import PremisEvent, Root, Statement
from noarkit.graph.entity import Note
from noarkit.graph.losses import IN_DOCUMENT
from noarkit.recipes.toml_writer import basic_string

MOST_VALUES = 200
MOST_EVENTS = 300
_DAY = r"\d{4}-\d\d-\d\d"
_PERIOD = re.compile(rf"({_DAY}|\d{{4}})\s*(?:/|–|-|—)\s*({_DAY}|\d{{4}})")
_IDENTIFIERS = {"ead": ("archdesc/did/unitid",), "dc": ("identifier",)}
_SPAN = '[dates]\ncase = "span"\n'
_NAMES = {
    "ead": "EAD",
    "eac-cpf": "EAC-CPF",
    "eac": "EAC-CPF",
    "premis": "PREMIS",
    "mets": "METS",
    "erms": "ERMS",
    "addml": "ADDML",
    "simpledc": "DC",
    "dc": "DC",
    "qualifieddc": "DC",
    "mods": "MODS",
}


@dataclass(slots=True)
class DocumentSummary:
    """What one document tells. `form` is what it is, such as EAD; empty if nobody knows."""

    form: str = ""
    values: list[dict[str, str]] = field(default_factory=list)
    events: list[dict[str, str]] = field(default_factory=list)
    more: Counter[str] = field(default_factory=Counter)

    def fields(self) -> dict[str, object]:
        """As recipes see it."""
        return {
            "form": self.form,
            "values": list(self.values),
            "events": list(self.events),
            "identifiers": [
                {"system": f"{self.form} {entry['name']}", "id": entry["value"]} for entry in self._identifiers()
            ],
        }

    def notes(self, key: str) -> tuple[Note, ...]:
        """What of it stands in the document alone, by counts."""
        return in_document_notes(key, [(name, "", count) for name, count in sorted(self.more.items())])

    def _identifiers(self) -> Iterable[dict[str, str]]:
        paths = _IDENTIFIERS.get(self.form.lower(), ())
        return (entry for entry in self.values if entry["name"] in paths)


def in_document_notes(key: str, values: Sequence[tuple[str, str, int]]) -> tuple[Note, ...]:
    """The note that says which values (path, value, how many) of a record stand in its document alone; none where all
    have a field."""
    rows = [[key, name, value, count] for name, value, count in values]
    if not rows:
        return ()
    names = list(dict.fromkeys(str(row[1]) for row in rows))
    count = sum(times for *_, times in values)
    names_text = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
    return (Note(IN_DOCUMENT, {"field": f"{count}: {names_text}", "count": count, "in_document": rows}),)


def summarise_document(statements: Iterable[Root | Statement | PremisEvent]) -> DocumentSummary:
    """All that a document states, in one pass."""
    summary = DocumentSummary()
    for statement in statements:
        if isinstance(statement, Root):
            summary.form = _NAMES.get(statement.name.lower(), statement.name)
        elif isinstance(statement, PremisEvent):
            _add_event(summary, statement)
        elif len(summary.values) < MOST_VALUES:
            summary.values.append({"name": statement.name, "value": statement.text})
        else:
            summary.more[statement.name] += 1
    return summary


def _add_event(summary: DocumentSummary, event: PremisEvent) -> None:
    if len(summary.events) >= MOST_EVENTS:
        summary.more[f"event/{event.type}"] += 1
        return
    summary.events.append(
        {
            "type": event.type,
            "date": event.date,
            "detail": event.detail,
            "outcome": event.outcome,
            "agent": ", ".join(event.agents),
            "object": ", ".join(event.objects[:3]) + (" …" if len(event.objects) > 3 else ""),
        }
    )
    if len(event.objects) > 3:
        summary.more[f"event/{event.type}/linkingObjectIdentifier"] += len(event.objects) - 3


@dataclass(frozen=True, slots=True)
class ArchiveDescription:
    """What a package says of its archive; empty if it says nothing. `period` is its first and last day."""

    creator: str = ""
    creator_id: str = ""
    description: str = ""
    period: tuple[str, str] | None = None


def with_descriptions(text: str, description: ArchiveDescription) -> str:
    """A default recipe with the rule for descriptions before all others, and the archive as its package tells of it."""
    rule = resources.files(__package__).joinpath("description-map.toml").read_text("utf-8")
    text = text.replace("[[map]]", f"{rule}[[map]]", 1)
    if description.creator:
        text = text.replace('arkivskaperNavn = "Ukjent"', f"arkivskaperNavn = {basic_string(description.creator)}", 1)
    if description.creator_id:
        text = text.replace(
            'arkivskaperIdent = "ukjent"', f"arkivskaperIdent = {basic_string(description.creator_id)}", 1
        )
    if description.description:
        text = _add_fields(text, "[target.arkiv]", f"beskrivelse = {basic_string(description.description)}")
    if description.period:
        first, last = map(basic_string, description.period)
        days = f"arkivperiodeStartDato = {first}, arkivperiodeSluttDato = {last}"
        text = _add_fields(text, "[target.arkivdel]", days)
        if _are_days(description.period):
            text = text.replace(_SPAN, f"{_SPAN}period = [{first}, {last}]\n", 1)
    return text


def _are_days(period: tuple[str, str]) -> bool:
    """True for two days of the calendar, the first first: what a recipe takes for a period."""
    try:
        first, last = map(date.fromisoformat, period)
    except ValueError:
        return False
    return first <= last and (first.isoformat(), last.isoformat()) == period


def _add_fields(text: str, table: str, more: str) -> str:
    """The recipe with more fields in a table of `[target]`."""
    at = text.index(" }", text.index("fields = {", text.index(table)))
    return f"{text[:at]}, {more}{text[at:]}"


def period_of(text: str) -> tuple[str, str] | None:
    """The first and last day of a period such as `1990/1999` or `1990-01-01 – 1999-06-30`; None for what is none.

    >>> period_of("1990-1999")
    ('1990-01-01', '1999-12-31')
    """
    match = _PERIOD.fullmatch(text.strip())
    if match is None:
        return None
    first, last = match.groups()
    begin = first if len(first) > 4 else f"{first}-01-01"
    end = last if len(last) > 4 else f"{last}-12-31"
    return (begin, end) if begin <= end else None
