"""`noarkit browse` as a process: its link is for its owner alone, and a signal ends it in order."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from noarkit.cli.main import main
from noarkit.reading_room.serve import OpenRoom
from tests.processes import command_line
from tests.reading_room.wire import ask, enter
from tests.waiting import PATIENCE_S, came

PROGRAM = [sys.executable, "-m", "noarkit", "browse"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a letter."""
    (tmp_path / "place").mkdir()
    (tmp_path / "place" / "letter.txt").write_text("about a road")
    return tmp_path / "place"


def _room_of(link: str) -> OpenRoom:
    where = urlsplit(link)
    return OpenRoom(link, f"{where.scheme}://{where.netloc}", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_room_is_open_until_a_signal_and_leaves_no_process(place: Path, number: signal.Signals) -> None:
    with subprocess.Popen([*PROGRAM, str(place), "--json"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        events = iter(process.stdout.readline, "")
        room = next(event for event in map(json.loads, events) if event["event"] == "room")
        assert room["place"] == str(place)
        cookie = enter(_room_of(room["url"]))
        assert "letter.txt" in ask(room["url"], "/", cookie=cookie).body
        process.send_signal(number)
        assert process.wait(PATIENCE_S) == 0
        assert json.loads(process.stdout.read().splitlines()[-1])["exit"] == 0


def test_a_link_file_is_for_its_owner_alone_and_nothing_else_has_the_link(place: Path, tmp_path: Path) -> None:
    file = tmp_path / "link.txt"
    words = [*PROGRAM, str(place), "--link-file", str(file)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert came(file.exists)
        link = file.read_text().strip()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert link.encode() not in command_line(process.pid)
        enter(_room_of(link))
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
        assert process.stdout is not None and link not in process.stdout.read()
    assert not file.exists()


def test_a_browser_is_opened_without_the_link_on_its_command_line(place: Path, tmp_path: Path) -> None:
    program = tmp_path / "browser"
    seen = tmp_path / "seen"
    program.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > {seen}.part\ncat "${{1#file://}}" >> {seen}.part\nmv {seen}.part {seen}\n'
    )
    program.chmod(0o755)
    environment = {**os.environ, "BROWSER": str(program)}
    words = [*PROGRAM, str(place), "--open", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert came(seen.exists)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    address, page = seen.read_text().split("\n", 1)
    assert address.startswith("file:///") and "/open/" not in address
    assert "/open/" in page and not Path(urlsplit(address).path).exists()


def test_a_port_that_is_taken_is_told(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["browse", str(place), "--port", str(taken.getsockname()[1])], dict(os.environ)) == 2
    assert "F110" in capsys.readouterr().err


def test_a_static_copy_is_written_and_told(place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["browse", str(place), "--static", str(tmp_path / "copy"), "--with-documents", "--json"]
    assert main(words, dict(os.environ)) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    told = next(event for event in events if event["event"] == "static_copy")
    assert (told["documents"], told["lost"], told["differing"]) == (1, 0, 0)
    assert told["files"] == sum(path.is_file() for path in (tmp_path / "copy").rglob("*"))
    assert main(words, dict(os.environ)) == 2


def test_documents_are_copied_only_with_a_static_copy(place: Path) -> None:
    assert main(["browse", str(place), "--with-documents"], dict(os.environ)) == 2
