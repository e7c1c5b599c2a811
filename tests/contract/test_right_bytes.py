"""Bytes that are not what was stated of them are told as that at every door, in every form that states anything."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import noarkit
from noarkit.api.browsing import open_catalogue
from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.port import Document
from noarkit.cli.main import main
from noarkit.errors import ChecksumDiffers, PackageFault, SourceFault
from noarkit.reading_room.static.writer import write_static_copy
from noarkit.reading_room.viewers.content import Tickets
from noarkit.reading_room.viewers.pages import ViewAddresses, render_view
from noarkit.reading_room.viewers.port import DocumentSource, ViewRequest
from noarkit.reading_room.viewers.viewer import Viewer
from tests.catalogue.looking import every_entry
from tests.contract.forged import FORGED, FORMS, GENUINE, forge

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
EVERY = pytest.mark.parametrize("form", FORMS)
READ = pytest.mark.parametrize("form", FORMS if DEEP else ("packed extract", "E-ARK", "bag with MD5", "SIARD"))
"""Doors behind which a child process reads ask the same opening that is tried for every form."""


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each form is kept that was made once: genuine, and forged."""
    return tmp_path_factory.mktemp("shelf")


@contextmanager
def _package(shelf: Path, form: str, state: str, tmp_path: Path) -> Iterator[Path]:
    folder = shelf / form
    if not folder.exists():
        folder.mkdir()
        (folder / "name").write_text(FORMS[form](folder).name)
    name = (folder / "name").read_text()
    place = tmp_path / name
    if (folder / name).is_dir():
        shutil.copytree(folder / name, place, copy_function=shutil.copy2)
    else:
        shutil.copy2(folder / name, place)
    if state == "forged":
        forge(place)
    yield place


@pytest.fixture
def genuine(shelf: Path, form: str, tmp_path: Path) -> Iterator[Path]:
    """A package as it was made."""
    with _package(shelf, form, "genuine", tmp_path) as place:
        yield place


@pytest.fixture
def forged(shelf: Path, form: str, tmp_path: Path) -> Iterator[Path]:
    """The same with other bytes in one document."""
    with _package(shelf, form, "forged", tmp_path) as place:
        yield place


def _letter(catalogue: Catalogue) -> Document:
    """The document that held the word."""
    for entry in every_entry(catalogue):
        for document in catalogue.documents(entry.ref):
            if document.locator is not None:
                with catalogue.open(document) as stream:
                    content = b"".join(stream)
                if GENUINE.encode() in content or FORGED.encode() in content:
                    return document
    raise AssertionError(catalogue.place.identity)


@EVERY
def test_the_forged_one_is_refused(forged: Path, tmp_path: Path) -> None:
    with open_catalogue(forged) as catalogue, pytest.raises(ChecksumDiffers) as refusal:
        noarkit.get(catalogue, _letter(catalogue).ref, tmp_path / "letter")
    assert not (tmp_path / "letter").exists()
    assert str(refusal.value.data["detail"]) in ("by-extract", "by-mets", "by-manifest", "by-siard")


@EVERY
def test_the_genuine_one_is_handed_out(genuine: Path, tmp_path: Path) -> None:
    with open_catalogue(genuine) as catalogue:
        assert noarkit.get(catalogue, _letter(catalogue).ref, tmp_path / "letter").is_checked


@READ
def test_the_forged_one_is_shown_in_red_and_not_found(forged: Path) -> None:
    with open_catalogue(forged) as catalogue, Viewer(Tickets()) as viewer:
        letter = _letter(catalogue)
        source = DocumentSource(letter.ref, lambda: catalogue.open(letter), letter.name)
        view = viewer.view(source)
        by_name = viewer.view(source, ViewRequest(saves_anyway=True))
        assert noarkit.read_documents(catalogue).differing == 1
        assert not noarkit.search(catalogue, FORGED).items
    assert view.differences and not view.download and by_name.download
    page = render_view(view, "en", ViewAddresses("/document/x", "http://127.0.0.1/content/"))
    assert 'class="notice bad"' in page and "?save=anyway" in page


@READ
def test_the_genuine_one_is_shown_and_found(genuine: Path) -> None:
    with open_catalogue(genuine) as catalogue, Viewer(Tickets()) as viewer:
        letter = _letter(catalogue)
        view = viewer.view(DocumentSource(letter.ref, lambda: catalogue.open(letter), letter.name))
        assert not noarkit.read_documents(catalogue).differing
        assert noarkit.search(catalogue, GENUINE).items
    assert view.is_as_stated and view.download and not view.differences


@READ
def test_a_reading_copy_leaves_it_out_and_says_so(forged: Path, tmp_path: Path) -> None:
    with open_catalogue(forged) as catalogue:
        copy = write_static_copy(catalogue, tmp_path / "copy", lang="en", with_documents=True)
    assert copy.documents.differing == 1
    pages = [path.read_text("utf-8", "replace") for path in (tmp_path / "copy").rglob("*") if path.is_file()]
    assert not any(FORGED in page for page in pages)
    assert any("F314" in page for page in pages)


@EVERY
def test_plan_sets_it_aside_or_refuses_the_whole(forged: Path, tmp_path: Path) -> None:
    assert main(["plan", str(forged), "-o", str(tmp_path / "run")], {}) in (3, 4)


@EVERY
def test_plan_takes_the_genuine_one(genuine: Path, tmp_path: Path) -> None:
    result = noarkit.plan(genuine, tmp_path / "run")
    assert not result.records.get("set_aside"), result.records


@EVERY
def test_a_package_of_it_is_refused_or_lacks_it(forged: Path, form: str, tmp_path: Path) -> None:
    target = "sqlite" if form == "SIARD" else "bagit"
    try:
        noarkit.convert(forged, tmp_path / "converted", form=target)
    except (PackageFault, SourceFault, ChecksumDiffers):
        return
    files = [path for path in (tmp_path / "converted").rglob("*") if path.is_file()]
    assert not any(FORGED.encode() in path.read_bytes() for path in files)


@READ
def test_no_archival_copy_is_made_of_it(forged: Path, tmp_path: Path) -> None:
    try:
        result = noarkit.derive(forged, tmp_path / "copies", workers=1)
    except PackageFault:
        return
    assert result.set_aside or result.failed or result.left, result


@EVERY
def test_validate_says_so_by_its_own_reading(forged: Path) -> None:
    assert main(["validate", str(forged)], {}) == 4
