"""A PDF made of a PDF is held against the original: each gate stops a fault that no other one sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, String

from noarkit.copies.gates.registry import all_gates, pass_gates
from noarkit.copies.identity import Identifier
from noarkit.copies.inspection import words_of
from noarkit.copies.port import Failure, Identity, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.documents.poppler import Poppler
from noarkit.safe.pdfa import judge_pdfa
from noarkit.safe.sandbox import Limits
from tests.copies.corpus import pdf, pdf_classes

PDF = Identity("fmt/18", "application/pdf", "pdf", "signature")
LONG = "\n".join("Søknad om dispensasjon fra planen for Ås kommune, gnr. 12 bnr. 7" for _ in range(20))
PAGES = [""] * 9
Change = Callable[[pikepdf.Pdf], None]


@pytest.fixture(scope="module")
def identifier() -> Iterator[Identifier]:
    with Identifier() as identifier:
        yield identifier


def replaced(old: bytes, new: bytes) -> Change:
    """The content of the first page with one thing changed."""

    def change(document: pikepdf.Pdf) -> None:
        content = document.pages[0].Contents.read_bytes()
        assert old in content
        document.pages[0].Contents = document.make_stream(content.replace(old, new))

    return change


def without_page(document: pikepdf.Pdf) -> None:
    del document.pages[-1]


def with_unseen(text: bytes, *differences: object) -> Change:
    """Text that is read and not seen, as behind a scan."""

    def change(document: pikepdf.Pdf) -> None:
        fonts = document.pages[0].obj.Resources.Font
        encoding = Dictionary(BaseEncoding=Name.WinAnsiEncoding, Differences=Array(differences))
        fonts.F2 = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Courier, Encoding=encoding)
        document.pages[0].contents_add(b"BT 3 Tr /F2 9 Tf 50 60 Td (" + text + b") Tj ET")

    return change


def nothing(document: pikepdf.Pdf) -> None:
    del document


def with_block(document: pikepdf.Pdf) -> None:
    document.pages[0].contents_add(b"0 0 0 rg 300 100 200 60 re f")


def with_value(document: pikepdf.Pdf) -> None:
    pdf_classes.field(document, "Tx", 500, V=String("K"))


UNSEEN = "Vedtaket er ikke endelig og kan påklages".encode("cp1252")
GATES: Mapping[str, tuple[Change, Change, Reason]] = {
    "letters": (with_unseen(UNSEEN), nothing, Reason.TEXT_MISSING),
    "letters, replaced": (
        with_unseen(b"VedtakX"),
        with_unseen(b"VedtakX", ord("X"), Name("/uniFFFD")),
        Reason.TEXT_MISSING,
    ),
    "letters, more": (nothing, with_unseen(UNSEEN * 2), Reason.TEXT_MISSING),
    "pages": (nothing, without_page, Reason.PAGES_DIFFER),
    "look": (nothing, with_block, Reason.IMAGE_DIFFERS),
    "marks": (with_value, nothing, Reason.TEXT_MISSING),
}
"""Of each gate: what the original has, what the copy has, and why it is none."""


def _judged(
    identifier: Identifier, folder: Path, before: Change, after: Change, without: str = ""
) -> tuple[Reason | None, str]:
    """What the gates for two PDFs say, all or all but one."""
    source, copy = folder / "source.pdf", folder / "copy.pdf"
    source.write_bytes(pdf.pdf([LONG, *PAGES], before))
    copy.write_bytes(pdf.pdf([LONG, *PAGES], after))
    task = Task(source, "source.pdf", PDF, Rule("r", (), "derive"), "pdfa-2b", folder, Limits(30, 120))
    gates = all_gates(identifier, words_of, poppler=Poppler())
    chosen = tuple(gate for gate in gates if gate.name not in ("format", "pdfa", "characters", without))
    verdict = pass_gates(chosen, task, Product(copy, "tool", "1"))
    return (verdict.reason, str(verdict.data["gate"])) if isinstance(verdict, Failure) else (None, "")


@pytest.mark.copies_tools
@pytest.mark.skipif(not Poppler().is_there, reason="no poppler here: scripts/copies-tools")
@pytest.mark.parametrize("case", GATES)
def test_each_gate_alone_stops_its_fault(identifier: Identifier, tmp_path: Path, case: str) -> None:
    before, after, reason = GATES[case]
    name = case.partition(",")[0]
    assert _judged(identifier, tmp_path, before, after) == (reason, name)
    assert _judged(identifier, tmp_path, before, after, without=name) == (None, "")  # it slips through
    assert _judged(identifier, tmp_path, before, before) == (None, "")  # its good twin


@pytest.mark.copies_tools
@pytest.mark.skipif(not Poppler().is_there, reason="no poppler here: scripts/copies-tools")
def test_what_two_readers_of_a_page_may_differ_by_is_no_fault(identifier: Identifier, tmp_path: Path) -> None:
    assert _judged(identifier, tmp_path, nothing, replaced(b"dispensasjon fra", b"dispensasjonfra"))[0] is None


def test_layers_are_judged_by_their_four_rules(tmp_path: Path) -> None:
    from pikepdf import pdfa

    from noarkit.copies.converters.pdf_repairs.table import repair_pdf

    path = tmp_path / "layers.pdf"
    path.write_bytes(pdf_classes.plain(pdf.with_layers))
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        repair_pdf(document)
        pdfa.prepare(document, "2b")
        document.save(path, **pdfa.resolve_save_kwargs("2b"))
    assert judge_pdfa(path, "2b").passed
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        del document.Root.OCProperties.D["/Name"]
        document.save(path, **pdfa.resolve_save_kwargs("2b"))
    verdict = judge_pdfa(path, "2b")
    assert (verdict.state, verdict.rules) == ("fail", ("6.9",))
