"""`--log-to`: syslog by the grammar of RFC 5424 and its transports, the journal by its own protocol."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import threading
import time
from datetime import datetime
from pathlib import Path

import pytest

from noarkit.operations.log_lines import INFO, LogLine
from noarkit.operations.logs import LogTarget, log_target
from noarkit.operations.syslog import MAX_DATAGRAM_BYTES, message
from tests.operations.watching import datagrams, faults_in, needs, received, scan
from tests.waiting import PATIENCE_S

# SYSLOG-MSG = HEADER SP STRUCTURED-DATA [SP MSG], RFC 5424, section 6, byte by byte
PRINTABLE = rb"[\x21-\x7e]"
NAME = rb"[\x21\x23-\x3c\x3e-\x5c\x5e-\x7e]{1,32}"  # no '=', space, ']', '"'
TIMESTAMP = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)"
PARAMETER = rb" " + NAME + rb'="(?:[^"\\\]]|\\["\\\]])*"'
GRAMMAR = re.compile(
    rb"<(?P<pri>0|[1-9]\d{0,2})>(?P<version>[1-9]\d{0,2})"
    rb" (?P<time>-|" + TIMESTAMP + rb")"
    rb" (?P<host>-|" + PRINTABLE + rb"{1,255})"
    rb" (?P<app>-|" + PRINTABLE + rb"{1,48})"
    rb" (?P<proc>-|" + PRINTABLE + rb"{1,128})"
    rb" (?P<id>-|" + PRINTABLE + rb"{1,32})"
    rb" (?P<data>-|(?:\[" + NAME + rb"(?:" + PARAMETER + rb")*\])+)"
    rb"(?: (?P<msg>[\x20-\x7e]*))?"
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A source whose file bears a name."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "Kari Nordmann.txt").write_text("letter", "utf-8")
    return tmp_path / "source"


def judged(messages: list[bytes]) -> list[tuple[str, int, dict[str, object]]]:
    """The event, severity and data of each message; each must keep the grammar to its last byte."""
    lines = []
    for content in messages:
        match = GRAMMAR.fullmatch(content)
        assert match is not None, content
        assert (match["version"], match["app"]) == (b"1", b"noarkit")
        datetime.fromisoformat(match["time"].decode())
        facility, severity = divmod(int(match["pri"]), 8)
        assert facility == 3
        data: dict[str, object] = json.loads(match["msg"])
        assert data["event"] == match["id"].decode()
        assert b"Nordmann" not in content
        lines.append((str(data["event"]), severity, data))
    return lines


def test_lines_by_udp_keep_the_grammar(folder: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        assert scan(folder, "--log-to", f"udp://127.0.0.1:{listener.getsockname()[1]}") == 0
        lines = judged(received(listener))
    assert (lines[0][0], lines[-1][0], lines[-1][1]) == ("start", "summary", 5)
    assert lines[-1][2]["exit"] == 0


def test_lines_to_the_socket_of_the_machine(tmp_path: Path) -> None:
    with datagrams(tmp_path / "log") as listener:
        code = scan(tmp_path / "missing", "--log-to", f"syslog:{tmp_path / 'log'}")
        lines = judged(received(listener))
    assert [(name, severity) for name, severity, _ in lines] == [("start", 5), ("fault", 3), ("summary", 3)]
    assert lines[-1][2]["exit"] == code


def test_lines_by_tcp_have_their_length_before_them(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        chunks: list[bytes] = []
        reading = threading.Thread(target=read_all, args=(server, chunks), daemon=True)
        reading.start()
        assert scan(folder, "--log-to", f"tcp://127.0.0.1:{server.getsockname()[1]}") == 0
        reading.join(PATIENCE_S)
    content, messages = b"".join(chunks), []
    while content:
        length, _, content = content.partition(b" ")
        messages.append(content[: int(length)])
        content = content[int(length) :]
    assert [name for name, _, _ in judged(messages)][-1] == "summary"


def read_all(server: socket.socket, chunks: list[bytes]) -> None:
    """Takes one connection, to its end."""
    connection, _ = server.accept()
    with connection:
        while chunk := connection.recv(4096):
            chunks.append(chunk)


def test_a_line_that_is_too_long_goes_without_its_data() -> None:
    line = LogLine(
        "2026-01-01T00:00:00.000Z", INFO, "planned", {"id": "1", "entities": {f"Type{n}": n for n in range(999)}}
    )
    content = message(line, MAX_DATAGRAM_BYTES)
    assert len(content) <= MAX_DATAGRAM_BYTES
    assert judged([content])[0][2] == {"event": "planned", "id": "1", "cut": True}
    assert len(judged([message(line)])[0][2]) == 3


@pytest.mark.parametrize("name", ['æ ø]"\n', "x" * 99, ""])
def test_no_name_breaks_the_grammar(name: str) -> None:
    match = GRAMMAR.fullmatch(message(LogLine("2026-01-01T00:00:00.000Z", INFO, name, {"run": 'Å\n]"\\'})))
    assert match is not None
    assert json.loads(match["msg"])["run"] == 'Å\n]"\\'


def test_a_log_that_is_away_is_told_and_stops_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert scan(folder, "--json", "--log-to", f"tcp://127.0.0.1:{port}") == 0
    whys = [fault["data"]["why"] for fault in faults_in(capsys.readouterr().out)]  # type: ignore[index]  # JSON
    assert len(whys) == 2, "once that it is away, once how much was lost"


@pytest.mark.parametrize("kind", ["udp", "tcp"])
def test_a_host_that_no_name_can_be_is_told_as_away(
    folder: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    assert scan(folder, "--json", "--log-to", f"{kind}://a..b:514") == 0
    whys = [fault["data"]["why"] for fault in faults_in(capsys.readouterr().out)]  # type: ignore[index]  # JSON
    assert whys == ["log-away", "events-lost"]


def test_a_log_that_takes_nothing_costs_its_time_out_once() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
        target = log_target(f"tcp://127.0.0.1:{server.getsockname()[1]}", time.monotonic)
        began_s = time.monotonic()
        for _ in range(2_000):
            target.send(LogLine("2026-01-01T00:00:00.000Z", INFO, "x", {"filler": "y" * 20_000}))
        target.close()
    assert [fault.data["why"] for fault in target.faults] == ["log-away", "events-lost"]
    assert time.monotonic() - began_s < PATIENCE_S  # else two thousand times as long


def test_a_log_that_comes_back_is_used_again(tmp_path: Path) -> None:
    now_s = [0.0]
    target: LogTarget = log_target(f"syslog:{tmp_path / 'log'}", lambda: now_s[0])
    line = LogLine("2026-01-01T00:00:00.000Z", INFO, "x", {})
    target.send(line)
    with datagrams(tmp_path / "log") as listener:
        target.send(line)
        assert received(listener) == [], "not at once"
        now_s[0] = 31.0
        target.send(line)
        assert len(judged(received(listener))) == 1
    target.close()
    assert target.faults[-1].data["count"] == 2


def test_an_entry_of_the_journal_has_its_fields(tmp_path: Path) -> None:
    with datagrams(tmp_path / "journal") as listener:
        code = scan(tmp_path / "missing", "--log-to", f"journald:{tmp_path / 'journal'}")
        entries = [dict(line.split("=", 1) for line in entry.decode().splitlines()) for entry in received(listener)]
    fault = entries[1]
    assert fault["NOARKIT_EVENT"] == "fault" and re.fullmatch(r"F\d{3}", fault["NOARKIT_CODE"])
    assert (fault["PRIORITY"], fault["SYSLOG_IDENTIFIER"], fault["NOARKIT_COMMAND"]) == ("3", "noarkit", "scan")
    assert entries[-1]["NOARKIT_EXIT"] == str(code)
    assert all(re.fullmatch(r"[A-Z][A-Z0-9_]{0,63}", name) for entry in entries for name in entry)


def test_a_field_of_several_lines_is_one_field(tmp_path: Path) -> None:
    data = {"run": "first\nNOARKIT_CODE=F000\nlast", "id": "7"}
    with datagrams(tmp_path / "journal") as listener:
        target = log_target(f"journald:{tmp_path / 'journal'}", time.monotonic)
        target.send(LogLine("2026-01-01T00:00:00.000Z", INFO, "start", data))
        (content,) = received(listener)
        target.close()
    fields = fields_of(content)
    assert (fields["NOARKIT_RUN"], fields["NOARKIT_ID"]) == (data["run"], "7")
    assert "NOARKIT_CODE" not in fields and fields["NOARKIT_EVENT"] == "start"


def fields_of(content: bytes) -> dict[str, str]:
    """The fields of an entry, by the journal's own rules: `NAME=value`, or a name, eight bytes of length, the value."""
    fields = {}
    while content:
        line, _, content = content.partition(b"\n")
        name, equals, value = line.partition(b"=")
        if not equals:
            length = int.from_bytes(content[:8], "little")
            value, content = content[8 : 8 + length], content[8 + length :]
            assert content[:1] == b"\n"
            content = content[1:]
        fields[name.decode()] = value.decode()
    return fields


