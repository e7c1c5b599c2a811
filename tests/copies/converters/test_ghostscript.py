"""Ghostscript is given only what it cannot spoil, and half a document never becomes a copy."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from noarkit.copies.converters.ghostscript import Ghostscript
from noarkit.copies.converters.pdf_facts import PdfFacts, pdf_facts
from noarkit.copies.gates.letters import LettersGate
from noarkit.copies.port import Failure, Identity, Outcome, Product, Rule
from noarkit.copies.reasons import Reason
from noarkit.documents.poppler import Poppler
from noarkit.safe.sandbox import Limits, Sandbox
from tests.copies.converters.tasks import make_task
from tests.waiting import PATIENCE_S

pikepdf = pytest.importorskip("pikepdf", reason="the extra [copies] is not installed")
image = pytest.importorskip("PIL.Image", reason="the extra [copies] is not installed")
img2pdf = pytest.importorskip("img2pdf", reason="the extra [copies] is not installed")

tools = [
    pytest.mark.copies_tools,
    pytest.mark.skipif(shutil.which("gs") is None, reason="no Ghostscript here: scripts/copies-tools"),
]
Pdf = Any  # a document of pikepdf, which is imported only where it is there
Change = Callable[[Pdf], None]


def scan(path: Path, change: Change = lambda _: None, pages: int = 2, **saving: Any) -> Path:  # as pikepdf takes it
    """A PDF of pictures in CMYK without a profile, which no PDF/A may hold."""
    picture = path.with_suffix(".tif")
    image.new("CMYK", (120, 80), (10, 200, 30, 0)).save(picture)
    path.write_bytes(img2pdf.convert([str(picture)] * pages))
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        change(pdf)
        pdf.save(path, **saving)
    return path


def convert(path: Path, converter: Ghostscript | None = None, limits: Limits | None = None) -> Outcome:
    task = make_task(path, "fmt/18", limits=limits)
    ((answered, outcome),) = (converter or Ghostscript()).convert([task])
    assert answered is task
    if isinstance(outcome, Failure):
        assert list(task.folder.iterdir()) == []
    return outcome


def sign(pdf: Pdf) -> None:
    value = pikepdf.Dictionary(Type=pikepdf.Name.Sig, ByteRange=[0, 1, 2, 3], Contents=b"\0")
    pdf.Root.AcroForm = pikepdf.Dictionary(Fields=[pdf.make_indirect(pikepdf.Dictionary(V=pdf.make_indirect(value)))])


def attach(pdf: Pdf) -> None:
    pdf.attachments["notat.txt"] = b"notat"


def link(pdf: Pdf) -> None:
    action = pikepdf.Dictionary(S=pikepdf.Name.URI, URI="https://example.org/")
    note = pikepdf.Dictionary(Type=pikepdf.Name.Annot, Subtype=pikepdf.Name.Link, Rect=[0, 0, 9, 9], A=action)
    pdf.pages[0].Annots = pdf.make_indirect(pikepdf.Array([pdf.make_indirect(note)]))


def write(pdf: Pdf, text: bytes = b"(Brev)") -> None:
    font = pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica)
    pdf.pages[0].Resources.Font = pikepdf.Dictionary(F1=pdf.make_indirect(font))
    pdf.pages[0].contents_add(b"BT /F1 12 Tf 9 9 Td " + text + b" Tj ET")


@pytest.mark.copies_tools
@tools[1]
def test_a_scan_without_a_profile_becomes_pdfa(tmp_path: Path) -> None:
    outcome = convert(scan(tmp_path / "a.pdf", link))
    assert isinstance(outcome, Product), outcome
    from pikepdf import pdfa

    with pikepdf.open(outcome.path) as pdf:
        assert pdfa.check(pdf, "2b").verdict == "pass"
        assert len(pdf.pages) == 2
    assert [path.name for path in outcome.path.parent.iterdir()] == ["copy.pdf"]
    assert outcome.cpu_s > 0 and outcome.peak_bytes > 0


@pytest.mark.copies_tools
@tools[1]
@pytest.mark.parametrize(
    ("change", "reason"), [(sign, Reason.SIGNED), (attach, Reason.ATTACHMENTS)], ids=["signed", "attachments"]
)
def test_what_it_would_drop_is_refused(tmp_path: Path, change: Change, reason: Reason) -> None:
    outcome = convert(scan(tmp_path / "a.pdf", change))
    assert isinstance(outcome, Failure) and outcome.reason is reason


@pytest.mark.copies_tools
@tools[1]
def test_passwords_and_broken_files_have_their_reasons(tmp_path: Path) -> None:
    locked = scan(tmp_path / "locked.pdf", encryption=pikepdf.Encryption(user="x", owner="y"))
    assert convert(locked) == Failure(Reason.PASSWORD)
    for name, kept in (("cut", 0.6), ("empty", 0.0)):
        path = scan(tmp_path / f"{name}.pdf")
        path.write_bytes(path.read_bytes()[: int(path.stat().st_size * kept)])
        outcome = convert(path)
        assert isinstance(outcome, Failure) and outcome.reason is Reason.DAMAGED, name


def fake(tmp_path: Path, deed: str, number: str = "10.03.1") -> Ghostscript:
    """A stand-in that says a version and then does something else than it should."""
    program = tmp_path / "gs"
    program.write_text(
        f"""#!/bin/sh
