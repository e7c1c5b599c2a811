"""A structure that is cut in portions becomes the same catalogue as one that is read as a stream."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import get_args

import pytest

from noarkit.catalogue.places.change_log import ChangeLog
from noarkit.catalogue.places.extract import ExtractPlace
from noarkit.catalogue.places.extract_rows import unit_rows
from noarkit.catalogue.places.record_shapes import RecordShapes
from noarkit.catalogue.places.unit_items import LookUps
from noarkit.catalogue.port import Item, PlaceIdentity
from noarkit.catalogue.rows import RowBatch, StartOver
from noarkit.catalogue.store import write_catalogue
from noarkit.errors import PackageFault
from noarkit.events import ignore_event
from noarkit.forms.noark5.read.portions import CannotCut, cut
from noarkit.forms.noark5.source.files import DocumentFiles
from noarkit.model.xml_model import Version
from samples.packages.make import write_good
from scripts.benchmarks.noark_package import make_package
from tests.catalogue.looking import catalogued, every_entry

IDENTITY = PlaceIdentity("extract", "e", "/e", "1")


class Cut:
    """The units of a structure in portions of some size, in this process or in others."""

    def __init__(self, structure: Path, portion_bytes: int, large_bytes: int | None) -> None:
        self._structure = structure
        self._sizes = (portion_bytes, large_bytes)

    def __iter__(self) -> Iterator[Item]:
        raise AssertionError("rows were to be asked for")

    def batches(self) -> Iterator[RowBatch | Item | StartOver]:
        files = DocumentFiles(self._structure.parent)
        portion_bytes, large_bytes = self._sizes
        look_ups = LookUps(files.content, ChangeLog())
        for rows in unit_rows(self._structure, look_ups, large_bytes=large_bytes, portion_bytes=portion_bytes):
            yield rows.batch


def contents(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """All that a catalogue holds of archive units, by refs instead of numbers."""
    units = "type NOT IN ('description', 'endringslogg', 'endring')"
    with closing(sqlite3.connect(path)) as db:
        return {
            "items": db.execute(
                "SELECT i.ref, p.ref, i.type, i.title, i.ident, i.day, i.status, i.class, i.screened, i.fault,"
                " i.documents, i.formats, i.fields FROM item i LEFT JOIN item p ON p.n = i.parent"
                f" WHERE i.{units} ORDER BY i.n"
            ).fetchall(),
            "documents": db.execute(
                "SELECT ref, title, locator, fields, custody FROM document ORDER BY ref"
            ).fetchall(),
            "links": db.execute(
                "SELECT i.ref, name, l.ref FROM link l JOIN item i ON i.n = item ORDER BY 1, 2, 3"
            ).fetchall(),
        }


def streamed(extract: Path, folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """The catalogue of an extract that is read as a stream of units."""
    write_catalogue(folder / "stream.db", IDENTITY, iter(list(ExtractPlace(extract).items(ignore_event))))
    return contents(folder / "stream.db")


def portioned(
    extract: Path, folder: Path, portion_bytes: int, large_bytes: int | None = None
) -> dict[str, list[tuple[object, ...]]]:
    """The catalogue of an extract that is cut."""
    write_catalogue(folder / "cut.db", IDENTITY, Cut(extract / "arkivstruktur.xml", portion_bytes, large_bytes))
    return contents(folder / "cut.db")


@pytest.mark.parametrize("portion_bytes", [1, 3_000, 50_000_000])
@pytest.mark.parametrize("version", get_args(Version))
def test_however_it_is_cut_it_is_the_same(version: Version, portion_bytes: int, tmp_path: Path) -> None:
    write_good(tmp_path / "extract", version)
    structure = tmp_path / "extract" / "arkivstruktur.xml"
    expected = streamed(structure.parent, tmp_path)
    assert portioned(structure.parent, tmp_path, portion_bytes) == expected
    assert len(list(cut(structure, portion_bytes))) > (1 if portion_bytes < 50_000_000 else 0)


def test_published_extracts_are_the_same_cut_or_not(reference: Path, tmp_path: Path) -> None:
    same = 0
    for structure in sorted((reference.parent / "samples" / "noark5").rglob("arkivstruktur.xml")):
        try:
            rows = portioned(structure.parent, tmp_path, 500)
        except (CannotCut, PackageFault):
            continue
        expected = streamed(structure.parent, tmp_path)
        repeated = len({row[0] for row in rows["items"]} ^ {row[0] for row in expected["items"]})
        same += rows == expected
        assert rows == expected or repeated, structure
    assert same >= 6


def test_processes_side_by_side_make_the_same_rows(tmp_path: Path) -> None:
    make_package(tmp_path / "extract", 300)
    assert portioned(tmp_path / "extract", tmp_path, 20_000, 1) == streamed(tmp_path / "extract", tmp_path)


@pytest.mark.parametrize(
    "trick",
    [
        b"<!-- <mappe> -->",
        b"<tittel><![CDATA[<mappe>]]></tittel>",
        b"<virksomhetsspesifikkeMetadata><mappe xmlns='urn:x'><registrering/></mappe></virksomhetsspesifikkeMetadata>",
    ],
)
def test_what_would_mislead_the_cut_is_read_as_a_stream(trick: bytes, tmp_path: Path) -> None:
    write_good(tmp_path / "extract", "5.0")
    structure = tmp_path / "extract" / "arkivstruktur.xml"
    content = structure.read_bytes()
    at = content.index(b"</registrering>")
    structure.write_bytes(content[:at] + trick + content[at:])
    for portion_bytes in (1_000, 50_000_000):
        with pytest.raises(CannotCut):
            portioned(structure.parent, tmp_path, portion_bytes)
    with catalogued(ExtractPlace(structure.parent), tmp_path) as catalogue:
        shown = sum(1 for entry in every_entry(catalogue) if not entry.fault)
        assert shown == sum(catalogue.counts().values())
        assert len({entry.ref for entry in every_entry(catalogue)}) == shown


def test_a_unit_without_an_id_has_the_same_key_cut_or_not(tmp_path: Path) -> None:
    write_good(tmp_path / "extract", "5.0")
    structure = tmp_path / "extract" / "arkivstruktur.xml"
    content = structure.read_text("utf-8")
    for unit in ("mappe", "registrering"):
        start = content.index(f"<{unit}")
        at = content.index("<systemID>", start)
        content = content[:at] + content[content.index("</systemID>", at) + len("</systemID>") :]
    structure.write_text(content, "utf-8")
    assert portioned(structure.parent, tmp_path, 1) == streamed(structure.parent, tmp_path)


def test_a_systemid_that_stands_twice_names_two_items(tmp_path: Path) -> None:
    write_good(tmp_path / "extract", "5.0")
    structure = tmp_path / "extract" / "arkivstruktur.xml"
    content = structure.read_text("utf-8")
    start = content.index("<registrering")
    record = content[start : content.index("</registrering>", start) + len("</registrering>")]
    structure.write_text(content.replace(record, record + record, 1), "utf-8")
    with catalogued(ExtractPlace(structure.parent), tmp_path) as catalogue:
        refs = [entry.ref for entry in every_entry(catalogue)]
        assert len(refs) == len(set(refs)) == sum(catalogue.counts().values())


SPOILED = {
    "an entity": ("<tittel>Brev nummer 40 om noe</tittel>", "<tittel>Brev &amp; svar &lt;b&gt;</tittel>"),
    "a quotation mark": ("<tittel>Brev nummer 41 om noe</tittel>", '<tittel>Brev "41" \\n om</tittel>'),
    "blanks around": ("<tittel>Brev nummer 42 om noe</tittel>", "<tittel> Brev  </tittel>"),
    "a line end": ("<tittel>Brev nummer 43 om noe</tittel>", "<tittel>Brev\n43</tittel>"),
    "an empty text": ("<tittel>Brev nummer 44 om noe</tittel>", "<tittel></tittel>"),
    "no element": ("<tittel>Brev nummer 45 om noe</tittel>", ""),
    "an element twice": ("<tittel>Dokument nummer 46</tittel>", "<forfatter>A</forfatter><forfatter>B</forfatter>"),
    "a percent sign": ("<tittel>Brev nummer 47 om noe</tittel>", "<tittel>100 %s %% æ</tittel>"),
    "no such file": ("dokumenter/0/48.pdf", "dokumenter/0/gone.pdf"),
    "another version": ("<tittel>Brev nummer 49 om noe</tittel>", "<tittel>x</tittel><tittel>y</tittel>"),
    "another attribute": ('<registrering xsi:type="journalpost">', '<registrering xsi:type="arkivnotat">'),
    "signs of ours": ("<tittel>Brev nummer 51 om noe</tittel>", "<tittel>\ue0000001\ue001</tittel>"),
    "a mark of ours": ("<tittel>Brev nummer 52 om noe</tittel>", "<tittel>x</tittel><x>noarkit-record</x>"),
    "another day": ("<journaldato>2019-03-04</journaldato>", "<journaldato>i fjor</journaldato>"),
}


@pytest.mark.parametrize("spoiled", SPOILED)
def test_a_record_that_has_not_quite_the_shape_of_others_is_the_same_too(spoiled: str, tmp_path: Path) -> None:
    make_package(tmp_path / "extract", 80)
    structure = tmp_path / "extract" / "arkivstruktur.xml"
    old, new = SPOILED[spoiled]
    content = structure.read_text("utf-8")
    at = content.index(old, content.index("<tittel>Dokument nummer 39"))
    structure.write_text(content[:at] + new + content[at + len(old) :], "utf-8")
    assert portioned(structure.parent, tmp_path, 6_000) == streamed(structure.parent, tmp_path)


def test_a_record_that_is_hidden_from_the_public_is_screened_whatever_the_shape(tmp_path: Path) -> None:
    make_package(tmp_path / "extract", 80)
    structure = tmp_path / "extract" / "arkivstruktur.xml"
    pieces = structure.read_text("utf-8").split("<journaldato>")
    flags = (("true", "false", "false")[number % 3] for number in range(len(pieces)))
    content = pieces[0] + "".join(
        f"<skjermEInnsyn>{flag}</skjermEInnsyn><journaldato>{piece}"
        for flag, piece in zip(flags, pieces[1:], strict=False)
    )
    structure.write_text(content, "utf-8")
    cut_rows = portioned(structure.parent, tmp_path, 6_000)
    assert cut_rows == streamed(structure.parent, tmp_path)
    hidden = [bool(row[8]) for row in cut_rows["items"] if "skjermEInnsyn" in str(row[12])]
    assert hidden == [
        '"skjermEInnsyn":"true"' in str(row[12]) for row in cut_rows["items"] if "EInnsyn" in str(row[12])
    ]
    assert 0 < sum(hidden) < len(hidden)


@pytest.mark.parametrize("field", ["tilknyttetDato", "sjekksum"])
def test_steps_of_custody_stand_in_the_order_of_time_whatever_the_shape(field: str, tmp_path: Path) -> None:
    make_package(tmp_path / "extract", 80)
    structure = tmp_path / "extract" / "arkivstruktur.xml"
    content = structure.read_text("utf-8")
    at = content.index(f"<{field}>", len(content) // 2) + len(field) + 2
    end = content.index("<", at)
    new = "2031-01-01T00:00:00" if field == "tilknyttetDato" else content[at:end].upper()
    structure.write_text(content[:at] + new + content[end:], "utf-8")
    assert portioned(structure.parent, tmp_path, 6_000) == streamed(structure.parent, tmp_path)


def test_an_element_in_a_record_that_looks_like_a_mark_of_ours_is_no_record(tmp_path: Path) -> None:
    make_package(tmp_path / "extract", 80)
    structure = tmp_path / "extract" / "arkivstruktur.xml"
    content = structure.read_text("utf-8")
    at = content.rindex("<saksaar>")
    structure.write_text(f"{content[:at]}<noarkit-record/>{content[at:]}", "utf-8")
    with pytest.raises(CannotCut):
        portioned(structure.parent, tmp_path, 6_000)


def test_most_records_of_an_extract_are_matched_by_their_shape(tmp_path: Path) -> None:
    make_package(tmp_path / "extract", 200)
    text = (tmp_path / "extract" / "arkivstruktur.xml").read_text("utf-8")
    shapes = RecordShapes(LookUps(DocumentFiles(tmp_path / "extract").content))
    start = text.index("<registrering")
    record = text[start : text.index("</registrering>") + len("</registrering>")]
    fields = {"systemID": "\ue0000000\ue001"}
    shapes.learn(record, lambda signed: ("journalpost", {**fields}, []))
    matched = sum(
        shapes.match(text, place) is not None for place in range(len(text)) if text.startswith("<registr", place)
    )
    assert matched == 200
