"""The health check: told the start and the end, never in the way, its address never shown."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from noarkit.operations.health import HealthCheck, health_check
from noarkit.secrets import SecretSource
from tests.archive import certificates
from tests.operations.watching import faults_in, scan, summary_in
from tests.waiting import PATIENCE_S

CANARY = "3f2c1a-canary-of-the-check"


class Checks(HTTPServer):
    """A health check that keeps what it is told."""

    status = 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Pings)
        self.pings: list[tuple[str, dict[str, object]]] = []

    @property
    def url(self) -> str:
        """The address of the check, with the secret in it."""
        return f"http://127.0.0.1:{self.server_address[1]}/{CANARY}"


class Pings(BaseHTTPRequestHandler):
    """One ping."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert isinstance(self.server, Checks)
        self.server.pings.append((self.path, body))
        self.send_response(self.server.status)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@contextmanager
def serving() -> Iterator[Checks]:
    """A health check that is up."""
    with Checks() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A source whose file bears a name."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "Kari Nordmann.txt").write_text("letter", "utf-8")
    return tmp_path / "source"


def configured(tmp_path: Path, url: str) -> tuple[str, str]:
    """The options for a config that names where the address lies."""
    secret = tmp_path / "ping-url"
    secret.write_text(url + "\n", "utf-8")
    secret.chmod(0o600)
    (tmp_path / "noarkit.toml").write_text(
        f"[operations]\nping = {{ file = '{secret}' }}\nping_timeout_s = 2\n", "utf-8"
    )
    return "--config", str(tmp_path / "noarkit.toml")


def test_start_success_and_failure_are_told(folder: Path, tmp_path: Path) -> None:
    with serving() as checks:
        options = configured(tmp_path, checks.url)
        assert scan(folder, *options) == 0
        code = scan(tmp_path / "missing", *options)
    assert [path for path, _ in checks.pings] == [
        f"/{CANARY}/start",
        f"/{CANARY}",
        f"/{CANARY}/start",
        f"/{CANARY}/fail",
    ]
    bodies = [body for _, body in checks.pings]
    assert (bodies[1]["exit"], bodies[3]["exit"]) == (0, code)
    assert "Nordmann" not in json.dumps(bodies)


def test_a_folder_whose_name_is_no_text_is_told_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = os.fsdecode(os.fsencode(tmp_path / "s") + b"\xf8knad")  # a name of another time's character set
    Path(place).mkdir()
    with serving() as checks:
        assert scan(Path(place), "--json", *configured(tmp_path, checks.url)) == 0
    assert faults_in(capsys.readouterr().out) == []
    assert [body["run"] for _, body in checks.pings] == ["s\udcf8knad"] * 2


def test_without_a_setting_nobody_is_asked(folder: Path) -> None:
    with serving() as checks:
        assert scan(folder) == 0
    assert checks.pings == []


@pytest.mark.parametrize("status", [301, 404, 500])
def test_a_ping_that_is_refused_is_told_and_changes_nothing(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], status: int
) -> None:
    with serving() as checks:
        checks.status = status
        assert scan(folder, "--json", "--log-file", str(tmp_path / "log"), *configured(tmp_path, checks.url)) == 0
    output = capsys.readouterr()
    assert [(fault["code"], fault["exit"]) for fault in faults_in(output.out)] == [("F473", 0)] * 2
    assert str(status) in output.out and len(checks.pings) == 2, "and no redirection is followed"
    assert CANARY not in output.out + output.err + (tmp_path / "log").read_text("utf-8")


def test_a_check_that_is_away_or_never_answers_breaks_nothing(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/{CANARY}"
        assert scan(folder, "--json", *configured(tmp_path, url), NOARKIT_PING_TIMEOUT_S="0.2") == 0
        first = capsys.readouterr()
    assert scan(folder, "--json", *configured(tmp_path, url)) == 0
    second = capsys.readouterr()
    for output in (first, second):
        assert [fault["code"] for fault in faults_in(output.out)] == ["F473"] * 2
        assert summary_in(output.out)["exit"] == 0
        assert CANARY not in output.out + output.err


@pytest.mark.parametrize("parts", [[b"HTTP/1.1 ", *[b"2"] * 40], [b""] * 40])
def test_an_answer_that_trickles_or_stays_away_takes_no_longer_than_the_limit(parts: list[bytes]) -> None:
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                for part in parts:  # so slow that no single wait is too long
                    connection.sendall(part)
                    ended.wait(0.1)

        answering = threading.Thread(target=answer, daemon=True)
        answering.start()
        check = check_of(f"http://127.0.0.1:{server.getsockname()[1]}/{CANARY}", timeout_s=0.4)
        fault = check.ping("start", {})
        is_answering = answering.is_alive()
        ended.set()
        answering.join(PATIENCE_S)
    assert fault is not None and fault.data["why"] == "ping-too-slow"
    assert is_answering, "whoever waits for the answer does so to its end"


def test_no_proxy_of_the_environment_hears_of_a_ping(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serving() as checks, serving() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        assert check_of(checks.url).ping("success", {}) is None
    assert ([path for path, _ in checks.pings], proxy.pings) == ([f"/{CANARY}"], [])


def test_a_check_is_trusted_by_the_authority_of_the_settings(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    authority = certificates.write(certificates.Identity("ca", is_authority=True), tmp_path)
    leaf = certificates.write(certificates.Identity("leaf", hosts=("localhost",), issuer="ca"), tmp_path)
    with serving() as checks:
        checks.socket = certificates.serving(leaf).wrap_socket(checks.socket, server_side=True)
        url = f"https://localhost:{checks.server_address[1]}/{CANARY}"
        options = configured(tmp_path, url)
        assert scan(folder, "--json", *options) == 0
        assert [fault["code"] for fault in faults_in(capsys.readouterr().out)] == ["F473"] * 2
        assert checks.pings == [], "nobody vouches for it"
        assert scan(folder, "--json", *options, NOARKIT_PING_CA=str(authority)) == 0
        assert faults_in(capsys.readouterr().out) == []
    assert len(checks.pings) == 2


def check_of(url: str, timeout_s: float = PATIENCE_S) -> HealthCheck:
    """A health check at an address."""
    return health_check(SecretSource("env", ("PING",)), None, timeout_s, {"PING": url})


def test_its_address_is_a_secret_that_no_config_holds_and_nobody_is_shown(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "noarkit.toml"
    config.write_text(f'[operations]\nping = "https://checks.example.org/{CANARY}"\n', "utf-8")
    assert scan(folder, "--config", str(config)) == 2
    assert scan(folder, NOARKIT_PING=f"ftp://host/{CANARY}") == 2
    assert scan(folder, NOARKIT_PING=f"https://user:{CANARY}@host/") == 2
    output = capsys.readouterr()
    assert CANARY not in output.out + output.err
