"""Tokens are renewed once however many ask, rotating pairs are on disk before they are used, and consent is proven."""

from __future__ import annotations

import io
import json
import re
import stat
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from noarkit.cli.main import main
from noarkit.errors import ConsentNeeded, DiskFull, SecretFault, ServiceBusy, ServiceDenied, ServiceStrange
from noarkit.safe.urls import UrlPolicy
from noarkit.secrets import Secret
from noarkit.services.access.consent import Ask, begin_consent, code_of, wait_for_code
from noarkit.services.access.credentials import Renewal, Style, TokenCredential, make_refresher
from noarkit.services.access.grant_store import Grant, GrantStore
from noarkit.services.access.oauth import ClientRegistration, TokenService
from noarkit.services.scrub import Scrubber
from noarkit.services.wire import Wire, WireSettings
from tests.services.conftest import kept_open
from tests.services.scripted import Asked, ScriptedService, Told, VirtualClock, one_after_another, serving, told
from tests.services.standing import standing
from tests.waiting import PATIENCE_S

LOOPBACK = frozenset({"127.0.0.1"})
STYLE = Style("Service-oauthtoken")


def tokens_at(service: ScriptedService, clock: VirtualClock, showing: str = "body") -> TokenService:
    """The token service of a scripted service."""
    wire = kept_open(Wire(WireSettings("crm:test", UrlPolicy(LOOPBACK, frozenset({"http"}), LOOPBACK)), Scrubber()))
    registered = ClientRegistration(service.url + "/token", "client", Secret("client-secret"), showing)  # type: ignore[arg-type]  # one of them
    return TokenService(wire, registered, clock.now_s)


def rotating() -> tuple[dict[str, int], object]:
    """A token service whose refresh tokens are good for one use."""
    state = {"n": 1, "calls": 0}
    lock = threading.Lock()

    def answer(asked: Asked) -> Told:
        with lock:
            state["calls"] += 1
            if asked.form["refresh_token"] != f"refresh-{state['n']}":
                return told({"error": "invalid_grant"}, 400)
            state["n"] += 1
            return told(
                {"access_token": f"access-{state['n']}", "refresh_token": f"refresh-{state['n']}", "expires_in": 3600}
            )

    return state, answer


