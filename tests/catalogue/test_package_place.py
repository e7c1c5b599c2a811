"""Packages are shown with what lies in them, packed or not, and with what they tell of themselves."""

from __future__ import annotations

import hashlib
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from noarkit.catalogue.places.forms import find_package_place
from noarkit.catalogue.port import Item, Place, PlaceIdentity
from noarkit.cli.main import main
from noarkit.errors import HostileInput
from noarkit.events import Listener
from samples.packages import eark
from samples.packages.dias import good_dias
from samples.packages.make import write_good
from tests.catalogue.looking import catalogued, every_entry
from tests.catalogue.shelves import Shelf
from tests.catalogue.test_siard_place import PICTURE, database


def place_at(path: Path) -> Place:
    """The place of what stands there."""
    place = find_package_place(path)
    assert place is not None
    return place


WAYS: dict[str, Callable[[eark.Draft, Path], Path]] = {
    "folder": lambda draft, folder: eark.write_folder(draft, folder),
    "zip": lambda draft, folder: eark.write_zip(draft, folder / "p.zip"),
    "tar": lambda draft, folder: eark.write_tar(draft, folder / "p.tar"),
}


@pytest.mark.parametrize("way", WAYS)
def test_an_eark_package_shows_its_files_with_their_checksums(way: str, tmp_path: Path) -> None:
    path = WAYS[way](eark.good(), tmp_path)
    with catalogued(place_at(path), tmp_path) as catalogue:
        entries = list(every_entry(catalogue))
        assert entries[0].type == "package"
        assert not [entry.ref for entry in entries if entry.fault]
        files = [entry for entry in entries if entry.documents]
        assert files
        for entry in files:
            for document in catalogue.card(entry.ref).documents:
                with catalogue.open(document) as stream:
                    content = stream.read()
                assert len(content) == document.size_bytes
                assert not document.sha256 or hashlib.sha256(content).hexdigest() == document.sha256
        assert any(catalogue.card(entry.ref).history for entry in files if "premis" in entry.ref.lower())


@pytest.mark.parametrize("packed", [True, False])
def test_a_dias_package_shows_its_metadata_and_its_content(packed: bool, tmp_path: Path) -> None:
    draft = good_dias("AIP")
    path = draft.write(tmp_path / "dias") if packed else draft.unpack(tmp_path / "dias")
    with catalogued(place_at(path), tmp_path) as catalogue:
        entries = {entry.ref: entry for entry in every_entry(catalogue)}
        assert not [entry.ref for entry in entries.values() if entry.fault]
        assert entries["descriptive_metadata/ead.xml"].type == "description"
        (document,) = catalogue.card("content/a/letter.pdf").documents
        with catalogue.open(document) as stream:
            assert hashlib.sha256(stream.read()).hexdigest() == document.sha256
        sealed = [entry for entry in entries.values() if entry.ref == f"{draft.uuid}.xml"]
        assert len(sealed) == packed
        for entry in sealed:
            (description,) = catalogue.card(entry.ref).documents
            with catalogue.open(description) as stream:
                assert stream.read() == (path / f"{draft.uuid}.xml").read_bytes()


def bag(folder: Path, files: dict[str, bytes]) -> Path:
    """A bag of these payload files."""
    folder.mkdir()
    (folder / "bagit.txt").write_text("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n")
    (folder / "bag-info.txt").write_text(
        "Source-Organization: Byarkivet\nExternal-Identifier: 1\nExternal-Identifier: 2\n"
    )
    lines = []
    for name, content in files.items():
        path = folder / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        lines.append(f"{hashlib.sha256(content).hexdigest()}  data/{name}\n")
    (folder / "manifest-sha256.txt").write_text("".join(lines))
    return folder


def test_a_bag_shows_its_payload_and_what_bag_info_says(tmp_path: Path) -> None:
    path = bag(tmp_path / "bag", {"a/x.txt": b"x", "a/b/y.txt": b"yy", "z.txt": b""})
    (path / "data" / "stray.txt").write_bytes(b"?")
    (path / "data" / "z.txt").unlink()
    with catalogued(place_at(path), tmp_path) as catalogue:
        entries = {entry.ref: entry for entry in every_entry(catalogue)}
        assert catalogue.card("package").fields["External-Identifier"] == ["1", "2"]
        assert [entry.ref for entry in catalogue.ancestors("data/a/b/y.txt")] == [
            *("package", "data/", "data/a/", "data/a/b/"),
        ]
        assert entries["data/z.txt"].fault == "F202"
        assert catalogue.card("data/stray.txt").fields["listed"] is False


