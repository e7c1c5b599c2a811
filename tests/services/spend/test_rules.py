"""The client rules of the reference (its section 6) that concern a spend service, each by its number."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.errors import ServiceDenied, ServiceRefused, ServiceStrange
from noarkit.services.port import Item
from noarkit.services.spend.service import open_service
from noarkit.services.standins.server import StandinSpec
from tests.services.scripted import one_after_another, serving, told
from tests.services.standing import Standing, all_of, connected, standing

FREE = ((1_000_000, 60.0),)
ODD = {
    name: f"00000000-0000-4000-9000-{number:012d}"
    for number, name in enumerate(("jpy", "isk", "kwd", "refund", "none", "nobody", "unknown"))
}
SETTLED = {"status": "COMPLETED", "exportStatus": "EXPORTED", "settledAt": "2026-05-01T10:00:00.000Z"}


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A service with one entry of each odd kind."""
    # its odd entries are what nobody published, and what a client must bear all the same
    with standing("spend", tmp_path_factory.mktemp("spend"), StandinSpec(3, limits=FREE), odd=True) as found:
        values = {
            "jpy": {"currency": "JPY", "minors": 1500},
            "isk": {"currency": "ISK", "minors": 1500},
            "kwd": {"currency": "KWD", "minors": 1500},
            "refund": {"currency": "NOK", "minors": -129900},
            "none": None,
        }
        entries: list[dict[str, object]] = [
            {"id": ODD[name], "transactionValue": value, **SETTLED} for name, value in values.items()
        ]
        entries += [
            {"id": ODD["nobody"], "employeeId": None, "merchant": None, "supplier": None, **SETTLED},
            {"id": ODD["unknown"], "family": "A_NEW_FAMILY", "subFamily": 7, **SETTLED},
        ]
        found.control("change", entries=entries)
        yield found


def item(held: Standing, folder: Path, one: str) -> Item:
    """One entry as it is archived."""
    with connected(open_service, held, folder) as service:
        return next(
            each for each in all_of(service, "entries") if isinstance(each, Item) and each.key.endswith(ODD[one])
        )
    raise AssertionError(one)


@pytest.mark.parametrize(
    ("one", "amount"),
    [
        ("jpy", "1500 JPY"),
        ("isk", "1500 ISK"),
        ("kwd", "1.500 KWD"),
        ("refund", "-1299.00 NOK"),
        ("none", ""),
    ],
)
def test_8_amounts_have_the_exponent_of_their_currency_and_a_refund_is_negative(
    held: Standing, tmp_path: Path, one: str, amount: str
) -> None:
    found = item(held, tmp_path, one)
    assert found.fields["amount"] == amount
    assert amount in str(found.fields["title"])
    kept = json.loads(found.generated[1].data).get("transactionValue")
    assert kept is None or isinstance(kept["minors"], int)


def test_8_an_entry_without_a_user_or_supplier_is_archived(held: Standing, tmp_path: Path) -> None:
    found = item(held, tmp_path, "nobody")
    assert found.fields["employee"] is None
    assert found.fields["supplier"] == "Avsender ikke oppgitt"
    assert found.fields["title"] == "Kortkjøp, 4600 Konto 4600 2024-01-02 -7876.96 NOK"


def test_8_an_entry_of_a_family_nobody_knows_is_archived_as_it_is(held: Standing, tmp_path: Path) -> None:
    found = item(held, tmp_path, "unknown")
    assert (found.kind, found.fields["family"]) == ("entry", "A_NEW_FAMILY")
    assert json.loads(found.generated[1].data)["family"] == "A_NEW_FAMILY"


def test_7_an_address_that_expired_is_asked_for_once_more_and_no_oftener(held: Standing, tmp_path: Path) -> None:
    with connected(open_service, held, tmp_path) as service:
        content = next(one.contents[0] for one in all_of(service, "entries") if isinstance(one, Item) and one.contents)
        before = held.control("counts")["troubles_met"]
        held.control("trouble", path="/files/", status=403, times=2)
        with pytest.raises(ServiceDenied), service.open(content) as source:
            source.read()
        assert held.control("counts")["troubles_met"] == before + 2  # type: ignore[operator]  # numbers
        with service.open(content) as source:
            assert len(source.read()) == content.size_bytes


@pytest.mark.parametrize("life", ["-1", "86400"])
def test_7_signed_addresses_really_end(tmp_path: Path, life: str) -> None:
    with (
        standing("spend", tmp_path, StandinSpec(8, limits=FREE, options={"url-life": life})) as there,
        connected(open_service, there, tmp_path) as service,
    ):
        found = (one.contents[0] for one in all_of(service, "entries") if isinstance(one, Item) and one.contents)
        content = next(found)
        if life == "86400":
            with service.open(content) as source:
                assert source.read()
        else:
            with pytest.raises(ServiceDenied), service.open(content) as source:
                source.read()


def test_2_a_cursor_that_comes_again_is_a_fault(held: Standing, tmp_path: Path) -> None:
    again = told({"data": [{"id": "1"}], "pagination": {"hasNextPage": True, "endCursor": "A"}})
    with serving(one_after_another(again)) as other:
        with connected(open_service, held, tmp_path) as service:
            service.calls.client.base = other.url
            with pytest.raises(ServiceStrange):
                list(service.calls.register("vendors"))
        assert len(other.asked) <= 3


def test_1_a_refusal_is_told_by_its_type_and_message(held: Standing, tmp_path: Path) -> None:
    with (
        serving(one_after_another(told({"type": "VALIDATION_FAILED", "message": "nei"}, 400))) as other,
        connected(open_service, held, tmp_path) as service,
    ):
        service.calls.client.base = other.url
        with pytest.raises(ServiceRefused) as caught:
            service.calls.introspect()
        assert caught.value.data["why"] == "VALIDATION_FAILED: nei"
