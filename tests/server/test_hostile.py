"""Whatever comes, the service answers what is wrong with it, never that it broke, and goes on.

Each example is sent to a live server. NOARKIT_DEEP=1 sends twenty times as many.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noarkit.model import metamodel
from noarkit.server.areas import all_routes
from tests.server.conftest import Archive, serving
from tests.server.wire import BASE, link, save, small_archive
from tests.waiting import PATIENCE_S

TIMES = 20 if os.environ.get("NOARKIT_DEEP") == "1" else 1
ROUTES = sorted({(route.method, route.path.strip("/")) for route in all_routes()})
STREAMS = [("POST", "upload"), ("GET", "download")]
TYPES = sorted([*metamodel().types, *metamodel().abstract])
FIELDS = sorted({name for each in metamodel().types.values() for name in each.fields})
REFS = sorted({name for each in metamodel().types.values() for name in each.references})
MEMBERS = re.findall(
    r"\w+",
    "accessGroupId action actions claims code createdDateFrom createdDateTo deleteObjectsLinkedToPrecedents "
    "description determinesAccessControl doctype dokumentversjonId dokumentversjonUUIDs entries expand "
    "explicitPermissions fieldName fieldType fieldValues fields filters globalPermissions groupName id "
    "includeChildChanges joins journalpost korrespondansepart limit linkToId listType modifiedDate name "
    "nestChildChanges newValue objectId objectType objectUUIDs offset parameters publicUse query ref "
    "referanseDokumentfil revisionType saksmappe servicePermissions sortOrder tekst type unlinkFromId userName "
    "version ",
)


def tries(examples: int) -> settings:
    return settings(
        max_examples=examples * TIMES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    """An archive that holds a little of everything, for nobody but these tests."""
    with serving(tmp_path_factory.mktemp("hostile"), {"body_idle_timeout_s": 2.0}) as live:
        small_archive(live.wire, str(live.wire.upload(b"content").json()["id"]))
        yield live
        log = live.data_dir / "server.log"
        assert " ERROR " not in (log.read_text() if log.exists() else "")


strange = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 2, 5, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, -(2**63), 0.1, 1e308, -0.0]),
    st.sampled_from(
        ["", " ", "0", "1", "2", "-1", "007", "9" * 18, "9" * 30, "1e3", "*", "%", "@a", "#a", "true", "null", "id"]
    ),
    st.sampled_from(
        [
            "2024-01-02",
            "2024-13-45",
            "2024-01-02T03:04:05.678Z",
            "0000-00-00",
            "9999-12-31T23:59:59+23:59",
            "2024-02-30",
        ]
    ),
    st.sampled_from(
        ["\x00", "a\x00b", "\ufffe", "\u202e", "'; DROP TABLE o_arkiv; --", '"', "\\", "x" * 5000, "²", "١"]
    ),
    st.sampled_from([*TYPES, *FIELDS]),
    st.text(max_size=20),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
)
values = st.recursive(
    strange,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from([*MEMBERS, "@a", "#a"]), st.text(max_size=8)), inner, max_size=4),
    ),
    max_leaves=12,
)
ids = st.one_of(st.sampled_from(["@a", "@b", "@c", "1", "2", "3", "4", "5", "6", "7", "99999"]), strange)


@st.composite
def actions(draw: st.DrawFn) -> dict[str, object]:
    """An action that is well formed at first sight, with something wrong nearly always."""
    type_name = draw(st.sampled_from(TYPES))
    known = metamodel().types.get(type_name)
    verb = draw(st.sampled_from(["save", "save", "save", "link", "link", "unlink", "delete", "drop"]))
    action: dict[str, object] = {"action": verb, "type": type_name, "id": draw(ids)}
    if verb == "save":
        names = st.sampled_from(sorted(known.fields) if known else FIELDS)
        action["fields"] = draw(st.one_of(st.dictionaries(names, values, max_size=6), values))
    if verb in ("link", "unlink"):
        action["ref"] = draw(
            st.one_of(st.sampled_from(sorted(known.references) if known and known.references else REFS), strange)
        )
        action["linkToId" if verb == "link" else "unlinkFromId"] = draw(st.one_of(ids, st.lists(ids, max_size=3)))
    if draw(st.booleans()):
        action["version"] = draw(strange)
    return action


tokens = st.sampled_from(
    [
        "(",
        ")",
        "&&",
        "||",
        "=",
        "!=",
        "%=",
        "[",
        "]",
        "{",
        "}",
        ":",
        "@a",
        "@b",
        "#x.",
        ".",
        " ",
        "id",
        "tittel",
        *REFS[:40],
        *FIELDS[:40],
    ]
)
queries = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES), "limit": st.one_of(st.just(5), strange)},
    optional={
        "query": st.one_of(st.lists(tokens, max_size=15).map("".join), st.text(max_size=30), strange),
        "parameters": st.one_of(st.dictionaries(st.sampled_from(["@a", "@b", "a"]), strange, max_size=2), values),
        "joins": st.one_of(
            st.dictionaries(st.sampled_from(["#x", "#y", "x"]), st.one_of(st.sampled_from(REFS), strange), max_size=2),
            values,
        ),
        "sortOrder": st.one_of(
            st.lists(
                st.fixed_dictionaries(
                    {
                        "field": st.one_of(st.sampled_from(FIELDS), strange),
                        "order": st.sampled_from(["asc", "desc", "up"]),
                    }
                ),
                max_size=3,
            ),
            values,
        ),
        "offset": strange,
        "publicUse": strange,
    },
)


def expect_no_fault(target: Archive, method: str, path: str, content: bytes | None, **headers: str) -> int:
    about = {"Content-Type": "application/json"} | headers
    reply = target.wire.call(method, path, content, headers=about)
    assert reply.status < 500, (reply, method, path, content)
    return reply.status


def encoded(value: object) -> bytes:
    return json.dumps(value).encode()


@tries(250)
@given(st.lists(actions(), max_size=6))
def test_no_transaction_breaks_it(target: Archive, listed: list[dict[str, object]]) -> None:
    expect_no_fault(target, "POST", "transaction", encoded({"actions": listed}))


@tries(250)
@given(queries)
def test_no_query_breaks_it(target: Archive, asked: dict[str, object]) -> None:
    expect_no_fault(target, "POST", "query", encoded(asked))


@tries(500)
@given(
    st.sampled_from([route for route in ROUTES if "access-group/{id}" not in route[1]]),
    st.one_of(values, st.dictionaries(st.sampled_from(MEMBERS), values, max_size=8)),
    st.lists(
        st.tuples(
            st.sampled_from(
                [
                    "id",
                    "type",
                    "field",
                    "groupId",
                    "limit",
                    "offset",
                    "objectType",
                    "objectId",
                    "accessGroupId",
                    "listType",
                    "code",
                    "x",
                ]
            ),
            strange,
        ),
        max_size=3,
    ),
    st.lists(
        st.one_of(
            st.sampled_from(["all", "skjerming", "a", "+", "%2F", "%", "%ff", "%00"]),
            st.text(max_size=8).map(lambda text: quote(text, safe="")),
        ),
        min_size=3,
        max_size=3,
    ),
)
def test_no_body_or_query_string_breaks_any_call(
    target: Archive, route: tuple[str, str], body: object, query: list[tuple[str, object]], parts: list[str]
) -> None:
    method, path = route
    given_parts = iter(parts)
    filled = "/".join(next(given_parts) if part.startswith("{") else part for part in path.split("/"))
    asked = "&".join(f"{name}={quote(str(value)[:2000], errors='replace')}" for name, value in query)
    expect_no_fault(target, method, f"{filled}?{asked}", encoded(body))


@tries(100)
@given(
    st.sampled_from(ROUTES + STREAMS),
    st.binary(max_size=200),
    st.sampled_from(["application/json", "text/plain", "", ";;;", "application/json; charset=utf-16"]),
)
def test_no_bytes_break_any_call(target: Archive, route: tuple[str, str], content: bytes, media_type: str) -> None:
    method, path = route
    expect_no_fault(target, method, path.replace("{id}", "0"), content, **{"Content-Type": media_type})


@tries(100)
@given(
    st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=60),
    st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=60),
)
def test_no_header_breaks_it(target: Archive, disposition: str, authorization: str) -> None:
    named = {"Content-Disposition": f"attachment; {disposition}", "Content-Type": disposition}
    for headers in (named, {"Authorization": authorization}, {"X-A-Error-Response-Type": disposition}):
        status = target.wire.call("POST", "upload", b"x", headers=headers).status
        assert status < 500
        form = target.wire.call(
            "POST", "/oauth2/token", disposition.encode(), token="", headers={"Authorization": f"Basic {authorization}"}
        )
        assert form.status < 500


@tries(60)
@given(
    st.one_of(
        st.binary(max_size=300),
        st.builds(
            lambda line, headers, rest: f"{line}\r\n{headers}\r\n\r\n".encode("latin-1", "replace") + rest,
            st.sampled_from(
                [
                    f"POST {BASE}/query HTTP/1.1",
                    f"GET {BASE}/query HTTP/1.0",
                    "GET * HTTP/1.1",
                    "POST http://[ HTTP/1.1",
                    "GET /%ff%00 HTTP/1.1",
                    "PRI * HTTP/2.0",
                    "CONNECT a:1 HTTP/1.1",
                ]
            ),
            st.sampled_from(
                [
                    "Host: a",
                    "Content-Length: -1",
                    "Content-Length: 99999999999999999999",
                    "Transfer-Encoding: chunked",
                    "Transfer-Encoding: x, chunked\r\nContent-Length: 3",
                    "Connection: upgrade\r\nUpgrade: websocket",
                    "Expect: 100-continue\r\nContent-Length: 5",
                    "\x00: \x00",
                ]
            ),
            st.one_of(
                st.binary(max_size=50),
                st.sampled_from([b"5\r\nabc", b"ffffffffffffffffff\r\n", b"zz\r\n", b"0\r\n\r\n"]),
            ),
        ),
    )
)
def test_no_bytes_on_the_socket_break_it(target: Archive, content: bytes) -> None:
    with (
        socket.create_connection((target.wire.host, target.wire.port), timeout=PATIENCE_S) as connection,
        suppress(ConnectionError),
    ):
        connection.sendall(content)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
        assert b" 500 " not in answer.partition(b"\r\n")[0]


GOOD: list[dict[str, object]] = [
    save("Klassifikasjonssystem", "@system", tittel="System"),
    save("Klasse", "@class", klasseIdent="1", tittel="Class"),
    link("Klasse", "@class", "refKlassifikasjonssystem", "@system"),
    save("Arkivskaper", "@creator", arkivskaperIdent="1", arkivskaperNavn="Creator"),
    save("Arkiv", "@fonds", tittel="Fonds"),
    link("Arkiv", "@fonds", "refArkivskaper", "@creator"),
    save("Arkivdel", "@series", tittel="Series", arkivperiodeStartDato="2001-01-01"),
    link("Arkivdel", "@series", "refArkiv", "@fonds"),
    link("Arkivdel", "@series", "refPrimaerKlassifikasjonssystem", "@system"),
    save("Saksmappe", "@case", tittel="Case", administrativEnhet="ADM", saksdato="2001-01-01"),
    link("Saksmappe", "@case", "refArkivdel", "@series"),
    link("Saksmappe", "@case", "refPrimaerKlasse", "@class"),
    save("Sakspart", "@party", sakspartNavn="Party", sakspartRolle="KLI"),
    link("Sakspart", "@party", "refMappe", "@case"),
    save("Journalpost", "@entry", tittel="Entry", journalposttype="I", dokumentetsDato="2001-01-01"),
    link("Journalpost", "@entry", "refMappe", "@case"),
    save("Korrespondansepart", "@letter", korrespondanseparttype="EA", korrespondansepartNavn="Writer"),
    link("Korrespondansepart", "@letter", "refRegistrering", "@entry"),
    save("EksternId", "@external", eksterntSystem="System", eksternID="1"),
    link("EksternId", "@external", "refRegistrering", "@entry"),
    save("Dokument", "@document", tittel="Document", tilknyttetRegistreringSom="H"),
    link("Dokument", "@document", "refRegistrering", "@entry"),
    save("Noekkelord", "@word", verdi="word"),
    link("Noekkelord", "@word", "refMappe", "@case"),
]


@st.composite
def mutations(draw: st.DrawFn) -> list[dict[str, object]]:
    """A good transaction in which one to three things are not what they were."""
    listed = [dict(action) for action in GOOD]
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(listed) - 1))
        kind = draw(st.sampled_from(["member", "field", "field", "field", "drop", "twice", "swap", "update"]))
        fields = listed[at].get("fields")
        if kind == "member":
            listed[at][draw(st.sampled_from(sorted(listed[at])))] = draw(st.one_of(ids, values))
        elif kind == "field" and isinstance(fields, dict):
            known = metamodel().types.get(str(listed[at]["type"]))
            names = sorted({*fields, *(known.fields if known else FIELDS)}, key=str)
            listed[at]["fields"] = fields | {draw(st.sampled_from(names)): draw(values)}
        elif kind == "drop":
            del listed[at]
        elif kind == "twice":
            listed.insert(draw(st.integers(0, len(listed))), dict(listed[at]))
        elif kind == "swap":
            other = draw(st.integers(0, len(listed) - 1))
            listed[at], listed[other] = listed[other], listed[at]
        else:
            action = {"action": "delete", "type": listed[at].get("type"), "id": draw(ids)}
            listed.append(action)
    return listed


def test_what_is_mutated_is_good_itself(target: Archive) -> None:
    assert target.wire.saved(*GOOD)["@entry"]


@tries(200)
@given(mutations())
def test_no_mutation_of_a_good_transaction_breaks_it(target: Archive, listed: list[dict[str, object]]) -> None:
    expect_no_fault(target, "POST", "transaction", encoded({"actions": listed}))


def test_many_connections_that_say_nothing_leave_room_for_others(target: Archive) -> None:
    idle = [socket.create_connection((target.wire.host, target.wire.port), timeout=PATIENCE_S) for _ in range(200)]
    try:
        for each in idle[:100]:
            head = f"POST {BASE}/query HTTP/1.1\r\nAuthorization: Bearer {target.wire.token}\r\n"
            each.sendall(f"{head}Content-Length: 10\r\n\r\n{{".encode())
        assert target.wire.call("POST", "query", {"type": "Arkiv", "limit": 1}).status == 200
    finally:
        for each in idle:
            each.close()


def test_it_still_works_after_all_that(target: Archive) -> None:
    assert small_archive(target.wire)["@record"]
    assert target.wire.call("GET", "info/me").json() == {"userId": "admin"}


def test_the_log_of_a_fault_holds_no_content(tmp_path: Path) -> None:
    with serving(tmp_path) as archive:
        archive.wire.call("POST", "query", {"type": "Secret title", "limit": 1})
        archive.wire.transaction(
            {"action": "save", "type": "Arkiv", "id": "@a", "fields": {"tittel": ["Secret title"]}}
        )
    log = tmp_path / "server.log"
    assert "Secret title" not in (log.read_text() if log.exists() else "")
