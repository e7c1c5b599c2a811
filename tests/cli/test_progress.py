"""How far a run is: counted, never guessed; a bar for a person, a calm line a minute for a log."""

from __future__ import annotations

import io
from dataclasses import dataclass, field

import pytest

from noarkit.cli.console import Console
from noarkit.cli.progress import Progress, choose_progress
from noarkit.events import Event
from noarkit.operations.tally import Tally
from noarkit.words.texts import texts


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Shown:
    """A progress with a clock of its own."""

    mode: str = "plain"
    lang: str = "en"
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.progress = Progress(Console(texts(self.lang)), self.mode, clock=self.clock)  # type: ignore[arg-type]  # a mode it knows

    def hear(self, at: float, name: str, **data: object) -> None:
        self.clock.now = at
        self.progress.on_event(Event(name, data))


def loading(shown: Shown, at: float = 0.0) -> None:
    shown.hear(at, "load_began", objects=1000, done=200, bytes=10_000, bytes_done=1000)


def test_a_line_tells_share_count_pace_bytes_and_time_left() -> None:
    shown = Shown()
    loading(shown)
    shown.hear(10.0, "chunk_done", made=90, already=10, bytes=50_000)
    shown.hear(10.0, "set_aside", code="F201")
    assert shown.progress.line() == (
        "[00:00:10]  30 %  loaded 300 of 1000  10/s  5.0 kB/s  about 70 s left  set aside 1"
    )


def test_what_stood_before_does_not_make_it_quicker() -> None:
    shown = Shown()
    loading(shown)
    shown.hear(10.0, "chunk_done", made=100, already=0, bytes=0)
    assert shown.progress.tally.rate(10.0) == pytest.approx(10.0)


def test_no_time_left_is_told_before_it_is_known() -> None:
    shown = Shown()
    loading(shown)
    shown.hear(1.0, "chunk_done", made=100, already=0, bytes=0)
    assert "left" not in shown.progress.line()
    shown.hear(9.0, "chunk_done", made=0, already=0, bytes=0)
    assert "left" in shown.progress.line()


def test_no_share_is_told_of_an_unknown_total() -> None:
    shown = Shown()
    shown.hear(5.0, "source_read", items=20_000)
    assert "%" not in shown.progress.line()
    assert "read 20\u00a0000" in shown.progress.line()


def test_nothing_counted_is_told_as_that() -> None:
    assert "starting" in Shown().progress.line()


def test_a_log_gets_one_line_a_minute(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Shown()
    loading(shown)
    for second in range(1, 181):
        shown.hear(float(second), "chunk_done", made=1, already=0, bytes=0)
    lines = capsys.readouterr().err.splitlines()
    assert [line[:10] for line in lines] == ["[00:01:00]", "[00:02:00]", "[00:03:00]"]


@pytest.mark.parametrize("mode", ["none", "plain"])
def test_nothing_is_shown_where_nobody_wants_it(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    face = Console(texts("en"), as_json=mode == "plain")
    clock = Clock()
    progress = Progress(face, mode, clock=clock)  # type: ignore[arg-type]  # a mode it knows
    clock.now = 1000.0
    progress.on_event(Event("source_read", {"items": 5}))
    progress.on_event(Event("archive_retry", {"code": "F301", "wait_s": 1}))
    assert capsys.readouterr().err == ""


def test_an_archive_that_does_not_answer_is_told_but_not_at_every_try(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Shown()
    for second in range(12):
        shown.hear(float(second), "archive_retry", call="query", code="F301", wait_s=0.5)
    assert capsys.readouterr().err.count("F301") == 2


def test_a_bar_shows_the_same_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr("sys.stderr", screen)
    shown = Shown(mode="bar")
    loading(shown)
    shown.hear(10.0, "chunk_done", made=800, already=0, bytes=0)
    shown.hear(11.0, "closed", objects=5)
    shown.progress.close()
    told = screen.getvalue()
    assert "20 % |" in told
    assert "loaded 200 of 1000" in told
    assert told.rpartition("\r")[2].strip() == ""


@pytest.mark.parametrize(
    ("asked", "terminal", "mode"),
    [
        ("auto", True, "bar"),
        ("auto", False, "plain"),
        ("bar", False, "bar"),
        ("plain", True, "plain"),
        ("none", True, "none"),
    ],
)
def test_auto_looks_whether_a_person_looks_on(asked: str, terminal: bool, mode: str) -> None:
    assert choose_progress(Console(texts("en")), asked, terminal=terminal)._mode == mode


@pytest.mark.parametrize(
    ("seconds", "told"), [(5, "5 s"), (89, "89 s"), (150, "2 min"), (3600, "60 min"), (8040, "2 h 14 min")]
)
def test_lengths_of_time_are_told_as_people_say_them(seconds: float, told: str) -> None:
    assert texts("en").duration(seconds) == told


def test_a_tally_without_a_total_has_no_end() -> None:
    assert Tally("walking", 0.0, 50).left_s(100.0) is None


@pytest.mark.parametrize("why", ["mark-lags", "scans-forgotten", "scan-state"])
def test_a_remark_of_a_service_is_told_in_words(why: str, capsys: pytest.CaptureFixture[str]) -> None:
    progress = choose_progress(Console(texts("en")), "plain", terminal=False)
    progress.on_event(Event("remark", {"why": why, "days": 31, "key": "scan-7"}))
    progress.close()
    told = capsys.readouterr().err
    assert ("scan-7" in told) == (why == "scan-state")
    assert ("31" in told) == (why != "scan-state")


def test_no_pace_is_told_in_the_first_second_of_a_step() -> None:
    shown = Shown()
    shown.hear(5.0, "source_read", items=500)
    assert "/s" not in shown.progress.line(), "500 in no time are no 500,000 a second"
    shown.hear(7.0, "source_read", items=700)
    assert "350/s" in shown.progress.line()


def test_where_more_are_done_than_there_were_to_be_no_total_is_told() -> None:
    shown = Shown()
    shown.hear(0.0, "load_began", objects=814, done=0, bytes=0, bytes_done=0)
    shown.hear(10.0, "chunk_done", made=814, already=0, bytes=0)
    assert "100 %" in shown.progress.line() and "of 814" in shown.progress.line()
    shown.hear(11.0, "chunk_done", made=125, already=0, bytes=0)
    line = shown.progress.line()
    assert "939" in line
    assert "814" not in line and "%" not in line
