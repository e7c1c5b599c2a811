"""No secret of a connection is ever told: not by a terminal in either language, a log, a report, a run's folder or the
line of a process, whatever the service says back. Each secret here is looked for in all of them."""

from __future__ import annotations

import http.client
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from noarkit.cli.main import main
from noarkit.errors import NoarkitError
from noarkit.services.features.commands import COMMANDS
from noarkit.services.standins.server import StandinSpec
from tests.processes import all_processes, command_line
from tests.services.features.asking import scripted
from tests.services.scripted import Asked, Told, serving
from tests.services.standing import Standing, standing

SECRETS = ("api_key", "write_key", "server_key", "client_secret", "webhook_secret", "pseudonym_key")
CANARY = "canary-{}-0123456789abcdefghij"


@dataclass
class Heard:
    """All that commands told, and left behind below a folder."""

    folder: Path
    config: Path
    capsys: pytest.CaptureFixture[str]
    caplog: pytest.LogCaptureFixture
    texts: list[str] = field(default_factory=list)

    def run(self, *words: str) -> tuple[int, str]:
        """One command, as chatty as it gets; its end, and what it told."""
        self.caplog.set_level(logging.DEBUG)
        line = [*words, "--config", str(self.config), "-v", "--log-file", str(self.folder / "told.log")]
        ended = main(line, {"HOME": str(self.folder / "home"), "PATH": os.environ["PATH"]})
        told = "".join(self.capsys.readouterr())
        self.texts.append(told)
        return ended, told

    def everything(self) -> Iterator[tuple[str, bytes]]:
        """What was told, with where."""
        # the stand-in runs in this process: what its own server logs is not ours
        ours = [one.getMessage() for one in self.caplog.records if not one.name.startswith(("uvicorn", "mcp.server"))]
        yield "terminal", "\n".join(self.texts).encode()
        yield "logging", "\n".join(ours).encode()
        for name in ("told.log", "run", "archive", "home"):
            place = self.folder / name
            for path in [place] if place.is_file() else place.rglob("*"):
                # the grant is the one file that holds a token, for its owner alone
                if path.is_file() and not path.name.endswith("grant.json"):
                    yield str(path), path.read_bytes()

    def where(self, secrets: list[str]) -> list[str]:
        """The places where a secret stands."""
        return [place for place, text in self.everything() if any(secret.encode() in text for secret in secrets)]


def with_canaries(held: Standing, folder: Path) -> Path:
    """The same connection with keys that nobody knows, each of them a canary."""
    told = held.config.read_text("utf-8").splitlines()
    lines = [line for line in told if line.partition(" = ")[0] not in SECRETS]
    for name in SECRETS:
        place = folder / f"{name}.secret"
        place.write_text(CANARY.format(name) + "\n")
        place.chmod(0o600)
        lines.append(f'{name} = {{ file = "{place}" }}')
    (folder / "noarkit.toml").write_text("\n".join(lines) + "\n")
    return folder / "noarkit.toml"


