"""Access copies of pictures: each shows its whole master, and says what it lacks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image, ImageOps

from noarkit.copies.converters.views import PICTURE_VIEW
from noarkit.copies.gates.views import ViewGate
from noarkit.copies.port import Failure, Finding, Product
from noarkit.copies.reasons import Reason
from tests.copies.access.made import master, product, task

_ORIENTATION, _CAMERA, _MAKER = 0x0112, 0x8769, 0x9003


def _judge(
    source: Path, tmp_path: Path, target: str = "jpeg", options: dict[str, object] | None = None
) -> list[Finding] | Failure:
    """What becomes of a picture: the findings of its view, or why there is none."""
    asked = task(source, target, "image/tiff", tmp_path / "out", **(options or {}))
    ((_, made),) = PICTURE_VIEW.convert([asked])
    if isinstance(made, Failure):
        return made
    found = ViewGate().check(asked, made)
    return found if isinstance(found, Failure) else list(found)


def test_a_view_is_as_large_as_its_rule_says_and_says_what_it_lacks(tmp_path: Path) -> None:
    master().save(tmp_path / "map.tif", dpi=(300, 300))
    found = _judge(tmp_path / "map.tif", tmp_path, options={"longest-side": 300})
    sizes = {"original_width": 900, "original_height": 600, "width": 300, "height": 200}
    assert found == [Finding("compressed-with-loss"), Finding("resolution-reduced", sizes)]
    with Image.open(tmp_path / "out" / "copy.jpg") as view:
        assert (view.format, view.size, view.mode) == ("JPEG", (300, 200), "RGB")


def test_a_small_master_is_not_made_larger(tmp_path: Path) -> None:
    master(90, 60).save(tmp_path / "map.tif")
    assert _judge(tmp_path / "map.tif", tmp_path) == [Finding("compressed-with-loss")]


def test_a_picture_that_lies_on_its_side_stands_upright_in_its_view(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[_ORIENTATION] = 6
    exif.get_ifd(_CAMERA)[_MAKER] = "2024:01:01 10:00:00"
    master().save(tmp_path / "photo.jpg", exif=exif)
    found = _judge(tmp_path / "photo.jpg", tmp_path)
    assert found == [Finding("compressed-with-loss"), Finding("camera-data-dropped", {"count": 1})]
    with Image.open(tmp_path / "out" / "copy.jpg") as view:
        assert view.size == (600, 900)
        assert not view.getexif()


@pytest.mark.parametrize(
    ("picture", "code"),
    [
        (lambda: Image.new("I;16", (300, 200), 40_000), "depth-reduced"),
        (lambda: master().convert("CMYK"), "colours-converted"),
        (lambda: Image.new("RGBA", (300, 200), (200, 0, 0, 0)), "transparency-dropped"),
    ],
)
def test_what_no_jpeg_holds_is_told(picture: Callable[[], Image.Image], code: str, tmp_path: Path) -> None:
    picture().save(tmp_path / "master.tif")
    found = _judge(tmp_path / "master.tif", tmp_path)
    assert isinstance(found, list)
    assert [finding.code for finding in found] == ["compressed-with-loss", code]


def test_several_frames_are_pages_and_no_jpeg(tmp_path: Path) -> None:
    frames = [master(), ImageOps.flip(master())]
    frames[0].save(tmp_path / "case.tif", save_all=True, append_images=frames[1:])
    refused = _judge(tmp_path / "case.tif", tmp_path)
    assert refused == Failure(Reason.CONTENT_REFUSED, {"why": "frames", "frames": 2})
    found = _judge(tmp_path / "case.tif", tmp_path, "pdf", {"longest-side": 450})
    assert isinstance(found, list)
    assert [finding.code for finding in found] == ["compressed-with-loss", "resolution-reduced"]


@pytest.mark.parametrize(
    ("spoil", "known"),
    [
        (lambda view: ImageOps.mirror(view), {"page": 1}),
        (lambda view: view.convert("L").convert("RGB"), {"page": 1}),
        (lambda view: view.resize((200, 133)), {"page": 1, "what": "size"}),
        (lambda view: view.crop((0, 0, 600, 300)), {"page": 1, "what": "size"}),
    ],
)
def test_another_picture_is_no_view(
    spoil: Callable[[Image.Image], Image.Image], known: dict[str, object], tmp_path: Path
) -> None:
    master().save(tmp_path / "map.tif")
    asked = task(tmp_path / "map.tif", "jpeg", "image/tiff", tmp_path / "out", **{"longest-side": 600})
    spoil(master(600, 400)).save(tmp_path / "out" / "copy.jpg")
    found = ViewGate().check(asked, product(tmp_path / "out" / "copy.jpg"))
    assert found == Failure(Reason.IMAGE_DIFFERS, known)


def test_a_view_without_one_of_the_frames_is_none(tmp_path: Path) -> None:
    frames = [master(), ImageOps.flip(master())]
    frames[0].save(tmp_path / "case.tif", save_all=True, append_images=frames[1:])
    asked = task(tmp_path / "case.tif", "jpeg", "image/tiff", tmp_path / "out")
    master().save(tmp_path / "out" / "copy.jpg")
    made = Product(tmp_path / "out" / "copy.jpg", "Pillow", "1")
    assert ViewGate().check(asked, made) == Failure(Reason.PAGES_DIFFER, {"pages": 1, "original": 2})
