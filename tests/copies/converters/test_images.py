"""A picture stays the same picture: every kind, pixel by pixel, with its profile, its orientation and its frames."""

from __future__ import annotations

import base64
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pypdfium2
import pytest
from PIL import Image, ImageCms, features

from noarkit.copies.converters.image import IMAGE, IMAGE_PDF
from noarkit.copies.converters.page import PAGE
from noarkit.copies.port import Finding
from noarkit.copies.reasons import Reason
from tests.copies.converters.library_tasks import Workbench, facts_by_poppler
from tests.waiting import PATIENCE_S

PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
SIZE = (45, 30)


def _colours() -> Image.Image:
    return Image.merge("RGB", [Image.linear_gradient("L").rotate(turn).resize(SIZE) for turn in (0, 90, 180)])


def _clear() -> Image.Image:
    picture = _colours().convert("RGBA")
    picture.putalpha(Image.linear_gradient("L").resize(SIZE))
    return picture


def _deep() -> Image.Image:
    return Image.frombytes("I;16", SIZE, bytes(range(256))[:90] * 30)


def _turned(orientation: int = 6) -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010E] = "Kartutsnitt"
    exif.get_ifd(0x8769)[0x9003] = "2026:01:02 03:04:05"
    return exif


def _see_through() -> Image.Image:
    picture = _colours().quantize(16)
    picture.info["transparency"] = 3
    return picture


Kind = tuple[str, Callable[[], Image.Image], dict[str, object]]
KINDS: tuple[Kind, ...] = (
    ("palette.gif", lambda: _colours().quantize(64), {}),
    ("clear.gif", _see_through, {}),
    ("gray.gif", lambda: _colours().convert("L"), {}),
    ("colour.bmp", _colours, {}),
    ("palette.bmp", lambda: _colours().quantize(64), {}),
    ("bilevel.bmp", lambda: _colours().convert("1"), {}),
    ("gray.bmp", lambda: _colours().convert("L"), {}),
    ("alpha.bmp", _clear, {}),
    ("loss.webp", _colours, {"quality": 60}),
    ("same.webp", _colours, {"lossless": True}),
    ("alpha.webp", _clear, {"lossless": True}),
    ("profile.webp", _colours, {"lossless": True, "icc_profile": PROFILE}),
    ("turned.webp", _colours, {"lossless": True, "exif": _turned()}),
    ("plain.tif", _colours, {}),
    ("lzw.tif", _colours, {"compression": "tiff_lzw"}),
    ("deflate.tif", _colours, {"compression": "tiff_adobe_deflate"}),
    ("old-deflate.tif", _colours, {"compression": "tiff_deflate"}),
    ("packbits.tif", _colours, {"compression": "packbits"}),
    ("jpeg.tif", _colours, {"compression": "jpeg"}),
    ("zstd.tif", _colours, {"compression": "zstd"}),
    ("lzma.tif", _colours, {"compression": "lzma"}),
    ("g3.tif", lambda: _colours().convert("1"), {"compression": "group3"}),
    ("g4.tif", lambda: _colours().convert("1"), {"compression": "group4"}),
    ("gray.tif", lambda: _colours().convert("L"), {"compression": "zstd"}),
    ("palette.tif", lambda: _colours().quantize(64), {"compression": "lzma"}),
    ("alpha.tif", _clear, {"compression": "zstd"}),
    ("deep.tif", _deep, {"compression": "zstd"}),
    ("cmyk.tif", lambda: _colours().convert("CMYK"), {"compression": "zstd"}),
    ("profile.tif", _colours, {"compression": "jpeg", "icc_profile": PROFILE, "dpi": (300, 300)}),
    ("turned.tif", _colours, {"compression": "jpeg", "exif": _turned(8)}),
)
NOT_AS_PNG = {"cmyk.tif"}
NOT_AS_PAGES = {"cmyk.tif", "deep.tif", "alpha.webp"}