def test_a_target_nobody_knows_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for target in ("udp://host", "http://host:1", "journald:relative", "syslogd"):
        assert scan(folder, "--json", "--log-to", target) == 2
        assert [fault["code"] for fault in faults_in(capsys.readouterr().out)] == ["F110"]


def test_a_real_syslog_server_reads_every_field(folder: Path, tmp_path: Path) -> None:
    server = needs("rsyslogd")
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    out, config = tmp_path / "out", tmp_path / "rsyslog.conf"
    config.write_text(
        'module(load="imtcp")\n'
        'template(name="fields" type="string" '
        'string="%app-name%|%msgid%|%syslogseverity%|%structured-data%|%msg%\\n")\n'
        f'input(type="imtcp" port="{port}" address="127.0.0.1" ruleset="r")\n'
        f'ruleset(name="r") {{ action(type="omfile" file="{out}" template="fields") }}\n',
        "utf-8",
    )
    process = subprocess.Popen(
        [server, "-n", "-f", str(config), "-i", str(tmp_path / "pid")], stderr=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: can_connect(port))
        assert scan(folder, "--log-to", f"tcp://127.0.0.1:{port}") == 0
        wait_until(lambda: out.exists() and "|summary|" in out.read_text("utf-8"))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)
    lines = [line.split("|", 4) for line in out.read_text("utf-8").splitlines()]
    assert {line[0] for line in lines} == {"noarkit"} and lines[-1][1:3] == ["summary", "5"]
    assert lines[-1][3].startswith('[origin software="noarkit"') and json.loads(lines[-1][4])["exit"] == 0


def can_connect(port: int) -> bool:
    """True if somebody listens."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until(condition: object) -> None:
    """Until something is so."""
    assert callable(condition)
    ends = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.05)
