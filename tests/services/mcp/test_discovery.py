"""Who grants access to a tool server is found where the standards say, and only what names itself is believed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from noarkit.errors import ConsentNeeded, ServiceDenied, ServiceStrange
from noarkit.services.access.consent import code_of
from noarkit.services.access.credentials import Style
from noarkit.services.mcp.client import ToolContext, Tools
from noarkit.services.mcp.connection_tools import open_tools, open_tools_login
from noarkit.services.mcp.consent import OwnConsent
from noarkit.services.mcp.discovery import Grantor, find_grantor, read_challenge
from noarkit.services.mcp.rules import Rules
from noarkit.services.mcp.tool_servers import tool_servers
from noarkit.services.pace import Clock, MemoryLog, Pace
from noarkit.services.registry import find_kind
from noarkit.services.scrub import Scrubber
from noarkit.services.settings import Connection, open_wire
from noarkit.services.standins.server import StandinSpec
from tests.services.scripted import Asked, Told, serving, told
from tests.services.standing import standing

RESOURCE, AUTHORITY = "/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"


@contextmanager
def scripted(answers: Mapping[str, Told], folder: Path) -> Iterator[tuple[str, Connection]]:
    """A tool server at /tools/one that answers as it is told: its address, and a connection to it."""
    known: dict[str, Told] = {}

    def answer(asked: Asked) -> Told:
        return known.get(asked.path, told({}, 401 if asked.path.startswith("/tools") else 404))

    with serving(answer) as server:
        known |= {path: replace_url(answer, server.url) for path, answer in answers.items()}
        place = folder / "address.secret"
        place.write_text(f"{server.url}/tools/one")
        place.chmod(0o600)
        values = {"api_url": server.url, "auth": "key", "mcp_url": {"file": str(place)}, "state": str(folder)}
        yield server.url, Connection("spend", "x", values, {"HOME": str(folder)})


def replace_url(answer: Told, url: str) -> Told:
    """An answer that speaks of the address of its server."""
    headers = {name: value.replace("URL", url) for name, value in answer.headers.items()}
    return replace(answer, body=answer.body.replace(b"URL", url.encode()), headers=headers)


def discover(to: Connection) -> Grantor:
    """Who grants access."""
    (server,) = tool_servers(to, Scrubber())
    wire = open_wire(to, [server.url.reveal()], Scrubber())
    try:
        return find_grantor(wire, server)
    finally:
        wire.close()


def authority(issuer: str, **more: object) -> Told:
    """How an honest authorization server describes itself."""
    return told({"issuer": issuer, "code_challenge_methods_supported": ["S256"], "told_by": issuer, **more})


@pytest.mark.parametrize("place", [f"{AUTHORITY}/realms/a", f"{OPENID}/realms/a", f"/realms/a{OPENID}"])
def test_an_issuer_with_a_path_is_found_at_each_of_its_three_addresses(place: str, tmp_path: Path) -> None:
    answers = {
        f"{RESOURCE}/tools/one": told({"resource": "URL/tools/one", "authorization_servers": ["URL/realms/a"]}),
        place: authority("URL/realms/a"),
    }
    with scripted(answers, tmp_path) as (url, to):
        assert discover(to).authority["told_by"] == f"{url}/realms/a"


@pytest.mark.parametrize("place", [AUTHORITY, OPENID])
def test_an_issuer_without_a_path_is_found_at_both_of_its_addresses(place: str, tmp_path: Path) -> None:
    with scripted({place: authority("URL")}, tmp_path) as (url, to):
        assert discover(to).authority["told_by"] == url


@pytest.mark.parametrize(
    "resource", ["https://elsewhere.example/tools/one", "http://127.0.0.1:1/tools/one", "URL/tools/two", "URL/tools/on"]
)
def test_metadata_of_another_resource_is_refused(resource: str, tmp_path: Path) -> None:
    answers = {
        f"{RESOURCE}/tools/one": told({"resource": resource, "authorization_servers": ["URL"]}),
        AUTHORITY: authority("URL"),
    }
    with scripted(answers, tmp_path) as (_, to), pytest.raises(ServiceStrange) as caught:
        discover(to)
    assert caught.value.data["why"] == "other-resource"


@pytest.mark.parametrize("resource", ["URL/tools/one", "URL/tools", "URL", "URL/"])
def test_metadata_may_name_the_server_or_what_it_lies_below(resource: str, tmp_path: Path) -> None:
    answers = {f"{RESOURCE}/tools/one": told({"resource": resource}), AUTHORITY: authority("URL")}
    with scripted(answers, tmp_path) as (url, to):
        assert discover(to).resource == resource.replace("URL", url)


@pytest.mark.parametrize(
    ("issuer", "methods", "why"),
    [
        ("https://elsewhere.example", ["S256"], "other-issuer"),
        ("URL/other", ["S256"], "other-issuer"),
        (None, ["S256"], "other-issuer"),
        ("URL", ["plain"], "no-pkce"),
        ("URL", None, "no-pkce"),
    ],
)
def test_an_authorization_server_that_is_another_or_proves_nothing_is_refused(
    issuer: object, methods: object, why: str, tmp_path: Path
) -> None:
    answers = {AUTHORITY: told({"issuer": issuer, "code_challenge_methods_supported": methods})}
    with scripted(answers, tmp_path) as (_, to), pytest.raises(ServiceStrange) as caught:
        discover(to)
    assert caught.value.data["why"] == why


def test_scopes_are_those_of_the_refusal_first_and_else_all_that_are_supported(tmp_path: Path) -> None:
    metadata = told({"resource": "URL", "authorization_servers": ["URL"], "scopes_supported": ["a", "b"]})
    answers = {"/own/metadata": metadata, RESOURCE: metadata, AUTHORITY: authority("URL")}
    with scripted(answers, tmp_path) as (_, to):
        assert discover(to).scopes == ("a", "b")
    header = 'Bearer resource_metadata="URL/own/metadata", scope="a"'
    refusing = {**answers, "/tools/one": replace(told({}, 401), headers={"WWW-Authenticate": header})}
    with scripted(refusing, tmp_path) as (_, to):
        assert discover(to).scopes == ("a",)


def test_a_challenge_is_read_in_any_order() -> None:
    challenge = read_challenge('Bearer scope="x y", error="insufficient_scope", resource_metadata="https://a/b"')
    assert (challenge.scopes, challenge.error, challenge.metadata_url) == (
        ("x", "y"),
        "insufficient_scope",
        "https://a/b",
    )
    assert read_challenge("") == read_challenge("Basic realm=x")


def consented(to: Connection, path: str, url: str, folder: Path) -> dict[str, list[str]]:
    """What a person is asked, and then one call of the tools with what they granted."""
    place = folder / "tools.secret"
    place.write_text(f"{url}{path}")
    place.chmod(0o600)
    own = Connection(to.service, to.name, {**to.values, "mcp_url": {"file": str(place)}, "state": str(folder)},
                     to.environment)  # fmt: skip
    scrubber = Scrubber()
    consent = OwnConsent(own, tool_servers(own, scrubber))
    login = consent.login(Clock())
    begun = login.begin()
    answer = httpx.get(begun.url, follow_redirects=False, trust_env=False)
    login.finish(begun, code_of(answer.headers["location"], begun))
    login.close()
    kind = find_kind(to.service)
    assert kind.tools is not None
    wire = open_wire(own, [url], scrubber)
    with consent.credential(scrubber, Clock(), Style()) as credential:
        context = ToolContext(wire.settings, scrubber, credential, Pace((), MemoryLog(), Clock()))
        assert Tools(tool_servers(own, scrubber), Rules(kind.tools), context).list_tools()
    wire.close()
    return parse_qs(urlsplit(begun.url).query)


@pytest.mark.parametrize("service", ["appsec", "crm", "features", "spend"])
def test_every_stand_in_is_discovered_and_takes_what_a_person_grants(service: str, tmp_path: Path) -> None:
    with standing(service, tmp_path / "there", StandinSpec(5, limits=())) as there:
        to = there.connection()
        tenant = str(to.values.get("tenant", ""))
        path = {"appsec": f"/mcp/{tenant}", "features": "/v1/mcp"}.get(service) or configured_path(to)
        query = consented(to, path, there.url, tmp_path)
        assert query["resource"] == [f"{there.url}{path.partition('?')[0]}"]
        metadata = httpx.get(f"{there.url}{RESOURCE}{path.partition('?')[0]}", trust_env=False).json()
        (issuer,) = metadata["authorization_servers"]
        split = urlsplit(issuer)
        described = httpx.get(f"{there.url}{AUTHORITY}{split.path}", trust_env=False).json()
        assert described["issuer"] == issuer
        assert described["response_types_supported"] == ["code"]
        assert query["scope"] == [" ".join(metadata["scopes_supported"])]


def configured_path(to: Connection) -> str:
    """Where the first tool server lies, its key included."""
    address = urlsplit(tool_servers(to, Scrubber())[0].url.reveal())
    return f"{address.path}?{address.query}"


def test_a_tool_that_needs_more_scopes_makes_the_next_consent_ask_for_them_too(tmp_path: Path) -> None:
    def answer(asked: Asked) -> Told:
        if asked.path.startswith("/tools") and asked.method == "GET":
            return told({}, 401)
        if asked.path.startswith("/tools"):
            header = 'Bearer error="insufficient_scope", scope="expenses:read more"'
            return replace(told({}, 403), headers={"WWW-Authenticate": header})
        metadata = {"resource": f"{server.url}/tools/one", "scopes_supported": ["basic"]}
        answers = {
            f"{RESOURCE}/tools/one": told({**metadata, "authorization_servers": [server.url]}),
            AUTHORITY: authority(
                server.url, authorization_endpoint=f"{server.url}/agree", token_endpoint=f"{server.url}/token",
                registration_endpoint=f"{server.url}/register",
            ),
            "/register": told({"client_id": "c1"}, 201),
            "/token": told({"access_token": "t" * 20, "expires_in": 3600}),
        }  # fmt: skip
        return answers.get(asked.path, told({}, 404))

    with serving(answer) as server:
        secret, key = tmp_path / "address.secret", tmp_path / "key.secret"
        for place, text in ((secret, f"{server.url}/tools/one"), (key, "sk_" + "k" * 30)):
            place.write_text(text)
            place.chmod(0o600)
        values = {"api_url": server.url, "auth": "key", "api_key": {"file": str(key)}, "company_id": "c",
                  "mcp_url": {"file": str(secret)}, "state": str(tmp_path)}  # fmt: skip
        to = Connection("spend", "x", values, {"HOME": str(tmp_path)})
        asked = list[list[str]]()
        for _ in range(2):
            login = open_tools_login(to)
            assert login is not None
            begun = login.begin()
            asked.append(parse_qs(urlsplit(begun.url).query)["scope"][0].split())
            login.finish(begun, "code")
            login.close()
            with pytest.raises(ConsentNeeded) as caught, open_tools(to) as tools:
                tools.list_tools()
            assert caught.value.data["why"] == "more-scopes"
            assert isinstance(caught.value.__cause__, ServiceDenied)
    assert asked == [["basic"], ["basic", "expenses:read", "more"]]
    assert json.loads((tmp_path / "spend-x.mcp-scopes.json").read_text()) == ["expenses:read", "more"]
