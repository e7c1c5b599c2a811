"""The words and filters by which an item is found; of what is screened, only words that its masked card shows.

A hit without a title still tells that its item holds the word. So what is masked has no words at all; only who knows
the whole of an external id, a key or an id in the archive is led to its item, by a digest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256

from noarkit.catalogue.masking import is_document_screened, is_part_screened
from noarkit.catalogue.port import Document, Fields, Item, Json
from noarkit.catalogue.query import ALL, clean_text, filter_token
from noarkit.model.disclosure import (
    OWN_NAMES,
    PARTIES,
    hides_parties,
    is_harmless,
    may_name_parts,
    of_fields,
    shown_class,
)
from noarkit.model.identity_numbers import is_identity_number, mask_identity_numbers

ARCHIVE_IDS = frozenset({"id", "archive_id"})
UUIDS = frozenset({"uuid", "systemID"})
SOURCE_KEYS = frozenset({"eksternID", "key", "source_record", "referanseEksternID"})
_NAMES_OF_ITEMS = ARCHIVE_IDS | UUIDS | SOURCE_KEYS
_IDENTITY_DIGITS = 11
_DIGEST_LENGTHS = frozenset({32, 40, 56, 64, 96, 128})
_SIX_DIGITS = re.compile(r"\d{6}")
"""What every identity number has, and few texts."""
_KNOWN_DIGITS = 32


@dataclass(slots=True)
class FieldWords:
    """The texts of some fields that can be found by their words, and those that can be found as a whole alone."""

    texts: list[str] = field(default_factory=list)
    known_names: list[str] = field(default_factory=list)
    hides_key: bool = False

    def collect(self, fields: Fields, *, screened: bool) -> None:
        """Takes the texts in fields, however deep; of what is screened, those that say nothing of its content."""
        own = screened or of_fields(fields).is_screened
        hides = hides_parties(fields)
        for name, value in fields.items():
            self._collect(name, value, screened=own or (hides and name == PARTIES))

    def _collect(self, name: str, value: Json, *, screened: bool) -> None:
        if type(value) is str:
            if (screened and not is_harmless(name)) or (self.hides_key and may_name_parts(name)):
                if value and name in _NAMES_OF_ITEMS:
                    self.known_names.append(value)
            elif not is_coded(value):
                self.texts.append(value)
        elif isinstance(value, dict):
            if not (screened and name == OWN_NAMES):
                self.collect(value, screened=screened or (self.hides_key and may_name_parts(name)))
        elif isinstance(value, list):
            for inner in value:
                self._collect(name, inner, screened=screened)
        elif value is not None and not isinstance(value, bool) and (not screened or is_harmless(name)):
            # a column of numbers has lost the noughts in front
            self.texts.append(f"{value:0{_IDENTITY_DIGITS}d}" if _is_identity_number(value) else str(value))


def field_words(fields: Fields, *, screened: bool, hides_key: bool) -> FieldWords:
    """What fields can be found by; with `hides_key`, not by what a source calls the thing."""
    words = FieldWords(hides_key=hides_key)
    words.collect(fields, screened=screened)
    return words


def title_texts(item: Item, *, screened: bool) -> list[str]:
    """The texts that an item is found by as by its title: its own, its number, and the titles of its documents."""
    if screened:
        return [item.ident]
    titles = [document.title for document in item.documents if not is_document_screened(document)]
    return [item.title, item.ident, *titles]


def word_row(n: int, item: Item, formats: Iterable[str], *, screened: bool) -> tuple[int, str, str, str]:
    """The row of an item in the index. `screened` holds for it or for something above it."""
    words = field_words(item.fields, screened=screened, hides_key=is_part_screened(item))
    tokens = filter_tokens(item, formats, screened=screened)
    return (
        *(n, index_text(title_texts(item, screened=screened)), index_text(words.texts)),
        with_known_names(tokens, words.known_names),
    )


def with_known_names(tokens: str, names: Iterable[str]) -> str:
    """The filters of an item together with the names that it is found by as a whole."""
    return " ".join((tokens, *map(known_name_token, names)))


def known_name_token(name: str) -> str:
    """The token of a name that is masked: who knows all of it finds the item, who knows a part of it does not."""
    return "k" + sha256(clean_text(name).encode("utf-8", "replace")).hexdigest()[:_KNOWN_DIGITS]


def filter_tokens(item: Item, formats: Iterable[str], *, screened: bool) -> str:
    """The tokens by which an item is found without any word of it."""
    year = year_of(item.day)
    klass = shown_class(item.klass, screened=screened)
    tokens = [ALL, _token("type", item.type), _token("screened", "yes" if screened else "no")]
    tokens += [_token("year", year)] if year else []
    tokens += [_token("class", klass)] if klass else []
    tokens += [_token("status", item.status)] if item.status else []
    tokens += [_token("fault", item.fault)] if item.fault else []
    tokens += [_token("state", item.state)] if item.state else []
    names = {*formats, *(document.puid for document in item.documents if document.puid)}
    return " ".join((*tokens, *(_token("format", name) for name in sorted(names))))


_token = lru_cache(maxsize=10_000)(filter_token)


@lru_cache(maxsize=50_000)
def year_of(day: str) -> str:
    """The year of a date in ISO's form, or nothing."""
    return day[:4] if len(day) >= 4 and day[:4].isascii() and day[:4].isdigit() else ""


def formats_of(documents: Iterable[Document]) -> set[str]:
    """What people call the formats of documents: `"pdf"`, `"docx"`, by the end of their names, else by their types."""
    return {format_of(document.name, document.media_type, document.puid) for document in documents} - {""}


def format_of(name: str, media_type: str, puid: str) -> str:
    """The format of one document; empty if nothing says it."""
    stem, dot, end = name.rpartition(".")
    if dot and stem and 0 < len(end) <= 8 and end.isalnum():
        return end.lower()
    kind = media_type.partition(";")[0].rpartition("/")[2].strip().lower().replace(" ", "-")
    return kind or puid


def index_text(texts: Sequence[str]) -> str:
    """Texts as they are indexed, with identity numbers masked: whoever searches for beginnings of words could otherwise
    find out a number digit by digit."""
    text = " ".join(texts)
    if _SIX_DIGITS.search(text):
        text = " ".join(map(mask_identity_numbers, texts))
    return clean_text(text)


def is_coded(text: str) -> bool:
    """True for a UUID, a checksum or a moment, which nobody searches for by its parts; days are found by filters."""
    length = len(text)
    if length < 19 or " " in text:
        return False
    if length == 36:
        return text[8] == text[13] == text[18] == text[23] == "-"
    return (text[10] == "T" and text[4] == text[7] == "-") or (length in _DIGEST_LENGTHS and text.isalnum())


def _is_identity_number(value: Json) -> bool:
    return isinstance(value, int) and is_identity_number(f"{value:0{_IDENTITY_DIGITS}d}")
