"""Searches the text of the documents of a catalogue for a person, and lists those that could not be searched.

A text is searched once, however many documents share it. Nothing is silent: a document without a file, one that could
not be opened, one without text, and one that was read only in part each stand in the list with the reason.
"""

from __future__ import annotations

import mimetypes
import sqlite3

from noarkit.catalogue.persons.matching import Person
from noarkit.catalogue.persons.occurrences import Medium, Occurrence, Occurrences, Unsearched
from noarkit.catalogue.text.texts import STAMP, UNREAD, unpack_text
from noarkit.catalogue.veil import shown_ref
from noarkit.model.disclosure import mask_text, shown_class

NO_FILE, NOT_OPENED, NOT_READ, IN_PART = "no-file", "not-opened", "not-read", "in-part"
_TEXTS = (
    "SELECT n, reason, is_cut, has_gaps, packed FROM texts.text t WHERE n > ?"
    " AND EXISTS (SELECT 1 FROM texts.read r WHERE r.text = t.n) ORDER BY n LIMIT ?"
)
_HOLDERS = (
    "SELECT d.ref, d.screened, d.size, d.media_type, d.name, i.ref, i.type, i.ident, i.screened"  # noqa: S608  # our own words
    " FROM texts.read t JOIN document d ON d.ref = t.ref"
    f" JOIN item i ON i.n = d.item WHERE t.text = ? AND t.stamp = {STAMP} AND d.locator IS NOT NULL ORDER BY d.n"
)
_BATCH = 50
_MEDIA: dict[str, Medium] = {"image": "picture", "audio": "sound", "video": "video"}


def search_documents(
    db: sqlite3.Connection,
    place: str,
    person: Person,
    occurrences: Occurrences,
) -> int:
    """Searches the texts that are attached to a catalogue, and returns how many documents were searched in full or in
    part."""
    searched = last = 0
    while rows := db.execute(_TEXTS, (last, _BATCH)).fetchall():
        last = rows[-1][0]
        for n, reason, is_cut, has_gaps, packed in rows:
            searched += _search_text(
                db, place, person, occurrences, (n, reason, bool(is_cut or has_gaps), unpack_text(packed))
            )
    list_unsearched(db, place, occurrences, has_texts=True)
    return searched


def list_unsearched(
    db: sqlite3.Connection, place: str, occurrences: Occurrences, *, has_texts: bool, reason: str = NOT_OPENED
) -> None:
    """Lists the documents of which there is no text, for want of a file or because nobody could read it."""
    without_text = UNREAD if has_texts else " FROM document d WHERE d.locator IS NOT NULL"
    for why, rows in ((NO_FILE, " FROM document d WHERE d.locator IS NULL"), (reason, without_text)):
        for ref, screened, media_type, name in db.execute(
            f"SELECT d.ref, d.screened, d.media_type, d.name{rows} ORDER BY d.n"
        ):
            medium = "" if why == NO_FILE else _medium_of(media_type, name)
            occurrences.add_unsearched(Unsearched(place, shown_ref(ref, screened=bool(screened)), why, medium=medium))


def _search_text(
    db: sqlite3.Connection,
    place: str,
    person: Person,
    occurrences: Occurrences,
    text: tuple[int, str, bool, str],
) -> int:
    """Searches one text, tells it of each document that has it, and returns how many of these it was searched for."""
    n, reason, in_part, body = text
    matches = list(person.matches_in_document(body))
    if not matches and not reason and not in_part:
        return int(
            db.execute(f"SELECT count(*) FROM ({_HOLDERS})", (n,)).fetchone()[0]  # noqa: S608  # our own words
        )
    searched = 0
    for ref, screened, size, media_type, name, item, kind, ident, item_screened in db.execute(
        _HOLDERS, (n,)
    ).fetchall():
        is_empty = size == 0
        if (reason or in_part) and not is_empty:
            public_ref, medium = shown_ref(ref, screened=bool(screened)), "" if body else _medium_of(media_type, name)
            gap = Unsearched(place, public_ref, reason or IN_PART, in_part=bool(body), medium=medium)
            occurrences.add_unsearched(gap)
        searched += bool(body) or is_empty
        for match in matches:
            occurrences.add(
                Occurrence(
                    *(place, "document", match.kind, match.certainty, shown_ref(ref, screened=bool(screened)), kind),
                    ident=mask_text(shown_class(ident, screened=bool(item_screened))),
                    fields=(shown_ref(item, screened=bool(item_screened)),),
                    screened=bool(screened),
                )
            )
    return searched


def _medium_of(media_type: str, name: str) -> Medium:
    """What a document without text is by its media type, or by its name where no type is told."""
    type_name = (
        media_type if media_type not in ("", "application/octet-stream") else mimetypes.guess_type(name)[0] or ""
    )
    return _MEDIA.get(type_name.partition("/")[0].lower(), "")