def _draw(folder: Path, kind: Kind) -> Path:
    name, picture, options = kind
    needed = "libtiff" if name.endswith(".tif") else "webp" if name.endswith(".webp") else ""
    if needed and not features.check(needed):
        pytest.skip(f"Pillow was built without {needed}")
    path = folder / name
    try:
        picture().save(path, **options)  # type: ignore[arg-type]  # Pillow's options are as many as its formats
    except OSError:
        pytest.skip(f"libtiff was built without {options.get('compression')}")
    return path


@pytest.mark.parametrize("kind", KINDS, ids=[kind[0] for kind in KINDS])
def test_a_picture_is_the_same_picture_in_another_format(kind: Kind, tmp_path: Path, bench: Workbench) -> None:
    source = _draw(tmp_path, kind)
    before = source.read_bytes()
    targets = ("tiff",) if source.suffix == ".tif" else ("png",)
    for target in (*targets, *({"png"} - {*targets})):
        task = bench.task(source, target)
        if target == "png" and source.name in NOT_AS_PNG:
            assert bench.refusal(IMAGE, task) is Reason.CONTENT_REFUSED
            continue
        product, _ = bench.copy(IMAGE, task)
        _compare(source, product.path)
    assert source.read_bytes() == before


def _compare(source: Path, copy: Path) -> None:
    """By pixels as they lie in the file, which is not how the gate compares them."""
    with Image.open(source) as original, Image.open(copy) as made:
        if original.format == made.format == "TIFF":  # whose pixels the library turns while it loads them
            original.getexif().pop(0x0112, None)
            made.getexif().pop(0x0112, None)
        assert original.convert("RGBA").tobytes() == made.convert("RGBA").tobytes()
        assert original.info.get("icc_profile") == made.info.get("icc_profile")
    with Image.open(source) as original, Image.open(copy) as made:
        was, is_now = original.getexif(), made.getexif()
        if original.format != "TIFF" or made.format == "TIFF":
            assert was.get(0x0112) == is_now.get(0x0112)
        assert was.get(0x010E) == is_now.get(0x010E)
        assert was.get_ifd(0x8769).get(0x9003) == is_now.get_ifd(0x8769).get(0x9003)
        if made.format == "TIFF":
            assert made.tag_v2[259] in (5, 8)  # type: ignore[attr-defined]  # of TIFF
        if "dpi" in original.info:
            assert [round(dots) for dots in original.info["dpi"]] == [round(dots) for dots in made.info["dpi"]]


@pytest.mark.parametrize("kind", KINDS, ids=[kind[0] for kind in KINDS])
def test_a_picture_is_shown_on_a_page(kind: Kind, tmp_path: Path, bench: Workbench) -> None:
    source = _draw(tmp_path, kind)
    task = bench.task(source, "pdfa-2b")
    if source.name in NOT_AS_PAGES:
        assert bench.refusal(IMAGE_PDF, task) is Reason.CONTENT_REFUSED
        return
    product, _ = bench.copy(IMAGE_PDF, task)
    facts = facts_by_poppler(product.path)
    assert facts is None or (facts["Pages"], facts["Encrypted"], facts["JavaScript"]) == ("1", "no", "no")