[ "$1" = --version ] && echo {number} && exit 0
for word in "$@"; do
  case "$word" in -sOutputFile=*) out=${{word#-sOutputFile=}} ;; *.pdf) source=$word ;; esac
done
{deed}
"""
    )
    program.chmod(0o755)
    return Ghostscript(Sandbox(), str(program))


isolated = pytest.mark.skipif(not Sandbox().isolated, reason="bubblewrap is missing or refused: scripts/copies-tools")


@pytest.mark.copies_tools
@isolated
@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ('cp "$source" "$out"; exit 1', Reason.DAMAGED),  # half a document, and a fault
        ("exit 0", Reason.NO_RESULT),
        ('head -c 99 "$source" > "$out"', Reason.NO_RESULT),
        ("while :; do :; done", Reason.TIMED_OUT),
        ("kill -SEGV $$", Reason.CRASHED),
    ],
)
def test_a_run_with_a_fault_gives_no_copy(tmp_path: Path, deed: str, reason: Reason) -> None:
    outcome = convert(scan(tmp_path / "a.pdf"), fake(tmp_path, deed), limits=Limits(cpu_s=0.4, wall_s=PATIENCE_S))
    assert isinstance(outcome, Failure) and outcome.reason is reason


@pytest.mark.copies_tools
@isolated
def test_a_result_with_fewer_pages_is_no_copy(tmp_path: Path) -> None:
    one = scan(tmp_path / "one.pdf", pages=1)
    (tmp_path / "lib").mkdir()
    converter = fake(tmp_path, f'cp "{one}" "$out"')  # its own folder can be read
    assert convert(scan(tmp_path / "a.pdf"), converter) == Failure(Reason.PAGES_DIFFER, {"source": 2, "copy": 1})


@pytest.mark.copies_tools
@isolated
@pytest.mark.parametrize("number", ["10.00.0", "10.05.1"])
def test_whether_it_spoiled_text_the_letters_say_and_no_number(tmp_path: Path, number: str) -> None:
    source = scan(tmp_path / "a.pdf", write)
    spoiled = scan(tmp_path / "b.pdf", lambda pdf: write(pdf, b"(Br)"))
    task = replace(make_task(source, "fmt/18"), identity=Identity("fmt/18", "application/pdf", "pdf", "signature"))
    for made, reason in ((source, None), (spoiled, Reason.TEXT_MISSING)):
        shutil.rmtree(tmp_path / "tasks")
        outcome = convert(source, fake(tmp_path, f'cp "{made}" "$out"', number))
        assert isinstance(outcome, Product) and outcome.version == number
        verdict = LettersGate(Poppler().text, Poppler().text).check(task, outcome)
        assert (verdict.reason if isinstance(verdict, Failure) else None) is reason


def test_facts_are_those_of_the_document(tmp_path: Path) -> None:
    assert pdf_facts(scan(tmp_path / "a.pdf")) == PdfFacts(2, False, False)

    def everything(pdf: Pdf) -> None:
        for change in (sign, attach, link, write):
            change(pdf)

    assert pdf_facts(scan(tmp_path / "b.pdf", everything)) == PdfFacts(2, True, True)


def test_where_there_is_none_there_is_a_reason(tmp_path: Path) -> None:
    converter = Ghostscript(program=str(tmp_path / "gs"))
    assert converter.version() is None
    outcome = convert(scan(tmp_path / "a.pdf"), converter)
    assert isinstance(outcome, Failure) and outcome.reason is Reason.TOOL_MISSING
    assert converter.options_digest(Rule("a", (), "derive"), "pdfa-2b") != converter.options_digest(
        Rule("a", (), "derive"), "pdfa-1b"
    )
