"""Are the words of the original in the copy, and not many others?

The words of the original are read from its own bytes, by nobody who draws pages. What is not meant to be
seen (comments, hidden text, deleted text) is no part of them: the inspection tells of that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from noarkit.copies.gates.pages import is_pdf
from noarkit.copies.port import Failure, Finding, Identity, Product, Task
from noarkit.copies.reasons import Reason
from noarkit.copies.tokens import tokens
from noarkit.documents.pdf_pages import PdfUnreadable, TextsOf, read_texts

MOST_MISSING = 0.005
"""The share of the original's words that may be missing: one in two hundred. Below two hundred words, none."""
MOST_EXTRA = 0.05
"""The share of words that stand nowhere in the original, and nobody need be told of. What is printed again (a header,
a slide on its page of notes) is no other word, nor is a number that a page or list bears."""

OFFICE_TYPES: Mapping[str, str] = {
    "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odp": "application/vnd.oasis.opendocument.presentation",
}
"""Targets that have their words in XML, not on pages."""
WORDS_NOT_COMPARED = "words-not-compared"
"""The finding that the words of the original, or those of the copy, cannot be read."""
WordsOf = Callable[[Path, Identity], Counter[str] | None]


@dataclass(frozen=True, slots=True)
class WordsGate:
    """Each word of the original is in the copy as often as there."""

    words_of: WordsOf
    texts_of: TextsOf = read_texts
    name: str = "words"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """Fails where words are missing; tells of many that the original does not have."""
        if not has_words(task.target, of_pdf=is_pdf(task)):
            return ()
        original = self.words_of(task.source, task.identity)
        copy = self._words_of_copy(task, product)
        if isinstance(copy, Failure):
            return copy
        if original is None or copy is None:
            return (Finding(WORDS_NOT_COMPARED, {}),)
        total = original.total()
        missing = _missing(original, copy)
        if missing > MOST_MISSING * total:
            percent = round(100 * missing / total, 1)
            return Failure(Reason.TEXT_MISSING, {"percent": percent, "missing": missing, "words": total})
        extra = sum(times for word, times in copy.words.items() if word not in original and not word.isdecimal())
        findings = [Finding("counted", {"kind": "words", "original": total, "copy": total - missing})] if total else []
        if missing:
            findings.append(Finding("words-missing", {"missing": missing, "words": total}))
        if extra > max(MOST_EXTRA * total, 10):
            findings.append(Finding("extra-words", {"extra": extra, "words": total}))
        return findings

    def _words_of_copy(self, task: Task, product: Product) -> CopyWords | Failure | None:
        media_type = OFFICE_TYPES.get(task.target)
        if media_type is not None:
            words = self.words_of(product.path, Identity(None, media_type, task.target, "container"))
            return None if words is None else CopyWords(words, "".join(words.elements()))
        try:
            return _words_on(self.texts_of(product.path))
        except PdfUnreadable:
            return Failure(Reason.NO_RESULT, {"tool": product.tool})


def has_words(target: str, *, of_pdf: bool) -> bool:
    """True where words are compared: of a PDF that is made of a PDF, the letters are."""
    return (target.startswith("pdf") and not of_pdf) or target in OFFICE_TYPES


@dataclass(frozen=True, slots=True)
class CopyWords:
    """The words of a copy, and its text without any gap: a word that a line or cell breaks is found there."""

    words: Counter[str]
    joined: str


def _words_on(texts: Sequence[str]) -> CopyWords:
    """The words on the pages of a PDF."""
    words: Counter[str] = Counter()
    parts: list[str] = []
    for text in texts:
        on_page = list(tokens(text))
        words.update(on_page)
        parts.extend(on_page)
    return CopyWords(words, "".join(parts))


def _missing(original: Counter[str], copy: CopyWords) -> int:
    """How many words of the original the copy does not have. One that is there in pieces counts as there."""
    lacking = original - copy.words
    count = 0
    for word, times in lacking.items():
        in_pieces = copy.joined.count(word) - copy.words[word]
        count += max(0, times - max(0, in_pieces))
    return count