def test_every_frame_is_kept_or_the_picture_refused(tmp_path: Path, bench: Workbench) -> None:
    frames = [_colours(), _colours().rotate(90), _colours().rotate(180)]
    moving, scanned = tmp_path / "moving.gif", tmp_path / "scanned.tif"
    frames[0].quantize(64).save(moving, save_all=True, append_images=[frame.quantize(64) for frame in frames[1:]])
    pages = [frames[1].convert("1"), frames[2].convert("L")]
    frames[0].save(scanned, save_all=True, append_images=pages, compression="zstd")
    assert bench.refusal(IMAGE, bench.task(moving, "png")) is Reason.CONTENT_REFUSED  # a PNG would hold the first
    product, _ = bench.copy(IMAGE, bench.task(scanned, "tiff"))
    with Image.open(scanned) as original, Image.open(product.path) as made:
        assert made.n_frames == original.n_frames == 3  # type: ignore[attr-defined]
        for number in range(3):
            original.seek(number)
            made.seek(number)
            assert (original.mode, original.tobytes()) == (made.mode, made.tobytes())
    if shutil.which("tiffinfo"):
        shown = subprocess.run(["tiffinfo", str(product.path)], capture_output=True, timeout=PATIENCE_S, check=True)
        assert shown.stdout.count(b"TIFF directory") + shown.stdout.count(b"TIFF Directory") == 3
    for source in (moving, scanned):
        product, _ = bench.copy(IMAGE_PDF, bench.task(source, "pdfa-2b"))
        assert len(pypdfium2.PdfDocument(product.path)) == 3


def _refusals_of_half(name: str, folder: Path, bench: Workbench) -> set[Reason]:
    """Why half a picture of this kind is no picture, for either target."""
    source = _draw(folder, next(kind for kind in KINDS if kind[0] == name))
    whole = source.read_bytes()
    source.write_bytes(whole[: len(whole) // 2])
    return {bench.refusal(IMAGE, bench.task(source, "png")), bench.refusal(IMAGE_PDF, bench.task(source, "pdfa-2b"))}


@pytest.mark.parametrize("name", ["palette.gif", "colour.bmp", "same.webp", "lzw.tif"])
def test_half_a_picture_is_damaged(name: str, tmp_path: Path, bench: Workbench) -> None:
    assert _refusals_of_half(name, tmp_path, bench) <= {Reason.DAMAGED, Reason.CONTENT_REFUSED}


@pytest.mark.parametrize("name", ["palette.gif", "colour.bmp", "same.webp", "lzw.tif"])
def test_half_a_picture_is_damaged_also_after_a_page_was_drawn(name: str, tmp_path: Path, bench: Workbench) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>Vedtak</p>")
    bench.copy(PAGE, bench.task(page, "pdfa-2b"))
    assert _refusals_of_half(name, tmp_path, bench) <= {Reason.DAMAGED, Reason.CONTENT_REFUSED}


def test_a_page_with_half_a_picture_is_the_same_before_and_after_a_picture_is_judged(
    tmp_path: Path, bench: Workbench
) -> None:
    picture = _draw(tmp_path, KINDS[3])
    half = base64.b64encode(picture.read_bytes()[: picture.stat().st_size // 2]).decode()
    pages = [tmp_path / "before.html", tmp_path / "after.html"]
    for page in pages:
        page.write_text(f'<p>Vedtak</p><img src="data:image/png;base64,{half}">')
    before, _ = bench.copy(PAGE, bench.task(pages[0], "pdfa-2b"))
    bench.copy(IMAGE, bench.task(picture, "png"))
    after, _ = bench.copy(PAGE, bench.task(pages[1], "pdfa-2b"))
    with pypdfium2.PdfDocument(before.path) as first, pypdfium2.PdfDocument(after.path) as second:
        pictures = [document[0].render().to_pil() for document in (first, second)]
    assert pictures[0].tobytes() == pictures[1].tobytes()
    assert len(pictures[0].getcolors(1 << 20)) > 500, "the half that is there is drawn"


def test_a_target_of_another_kind_is_refused(tmp_path: Path, bench: Workbench) -> None:
    source = _draw(tmp_path, KINDS[0])
    assert bench.refusal(IMAGE, bench.task(source, "pdfa-2b")) is Reason.CONTENT_REFUSED
    assert bench.refusal(IMAGE_PDF, bench.task(source, "png")) is Reason.CONTENT_REFUSED


def test_findings_say_nothing_of_a_picture_without_loss(tmp_path: Path, bench: Workbench) -> None:
    _, findings = bench.copy(IMAGE, bench.task(_draw(tmp_path, KINDS[3]), "png"))
    assert findings == () and Finding not in findings
