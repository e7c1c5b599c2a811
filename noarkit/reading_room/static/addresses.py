"""Where the pages of a static copy lie: relative to each other, a bounded number in each folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote

from noarkit.catalogue.catalogue import Entry
from noarkit.catalogue.journal import JournalCase, JournalEntry
from noarkit.catalogue.port import Document
from noarkit.reading_room.links import WHOLE, Span

IN_A_FOLDER = 1_000
_PAGES = {"": "index.html", "search": "search.html", "help": "help.html", "journal": "journal/index.html"}


def item_path(n: int, page: int = 1) -> str:
    """The path of the page of the item with this number; further pages list more of what lies in it."""
    return f"items/{n // IN_A_FOLDER}/{n}.html" if page == 1 else f"items/{n // IN_A_FOLDER}/{n}-{page}.html"


def top_path(page: int) -> str:
    """The path of a page of what lies at the top."""
    return "index.html" if page == 1 else f"top-{page}.html"


def journal_path(day: str, page: int = 1) -> str:
    """The path of a day of the journal."""
    return f"journal/{quote(day, safe='')}.html" if page == 1 else f"journal/{quote(day, safe='')}-{page}.html"


@dataclass(frozen=True, slots=True)
class FileLinks:
    """Addresses as one page of the copy has them.

    `root` leads from it to the folder of the copy. `spans` are the lists before and behind the one on the page, `files`
    the copied documents by their refs, `number_of` finds the number of an item by its ref.
    """

    root: str
    number_of: Callable[[str], int]
    spans: Mapping[Span, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_live(self) -> bool:
        """No server answers."""
        return False

    def page(self, name: str) -> str:
        """A page that the copy has once: the front page, search, help, journal."""
        return self.root + _PAGES[name]

    def item(self, entry: Entry, span: Span = WHOLE) -> str:
        """The page of an item."""
        return self.root + item_path(entry.n)

    def item_of(self, mention: JournalEntry | JournalCase) -> str:
        """The page of an item that the journal names."""
        return self.root + item_path(mention.n if isinstance(mention, JournalEntry) else self.number_of(mention.ref))

    def siblings(self, parent: Entry | None, span: Span) -> str:
        """The list before or behind the one on this page; for any other, the first page of what they lie in."""
        path = self.spans.get(span) or (top_path(1) if parent is None else item_path(parent.n))
        return self.root + path

    def branch(self, parent: Entry | None, span: Span) -> str:
        """Nothing is fetched."""
        return ""

    def document(self, entry: Entry, document: Document) -> str:
        """The copied file, where there is one."""
        path = self.files.get(document.ref)
        return self.root + quote(path) if path else ""

    def journal(self, day: str, public: bool = False, after: int = 0) -> str:
        """A day of the journal; the posts behind a number are on its next page."""
        behind = self.spans.get(Span(after=after)) if after else None
        return self.root + (behind or journal_path(day))

    def asset(self, name: str) -> str:
        """A style sheet, a script or a picture of ours."""
        return f"{self.root}assets/{name}"
