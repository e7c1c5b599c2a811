"""Pages of findings: complete whichever way offsets count and however few the service gives, or told as incomplete."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.errors import ServiceStrange
from noarkit.services.appsec.findings import Finding, Page, all_findings


class Fake:
    """A service with so many findings, of which it gives at most `most` at once."""

    def __init__(self, count: int, most: int, *, by_page: bool) -> None:
        self.rows: list[Finding] = [{"type": "sast", "similarityId": str(one), "line": one} for one in range(count)]
        self.told = count
        self.asked = 0
        self._most = most
        self._by_page = by_page

    def ask(self, offset: int, limit: int) -> Page:
        """One page."""
        self.asked += 1
        size = min(limit, self._most)
        begin = offset * size if self._by_page else offset
        return Page(self.rows[begin : begin + size], self.told)


@given(st.integers(0, 60), st.integers(1, 25), st.integers(1, 25), st.booleans())
def test_every_finding_comes_once(count: int, most: int, limit: int, by_page: bool) -> None:
    fake = Fake(count, most, by_page=by_page)
    found = all_findings(fake.ask, limit, "test")
    assert sorted(str(one["similarityId"]) for one in found) == sorted(map(str, range(count)))


@given(st.integers(1, 40), st.integers(1, 25), st.integers(1, 5), st.booleans())
def test_fewer_findings_than_the_service_counts_are_never_silent(
    count: int, most: int, lacking: int, by_page: bool
) -> None:
    fake = Fake(count, most, by_page=by_page)
    fake.told = count + lacking
    with pytest.raises(ServiceStrange) as caught:
        all_findings(fake.ask, 25, "test")
    assert caught.value.data["why"] == "list-incomplete"


def test_a_total_that_shrinks_between_pages_is_asked_for_again() -> None:
    fake = Fake(30, 10, by_page=True)

    def ask(offset: int, limit: int) -> Page:
        if fake.asked == 1:
            fake.rows, fake.told = fake.rows[:28], 28  # somebody closed two while we read
        return fake.ask(offset, limit)

    assert len(all_findings(ask, 10, "test")) == 28


def test_the_order_is_ours_whatever_the_service_has() -> None:
    fake = Fake(20, 20, by_page=False)
    first = all_findings(fake.ask, 20, "test")
    fake.rows.reverse()
    assert all_findings(fake.ask, 20, "test") == first
