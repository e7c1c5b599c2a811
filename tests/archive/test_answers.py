"""Which fault each answer means, what it carries, and when the fate of a change is unknown."""

from __future__ import annotations

import traceback
from dataclasses import replace
from email.utils import formatdate

import pytest

from noarkit.archive.http import HttpArchive
from noarkit.archive.values import Query, Save
from noarkit.errors import (
    ArchiveAway,
    ArchiveBroken,
    ArchiveBusy,
    ArchiveConflict,
    ArchiveFault,
    ArchiveMediaType,
    ArchiveNotFound,
    ArchiveRefused,
    ArchiveStrange,
    NotAllowed,
    NotLetIn,
)
from tests.archive.scripted import ScriptedServer, answer, settings_for

LOGIN = b"<!DOCTYPE html><title>Log in</title><form action=https://idp.example/>"


@pytest.mark.parametrize(
    ("status", "kind", "fate_unknown"),
    [
        (400, ArchiveRefused, False),
        (401, NotLetIn, False),
        (403, NotAllowed, False),
        (404, ArchiveNotFound, False),
        (405, ArchiveRefused, False),
        (408, ArchiveBusy, False),
        (409, ArchiveConflict, False),
        (413, ArchiveRefused, False),
        (415, ArchiveMediaType, False),
        (422, ArchiveRefused, False),
        (429, ArchiveBusy, False),
        (500, ArchiveBroken, True),
        (502, ArchiveBroken, True),
        (503, ArchiveBusy, True),
        (504, ArchiveBroken, True),
    ],
)
def test_each_status_is_its_own_fault(
    server: ScriptedServer, archive: HttpArchive, status: int, kind: type[ArchiveFault], fate_unknown: bool
) -> None:
    server.then(answer(status, {"errorId": "e-1", "description": "no", "status": status}))
    with pytest.raises(ArchiveFault) as caught:
        archive.transaction([Save("Mappe", "x")])
    assert type(caught.value) is kind
    assert caught.value.fate_unknown is fate_unknown
    told = {"call": "transaction", "status": status, "description": "no", "error_id": "e-1"}
    assert told.items() <= caught.value.data.items()


@pytest.mark.parametrize(
    ("description", "blamed"),
    [
        ("A field with name tittl was not found in Mappe or its hierarchy.", {"field": "tittl"}),
        ("actions[3]: field 'saksdato' is no date", {"action": 3, "field": "saksdato"}),
        ("Action 12: unknown type", {"action": 12}),
        ("actions[0].fields.tittel must not be empty", {"action": 0, "field": "tittel"}),
        ("actions[1] (Mappe): ref refArkivdel must be linked.", {"action": 1, "field": "refArkivdel"}),
        ("actions[4] (save Mappe): field tittel must have a value.", {"action": 4, "field": "tittel"}),
        ("fieldId farge is already that of a field in group g", {}),
        ("nothing to see", {}),
    ],
)
def test_a_refusal_says_which_action_and_field_where_the_archive_does(
    server: ScriptedServer, archive: HttpArchive, description: str, blamed: dict[str, object]
) -> None:
    server.then(answer(400, {"description": description}))
    with pytest.raises(ArchiveRefused) as caught:
        archive.transaction([Save("Mappe", "x")])
    assert {name: caught.value.data[name] for name in ("action", "field") if name in caught.value.data} == blamed


