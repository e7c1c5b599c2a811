"""Looks into a place without a browser: lists, cards and documents, as results for programs and the command line.

What is screened comes out masked. A reason (`because`) shows it, and stands in the access log beside the place first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from noarkit.api.browsing import open_catalogue
from noarkit.catalogue.access_log import reveal_card, reveal_document
from noarkit.catalogue.catalogue import Card, Catalogue, Entry, Link
from noarkit.catalogue.conversion_steps import role_of
from noarkit.catalogue.masking import document_ref, is_screened, item_ref, mask_entry, masked_card
from noarkit.catalogue.naming import find_item, unveiled
from noarkit.catalogue.port import Change, Document
from noarkit.errors import ItemChanged, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.model.format_names import role_mark
from noarkit.results import HIDDEN, SPREAD, JsonObject, Result, json_field, json_value
from noarkit.safe.atomic import open_atomic
from noarkit.safe.fixity import refuse_differences
from noarkit.settings import Place, Settings, resolve_settings
from noarkit.words.texts import texts

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ListedItem(Result):
    """An item as a line of a list; a ref that would tell of what is masked is veiled unless it `is_revealed`."""

    EVENT: ClassVar = "item"

    entry: Entry = field(metadata=SPREAD)
    is_revealed: bool = field(default=False, metadata=HIDDEN)

    @property
    @json_value()
    def ref(self) -> str:
        """The ref as it may be shown."""
        return self.entry.ref if self.is_revealed else item_ref(self.entry)


@dataclass(frozen=True, slots=True)
class ShownLink(JsonObject):
    """A link to or from an item; type and title are None where what it leads to is not in the place."""

    name: str
    ref: str
    type: str | None
    title: str | None


@dataclass(frozen=True, slots=True)
class ShownItem(Result):
    """All that is known of an item; `is_masked` is True if something of it is shown only with a reason, `is_revealed`
    if a reason was given."""

    EVENT: ClassVar = "card"

    card: Card = field(metadata=HIDDEN)
    is_masked: bool = field(default=False, metadata=json_field("masked"))
    is_revealed: bool = field(default=False, metadata=HIDDEN)

    @property
    @json_value(spread=True)
    def line(self) -> ListedItem:
        """The item as a line of a list."""
        return ListedItem(self.card.entry, self.is_revealed)

    @property
    @json_value()
    def ancestors(self) -> Sequence[ListedItem]:
        """What it lies in, the topmost first."""
        return [ListedItem(entry) for entry in self.card.ancestors]

    @property
    @json_value()
    def fields(self) -> Mapping[str, object]:
        """Everything that the place says of it."""
        return self.card.fields

    @property
    @json_value()
    def files(self) -> Sequence[Document]:
        """Its documents, with refs as they may be shown."""
        if self.is_revealed:
            return self.card.documents
        return [replace(document, ref=document_ref(document, self.card.entry)) for document in self.card.documents]

    @property
    @json_value()
    def links(self) -> Sequence[ShownLink]:
        """What it leads to."""
        return [_shown_link(link) for link in self.card.links]

    @property
    @json_value()
    def links_here(self) -> Sequence[ShownLink]:
        """What leads to it."""
        return [_shown_link(link) for link in self.card.links_here]

    @property
    @json_value()
    def history(self) -> Sequence[Change]:
        """What was changed of it."""
        return self.card.history


def _shown_link(link: Link) -> ShownLink:
    if link.entry is None:
        return ShownLink(link.name, link.ref, None, None)
    return ShownLink(link.name, item_ref(link.entry), link.entry.type, link.entry.title)


@dataclass(frozen=True, slots=True)
class FetchedDocument(Result):
    """A document that was written to a file. `is_checked` is True if its checksum was known and is that of the file."""

    EVENT: ClassVar = "document"

    ref: str
    path: Path
    sha256: str
    size_bytes: int = field(metadata=json_field("bytes"))
    is_checked: bool = field(metadata=json_field("checked"))


def ls(
    place: Place | Catalogue,
    item: str | None = None,
    *,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> Iterator[ListedItem]:
    """Yields what lies directly in an item, or at the top of a place, in its order.

    `item` is a ref, a number such as 2011/1042-3, an id in the archive, a uuid, or a source key. Raises `UsageFault`
    for what is no item or may mean several, and what `open_catalogue` raises.
    """
    with _opened(place, settings, listener) as catalogue:
        ref = None if item is None else find_item(catalogue, item).ref
        after = 0
        while entries := catalogue.children(ref, after):
            yield from (ListedItem(mask_entry(entry)) for entry in entries)
            after = entries[-1].n


def show(
    place: Place | Catalogue,
    item: str,
    *,
    because: str | None = None,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> ShownItem:
    """Shows all that is known of an item: its fields, documents with their custody chains, links and history.

    What is screened is masked, unless `because` gives a reason, which is kept in the access log of the place. Raises
    what `ls` raises.
    """
    with _opened(place, settings, listener) as catalogue:
        ref = find_item(catalogue, item).ref
        if because is not None:
            return ShownItem(reveal_card(catalogue, ref, because), is_revealed=True)
        masked, is_masked = masked_card(catalogue.card(ref))
        return ShownItem(masked, is_masked)


def get(
    place: Place | Catalogue,
    item: str,
    output: Place,
    *,
    because: str | None = None,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> FetchedDocument:
    """Writes the bytes of a document to a new file, whole or not at all, and never with another checksum than is known.

    `item` is the ref of a document, or names an item with one document. A document that is screened needs a reason,
    `because`, which is kept in the access log of the place. Raises `UsageFault` (no document, several, a file that is
    there already), `ChecksumDiffers`, `ItemVanished`, `ItemUnreadable`, `ItemChanged`.
    """
    with _opened(place, settings, listener) as catalogue:
        lang = resolve_settings(None, settings).config.lang
        document, entry = _one_document(catalogue, item, lang)
        if is_screened(document, entry):
            if because is None:
                raise UsageFault(what="screened-document", where=document_ref(document, entry))
            reveal_document(catalogue, document.ref, because)
        ref = document.ref if because is not None else document_ref(document, entry)
        return replace(_write(catalogue, document, Path(output)), ref=ref)


@contextmanager
def _opened(place: Place | Catalogue, settings: Settings | None, listener: Listener) -> Iterator[Catalogue]:
    """The catalogue of a place; one that is open already stays so."""
    if isinstance(place, Catalogue):
        yield place
        return
    with open_catalogue(place, settings=settings, listener=listener) as catalogue:
        yield catalogue


def _one_document(catalogue: Catalogue, name: str, lang: str) -> tuple[Document, Entry]:
    try:
        return catalogue.document(unveiled(catalogue, name))
    except UsageFault:
        entry = find_item(catalogue, name)
    documents = [document for document in catalogue.documents(entry.ref) if document.locator is not None]
    if not documents:
        raise UsageFault(what="no-document", where=name)
    if len(documents) > 1:
        words = texts(lang)
        marks = (role_mark(words, role_of(document, documents), document.puid) for document in documents)
        refs = ", ".join(
            document_ref(document, entry) + (f" [{mark}]" if mark else "")
            for document, mark in zip(documents[:_SHOWN], marks, strict=False)
        )
        raise UsageFault(what="several-documents", where=name, do=refs + (", …" if len(documents) > _SHOWN else ""))
    return documents[0], entry


def _write(catalogue: Catalogue, document: Document, path: Path) -> FetchedDocument:
    with catalogue.open(document) as stream, open_atomic(path, mode=0o600, replace=False) as file:
        for block in stream:
            file.write(block)
        refuse_differences(stream.differences(), document.ref)
        if not stream.untouched():
            raise ItemChanged(key=document.ref)
    has_checksum = any(statement.has_checksum for statement in stream.statements)
    return FetchedDocument(document.ref, path, stream.sha256, stream.size_bytes, is_checked=has_checksum)
