"""Writes a static copy of a reading room: the same pages as files, an index for the search, and a list of checksums.

The folder appears whole or not at all. What is screened is masked in it, always; its documents are not copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import BinaryIO

from noarkit.catalogue.catalogue import Card, Catalogue, Entry
from noarkit.catalogue.journal import JournalDay, JournalQuery
from noarkit.catalogue.text.collecting import collect_texts
from noarkit.errors import NoarkitError
from noarkit.events import Event, EventFields, Listener, ignore_event
from noarkit.reading_room import facts
from noarkit.reading_room.links import Span
from noarkit.reading_room.looks import Looks, Siblings
from noarkit.reading_room.pages import View, render
from noarkit.reading_room.phrasing import phrases
from noarkit.reading_room.static.addresses import FileLinks, item_path, journal_path, top_path
from noarkit.reading_room.static.documents import DocumentCopier, DocumentCounts
from noarkit.reading_room.static.index import IndexBuilder
from noarkit.reading_room.tree import tree_to
from noarkit.safe import atomic
from noarkit.words.texts import render as render_fault

EVENTS: EventFields = {"pages_written": {"items": "count", "files": "count"}}
MANIFEST = "manifest-sha256.txt"
_ASSETS = ("room.css", "room.js", "search.js", "icon.svg")
_AT_A_TIME = 500
_TOLD_EACH = 1_000


@dataclass(frozen=True, slots=True)
class StaticCopy:
    """A copy that was written: how many files and bytes it has, and what became of the documents."""

    path: Path
    files: int
    size_bytes: int
    documents: DocumentCounts
    without_text: int = 0
    """How many documents were copied whose words the search does not find: none could be read."""


def write_static_copy(
    catalogue: Catalogue, target: Path, *, lang: str, with_documents: bool = False, emit: Listener = ignore_event
) -> StaticCopy:
    """Writes the pages over a catalogue to `target`, a folder that must not exist, with `pages_written` events.

    With documents, the search finds the words in them: those that were not read yet are read first, with
    events `"reading_documents"`. Raises `UsageFault` where something stands there, `RunLocked` where another process
    reads the documents, `DiskFull`.
    """
    if with_documents and not target.exists():
        collect_texts(catalogue.path, catalogue.place, emit)
    with atomic.atomic_folder(target) as part, (part / MANIFEST).open("xb") as manifest:
        writer = _Writer(catalogue, part, manifest, lang=lang, emit=emit)
        writer.write(with_documents=with_documents)
    return StaticCopy(target, writer.files + 1, writer.size_bytes, writer.documents, writer.without_text)


class _Writer:
    def __init__(self, catalogue: Catalogue, root: Path, manifest: BinaryIO, *, lang: str, emit: Listener) -> None:
        self._catalogue = catalogue
        self._looks = Looks(catalogue)
        self._root = root
        self._manifest = manifest
        self._emit = emit
        # where the place lay is nobody's business who gets the copy
        self._place = replace(self._looks.identity, where="")
        self._lang = lang
        self._sections = ("", *(("journal",) if self._looks.has_journal() else ()), "search")
        self._number_of = lru_cache(maxsize=10_000)(lambda ref: catalogue.entry(ref).n)
        self._folders: set[Path] = set()
        self.files = 0
        self.size_bytes = 0
        self.documents = DocumentCounts()
        self.without_text = 0

    def write(self, *, with_documents: bool) -> None:
        """Writes everything."""
        self._assets()
        self._place_pages()
        copier = DocumentCopier(self._catalogue, self._root, self._note) if with_documents else None
        index = IndexBuilder(self._file, phrases(self._lang))
        try:
            for card in self._cards():
                copied = copier.copy(card) if copier is not None else {}
                self._item_pages(card, copied, copier.refused if copier is not None else {})
                index.add(card, self._texts_of(copied))
            index.finish()
        finally:
            index.close()
        if copier is not None:
            self.documents = copier.counts
        if "journal" in self._sections:
            self._journal()
        self._page("search.html", "static_search.html", {"section": "search"}, {"has_texts": with_documents})
        self._page("help.html", "help.html", {"section": "help"}, {})

    def _texts_of(self, copied: Mapping[str, str]) -> Iterator[str]:
        """The texts of the documents that were copied."""
        for ref in copied:
            text = self._catalogue.document_text(ref)
            if text is None or not text.text:
                self.without_text += 1
            else:
                yield text.text

    def _cards(self) -> Iterator[Card]:
        after = 0
        while entries := self._catalogue.entries(after, _AT_A_TIME):
            for entry in entries:
                yield self._looks.card(entry.ref)
            after = entries[-1].n
            self._emit(Event("pages_written", {"items": after, "files": self.files}))

    def _place_pages(self) -> None:
        tree = tree_to(self._looks, None)
        for number, siblings, spans in self._lists(None):
            links = self._links(top_path(number), spans)
            view = self._view(links, section="home", tree=tree)
            page_facts = facts.place_facts(self._looks, view, Span(), masks=True)
            self._file(
                top_path(number), self._html("place.html", view, {**page_facts, "siblings": siblings, "years_in": []})
            )

    def _item_pages(self, card: Card, copied: Mapping[str, str], refused: Mapping[str, NoarkitError]) -> None:
        problems = {ref: render_fault(fault, self._lang) for ref, fault in refused.items()}
        entry = card.entry
        tree = tree_to(self._looks, entry, card.ancestors)
        for number, siblings, spans in self._lists(entry):
            path = item_path(entry.n, number)
            view = self._view(self._links(path, spans, copied), tree=tree)
            page_facts = {**facts.card_facts(self._looks, card, siblings, Span()), "problems": problems}
            self._file(path, self._html("item.html", view, page_facts))

    def _lists(self, parent: Entry | None) -> Iterator[tuple[int, Siblings, Mapping[Span, str]]]:
        """The pages of a list: its number, what it shows, and the paths of the one before and the one behind."""
        number, span = 1, Span()
        while True:
            siblings = (
                self._looks.siblings(parent, span) if parent is None or parent.children else Siblings((), None, None)
            )
            path_of = top_path if parent is None else lambda page, n=parent.n: item_path(n, page)
            spans = {}
            if siblings.earlier is not None:
                spans[siblings.earlier] = path_of(number - 1)
            if siblings.later is not None:
                spans[siblings.later] = path_of(number + 1)
            yield number, siblings, spans
            if siblings.later is None:
                return
            number, span = number + 1, siblings.later

    def _journal(self) -> None:
        days: list[JournalDay] = []
        after = ""
        while more := self._catalogue.journal_days(after):
            days.extend(more)
            after = more[-1].day
        self._page("journal/index.html", "days.html", {"section": "journal"}, {"days": days})
        for day in days:
            number, start = 1, 0
            while True:
                page = self._looks.journal(JournalQuery(day.day, after=start))
                path = journal_path(day.day, number)
                spans = {Span(after=page.after): journal_path(day.day, number + 1)} if page.after else {}
                view = self._view(self._links(path, spans), section="journal")
                self._file(path, self._html("journal.html", view, {"asked": JournalQuery(day.day), "page": page}))
                if not page.after:
                    break
                number, start = number + 1, page.after

    def _assets(self) -> None:
        for name in _ASSETS:
            self._file(f"assets/{name}", (files("noarkit.reading_room") / "assets" / name).read_bytes())

    def _page(self, path: str, template: str, view: Mapping[str, object], page_facts: Mapping[str, object]) -> None:
        self._file(path, self._html(template, self._view(self._links(path), **view), page_facts))

    def _html(self, template: str, view: View, page_facts: Mapping[str, object]) -> bytes:
        return render(template, view, page_facts).encode()

    def _links(
        self, path: str, spans: Mapping[Span, str] | None = None, copied: Mapping[str, str] | None = None
    ) -> FileLinks:
        return FileLinks("../" * path.count("/"), self._number_of, spans or {}, copied or {})

    def _view(self, links: FileLinks, **more: object) -> View:
        view = View(self._lang, links, self._place, sections=self._sections, zone=self._catalogue.zone)
        return replace(view, **more)  # type: ignore[arg-type]  # each is a field of View

    def _file(self, path: str, content: bytes) -> None:
        target = self._root / path
        if target.parent not in self._folders:
            target.parent.mkdir(parents=True, exist_ok=True)
            self._folders.add(target.parent)
        atomic.write_bytes(target, content, sync=False)
        self._note(path, sha256(content).hexdigest(), len(content))

    def _note(self, path: str, digest: str, size_bytes: int) -> None:
        """A line of the manifest, as sha256sum reads it."""
        self._manifest.write(f"{digest}  {path}\n".encode())
        self.files += 1
        self.size_bytes += size_bytes
