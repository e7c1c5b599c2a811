"""`--log-to tls://HOST:PORT`: syslog over TLS as RFC 5425 has it, and nothing at all to whom nobody vouches for."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.operations.test_logs import can_connect, judged, wait_until
from tests.operations.watching import faults_in, needs, scan
from tests.server.test_run import make_certificate
from tests.waiting import PATIENCE_S


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A source of one file."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "letter.txt").write_text("letter", "utf-8")
    return tmp_path / "source"


@dataclass
class Listener:
    """A log server: what it was sent, and how the connection ended."""

    port: int
    content: bytes = b""
    version: str = ""
    ended_in_order: bool = False


@contextmanager
def listening(certificate: tuple[Path, Path] | None) -> Iterator[Listener]:
    """A real listener for one connection, over TLS where it has a certificate. It ends when the other side has."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE_S)
        listener = Listener(server.getsockname()[1])
        thread = threading.Thread(target=_take, args=(server, certificate, listener))
        thread.start()
        yield listener
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def _take(server: socket.socket, certificate: tuple[Path, Path] | None, listener: Listener) -> None:
    accepted, _ = server.accept()
    accepted.settimeout(PATIENCE_S)
    with ExitStack() as stack:
        connection = stack.enter_context(accepted)
        try:
            if certificate is not None:
                context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
                context.load_cert_chain(*certificate)
                over_tls = context.wrap_socket(accepted, server_side=True, suppress_ragged_eofs=False)
                connection, listener.version = stack.enter_context(over_tls), over_tls.version() or ""
            while block := connection.recv(65536):
                listener.content += block
            listener.ended_in_order = True
        except OSError:
            pass


def frames(content: bytes) -> list[bytes]:
    """The messages of a stream, each with its length in octets before it."""
    messages = []
    while content:
        length, _, content = content.partition(b" ")
        messages.append(content[: int(length)])
        content = content[int(length) :]
    return messages


def whys(lines: str) -> list[object]:
    """Why something was not told."""
    return [fault["data"]["why"] for fault in faults_in(lines)]  # type: ignore[index]  # JSON


def test_lines_go_over_tls_with_counted_octets_to_the_last(folder: Path, tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    with listening(certificate) as log:
        assert scan(folder, "--log-to", f"tls://127.0.0.1:{log.port}", NOARKIT_LOG_CA=str(certificate[0])) == 0
    lines = judged(frames(log.content))
    assert [name for name, _, _ in lines][:1] == ["start"] and lines[-1][0] == "summary" and lines[-1][2]["exit"] == 0
    assert log.version in ("TLSv1.2", "TLSv1.3") and log.ended_in_order


def test_a_certificate_of_another_authority_gets_nothing(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other").mkdir()
    authority, _ = make_certificate(tmp_path / "other")
    with listening(make_certificate(tmp_path)) as log:
        target = f"tls://127.0.0.1:{log.port}"
        assert scan(folder, "--json", "--log-to", target, NOARKIT_LOG_CA=str(authority)) == 0
    assert whys(capsys.readouterr().out) == ["log-untrusted", "events-lost"]
    assert log.content == b""


def test_without_an_authority_of_ones_own_those_of_the_system_must_vouch(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with listening(make_certificate(tmp_path)) as log:
        assert scan(folder, "--json", "--log-to", f"tls://127.0.0.1:{log.port}") == 0
    assert whys(capsys.readouterr().out) == ["log-untrusted", "events-lost"]
    assert log.content == b""


def test_a_certificate_for_another_host_gets_nothing(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate = make_certificate(tmp_path)
    with listening(certificate) as log:
        target = f"tls://localhost:{log.port}"
        assert scan(folder, "--json", "--log-to", target, NOARKIT_LOG_CA=str(certificate[0])) == 0
    assert whys(capsys.readouterr().out) == ["log-untrusted", "events-lost"]
    assert log.content == b""


def test_a_listener_without_tls_is_sent_no_line_in_the_clear(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate = make_certificate(tmp_path)
    with listening(None) as log:
        target = f"tls://127.0.0.1:{log.port}"
        assert scan(folder, "--json", "--log-to", target, NOARKIT_LOG_CA=str(certificate[0])) == 0
    assert whys(capsys.readouterr().out) == ["log-away", "events-lost"]
    assert log.content.startswith(b"\x16\x03") and b"noarkit" not in log.content, "a greeting, and nothing after it"


def test_an_authority_that_cannot_be_read_stops_the_command_before_anything_is_done(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "missing.pem")
    assert scan(folder, "--json", "--log-to", "tls://127.0.0.1:6514", NOARKIT_LOG_CA=missing) == 2
    (fault,) = faults_in(capsys.readouterr().out)
    assert fault["data"]["where"] == missing  # type: ignore[index]  # JSON


def test_a_real_syslog_server_takes_them_over_tls(folder: Path, tmp_path: Path) -> None:
    server = needs("rsyslogd")
    if not list(Path("/usr/lib").glob("*/rsyslog/lmnsd_gtls.so")) + list(Path("/usr/lib/rsyslog").glob("*gtls.so")):
        pytest.skip("no rsyslog-gnutls here: scripts/operations-tools installs it")
    certificate, key = make_certificate(tmp_path)
    authority = shutil.copy(certificate, tmp_path / "ca.pem")
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    out, config = tmp_path / "out", tmp_path / "rsyslog.conf"
    config.write_text(
        f'global(DefaultNetstreamDriverCAFile="{authority}" DefaultNetstreamDriverCertFile="{certificate}" '
        f'DefaultNetstreamDriverKeyFile="{key}")\n'
        'module(load="imtcp" StreamDriver.Name="gtls" StreamDriver.Mode="1" StreamDriver.AuthMode="anon")\n'
        'template(name="fields" type="string" string="%app-name%|%msgid%|%structured-data%|%msg%\\n")\n'
        f'input(type="imtcp" port="{port}" address="127.0.0.1" ruleset="r")\n'
        f'ruleset(name="r") {{ action(type="omfile" file="{out}" template="fields") }}\n',
        "utf-8",
    )
    process = subprocess.Popen(
        [server, "-n", "-f", str(config), "-i", str(tmp_path / "pid")], stderr=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: can_connect(port))
        assert scan(folder, "--log-to", f"tls://127.0.0.1:{port}", NOARKIT_LOG_CA=str(certificate)) == 0
        wait_until(lambda: out.exists() and "|summary|" in out.read_text("utf-8"))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
    lines = [line.split("|", 3) for line in out.read_text("utf-8").splitlines()]
    ours = [line for line in lines if line[0] == "noarkit"]
    assert ours[0][1] == "start" and ours[-1][1] == "summary" and json.loads(ours[-1][3])["exit"] == 0
