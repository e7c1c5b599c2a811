"""A person's consent to tools alone: no credentials of ours, a browser, PKCE; the first use of a tool asks for it."""

from __future__ import annotations

import json
import os
import pty
import re
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from noarkit.cli.main import main
from noarkit.errors import ConfigFault, ConsentNeeded, NoarkitError, ServiceStrange, UnsafeUrl
from noarkit.services.access.consent import code_of
from noarkit.services.mcp.connection_tools import open_tools, open_tools_login, tools_grant_store
from noarkit.services.settings import Connection
from noarkit.services.standins.server import StandinSpec
from tests.cli.elsewhere import environment
from tests.services.scripted import Asked, Told, serving, told
from tests.services.standing import Standing, standing
from tests.waiting import PATIENCE_S

CANARY = "canary-0123456789abcdef"


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A spend service that is reached by an API key: there are no credentials of a client."""
    options = {"auth": "key"}
    with standing("spend", tmp_path_factory.mktemp("keyed"), StandinSpec(10, limits=(), options=options)) as found:
        yield found


def agree(to: Connection) -> None:
    """What a person does: visits the address, agrees, and comes back."""
    login = open_tools_login(to)
    assert login is not None
    consent = login.begin()
    query = parse_qs(urlsplit(consent.url).query)
    assert query["code_challenge_method"] == ["S256"] and query["resource"]
    answer = httpx.get(consent.url, follow_redirects=False, trust_env=False)
    login.finish(consent, code_of(answer.headers["location"], consent))
    login.close()


def test_expenses_are_searched_by_a_consent_without_client_credentials(keyed: Standing, tmp_path: Path) -> None:
    to = keyed.connection({"state": str(tmp_path)})
    with pytest.raises(ConsentNeeded), open_tools(to):
        raise AssertionError
    agree(to)
    with open_tools(to) as tools:
        assert len(tools.call("search_expenses", {"limit": 2})["expenses"]) == 2  # type: ignore[index]  # a table
        keyed.control("expire")
        assert tools.call("search_expenses", {"limit": 1}), "the refresh token is used, and the next one kept"
    known = json.loads((tmp_path / "spend-standin.mcp-client.json").read_text())
    assert "secret" not in known and known["client_id"].startswith("client-")
    for name in ("mcp-client.json", "mcp-grant.json"):
        assert stat.S_IMODE((tmp_path / f"spend-standin.{name}").stat().st_mode) == 0o600
    assert tools_grant_store(to).forget()
    with open_tools(to) as tools, pytest.raises(ConsentNeeded):
        tools.list_tools()


def test_the_api_key_never_goes_to_the_tools(keyed: Standing) -> None:
    with pytest.raises(ConfigFault), open_tools(keyed.connection({"mcp_auth": "connection"})):
        raise AssertionError
    with pytest.raises(ConfigFault):
        open_tools_login(keyed.connection({"mcp_auth": "perhaps"}))


def test_the_first_use_of_a_tool_starts_the_consent_of_a_person_at_a_terminal(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(3, limits=())) as there:
        config = re.sub(r"(?m)^refresh_token.*\n", "", there.config.read_text())
        there.config.write_text(config)
        line = ["connect", "crm:standin", "--mcp", "--config", str(there.config), "--lang", "en"]
        assert main(line, there.environment) == 6, "nobody is there to be asked"
        leading, terminal = pty.openpty()
        env = environment(tmp_path) | {"BROWSER": "true"}
        with subprocess.Popen(
            [sys.executable, "-m", "noarkit", *line, "--wait", "60"],
            stdout=subprocess.PIPE, stderr=terminal, stdin=terminal, env=env, text=True,
        ) as process:  # fmt: skip
            os.close(terminal)
            seen = b""
            try:
                while not (found := re.search(rb"http://127\S+state=\S+", seen)):
                    seen += os.read(leading, 4_096)
                drain = threading.Thread(target=_drained, args=(leading,), daemon=True)
                drain.start()
                assert httpx.get(found[0].decode(), follow_redirects=True, trust_env=False).status_code == 200
                out, _ = process.communicate(timeout=PATIENCE_S)
            finally:
                process.kill()
        drain.join(PATIENCE_S)
        os.close(leading)
        assert process.returncode == 0
        assert "Crm_getRecords  (may be called)" in out
        assert main([*line, "--json"], there.environment) == 0, "it is asked once"


def _drained(terminal: int) -> None:
    try:
        while os.read(terminal, 4_096):
            pass
    except OSError:
        return


def test_the_command_asks_shows_and_forgets_the_consent_to_tools(
    keyed: Standing, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = {"HOME": str(tmp_path)}
    line = ["connect", "spend:standin", "--config", str(keyed.config), "--lang", "en"]
    assert main([*line, "status", "--mcp"], home) == 0
    assert "nothing is stored" in capsys.readouterr().out
    thread = threading.Thread(target=lambda: None)
    visits: list[str] = []

    class Screen:
        """Where a person reads the address, and visits it."""

        def write(self, text: str) -> int:
            if "/grants/agree" in text:
                visits.append(text.split(": ", 1)[1].strip())
                nonlocal thread
                thread = threading.Thread(target=httpx.get, args=(visits[0],), kwargs={"follow_redirects": True})
                thread.start()
            return len(text)

        def flush(self) -> None:
            """Nothing waits."""

        def isatty(self) -> bool:
            return False

    monkeypatch.setattr(sys, "stderr", Screen())
    assert main([*line, "login", "--mcp", "--wait", "30"], home) == 0
    thread.join(PATIENCE_S)
    assert main([*line, "--mcp"], home) == 0
    assert "search_expenses  (may be called)" in capsys.readouterr().out
    assert main([*line, "status", "--mcp"], home) == 0
    assert main([*line, "forget", "--mcp"], home) == 0
    assert main([*line, "--mcp"], home) == 6


def metadata(url: str, **more: object) -> dict[str, Told]:
    """What an honest server says of itself."""
    authority = {
        "issuer": url, "code_challenge_methods_supported": ["S256"], "response_types_supported": ["code"],
        "authorization_endpoint": f"{url}/agree", "token_endpoint": f"{url}/token",
        "registration_endpoint": f"{url}/register", **more,
    }  # fmt: skip
    return {
        "/.well-known/oauth-protected-resource": told({"authorization_servers": [url]}),
        "/.well-known/oauth-authorization-server": told(authority),
        "/register": told({"client_id": "c1"}, 201),
    }


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"token_endpoint": "https://elsewhere.example/token"}, UnsafeUrl),
        ({"authorization_endpoint": "https://elsewhere.example/agree"}, UnsafeUrl),
        ({"registration_endpoint": ""}, ServiceStrange),
        ({"code_challenge_methods_supported": ["plain"]}, ServiceStrange),
        ({"code_challenge_methods_supported": None}, ServiceStrange),
        ({"issuer": "https://elsewhere.example"}, ServiceStrange),
        ({"issuer": None}, ServiceStrange),
        ({"authorization_endpoint": 7}, ServiceStrange),
    ],
)
def test_a_server_that_would_lead_us_elsewhere_or_proves_nothing_is_refused_without_its_address(
    keyed: Standing, tmp_path: Path, more: dict[str, object], fault: type[NoarkitError]
) -> None:
    known: dict[str, Told] = {}

    def answer(asked: Asked) -> Told:
        return known.get(asked.path, told({}, 401 if asked.path.startswith("/mcp") else 404))

    with serving(answer) as server:
        known |= metadata(server.url, **more)
        place = tmp_path / "address.secret"
        place.write_text(f"{server.url}/mcp/{CANARY}?key={CANARY}")
        place.chmod(0o600)
        to = keyed.connection({"mcp_url": {"file": str(place)}, "state": str(tmp_path)})
        with pytest.raises(fault) as caught:
            open_tools_login(to)
    assert CANARY not in repr((caught.value, caught.value.data, caught.value.__cause__))
    assert not list(tmp_path.glob("*mcp-*.json")), "nothing is stored of it"


def test_a_server_that_says_nothing_of_who_grants_is_told_as_such(keyed: Standing, tmp_path: Path) -> None:
    with serving(lambda asked: told({}, 404)) as server:
        place = tmp_path / "address.secret"
        place.write_text(f"{server.url}/mcp?key={CANARY}")
        place.chmod(0o600)
        with pytest.raises(ServiceStrange) as caught:
            open_tools_login(keyed.connection({"mcp_url": {"file": str(place)}, "state": str(tmp_path)}))
    assert caught.value.data["why"] == "nobody-grants"
    assert {asked.path for asked in server.asked} >= {
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
    }
    assert all("authorization" not in asked.headers for asked in server.asked)
