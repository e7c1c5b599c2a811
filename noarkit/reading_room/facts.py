"""The facts of each page, from the looks into a catalogue: the same for served pages and for files."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from noarkit.catalogue.catalogue import Card, Entry
from noarkit.catalogue.conversion_steps import role_of
from noarkit.catalogue.facets import FACETS
from noarkit.catalogue.masking import is_screened
from noarkit.catalogue.port import Document, PlaceIdentity
from noarkit.catalogue.query import MOST_CHARACTERS
from noarkit.catalogue.search import MOST_HITS, Hit, SearchQuery
from noarkit.loading.folder import RunFolder
from noarkit.loading.next_step import command_line
from noarkit.loading.state import RunState, read_state
from noarkit.reading_room.cards import document_fields, field_groups, link_groups
from noarkit.reading_room.chain import chain_of
from noarkit.reading_room.links import Span
from noarkit.reading_room.looks import Looks, Siblings
from noarkit.reading_room.pages import View
from noarkit.reading_room.phrasing import phrases
from noarkit.reports import charts
from noarkit.reports.deliveries import delivery_at
from noarkit.reports.verdict_words import verdict_facts
from noarkit.words.texts import texts

Facts = Mapping[str, object]
_LARGEST = 8
_MOST_FILTERS = 20
_MOST_DOCUMENTS = 5
_MOST_YEARS = 120


def place_facts(looks: Looks, view: View, span: Span, *, masks: bool = False) -> Facts:
    """What a place is and holds, and where to begin."""
    summary = looks.summary()
    siblings = looks.siblings(None, span)
    run = _state_of_run(looks.identity)
    return {
        "counts": looks.counts(),
        "summary": summary,
        "numbers": None if run is None else run.numbers,
        "found_wrong": 0 if run is None else len(run.differences),
        "year_chart": charts.columns(_years(summary.years), phrases(view.lang).say("place.years")),
        "largest": _largest(looks, siblings),
        "siblings": siblings,
        "years_in": looks.years_in(None),
        "span": span,
        "masks": masks,
        "validate_command": _validate_command(view.place),
        "verdict": _verdict(looks.identity, view.lang),
    }


def _verdict(place: PlaceIdentity, lang: str) -> object:
    """Whether a package is ready for deposit, by the facts beside it; None where nobody noted any."""
    if place.kind not in ("extract", "package") or not place.where:
        return None
    return verdict_facts(delivery_at(Path(place.where)).verdict, texts(lang))


def _validate_command(place: PlaceIdentity) -> str:
    """The command that judges a place which was only read; empty for one that is no package or extract."""
    if place.kind not in ("extract", "package"):
        return ""
    return shlex.join(command_line("validate", place.where or place.name))


def _state_of_run(place: PlaceIdentity) -> RunState | None:
    """How a run is, as every other report has it; None for another place."""
    return read_state(RunFolder(Path(place.where))) if place.kind == "run" else None


def item_facts(looks: Looks, ref: str, span: Span) -> Facts:
    """The card of an item, with what lies in it."""
    card, is_masked = looks.masked_card(ref)
    return {**_served_card(looks, card, span), "is_masked": is_masked}


def revealed_facts(looks: Looks, ref: str, reason: str, account: str = "") -> Facts:
    """The same without masks, after the access log has it."""
    return {**_served_card(looks, looks.reveal(ref, reason, account), Span()), "revealed": True}


def document_facts(
    looks: Looks, document: Document, entry: Entry, ancestors: tuple[Entry, ...], *, revealed: bool = False
) -> Facts:
    """A document with its chain of custody."""
    return {
        "revealed": revealed,
        "document": document,
        "entry": entry,
        "ancestors": ancestors,
        "chain": chain_of(document, partial(looks.document_with, near=entry.ref)),
        "rows": document_fields(document),
        "role": role_of(document, looks.catalogue.documents(entry.ref)),
        "reading": "",
    }


def search_facts(looks: Looks, pairs: Sequence[tuple[str, str]]) -> Facts:
    """The hits of a search with what they can be narrowed by; nothing is searched where nothing is asked for."""
    query = search_query(pairs)
    page = looks.search(query) if query.text or query.filters else None
    return {
        "asked": query,
        "page": page,
        "hits": [] if page is None else [_shown_hit(looks, hit) for hit in page.hits],
        "chosen": dict.fromkeys(query.filters),
        "unread": looks.unread_documents(),
    }


def search_query(pairs: Sequence[tuple[str, str]]) -> SearchQuery:
    """The search that an address asks for; what is no part of one is left out."""
    first = dict(reversed(pairs))
    offset = first.get("offset", "")
    return SearchQuery(
        first.get("q", "").strip()[:MOST_CHARACTERS],
        tuple((name, value) for name, value in pairs if name in FACETS and value)[:_MOST_FILTERS],
        order="day" if first.get("order") == "day" else "rank",
        fold=first.get("fold") == "1",
        offset=min(int(offset), MOST_HITS) if offset.isascii() and offset.isdigit() and len(offset) < 7 else 0,
    )


def _shown_hit(looks: Looks, hit: Hit) -> Facts:
    """A hit whose texts are cut where the marked words begin and end; a text of a document comes with the document."""
    documents = {ref: looks.document(ref)[0] for ref in hit.documents[:_MOST_DOCUMENTS]}
    return {
        "entry": hit.entry,
        "title": _cut_at_marks(hit.entry.title, hit.marks),
        "contexts": [
            {
                "context": context,
                "pieces": _cut_at_marks(context.text, context.marks),
                "document": documents.get(context.source),
            }
            for context in hit.contexts
        ],
        "documents": [
            document for ref, document in documents.items() if all(context.source != ref for context in hit.contexts)
        ],
    }


def _cut_at_marks(text: str, marks: Sequence[tuple[int, int]]) -> list[tuple[str, bool]]:
    pieces, at = [], 0
    for begin, end in marks:
        pieces += [(text[at:begin], False), (text[begin:end], True)]
        at = end
    return [piece for piece in (*pieces, (text[at:], False)) if piece[0]]


def card_facts(looks: Looks, card: Card, siblings: Siblings, span: Span) -> dict[str, object]:
    """A card with some of what lies in it; `years_in` are those that the list can be narrowed to."""
    return {
        "entry": card.entry,
        "ancestors": card.ancestors,
        "groups": field_groups(card),
        "files_of": [
            {
                "document": document,
                "chain": chain_of(document, partial(looks.document_with, near=card.entry.ref)),
                "fields": document_fields(document),
                "needs_reason": is_screened(document, card.entry),
                "role": role_of(document, card.documents),
            }
            for document in card.documents
        ],
        "link_groups": link_groups(card),
        "links_left": card.links_here_count - len(card.links_here),
        "links_out_left": card.links_count - len(card.links),
        "history": card.history,
        "siblings": siblings,
        "years_in": [],
        "span": span,
        "revealed": False,
        "problems": {},
        "is_masked": card.entry.screened,
    }


def _served_card(looks: Looks, card: Card, span: Span) -> dict[str, object]:
    entry = card.entry
    siblings = looks.siblings(entry, span) if entry.children else Siblings((), None, None)
    return {**card_facts(looks, card, siblings, span), "years_in": looks.years_in(entry.ref) if entry.children else []}


def _years(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Every year from the first to the last, also those that nothing is filed under, in so far as they can be drawn."""
    years = sorted(int(year) for year in counts)
    if not years or years[-1] - years[0] > _MOST_YEARS:
        return [(str(year), counts[str(year)]) for year in years]
    return [(str(year), counts.get(str(year), 0)) for year in range(years[0], years[-1] + 1)]


def _largest(looks: Looks, siblings: Siblings) -> list[Entry]:
    """The items of the first two levels that most lies in; none where that says no more than the list itself."""
    if not 0 < len(siblings.entries) <= 20:
        return []
    below = [child for entry in siblings.entries for child in looks.siblings(entry, Span()).entries]
    largest = sorted((entry for entry in below if entry.children), key=lambda entry: (-entry.children, entry.n))
    return largest[:_LARGEST]