def test_eight_threads_renew_once(tmp_path: Path) -> None:
    state, answer = rotating()
    clock = VirtualClock()
    with serving(answer) as service:  # type: ignore[arg-type]  # it is what answers
        renew = make_refresher(tokens_at(service, clock).refresh, Secret("refresh-1"), "spend:test")
        shown = TokenCredential(Renewal(renew, clock.now_s), GrantStore(tmp_path / "g.json"), Scrubber(), STYLE)
        found: list[str] = []
        threads = [threading.Thread(target=lambda: found.append(shown.headers()["Authorization"])) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == ["Service-oauthtoken access-2"] * 8
        refused = shown.headers()
        again = [threading.Thread(target=lambda: found.append(str(shown.after_refusal(refused)))) for _ in range(8)]
        for thread in again:
            thread.start()
        for thread in again:
            thread.join()
        assert state["calls"] == 2


class Died(BaseException):
    """The end of a process, in a test."""


class FrailStore(GrantStore):
    """A store that fails from the n-th time on that something is to be kept."""

    def __init__(self, path: Path, good_saves: int, fault: BaseException) -> None:
        super().__init__(path)
        self.good_saves, self.fault = good_saves, fault

    def save(self, grant: Grant) -> None:
        """Keeps a grant, so many times."""
        self.good_saves -= 1
        if self.good_saves < 0:
            raise self.fault
        super().save(grant)


def test_a_disk_that_is_full_uses_up_no_refresh_token(tmp_path: Path) -> None:
    state, answer = rotating()
    clock, place = VirtualClock(), tmp_path / "g.json"
    with serving(answer) as service:  # type: ignore[arg-type]  # it is what answers
        renewal = Renewal(make_refresher(tokens_at(service, clock).refresh, Secret("refresh-1"), "x"), clock.now_s)
        TokenCredential(renewal, GrantStore(place), Scrubber(), STYLE).headers()
        clock.now += 4_000
        with pytest.raises(DiskFull):
            TokenCredential(renewal, FrailStore(place, 0, DiskFull(where=str(place))), Scrubber(), STYLE).headers()
        assert state["calls"] == 1, "nothing was asked for that could not be kept"
        after = TokenCredential(renewal, GrantStore(place), Scrubber(), STYLE)
        assert after.headers()["Authorization"].endswith("access-3")


def test_a_process_that_dies_between_the_answer_and_the_disk_leaves_a_plain_question(tmp_path: Path) -> None:
    _, answer = rotating()
    clock, place = VirtualClock(), tmp_path / "g.json"
    with serving(answer) as service:  # type: ignore[arg-type]  # it is what answers
        renewal = Renewal(make_refresher(tokens_at(service, clock).refresh, Secret("refresh-1"), "x"), clock.now_s)
        TokenCredential(renewal, GrantStore(place), Scrubber(), STYLE).headers()
        clock.now += 4_000
        with pytest.raises(Died):
            TokenCredential(renewal, FrailStore(place, 1, Died()), Scrubber(), STYLE).headers()
        kept = GrantStore(place).read()
        assert kept is not None and kept.refresh_token == "refresh-2", "whole, and of before"
        for _ in range(2):
            with pytest.raises(ConsentNeeded):
                TokenCredential(renewal, GrantStore(place), Scrubber(), STYLE).headers()
        GrantStore(place).save(Grant("access-new", clock.now + 3_600, clock.now + 3_000, "refresh-3", origin=""))
        assert TokenCredential(renewal, GrantStore(place), Scrubber(), STYLE).headers() == {
            "Authorization": "Service-oauthtoken access-new"
        }


WORKER = """
import sys, time
from pathlib import Path
sys.path.insert(0, ".")
from tests.services.test_access import tokens_at, STYLE
from noarkit.services.access.grant_store import GrantStore
from noarkit.services.access.credentials import Renewal, TokenCredential, make_refresher
from noarkit.services.scrub import Scrubber
from noarkit.secrets import Secret
class S: url = sys.argv[1]
class C:
    def now_s(self): return time.time()
renew = make_refresher(tokens_at(S(), C()).refresh, Secret("refresh-1"), "spend:test")
store = GrantStore(Path(sys.argv[2]))
print(TokenCredential(Renewal(renew, time.time), store, Scrubber(), STYLE).headers()["Authorization"])
"""


def test_processes_share_a_rotating_pair(tmp_path: Path) -> None:
    state, answer = rotating()
    with serving(answer) as service:  # type: ignore[arg-type]  # it is what answers
        command = [sys.executable, "-c", WORKER, service.url, str(tmp_path / "g.json")]
        started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
        assert {one.communicate(timeout=PATIENCE_S)[0].strip() for one in started} == {"Service-oauthtoken access-2"}
    assert state["calls"] == 1


def test_a_token_is_renewed_before_it_ends_and_the_new_pair_is_on_disk_first(tmp_path: Path) -> None:
    clock = VirtualClock()
    keep = GrantStore(tmp_path / "sub" / "g.json")
    on_disk: list[str] = []

    def renew(last: Grant | None) -> Grant:
        on_disk.append(last.refresh_token if last else "")
        number = len(on_disk)
        return Grant(f"a{number}" * 4, clock.now_s() + 3_600, clock.now_s() + 3_540, f"r{number}")

    shown = TokenCredential(Renewal(renew, clock.now_s), keep, Scrubber(), STYLE)
    assert shown.grant().access_token == "a1a1a1a1"
    assert stat.S_IMODE(keep.path.stat().st_mode) == 0o600
    clock.now += 3_539
    assert shown.grant().access_token == "a1a1a1a1"
    clock.now += 2
    assert shown.grant().access_token == "a2a2a2a2"
    assert on_disk == ["", "r1"]
    kept = keep.read()
    assert kept is not None and kept.refresh_token == "r2"


def test_a_grant_that_others_may_read_is_refused(tmp_path: Path) -> None:
    keep = GrantStore(tmp_path / "g.json")
    keep.save(Grant("token-canary", 1.0, 0.5))
    keep.path.chmod(0o644)
    with pytest.raises(SecretFault):
        keep.read()
    keep.path.chmod(0o600)
    keep.path.write_text('{"access_token": "canary')
    with pytest.raises(SecretFault) as caught:
        keep.read()
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert keep.forget()
    assert not keep.forget()


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (told({"error": "invalid_code"}), ConsentNeeded),
        (told({"error": "invalid_client"}, 401), ServiceDenied),
        (told({"error": "Access Denied", "error_description": "too many requests continuously"}, 400), ServiceBusy),
        (told({"error": "access_denied", "message": "You have made too many requests continuously"}), ServiceBusy),
        (Told(404, b"<html>no realm"), ServiceDenied),
        (Told(200, b"<html>log in"), ServiceStrange),
        (told({"access_token": "two words"}), ServiceStrange),
    ],
)
def test_success_is_a_token_not_a_status(answer: Told, fault: type[Exception]) -> None:
    with serving(one_after_another(answer)) as service, pytest.raises(fault) as caught:
        tokens_at(service, VirtualClock()).refresh("refresh-canary")
    assert "canary" not in str(caught.value)