def test_a_plain_text_error_is_read_too(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(answer(400, "Feltet finnes ikke: tittél".encode(), {"Content-Type": "text/plain"}))
    with pytest.raises(ArchiveRefused) as caught:
        archive.query(Query("Mappe"))
    assert caught.value.data["description"] == "Feltet finnes ikke: tittél"


def test_nothing_of_an_error_page_is_quoted(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(answer(502, LOGIN, {"Content-Type": "text/html"}))
    with pytest.raises(ArchiveBroken) as caught:
        archive.query(Query("Mappe"))
    assert caught.value.data["description"] == ""


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        (formatdate(1_000_030, usegmt=True), 30.0),
        (formatdate(999_000, usegmt=True), 0.0),
        ("soon", None),
        (None, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(
    server: ScriptedServer, status: int, told: str | None, seconds: float | None
) -> None:
    server.then(answer(status, {}, {"Retry-After": told} if told else {}))
    with (
        HttpArchive(settings_for(server.url), now=lambda: 1_000_000.0) as archive,
        pytest.raises(ArchiveBusy) as caught,
    ):
        archive.query(Query("Mappe"))
    assert caught.value.data.get("retry_after_s") == seconds


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_never_followed(server: ScriptedServer, archive: HttpArchive, status: int) -> None:
    server.then(answer(status, b"", {"Location": f"http://127.0.0.1:{server.port}/elsewhere"}))
    with pytest.raises(ArchiveStrange, match="redirect"):
        archive.query(Query("Mappe"))
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (LOGIN, "html"),
        (b'{"saved":{"x":{"ty', "not-json"),
        (b"[]", "no-object"),
        (b"", "no-object"),
        (b"{}", "no-saved"),
        (b'{"saved":[]}', "no-saved"),
        (b'{"saved":{"x":{"type":"Mappe"}}}', "object"),
        (b'{"saved":{"x":{"type":"Mappe","id":true,"version":"1"}}}', "object"),
        (b'{"saved":{"x":{"type":"Mappe","id":"1","version":"1","links":{"refA":[1]}}}}', "object"),
        (b"[" * 100_000, "not-json"),
        (b'{"saved":{}}\xff', "not-json"),
    ],
)
def test_a_good_status_without_a_good_body_leaves_the_fate_of_a_transaction_unknown(
    server: ScriptedServer, archive: HttpArchive, body: bytes, why: str
) -> None:
    server.then(answer(200, body))
    with pytest.raises(ArchiveStrange) as caught:
        archive.transaction([Save("Mappe", "x")])
    assert caught.value.data["why"] == why
    assert caught.value.fate_unknown


@pytest.mark.parametrize("body", [LOGIN, b"{", b"[]", b"{}", b'{"results":{}}', b'{"results":[1]}'])
def test_a_query_answered_with_something_else_changed_nothing(
    server: ScriptedServer, archive: HttpArchive, body: bytes
) -> None:
    server.then(answer(200, body))
    with pytest.raises(ArchiveStrange) as caught:
        archive.query(Query("Mappe"))
    assert not caught.value.fate_unknown


def test_an_answer_beyond_all_measure_is_cut(server: ScriptedServer) -> None:
    server.then(answer(200, b'{"results":[' + b" " * 100_000))
    settings = replace(settings_for(server.url), max_answer_bytes=10_000)
    with HttpArchive(settings) as archive, pytest.raises(ArchiveStrange, match="too-large"):
        archive.query(Query("Mappe"))


def test_no_fault_ever_shows_the_secret_or_the_token(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(answer(500, {"description": "x"}))
    with pytest.raises(ArchiveBroken) as caught:
        archive.transaction([Save("Mappe", "x")])
    told = "".join(traceback.format_exception(caught.value)) + repr(settings_for(server.url))
    assert "not-for-logs" not in told
    assert "token-1" not in told


_PAGES = [
    (LOGIN, {"Content-Type": "text/html"}),
    (b"\xef\xbb\xbf \r\n" + LOGIN, {"Content-Type": "application/json"}),
    (b"", {"Content-Type": "text/html; charset=utf-8"}),
    (b"blocked", {"Content-Type": "text/plain", "X-Squid-Error": "ERR_ACCESS_DENIED 0"}),
    (b"{}", {"Proxy-Status": "edge; error=http_request_denied"}),
]


@pytest.mark.parametrize("status", [400, 403, 404, 405, 406, 410, 415, 422, 451])
@pytest.mark.parametrize(("page", "headers"), _PAGES)
def test_what_no_archive_said_passes_whatever_its_status(
    server: ScriptedServer, archive: HttpArchive, status: int, page: bytes, headers: dict[str, str]
) -> None:
    server.then(answer(status, page, headers), answer(status, page, headers))
    with pytest.raises(ArchiveStrange) as read:
        archive.query(Query("Mappe"))
    assert (read.value.exit_code, read.value.transient, read.value.fate_unknown) == (5, True, False)
    with pytest.raises(ArchiveStrange) as change:  # something in between may have passed it on
        archive.transaction([Save("Mappe", "x")])
    assert change.value.fate_unknown
    assert "description" not in change.value.data


def test_a_file_that_a_proxy_finds_too_large_stays_refused(server: ScriptedServer, archive: HttpArchive) -> None:
    server.then(answer(413, LOGIN, {"Content-Type": "text/html"}))
    with pytest.raises(ArchiveRefused):
        archive.transaction([Save("Mappe", "x")])


@pytest.mark.parametrize("status", [400, 403])
def test_a_page_in_place_of_a_token_says_nothing_about_the_account(
    server: ScriptedServer, archive: HttpArchive, status: int
) -> None:
    server.token_steps = [answer(status, LOGIN, {"Content-Type": "text/html"})]
    with pytest.raises(ArchiveAway) as caught:
        archive.query(Query("Mappe"))
    assert caught.value.data["call"] == "token"
    assert server.seen == []
