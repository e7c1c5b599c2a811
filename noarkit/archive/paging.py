"""Reads all objects of a query, page by page, in constant memory; the next page can be prefetched."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from noarkit.archive.optional import answer_or, is_newer
from noarkit.archive.port import Archive
from noarkit.archive.query import OPEN
from noarkit.archive.values import Page, Parameter, Query, SavedObject
from noarkit.errors import ArchiveRefused, ArchiveStrange

_BY_ID = (("id", "asc"),)


def objects(archive: Archive, query: Query, *, prefetch: bool = False) -> Iterator[SavedObject]:
    """Every object that `query` means. See `pages`."""
    for page in pages(archive, query, prefetch=prefetch):
        yield from page.objects


def pages(archive: Archive, query: Query, *, prefetch: bool = False) -> Iterator[Page]:
    """Every page of `query`, from its offset on.

    A query ordered by ascending id alone goes on after the last id it saw, so that what is made or deleted meanwhile
    shifts nothing and deep pages cost no more than the first; where the archive knows no ranges of ids, by offset.
    With `prefetch` the next page is asked for while the caller works on one, on a thread of its own. Of a type that
    only newer archives have there is one empty page where this one does not offer it.
    """
    following = _by_id(archive, query) if query.order == _BY_ID and not query.offset else _by_offset(archive, query)
    if is_newer(query.type):
        following = _pages_if_offered(following)
    return _prefetch_pages(following) if prefetch else following


def _pages_if_offered(following: Iterator[Page]) -> Iterator[Page]:
    yield answer_or(Page((), has_more=False), lambda: next(following))
    yield from following


def _by_offset(archive: Archive, query: Query) -> Iterator[Page]:
    offset = query.offset
    while True:
        page = archive.query(replace(query, offset=offset))
        yield page
        if not page.has_more:
            return
        if not page.objects:
            raise ArchiveStrange(call="query", why="empty-page-with-more")
        offset += len(page.objects)


def _by_id(archive: Archive, query: Query) -> Iterator[Page]:
    page = archive.query(query)
    yield page
    object_count = len(page.objects)
    while page.has_more:
        if not page.objects:
            raise ArchiveStrange(call="query", why="empty-page-with-more")
        last = page.objects[-1].id
        try:
            page = archive.query(_query_after(query, last))
        except ArchiveRefused:
            yield from _by_offset(archive, replace(query, offset=object_count))
            return
        if page.objects and _number(page.objects[0].id) <= _number(last):
            raise ArchiveStrange(call="query", why="ids-do-not-ascend")
        yield page
        object_count += len(page.objects)


def _query_after(query: Query, last: str) -> Query:
    after_last = "id = {@after:@end]"
    condition = f"({query.where}) && {after_last}" if query.where else after_last
    parameters: dict[str, Parameter] = {"@after": int(last) if last.isdigit() else last, "@end": OPEN}
    return replace(query, where=condition, parameters={**query.parameters, **parameters})


def _number(object_id: str) -> tuple[int, str]:
    return len(object_id), object_id


def _prefetch_pages(following: Iterator[Page]) -> Iterator[Page]:
    with ThreadPoolExecutor(1, thread_name_prefix="noarkit-pages") as thread:
        next_page = thread.submit(next, following, None)
        while (page := next_page.result()) is not None:
            next_page = thread.submit(next, following, None)
            yield page
