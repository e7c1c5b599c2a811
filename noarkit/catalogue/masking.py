"""What people see of screened items and of national identity numbers until they ask for more: a mask.

Of a screened item only what is known to say nothing of its content is shown: numbers, dates, statuses, checksums and
the title that is meant for the public. Everything else is `*****`. National identity numbers are masked everywhere.
"""

from __future__ import annotations

from dataclasses import replace

from noarkit.catalogue.entries import Card, Entry, Link
from noarkit.catalogue.port import Change, Document, Item
from noarkit.catalogue.veil import shown_ref
from noarkit.model.disclosure import (
    MASK,
    has_screened_part,
    is_opaque,
    mask_fields,
    mask_text,
    mask_value,
    of_document,
    public_title,
    shown_class,
)


def mask_entry(entry: Entry) -> Entry:
    """A line about an item, with its public title or none where it, or what it lies in, is screened, and without its
    class where that is more than a number."""
    title = public_title(entry.title, entry.public_title, screened=entry.screened)
    klass = entry.klass if shown_class(entry.klass, screened=entry.screened) else MASK if entry.klass else ""
    masked = (title, *map(mask_text, (entry.ident, klass, entry.status)))
    if masked == (entry.title, entry.ident, entry.klass, entry.status):
        return entry
    return replace(entry, title=masked[0], ident=masked[1], klass=masked[2], status=masked[3])


def mask_card(card: Card) -> Card:
    """All of an item, masked as its line is."""
    is_screened = card.entry.screened
    return Card(
        mask_entry(card.entry),
        tuple(map(mask_entry, card.ancestors)),
        mask_fields(card.fields, screened=is_screened, hides_key=card.entry.hides_key),
        tuple(mask_document(document, screened=is_screened) for document in card.documents),
        tuple(mask_link(link) for link in card.links),
        tuple(mask_link(link) for link in card.links_here),
        tuple(_mask_change(change, screened=is_screened) for change in card.history),
        card.links_here_count,
        card.links_count,
    )


def masked_card(card: Card) -> tuple[Card, bool]:
    """All of an item as `mask_card` has it, and whether something of it is masked, be it no more than a ref."""
    masked, is_screened = mask_card(card), card.entry.screened
    refs = (shown_ref(document.ref, screened=is_screened) != document.ref for document in card.documents)
    return masked, masked != card or item_ref(card.entry) != card.entry.ref or any(refs)


def around_revealed(card: Card) -> Card:
    """A card that is shown as it is, with what it lies in, and what it is linked to, masked as ever: a reason is given
    for one thing at a time."""
    return replace(
        card,
        ancestors=tuple(map(mask_entry, card.ancestors)),
        links=tuple(map(mask_link, card.links)),
        links_here=tuple(map(mask_link, card.links_here)),
    )


def item_ref(entry: Entry) -> str:
    """The ref of an item, as people see it."""
    return shown_ref(entry.ref, screened=entry.hides_key)


def document_ref(document: Document, entry: Entry) -> str:
    """The ref of a document of an item, as people see it: its veil where the title of the document is masked."""
    return shown_ref(document.ref, screened=entry.hides_key or is_document_screened(document))


def mask_document(document: Document, *, screened: bool) -> Document:
    """A document, with title, file name and fields masked where its item is screened, or the document itself is."""
    screened = screened or is_document_screened(document)
    title, name = (MASK if screened and text else mask_text(text) for text in (document.title, document.name))
    return replace(document, title=title, name=name, fields=mask_fields(document.fields, screened=screened))


def is_screened(document: Document, entry: Entry) -> bool:
    """True if a document is not to be shown or handed out without a reason: its item is screened, or it is itself."""
    return entry.screened or is_document_screened(document)


def is_part_screened(item: Item) -> bool:
    """True if a document of an item, or a party or another part among its fields, is screened itself."""
    return any(map(is_document_screened, item.documents)) or has_screened_part(item.fields)


def is_document_screened(document: Document) -> bool:
    """True if a document is screened or graded itself, whatever its item is."""
    return of_document(document.fields).is_screened


def mask_link(link: Link) -> Link:
    """A link, its other end masked as its line is. What is not in the place may be screened where it is."""
    if link.entry is None:
        return replace(link, ref=shown_ref(link.ref, screened=not is_opaque(link.ref)))
    return replace(link, entry=mask_entry(link.entry))


def _mask_change(change: Change, *, screened: bool) -> Change:
    name = change.field.rpartition(".")[2]
    before, after = (str(mask_value(name, text, screened=screened)) for text in (change.before, change.after))
    return replace(change, actor=mask_text(change.actor), before=before, after=after)