def test_a_bag_whose_manifest_cannot_be_read_shows_what_lies_there(tmp_path: Path) -> None:
    path = bag(tmp_path / "bag", {"a.txt": b"x"})
    (path / "manifest-sha256.txt").write_text("this is no manifest\n")
    with catalogued(place_at(path), tmp_path) as catalogue:
        assert catalogue.entry("package").fault == "F500"
        assert catalogue.entry("data/a.txt").documents == 1


@pytest.mark.parametrize("packed", ["", "zip", "tar"])
def test_an_extract_in_a_package_is_shown_as_its_archive(packed: str, tmp_path: Path) -> None:
    write_good(tmp_path / "extract", "5.0")
    files = {
        path.relative_to(tmp_path / "extract").as_posix(): path.read_bytes()
        for path in sorted((tmp_path / "extract").rglob("*"))
        if path.is_file()
    }
    path = bag(tmp_path / "bag", files)
    if packed:
        path = Path(shutil.make_archive(str(tmp_path / "packed"), packed, tmp_path, "bag"))
    with catalogued(place_at(path), tmp_path) as catalogue:
        tops = [entry.type for entry in catalogue.children()]
        assert tops[0] == "arkiv"
        assert tops[-1] == "package"
        records = [entry for entry in every_entry(catalogue) if entry.type == "journalpost"]
        documents = [document for record in records for document in catalogue.card(record.ref).documents]
        document = next(document for document in documents if document.locator)
        with catalogue.open(document) as stream:
            assert hashlib.sha256(stream.read()).hexdigest() == document.sha256
        assert not [entry.ref for entry in every_entry(catalogue) if entry.ref.startswith("data/dokumenter")]


def test_a_link_out_of_a_package_is_no_way_out(tmp_path: Path) -> None:
    path = bag(tmp_path / "bag", {"a.txt": b"x"})
    (path / "data" / "out.txt").symlink_to("/etc/passwd")
    try:
        with catalogued(place_at(path), tmp_path) as catalogue:
            for entry in every_entry(catalogue):
                assert all(
                    document.locator is None for document in catalogue.card(entry.ref).documents if "out" in entry.ref
                )
    except HostileInput:
        pass


def test_a_zip_that_leads_out_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("bag/bagit.txt", "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n")
        archive.writestr("bag/../../out.txt", "x")
    with pytest.raises(HostileInput):
        place_at(path)


PREMIS = """<?xml version="1.0"?>
<premis xmlns="http://www.loc.gov/premis/v3" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" version="3.0">
  <object xsi:type="file"><objectIdentifier><objectIdentifierType>local</objectIdentifierType>
    <objectIdentifierValue>file-1</objectIdentifierValue></objectIdentifier><originalName>{name}</originalName></object>
  <event><eventIdentifier><eventIdentifierType>local</eventIdentifierType>
    <eventIdentifierValue>e1</eventIdentifierValue></eventIdentifier><eventType>virus check</eventType>
    <eventDateTime>2021-02-03T04:05:06</eventDateTime>
    <linkingAgentIdentifier><linkingAgentIdentifierType>local</linkingAgentIdentifierType>
      <linkingAgentIdentifierValue>clamav</linkingAgentIdentifierValue></linkingAgentIdentifier>
    <linkingObjectIdentifier><linkingObjectIdentifierType>local</linkingObjectIdentifierType>
      <linkingObjectIdentifierValue>file-1</linkingObjectIdentifierValue></linkingObjectIdentifier></event>
</premis>
"""


def test_an_event_of_premis_is_a_step_of_the_custody_of_its_file(tmp_path: Path) -> None:
    path = bag(tmp_path / "bag", {"a.txt": b"x", "b.txt": b"y"})
    (path / "metadata").mkdir()
    (path / "metadata" / "premis.xml").write_text(PREMIS.format(name="data/a.txt"))
    with catalogued(place_at(path), tmp_path) as catalogue:
        card = catalogue.card("data/a.txt")
        assert ("virus check", "2021-02-03T04:05:06+00:00", "clamav") in [
            (step.step, step.at, step.agent) for step in card.documents[0].custody
        ]
        assert [change.field for change in card.history] == ["virus check"]
        assert catalogue.card("data/b.txt").history == ()