def test_a_lifetime_in_milliseconds_is_known_for_what_it_is() -> None:
    clock = VirtualClock()
    for members, lifetime in (
        ({"expires_in": 3600}, 3600),
        ({"expires_in": 3_600_000}, 3600),
        ({"expires_in_sec": 3600, "expires_in": 3_600_000}, 3600),
        ({}, 3600),
        ({"expires_in": 30}, 30),
    ):
        with serving(one_after_another(told({"access_token": "abcdefgh", **members}))) as service:
            grant = tokens_at(service, clock).refresh("r" * 8)
        assert grant.ends_at_s - clock.now_s() == lifetime
        assert clock.now_s() < grant.renew_at_s < grant.ends_at_s


def test_secrets_go_in_the_body_or_a_header_never_in_the_address() -> None:
    for showing in ("body", "basic"):
        with serving(one_after_another(told({"access_token": "abcdefgh"}))) as service:
            tokens_at(service, VirtualClock(), showing).refresh("refresh-canary")
            (asked,) = service.asked
        assert asked.query == {}
        assert asked.form["refresh_token"] == "refresh-canary"
        assert ("client_secret" in asked.form) == (showing == "body")
        assert asked.headers.get("authorization", "").startswith("Basic ") == (showing == "basic")


def test_without_consent_nothing_is_asked() -> None:
    renew = make_refresher(lambda token: pytest.fail("asked"), None, "crm:test")
    with pytest.raises(ConsentNeeded):
        renew(None)


def consent_asked() -> Ask:
    """A consent of a scripted service."""
    return Ask("https://auth.example.org/oauth/v2/auth", "client", "http://127.0.0.1:0/back", ("a.READ", "b.READ"), ",")


def test_a_browser_that_comes_back_brings_the_code() -> None:
    consent = begin_consent(consent_asked())
    query = parse_qs(urlsplit(consent.url).query)
    assert query["scope"] == ["a.READ,b.READ"]
    assert query["code_challenge_method"] == ["S256"]
    assert consent.verifier not in consent.url
    assert 43 <= len(consent.verifier) <= 128
    visits: list[int] = []

    def visit() -> None:
        for tail in ("/other?code=x", "/back?code=x&state=forged", f"/back?code=good&state={consent.state}"):
            try:
                with urllib.request.urlopen(consent.redirect_url.removesuffix("/back") + tail) as page:
                    visits.append(page.status)
            except urllib.error.HTTPError as error:
                with error:
                    visits.append(error.code)

    thread = threading.Timer(0.2, visit)
    thread.start()
    assert wait_for_code(consent, 20) == "good"
    thread.join()
    assert visits == [400, 400, 200]


class QuickBrowser(io.StringIO):
    """A terminal beside a browser that is signed in already: it is back before the next line is written."""

    def __init__(self) -> None:
        super().__init__()
        self.visits: list[int] = []

    def write(self, text: str, /) -> int:
        """Follows every address that is shown."""
        for url in re.findall(r"https?://\S+", text):
            self.visits.append(httpx.get(url, follow_redirects=True, timeout=PATIENCE_S, trust_env=False).status_code)
        return super().write(text)


def test_a_browser_that_is_quick_finds_us_listening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with standing("crm", tmp_path) as held:
        terminal = QuickBrowser()
        monkeypatch.setattr(sys, "stderr", terminal)
        assert main(["connect", "crm:standin", "login", "--config", str(held.config)], held.environment) == 0
        assert terminal.visits == [200]


def test_nobody_coming_and_refusals_are_told() -> None:
    with pytest.raises(ConsentNeeded) as caught:
        wait_for_code(begin_consent(consent_asked()), 0.2)
    assert caught.value.data["why"] == "nobody-came"
    consent = begin_consent(consent_asked())
    with pytest.raises(ConsentNeeded) as caught:
        code_of(f"http://127.0.0.1/back?error=access_denied&state={consent.state}", consent)
    assert caught.value.data["why"] == "consent-refused"
    assert code_of(f"code=abc&state={consent.state}", consent) == "abc"
    with pytest.raises(ConsentNeeded):
        code_of("http://127.0.0.1/back?code=abc&state=other", consent)


def test_what_is_kept_is_plain_json(tmp_path: Path) -> None:
    keep = GrantStore(tmp_path / "g.json")
    grant = Grant("a" * 8, 10.0, 5.0, "r" * 8, "https://api.example.org", "x")
    keep.save(grant)
    assert json.loads(keep.path.read_text())["api_domain"] == "https://api.example.org"
    assert keep.read() == grant
    assert "aaaa" not in repr(grant)
