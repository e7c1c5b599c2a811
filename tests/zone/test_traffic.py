"""No traffic but what was asked for: every name and address that a command asks for is held to what it was told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from noarkit.cli.main import COMMANDS
from noarkit.loading.engines.cluster.tls import write_certificates
from tests.waiting import PATIENCE_S

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LOOPBACK = "127.0.0.1"
SERVING = {
    "serve": ["serve", "--data", "archive", "--port", "0", "--json"],
    "standin": ["standin", "crm", "--records", "6", "--config-out", "noarkit.toml", "--json"],
    "browse": ["browse", "run", "--json"],
    "listen": ["listen", "crm:standin", "--port", "0", "--json"],
    "scheduler": ["scheduler", "--tls", "tls", "--listen", "127.0.0.1:0", "--json"],
    "worker": ["worker", "SCHEDULER", "--tls", "tls", "--json"],
}
Seen = Mapping[str, frozenset[tuple[str, int]]]


@dataclass(frozen=True)
class Watched:
    """A folder in which commands run, and the file in which what they ask for is noted."""

    folder: Path
    more: Mapping[str, str]

    def environment(self, command: str) -> dict[str, str]:
        """What a watched process sees."""
        kept = {name: value for name, value in os.environ.items() if name == "PATH" or name.startswith("COVERAGE")}
        return {
            **kept,
            "HOME": str(self.folder),
            "PYTHONPATH": os.pathsep.join((str(HERE / "watched"), str(ROOT))),
            "NOARKIT_TEST_TRAFFIC": str(self.folder / "traffic.jsonl"),
            "NOARKIT_TEST_COMMAND": command,
            "http_proxy": "http://proxy.example:3128",  # the environment's proxies are nobody's wish
            "https_proxy": "http://proxy.example:3128",
            **self.more,
        }

    def seen(self) -> Seen:
        """What each command asked for."""
        found: dict[str, set[tuple[str, int]]] = defaultdict(set)
        for line in (self.folder / "traffic.jsonl").read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            found[one["command"]].add((one["host"], one["port"]))
        return {command: frozenset(asked) for command, asked in found.items()}

    @contextmanager
    def serving(self, command: str, **places: str) -> Iterator[dict[str, object]]:
        """A command that goes on until it is told to stop; gives the first thing it says."""
        arguments = [sys.executable, "-m", "noarkit", *(places.get(word, word) for word in SERVING[command])]
        with subprocess.Popen(
            arguments, cwd=self.folder, env=self.environment(command), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as running:
            assert running.stdout is not None
            try:
                told: dict[str, object] = json.loads(running.stdout.readline())
                yield told
            finally:
                running.send_signal(signal.SIGTERM)
                running.wait(PATIENCE_S)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Watched, dict[str, str]]]:
    """All commands have run; with the addresses that they were told of."""
    folder = tmp_path_factory.mktemp("watched")
    (folder / "source" / "case").mkdir(parents=True)
    for number in range(3):
        (folder / "source" / "case" / f"letter {number}.txt").write_text(f"letter {number}")
    (folder / "person.name").write_text("Kari Nordmann")
    (folder / "person.name").chmod(0o600)
    with ExitStack() as stack:
        bare = Watched(folder, {})
        archive = str(stack.enter_context(bare.serving("serve"))["url"])
        service = str(stack.enter_context(bare.serving("standin"))["url"])
        clients = tomllib.loads((folder / "archive" / "clients.toml").read_text(encoding="utf-8"))["clients"]
        account = {"NOARKIT_CLIENT_ID": "admin", "NOARKIT_CLIENT_SECRET": clients["admin"]["secret"]}
        told = Watched(folder, {"NOARKIT_ARCHIVE": archive, **account})
        with bare.serving("listen"):
            pass
        write_certificates(folder / "tls", (LOOPBACK,), datetime.now(UTC))
        with (
            bare.serving("scheduler") as scheduler,
            told.serving("worker", SCHEDULER=str(scheduler["address"])) as worker,
        ):
            finished = subprocess.run(
                [sys.executable, "-m", "tests.zone.journey"],
                cwd=folder, env=told.environment("journey"), input=json.dumps(journey(str(scheduler["address"]))),
                text=True, capture_output=True, check=True,
            )  # fmt: skip
        with bare.serving("browse"):
            pass
        codes = dict(line.rsplit(" ", 1) for line in finished.stdout.splitlines())
        not_ready = ("extract archive", "validate", "convert dias", "validate dias")  # noarkit's own schemas
        assert {command: code for command, code in codes.items() if code != "0"} == dict.fromkeys(not_ready, "3"), (
            codes,
            finished.stderr[-3000:],
        )
        slot = str(worker["addresses"]).strip("[']")  # a list of one
        places = {"archive": archive, "service": service, "cluster": str(scheduler["address"]), "slot": slot}
        yield told, places


def journey(scheduler: str = "") -> list[tuple[str, list[str]]]:
    """Every command that ends by itself, in an order in which each has what it needs."""
    return [
        ("init", ["init", "fresh"]),
        ("config", ["config", "show", "--origin"]),
        ("help", ["help", "F301"]),
        ("man", ["man"]),
        ("completion", ["completion", "bash"]),
        ("version", ["version"]),
        ("doctor archive", ["doctor", "--probe"]),
        ("scan", ["scan", "source"]),
        ("recipe", ["recipe", "new", "source", "-o", "mine.toml"]),
        ("recipe check", ["recipe", "check", "mine.toml", "source"]),
        ("plan archive", ["plan", "source", "-o", "run"]),
        ("estimate", ["estimate", "run", "--no-probe"]),
        ("estimate archive", ["estimate", "run"]),
        ("approve", ["approve", "run", "--by", "Kari"]),
        ("ingest archive", ["ingest", "run", "--approved-only"]),
        ("status", ["status", "run"]),
        ("runs", ["runs", "."]),
        ("report", ["report", "run"]),
        ("retry archive", ["retry", "run"]),
        ("close archive", ["close", "run"]),
        ("verify archive", ["verify", "run", "--depth", "bytes"]),
        ("extract archive", ["extract", "-o", "package", "--as", "noark5"]),
        ("ls", ["ls", "run"]),
        ("show", ["show", "run", "case/letter 0.txt"]),
        ("get", ["get", "run", "case/letter 0.txt", "-o", "letter.txt"]),
        ("search", ["search", "package", "letter", "--read-documents"]),
        ("derive", ["derive", "source", "-o", "copies", "--workers", "1"]),
        ("deposit", ["deposit", "new", "source", "-o", "project", "--no-copies"]),
        ("convert", ["convert", "source", "--as", "eark-sip", "-o", "sip.zip"]),
        ("convert dias", ["convert", "package", "--as", "dias-sip", "-o", "dias"]),
        ("validate", ["validate", "package", "--report", "html"]),
        ("validate sip", ["validate", "sip.zip"]),
        ("validate dias", ["validate", "dias"]),
        ("compare", ["compare", "package", "package"]),
        ("compare html", ["compare", "package", "package", "--report", "html"]),
        ("mcp", ["mcp", "--root", "source"]),
        ("connect service", ["connect", "crm:standin"]),
        ("connect tools service", ["connect", "crm:standin", "--mcp"]),
        ("plan service archive", ["plan", "crm:standin", "-o", "deals"]),
        ("ingest service archive", ["ingest", "deals"]),
        ("plan wide archive", ["plan", "source", "-o", "wide"]),
        ("ingest cluster archive", ["ingest", "wide", "--engine", scheduler, "--tls", "tls"]),
        ("key", ["key", "new", "-o", "seal.key"]),
        ("plan sealed archive", ["plan", "source", "-o", "sent", "--pack", "bundle.zip", "--seal-key", "seal.key"]),
        ("ingest sealed archive", ["ingest", "bundle.zip", "-o", "arrived", "--trust-key", "seal.key.pub"]),
        ("verify sealed archive", ["verify", "arrived", "--receipt-out", "receipt.zip", "--seal-key", "seal.key"]),
        ("verify sealed", ["verify", "sent", "--receipt", "receipt.zip", "--trust-key", "seal.key.pub"]),
        ("ingest embedded", ["ingest", "source", "-o", "again", "--archive", "embedded:own"]),
        ("verify embedded", ["verify", "again", "--archive", "embedded:own"]),
        ("codes embedded", ["codes", "embedded:own"]),
        ("groups embedded", ["groups", "embedded:own"]),
        ("retract embedded", ["retract", "again", "--closed", "--archive", "embedded:own"]),
        ("backup", ["backup", "own", "-o", "own-backup"]),
        ("find-person", ["find-person", "run", "package", "--name", "person.name"]),
        ("find-person embedded", ["find-person", "embedded:own", "--name", "person.name"]),
        ("runs forget", ["runs", "forget", ".", "--keep-last", "9", "--dry-run"]),
        ("erase-traces", ["erase-traces", "again"]),
    ]  # fmt: skip


def test_every_command_connects_only_to_what_it_was_told_of(watched: tuple[Watched, dict[str, str]]) -> None:
    told, addresses = watched
    places = {word: _place(address) for word, address in addresses.items()}
    assert told.seen()
    for command, asked in told.seen().items():
        named = {places[word] for word in (command + _ALSO.get(command, "")).split() if word in places}
        if command == "worker":
            # a socket that asks the system for its own address on the way to the scheduler, and sends nothing
            named.add((places["cluster"][0], 80))
        if command.endswith(" embedded"):
            named = {(host, port) for host, port in asked if host == LOOPBACK and port}
        allowed = named | {(host, 0) for host, _ in named}  # the name of a place may be looked up, and no other
        assert asked <= allowed, (command, asked - allowed)
    seen = {command: {port for _, port in asked} for command, asked in told.seen().items()}
    for command, _ in journey():
        assert all(places[word][1] in seen[command] for word in command.split() if word in places), command


_ALSO = {"worker": " cluster archive", "scheduler": " slot"}


def test_every_command_is_watched(watched: tuple[Watched, dict[str, str]]) -> None:
    ran = {name.split()[0] for name, _ in journey()} | SERVING.keys()
    assert set(COMMANDS) - ran == set()


def test_waiting_for_a_person_s_consent_looks_no_name_up(tmp_path: Path) -> None:
    waits = (
        "from noarkit.services.access.consent import Ask, begin_consent, wait_for_code\n"
        "wait_for_code(begin_consent(Ask('https://accounts.example', 'us', 'http://127.0.0.1:0/back', ())), 0.1)"
    )
    watched = Watched(tmp_path, {})
    (tmp_path / "traffic.jsonl").touch()
    command = [sys.executable, "-c", waits]
    told = subprocess.run(
        command, cwd=tmp_path, env=watched.environment("login"), capture_output=True, text=True, check=False
    )
    assert "nobody-came" in told.stderr
    assert watched.seen() == {}


def _place(url: str) -> tuple[str, int]:
    split = urlsplit(url)
    return split.hostname or "", split.port or 0
