"""Lists end rightly, records are the same bytes everywhere, and settings are read as they are written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.config import Sources, load
from noarkit.errors import ConfigFault, SecretFault, SecretOnTheLine, ServiceStrange
from noarkit.safe.spill import KeySet
from noarkit.service_names import is_connection_name
from noarkit.services.canonical import canonical, fingerprint, parse, redact, without_secrets
from noarkit.services.connections import read_connection
from noarkit.services.pace import Rate
from noarkit.services.paging import Page, pages, rows
from noarkit.services.scrub import Scrubber
from noarkit.services.settings import Connection, open_wire
from noarkit.services.watermarks import Watermark, Watermarks, read_watermarks, write_watermarks

DECIMALS = st.decimals(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.text() | DECIMALS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def keyed(row: object) -> str:
    """The id of a row."""
    return str(row["id"])  # type: ignore[index]  # rows are tables


def paged(*found: Page) -> Iterator[Page]:
    """Pages by their place."""
    return pages(lambda cursor: found[int(cursor or 0)], "crm:test")


def page(ids: range, following: str | None, total: int | None = None) -> Page:
    """A page of rows with those ids."""
    return Page([{"id": number} for number in ids], following, total)


def test_every_row_comes_once_though_the_list_moves() -> None:
    found = rows(paged(page(range(3), "1"), page(range(2, 5), "2"), page(range(5, 6), None, 6)), keyed, "x", exact=True)
    assert [row["id"] for row in found] == [0, 1, 2, 3, 4, 5]


def test_a_row_that_comes_again_is_known_however_many_came_since() -> None:
    with KeySet() as seen:
        for number in range(2_500):
            assert seen.add(f"k{number}")
            assert seen.has(f"k{number}") and not seen.has(f"k{number + 1}")
        assert not any(seen.add(f"k{number}") for number in (0, 999, 1_000, 1_001, 2_499))
        assert seen.count == 2_500


def test_lists_that_lead_in_a_circle_or_stand_still_are_faults() -> None:
    with pytest.raises(ServiceStrange):
        list(paged(page(range(3), "1"), page(range(3, 5), "0")))
    with pytest.raises(ServiceStrange):
        list(
            rows(paged(page(range(3), "1"), page(range(3), "2"), page(range(3), "3"), page(range(3), None)), keyed, "x")
        )


def test_fewer_rows_than_promised_are_a_fault_where_they_must_be_all() -> None:
    with pytest.raises(ServiceStrange) as caught:
        list(rows(paged(page(range(3), None, 4)), keyed, "x", exact=True))
    assert caught.value.data["why"] == "list-incomplete"


@given(JSON)
def test_canonical_bytes_are_json_and_the_same_after_a_round(value: object) -> None:
    first = canonical(value)
    assert canonical(parse(first, "x")) == first or isinstance(value, Decimal) or "E" in first.decode()
    json.loads(first)


def test_numbers_keep_every_digit_and_members_are_sorted() -> None:
    told = parse('\ufeff{"b": 1234567890123456789, "a": 12.50, "å": [1, {"z": null, "y": true}]}'.encode(), "x")
    assert canonical(told) == '{"a":12.50,"b":1234567890123456789,"å":[1,{"y":true,"z":null}]}'.encode()
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (2**70, b"1180591620717411303424"),
        (1e22, b"1e+22"),
        (0.1, b"0.1"),
        (Decimal("1E+5"), b"1E+5"),
        ("\ud800", b'"\\ud800"'),
        ("\x00\x1f\x7f\u2028", '"\\u0000\\u001f\x7f\u2028"'.encode()),
        ((1, 2), b"[1,2]"),
        (MappingProxyType({"y": 1, "x": None}), b'{"x":null,"y":1}'),
    ],
)
def test_a_value_that_is_rare_is_written_as_in_any_record(value: object, written: bytes) -> None:
    assert canonical(value) == written
    assert canonical({"b": [value], "a": True}) == b'{"a":true,"b":[' + written + b"]}"
    with pytest.raises(TypeError):
        canonical({"a": {1, 2}})


def test_what_is_nested_too_deeply_is_a_fault() -> None:
    value: object = 1
    for _ in range(200):
        value = [value]
    assert canonical(value) == b"[" * 200 + b"1" + b"]" * 200
    with pytest.raises(ServiceStrange):
        canonical([value])


@pytest.mark.parametrize("body", [b"<html>", b'{"a": NaN}', b"\xff\xfe", b"", b"[" * 100_000])
def test_what_is_no_json_is_told(body: bytes) -> None:
    with pytest.raises(ServiceStrange):
        parse(body, "x")


def test_secrets_are_taken_out_of_records() -> None:
    record = {
        "clientSecret": "x",
        "metadata": {"GitHandler": {"credentials": {"value": "hunter2"}}},
        "title": "token of thanks",
    }
    assert without_secrets(record) == {
        "clientSecret": "[REMOVED]",
        "metadata": {"GitHandler": {"credentials": "[REMOVED]"}},
        "title": "token of thanks",
    }
    assert redact("short", b"k") == redact("short", b"k") != redact("short", b"other")


def test_a_secret_is_taken_out_in_every_spelling() -> None:
    scrubber = Scrubber()
    scrubber.learn("a/b+c=d e")
    for text in ("see a/b+c=d e here", "see a%2Fb%2Bc%3Dd%20e here", "see a\\/b+c=d e here"):
        assert "***" in scrubber.clean(text)
        assert "b+c" not in scrubber.clean(text)
    assert scrubber.clean("Authorization: Bearer abcdefghijk") == "Authorization: ***"
    assert len(scrubber.clean("x" * 1_000)) == 300


def test_marks_come_back_as_they_were(tmp_path: Path) -> None:
    when = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    marks = Watermarks("org-1", "archive-1", {"deals": Watermark(when, ("k1", "k2")), "notes": Watermark(when)})
    write_watermarks(tmp_path / "m.json", marks)
    assert read_watermarks(tmp_path / "m.json") == marks
    assert marks.since("deals", timedelta(minutes=5)) == when - timedelta(minutes=5)
    assert marks.since("other", timedelta(0)) is None
    assert marks.age("deals", when + timedelta(days=31)) == timedelta(days=31)
    assert read_watermarks(tmp_path / "none.json") is None
    (tmp_path / "m.json").write_text("[]")
    with pytest.raises(ConfigFault):
        read_watermarks(tmp_path / "m.json")


def configured(tmp_path: Path, text: str, environment: dict[str, str] | None = None) -> Connection:
    """The connection crm:main of a config."""
    (tmp_path / "noarkit.toml").write_text(text)
    surroundings = {"HOME": str(tmp_path), **(environment or {})}
    found = read_connection("crm:main", load(Sources(environment=surroundings, folder=tmp_path)), surroundings)
    assert found is not None
    return found


def test_a_connection_is_read_from_the_config_and_its_variables_go_first(tmp_path: Path) -> None:
    text = """
