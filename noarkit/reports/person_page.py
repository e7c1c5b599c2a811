"""The report of a search for a person: one page for whoever answers a request of access, and a table of every line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from noarkit.catalogue.persons.occurrences import Occurrence, Occurrences, Unsearched
from noarkit.reports.page import imprint_facts, render
from noarkit.safe import atomic
from noarkit.safe.csv_files import Cell, write_csv
from noarkit.settings import Imprint
from noarkit.version import __version__
from noarkit.words.labels import field_label
from noarkit.words.texts import Texts, explain, texts

PERSON_VERSION = 1
MOST_LINES = 2_000
"""A page of more is long; the table has all of them."""
_NO_TEXT = ("unknown-format", "no-text", "not-read")
COLUMNS = ("place", "certainty", "by", "layer", "ref", "type", "ident", "fields", "screened", "count", "reason")


def write_person_page(
    path: Path,
    lang: str,
    sums: Mapping[str, object],
    places: Sequence[Mapping[str, object]],
    occurrences: Occurrences,
    *,
    because: str = "",
    imprint: Imprint | None = None,
) -> None:
    """Writes the page to `path`, whole or not at all. It holds neither number nor name of the person."""
    texts_ = texts(lang)
    hits: dict[str, list[dict[str, object]]] = {"certain": [], "possible": []}
    for occurrence in occurrences.hits():
        rows = hits[occurrence.certainty]
        if len(rows) < MOST_LINES:
            rows.append(occurrence.to_dict() | {"where": where_of(occurrence, texts_)})
    gaps = [gap.to_dict() | {"why": reason_of(gap, texts_)} for gap in islice(occurrences.unsearched(), MOST_LINES)]
    facts = {
        "report": "person",
        "version": PERSON_VERSION,
        "noarkit": __version__,
        **{"sums": sums, "places": places, "hits": hits, "gaps": gaps, "because": because, "shown": MOST_LINES},
        "imprint": imprint_facts(imprint),
    }
    atomic.write_text(path, render("person.html", lang, facts), mode=0o600)


def write_person_table(path: Path, lang: str, occurrences: Occurrences) -> int:
    """Writes a line for each hit, and one for each thing that was not searched, for people, and returns how many."""
    texts_ = texts(lang)
    count = 0

    def rows() -> Iterator[Iterable[Cell]]:
        nonlocal count
        for hit in occurrences.hits():
            count += 1
            yield (
                *(hit.place, texts_.say(f"person.{hit.certainty}-short"), texts_.say(f"person.by-{hit.kind}")),
                *(texts_.name_in_table("person.layer", hit.layer), hit.ref),
                *(texts_.name_in_table("browse.type", hit.type), hit.ident),
                ", ".join(field_label(texts_, name) for name in hit.fields),
                *("x" if hit.screened else "", hit.count, ""),
            )
        for gap in occurrences.unsearched():
            count += 1
            state = texts_.say("person.in-part" if gap.in_part else "person.not-searched")
            yield (gap.place, state, "", "", gap.ref, "", "", "", "", "", reason_of(gap, texts_))

    write_csv(path, [texts_.say(f"person.column.{name}") for name in COLUMNS], rows())
    return count


def where_of(occurrence: Occurrence, texts_: Texts) -> str:
    """What of an item, a document or a file the person occurs in, for people."""
    if occurrence.layer == "document":
        return texts_.say("person.in-text")
    fields = ", ".join(occurrence.fields)
    if occurrence.layer == "local":
        return texts_.say("person.in-file", fields=fields or "–", count=occurrence.count)
    return texts_.say("person.in-fields", fields=fields)


def reason_of(gap: Unsearched, texts_: Texts) -> str:
    """Why something could not be searched."""
    if gap.medium and gap.reason in _NO_TEXT:
        return texts_.say(f"person.medium.{gap.medium}")
    for table in ("person.reason", "search.reason"):
        if texts_.has("say", f"{table}.{gap.reason}"):
            return texts_.say(f"{table}.{gap.reason}")
    meaning = explain(gap.reason, texts_.lang)
    return f"{gap.reason} {meaning[0]}" if meaning else gap.reason
