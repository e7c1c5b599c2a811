"""Requests that get through: what is tried again, what never is, whom a key is shown to, what is told of faults."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import formatdate

import pytest

from noarkit.errors import (
    AllowanceSpent,
    ServiceAway,
    ServiceBroken,
    ServiceBusy,
    ServiceDenied,
    ServiceRefused,
    ServiceStrange,
    TooLarge,
    UnsafeUrl,
)
from noarkit.safe.urls import UrlPolicy
from noarkit.secrets import Secret
from noarkit.services.access.credentials import KeyCredential, Style
from noarkit.services.client import Client, Persistence
from noarkit.services.pace import Allowance, Clock, Pace
from noarkit.services.scrub import Scrubber
from noarkit.services.wire import Request, Wire, WireSettings, retry_after_s
from tests.services.conftest import kept_open
from tests.services.scripted import Asked, ScriptedService, Told, VirtualClock, one_after_another, serving, told
from tests.waiting import PATIENCE_S

KEY = "canary-key-0123456789"
LOOPBACK = frozenset({"127.0.0.1"})


def client_for(service: ScriptedService, clock: VirtualClock, **more: object) -> Client:
    """A client of a scripted service, whose waits take no time."""
    scrubber = Scrubber()
    line = WireSettings("crm:test", UrlPolicy(LOOPBACK, frozenset({"http"}), LOOPBACK), answer_timeout_s=PATIENCE_S)
    timing = Clock(clock.now_s, clock.sleep_s)
    key = KeyCredential(Secret(KEY), scrubber, Style("Service-oauthtoken"))
    wire = kept_open(Wire(line, scrubber))
    client = Client(wire, service.url, key, Pace((), clock=timing), clock=timing, jitter=lambda: 1.0)
    for name, value in more.items():
        setattr(client, name, value)
    return client


@pytest.fixture
def clock() -> VirtualClock:
    """Time that costs nothing."""
    return VirtualClock()


def test_the_key_is_shown_as_the_service_wants_it(clock: VirtualClock) -> None:
    with serving(one_after_another(told({"a": 12345678901234567890}))) as service:
        answer = client_for(service, clock).ask(Request("GET", service.url + "/x", (("q", "å b"),)))
        assert answer.members() == {"a": 12345678901234567890}
        assert service.asked[0].headers["authorization"] == f"Service-oauthtoken {KEY}"
        assert service.asked[0].query == {"q": ["å b"]}


@pytest.mark.parametrize(
    ("method", "repeatable", "times"), [("GET", None, 3), ("POST", None, 1), ("POST", True, 3), ("DELETE", None, 1)]
)
def test_only_what_may_be_repeated_is_sent_again_after_a_fault_of_the_service(
    clock: VirtualClock, method: str, repeatable: bool | None, times: int
) -> None:
    with serving(one_after_another(told({}, 503), told({}, 502), told({"good": 1}))) as service:
        asked = Request(method, service.url + "/x", repeatable=repeatable)  # type: ignore[arg-type]  # one of the methods
        if times == 1:
            with pytest.raises(ServiceBroken):
                client_for(service, clock).ask(asked)
        else:
            assert client_for(service, clock).ask(asked).members() == {"good": 1}
        assert len(service.asked) == times


def test_a_lost_answer_is_not_sent_again_where_that_could_double(clock: VirtualClock) -> None:
    with serving(one_after_another(Told(None))) as service:
        with pytest.raises(ServiceAway):
            client_for(service, clock).ask(Request("POST", service.url + "/x"))
        assert len(service.asked) == 1


@pytest.mark.parametrize(
    ("header", "waits"),
    [("7", 7.0), ("date", 20.0), ("", 5.0), ("-3", 5.0), ("99999999999", 5.0), ("soon", 5.0), ("86400", 900.0)],
)
def test_busy_waits_as_it_is_told_and_sends_again_even_what_changes_things(
    clock: VirtualClock, header: str, waits: float
) -> None:
    value = formatdate(clock.now_s() + 20, usegmt=True) if header == "date" else header
    busy = Told(429, b"", {"Retry-After": value} if header else {})
    with serving(one_after_another(busy, told({"good": 1}))) as service:
        client_for(service, clock).ask(Request("POST", service.url + "/x"))
        assert sum(clock.slept) == pytest.approx(waits, abs=0.5)
        assert len(service.asked) == 2


def test_a_storm_of_429_ends(clock: VirtualClock) -> None:
    with serving(one_after_another(Told(429, b""))) as service:
        with pytest.raises(ServiceBusy):
            client_for(service, clock, persistence=Persistence(attempts=4)).ask(Request("GET", service.url + "/x"))
        assert len(service.asked) == 4


def test_what_the_service_says_is_told_without_the_key_it_echoes(clock: VirtualClock) -> None:
    echo = told({"message": f"unknown key {KEY}\nline", "status": 401}, 401)
    with serving(one_after_another(echo)) as service:
        with pytest.raises(ServiceDenied) as caught:
            client_for(service, clock).ask(Request("GET", service.url + "/x"))
        assert KEY not in str(caught.value)
        assert "unknown key *** line" in str(caught.value)


def test_a_refusal_is_final(clock: VirtualClock) -> None:
    with serving(one_after_another(told({"code": "INVALID_DATA", "message": "no"}, 400))) as service:
        with pytest.raises(ServiceRefused) as caught:
            client_for(service, clock).ask(Request("GET", service.url + "/x"))
        assert caught.value.data["why"] == "INVALID_DATA: no"
        assert len(service.asked) == 1


def test_a_call_is_not_redirected(clock: VirtualClock) -> None:
    with (
        serving(one_after_another(told({"stolen": 1}))) as other,
        serving(one_after_another(Told(302, b"", {"Location": other.url}))) as service,
    ):
        with pytest.raises(ServiceStrange):
            client_for(service, clock).ask(Request("GET", service.url + "/x"))
        assert other.asked == []


def test_a_download_follows_but_carries_no_key_elsewhere(clock: VirtualClock) -> None:
    with (
        serving(one_after_another(Told(200, b"bytes"))) as other,
        serving(one_after_another(Told(302, b"", {"Location": other.url + "/f?sig=1"}))) as service,
    ):
        with client_for(service, clock).download(Request("GET", service.url + "/f")) as reply:
            assert reply.read() == b"bytes"
        assert "authorization" in service.asked[0].headers
        assert "authorization" not in other.asked[0].headers


def test_a_signed_address_gets_no_key(clock: VirtualClock) -> None:
    with serving(one_after_another(Told(200, b"bytes"))) as service:
        with client_for(service, clock).download(
            Request("GET", service.url + "/f?sig=1"), with_credential=False
        ) as reply:
            reply.read()
        assert "authorization" not in service.asked[0].headers


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/x", "https://example.org/x", "file:///etc/passwd", "http://user@127.0.0.1/"]
)
def test_a_host_that_was_not_named_is_never_asked(clock: VirtualClock, url: str) -> None:
    with serving(one_after_another(told({}))) as service:
        client = client_for(service, clock)
        with pytest.raises((UnsafeUrl, Exception)) as caught:
            client.ask(Request("GET", url))
        assert caught.value.__class__.__name__ in ("UnsafeUrl", "SecretOnTheLine")
        assert service.asked == []


def test_an_answer_without_end_is_cut(clock: VirtualClock) -> None:
    with serving(one_after_another(Told(200, b"x" * 5_000))) as service:
        scrubber = Scrubber()
        line = WireSettings("crm:test", UrlPolicy(LOOPBACK, frozenset({"http"}), LOOPBACK), max_answer_bytes=1_000)
        with pytest.raises(TooLarge):
            kept_open(Wire(line, scrubber)).send(Request("GET", service.url))


def test_a_refused_pass_is_renewed_once_and_no_more(clock: VirtualClock) -> None:
    class Renewing:
        renewals = 0

        def headers(self) -> Mapping[str, str]:
            return {"Authorization": "old"}

        def after_refusal(self, refused: Mapping[str, str]) -> Mapping[str, str]:
            self.renewals += 1
            return {"Authorization": f"new{self.renewals}"}

    def answer(asked: Asked) -> Told:
        return told({"good": 1}) if asked.headers["authorization"] == "new1" else told({}, 401)

    with serving(answer) as service:
        client = client_for(service, clock)
        client.credential = key = Renewing()
        assert client.ask(Request("POST", service.url + "/x")).members() == {"good": 1}
        assert key.renewals == 1
    with serving(one_after_another(told({}, 401))) as service:
        client = client_for(service, clock)
        client.credential = key = Renewing()
        with pytest.raises(ServiceDenied):
            client.ask(Request("GET", service.url + "/x"))
        assert key.renewals == 1
        assert len(service.asked) == 2


def test_credits_are_spent_by_each_try(clock: VirtualClock) -> None:
    with serving(one_after_another(told({}, 500))) as service:
        client = client_for(service, clock, allowance=Allowance(most=2))
        with pytest.raises(AllowanceSpent):
            client.ask(Request("GET", service.url + "/x"))
        assert len(service.asked) == 2


def test_retry_after_is_read_in_every_spelling() -> None:
    assert retry_after_s("1.5", 0) == 1.5
    assert retry_after_s(formatdate(100, usegmt=True), 40) == 60
    assert retry_after_s(formatdate(100, usegmt=True), 140) is None
    assert retry_after_s("nan", 0) is None


def test_opening_a_download_is_tried_again_and_its_pass_renewed(clock: VirtualClock) -> None:
    answers = one_after_another(Told(503), Told(None), Told(429, b"", {"Retry-After": "3"}), Told(200, b"bytes"))
    with serving(answers) as service:
        with client_for(service, clock).download(Request("GET", service.url + "/f")) as reply:
            assert reply.read() == b"bytes"
        assert len(service.asked) == 4
    with serving(one_after_another(told({"message": "gone"}, 404))) as service:
        with pytest.raises(ServiceRefused), client_for(service, clock).download(Request("GET", service.url + "/f")):
            pass
        assert len(service.asked) == 1
