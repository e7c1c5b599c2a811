"""The CRM's list of deleted records: its pages end at two thousand rows, and its order is not published."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from noarkit.errors import ServiceStrange
from noarkit.services.crm.listing import deleted_records
from noarkit.services.crm.service import Crm, open_service
from noarkit.services.standins.server import StandinSpec
from tests.services.scripted import Answering, Asked, Told, serving, told
from tests.services.standing import Standing, connected, standing

SINCE = datetime(2026, 1, 1, tzinfo=UTC)
COUNT = 2_450


@pytest.fixture(scope="module")
def crm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crm]:
    """A connection whose lists are scripted."""
    folder = tmp_path_factory.mktemp("crm")
    held: Standing
    with standing("crm", folder, StandinSpec(1)) as held, connected(open_service, held, folder, org_id="1") as service:
        service.calls.modules()
        yield service


def bin_of(a_second: int, *, newest_first: bool = False, is_after: bool = False) -> Answering:
    """A bin of many records, so many deleted in each second. With `is_after` it lists what is later than the time asked
    for, else also what is of that very time."""
    times = [SINCE + timedelta(seconds=10 + number // a_second) for number in range(COUNT)]
    rows = [{"id": str(number), "deleted_time": moment.isoformat()} for number, moment in enumerate(times)]

    def answer(asked: Asked) -> Told:
        after = datetime.fromisoformat(asked.headers["if-modified-since"])
        page = int(asked.query.get("page", ["1"])[0])
        first = after + timedelta(seconds=is_after)
        found = [row for row, moment in zip(rows, times, strict=True) if moment >= first]
        found = found[::-1] if newest_first else found
        data = found[(page - 1) * 200 : page * 200]
        return told({"data": data, "info": {"more_records": len(found) > page * 200}}) if data else told({}, 204)

    return answer


def found_ids(crm: Crm, answer: Answering) -> list[str]:
    """The ids that are listed."""
    with serving(answer) as service:
        crm.calls.client.base = service.url
        return [str(row["id"]) for row in deleted_records(crm.calls, "Deals", SINCE, "test")]


@pytest.mark.parametrize("is_after", [False, True])
@pytest.mark.parametrize("a_second", [1, 7, 300])
def test_more_deletions_than_pages_reach_are_listed_once_however_many_bear_the_same_second(
    crm: Crm, a_second: int, is_after: bool
) -> None:
    assert found_ids(crm, bin_of(a_second, is_after=is_after)) == [str(number) for number in range(COUNT)]


@pytest.mark.parametrize("answer", [bin_of(1, newest_first=True), bin_of(COUNT)], ids=["newest-first", "one-second"])
def test_a_list_that_cannot_be_read_to_its_end_is_no_list(crm: Crm, answer: Answering) -> None:
    with pytest.raises(ServiceStrange) as caught:
        found_ids(crm, answer)
    assert caught.value.data["why"] == "list-incomplete"
