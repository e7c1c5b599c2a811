"""Ghostscript is given only what it cannot spoil, and half a document never becomes a copy."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from noarkit.copies.converters.ghostscript import Ghostscript, PdfFacts, pdf_facts, refusal
from noarkit.copies.port import Failure, Finding, Outcome, Product, Rule
from noarkit.copies.reasons import Reason
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
FACTS = PdfFacts(pages=1, has_text=False, is_signed=False, has_attachments=False, links=0)
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


def write(pdf: Pdf) -> None:
    font = pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica)
    pdf.pages[0].Resources.Font = pikepdf.Dictionary(F1=pdf.make_indirect(font))
    pdf.pages[0].contents_add(b"BT /F1 12 Tf 9 9 Td (Brev) Tj ET")


@pytest.mark.copies_tools
@tools[1]
def test_a_scan_without_a_profile_becomes_pdfa(tmp_path: Path) -> None:
    outcome = convert(scan(tmp_path / "a.pdf", link))
    assert isinstance(outcome, Product), outcome
    from pikepdf import pdfa

    with pikepdf.open(outcome.path) as pdf:
        assert pdfa.check(pdf, "2b").verdict == "pass"
        assert len(pdf.pages) == 2
    assert outcome.findings in ((), (Finding("links-dropped", {"count": 1}),))
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
def test_text_is_not_given_to_versions_that_spoil_it(tmp_path: Path) -> None:
    source = scan(tmp_path / "a.pdf", write)
    old, new = fake(tmp_path, 'cp "$source" "$out"', "10.02.1"), None
    outcome = convert(source, old)
    assert outcome == Failure(Reason.TOOL_TOO_OLD, {"tool": "Ghostscript 10.03", "version": "10.02.1"})
    shutil.rmtree(tmp_path / "tasks")
    new = fake(tmp_path, 'cp "$source" "$out"', "10.03.0")
    assert isinstance(convert(source, new), Product)
    assert new.version() == "Ghostscript 10.03.0"


@pytest.mark.parametrize("number", ["9.56.1", "10.00.0", "10.02.1", "10.03.0", "10.10", "11.0"])
def test_versions_are_compared_as_numbers(number: str) -> None:
    facts = PdfFacts(pages=1, has_text=True, is_signed=False, has_attachments=False, links=0)
    assert (refusal(facts, number) is None) == (number in ("10.03.0", "10.10", "11.0"))
    assert refusal(FACTS, number) is None


def test_facts_are_those_of_the_document(tmp_path: Path) -> None:
    assert pdf_facts(scan(tmp_path / "a.pdf")) == PdfFacts(2, False, False, False, 0)

    def everything(pdf: Pdf) -> None:
        for change in (sign, attach, link, write):
            change(pdf)

    assert pdf_facts(scan(tmp_path / "b.pdf", everything)) == PdfFacts(2, True, True, True, 1)


def test_where_there_is_none_there_is_a_reason(tmp_path: Path) -> None:
    converter = Ghostscript(program=str(tmp_path / "gs"))
    assert converter.version() is None
    outcome = convert(scan(tmp_path / "a.pdf"), converter)
    assert isinstance(outcome, Failure) and outcome.reason is Reason.TOOL_MISSING
    assert converter.options_digest(Rule("a", (), "derive"), "pdfa-2b") != converter.options_digest(
        Rule("a", (), "derive"), "pdfa-1b"
    )
