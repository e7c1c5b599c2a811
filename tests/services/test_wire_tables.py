"""Both sides of every service are held to its published table: what a connector asks, and what its stand-in answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.errors import ServiceRefused
from noarkit.events import ignore_event
from noarkit.services.connections import open_service
from noarkit.services.port import Item, Service, Window
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import LATER, standing
from tests.services.wire_tables import HELD, Json, Recorder, judged


def read_all(service: Service) -> None:
    """Every stream, and the first contents of each."""
    service.introduce()
    for stream in service.streams():
        opened = 0
        for item in service.items(stream, Window(None, LATER), ignore_event):
            for content in item.contents if isinstance(item, Item) and opened < 3 else ():
                opened += 1
                with service.open(content) as reading:
                    reading.read(64)


@pytest.fixture(scope="module", params=sorted(HELD))
def journey(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Recorder]]:
    """A service read whole, with all that went over the wire."""
    recorded, folder = Recorder(), tmp_path_factory.mktemp(request.param)
    wish = StandinSpec(60, limits=((1_000_000, 60.0),))
    with (
        standing(request.param, folder, wish, recorded) as there,
        closing(open_service(there.connection())) as service,
    ):
        read_all(service)
    yield request.param, recorded


def ours(recorded: Recorder) -> list[Json]:
    """One good request of each kind that we sent."""
    found = {(one["method"], one["path"]): one for one in recorded.exchanges if one["ours"] and not one["trouble"]}
    return list(found.values())


def test_both_sides_keep_to_the_published_table(journey: tuple[str, Recorder], reference: Path) -> None:
    service, recorded = journey
    assert len({one["path"] for one in recorded.exchanges}) > 5
    assert recorded.breaches(reference, service) == []


def test_a_request_that_nobody_published_is_caught(journey: tuple[str, Recorder], reference: Path) -> None:
    service, recorded = journey
    assert list(ours(recorded))
    for one in ours(recorded):
        assert judged(reference, service, one) == [], "it is good before it is changed"
        for wrong in _mutants(one):
            assert judged(reference, service, wrong), (wrong["method"], wrong["path"], wrong["query"], wrong["body"])


def _mutants(one: Json) -> Iterator[Json]:
    yield {**one, "path": one["path"] + "/no-such-part" * 5}
    yield {**one, "method": "PATCH" if one["method"] != "PATCH" else "PUT", "body": None}
    yield {**one, "query": [*one["query"], ("no_such_name", "1")]}
    if one["body"] is None:
        yield {**one, "body": {"noSuchMember": 1}}


def test_an_answer_that_nobody_published_is_caught(journey: tuple[str, Recorder], reference: Path) -> None:
    service, recorded = journey
    caught = 0
    for one in ours(recorded):
        if isinstance(one["response"], dict) and one["status"] == 200:
            wrong = [{**one, "status": 299}, {**one, "response": [one["response"]]}]
            caught += sum(bool(judged(reference, service, each)) for each in wrong)
    assert caught > 10


def test_what_a_test_asked_to_go_wrong_is_not_held_against_a_stand_in(tmp_path: Path, reference: Path) -> None:
    recorded = Recorder()
    with standing("appsec", tmp_path, StandinSpec(2), recorded) as there:
        there.control("trouble", path="/api/projects", status=418)
        with closing(open_service(there.connection())) as service, pytest.raises(ServiceRefused):
            service.introduce()
            read_all(service)
    (met,) = [one for one in recorded.exchanges if one["status"] == 418]
    assert judged(reference, "appsec", met) == []
    assert judged(reference, "appsec", {**met, "trouble": False})
