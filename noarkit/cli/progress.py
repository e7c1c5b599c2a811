"""How far a run is: a bar on a terminal, a calm line a minute elsewhere, one line whenever somebody asks.

A percentage and a time left are shown only where the total is known.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NoReturn

from noarkit.cli.console import Console
from noarkit.cli.terminal import width_of
from noarkit.events import Event
from noarkit.operations.tally import Tally, step_text, take_event

if TYPE_CHECKING:
    from tqdm import tqdm

Mode = Literal["bar", "plain", "none"]

_LINE_EVERY_S = 60.0
_USUAL_WIDTH = 80
_BARS = (24, 10, 0)  # the widths of a bar, the widest that leaves room for the words
_PERCENT_WIDTH = len("100 % || ")
_RETRY_EVERY_S = 10.0


class Progress:
    """A listener that shows how far things are. `close` ends the bar."""

    def __init__(self, console: Console, mode: Mode, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._mode: Mode = "none" if console.as_json or console.verbosity < 0 else mode
        self._clock = clock
        self._told_s = self._began_s = clock()
        self._retry_told_s = -_RETRY_EVERY_S
        self._bar: tqdm[NoReturn] | None = None
        self.tally = Tally()

    def on_event(self, event: Event, /) -> None:
        """Takes note of an event, and shows what has changed."""
        steps_begun = self.tally.steps_begun
        if take_event(self.tally, event, self._clock()):
            if self.tally.steps_begun != steps_begun:
                self.close()
            self._show()
        elif event.name == "archive_retry":
            self._show_retry(event)
        elif event.name == "waiting":
            self._console.notify("progress.waiting", count=event.data.get("chunks"), wait_s=event.data.get("wait_s"))
        elif event.name == "service_waits":
            self._console.notify(f"progress.service-{event.data['why']}", **wait_words(event.data))
        elif event.name == "healed" and isinstance(streams := event.data.get("streams"), Mapping):
            names = ", ".join(f"{name} {count}" for name, count in sorted(streams.items()))
            self._console.notify("progress.healed", count=sum(streams.values()), streams=names)
        elif event.name == "remark":
            counts = {name: event.data.get(name) for name in ("days", "count")}
            self._console.notify(f"remark.{event.data['why']}", **counts, scan=event.data.get("key"))

    def line(self) -> str:
        """How far things are, in one line."""
        elapsed = _format_clock(self._clock() - self._began_s)
        if not self.tally.step:
            return self._console.texts.say("progress.nothing", elapsed=elapsed)
        return "  ".join([f"[{elapsed}]", *self._percent(), *self._parts()])

    def _percent(self) -> list[str]:
        tally = self.tally
        return [] if tally.total is None else [f"{min(100 * tally.done_count // max(tally.total, 1), 100)} %"]

    def _parts(self, room: int | None = None) -> list[str]:
        """What is counted, how fast, and how long it will take, as far as that is known and there is room for it.

        Where there is not, paces are left away first and the time left last.
        """
        texts, tally, now_s = self._console.texts, self.tally, self._clock()
        step, whole = step_text(tally, texts, with_total=False), step_text(tally, texts)
        rate, bytes_done = tally.rate(now_s), tally.bytes - tally.bytes_before
        pace = [] if rate is None else [f"{texts.size(int(rate)) if tally.is_in_bytes else f'{rate:.0f}'}/s"]
        bytes_pace = [f"{texts.size(int(bytes_done / (now_s - tally.began_s)))}/s"] if bytes_done and pace else []
        remaining_s = tally.left_s(now_s)
        left = [] if remaining_s is None else [texts.say("progress.left", left=texts.duration(remaining_s))]
        out = [texts.say(f"progress.{name}", count=count) for name, count in sorted(tally.left_out.items())]
        choices = (
            [whole, *pace, *bytes_pace, *left, *out],
            [whole, *pace, *left, *out],
            [whole, *left, *out],
            [whole, *left],
            [step, *left],
        )
        return next((parts for parts in choices if room is None or len("  ".join(parts)) <= room), left or [step])

    def close(self) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _show_retry(self, event: Event) -> None:
        """Says why nothing moves, but not at every try."""
        if self._mode != "none" and self._clock() - self._retry_told_s >= _RETRY_EVERY_S:
            self._retry_told_s = self._clock()
            self._console.notify("progress.retry", code=event.data.get("code"), wait_s=event.data.get("wait_s"))

    def _show(self) -> None:
        if self._mode == "bar":
            self._show_bar()
        elif self._mode == "plain" and self._clock() - self._told_s >= _LINE_EVERY_S:
            self._told_s = self._clock()
            sys.stderr.write(self.line() + "\n")
            sys.stderr.flush()

    def _show_bar(self) -> None:
        bar_format, words = self._layout()
        if self._bar is None:
            self._bar = self._new_bar(bar_format, words)
        self._bar.bar_format, self._bar.total = bar_format, self.tally.total
        self._bar.set_description_str(words, refresh=False)
        self._bar.update(self.tally.done_count - self._bar.n)

    def _layout(self) -> tuple[str, str]:
        """The form of the bar, and the words beside it, so that both fit into the terminal."""
        width = (width_of(sys.stderr) or _USUAL_WIDTH) - 1
        if self.tally.total is None:
            return "{desc}", "  ".join(self._parts(width))
        length = _PERCENT_WIDTH + len("  ".join(self._parts()))
        bar = next((bar for bar in _BARS if bar + length <= width), _BARS[-1])
        return _bar_format(bar), "  ".join(self._parts(width - bar - _PERCENT_WIDTH))

    def _new_bar(self, bar_format: str, words: str) -> tqdm[NoReturn]:
        from tqdm import tqdm

        tqdm.monitor_interval = 0  # no thread of its own: workers are made by fork
        tally = self.tally
        return tqdm(
            total=tally.total,
            initial=tally.done_before,
            desc=words,
            bar_format=bar_format,
            leave=False,
            file=sys.stderr,
            dynamic_ncols=True,
        )


def wait_words(data: Mapping[str, object]) -> dict[str, object]:
    """What the sentences on a wait for a service hold; the time as clocks on this machine show it."""
    until = datetime.fromisoformat(str(data["until"])).astimezone()
    return {"connection": data["connection"], "until": f"{until:%H:%M:%S}", "wait_s": data["wait_s"]}


def _bar_format(width: int) -> str:
    return f"{{percentage:3.0f}} % |{{bar:{width}}}| {{desc}}" if width else "{percentage:3.0f} %  {desc}"


def choose_progress(console: Console, choice: str, *, terminal: bool) -> Progress:
    """The progress that was asked for; `auto` means a bar where a person looks on, else lines."""
    mode: Mode = "bar" if choice == "bar" or (choice == "auto" and terminal) else "plain"
    return Progress(console, "none" if choice == "none" else mode)


def _format_clock(seconds: float) -> str:
    total_s = int(seconds)
    return f"{total_s // 3600:02}:{total_s // 60 % 60:02}:{total_s % 60:02}"
