"""Breaks a good package in one way after another: each relation of the table, at every place that it has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from lxml import etree

from noarkit.forms.noark5.rules.relations import After, Unique, Within, relations
from samples.packages.good import Draft, good_draft

STRUCTURE, CHANGES = "arkivstruktur.xml", "endringslogg.xml"
JOURNALS = ("loependeJournal.xml", "offentligJournal.xml")
_TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"
_KINDS = ("arkiv", "arkivdel", "klassifikasjonssystem", "klasse", "mappe", "registrering")
_OWN = {"saksmappe": "mappe", "journalpost": "registrering"}
Act = Callable[[etree._Element], None]


@dataclass(frozen=True)
class Mutant:
    """One change of one file, and the rule that it breaks."""

    name: str
    file: str
    code: str
    place: int
    act: Act

    def draft(self) -> Draft:
        """The package, broken."""
        draft = good_draft()
        root = etree.fromstring(draft.files[self.file])
        self.act(list(root.iter(etree.Element))[self.place])
        draft.files[self.file] = etree.tostring(root, xml_declaration=True, encoding="UTF-8")
        return draft


def _name(element: etree._Element) -> str:
    return etree.QName(element).localname


def _is_unit(element: etree._Element, unit: str) -> bool:
    kind = (element.get(_TYPE) or "").rpartition(":")[2]
    return _name(element) == _OWN.get(unit, unit) and (unit not in _OWN or kind == unit)


def _leaf(unit: etree._Element, name: str) -> etree._Element | None:
    return next((child for child in unit if _name(child) == name and not len(child)), None)


def _says(text: str) -> Act:
    def act(element: etree._Element) -> None:
        element.text = text

    return act


def _elements(file: str) -> list[etree._Element]:
    return list(etree.fromstring(good_draft().files[file]).iter(etree.Element))


def _around(element: etree._Element, unit: str) -> etree._Element:
    return next(above for above in element.iterancestors() if _is_unit(above, unit))


def _unique(row: Unique, elements: list[etree._Element]) -> Iterator[Mutant]:
    """The last field of each unit but the first says what that of the first in the same place says."""
    firsts: dict[int, etree._Element] = {}
    for place, element in enumerate(elements):
        if not _is_unit(element, row.unit):
            continue
        leaves = [_leaf(element, name) for name in row.fields]
        if any(leaf is None for leaf in leaves):
            continue
        scope = elements.index(_around(element, row.within))
        first = firsts.setdefault(scope, element)
        if first is not element:
            texts = {name: _leaf(first, name) for name in row.fields}
            yield Mutant(f"{row.unit} {'+'.join(row.fields)}", STRUCTURE, row.code, place, _like(texts))


def _like(leaves: Mapping[str, etree._Element | None]) -> Act:
    texts = {name: leaf.text for name, leaf in leaves.items() if leaf is not None}

    def act(unit: etree._Element) -> None:
        for name, text in texts.items():
            leaf = _leaf(unit, name)
            assert leaf is not None
            leaf.text = text

    return act


def _earlier(text: str, days: int = 1) -> str:
    return (date.fromisoformat(text[:10]) - timedelta(days=days)).isoformat() + text[10:]


def _after(row: After, elements: list[etree._Element]) -> Iterator[Mutant]:
    """Each date that follows others is a day before the earliest of them."""
    for element in elements:
        if not _is_unit(element, row.unit) or (leaf := _leaf(element, row.field)) is None:
            continue
        if row.inside:
            inside = [one for one in element.iter(etree.Element) if _is_unit(one, row.inside)]
            texts = [
                found.text or "" for one in inside for name in row.others if (found := _leaf(one, name)) is not None
            ]
        else:
            owner = element.getparent() if row.of else element
            if owner is None or (row.of and not _is_unit(owner, row.of)):
                continue
            texts = [found.text or "" for name in row.others if (found := _leaf(owner, name)) is not None]
        if texts:
            yield Mutant(
                f"{row.unit} {row.field} {row.inside}",
                STRUCTURE,
                row.code,
                elements.index(leaf),
                _says(_as(leaf, texts)),
            )


def _as(leaf: etree._Element, texts: list[str]) -> str:
    earlier = _earlier(min(texts))
    return earlier[:10] if leaf.text is not None and len(leaf.text) == 10 else earlier[:10] + (leaf.text or "")[10:]


def _within(row: Within, elements: list[etree._Element]) -> Iterator[Mutant]:
    """Each date is a year before the period."""
    for element in elements:
        if not _is_unit(element, row.unit):
            continue
        for name in row.fields:
            if (leaf := _leaf(element, name)) is not None and leaf.text:
                text = f"2018{leaf.text[4:]}"
                yield Mutant(f"{row.unit} {name}", STRUCTURE, row.code, elements.index(leaf), _says(text))


_EQUAL = {
    ("journalpost", "registreringsID"): "N509",
    ("journalpost", "journaldato"): "N509",
    ("journalpost", "journalpostnummer"): "N509",
    ("journalpost", "dokumentetsDato"): "N509",
    ("saksmappe", "mappeID"): "N513",
    ("saksmappe", "sakssekvensnummer"): "N513",
    ("klasse", "klasseID"): "N521",
    ("klasse", "tittel"): "N521",
    ("arkivskaper", "arkivskaperNavn"): "N520",
    ("korrespondansepart", "korrespondansepartNavn"): "N514",
    ("journalpost", "avskrivningsdato"): "N516",
}


def _journal(file: str) -> Iterator[Mutant]:
    """Each field of a journal that arkivstruktur has too says something else."""
    elements = _elements(file)
    for place, element in enumerate(elements):
        parent = element.getparent()
        if parent is None or len(element) or not element.text:
            continue
        key = (_name(parent), _name(element))
        code = _EQUAL.get(key)
        if code is not None and not (code == "N514" and file == JOURNALS[1]):
            yield Mutant(f"{file} {key[0]} {key[1]}", file, code, place, _says(_other(element.text)))


def _other(text: str) -> str:
    if "*" in text:
        return "Noe annet"
    if text.isdecimal():
        return str(int(text) + 7)
    return _earlier(text, -1) if text[:4].isdecimal() and len(text) == 10 else f"{text} x"


def _shown() -> Iterator[Mutant]:
    """The public journal shows what arkivstruktur withholds, or the public title is the title."""
    for place, element in enumerate(_elements(JOURNALS[1])):
        if element.text == "Brev *****":
            yield Mutant("shown title", JOURNALS[1], "N511", place, _says("Brev nummer 2"))
        if element.text == "*****":
            yield Mutant("shown class", JOURNALS[1], "N522", place, _says("1.1"))
    for place, element in enumerate(_elements(STRUCTURE)):
        if element.text == "Brev *****":
            yield Mutant("public title", STRUCTURE, "N352", place, _says("Brev nummer 2"))


def _references() -> Iterator[Mutant]:
    """Each reference leads to the unit that it stands in, where that is of its kind."""
    elements = _elements(STRUCTURE)
    kinds = {"referanseTilKlasse": "klasse", "referanseTilMappe": "mappe", "referanseTilRegistrering": "registrering"}
    kinds |= {"referanseForloeper": "arkivdel", "referanseArvtaker": "arkivdel", "referanseForrigeMoete": "mappe"}
    kinds |= {"referanseAvskrivesAvJournalpost": "registrering", "referanseNesteMoete": "mappe"}
    kinds |= dict.fromkeys(("referanseTilMoeteregistrering", "referanseFraMoeteregistrering"), "registrering")
    for place, element in enumerate(elements):
        kind = kinds.get(_name(element))
        unit = next((one for one in element.iterancestors() if _leaf(one, "systemID") is not None), None)
        if kind is None or unit is None or _name(unit) != kind:
            continue
        own = _leaf(unit, "systemID")
        assert own is not None and own.text
        yield Mutant(f"{_name(element)} to itself", STRUCTURE, "N314", place, _says(own.text))


def _changes() -> Iterator[Mutant]:
    """The change log tells of what cannot have been."""
    for place, element in enumerate(_elements(CHANGES)):
        name = _name(element)
        if name == "endretDato":
            for text in ("2018-04-01T12:00:00", "2019-03-03T23:59:59"):
                yield Mutant(f"change {text}", CHANGES, "N605", place, _says(text))
            yield Mutant("change to come", CHANGES, "N608", place, _says("2999-04-01T12:00:00"))
        if name == "nyVerdi":
            yield Mutant("other new value", CHANGES, "N607", place, _says("2019-03-07"))
        if name == "tidligereVerdi" and (new := element.getnext()) is not None and new.text:
            yield Mutant("no change", CHANGES, "N606", place, _says(new.text))


def _main_documents(elements: list[etree._Element]) -> Iterator[Mutant]:
    for place, element in enumerate(elements):
        if _name(element) == "tilknyttetRegistreringSom" and element.text == "Vedlegg":
            yield Mutant("two main documents", STRUCTURE, "N338", place, _says("Hoveddokument"))


_ELSEWHERE = {"N301", "N338"}
"""Rows of the table that are broken in another way: ids by a test of their own, main documents below."""


def all_mutants() -> list[Mutant]:
    """Every way to break the package once."""
    elements = _elements(STRUCTURE)
    table = relations()
    found = [one for row in table.unique if row.code not in _ELSEWHERE for one in _unique(row, elements)]
    found += [one for row in table.after for one in _after(row, elements)]
    found += [one for row in table.within for one in _within(row, elements)]
    found += [*_main_documents(elements), *_references(), *_shown(), *_changes()]
    found += [one for journal in JOURNALS for one in _journal(journal)]
    return found
