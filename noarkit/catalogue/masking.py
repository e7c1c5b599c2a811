"""What people see of screened items and of national identity numbers until they ask for more: a mask.

Of a screened item only what is known to say nothing of its content is shown: numbers, dates, statuses, checksums and
the title that is meant for the public. Everything else is `*****`. National identity numbers are masked everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from noarkit.catalogue.entries import Card, Entry, Link
from noarkit.catalogue.port import Change, Document, Fields, Json
from noarkit.catalogue.screening import are_fields_screened, is_part_screened
from noarkit.catalogue.veil import shown_ref
from noarkit.model.identity_numbers import is_identity_number, mask_identity_numbers

MASK = "*****"
_PUBLIC_TITLE = "offentligTittel"
_SHOWN_OF_SCREENED = re.compile(
    r"(?:systemID|uuid|id|version|(?:mappe|registrerings|klasse)I(?:D|dent)|\w*[dD]ato|\w*[sS]tatus|\w*(?:part|post)type"
    r"|mappetype|dokumenttype|dokumentmedium|variantformat|format|sjekksum|sjekksumAlgoritme|innholdstype"
    r"|tilknyttetRegistreringSom|offentligTittel|kassasjonsvedtak|kassasjonshjemmel|skjerming|tilgangsrestriksjon"
    r"|skjerm\w*EInnsyn|skjermingshjemmel|skjermingsvarighet|gradering|referanse(?:Arkivdel|Forelder\w*|(?:Til|Fra)\w+)"
    r"|archive_id|warnings|kind|modified|created|mode)\Z"
)
OWN_NAMES = "virksomhetsspesifikkeMetadata"
"""What an owner named himself: no name of it says what it holds."""
HIDES_PARTIES, PARTIES = "skjermKorrespondanseParterEInnsyn", "korrespondansepart"
_CLASS_NUMBER = re.compile(r"(?=.{0,20}\Z)[\w.-]*\Z")
"""A class that is a number or a code; a longer one, or one of several words, may be a name."""
_IDENTITY = re.compile(r"f(?:oe|ø)dselsnummer|d-?nummer|personnummer|fnr", re.IGNORECASE)
_IDENTITY_DIGITS = 11


def mask_text(text: str) -> str:
    """A text with national identity numbers masked: `010203 *****`."""
    return mask_identity_numbers(text)


def mask_entry(entry: Entry) -> Entry:
    """A line about an item, its title masked where it, or what it lies in, is screened, and its class where that is
    more than a number."""
    title = MASK if entry.screened and entry.title else mask_text(entry.title)
    klass = entry.klass if shown_class(entry.klass, screened=entry.screened) else MASK if entry.klass else ""
    masked = (title, *map(mask_text, (entry.ident, klass, entry.status)))
    if masked == (entry.title, entry.ident, entry.klass, entry.status):
        return entry
    return replace(entry, title=masked[0], ident=masked[1], klass=masked[2], status=masked[3])


def mask_card(card: Card) -> Card:
    """All of an item, masked as its line is; with the public title, where it has one."""
    is_screened = card.entry.screened
    entry = mask_entry(card.entry)
    public_title = card.fields.get(_PUBLIC_TITLE)
    if is_screened and isinstance(public_title, str) and public_title:
        entry = replace(entry, title=mask_text(public_title))
    return Card(
        entry,
        tuple(mask_entry(above) for above in card.ancestors),
        mask_fields(card.fields, screened=is_screened),
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
    refs = (card.entry.ref, *(document.ref for document in card.documents))
    return masked, masked != card or any(shown_ref(ref, screened=is_screened) != ref for ref in refs)


def document_ref(document: Document, entry: Entry) -> str:
    """The ref of a document of an item, as people see it: its veil where the title of the document is masked."""
    return shown_ref(document.ref, screened=entry.screened or is_document_screened(document))


def mask_document(document: Document, *, screened: bool) -> Document:
    """A document, with title, file name and fields masked where its item is screened, or the document itself is."""
    screened = screened or is_document_screened(document)
    title, name = (MASK if screened and text else mask_text(text) for text in (document.title, document.name))
    return replace(document, title=title, name=name, fields=mask_fields(document.fields, screened=screened))


def mask_fields(fields: Fields, *, screened: bool) -> dict[str, Json]:
    """Fields, however deep: of screened items those that may say something of the content, else identity numbers."""
    own = screened or is_part_screened(fields)
    hidden_parties = fields.get(HIDES_PARTIES) in (True, "true")
    return {
        name: _mask_value(name, value, screened=own or (hidden_parties and name == PARTIES))
        for name, value in fields.items()
    }


def is_screened(document: Document, entry: Entry) -> bool:
    """True if a document is not to be shown or handed out without a reason: its item is screened, or it is itself."""
    return entry.screened or is_document_screened(document)


def is_document_screened(document: Document) -> bool:
    """True if a document is screened or graded itself, whatever its item is."""
    return are_fields_screened(document.fields)


def _mask_value(name: str, value: Json, *, screened: bool) -> Json:
    if isinstance(value, Mapping):
        if screened and name == OWN_NAMES:
            return MASK
        return mask_fields(value, screened=screened)
    if isinstance(value, list):
        return [_mask_value(name, inner, screened=screened) for inner in value]
    if value is None or isinstance(value, bool | float):
        return value
    text = str(value)
    if _IDENTITY.search(name) and text:
        masked = mask_text(text)
        return masked if masked != text else MASK
    if isinstance(value, int):
        number = text.zfill(_IDENTITY_DIGITS)
        return mask_text(number) if is_identity_number(number) else value
    if screened and text and not is_harmless(name):
        return MASK
    return mask_text(text)


def shown_class(klass: str, *, screened: bool) -> str:
    """The class of an item; empty where it is more than a number and the item is screened."""
    return klass if not screened or _CLASS_NUMBER.match(klass) else ""


def is_harmless(name: str) -> bool:
    """True for a field that says nothing of the content of what it belongs to."""
    return _SHOWN_OF_SCREENED.match(name) is not None


def mask_link(link: Link) -> Link:
    """A link, its other end masked as its line is."""
    if link.entry is None:
        return replace(link, ref=shown_ref(link.ref, screened=False))
    return replace(link, entry=mask_entry(link.entry))


def _mask_change(change: Change, *, screened: bool) -> Change:
    name = change.field.rpartition(".")[2]
    before, after = (str(_mask_value(name, text, screened=screened)) for text in (change.before, change.after))
    return replace(change, actor=mask_text(change.actor), before=before, after=after)