@pytest.mark.parametrize("packed", ["", "zip"])
def test_an_event_of_premis_reaches_the_document_of_an_extract_within(packed: str, tmp_path: Path) -> None:
    write_good(tmp_path / "extract", "5.0")
    files = {
        path.relative_to(tmp_path / "extract").as_posix(): path.read_bytes()
        for path in sorted((tmp_path / "extract").rglob("*"))
        if path.is_file()
    }
    document = next(name for name in files if name.endswith(".pdf"))
    path = bag(tmp_path / "bag", files)
    (path / "premis.xml").write_text(PREMIS.format(name=f"data/{document}"))
    if packed:
        path = Path(shutil.make_archive(str(tmp_path / "packed"), packed, tmp_path, "bag"))
    with catalogued(place_at(path), tmp_path) as catalogue:
        documents = [d for entry in every_entry(catalogue) for d in catalogue.card(entry.ref).documents]
        checked = [d for d in documents if "virus check" in {step.step for step in d.custody}]
        assert {d.name for d in checked} >= {document.rpartition("/")[2]}
        assert [d.custody[-1].step for d in checked if d.locator] == ["extracted"] * len(
            [d for d in checked if d.locator]
        )


@pytest.mark.parametrize("packed", ["", "zip", "tar"])
def test_a_database_within_a_bag_is_shown_with_its_rows(
    packed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        main(["convert", f"sqlite:///{database(tmp_path / 'shop.db')}", "--as", "siard", "-o", "shop.siard"], {}) == 0
    )
    path = bag(tmp_path / "bag", {"db/shop.siard": (tmp_path / "shop.siard").read_bytes(), "broken.siard": b"PK\3\4x"})
    if packed:
        path = Path(shutil.make_archive(str(tmp_path / "packed"), packed, tmp_path, "bag"))
    with catalogued(place_at(path), tmp_path) as catalogue:
        entries = list(every_entry(catalogue))
        assert sum(entry.type == "row" for entry in entries) == 406
        assert [entry.type for entry in catalogue.children("data/db/shop.siard")] == ["database"]
        row = next(entry for entry in entries if entry.type == "row" and entry.documents)
        (document,) = catalogue.card(row.ref).documents
        with catalogue.open(document) as stream:
            assert stream.read() == PICTURE
        order = next(entry for entry in entries if entry.type == "row" and "/orders/" in entry.ref)
        assert all(link.entry is not None for link in catalogue.card(order.ref).links)
    with catalogued(place_at(path), tmp_path) as catalogue, catalogue.open(document) as stream:
        assert stream.read() == PICTURE


def test_packages_within_packages_end_somewhere(tmp_path: Path) -> None:
    inner = b"the innermost"
    for level in range(6):
        path = bag(tmp_path / f"bag{level}", {"in.zip": inner} if level else {"a.txt": inner})
        inner = Path(shutil.make_archive(str(tmp_path / f"packed{level}"), "zip", tmp_path, path.name)).read_bytes()
    with catalogued(place_at(tmp_path / "packed5.zip"), tmp_path) as catalogue:
        assert max(entry.ref.count("!") for entry in every_entry(catalogue)) == 2


def test_a_document_in_the_extract_of_a_package_came_out_of_its_archive_when_that_was_made(tmp_path: Path) -> None:
    class Delivered(Shelf):
        @property
        def identity(self) -> PlaceIdentity:
            return PlaceIdentity("package", "shelf", "/shelf", "1")

        def items(self, emit: Listener) -> Iterator[Item]:
            yield from super().items(emit)
            yield Item("package", None, "package", "aip", fields={"created": "2026-02-01T08:00:00Z"})

    with catalogued(Delivered({"extract:a": b"a", "b": b"b"}), tmp_path) as catalogue:
        assert [(step.step, step.at) for step in catalogue.card("extract:a").documents[0].custody] == [
            ("extracted", "2026-02-01T08:00:00+00:00")
        ]
        assert catalogue.card("b").documents[0].custody == ()
