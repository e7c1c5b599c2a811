"""What a machine reads on a scan is laid behind the page, in a copy, and the page looks as it did."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from noarkit.copies.converters.ocr import TextRecognition
from noarkit.copies.reasons import Reason
from noarkit.safe.sandbox import Limits
from tests.copies.converters.library_tasks import Workbench, text_by_poppler
from tests.copies.gates.drawing import draw_pdf
from tests.waiting import PATIENCE_S

needs_program = [
    pytest.mark.copies_tools,
    pytest.mark.skipif(shutil.which("ocrmypdf") is None, reason="no OCRmyPDF here: scripts/copies-tools"),
]
SLOW = Limits(cpu_s=120, wall_s=PATIENCE_S)


def _scan(path: Path) -> Path:
    page = Image.new("L", (1240, 700), 255)
    ImageDraw.Draw(page).text((80, 120), "Vedtak om byggetillatelse", font=ImageFont.load_default(72), fill=0)
    page.save(path, format="PDF", resolution=150)
    return path


@pytest.mark.parametrize("language", [pytest.param("eng", marks=needs_program)])
def test_a_scan_can_be_searched_and_looks_the_same(language: str, tmp_path: Path, bench: Workbench) -> None:
    source = _scan(tmp_path / "scan.pdf")
    before = source.read_bytes()
    task = bench.task(source, "pdfa-2b", limits=SLOW, language=language)
    product, _ = bench.copy(TextRecognition(), task)  # the gates compared how the page looks
    assert ("text-recognised", {"language": "eng"}) in [(found.code, found.data) for found in product.findings]
    text = text_by_poppler(product.path)
    assert text is None or "byggetillatelse" in text
    assert source.read_bytes() == before
    assert [path.name for path in task.folder.iterdir()] == ["copy.pdf"]


@pytest.mark.parametrize("language", [pytest.param("eng; rm -rf /", marks=needs_program)])
def test_a_language_is_a_name_of_a_language(language: str, tmp_path: Path, bench: Workbench) -> None:
    task = bench.task(_scan(tmp_path / "scan.pdf"), "pdfa-2b", limits=SLOW, language=language)
    assert bench.refusal(TextRecognition(), task) is Reason.CONTENT_REFUSED


def test_a_missing_program_is_told(tmp_path: Path, bench: Workbench) -> None:
    task = bench.task(draw_pdf(tmp_path / "a.pdf", ["a"]), "pdfa-2b")
    assert bench.refusal(TextRecognition(program="no-such-program"), task) is Reason.TOOL_MISSING
