"""Where two libraries can look at a document they see the same, so that it is shown alike whichever is installed."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from noarkit.documents.pdf_pages import PdfUnreadable
from noarkit.reading_room.viewers.kinds.pdf_names import names_by_pikepdf, names_by_pypdf
from noarkit.reading_room.viewers.kinds.picture_sizes import size_by_header
from tests.reading_room.viewers.documents import DOCUMENTS

PDFS = [name for name in DOCUMENTS if name.endswith(".pdf") and "pdf" in DOCUMENTS[name].kinds and "copy" not in name]
ACTIVE = {
    "/JavaScript",
    "/JS",
    "/Launch",
    "/URI",
    "/SubmitForm",
    "/XFA",
    "/AcroForm",
    "/EmbeddedFiles",
    "/GoToR",
    "/AA",
}


@pytest.mark.parametrize("name", PDFS)
def test_two_libraries_find_the_same_actions_in_a_pdf(name: str, tmp_path: Path) -> None:
    path = tmp_path / "document"
    path.write_bytes(DOCUMENTS[name].make())
    first, second = (set(names(path)) & ACTIVE for names in (names_by_pikepdf, names_by_pypdf))
    assert first == second
    assert first


def test_a_name_that_is_written_in_disguise_is_found(tmp_path: Path) -> None:
    path = tmp_path / "document"
    content = DOCUMENTS["launch.pdf"].make()
    assert b"/Launch" in content
    path.write_bytes(content.replace(b"/Launch", b"/L#61unch"))
    assert "/Launch" in set(names_by_pypdf(path))
    assert "/Launch" in set(names_by_pikepdf(path))


def test_a_locked_and_a_broken_pdf_are_told_apart(tmp_path: Path) -> None:
    for name, locked in (("locked.pdf", True), ("broken.pdf", False)):
        path = tmp_path / name
        path.write_bytes(DOCUMENTS[name].make())
        for names in (names_by_pikepdf, names_by_pypdf):
            with pytest.raises(PdfUnreadable) as raised:
                list(names(path))
            assert raised.value.locked == locked


@pytest.mark.parametrize("kind", ["png", "gif", "jpeg", "webp", "webp-lossless", "webp-animated"])
@pytest.mark.parametrize("size", [(1, 1), (300, 7), (1023, 1025)])
def test_the_size_in_a_header_is_what_a_library_reads(kind: str, size: tuple[int, int], tmp_path: Path) -> None:
    name, _, way = kind.partition("-")
    file = io.BytesIO()
    picture = Image.new("RGB", size, "red")
    if way == "animated":
        picture.save(file, "WEBP", save_all=True, append_images=[Image.new("RGB", size, "blue")])
    else:
        picture.save(file, name.upper(), **({"lossless": True} if way else {}))
    path = tmp_path / "picture"
    path.write_bytes(file.getvalue())
    assert size_by_header(path, name) == size


def test_a_header_that_is_cut_off_tells_no_size(tmp_path: Path) -> None:
    path = tmp_path / "picture"
    for name, content in (
        ("png", b"\x89PNG"),
        ("gif", b"GIF89a"),
        ("jpeg", b"\xff\xd8\xff\xe0"),
        ("webp", b"RIFF"),
        ("x", b""),
    ):
        path.write_bytes(content)
        assert size_by_header(path, name) is None
