"""Paging: every object once, by offset or after the last id, with the next page on its way or not."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from noarkit.archive.paging import objects, pages
from noarkit.archive.query import equals, select
from noarkit.archive.values import Page, Query, SavedObject
from noarkit.errors import ArchiveRefused, ArchiveStrange
from tests.archive.fakes import FakeArchive, Shelf
from tests.waiting import PATIENCE_S

BY_ID = select("Mappe", order="id", limit=10)


def ids(found: Iterator[SavedObject]) -> list[int]:
    """Their ids as numbers."""
    return [int(one.id) for one in found]


@pytest.mark.parametrize("prefetch", [False, True])
@pytest.mark.parametrize("order", ["id", "tittel"])
@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 20, 35])
def test_every_object_comes_once(count: int, order: str, prefetch: bool) -> None:
    shelf = Shelf(ids=list(range(1, count + 1)))
    query = select("Mappe", order=order, limit=10)
    assert ids(objects(shelf, query, prefetch=prefetch)) == list(range(1, count + 1))
    assert len(shelf.queries) == max(1, -(-count // 10))


def test_pages_by_id_go_on_after_the_last_one() -> None:
    shelf = Shelf(ids=list(range(1, 26)))
    list(pages(shelf, select("Mappe", equals("tittel", "A"), order="id", limit=10)))
    assert [query.offset for query in shelf.queries] == [0, 0, 0]
    assert [query.where for query in shelf.queries] == ["tittel = @p1", *["(tittel = @p1) && id = {@after:@end]"] * 2]
    assert shelf.queries[2].parameters == {"@p1": "A", "@after": 20, "@end": "*"}


def test_what_is_deleted_meanwhile_shifts_nothing() -> None:
    shelf = Shelf(ids=list(range(1, 31)))
    found: list[int] = []
    for page in pages(shelf, BY_ID):
        found += [int(one.id) for one in page.objects]
        shelf.ids = [one for one in shelf.ids if one > 5]
    assert found == list(range(1, 31))


def test_an_archive_without_ranges_of_ids_is_asked_by_offset() -> None:
    shelf = Shelf(ids=list(range(1, 26)), knows_ranges=False)
    assert ids(objects(shelf, BY_ID)) == list(range(1, 26))
    assert [query.offset for query in shelf.queries] == [0, 0, 10, 20]


def test_a_query_that_is_refused_is_refused() -> None:
    with pytest.raises(ArchiveRefused):
        list(pages(FakeArchive(acts=[ArchiveRefused(call="query")]), BY_ID))


def test_a_query_with_an_offset_starts_there() -> None:
    shelf = Shelf(ids=list(range(1, 26)))
    query = Query("Mappe", order=(("id", "asc"),), limit=10, offset=20)
    assert ids(objects(shelf, query)) == [21, 22, 23, 24, 25]


@pytest.mark.parametrize("order", ["id", "tittel"])
def test_an_archive_that_promises_more_and_gives_nothing_is_strange(order: str) -> None:
    class Endless(FakeArchive):
        def query(self, query: Query) -> Page:
            """Never anything, always more."""
            return Page((), True)

    with pytest.raises(ArchiveStrange):
        list(pages(Endless(), select("Mappe", order=order)))


def test_an_archive_that_ignores_the_range_is_found_out() -> None:
    class Forgetful(FakeArchive):
        def query(self, query: Query) -> Page:
            """The same page for ever."""
            return Page((SavedObject("Mappe", "9", "1", {}, {}), SavedObject("Mappe", "10", "1", {}, {})), True)

    with pytest.raises(ArchiveStrange, match="ids-do-not-ascend"):
        list(pages(Forgetful(), BY_ID))


def test_the_next_page_is_asked_for_while_one_is_worked_on() -> None:
    asked = threading.Semaphore(0)
    shelf = Shelf(ids=list(range(1, 31)))

    class Telling(FakeArchive):
        def query(self, query: Query) -> Page:
            """Tells that it was asked."""
            asked.release()
            return shelf.query(query)

    following = pages(Telling(), BY_ID, prefetch=True)
    next(following)
    assert asked.acquire(timeout=PATIENCE_S)
    assert asked.acquire(timeout=PATIENCE_S)  # the second page, though nobody has asked for it yet
    assert len(list(following)) == 2


def test_a_fault_of_a_later_page_comes_when_its_turn_does() -> None:
    shelf = Shelf(ids=list(range(1, 31)))

    class Failing(FakeArchive):
        def query(self, query: Query) -> Page:
            """Works once."""
            if shelf.queries:
                raise ArchiveStrange(call="query")
            return shelf.query(query)

    following = pages(Failing(), select("Mappe", limit=10), prefetch=True)
    assert len(next(following).objects) == 10
    with pytest.raises(ArchiveStrange):
        next(following)
