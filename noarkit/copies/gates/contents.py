"""Is all that the original holds in the copy: pictures, drawings, equations, objects, slides, links?

A valid copy is not a faithful one: what an office program cannot draw it leaves out, without a word. So what the
original holds is counted by readers that draw nothing, what the copy shows by others, and each kind of thing is told
with both counts. `_KINDS` says for each kind how it is found in a copy, and what is told of one that lacks some.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from noarkit.copies.gates.cells import compare_cells
from noarkit.copies.gates.pages import is_pdf
from noarkit.copies.gates.words import OFFICE_TYPES, WordsOf
from noarkit.copies.port import Failure, Finding, Product, Task
from noarkit.copies.reasons import Reason
from noarkit.copies.tokens import tokens
from noarkit.documents.containers import format_of_file
from noarkit.documents.content_counts import contents_of
from noarkit.documents.contents import ContentKind, Contents
from noarkit.documents.damage import ZIPPED, broken_member
from noarkit.documents.pdf_contents import DrawnPage, DrawnPicture, open_drawings
from noarkit.documents.pdf_pages import PdfUnreadable, TextsOf, read_texts
from noarkit.documents.refusal import DocumentRefused

_MOST_NAMES = 20
_SIGN_OF_BROKEN = (16, 16)
_LEAST_OF_OBJECT = 0.8
"""The share of the words of a chart or diagram that are on the pages of a copy: some a legend leaves out."""


@dataclass(frozen=True)
class Copy:
    """A PDF that was made, and what of the original is known to stand in it."""

    path: Path
    texts: Sequence[str]
    body: Counter[str]
    """The words of the original beside its equations."""

    @cached_property
    def pages(self) -> list[DrawnPage]:
        """What each page draws."""
        with open_drawings(self.path) as drawings:
            return list(drawings.pages())

    @cached_property
    def addresses(self) -> Counter[str]:
        """The addresses that a reader can follow."""
        with open_drawings(self.path) as drawings:
            return Counter(_plain_address(address) for address in drawings.addresses())

    @cached_property
    def gapless_text(self) -> str:
        """The text of the pages without any gap."""
        return "".join(token for text in self.texts for token in tokens(text))


@dataclass(frozen=True, slots=True)
class KindRule:
    """How a kind is found in a copy, and what is told of a copy that lacks some: a finding by its code."""

    count_in_copy: Callable[[Contents, Copy], int]
    finding: Callable[[dict[str, object]], Finding] | None = None


@dataclass(frozen=True, slots=True)
class ContentsGate:
    """Whatever the original holds is counted, and counted again in the copy."""

    words_of: WordsOf
    texts_of: TextsOf = read_texts
    name: str = "contents"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """Tells each kind with both its counts, what is missing, and what could not be counted."""
        if is_pdf(task) or not (task.target.startswith("pdf") or task.target in OFFICE_TYPES):
            return ()
        try:
            format_name = format_of_file(task.source, task.name, task.identity.media_type or "")
            member = broken_member(task.source) if format_name in ZIPPED else None
            if member is not None:
                return Failure(Reason.DAMAGED, {"member": member})
            if task.target == "ods":
                return compare_cells(task.source, format_name, product.path)
            source = contents_of(task.source, format_name)
            return () if source is None else tuple(self._compare(task, source, product))
        except DocumentRefused as refused:
            return Failure(Reason(refused.reason), refused.data)
        except PdfUnreadable:
            return Failure(Reason.NO_RESULT, {"tool": product.tool})

    def _compare(self, task: Task, source: Contents, product: Product) -> Sequence[Finding]:
        if task.target in OFFICE_TYPES:
            return (*damage_findings(source), Finding("not-counted", {"kinds": sorted(source.items)}))
        needs_body = source.count("equations") or source.previewed
        body = self.words_of(task.source, task.identity) if needs_body else None
        copy = Copy(product.path, self.texts_of(product.path), body or Counter())
        findings = [*damage_findings(source), *_comments(task)]
        for kind, rule in _KINDS.items():
            if original := source.count(kind):
                count = min(original, rule.count_in_copy(source, copy))
                counts: dict[str, object] = {"kind": kind, "original": original, "copy": count}
                findings.append(Finding("counted", counts))
                if count < original and rule.finding is not None:
                    findings.append(rule.finding({"missing": original - count, "count": original}))
        return findings


def _comments(task: Task) -> Iterator[Finding]:
    """Comments, of which no page of a copy shows any: no PDF/A may have them as an office program writes them."""
    for found in task.findings:
        if found.code == "comments":
            count = found.data.get("count", 0)
            yield Finding("comments-missing", {"missing": count, "count": count})


def damage_findings(source: Contents) -> Sequence[Finding]:
    """What is wrong with a document itself, each named; and what nobody here can count in it."""
    findings: list[Finding] = []
    if source.unreadable:
        findings.append(Finding("pictures-unreadable", _names(source.unreadable)))
    if source.missing:
        findings.append(Finding("parts-missing", _names(source.missing)))
    if source.unread:
        findings.append(Finding("parts-unread", _names(source.unread)))
    if source.uncounted:
        findings.append(Finding("not-counted", {"kinds": list(source.uncounted)}))
    return findings


def _names(names: Sequence[str]) -> Mapping[str, object]:
    return {"count": len(names), "names": list(names[:_MOST_NAMES])}


def _pictures(source: Contents, copy: Copy) -> int:
    """Pictures of pixels. As many different ones must be drawn as there are, as often; of slides each on its page."""
    by_page = _pictures_by_page(source, copy)
    images = [picture for page in by_page for picture in page]
    pictures = source.items["pictures"]
    missing = max(len(pictures) - len(set(images)), pictures.total() - len(images), 0)
    if len(by_page) >= len(source.slides):
        missing = max(missing, sum(max(0, own - len(page)) for own, page in zip(source.slides, by_page, strict=False)))
    return pictures.total() - missing


def _pictures_by_page(source: Contents, copy: Copy) -> list[list[DrawnPicture]]:
    """The pictures on each page, without the sign that LibreOffice draws instead of one that it cannot decode."""
    signs = {_SIGN_OF_BROKEN} - source.sizes
    return [[picture for picture in page.pictures if picture.size not in signs] for page in copy.pages]


def _drawings(source: Contents, copy: Copy) -> int:
    """Drawings of lines, which some programs make pictures of."""
    spare = sum(len(page) for page in _pictures_by_page(source, copy)) - source.count("pictures")
    return sum(page.drawings for page in copy.pages) + max(0, spare)


def _equations(source: Contents, copy: Copy) -> int:
    """Equations whose letters are on the pages, beside those of all other words."""
    letters = Counter(copy.gapless_text)
    letters.subtract(Counter("".join(copy.body.elements())))
    count = 0
    for equation, times in source.items["equations"].items():
        own = Counter("".join(tokens(equation)))
        for _ in range(times):
            if own <= letters:
                letters.subtract(own)
                count += 1
    return count


def _objects(source: Contents, copy: Copy) -> int:
    """Charts and diagrams most of whose words are on the pages, those that have none where something is drawn, and
    documents within of which some words are there, or a picture more than the original has beside them."""
    pictures = sum(len(page) for page in _pictures_by_page(source, copy)) + sum(page.drawings for page in copy.pages)
    spare = max(0, pictures - source.count("pictures") - source.count("drawings"))
    count = 0
    for text, times in source.items["objects"].items():
        if _is_drawn(text, copy, least=0.0 if text in source.previewed else _LEAST_OF_OBJECT):
            count += times
        elif text in source.previewed:
            count += min(times, spare)
            spare -= min(times, spare)
    return count


def _is_drawn(text: str, copy: Copy, *, least: float) -> bool:
    words = set(tokens(text))
    if not words:
        return any(page.drawings or page.pictures for page in copy.pages)
    if not least:
        return any(word in copy.gapless_text and word not in copy.body for word in words)
    return sum(word in copy.gapless_text for word in words) >= least * len(words)


def _slides(source: Contents, copy: Copy) -> int:
    return len(copy.pages)


def _links(source: Contents, copy: Copy) -> int:
    addresses = Counter[str]()
    for address, times in source.items["links"].items():
        addresses[_plain_address(address)] += times
    return sum(times for address, times in addresses.items() if copy.addresses[address])


def _plain_address(address: str) -> str:
    """An address as two programs write it: without the stroke at its end, in small letters."""
    return address.strip().rstrip("/").casefold()


_KINDS: Mapping[ContentKind, KindRule] = {
    "slides": KindRule(_slides, lambda data: Finding("slides-missing", data)),
    "pictures": KindRule(_pictures, lambda data: Finding("pictures-missing", data)),
    "drawings": KindRule(_drawings, lambda data: Finding("drawings-missing", data)),
    "equations": KindRule(_equations, lambda data: Finding("equations-missing", data)),
    "objects": KindRule(_objects, lambda data: Finding("objects-missing", data)),
    "links": KindRule(_links, lambda data: Finding("links-missing", data)),
}
