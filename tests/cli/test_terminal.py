"""What a person sees on a terminal of a given width: whole words, a time left that is never cut off, quiet colours."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from noarkit.cli.console import Console
from noarkit.cli.progress import Progress
from noarkit.cli.terminal import wrap
from noarkit.events import Event
from noarkit.words.texts import LANGUAGES, texts

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
FAULT = "F310  The archive refused the chunk because a field is missing that it must have, and it said so in words."


def on_terminal(columns: int, *words: str, **environment: str) -> str:
    """What a command prints on a terminal of this width."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    known = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TERM": "xterm", **environment}
    process = subprocess.Popen(
        [sys.executable, "-m", "noarkit", *words], stdin=child, stdout=child, stderr=child, env=known
    )
    os.close(child)
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(parent, 65536)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    process.wait()
    os.close(parent)
    return b"".join(parts).decode().replace("\r\n", "\n")


def piped(*words: str, **environment: str) -> tuple[str, str]:
    """What a command prints into pipes."""
    known = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TERM": "xterm", **environment}
    done = subprocess.run(
        [sys.executable, "-m", "noarkit", *words], env=known, capture_output=True, text=True, check=False
    )
    return done.stdout, done.stderr


@pytest.mark.parametrize("width", [80, 120])
def test_lines_are_broken_between_words_and_nothing_is_lost(width: int) -> None:
    lines = wrap(FAULT, width).split("\n")
    assert all(len(line) <= width for line in lines)
    assert all(line.startswith("      ") for line in lines[1:])
    assert " ".join(" ".join(lines).split()) == " ".join(FAULT.split())
    assert len(lines) == (2 if width == 80 else 1)


def test_a_command_stays_whole_so_that_it_can_be_copied() -> None:
    command = "noarkit ingest '/srv/a long name/with spaces' --archive https://archive.example.org/rms/api/public"
    lines = wrap(f"{'Next':<18} {command}     to resume", 80).split("\n")
    assert any(line.strip() == command or line.endswith(command) for line in lines)
    assert lines[-1].strip() == "to resume"


def test_colour_takes_no_room() -> None:
    assert wrap("\x1b[32mgood\x1b[0m word", 9) == "\x1b[32mgood\x1b[0m word"


@pytest.mark.parametrize("columns", [80, 120])
def test_a_fault_fits_a_terminal_and_is_whole_in_a_pipe(columns: int, tmp_path: Path) -> None:
    # a path has no place to be broken at, so it is a short one, however deep the folders of tests lie
    words = ("status", tmp_path.anchor)
    shown = ESCAPES.sub("", on_terminal(columns, *words))
    assert max(map(len, shown.splitlines())) <= columns
    _, whole = piped(*words)
    assert shown.split() == whole.split()
    assert len(whole.splitlines()) == 4
    assert len(shown.splitlines()) >= len(whole.splitlines())


@pytest.mark.parametrize(
    ("options", "environment", "has_color"),
    [
        ((), {}, True),
        ((), {"NO_COLOR": "1"}, False),
        ((), {"TERM": "dumb"}, False),
        (("--color", "never"), {}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
    ],
)
def test_verdicts_have_a_colour_on_a_terminal_that_wants_it(
    tmp_path: Path, options: tuple[str, ...], environment: dict[str, str], has_color: bool
) -> None:
    assert ("\x1b[31mF" in on_terminal(80, "status", str(tmp_path), *options, **environment)) == has_color


def test_a_pipe_gets_no_colour_unless_it_is_asked_for(tmp_path: Path) -> None:
    assert "\x1b" not in "".join(piped("status", str(tmp_path)))
    assert "\x1b[31mF" in piped("status", str(tmp_path), "--color", "always")[1]
    assert "\x1b" not in "".join(piped("--json", "--color", "always", "status", str(tmp_path)))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("columns", [40, 80, 120])
def test_the_time_left_is_never_cut_off(columns: int, lang: str) -> None:
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    now = [0.0]
    with os.fdopen(child, "w") as screen, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", screen)
        progress = Progress(Console(texts(lang)), "bar", clock=lambda: now[0])
        progress.on_event(Event("load_began", {"objects": 12_345_678, "done": 0, "bytes": 10**12}))
        for second in range(1, 20):
            now[0] = second * 40.0
            progress.on_event(Event("chunk_done", {"made": 9_876, "already": 0, "bytes": 123_456_789_012}))
            progress.on_event(Event("refused", {"code": "F310"}))
        bar = progress._bar
        assert bar is not None
        bar.refresh()
        screen.write("\rend of bar")
        screen.flush()
        shown = b""
        while b"end of bar" not in shown:
            shown += os.read(parent, 65536)
        progress.close()
    os.close(parent)
    last = [part for part in shown.decode().split("\r") if part.strip()][-2]
    assert len(last.rstrip("\n")) <= columns
    left = texts(lang).say("progress.left", left="X").partition("X")
    assert left[0].strip() in last and last.rstrip().find(left[2].strip()) >= 0


def test_verify_tells_how_many_there_are(tmp_path: Path) -> None:
    now = [0.0]
    progress = Progress(Console(texts("en")), "plain", clock=lambda: now[0])
    progress.on_event(Event("walked", {"records": 5000, "of": 20_000}))
    assert "source read 5000 of 20\u00a0000" in progress.line()
    progress.on_event(Event("compared", {"files": 30, "of": 60, "bytes": 1}))
    assert "50 %" in progress.line()
