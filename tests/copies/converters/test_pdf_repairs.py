"""An ordinary PDF is repaired into PDF/A: its pages stay as they are, what stands in the way is mended and told."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pikepdf
import pytest

from noarkit.copies.converters.pdf import PDF_DECLARE, PDF_REPAIR
from noarkit.copies.converters.pdf_repairs.colours import print_profile
from noarkit.copies.gates.validity import SecondOpinionGate
from noarkit.copies.port import Failure, Finding, Product
from noarkit.copies.reasons import Reason
from noarkit.documents.pdf_marks import PdfMarks, read_marks
from noarkit.documents.poppler import Poppler
from tests.copies.converters.library_tasks import Workbench, text_by_poppler
from tests.copies.corpus import pdf, pdf_classes

pytestmark = [
    pytest.mark.copies_tools,
    pytest.mark.skipif(not pdf_classes.SANS.is_file(), reason="no Liberation here: scripts/copies-tools"),
]


def written(folder: Path, content: bytes, name: str = "document.pdf") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def repaired(bench: Workbench, folder: Path, content: bytes) -> tuple[Product, set[str]]:
    """A copy that every gate let pass, with the codes of all that was found."""
    product, found = bench.copy(PDF_REPAIR, bench.task(written(folder, content), "pdfa-2b"))
    return product, {finding.code for finding in (*product.findings, *found)}


@pytest.mark.parametrize("kind", sorted(set(pdf_classes.CHANGES) - {"print-colours"}))
def test_each_class_becomes_pdfa(tmp_path: Path, bench: Workbench, kind: str) -> None:
    source = written(tmp_path, pdf_classes.plain(*pdf_classes.CHANGES[kind]), f"{kind}.pdf")
    assert isinstance(bench.make(PDF_DECLARE, bench.task(source, "pdfa-2b")), Failure)
    shutil.rmtree(tmp_path / "tasks")
    product, _ = bench.copy(PDF_REPAIR, bench.task(source, "pdfa-2b"))
    text = text_by_poppler(product.path)
    assert text is None or pdf_classes.TEXT.splitlines()[0] in text
    if verapdf := shutil.which("verapdf"):  # a foreign judge, where a machine has one
        verdict = SecondOpinionGate(verapdf).check(bench.task(product.path, "pdfa-2b"), product)
        assert verdict == (Finding("second-opinion-agrees", {}),)


@pytest.mark.parametrize("base", pdf_classes.BASE_FONTS)
def test_a_font_that_is_only_named_is_embedded(tmp_path: Path, bench: Workbench, base: str) -> None:
    product, codes = repaired(bench, tmp_path, pdf_classes.in_font(base))
    assert "fonts-embedded" in codes
    with pikepdf.open(product.path) as document:
        (font,) = (item for item in document.objects if isinstance(item, pikepdf.Dictionary) and "/BaseFont" in item)
        assert "/FontFile3" in font.FontDescriptor


def test_no_line_moves_when_another_font_stands_in(tmp_path: Path, bench: Workbench) -> None:
    product, codes = repaired(bench, tmp_path, pdf_classes.in_font("BookAntiqua", "TrueType", flags=34, widths=520))
    assert "fonts" in codes
    with pikepdf.open(product.path) as document:
        widths = {int(width) for width in document.pages[0].Resources.Font.F1.Widths}
    assert widths == {520}


def test_a_program_has_the_widths_of_its_document(tmp_path: Path, bench: Workbench) -> None:
    source = written(tmp_path, pdf_classes.with_other_widths())
    product, _ = bench.copy(PDF_REPAIR, bench.task(source, "pdfa-2b"))
    assert (text_by_poppler(product.path) or "Brev").strip() == "Brev"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (pdf_classes.in_font("Wingdings-Regular", "TrueType", flags=4, widths=700), "font-without-twin"),
        (pdf_classes.in_cjk(), "font-without-program"),
        (pdf_classes.plain(pdf_classes.with_dynamic_form), "dynamic-form"),
    ],
    ids=["wingdings", "cjk", "dynamic form"],
)
def test_what_nothing_can_stand_for_is_refused(tmp_path: Path, bench: Workbench, content: bytes, why: str) -> None:
    outcome = bench.make(PDF_REPAIR, bench.task(written(tmp_path, content), "pdfa-2b"))
    assert isinstance(outcome, Failure) and outcome.reason is Reason.CONTENT_REFUSED
    assert outcome.data["why"] == why


@pytest.mark.parametrize(
    ("change", "reason"),
    [(pdf.signed, Reason.SIGNED), (pdf.with_attachment, Reason.ATTACHMENTS)],
    ids=["signed", "files"],
)
def test_what_a_copy_would_lose_is_not_repaired(tmp_path: Path, bench: Workbench, change: Any, reason: Reason) -> None:
    source = written(tmp_path, pdf_classes.plain(change))
    assert bench.refusal(PDF_REPAIR, bench.task(source, "pdfa-2b")) is reason


def test_values_of_a_form_stand_on_the_page(tmp_path: Path, bench: Workbench) -> None:
    source = written(tmp_path, pdf_classes.plain(pdf_classes.with_fields))
    product, _ = bench.copy(PDF_REPAIR, bench.task(source, "pdfa-2b"))
    text = text_by_poppler(product.path)
    for value in ("Kari Nordmann", "Bergen", "Guovdageaidnu čđŋšŧž"):
        assert text is None or value in text
    with pikepdf.open(product.path) as document:
        assert "/AcroForm" not in document.Root


def test_links_bookmarks_and_labels_stay(tmp_path: Path, bench: Workbench) -> None:
    source = written(tmp_path, pdf_classes.plain(pdf_classes.with_navigation))
    product, _ = bench.copy(PDF_REPAIR, bench.task(source, "pdfa-2b"))
    assert read_marks(source) == read_marks(product.path) == PdfMarks(bookmarks=2, links=1, page_labels=1)


def test_nothing_runs_in_a_copy(tmp_path: Path, bench: Workbench) -> None:
    product, _ = repaired(bench, tmp_path, pdf_classes.plain(pdf_classes.with_actions))
    with pikepdf.open(product.path) as document:
        kinds = {str(item.S) for item in document.objects if isinstance(item, pikepdf.Dictionary) and "/S" in item}
        assert "/JavaScript" not in kinds and "/Launch" not in kinds
        assert "/OpenAction" not in document.Root and "/AA" not in document.Root
    assert read_marks(product.path).links == 2  # the link to a page of the web still works


def test_what_is_taken_out_is_told(tmp_path: Path, bench: Workbench) -> None:
    product, _ = repaired(bench, tmp_path, pdf_classes.plain(pdf_classes.with_film))
    assert Finding("annotations-removed", {"count": 2, "kinds": ["Movie", "Square"]}) in product.findings


def test_hidden_layers_stay_hidden(tmp_path: Path, bench: Workbench) -> None:
    product, _ = repaired(bench, tmp_path, pdf_classes.plain(pdf.with_layers))
    with pikepdf.open(product.path) as document:
        assert len(document.Root.OCProperties.D.OFF) == 1 and str(document.Root.OCProperties.D.Name)


@pytest.mark.parametrize(
    "damage",
    [pdf_classes.with_wrong_table, pdf_classes.behind_junk, pdf_classes.without_end],
    ids=["wrong table", "junk before it", "no last line"],
)
def test_a_broken_structure_is_repaired_and_told(tmp_path: Path, bench: Workbench, damage: Any) -> None:
    source = written(tmp_path, damage(pdf_classes.plain(pages=2)))
    task = bench.task(source, "pdfa-2b")
    assert task.identity.media_type == "application/pdf" and task.identity.damage in ("", "damaged")
    product, _ = bench.copy(PDF_REPAIR, task)
    with pikepdf.open(product.path, attempt_recovery=False) as document:
        assert len(document.pages) == 2 and not document.get_warnings()
    if damage is pdf_classes.with_wrong_table:
        assert "repaired" in {finding.code for finding in product.findings}


def test_a_page_whose_content_is_gone_is_damaged(tmp_path: Path, bench: Workbench) -> None:
    content = pdf_classes.plain(pages=2)
    with pikepdf.open(written(tmp_path, content)) as document:
        lost = document.pages[1].obj["/Contents"].objgen[0]
    broken = content.replace(b"\n%d 0 obj" % lost, b"\n%d 0 xxx" % lost, 1)
    assert broken != content
    source = written(tmp_path, broken, "broken.pdf")
    assert bench.refusal(PDF_REPAIR, bench.task(source, "pdfa-2b")) is Reason.DAMAGED


@pytest.mark.skipif(print_profile() is None, reason="no profile for colours of print here")
def test_colours_of_print_are_read_by_a_profile_that_is_told(tmp_path: Path, bench: Workbench) -> None:
    product, codes = repaired(bench, tmp_path, pdf_classes.plain(pdf_classes.with_print_colours))
    assert "colours-assumed" in codes
    with pikepdf.open(product.path) as document:
        assert "/DefaultCMYK" in document.pages[0].Resources.ColorSpace


def test_without_a_profile_colours_of_print_are_refused(
    tmp_path: Path, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noarkit.copies.converters.pdf_repairs.colours.print_profile", lambda: None)
    source = written(tmp_path, pdf_classes.plain(pdf_classes.with_print_colours))
    outcome = bench.make(PDF_REPAIR, bench.task(source, "pdfa-2b"))
    assert isinstance(outcome, Failure) and outcome.data["why"] == "no-print-profile"


def test_the_content_of_a_page_is_never_rewritten(tmp_path: Path, bench: Workbench) -> None:
    source = written(tmp_path, pdf_classes.plain(pdf_classes.with_notes))
    product, _ = bench.copy(PDF_REPAIR, bench.task(source, "pdfa-2b"))
    with pikepdf.open(source) as before, pikepdf.open(product.path) as after:
        assert before.pages[0].Contents.read_bytes() == after.pages[0].Contents.read_bytes()


def test_the_second_reader_counts_and_draws(tmp_path: Path) -> None:
    poppler = Poppler()
    if not poppler.is_there:
        pytest.skip("no poppler here: scripts/copies-tools")
    path = written(tmp_path, pdf_classes.plain(pages=3))
    text = poppler.text(path)
    assert text is not None and text.count("\f") == 3
    pictures = poppler.pictures(path, 2, 400)
    assert [max(picture.size) for picture in pictures] == [400, 400]
    assert poppler.text(written(tmp_path, b"%PDF-1.4\n", "none.pdf")) is None
    assert poppler.pictures(tmp_path / "none.pdf", 2, 400) == []
