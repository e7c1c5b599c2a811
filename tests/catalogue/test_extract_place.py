"""An extract is shown whole: its units as items, every text of its XML in a field, its files as they lie."""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_args

import pytest
from lxml import etree

from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.places.extract import ExtractPlace
from noarkit.catalogue.port import Document, Json
from noarkit.errors import UnsafeXml
from noarkit.model.xml_model import Version
from samples.packages.make import write_good
from tests.catalogue.looking import catalogued, every_entry

UNITS = ("arkiv", "arkivdel", "klassifikasjonssystem", "klasse", "mappe", "registrering")
LEFT_OUT = "dokumentobjekt"


def published(reference: Path) -> list[Path]:
    """The structures of the packages that others have published."""
    structures = (reference.parent / "samples" / "noark5").rglob("arkivstruktur.xml")
    return [path for path in sorted(structures) if is_well_formed(path)]


def is_well_formed(path: Path) -> bool:
    """True where the library reads it, and its root is an arkiv."""
    try:
        return str(etree.parse(path).getroot().tag).endswith("arkiv")
    except etree.XMLSyntaxError:
        return False


def counted(structure: Path) -> Counter[str]:
    """The units of a structure by type, as another library counts them."""
    counts: Counter[str] = Counter()
    for element in etree.parse(structure).getroot().iter("{*}*"):
        name = etree.QName(element).localname
        if name in UNITS:
            told = element.get("{http://www.w3.org/2001/XMLSchema-instance}type", "")
            counts[told.rpartition(":")[2] or name] += 1
    return counts


def texts_of_xml(structure: Path) -> Counter[str]:
    """Every text of a leaf."""
    leaves = (element for element in etree.parse(structure).getroot().iter("{*}*") if not len(element))
    return Counter(text for leaf in leaves if (text := (leaf.text or "").strip()))


def texts_of_fields(catalogue: Catalogue) -> Counter[str]:
    """Every text of every field."""
    counts: Counter[str] = Counter()
    for entry in every_entry(catalogue):
        if entry.type in ("description", "endringslogg", "endring"):
            continue
        card = catalogue.card(entry.ref)
        counts.update(strings(dict(card.fields)))
        counts.update(texts_of_documents(card.documents))
    return counts


def texts_of_documents(documents: Iterable[Document]) -> Iterator[str]:
    """The texts of documents, of several versions that share a description that once."""
    shared: object = None
    for document in documents:
        yield from strings(document.fields.get("dokumentobjekt"))
        description = document.fields.get("dokumentbeskrivelse")
        if description is not None and description != shared:
            yield from strings(description)
        shared = description


def strings(value: Json) -> Iterator[str]:
    """The texts in a value, however deep."""
    if isinstance(value, dict):
        for entry in value.values():
            yield from strings(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from strings(entry)
    elif isinstance(value, str) and value.strip():
        yield value.strip()


@pytest.mark.parametrize("version", get_args(Version))
def test_every_text_of_the_structure_is_in_a_field(version: Version, tmp_path: Path) -> None:
    write_good(tmp_path / "extract", version)
    structure = tmp_path / "extract" / "arkivstruktur.xml"
    with catalogued(ExtractPlace(structure.parent), tmp_path) as catalogue:
        assert texts_of_fields(catalogue) == texts_of_xml(structure)
        counts = Counter({name: count for name, count in catalogue.counts().items() if name != "description"})
        assert counts == counted(structure)


def test_published_extracts_are_shown_whole(reference: Path, tmp_path: Path) -> None:
    structures = published(reference)
    assert len(structures) >= 8
    for structure in structures:
        with catalogued(ExtractPlace(structure.parent), tmp_path) as catalogue:
            own = ("description", "endringslogg", "endring")
            counts = Counter({name: count for name, count in catalogue.counts().items() if name not in own})
            assert counts == counted(structure), structure
            assert texts_of_fields(catalogue) == texts_of_xml(structure), structure
            reached = sum(1 for _ in every_entry(catalogue))
            assert reached == sum(catalogue.counts().values()), structure


def test_documents_are_opened_where_they_lie(tmp_path: Path) -> None:
    write_good(tmp_path / "extract", "5.0")
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "tar", tmp_path, "extract"))
    for path in (tmp_path / "extract", packed):
        with catalogued(ExtractPlace(path), tmp_path) as catalogue:
            digests = 0
            for entry in every_entry(catalogue):
                for document in catalogue.card(entry.ref).documents:
                    if document.locator is None:
                        continue
                    with catalogue.open(document) as stream:
                        digests += hashlib.sha256(stream.read()).hexdigest() == document.sha256
            assert digests > 5


