"""How far a run is: a bar on a terminal, a calm line a minute elsewhere, one line whenever somebody asks.

A percentage and a time left are shown only where the total is known.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NoReturn

from noarkit.cli.console import Console
from noarkit.events import Event
from noarkit.words.texts import Texts, grouped

if TYPE_CHECKING:
    from tqdm import tqdm

Mode = Literal["bar", "plain", "none"]

_LINE_EVERY_S = 60.0
_RETRY_EVERY_S = 10.0
# the first steps are slower than the rest: sooner than this a time left would be a guess
_SURE_AFTER_S = 3.0
_SURE_SHARE = 0.005
# what an event counts, and which of its fields says how many there are by now
_COUNTED: Mapping[str, tuple[str, str]] = {
    "source_read": ("reading", "items"),
    "members_listed": ("listing", "members"),
    "read": ("reading", "records"),
    "closed": ("closing", "objects"),
    "walked": ("walking", "records"),
    "asked": ("asking", "keys"),
    "compared": ("comparing", "files"),
    "documents_read": ("identifying", "documents"),
    "copies_made": ("converting", "settled"),
    "seal_proven": ("proving", "files"),
}


@dataclass(slots=True)
class Tally:
    """What is known of the step under way."""

    step: str = ""
    began_s: float = 0.0
    done_count: int = 0
    done_before: int = 0
    total: int | None = None
    bytes: int = 0
    bytes_before: int = 0
    left_out: dict[str, int] = field(default_factory=dict)

    def rate(self, now_s: float) -> float:
        """Things done a second, of those done in this step."""
        return (self.done_count - self.done_before) / max(now_s - self.began_s, 0.001)

    def left_s(self, now_s: float) -> float | None:
        """Seconds to the end at the pace so far; None if that cannot be said."""
        new = self.done_count - self.done_before
        if self.total is None or now_s - self.began_s < _SURE_AFTER_S or new < _SURE_SHARE * self.total:
            return None
        return max(self.total - self.done_count, 0) / self.rate(now_s)


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
        if event.name == "load_began":
            self._begin("loading", event.data)
        elif event.name == "chunk_done":
            self.tally.done_count += _int_of(event, "made") + _int_of(event, "already")
            self.tally.bytes += _int_of(event, "bytes")
        elif event.name == "package_begun":
            self._begin("packing", {"done": event.data.get("files", 0)})
        elif event.name == "package_files":
            self.tally.done_count += _int_of(event, "files")
            self.tally.bytes += _int_of(event, "bytes")
        elif event.name in ("set_aside", "refused"):
            self.tally.left_out[event.name] = self.tally.left_out.get(event.name, 0) + 1
        elif event.name in _COUNTED:
            step, name = _COUNTED[event.name]
            if self.tally.step != step:
                self._begin(step, {"objects": event.data.get("of")})
            self.tally.done_count = max(self.tally.done_count, _int_of(event, name))
            self.tally.bytes = max(self.tally.bytes, _int_of(event, "bytes"))
        elif event.name == "archive_retry":
            self._show_retry(event)
            return
        elif event.name == "waiting":
            self._console.notify("progress.waiting", count=event.data.get("chunks"), wait_s=event.data.get("wait_s"))
            return
        elif event.name == "remark":
            counts = {name: event.data.get(name) for name in ("days", "count")}
            self._console.notify(f"remark.{event.data['why']}", **counts, scan=event.data.get("key"))
            return
        else:
            return
        self._show()

    def line(self) -> str:
        """How far things are, in one line."""
        elapsed = _format_clock(self._clock() - self._began_s)
        if not self.tally.step:
            return self._console.texts.say("progress.nothing", elapsed=elapsed)
        return "  ".join([f"[{elapsed}]", *self._percent(), *self._parts()])

    def _percent(self) -> list[str]:
        tally = self.tally
        return [] if tally.total is None else [f"{min(100 * tally.done_count // max(tally.total, 1), 100)} %"]

    def _parts(self) -> list[str]:
        """What is counted, how fast, and how long it will take, as far as that is known."""
        texts, tally, now_s = self._console.texts, self.tally, self._clock()
        step = texts.say(f"progress.{tally.step}", done=grouped(tally.done_count))
        if tally.total is not None:
            step = texts.say("progress.of", step=step, total=grouped(tally.total))
        parts = [step, f"{tally.rate(now_s):.0f}/s"]
        bytes_done = tally.bytes - tally.bytes_before
        if bytes_done:
            parts.append(f"{texts.size(int(bytes_done / max(now_s - tally.began_s, 0.001)))}/s")
        remaining_s = tally.left_s(now_s)
        if remaining_s is not None:
            parts.append(texts.say("progress.left", left=duration(texts, remaining_s)))
        return parts + [texts.say(f"progress.{name}", count=count) for name, count in sorted(tally.left_out.items())]

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

    def _begin(self, step: str, data: Mapping[str, object]) -> None:
        self.close()
        done_before, bytes_before = int(str(data.get("done", 0))), int(str(data.get("bytes_done", 0)))
        total = data.get("objects")
        self.tally = Tally(
            step=step,
            began_s=self._clock(),
            done_count=done_before,
            done_before=done_before,
            total=None if total is None else int(str(total)),
            bytes=bytes_before,
            bytes_before=bytes_before,
            left_out=self.tally.left_out,
        )

    def _show(self) -> None:
        if self._mode == "bar":
            self._show_bar()
        elif self._mode == "plain" and self._clock() - self._told_s >= _LINE_EVERY_S:
            self._told_s = self._clock()
            sys.stderr.write(self.line() + "\n")
            sys.stderr.flush()

    def _show_bar(self) -> None:
        if self._bar is None:
            self._bar = self._new_bar()
        self._bar.set_description_str("  ".join(self._parts()), refresh=False)
        self._bar.update(self.tally.done_count - self._bar.n)

    def _new_bar(self) -> tqdm[NoReturn]:
        from tqdm import tqdm

        tqdm.monitor_interval = 0  # no thread of its own: workers are made by fork
        tally = self.tally
        return tqdm(
            total=tally.total,
            initial=tally.done_before,
            desc="  ".join(self._parts()),
            bar_format="{desc}" if tally.total is None else "{percentage:3.0f} % |{bar:24}| {desc}",
            leave=False,
            file=sys.stderr,
            dynamic_ncols=True,
        )


def choose_progress(console: Console, choice: str, *, terminal: bool) -> Progress:
    """The progress that was asked for; `auto` means a bar where a person looks on, else lines."""
    mode: Mode = "bar" if choice == "bar" or (choice == "auto" and terminal) else "plain"
    return Progress(console, "none" if choice == "none" else mode)


def duration(texts: Texts, seconds: float) -> str:
    """A length of time as people say it."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return texts.say("time.seconds", n=round(seconds))
    if minutes < 120:
        return texts.say("time.minutes", n=minutes)
    return texts.say("time.hours", hours=minutes // 60, minutes=minutes % 60)


def _format_clock(seconds: float) -> str:
    total_s = int(seconds)
    return f"{total_s // 3600:02}:{total_s // 60 % 60:02}:{total_s % 60:02}"


def _int_of(event: Event, name: str) -> int:
    value = event.data.get(name, 0)
    return value if isinstance(value, int) else 0
