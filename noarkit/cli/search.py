"""`noarkit search`: items of a place by their words, and by those of their documents, with the words in context."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from noarkit.catalogue.veil import shown_ref
from noarkit.cli.look_lines import LookLines
from noarkit.cli.options import FILE, Session, command, option
from noarkit.cli.running import settings, working
from noarkit.cli.terminal import wants_color
from noarkit.errors import UsageFault
from noarkit.events import EventFields
from noarkit.words.labels import known_label
from noarkit.words.texts import grouped, plain

if TYPE_CHECKING:
    from noarkit.api.searching import FoundItems
    from noarkit.catalogue.catalogue import Catalogue
    from noarkit.catalogue.search import Hit, SearchQuery
    from noarkit.events import Listener

EVENTS: EventFields = {"search_csv": {"path": "text", "hits": "count"}}
_SCOPES = ("metadata", "documents", "both")
_READ_AT_ONCE = 500
"""So many documents are read without being asked: it takes some seconds."""
_INDENT = " " * 19
_BEGIN_MARK, _END_MARK = "\x1b[1m", "\x1b[22m"


@command("search", exits=(4, 5, 6, 8, 9, 10, 130, 143))
@click.argument("place", metavar="PLACE")
@click.argument("words", metavar="[QUERY]...", nargs=-1)
@option("--in", "scope", type=click.Choice(_SCOPES), default="both")
@option("--limit", type=click.IntRange(1, 5_000), default=20, metavar="N")
@option("--offset", type=click.IntRange(0, 5_000), default=0, metavar="N")
@option("--by-day", is_flag=True)
@option("--fold", is_flag=True)
@option("--csv", type=FILE, metavar="FILE")
@option("--read-documents", is_flag=True)
@option("--refresh", is_flag=True)
def search_command(
    session: Session,
    *,
    place: str,
    words: Sequence[str],
    scope: str,
    limit: int,
    offset: int,
    by_day: bool,
    fold: bool,
    csv: Path | None,
    read_documents: bool,
    refresh: bool,
) -> None:
    """Reads what is to be read first, then prints the hits, best first."""
    from noarkit.api.browsing import open_catalogue
    from noarkit.api.searching import search
    from noarkit.catalogue.search import SearchQuery

    text = " ".join(words)
    if not text.strip() and not read_documents:
        raise UsageFault(what="query-wanted", where=place)
    query = SearchQuery(
        text,
        scope=next(name for name in ("metadata", "documents", "both") if name == scope),
        order="day" if by_day else "rank",
        fold=fold,
        offset=offset,
        limit=limit,
    )
    caller = settings(session, None)
    with (
        working(session) as work,
        open_catalogue(place, settings=caller, listener=work.emit, refresh=refresh) as catalogue,
    ):
        if read_documents or (scope != "metadata" and _is_quickly_read(catalogue)):
            _read(session, catalogue, work.emit, is_told=read_documents)
        work.progress.close()
        if not text.strip():
            return
        if csv is not None:
            _write_csv(session, catalogue, query, csv)
            return
        _print(session, search(catalogue, query))


def _is_quickly_read(catalogue: Catalogue) -> bool:
    """True where a few documents are left to read, and no archive must be asked for them."""
    return catalogue.place.identity.kind != "archive" and 0 < catalogue.unread_documents() <= _READ_AT_ONCE


def _read(session: Session, catalogue: Catalogue, emit: Listener, *, is_told: bool) -> None:
    from noarkit.api.searching import read_documents

    counts = read_documents(catalogue, listener=emit)
    texts, console = session.texts, session.console
    if not counts.isolated:
        console.notify("search.not-isolated")
    if counts.differing:
        console.notify("search.differing", count=counts.differing)
    if is_told:
        without = sum(counts.without.values())
        line = texts.say("search.read", documents=counts.documents, copies=counts.copies, missing=counts.missing)
        lines = [line, *(_reason_line(session, reason, count) for reason, count in sorted(counts.without.items()))]
        console.show(counts, "\n".join(lines))
        console.count(documents=counts.documents, without_text=without)


def _reason_line(session: Session, reason: str, count: int) -> str:
    return session.texts.say("search.without", count=count, reason=session.texts.say(f"search.reason.{reason}"))


def _print(session: Session, found_items: FoundItems) -> None:
    console, page = session.console, found_items.page
    lines = _Lines(session)
    for item in found_items.items:
        console.show(item, "\n".join(lines.hit(item.hit)))
    if console.as_json:
        console.show(found_items, "")
    console.count(hits=page.total.number)
    key = "search.none" if not page.total.number else "search.total" if page.total.is_exact else "search.more"
    shown_to = min(page.offset + len(page.hits), page.total.number)
    console.notify(key, total=grouped(page.total.number), first=grouped(page.offset + 1), last=grouped(shown_to))
    if found_items.unread:
        console.notify("search.unread", count=found_items.unread)


def _write_csv(session: Session, catalogue: Catalogue, query: SearchQuery, path: Path) -> None:
    from noarkit.api.searching import CSV_COLUMNS, write_search_csv

    heads = tuple(session.texts.say(f"browse.column.{name}") for name in CSV_COLUMNS)
    count = write_search_csv(catalogue, query, path, heads)
    line = session.texts.say("search.csv", count=count, path=str(path))
    session.console.result("search_csv", line, path=str(path), hits=count)
    session.console.count(hits=count)


class _Lines:
    """Hits as lines for a terminal; words that were looked for are bold where it has colour."""

    def __init__(self, session: Session) -> None:
        console = session.console
        self._lines = LookLines(session.texts, session.config().zone)
        self._texts = session.texts
        self._has_colour = wants_color(console.color, sys.stdout, session.environment)

    def hit(self, hit: Hit) -> Iterator[str]:
        """An item as a line, and each place where a word stands as another."""
        title = self._highlight(hit.entry.title, hit.marks)
        yield self._lines.entry(hit.entry) if title is None else self._titled(hit, title)
        for context in hit.contexts:
            text = self._highlight(context.text, context.marks) or plain(context.text)
            before, after = "" if context.is_begin else "… ", "" if context.is_end else " …"
            layer = "" if context.layer == "body" else f" ({self._texts.say(f'layer.{context.layer}')})"
            yield f"{_INDENT}{self._source(context.source)}{layer}: {before}{text}{after}"

    def _titled(self, hit: Hit, title: str) -> str:
        """The line of an item with words marked in its title."""
        stand_in = "\ue000"
        line = self._lines.entry(replace(hit.entry, title=stand_in))
        return line.replace(plain(stand_in), title, 1)

    def _source(self, source: str) -> str:
        return known_label(self._texts, source) or plain(shown_ref(source, screened=False))

    def _highlight(self, text: str, marks: Sequence[tuple[int, int]]) -> str | None:
        """The text with its marks; None where there is nothing to mark, or no colour."""
        if not marks or not self._has_colour:
            return None
        pieces, at = [], 0
        for begin, end in marks:
            pieces += [plain(text[at:begin]), _BEGIN_MARK, plain(text[begin:end]), _END_MARK]
            at = end
        return "".join((*pieces, plain(text[at:])))
