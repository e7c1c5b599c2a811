"""No secret of a security service is ever told: not by a terminal in either language, a log, a report, the folder of a
run, an archive or the line of a process, whatever the service says back. Each is a canary, looked for everywhere."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.services.appsec.standin.data import canary
from noarkit.services.standins.server import StandinSpec
from tests.processes import command_line
from tests.services.appsec.there import newest
from tests.services.scripted import Asked, Told, serving, told
from tests.services.standing import Standing, standing
from tests.waiting import PATIENCE_S

CONTENT = tuple(canary(name) for name in ("credential", "upload", "snippet", "audit"))
OURS = "ours-canary-0123456789abcdef"
Captured = pytest.CaptureFixture[str]


class Heard:
    """All that commands told, and left behind below a folder."""

    def __init__(self, folder: Path, config: Path, home: Path) -> None:
        self.folder = folder
        self.lines: list[str] = []
        self._config = config
        self._environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
        self._home = home

    def run(self, capsys: Captured, *words: str) -> int:
        """One command, as chatty as it gets; its end."""
        log = str(self.folder / "told.log")
        ended = main([*words, "--config", str(self._config), "-v", "--log-file", log], self._environment)
        self.lines.append("".join(capsys.readouterr()))
        return ended

    def places(self, secrets: list[str]) -> list[str]:
        """Where one of them stands. The grant and the webhooks that we asked for hold theirs, for their owner alone."""
        found = ["terminal"] if any(secret in line for line in self.lines for secret in secrets) else []
        for path in [*self.folder.rglob("*"), *(self._home / ".local").rglob("*")]:
            if not path.is_file() or path.name.endswith(("grant.json", "webhooks.json", ".secret")):
                continue
            data = path.read_bytes()
            found += [str(path) for secret in secrets if secret.encode() in data]
        return found


def secrets_of(held: Standing, home: Path) -> list[str]:
    """The key, the token it was exchanged for, and what proves webhooks."""
    found = [path.read_text().strip() for path in held.home.glob("*.secret")]
    for path in (home / ".local").rglob("*.json"):
        if path.name.endswith(("grant.json", "webhooks.json")):
            assert (path.stat().st_mode & 0o777) == 0o600
            found += [text for text in path.read_text().split('"') if len(text) > 40 and "/" not in text]
    return found


def test_no_secret_is_met_anywhere_after_a_plan_an_ingest_a_verify_webhooks_tools_and_refusals(
    tmp_path: Path, capsys: Captured
) -> None:
    there, home = tmp_path / "there", tmp_path / "home"
    there.mkdir()
    with standing("appsec", tmp_path / "standin", StandinSpec(30, options={"decided": "40"})) as held:
        heard = Heard(there, held.config, home)
        archive = ["--archive", f"embedded:{there / 'archive'}"]
        scan = newest(held, 1)
        assert heard.run(capsys, "connect", "appsec:standin", "webhook", "create", "--arguments",
                         '{"url": "http://127.0.0.1:9"}') == 0  # fmt: skip
        assert heard.run(capsys, "connect", "appsec:standin", "webhook", "list") == 0
        assert heard.run(capsys, "connect", "appsec:standin", "scan", "get", scan["id"], "--json") == 0
        assert heard.run(capsys, "connect", "appsec:standin", "--mcp", "--call", "listProjects") == 0
        assert heard.run(capsys, "plan", "appsec:standin", "-o", str(there / "run"), *archive) == 0
        held.control("expire")
        assert heard.run(capsys, "ingest", str(there / "run"), *archive) == 0
        assert heard.run(capsys, "verify", str(there / "run"), "--depth", "bytes", *archive) == 0
        secrets = secrets_of(held, home)
        assert len(secrets) >= 3
        for lang in ("en", "nb"):  # what is refused is told with what we sent
            assert heard.run(capsys, "connect", "appsec:standin", "project", "create", "--lang", lang) == 4
            assert "name is required" in heard.lines[-1]
        held.control("licence")
        for lang in ("en", "nb"):
            assert heard.run(capsys, "connect", "appsec:standin", "--lang", lang) == 6
        assert "lisensen" in heard.lines[-1]
    assert heard.places([*secrets, *CONTENT]) == []
    assert (there / "run" / "run.log").is_file() and (there / "archive").is_dir()


def echoing(asked: Asked) -> Told:
    """A service that tells back all that it hears, as text and as JSON."""
    if asked.path.endswith("/token"):
        return told({"access_token": "token-canary-0123456789abcdef", "expires_in": 600})
    seen = f"{dict(asked.headers)} {asked.body!r} {asked.path}"
    if asked.path == "/api/projects":
        return Told(403, f"<html>{seen}</html>".encode())
    return told({"message": seen, "code": 7}, 400)


@pytest.mark.parametrize("path", ["project list", "project get a", "application list"])
def test_a_service_that_tells_back_all_it_hears_gives_nothing_away(tmp_path: Path, capsys: Captured, path: str) -> None:
    key = tmp_path / "key.secret"
    key.write_text(OURS)
    key.chmod(0o600)
    with serving(echoing) as service:
        config = tmp_path / "noarkit.toml"
        config.write_text(
            f'[connections.appsec.main]\napi_url = "{service.url}"\ntenant = "t"\napi_key = {{ file = "{key}" }}\n'
            'client_id = "us"\nrates = ["1000000/s"]\nconnect_timeout_s = 2\n'
        )
        heard = Heard(tmp_path / "there", config, tmp_path)
        (tmp_path / "there").mkdir()
        if path == "project list":  # as others see a process
            line = [sys.executable, "-m", "noarkit", "connect", "appsec:main", *path.split(), "--config", str(config)]
            environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
            with subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
                lines = b"".join(watched(process))
                output, _ = process.communicate(timeout=PATIENCE_S)
            assert process.returncode == 6
            assert OURS.encode() not in lines + output and b"token-canary" not in lines + output
        else:
            assert heard.run(capsys, "connect", "appsec:main", *path.split()) == 4
            assert "'accept'" in heard.lines[-1] or "headers" in heard.lines[-1] or "{" in heard.lines[-1]
        assert heard.places([OURS, "token-canary"]) == []


def watched(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """The command line and the environment of a process, as others may see the first of them, while it runs."""
    until = time.monotonic() + 1.0
    while process.poll() is None and time.monotonic() < until:
        yield command_line(process.pid)
        time.sleep(0.05)