def test_a_missing_file_is_the_fault_of_its_record_alone(tmp_path: Path) -> None:
    write_good(tmp_path / "extract", "5.0")
    next((tmp_path / "extract" / "dokumenter").rglob("*.pdf")).unlink()
    with catalogued(ExtractPlace(tmp_path / "extract"), tmp_path) as catalogue:
        assert {entry.fault for entry in every_entry(catalogue)} == {"", "F202"}


def test_what_stands_before_a_break_is_shown_with_the_fault(tmp_path: Path) -> None:
    write_good(tmp_path / "extract", "5.0")
    structure = tmp_path / "extract" / "arkivstruktur.xml"
    content = structure.read_bytes()
    structure.write_bytes(content[: content.rindex(b"<registrering")] + b"</oops>")
    with catalogued(ExtractPlace(structure.parent), tmp_path) as catalogue:
        entries = list(every_entry(catalogue))
        assert [entry.fault for entry in entries if entry.fault] == ["F500"]
        assert entries[0].type == "arkiv"
        assert sum(entry.type == "journalpost" for entry in entries) > 1


def test_a_document_type_is_refused(tmp_path: Path) -> None:
    write_good(tmp_path / "extract", "5.0")
    structure = tmp_path / "extract" / "arkivstruktur.xml"
    structure.write_bytes(structure.read_bytes().replace(b"<arkiv ", b"<!DOCTYPE arkiv []><arkiv ", 1))
    with pytest.raises(UnsafeXml), catalogued(ExtractPlace(structure.parent), tmp_path):
        pass


def test_references_are_links_and_the_change_log_is_history(tmp_path: Path) -> None:
    write_good(tmp_path / "extract", "5.0")
    with catalogued(ExtractPlace(tmp_path / "extract"), tmp_path) as catalogue:
        cards = [catalogue.card(entry.ref) for entry in every_entry(catalogue)]
        assert any(link.entry is not None for card in cards for link in card.links)
        assert any(card.links_here for card in cards)
        log = etree.parse(tmp_path / "extract" / "endringslogg.xml")
        assert sum(len(card.history) for card in cards) == len(log.findall("{*}endring"))


def test_an_extract_that_changed_has_another_fingerprint(tmp_path: Path) -> None:
    write_good(tmp_path / "extract", "5.0")
    before = ExtractPlace(tmp_path / "extract").identity
    assert ExtractPlace(tmp_path / "extract").identity == before
    structure = tmp_path / "extract" / "arkivstruktur.xml"
    structure.write_bytes(structure.read_bytes() + b"\n")
    assert ExtractPlace(tmp_path / "extract").identity.fingerprint != before.fingerprint


def test_the_description_says_what_it_names(tmp_path: Path) -> None:
    write_good(tmp_path / "extract", "5.0")
    with catalogued(ExtractPlace(tmp_path / "extract"), tmp_path) as catalogue:
        fields = dict(catalogue.card("arkivuttrekk.xml").fields)
        description = etree.parse(tmp_path / "extract" / "arkivuttrekk.xml")
        texts = {
            text for element in description.iter("{*}*") if not len(element) and (text := (element.text or "").strip())
        }
        assert texts <= set(strings(fields))
        names = {element.get("name") for element in description.iter("{*}additionalElement")}
        assert all(f"'{name}'" in str(fields) for name in names)


def test_a_stated_checksum_is_not_told_as_seen_at_a_step(tmp_path: Path) -> None:
    write_good(tmp_path / "extract", "5.0")
    with catalogued(ExtractPlace(tmp_path / "extract"), tmp_path) as catalogue:
        documents = [one for entry in every_entry(catalogue) for one in catalogue.card(entry.ref).documents]
        steps = [step for document in documents for step in document.custody]
        assert any(document.sha256 for document in documents)
        assert {"created", "linked", "converted"} <= {step.step for step in steps}
        assert not any(step.sha256 for step in steps)


def test_the_chain_of_a_document_that_is_there_ends_with_its_extraction(tmp_path: Path) -> None:
    write_good(tmp_path / "extract", "5.0")
    with catalogued(ExtractPlace(tmp_path / "extract"), tmp_path) as catalogue:
        documents = [one for entry in every_entry(catalogue) for one in catalogue.card(entry.ref).documents]
        present = [document for document in documents if document.locator]
        assert present
        assert {document.custody[-1].step for document in present} == {"extracted"}
