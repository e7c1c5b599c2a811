"""Small pictures of documents: drawn once, kept for the owner alone, bounded, and only of what is a picture or PDF."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path

from PIL import Image

from noarkit.reading_room.viewers.port import DocumentSource
from noarkit.reading_room.viewers.thumbnails import Thumbnails, may_have_thumbnail, thumbnails_folder
from noarkit.reading_room.viewers.viewer import Viewer
from tests.copies.corpus.images import encoded, png_header
from tests.copies.corpus.pdf import pdf
from tests.reading_room.viewers.rooms import source_of


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_pictures_and_first_pages_are_drawn_small_and_kept(viewer: Viewer, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    thumbnails = Thumbnails(folder, viewer.room)
    for content in (pdf(["Vedtak"]), encoded("TIFF", size=900)):
        png = thumbnails.picture(source_of(content), sha256(content))
        assert png is not None
        picture = Image.open(io.BytesIO(png))
        assert picture.format == "PNG"
        assert picture.width <= 240
        assert picture.height <= 320

        def unopened() -> object:
            raise AssertionError("it is kept")

        again = thumbnails.picture(DocumentSource("other", unopened), sha256(content))  # type: ignore[arg-type]  # never asked
        assert again == png
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_what_has_no_picture_has_none_and_is_asked_once(viewer: Viewer, tmp_path: Path) -> None:
    thumbnails = Thumbnails(tmp_path / "pictures", viewer.room)
    for content in (
        b"text",
        png_header(60_000, 60_000),
        b"%PDF-1.7\nnothing",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    ):
        assert thumbnails.picture(source_of(content), sha256(content)) is None
        assert (tmp_path / "pictures" / f"{sha256(content)}.png").read_bytes() == b""


def test_the_folder_stays_bounded_and_the_oldest_goes(viewer: Viewer, tmp_path: Path) -> None:
    thumbnails = Thumbnails(tmp_path / "pictures", viewer.room, most_bytes=3 * 4096)
    contents = [f"text {number}".encode() for number in range(4)]
    for number, content in enumerate(contents):
        thumbnails.picture(source_of(content), sha256(content))
        path = tmp_path / "pictures" / f"{sha256(content)}.png"
        if path.exists():
            os.utime(path, (number, number))
    assert not (tmp_path / "pictures" / f"{sha256(contents[0])}.png").exists()
    assert len(list((tmp_path / "pictures").iterdir())) == 3


def test_a_name_that_is_no_sha256_leads_nowhere(viewer: Viewer, tmp_path: Path) -> None:
    thumbnails = Thumbnails(tmp_path / "pictures", viewer.room)
    for name in ("../../etc/passwd", "", "A" * 64, "a" * 63, "a" * 64 + "\n"):
        assert thumbnails.picture(source_of(encoded("PNG")), name) is None
    assert not (tmp_path / "pictures").exists()


def test_what_lies_in_the_folder_is_no_picture_because_of_its_name(viewer: Viewer, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    content = encoded("PNG")
    (folder / f"{sha256(content)}.png").write_bytes(b"<html>")
    assert Thumbnails(folder, viewer.room).picture(source_of(content), sha256(content)) is None


def test_only_what_may_have_a_picture_is_asked_for() -> None:
    assert may_have_thumbnail("x", "application/pdf")
    assert may_have_thumbnail("x.TIF", "")
    assert not may_have_thumbnail("x.svg", "image/svg+xml")
    assert not may_have_thumbnail("x.docx", "")
    assert thumbnails_folder(Path("/a/b.noarkit-catalogue.db")).parent == Path("/a")