[connections.crm.main]
api_url = "https://api.example.org/"
rates = ["600/minute", "100/10s", "5000/day"]
credits_floor = 100
client_secret = { env = "OTHER" }
"""
    to = configured(tmp_path, text, {"NOARKIT_CRM_MAIN_API_URL": "https://eu.example.org", "OTHER": "s3cret-canary"})
    assert to.full_name == "crm:main"
    assert to.url("api_url") == "https://eu.example.org"
    assert to.rates("rates") == (Rate(600, 60), Rate(100, 10), Rate(5_000, 86_400))
    assert to.number("credits_floor", 0) == 100
    secret = to.secret("client_secret")
    assert secret is not None and secret.reveal() == "s3cret-canary"
    assert to.secret("refresh_token") is None
    assert "canary" not in repr(to.values)
    to.refuse_unknown({"api_url", "rates", "credits_floor", "client_secret"})
    with pytest.raises(ConfigFault):
        to.refuse_unknown({"api_url"})
    assert to.state_file("grant.json").parent.is_dir()


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('client_secret = "inline"', SecretFault),
        ('api_url = "https://user:pw@example.org"', SecretOnTheLine),
        ('api_url = "ftp://example.org"', ConfigFault),
        ('rates = ["fast"]', ConfigFault),
        ('credits_floor = "many"', ConfigFault),
    ],
)
def test_what_cannot_be_used_is_told_with_its_place(tmp_path: Path, line: str, fault: type[Exception]) -> None:
    to = configured(tmp_path, f"[connections.crm.main]\n{line}\n")
    with pytest.raises(fault) as caught:
        to.secret("client_secret")
        to.url("api_url")
        to.rates("rates")
        to.number("credits_floor", 0)
    assert "connections.crm.main" in str(caught.value)


def test_plain_http_is_for_this_machine_alone(tmp_path: Path) -> None:
    to = configured(tmp_path, '[connections.crm.main]\napi_url = "http://api.example.org"\n')
    with pytest.raises(ConfigFault):
        open_wire(to, [to.url("api_url")], Scrubber())
    open_wire(to, ["http://127.0.0.1:9"], Scrubber()).close()


def test_a_name_is_told_from_a_path() -> None:
    assert is_connection_name("crm:main")
    for other in ("crm", "crm:", "crm:a/b", "C:files", "sqlite:///x", "mail:main"):
        assert not is_connection_name(other)


def test_an_unknown_connection_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigFault):
        read_connection("crm:other", load(Sources(environment={}, folder=tmp_path)), {})
