"""What the mapping promises, the writer writes and the reader reads: every type, every field, every default."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lxml import etree

from noarkit.forms.noark5.moments import Moments
from noarkit.forms.noark5.read.fields import rows_of
from noarkit.forms.noark5.spec import XSI_NAMESPACE
from noarkit.forms.noark5.write.content import Codes, Content, EntityData
from noarkit.forms.noark5.write.journals import JournalHead, Journals
from noarkit.forms.noark5.write.structure import Writer
from noarkit.model import Field, metamodel
from noarkit.model.mapping import FieldMap, mapping
from noarkit.model.xml_model import xml_model

MODEL, TABLE = metamodel(), mapping()
UUID = "00000000-0000-4000-8000-000000000001"
BEGUN = "2024-06-01T10:00:00.000Z"
SAMPLES: dict[str, object] = {
    "timestamp": "2023-03-04T11:12:13.456Z",
    "date": "2023-03-04",
    "number": 7,
    "object": {"gruppe": {"felt": {"values": ["verdi"]}}},
}
WRITTEN = {"instant": "2023-03-04T12:12:13.456", "date": "2023-03-04", "day": "2023-03-04", "number": "7"}
TYPES = [name for name, one in TABLE.types.items() if one.group]


def value(field: Field) -> object:
    """A value of a field that no other field has."""
    return UUID if field.name == "uuid" else SAMPLES.get(field.kind, field.name.upper())


def thing(name: str, *, only: frozenset[str] | None = None) -> EntityData:
    """An object with all its fields set, or only some."""
    fields = {one.name: value(one) for one in MODEL.types[name].fields.values() if only is None or one.name in only}
    return {"t": name, "f": fields}


def content(name: str, *, only: frozenset[str] | None = None) -> Content:
    """The same as the writer is given it."""
    return {"o": thing(name, only=only)}


def named(field: Field) -> str:
    """The name of the code that a field has."""
    return f"navn på {field.name.upper()}"


def codes() -> Codes:
    """Every code has a name, screening codes an authority."""
    fields = [one for each in MODEL.types.values() for one in each.fields.values() if one.code_list]
    return Codes({one.name: {one.name.upper(): named(one)} for one in fields}, {"SKJERMING": "offl. § 13"})


def written(writer: Writer, given: Content) -> etree._Element:
    """What the writer makes of a thing."""
    return etree.fromstring(f'<x xmlns:xsi="{XSI_NAMESPACE}">{writer.render(given)}</x>')[0]


def new_writer() -> Writer:
    """A writer of a package in Norwegian time."""
    return Writer(codes(), Moments("Europe/Oslo"), BEGUN)


def expected(one: FieldMap, field: Field) -> str:
    """The text that a rule makes of the sample value."""
    if one.rule == "code":
        return named(field)
    return WRITTEN.get(one.rule or "", str(value(field)))


@pytest.mark.parametrize("name", TYPES)
def test_every_field_stands_where_the_mapping_says_as_its_rule_says(name: str) -> None:
    root = written(new_writer(), content(name))
    assert [one for one in TABLE.types[name].fields.values() if one.path and one.rule != "business"]
    for one in TABLE.types[name].fields.values():
        if one.path is None or one.rule == "business":
            continue
        found = root.text if one.path == "." else root.findtext(one.path)
        assert found == expected(one, MODEL.types[name].fields[one.name]), one


@pytest.mark.parametrize("name", TYPES)
def test_nothing_but_what_the_mapping_knows_is_written(name: str) -> None:
    root = written(new_writer(), content(name))
    told = TABLE.types[name]
    known = {one.path for one in told.fields.values()} | {one.path for one in told.fills}
    known |= {one.path for one in told.links.values() if one.placement in ("nest", "refer")}
    written_paths = list(paths(root))
    assert written_paths or root.text
    for path in written_paths:
        assert path in known or any(one and path.startswith(one + "/") for one in known), path


def paths(root: etree._Element, above: str = "") -> Iterator[str]:
    """The paths of all elements that hold text."""
    for child in root:
        path = f"{above}{child.tag}"
        if len(child):
            yield from paths(child, path + "/")
        else:
            yield path


@pytest.mark.parametrize("name", TYPES)
def test_an_object_with_little_is_filled_by_the_rules_and_each_is_counted(name: str) -> None:
    """Only what the archive always has is set: the rest is a default, and no default goes untold."""
    always = frozenset(one.name for one in MODEL.types[name].fields.values() if one.need == "must")
    writer = new_writer()
    root = written(writer, content(name, only=always))
    structure = xml_model("5.0").structure
    group = structure.groups.get(TABLE.types[name].group or "")
    if group is None:
        return
    defaults = {element for _, element, _ in writer.tally.defaults}
    for one in TABLE.types[name].fields.values():
        if one.path and "/" not in one.path and one.fallback and one.name not in always:
            assert root.find(one.path) is not None, one
            assert one.path in defaults, one
    missing = [e.name for e in group.elements if e.mandatory and e.choice is None and root.find(e.name) is None]
    assert [one for one in missing if one not in ("arkivskaper", "klasse")] == []


@pytest.mark.parametrize("name", TYPES)
def test_every_element_that_is_written_from_a_field_is_read_into_it_again(name: str) -> None:
    type_rows = rows_of(name)
    assert [one for one in TABLE.types[name].fields.values() if one.path]
    for one in TABLE.types[name].fields.values():
        field = MODEL.types[name].fields[one.name]
        if one.path is None or one.path == ".":
            continue
        first, *rest = one.path.split("/")
        if field.save == "sm" or rest or one.rule in ("business", "file"):
            assert first in type_rows.structural, one
        else:
            assert type_rows.rows[first].field == one.name, one
            assert (type_rows.rows[first].code_list or None) == field.code_list, one


@pytest.mark.parametrize("document", ["loependeJournal", "offentligJournal"])
def test_journals_hold_what_the_mapping_says(document: str) -> None:
    journals = Journals(codes(), Moments("Europe/Oslo"), lambda: None)
    creator = thing("Arkivskaper")
    case = journals.case({"o": thing("Saksmappe")}, {"o": thing("Klasse")}, screened_above=False)
    sign_off = thing("Avskrivning") | {"k": [{"n": "refTilknyttetJournalpost", "u": UUID, "o": None}]}
    post: Content = {"o": thing("Journalpost"), "p": [thing("Korrespondansepart"), sign_off]}
    entry = journals.entry(post, case)[0 if document == "loependeJournal" else 1]
    head = journals.head(document, JournalHead("2023-01-01", "2023-12-31", 1, (creator,)))
    root = etree.fromstring(f"{head}{entry}</{document}>".encode())
    for element in root.iter():
        element.tag = etree.QName(element).localname
    assert set(paths(root)) == {source.path for source in TABLE.documents[document]}
