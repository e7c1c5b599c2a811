"""Looks into a place without a browser: lists, cards and documents, as results for programs and the command line.

What is screened comes out masked. A reason (`because`) shows it, and stands in the access log beside the place first.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from noarkit.api.browsing import open_catalogue
from noarkit.catalogue.access_log import reveal_card, reveal_document
from noarkit.catalogue.catalogue import Card, Catalogue, Entry, Link
from noarkit.catalogue.conversion_steps import role_of
from noarkit.catalogue.masking import document_ref, is_screened, item_ref, mask_entry, masked_card
from noarkit.catalogue.naming import find_item, unveiled
from noarkit.catalogue.port import Document
from noarkit.errors import ItemChanged, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.reports.copies_words import role_mark
from noarkit.results import Result
from noarkit.safe.atomic import open_atomic
from noarkit.safe.fixity import refuse_differences
from noarkit.settings import Place, Settings, resolve_settings
from noarkit.words.texts import texts

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ListedItem(Result):
    """An item as a line of a list; a ref that would tell of what is masked is veiled unless it `is_revealed`."""

    entry: Entry
    is_revealed: bool = False

    def to_dict(self) -> dict[str, object]:
        """The line, as `noarkit ls --json` has it."""
        facts = asdict(self.entry)
        facts["class"] = facts.pop("klass")
        for name in ("n", "public_title", "hides_key"):
            del facts[name]
        if not self.is_revealed:
            facts["ref"] = item_ref(self.entry)
        return facts


@dataclass(frozen=True, slots=True)
class ShownItem(Result):
    """All that is known of an item; `is_masked` is True if something of it is shown only with a reason, `is_revealed`
    if a reason was given."""

    card: Card
    is_masked: bool = False
    is_revealed: bool = False

    def to_dict(self) -> dict[str, object]:
        """The card, as `noarkit show --json` has it."""
        card = self.card
        return {
            **ListedItem(card.entry, self.is_revealed).to_dict(),
            "masked": self.is_masked,
            "ancestors": [ListedItem(entry).to_dict() for entry in card.ancestors],
            "fields": dict(card.fields),
            "files": [self._document_facts(document) for document in card.documents],
            "links": [self._link_facts(link) for link in card.links],
            "links_here": [self._link_facts(link) for link in card.links_here],
            "history": [asdict(change) for change in card.history],
        }

    def _document_facts(self, document: Document) -> dict[str, object]:
        facts = asdict(document)
        if not self.is_revealed:
            facts["ref"] = document_ref(document, self.card.entry)
        facts["has_file"] = facts.pop("locator") is not None
        facts["fields"] = dict(document.fields)
        facts["bytes"] = facts.pop("size_bytes")
        return facts

    def _link_facts(self, link: Link) -> dict[str, object]:
        entry = link.entry
        ref = link.ref if entry is None else item_ref(entry)
        return {"name": link.name, "ref": ref, "type": entry and entry.type, "title": entry and entry.title}


@dataclass(frozen=True, slots=True)
class FetchedDocument(Result):
    """A document that was written to a file. `is_checked` is True if its checksum was known and is that of the file."""

    ref: str
    path: Path
    sha256: str
    size_bytes: int
    is_checked: bool

    def to_dict(self) -> dict[str, object]:
        """The document, as `noarkit get --json` has it."""
        return {
            "ref": self.ref,
            "path": str(self.path),
            "sha256": self.sha256,
            "bytes": self.size_bytes,
            "checked": self.is_checked,
        }


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