def test_keys_that_are_told_back_in_refusals_are_told_to_nobody(
    held: Standing, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    heard = Heard(tmp_path, with_canaries(held, tmp_path), capsys, caplog)
    for lang in ("en", "nb"):
        ended, told = heard.run("connect", "features:standin", "--lang", lang)
        # what the service said is told, without the key that it repeats
        assert (ended, "Invalid API key for this endpoint. Key: ***" in told) == (6, True)
    for words in (
        ("connect", "features:standin", "gates", "create", "nytt"),
        ("connect", "features:standin", "gates", "check", "nytt", "--json"),
        ("connect", "features:standin", "events", "send", "sendt", "--json"),
        ("connect", "features:standin", "--mcp"),
        ("plan", "features:standin", "-o", str(tmp_path / "run")),
    ):
        assert heard.run(*words)[0] == 6, words
    assert heard.where(["canary-"]) == []


def test_no_secret_is_told_where_all_goes_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "standin"
    with standing("features", place, StandinSpec(8, limits=(), options={"audit": "4"})) as held:
        heard = Heard(tmp_path, held.config, capsys, caplog)
        for words in (
            ("connect", "features:standin"),
            ("config", "show"),
            (
                "ingest",
                "features:standin",
                "-o",
                str(tmp_path / "run"),
                "--archive",
                f"embedded:{tmp_path / 'archive'}",
            ),
            ("connect", "features:standin", "gates", "create", "nytt", "--json"),
            ("connect", "features:standin", "gates", "check", "nytt"),
            ("connect", "features:standin", "--mcp", "--json"),
        ):
            assert heard.run(*words)[0] == 0, words
        secrets = [path.read_text().strip() for path in place.glob("*.secret")]
    assert len(secrets) == 5
    assert (tmp_path / "run" / "report.html").exists()
    assert heard.where(secrets) == []


def test_a_code_a_token_and_the_address_of_a_consent_are_in_no_log_and_the_grant_is_its_owners(
    held: Standing,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = tmp_path / "noarkit.toml"
    config.write_text(held.config.read_text("utf-8") + 'mcp_auth = "oauth"\n')
    heard = Heard(tmp_path, config, capsys, caplog)
    visited: list[str] = []

    class Person:
        """Visits the address that the terminal shows, and pastes the one that it ended at."""

        def isatty(self) -> bool:
            return False

        def readline(self) -> str:
            shown = capsys.readouterr().err
            address = next(word for word in shown.split() if word.startswith("http"))
            place = urlsplit(address)
            browser = http.client.HTTPConnection(place.netloc)  # not ours: nothing of what it does is in our log
            browser.request("GET", f"{place.path}?{place.query}")
            visited.append(browser.getresponse().headers["location"])
            browser.close()
            return visited[0] + "\n"

    monkeypatch.setattr(sys, "stdin", Person())
    assert heard.run("connect", "features:standin", "login", "--mcp", "--paste")[0] == 0
    assert heard.run("connect", "features:standin", "--mcp")[0] == 0
    assert heard.run("connect", "features:standin", "status")[0] == 0
    (grant,) = (tmp_path / "home").rglob("*grant.json")
    assert grant.stat().st_mode & 0o077 == 0
    code = visited[0].partition("code=")[2].partition("&")[0]
    secrets = [code, *(part for part in grant.read_text().split('"') if len(part) > 60)]
    assert len(secrets) >= 3
    assert heard.where(secrets) == []


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 429, 500, 302])
def test_a_service_that_repeats_the_key_in_any_answer_is_not_repeated(
    held: Standing, tmp_path: Path, status: int
) -> None:
    def answer(asked: Asked) -> Told:
        key = asked.headers.get("service-api-key", "")
        row = {"id": "x", key: [key]}
        body = json.dumps({"message": f"for {key}: no", "error": {"message": key}, "data": [row]})
        return Told(status, body.encode(), {"X-Echo": key, "Content-Type": "application/json", "Location": f"/{key}"})

    asked = [("gates", "get", "x"), ("gates", "create", "x"), ("gates", "check", "x"), ("segments", "list")]
    with serving(answer) as server, scripted(held, tmp_path, server.url) as service:
        for words in asked:
            try:
                told = repr(list(COMMANDS.run_on(service, words, {})))
            except NoarkitError as fault:
                told = f"{fault} {fault!r} {fault.data}"
            assert not [begin for begin in ("console-", "secret-") if begin in told], told


def test_no_secret_is_on_the_line_of_a_process_that_works_for_a_run(tmp_path: Path) -> None:
    place = tmp_path / "standin"
    with standing("features", place, StandinSpec(8, limits=(), options={"audit": "0"})) as held:
        archive = f"embedded:{tmp_path / 'archive'}"
        line = [sys.executable, "-m", "noarkit", "ingest", "features:standin", "-o", str(tmp_path / "run")]
        line += ["--config", str(held.config), "--archive", archive, "--workers", "2"]
        environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
        seen: set[bytes] = set()
        with subprocess.Popen(line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None:
                seen |= {command_line(process.pid) for process in all_processes()}
                time.sleep(0.1)
        secrets = [path.read_bytes().strip() for path in place.glob("*.secret")]
    assert process.returncode == 0
    assert any(b"features:standin" in one for one in seen)
    assert not [one for one in seen if any(secret in one for secret in secrets)]
