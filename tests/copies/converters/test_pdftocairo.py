"""Pages that no repair can make valid are drawn anew from the original, and what is lost by that is counted."""

from __future__ import annotations

import shutil
from pathlib import Path

import pikepdf
import pytest

from noarkit.copies.converters.pdf import PDF_REPAIR
from noarkit.copies.converters.pdftocairo import PdfToCairo
from noarkit.copies.gates.registry import pass_gates
from noarkit.copies.port import Failure, Outcome, Product
from noarkit.copies.reasons import Reason
from noarkit.safe.sandbox import Sandbox
from tests.copies.converters.library_tasks import Workbench
from tests.copies.corpus import pdf, pdf_classes

pytestmark = [
    pytest.mark.copies_tools,
    pytest.mark.skipif(shutil.which("pdftocairo") is None, reason="no poppler here: scripts/copies-tools"),
]


def drawn(bench: Workbench, folder: Path, content: bytes) -> tuple[Product, dict[str, object]]:
    """A copy that every gate let pass, with the count of each finding."""
    source = folder / "document.pdf"
    source.write_bytes(content)
    product, found = bench.copy(PdfToCairo(), bench.task(source, "pdfa-2b"))
    return product, {finding.code: finding.data.get("count") for finding in (*product.findings, *found)}


def test_a_page_with_broken_content_is_drawn_from_the_original(tmp_path: Path, bench: Workbench) -> None:
    content = pdf_classes.with_broken_page(pdf_classes.plain())
    source = tmp_path / "broken.pdf"
    source.write_bytes(content)
    task = bench.task(source, "pdfa-2b")
    outcome = bench.make(PDF_REPAIR, task)
    assert isinstance(outcome, Product) and isinstance(pass_gates(bench.gates(), task, outcome), Failure)
    _, found = drawn(bench, tmp_path, content)
    assert "drawn-anew" in found and found["content-damaged"]


def test_what_it_loses_is_counted(tmp_path: Path, bench: Workbench) -> None:
    product, found = drawn(bench, tmp_path, pdf_classes.plain(pdf_classes.with_navigation))
    assert (found["bookmarks-dropped"], found["page-labels-dropped"]) == (2, 1)
    assert product.tool == "pdftocairo" and product.version


def test_title_and_author_go_along(tmp_path: Path, bench: Workbench) -> None:
    def name(document: pikepdf.Pdf) -> None:
        document.docinfo["/Title"], document.docinfo["/Author"] = "Vedtak i sak 12", "Åse Øvre"

    product, _ = drawn(bench, tmp_path, pdf_classes.plain(name))
    with pikepdf.open(product.path) as document:
        assert (str(document.docinfo.Title), str(document.docinfo.Author)) == ("Vedtak i sak 12", "Åse Øvre")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (pdf_classes.plain(pdf.signed), Reason.SIGNED),
        (pdf_classes.plain(pdf.with_attachment), Reason.ATTACHMENTS),
        (pdf_classes.plain(pdf_classes.with_dynamic_form), Reason.CONTENT_REFUSED),
        (pdf.pdf(["x"], lock="hemmelig"), Reason.PASSWORD),
        (b"%PDF-1.4\n%%EOF\n", Reason.DAMAGED),
    ],
    ids=["signed", "files", "dynamic form", "password", "no pages"],
)
def test_what_it_must_not_have_it_does_not_get(
    tmp_path: Path, bench: Workbench, content: bytes, reason: Reason
) -> None:
    source = tmp_path / "document.pdf"
    source.write_bytes(content)
    assert bench.refusal(PdfToCairo(), bench.task(source, "pdfa-2b")) is reason


def fake(folder: Path, deed: str) -> PdfToCairo:
    """A stand-in that says a version and then does something else than it should."""
    program = folder / "bin" / "pdftocairo"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\n[ "$1" = -v ] && echo "pdftocairo version 22.12.0" >&2 && exit 0\n{deed}\n')
    program.chmod(0o755)
    return PdfToCairo(Sandbox(), str(program))


@pytest.mark.parametrize(
    ("deed", "reason"),
    [("exit 0", Reason.DAMAGED), ('echo x > "$4"', Reason.NO_RESULT), ("kill -SEGV $$", Reason.CRASHED)],
    ids=["nothing", "no PDF", "crash"],
)
def test_a_run_with_a_fault_gives_no_copy(tmp_path: Path, bench: Workbench, deed: str, reason: Reason) -> None:
    source = tmp_path / "document.pdf"
    source.write_bytes(pdf_classes.plain())
    outcome: Outcome = bench.make(fake(tmp_path, deed), bench.task(source, "pdfa-2b"))
    assert isinstance(outcome, Failure) and outcome.reason is reason


def test_where_there_is_none_there_is_a_reason(tmp_path: Path, bench: Workbench) -> None:
    source = tmp_path / "document.pdf"
    source.write_bytes(pdf_classes.plain())
    converter = PdfToCairo(program=str(tmp_path / "pdftocairo"))
    assert converter.version() is None
    assert bench.refusal(converter, bench.task(source, "pdfa-2b")) is Reason.TOOL_MISSING
