"""Which gates a product must pass: all of them, each of which knows what it has nothing to say about."""

from __future__ import annotations

from pathlib import Path

from noarkit.copies.gates.characters import CharactersGate
from noarkit.copies.gates.contents import ContentsGate
from noarkit.copies.gates.formats import FormatGate
from noarkit.copies.gates.latest import LatestAnswer
from noarkit.copies.gates.letters import LettersGate
from noarkit.copies.gates.marks import MarksGate
from noarkit.copies.gates.pages import PagesGate
from noarkit.copies.gates.pictures import COMPARED_PICTURES, PageLookGate, PixelsGate
from noarkit.copies.gates.tables import TablesGate
from noarkit.copies.gates.texts import TextGate
from noarkit.copies.gates.validity import PdfaGate, SecondOpinionGate
from noarkit.copies.gates.views import ReducedGate, ViewGate
from noarkit.copies.gates.words import OFFICE_TYPES, WordsGate, WordsOf, has_words
from noarkit.copies.identity import Identifier
from noarkit.copies.port import Failure, Finding, Gate, Product, Task
from noarkit.documents.pdf_marks import read_marks
from noarkit.documents.pdf_pages import PdfUnreadable, TextsOf, read_texts
from noarkit.documents.poppler import Poppler, page_count


def all_gates(
    identifier: Identifier, words_of: WordsOf, *, verapdf: str | None = None, poppler: Poppler | None = None
) -> tuple[Gate, ...]:
    """The gates in their order: what costs little and refuses much comes first. `poppler` is the second reader."""
    # three gates read the same words and the same pages
    words, texts = LatestAnswer(words_of), LatestAnswer(read_texts)
    read = poppler.text if poppler else lambda path: _text_of_pages(texts, path)
    originals, whole_text, marks = LatestAnswer(read), LatestAnswer(read), LatestAnswer(read_marks)
    gates: tuple[Gate, ...] = (
        FormatGate(identifier),
        PdfaGate(),
        PagesGate(texts, (lambda path: page_count(originals(path))) if poppler else None),
        LettersGate(originals, whole_text, marks),
        WordsGate(words, texts),
        CharactersGate(words, texts),
        ContentsGate(words, texts),
        MarksGate(whole_text, marks),
        PageLookGate(poppler.pictures if poppler else None),
        PixelsGate(),
        ViewGate(),
        ReducedGate(),
        TablesGate(),
        TextGate(),
    )
    return (*gates, SecondOpinionGate(verapdf)) if verapdf else gates


def _text_of_pages(texts_of: TextsOf, path: Path) -> str | None:
    try:
        return "\n".join(texts_of(path))
    except PdfUnreadable:
        return None


def has_judged(gate: str, target: str, *, of_pdf: bool, of_picture: bool = False) -> bool:
    """True where a gate looks at what is made; of everything else it lets pass without a word."""
    if gate == "contents":
        return not of_pdf and (target.startswith("pdf") or target in OFFICE_TYPES)
    if gate == "words":
        return has_words(target, of_pdf=of_pdf)
    if gate in ("look", "letters", "marks", "pages", "characters"):
        return target.startswith("pdf") and (of_pdf or gate in ("pages", "characters"))
    if gate == "view":
        return of_picture and target in ("jpeg", "pdf")
    if gate == "reduced":
        return of_pdf and target == "pdf"
    if gate in ("pdfa", "second-opinion"):
        return target.startswith("pdfa-")
    return {"pixels": target in COMPARED_PICTURES, "text": target == "utf-8", "tables": target == "siard"}.get(
        gate, True
    )


def pass_gates(gates: tuple[Gate, ...], task: Task, product: Product) -> tuple[Finding, ...] | Failure:
    """What the gates say of a product together; the first that refuses it decides."""
    findings: list[Finding] = []
    for gate in gates:
        result = gate.check(task, product)
        if isinstance(result, Failure):
            return Failure(result.reason, {**result.data, "gate": gate.name})
        findings.extend(result)
    return tuple(findings)
