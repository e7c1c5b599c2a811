"""What a published service refuses, its stand-in refuses: every call of its table is asked by a method that it does not
have, without what it needs, and with what it does not know. Who is as lenient as its client hides what that does wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from noarkit.services.appsec.service import open_service as open_appsec
from noarkit.services.crm.service import open_service as open_crm
from noarkit.services.port import Service
from noarkit.services.spend.service import open_service as open_spend
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import Standing, connected, standing
from tests.services.wire_tables import Json, table
from tests.waiting import PATIENCE_S

SERVICES = ("appsec", "crm", "features", "spend")
OPTIONS = {"spend": {"auth": "key"}}
OPENING: Mapping[str, Callable[..., Any]] = {"appsec": open_appsec, "crm": open_crm, "spend": open_spend}
METHODS = ("PATCH", "DELETE", "PUT", "POST", "GET")
NOT_THERE = (404, 405)
REFUSED = (400, 404, 405)
# nobody is asked for: consent, tokens, and the files behind signed addresses
_BESIDE = re.compile(r"/oauth|/auth/realms|^/\{")


@dataclass(frozen=True, slots=True)
class Asking:
    """Somebody who has a key that may do everything, and no manners."""

    service: str
    held: Standing
    headers: Mapping[str, str]
    client: httpx.Client

    def ask(self, method: str, path: str, query: Mapping[str, str] | None = None, body: object = None) -> int:
        """The status of the answer."""
        key = self.held.connection().secret("server_key") if path.startswith("/v1/") else None
        headers = {"service-api-key": key.reveal()} if self.service == "features" and key else dict(self.headers)
        url = self.held.url + re.sub(r"\{\w+\}", "1", path)
        return self.client.request(method, url, params=query, json=body, headers=headers).status_code


def headers_of(service: str, held: Standing, folder: Path) -> Iterator[dict[str, str]]:
    """The headers that let in whoever may do most."""
    if service == "features":
        key = held.connection().secret("write_key")
        assert key is not None
        yield {"service-api-key": key.reveal()}
        return
    with connected(OPENING[service], held, folder) as opened:
        yield dict(_client(opened).credential.headers())


def _client(service: Service) -> Any:
    calls: Any = getattr(service, "calls", service)
    return calls.client


@pytest.fixture(scope="module", params=SERVICES)
def asking(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    """A stand-in of each service."""
    folder = tmp_path_factory.mktemp(request.param)
    wish = StandinSpec(6, limits=((1_000_000, 60.0),), options=OPTIONS.get(request.param, {}))
    with standing(request.param, folder, wish, odd=True) as held:
        for headers in headers_of(request.param, held, folder):
            with httpx.Client(trust_env=False, timeout=PATIENCE_S) as client:
                yield Asking(request.param, held, headers, client)


def endpoints(reference: Path, service: str) -> list[Json]:
    """The published calls of a service."""
    return [one for one in table(reference, service)["endpoints"] if not _BESIDE.search(one["path"])]


def needed(told: Json, reference: Path, service: str) -> bool:
    """True for a body that is an object some members of which must be there."""
    schema = told.get("body", {}).get("schema", {})
    while "$ref" in schema:
        schema = table(reference, service)["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return bool(schema.get("required")) and not schema.get("open")


def test_a_method_that_nobody_published_is_refused(asking: Asking, reference: Path) -> None:
    known: dict[str, set[str]] = {}
    for one in endpoints(reference, asking.service):
        known.setdefault(re.sub(r"\{\w+\}", "*", one["path"]), set()).add(one["method"])
    literal = [path for path in known if "*" not in path]
    assert literal
    for path in literal:  # what stands in a path may be another call's part of it
        others = [other for other in known if re.fullmatch(re.escape(other).replace(r"\*", "[^/]+"), path)]
        published = set().union(*(known[other] for other in others))
        for method in METHODS:
            if method not in published:
                assert asking.ask(method, path) in REFUSED, (method, path)


def test_what_must_be_told_and_is_not_is_refused(asking: Asking, reference: Path) -> None:
    seen = 0
    for one in endpoints(reference, asking.service):
        query = {name: "1" for name, told in one.get("query", {}).items() if told.get("required")}
        for name in query:
            left = {other: value for other, value in query.items() if other != name}
            status = asking.ask(one["method"], one["path"], left)
            assert status in REFUSED, (one["method"], one["path"], name, status)
            seen += status not in NOT_THERE
        if needed(one, reference, asking.service):
            status = asking.ask(one["method"], one["path"], query, {})
            assert status in REFUSED, (one["method"], one["path"], status)
            seen += status not in NOT_THERE
    assert seen > 3, "it knows some of them"


def test_a_member_that_nobody_published_is_refused(asking: Asking, reference: Path) -> None:
    if asking.service == "crm":
        return  # its records have members of the tenant's own
    seen = 0
    for one in endpoints(reference, asking.service):
        if needed(one, reference, asking.service):
            status = asking.ask(one["method"], one["path"], None, {"noSuchMember": 1})
            assert status in REFUSED, (one["method"], one["path"], status)
            seen += status not in NOT_THERE
    assert seen > 3


def test_who_may_only_read_changes_nothing(tmp_path: Path, reference: Path) -> None:
    with standing("features", tmp_path, StandinSpec(6, options={"key": "read"}), odd=True) as held:
        key = held.connection().secret("api_key")
        assert key is not None
        writes = [one for one in endpoints(reference, "features") if one["method"] != "GET"]
        with httpx.Client(trust_env=False, timeout=PATIENCE_S) as client:
            asking = Asking("features", held, {"service-api-key": key.reveal()}, client)
            for one in writes:
                if one["path"].startswith("/console/"):
                    assert asking.ask(one["method"], one["path"]) == 403, (one["method"], one["path"])
        assert len(writes) > 20


NUMBERS = frozenset({"limit", "per_page", "page", "offset", "index"})
NONSENSE = ("abc", "-5", "٣", "1e3", " 5x", "9" * 40)


def test_a_number_that_is_none_is_refused_by_every_service_alike(asking: Asking, reference: Path) -> None:
    judged = 0
    for one in endpoints(reference, asking.service):
        required = {name: "1" for name, told in one.get("query", {}).items() if told.get("required")}
        if one["method"] != "GET" or asking.ask("GET", one["path"], required) != 200:
            continue
        for name in NUMBERS & one.get("query", {}).keys():
            for text in NONSENSE:
                assert asking.ask("GET", one["path"], {**required, name: text}) == 400, (one["path"], name, text)
                judged += 1
    assert judged > 5, "it knows some of them"
