"""Whole journeys of a CRM and of a spend service, and failures that echo secrets; then every secret is looked for
wherever something is told or written: output, logs, reports, run folders with their databases and journals, archives,
what is kept with a connection, and the command lines and environments of all processes while they run."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.services.standins.server import StandinSpec
from tests.cli.elsewhere import environment
from tests.processes import IS_TOLD, command_line, environment_of, family
from tests.services.standing import Standing, standing
from tests.waiting import PATIENCE_S

# where secrets may lie: for their owner alone
KEEPS = ("grant.json", "webhooks.json", "mcp-grant.json", "mcp-client.json", ".secret", "clients.toml", "serving.json")
CALLS = {
    "crm": ("Crm_getRecords", {"path_variables": {"module": "Deals"}, "query_params": {"fields": "Deal_Name"}}),
    "spend": ("search_expenses", {"limit": 1}),
}
ASKED = {
    "crm": [
        ("notifications", "open", "http://127.0.0.1:9", "--arguments", '{"events": ["Deals.all"]}'),
        ("notifications", "list"),
    ],
    "spend": [
        ("subscriptions", "create", "--arguments", '{"url": "http://127.0.0.1:9"}'),
        ("subscriptions", "list"),
        ("jobs", "list"),
    ],
}
ECHOED = {
    "crm": ("/settings/modules", "/crm/v8/org"),
    "spend": ("/accounting-entries:search", "/v1/introspect"),
}


class Watching(threading.Thread):
    """Reads the command lines and environments of a process and of all that came from it, again and again."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.seen: dict[int, set[bytes]] = {}
        self._root = root
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(0.02):
            for pid in family(self._root):
                self.seen.setdefault(pid, set()).update({command_line(pid), environment_of(pid)})

    def end(self) -> None:
        """No more."""
        self._ended.set()
        self.join(PATIENCE_S)


@contextmanager
def watched(line: list[str], home: Path, log: Path) -> Iterator[Watching]:
    """A command as a process of its own, watched while it runs."""
    with log.open("ab") as told:
        process = subprocess.Popen(
            [sys.executable, "-m", "noarkit", *line], env=environment(home), stdout=told, stderr=told
        )
    watching = Watching(process.pid)
    watching.start()
    try:
        process.wait(PATIENCE_S)
        yield watching
    finally:
        process.kill()
        process.wait(PATIENCE_S)
        watching.end()


def secrets_of(home: Path) -> set[bytes]:
    """Every secret there is: those that were configured, with the keys within addresses, and those that were got."""
    found = [path.read_text().strip() for path in home.rglob("*.secret")]
    found += [one.partition("key=")[2] for one in found if "key=" in one]
    for path in home.rglob("*.grant.json"):
        kept = json.loads(path.read_text())
        found += [kept["access_token"], kept["refresh_token"]]
    for path in home.rglob("*.webhooks.json"):
        found += [one["secret"] for one in json.loads(path.read_text())]
    return {one.encode() for one in found if len(one) >= 10}


def leaks(secrets: set[bytes], told: bytes) -> list[bytes]:
    """Which of them stand there."""
    return [one for one in secrets if one in told]


def echoing(held: Standing, path: str, home: Path) -> None:
    """The next call there is refused, with every secret in the refusal that the service has ever seen of us."""
    known = secrets_of(home)
    tools = b" ".join(one for one in known if b"/mcp" in one)  # these are no business of the service itself
    seen = [one.decode() for one in known if one not in tools and not one.startswith(b"whsec_")]
    body = json.dumps({"code": "TROUBLE", "type": "TROUBLE", "message": " ".join(sorted(seen)), "status": "error"})
    held.control("trouble", path=path, status=403, body=body)


@pytest.mark.skipif(not IS_TOLD, reason="command lines of processes are told by Linux")
@pytest.mark.parametrize(("service", "auth"), [("crm", ""), ("spend", "key")])
def test_no_secret_is_told_or_written_anywhere_but_in_its_keep(
    service: str, auth: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    options = {"auth": auth} if auth else {}
    log, home = tmp_path / "told", tmp_path
    with standing(service, tmp_path, StandinSpec(3 if service == "crm" else 8, limits=(), options=options)) as held:
        secrets = secrets_of(home)
        assert len(secrets) >= 2
        shared = ["--config", str(held.config), "--log-file", str(tmp_path / "noarkit.log"), "-v", "--progress", "none"]
        name, archive = f"{service}:standin", ["--archive", f"embedded:{tmp_path / 'archive'}"]

        with watched(
            ["ingest", name, "-o", str(tmp_path / "run"), "--workers", "2", *archive, *shared], home, log
        ) as one:
            processes = one
        assert "exit code 0" in log.read_text(), log.read_text()[-2_000:]
        secrets |= secrets_of(home)
        assert len(processes.seen) >= 2, "the archive and the workers are processes of their own"
        told = b"\0".join(text for texts in processes.seen.values() for text in texts)
        assert b"noarkit" in told and leaks(secrets, told) == []

        def ran(*line: str) -> int:
            code = main([*line, *shared], {**environment(home)})
            secrets.update(secrets_of(home))
            return code

        tool, arguments = CALLS[service]
        for words in ASKED[service]:
            assert ran("connect", name, *words) == 0
        if not auth:
            assert ran("connect", name, "--mcp", "--call", tool, "--arguments", json.dumps(arguments)) == 0
        held.control("trouble", path="/mcp", status=503, times=3)
        assert ran("connect", name, "--mcp") != 0
        for path in ECHOED[service]:
            echoing(held, path, home)
        assert ran("plan", name, "-o", str(tmp_path / "refused"), *archive) != 0
        assert ran("connect", name) != 0

    out, err = capfdbinary.readouterr()
    assert leaks(secrets, out + err) == []
    assert b"TROUBLE" in out + err, "what was echoed was told, without them"
    looked_at = 0
    for left in (one for one in tmp_path.rglob("*") if one.is_file() and not one.is_symlink()):
        if left.name.endswith(KEEPS):
            assert stat.S_IMODE(left.stat().st_mode) & 0o077 == 0, left
            continue
        content = left.read_bytes()
        looked_at += 1
        assert leaks(secrets, content) == [], left
        assert b"?expires=" not in content and b"&signature=" not in content, left
    assert looked_at > 20
    assert len(secrets) >= (5 if service == "crm" else 3), "tokens and what webhooks are proven by were looked for too"
