"""Two extracts, or an extract and an archive: what differs is told, and nothing else is."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.archive.values import Query, Save
from noarkit.errors import PackageFault
from noarkit.forms.comparison import compare_extracts, compare_with_archive
from noarkit.forms.comparison.ledger import Ledger, Row
from tests.roundtrip.circle import WholeArchive, archive_in, extract_to, ingest
from tests.roundtrip.worlds import build


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[WholeArchive, Path]]:
    """An archive and its extract."""
    place = tmp_path_factory.mktemp("world")
    with archive_in(place / "a") as archive:
        build(random.Random(22), archive)
        extract_to(archive, place / "package")
        yield archive, place / "package"


def changed(package: Path, place: Path, pattern: str, instead: str) -> Path:
    """A copy of a package in which the first fit of a pattern reads otherwise."""
    copy = place / "changed"
    shutil.copytree(package, copy)
    structure = copy / "arkivstruktur.xml"
    text, count = re.subn(pattern, instead, structure.read_text("utf-8"), count=1, flags=re.DOTALL)
    assert count == 1
    structure.write_text(text, "utf-8")
    return copy


def test_a_package_does_not_differ_from_itself(world: tuple[WholeArchive, Path]) -> None:
    found = compare_extracts(world[1], world[1])
    assert found.equal
    assert found.left == found.right
    assert found.left["dokumentobjekt"] > 0


def test_an_extract_does_not_differ_from_the_archive_it_was_made_of(world: tuple[WholeArchive, Path]) -> None:
    archive, package = world
    found = compare_with_archive(package, archive)
    assert [one for one in found.differences] == []
    assert found.equal
    assert found.left["Dokumentversjon"] == found.right["Dokumentversjon"] > 0


def test_a_title_that_differs_is_told_with_both_sides(world: tuple[WholeArchive, Path], tmp_path: Path) -> None:
    other = changed(world[1], tmp_path, r"(<mappe.*?<tittel>)[^<]*", r"\1another")
    found = compare_extracts(world[1], other)
    assert found.counts == {"differs": 1}
    (one,) = found.differences
    assert (one.field, one.right) == ("tittel", ["another"])
    assert not found.equal


def test_a_unit_that_is_gone_stands_on_one_side_only(world: tuple[WholeArchive, Path], tmp_path: Path) -> None:
    other = changed(world[1], tmp_path, r"<registrering[ >].*?</registrering>\n", "")
    found = compare_extracts(world[1], other)
    assert found.counts["only-left"] >= 1
    assert found.counts["only-right"] == 0
    assert {one.kind for one in found.differences} == {"only-left"}
    assert compare_extracts(other, world[1]).counts["only-right"] == found.counts["only-left"]


def test_a_file_with_other_bytes_is_told_by_its_sha256(world: tuple[WholeArchive, Path], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(world[1], copy)
    file = next(path for path in sorted((copy / "dokumenter").rglob("*")) if path.is_file())
    file.write_bytes(b"other bytes")
    found = compare_extracts(world[1], copy)
    assert {(one.kind, one.field) for one in found.differences} == {("differs", "sha256")}


def test_a_file_that_lies_elsewhere_is_a_declared_difference(world: tuple[WholeArchive, Path], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(world[1], copy)
    (copy / "dokumenter").rename(copy / "DOKUMENT")
    structure = copy / "arkivstruktur.xml"
    structure.write_text(structure.read_text("utf-8").replace(">dokumenter/", ">DOKUMENT/"), "utf-8")
    found = compare_extracts(world[1], copy)
    assert found.equal
    assert found.declared["file-path"] == found.left["dokumentobjekt"]


def test_what_changed_in_the_archive_since_is_told(world: tuple[WholeArchive, Path], tmp_path: Path) -> None:
    with archive_in(tmp_path / "b") as archive:
        ingest(world[1], tmp_path / "run", archive)
        assert compare_with_archive(world[1], archive).equal
        (one,) = archive.query(Query("Arkiv", limit=1)).objects
        archive.transaction([Save("Arkiv", one.id, {"tittel": "renamed"})])
        found = compare_with_archive(world[1], archive)
    assert [(one.type, one.field, one.right) for one in found.differences] == [("Arkiv", "tittel", "renamed")]


def test_by_key_new_ids_and_dates_are_declared(world: tuple[WholeArchive, Path], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(world[1], copy)
    structure = copy / "arkivstruktur.xml"
    text = re.sub(r">([0-9a-f])([0-9a-f]{7}-[0-9a-f]{4}-4)", r">f\2", structure.read_text("utf-8"))
    structure.write_text(re.sub(r"<opprettetAv>[^<]*", "<opprettetAv>x", text), "utf-8")
    assert not compare_extracts(world[1], copy).equal
    found = compare_extracts(world[1], copy, "key")
    assert {one.field for one in found.differences} == set()
    assert found.declared["new-id"] > 0
    assert found.declared["generated-date"] > 0


def test_a_folder_without_an_extract_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PackageFault):
        compare_extracts(tmp_path, tmp_path)


def test_an_original_counts_as_replaced_only_where_its_own_document_has_the_copy() -> None:
    original, copy = "a" * 64, "b" * 64
    details = f"fmt/477 · fra fmt/412 · 2026-11-22T09:12:03Z · x · av y · regel z · sha256 {original} → {copy}"

    def version(document: str, uuid: str, sha256: str, details: str = "") -> Row:
        fields = {"sha256": sha256, "formatDetaljer": details}
        return Row(f"{document}/{uuid}", "Dokumentversjon", document, uuid, "", fields)

    documents = [Row(name, "Dokument", "", name, "", {}) for name in ("one", "two")]
    copies = [version("one", "c1", copy, details)]
    originals = [version("one", "o1", original), version("two", "o2", original)]  # the same bytes in both
    with Ledger() as ledger:
        ledger.fill("left", [*documents, *copies], "id")
        ledger.fill("right", [*documents, *copies, *originals], "id")
        found = {difference.key: difference.is_original for difference in ledger.differences()}
    assert found == {"o1": True, "o2": False}, "of the second document the bytes are lost"
