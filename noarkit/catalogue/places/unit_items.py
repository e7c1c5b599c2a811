"""Archive units of an extract as items: every element a field, files as documents, references as links.

Nothing of the XML is left out of the fields; what stands in a column of its own (title, number, day, status) is there
as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from noarkit.catalogue.conversion_steps import COMMENT, CONVERTED
from noarkit.catalogue.places.change_log import ChangeLog
from noarkit.catalogue.places.unmapped_screening import own_values, with_screening
from noarkit.catalogue.port import CustodyStep, Document, Item, Json
from noarkit.forms.noark5.nodes import Node, Value
from noarkit.forms.noark5.read.entities import Untakable
from noarkit.forms.noark5.read.structure import Unit, unit_key
from noarkit.forms.noark5.source.files import ALGORITHMS
from noarkit.graph.entity import Content
from noarkit.model.disclosure import OWN_NAMES, of_fields
from noarkit.model.headings import CREATED, DAY_FIELDS

Plain: TypeAlias = dict[str, Json]
"""What stands in an element by name: a text, what stands in an element there, or a list where a name repeats."""

FindFile: TypeAlias = Callable[[str, str | None, str, str], Content]
"""Finds a file by its name in the XML, its sha256, and another checksum with its algorithm. Raises `Untakable`."""

_DESCRIPTION, _OBJECT, _FILE = "dokumentbeskrivelse", "dokumentobjekt", "referanseDokumentfil"
_DOCUMENTS = frozenset({_DESCRIPTION, _OBJECT})
_REFERENCE = "referanse"
_STATUSES = ("saksstatus", "journalstatus", "arkivdelstatus", "arkivstatus", "moeteregistreringsstatus", "mappestatus")
_OWN_DAYS = tuple(name for name in DAY_FIELDS if name != CREATED)
_IDENTS = ("mappeID", "registreringsID", "klasseID")
_NUMBERS = (("saksaar", "sakssekvensnummer"), ("journalaar", "journalsekvensnummer"))
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_PUID = re.compile(r"(?:x-)?fmt/\d+")
_CONVERSION = {
    **{"tool": "konverteringsverktoey", "from_format": "konvertertFraFormat", "to_format": "konvertertTilFormat"},
    COMMENT: "konverteringskommentar",
}
_REPEATABLE = frozenset({"klassifikasjonssystem", "klasse"})


def no_custody(locator: str) -> tuple[CustodyStep, ...]:
    """What is known of a file where nothing but the extract tells of it."""
    return ()


@dataclass(frozen=True, slots=True)
class LookUps:
    """What items are completed from: the files that lie there, the change log (None where nobody asks it), and what a
    package around the extract tells of the custody of a file, by its locator. What locators shall begin with besides is
    `prefix`."""

    find_file: FindFile
    log: ChangeLog | None = None
    custody: Callable[[str], tuple[CustodyStep, ...]] = no_custody
    prefix: str = ""


class UnitItems:
    """Makes the items of one extract, whose units come parents first."""

    def __init__(self, look_ups: LookUps) -> None:
        self._look_ups = look_ups
        # classes may stand in several series: each is an item of its own, and what follows lies in the last one
        self._refs: dict[str, str] = {}
        self._repeats: dict[str, int] = {}
        self._class_idents: dict[str, str] = {}

    def item(self, unit: Unit) -> Item:
        """The item of a unit."""
        fields = plain_fields(unit.node)
        ref = self._ref(unit)
        if unit.kind == "klasse":
            self._class_idents[unit.key] = text_of(fields, "klasseID")
        parent = self._refs.get(unit.above, unit.above) or None
        klass = self._class_idents.get(unit.key if unit.kind == "klasse" else unit.klasse, "")
        return unit_item(unit.type or unit.kind, (ref, parent, klass), fields, self._look_ups)

    def _ref(self, unit: Unit) -> str:
        if unit.kind not in _REPEATABLE:
            return unit.key
        times = self._repeats[unit.key] = self._repeats.get(unit.key, 0) + 1
        ref = self._refs[unit.key] = unit.key if times == 1 else f"{unit.key}~{times}"
        return ref


def plain_fields(node: Node) -> Plain:
    """What stands in a node: a list where a name stands more than once."""
    return {name: _json(values) for name, values in node.items()}


def _json(values: list[Value]) -> Json:
    if len(values) == 1:
        return _value(values[0])
    return [_value(value) for value in values]


def _value(value: Value) -> Json:
    return plain_fields(value) if isinstance(value, dict) else value or ""


def text_of(fields: Plain, name: str) -> str:
    """The text of the first element of a name that has one, without blanks at its ends; empty if there is none."""
    value = fields.get(name)
    if type(value) is str:
        return value.strip()
    if isinstance(value, list):
        return next((stripped for entry in value if isinstance(entry, str) and (stripped := entry.strip())), "")
    return ""


def groups_of(fields: Plain, name: str) -> list[Plain]:
    """The elements of a name that hold elements."""
    value = fields.get(name)
    if isinstance(value, dict):
        return [value]
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def unit_item(
    type_name: str,
    place: tuple[str, str | None, str],
    fields: Plain,
    look_ups: LookUps,
    links: list[tuple[str, str]] | None = None,
) -> Item:
    """The item of a unit of that type; `place` is its ref, that of what it lies in, and the number of its class.

    `links` are its references, where they are known.
    """
    ref, parent, klass = place
    fields = with_screening(fields)
    if links is None:
        links = []
        _collect_links(fields, links)
    log = look_ups.log
    history = () if log is None or log.is_empty else log.of(system_ids(fields))
    faults: list[str] = []
    documents = tuple(_documents(ref, fields, look_ups, faults))
    return Item(
        ref=ref,
        parent=parent,
        type=type_name,
        title=text_of(fields, "tittel"),
        ident=_ident(fields),
        day=checked_day(moment_of(fields)[:10]),
        status=_first(fields, _STATUSES),
        klass=klass,
        screened=of_fields(fields).is_screened,
        fault=faults[0] if faults else "",
        fields=(
            {name: value for name, value in fields.items() if name not in _DOCUMENTS}
            if _DESCRIPTION in fields or _OBJECT in fields
            else fields
        ),
        links=tuple(dict.fromkeys(links)) if links else (),
        documents=documents,
        history=history,
    )


def _first(fields: Plain, names: tuple[str, ...]) -> str:
    for name in names:
        if name in fields and (text := text_of(fields, name)):
            return text
    return ""


def _ident(fields: Plain) -> str:
    own = _first(fields, _IDENTS)
    if own:
        return own
    for year_name, number_name in _NUMBERS:
        if year_name in fields:
            year, number = text_of(fields, year_name), text_of(fields, number_name)
            if year and number:
                return f"{year}/{number}"
    return ""


def moment_of(fields: Plain) -> str:
    """The text of what people file a unit under, which should begin with a day. A date that the form has no element for
    stands in metadata of its record, and is its day all the same."""
    own = _first(fields, _OWN_DAYS)
    if not own and OWN_NAMES in fields:
        carried = (_first(values, _OWN_DAYS) for values in own_values(fields))
        own = next((moment for moment in carried if moment), "")
    return own or _first(fields, (CREATED,))


@lru_cache(maxsize=50_000)
def checked_day(day: str) -> str:
    """A day as it is; empty for a text that is none."""
    return day if _DAY.fullmatch(day) else ""


def is_reference(name: str) -> bool:
    """True for the elements that name another unit."""
    return name.startswith(_REFERENCE) and name != _FILE


def _collect_links(fields: Plain, links: list[tuple[str, str]]) -> None:
    """Every reference to another unit, however deep it stands."""
    for name, value in fields.items():
        if type(value) is str:
            if is_reference(name) and (stripped := value.strip()):
                links.append((name, unit_key(stripped)))
        elif isinstance(value, dict):
            _collect_links(value, links)
        elif isinstance(value, list):
            for entry in value:
                _collect_links({name: entry}, links)


def system_ids(fields: Plain) -> list[str]:
    """Every systemID in a unit, however deep it stands."""
    ids: list[str] = []
    for name, value in fields.items():
        entries = value if isinstance(value, list) else (value,)
        for entry in entries:
            if isinstance(entry, dict):
                ids += system_ids(entry)
            elif name == "systemID" and isinstance(entry, str) and entry:
                ids.append(entry.strip())
    return ids


def _documents(ref: str, fields: Plain, look_ups: LookUps, faults: list[str]) -> Iterator[Document]:
    for number, description in enumerate(groups_of(fields, _DESCRIPTION), 1):
        description_fields = {name: value for name, value in description.items() if name != _OBJECT}
        around = _DescribedDocument(f"{ref}#{number}", text_of(description, "tittel"), description_fields)
        versions = groups_of(description, _OBJECT)
        for version, file in enumerate(versions, 1):
            yield _document(around, version, file, look_ups, faults)
        if not versions:  # on paper, or destroyed
            yield Document(around.ref, around.title, fields={_DESCRIPTION: description_fields})
    if _OBJECT in fields:  # files without a description, which records of some versions may have
        around = _DescribedDocument(f"{ref}#0", text_of(fields, "tittel"), None)
        for version, file in enumerate(groups_of(fields, _OBJECT), 1):
            yield _document(around, version, file, look_ups, faults)


@dataclass(frozen=True, slots=True)
class _DescribedDocument:
    """The description around the versions of one document; `fields` is None where there is none."""

    ref: str
    title: str
    fields: Plain | None


def _document(around: _DescribedDocument, version: int, file: Plain, look_ups: LookUps, faults: list[str]) -> Document:
    checksum = text_of(file, "sjekksum").lower()
    algorithm = text_of(file, "sjekksumAlgoritme").upper().replace("-", "").replace(" ", "")
    sha256 = checksum if algorithm == "SHA256" else ""
    number = text_of(file, "versjonsnummer")
    system_id = text_of(file, "systemID")
    path = text_of(file, _FILE)
    size = text_of(file, "filstoerrelse")
    content = None
    if path:
        try:
            content = look_ups.find_file(path, sha256 or None, algorithm if algorithm in ALGORITHMS else "", checksum)
        except Untakable as fault:
            faults.append(fault.code)
    steps = _custody(around.fields or {}, file)
    name = path.replace("\\", "/").rpartition("/")[2]
    return Document(
        ref=unit_key(system_id) if system_id else f"{around.ref}.{version}",
        title=around.title,
        name=name if content is None else content.name,
        variant=text_of(file, "variantformat"),
        version=int(number) if number.isdecimal() and len(number) < 10 else version,
        media_type=text_of(file, "format"),
        puid=_puid(file),
        size_bytes=(int(size) if _is_size(size) else None) if content is None else content.size_bytes,
        sha256=sha256,
        locator=None if content is None else f"{look_ups.prefix}{content.locator}",
        fields={_OBJECT: file} if around.fields is None else {_DESCRIPTION: around.fields, _OBJECT: file},
        custody=steps if content is None else (*steps, *look_ups.custody(content.locator)),
    )


def _is_size(size: str) -> bool:
    return size.isdecimal() and len(size) < 19


def _puid(file: Plain) -> str:
    for name in ("format", "formatDetaljer"):
        if "fmt/" in (text := text_of(file, name)) and (match := _PUID.search(text)):
            return match[0]
    return ""


def _custody(description: Plain, file: Plain) -> tuple[CustodyStep, ...]:
    """What the extract tells of the life of a file, in the order of time as far as it is told. Its checksum is the one
    that the document states: it was seen by none of these steps."""
    steps: list[CustodyStep] = []
    _add_step(steps, "linked", description, ("tilknyttetDato", "tilknyttetAv"))
    _add_step(steps, "created", file, ("opprettetDato", "opprettetAv"))
    for conversion in groups_of(file, "konvertering"):
        facts = {name: text for name, element in _CONVERSION.items() if (text := text_of(conversion, element))}
        _add_step(steps, CONVERTED, conversion, ("konvertertDato", "konvertertAv"), facts)
    for signature in (*groups_of(description, "elektroniskSignatur"), *groups_of(file, "elektroniskSignatur")):
        _add_step(steps, "verified", signature, ("verifisertDato", "verifisertAv"))
    steps.sort(key=lambda step: step.at)
    return tuple(steps)


def _add_step(
    steps: list[CustodyStep], step: str, fields: Plain, names: tuple[str, str], facts: dict[str, str] | None = None
) -> None:
    at, agent = text_of(fields, names[0]), text_of(fields, names[1])
    if at or agent:
        steps.append(CustodyStep(step, at, agent=agent, facts=facts or {}))
