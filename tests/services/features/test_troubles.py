"""Lists that do not get on or are shorter than they say, and a service that stumbles, breaks or loses something."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from noarkit.errors import (
    ServiceBroken,
    ServiceStrange,
)
from noarkit.services.features.service import Features
from noarkit.services.port import FetchFailure, Item
from noarkit.services.standins.server import StandinSpec
from tests.services.features.asking import all_of, connected, items_of, scripted
from tests.services.scripted import Asked, Told, serving, told
from tests.services.standing import Standing, standing


def test_a_page_that_comes_again_is_a_fault_and_a_foreign_next_page_is_not_followed(
    held: Standing, tmp_path: Path
) -> None:
    def answer(asked: Asked) -> Told:
        return told({"data": [{"id": "g1"}], "pagination": {"nextPage": "https://elsewhere.example/x?page=2"}})

    with serving(answer) as service, scripted(held, tmp_path, service.url) as found, pytest.raises(ServiceStrange):
        list(found.calls.definitions("gates"))
    assert {asked.path for asked in service.asked} == {"/console/v1/gates"}


def test_a_list_that_is_shorter_than_it_says_is_a_fault(held: Standing, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Told:
        return told({"data": [{"id": "g1"}], "pagination": {"nextPage": None, "totalItems": 2}})

    with serving(answer) as service, scripted(held, tmp_path, service.url) as found, pytest.raises(ServiceStrange):
        list(found.calls.definitions("gates"))


def test_what_is_made_while_a_list_is_read_makes_no_fault(held: Standing, tmp_path: Path) -> None:
    def answer(asked: Asked) -> Told:
        page = int(asked.query["page"][0])
        rows = [{"id": f"g{number}"} for number in range(page * 2 - page, page * 2 - page + 2)]
        more = "?page=2" if page == 1 else None
        return told({"data": rows, "pagination": {"nextPage": more, "totalItems": 2 + page}})

    with serving(answer) as service, scripted(held, tmp_path, service.url) as found:
        assert [row["id"] for row in found.calls.definitions("gates")] == ["g1", "g2", "g3"]


def test_what_is_deleted_while_a_list_is_read_hides_nothing_of_it(held: Standing, tmp_path: Path) -> None:
    gates = ["g1", "g2", "g3", "g4"]

    def answer(asked: Asked) -> Told:
        begin = 2 * (int(asked.query["page"][0]) - 1)
        more = f"?page={begin // 2 + 2}" if begin + 2 < len(gates) else None
        rows, total = [{"id": one} for one in gates[begin : begin + 2]], len(gates)
        if begin == 0 and "g1" in gates:
            gates.remove("g1")  # g3 slips to the page that was read
        return told({"data": rows, "pagination": {"nextPage": more, "totalItems": total}})

    with serving(answer) as service, scripted(held, tmp_path, service.url) as found:
        assert [row["id"] for row in found.calls.definitions("gates")] == ["g1", "g2", "g4", "g3"]


def test_versions_that_cannot_be_had_are_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    with (
        standing("features", tmp_path, StandinSpec(15, limits=(), options={"audit": "0"})) as troubled,
        connected(troubled, tmp_path) as service,
    ):
        whole = len(items_of(service, "gates"))
        first = next(service.calls.definitions("gates"))
        troubled.control("trouble", path=f"/gates/{quote(str(first['id']))}", status=404, times=2)
        found = all_of(service, "gates")
        (lost,) = [one for one in found if isinstance(one, FetchFailure)]
        assert lost.key == f"{service.tenant}:gate:{quote(str(first['id']))}:versions"
        assert len(found) - 1 == whole - (int(str(first["version"])) - 1)


def test_no_versions_of_a_definition_that_is_gone_by_then_are_no_empty_list(tmp_path: Path) -> None:
    with (
        standing("features", tmp_path, StandinSpec(5, limits=(), options={"audit": "0"})) as troubled,
        connected(troubled, tmp_path) as service,
    ):
        first = quote(str(next(service.calls.definitions("gates"))["id"]))
        troubled.control("trouble", path=f"/gates/{first}/versions", status=200, body='{"message": "", "data": []}')
        troubled.control("trouble", path=f"/gates/{first}", status=404)
        (lost,) = [one for one in all_of(service, "gates") if isinstance(one, FetchFailure)]
        assert lost.key == f"{service.tenant}:gate:{first}:versions"


def test_a_definition_that_is_deleted_while_reviews_are_read_stops_nothing(held: Standing, features: Features) -> None:
    whole = len(items_of(features, "reviews"))
    one = next(features.calls.definitions("gates"))
    held.control("trouble", path=f"/gates/{quote(str(one['id']))}", status=404, times=2)
    found = all_of(features, "reviews")
    assert sum(isinstance(one, FetchFailure) and one.key.endswith(":reviews") for one in found) == 1
    assert whole - 2 <= sum(isinstance(one, Item) for one in found) <= whole


@pytest.mark.parametrize(("kind", "path"), [("gates", "/versions"), ("reviews", "/reviews")])
def test_not_there_is_believed_of_a_definition_that_stands_only_when_said_twice(
    kind: str, path: str, held: Standing, features: Features
) -> None:
    whole = len(items_of(features, kind))
    held.control("trouble", path=path, status=404, times=1)
    assert len(items_of(features, kind)) == whole
    held.control("trouble", path=path, status=404, times=2)
    assert not [one for one in all_of(features, kind) if isinstance(one, FetchFailure)]


def test_a_service_that_stumbles_is_asked_again_and_one_that_breaks_is_told(held: Standing, features: Features) -> None:
    held.control("trouble", path="/layers", status=503, times=2)
    assert items_of(features, "layers")
    held.control("trouble", path="/layers", status=500, times=7)
    with pytest.raises(ServiceBroken):
        items_of(features, "layers")
