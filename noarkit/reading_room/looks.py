"""The looks that pages take into a catalogue: everything that may be screened comes out of here masked."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from noarkit.catalogue.access_log import access_log_path, reveal_card, reveal_document
from noarkit.catalogue.catalogue import Card, Catalogue, Entry, Link, Summary
from noarkit.catalogue.context import Context
from noarkit.catalogue.journal import Correspondent, JournalEntry, JournalPage, JournalQuery
from noarkit.catalogue.masking import mask_card, mask_document, mask_entry, mask_link, masked_card
from noarkit.catalogue.port import Document, PlaceIdentity
from noarkit.catalogue.search import Hit, SearchPage, SearchQuery
from noarkit.errors import JournalFault
from noarkit.model.disclosure import MASK, mask_text
from noarkit.reading_room.links import Span
from noarkit.reading_room.viewers.detection import may_be_shown

PAGE = 100
"""How many siblings a page lists."""
_COUNT_EVERY_S = 3.0


@dataclass(frozen=True, slots=True)
class Siblings:
    """A span of what lies in an item: the entries, and the spans before and behind them, where there are such."""

    entries: tuple[Entry, ...]
    earlier: Span | None
    later: Span | None


class Looks:
    """A catalogue as pages see it."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._unread, self._counted_at = 0, -_COUNT_EVERY_S

    @property
    def identity(self) -> PlaceIdentity:
        """The place."""
        return self.catalogue.place.identity

    def summary(self) -> Summary:
        """The place in numbers."""
        return self.catalogue.summary()

    def counts(self) -> dict[str, int]:
        """The number of items by type, the most first."""
        return dict(sorted(self.catalogue.counts().items(), key=lambda pair: -pair[1]))

    def unread_documents(self) -> int:
        """How many documents are not read yet, as it was at most some seconds ago."""
        now = time.monotonic()
        if now - self._counted_at > _COUNT_EVERY_S:
            self._unread, self._counted_at = self.catalogue.unread_documents(), now
        return self._unread

    def entry(self, ref: str) -> Entry:
        """An item as a line."""
        return mask_entry(self.catalogue.entry(ref))

    def card(self, ref: str) -> Card:
        """All of an item."""
        return mask_card(self.catalogue.card(ref))

    def masked_card(self, ref: str) -> tuple[Card, bool]:
        """All of an item, and whether something of it is masked."""
        return masked_card(self.catalogue.card(ref))

    def reveal(self, ref: str, reason: str, account: str = "") -> Card:
        """All of an item without masks, after the access log has who asked for it, when and why. `account` is who
        logged in."""
        with self._log_must_be_written():
            return reveal_card(self.catalogue, ref, reason, account=account)

    def reveal_document(self, ref: str, reason: str, account: str = "") -> tuple[Document, Entry]:
        """A document of a screened item, with its item, after the access log has who asked for it, when and why."""
        with self._log_must_be_written():
            return reveal_document(self.catalogue, ref, reason, account=account)

    @contextmanager
    def _log_must_be_written(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            where = str(access_log_path(self.catalogue))
            raise JournalFault(where=where, why=error.strerror or type(error).__name__) from error

    def ancestors(self, ref: str) -> tuple[Entry, ...]:
        """What an item lies in."""
        return tuple(mask_entry(entry) for entry in self.catalogue.ancestors(ref))

    def document(self, ref: str) -> tuple[Document, Entry]:
        """A document and its item."""
        document, entry = self.catalogue.document(ref)
        return mask_document(document, screened=entry.screened), mask_entry(entry)

    def document_with(self, sha256: str, near: str) -> tuple[Document, Entry] | None:
        """A document with this checksum, of the item `near` where that has one, and its item."""
        pair = self.catalogue.document_with(sha256, near)
        return None if pair is None else (mask_document(pair[0], screened=pair[1].screened), mask_entry(pair[1]))

    def links_to(self, ref: str, after: int, limit: int = PAGE) -> tuple[tuple[Link, ...], int]:
        """The links that lead to an item from behind a number on, and the number behind which more follow (0: none)."""
        links = self.catalogue.links_to(ref, after, limit + 1)
        last = links[limit - 1].entry if len(links) > limit else None
        return tuple(map(mask_link, links[:limit])), 0 if last is None else last.n

    def links_from(self, ref: str, after: int) -> tuple[tuple[Link, ...], int]:
        """The same of the links of an item to others."""
        links, later = self.catalogue.links_from(ref, after)
        return tuple(map(mask_link, links)), later

    def other_versions(self, document: Document, entry: Entry) -> tuple[Document, ...]:
        """The other versions of a document of an item that can be shown, as far as their names and types tell."""
        documents = self.catalogue.documents(entry.ref)
        own = next((_identity_of(version) for version in documents if version.ref == document.ref), "")
        return tuple(
            mask_document(version, screened=entry.screened)
            for version in documents
            if own and version.ref != document.ref and version.locator is not None and _identity_of(version) == own
            if may_be_shown(version.name, version.media_type)
        )

    def search(self, query: SearchQuery) -> SearchPage:
        """The hits of a search. Where a mask changes a text, nothing in it is marked any more."""
        page = self.catalogue.search(query)
        return replace(page, hits=tuple(map(_mask_hit, page.hits)))

    def journal(self, query: JournalQuery) -> JournalPage:
        """A page of the journal. In both journals what is screened is masked; the public one has its public titles."""
        page = self.catalogue.journal(query)
        entries = tuple(_mask_post(entry, is_public=query.public) for entry in page.entries)
        return replace(page, entries=entries)

    def has_journal(self) -> bool:
        """True where the place has journal posts."""
        return bool(self.catalogue.journal_days(limit=1))

    def years_in(self, ref: str | None) -> list[int]:
        """The years of what lies in an item."""
        return self.catalogue.years_in(ref)

    def siblings(self, parent: Entry | None, span: Span, limit: int = PAGE) -> Siblings:
        """What lies in an item (or at the top), in a span."""
        ref, catalogue, year = (None if parent is None else parent.ref), self.catalogue, span.year
        if span.before:
            entries = catalogue.children_before(ref, span.before, limit + 1, year=year)
            has_earlier, has_later = len(entries) > limit, True
            entries = entries[-limit:]
        else:
            entries = catalogue.children(ref, span.after, limit + 1, year=year)
            has_earlier, has_later = span.after > 0, len(entries) > limit
            entries = entries[:limit]
        if not entries:
            return Siblings((), None, None)
        return Siblings(
            tuple(mask_entry(entry) for entry in entries),
            Span(before=entries[0].n, year=year) if has_earlier else None,
            Span(after=entries[-1].n, year=year) if has_later else None,
        )


def _identity_of(document: Document) -> str:
    """What the versions of one document have in common: the systemID of its description, else its title."""
    description = document.fields.get("dokumentbeskrivelse")
    system_id = description.get("systemID") if isinstance(description, dict) else None
    return str(system_id or document.title)


def _mask_post(post: JournalEntry, *, is_public: bool) -> JournalEntry:
    case = post.case
    if case is not None and case.title is not None:
        case = replace(case, title=MASK if case.screened and not is_public else mask_text(case.title))
    return replace(
        post,
        title=None if post.title is None else MASK if post.screened and not is_public else mask_text(post.title),
        correspondents=tuple(
            _mask_correspondent(party, screened=post.screened or party.hidden) for party in post.correspondents
        ),
        case=case,
    )


def _mask_correspondent(party: Correspondent, *, screened: bool) -> Correspondent:
    return party if party.name is None else replace(party, name=MASK if screened else mask_text(party.name))


def _mask_hit(hit: Hit) -> Hit:
    entry = mask_entry(hit.entry)
    marks = hit.marks if entry.title == hit.entry.title else ()
    return replace(hit, entry=entry, marks=marks, contexts=tuple(map(_mask_context, hit.contexts)))


def _mask_context(context: Context) -> Context:
    text = mask_text(context.text)
    return context if text == context.text else replace(context, text=text, marks=())
