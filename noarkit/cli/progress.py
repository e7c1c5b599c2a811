"""How far a run is: a bar on a terminal, a calm line a minute elsewhere, one line whenever somebody asks.

A percentage and a time left are shown only where the total is known.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NoReturn

from noarkit.cli.show import Face, size
from noarkit.events import Event
from noarkit.words.texts import Texts, grouped

if TYPE_CHECKING:
    from tqdm import tqdm

Mode = Literal["bar", "plain", "none"]

_LINE_EVERY_S = 60.0
# what an event counts, and which of its fields says how many there are by now
_COUNTED: Mapping[str, tuple[str, str]] = {
    "source_read": ("reading", "items"),
    "read": ("reading", "records"),
    "closed": ("closing", "objects"),
    "walked": ("walking", "records"),
    "asked": ("asking", "keys"),
    "compared": ("comparing", "files"),
}


@dataclass(slots=True)
class Tally:
    """What is known of the step under way."""

    step: str = ""
    began_s: float = 0.0
    done: int = 0
    done_before: int = 0
    total: int | None = None
    bytes: int = 0
    bytes_before: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    retries: int = 0

    def rate(self, now_s: float) -> float:
        """Things done a second, of those done in this step."""
        return (self.done - self.done_before) / max(now_s - self.began_s, 0.001)

    def left_s(self, now_s: float) -> float | None:
        """Seconds to the end at the pace so far; None where that cannot be said."""
        rate = self.rate(now_s)
        if self.total is None or rate <= 0 or self.done == self.done_before:
            return None
        return max(self.total - self.done, 0) / rate


class Progress:
    """A listener that shows how far things are. `close` ends the bar."""

    def __init__(self, face: Face, mode: Mode, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._face = face
        self._mode: Mode = "none" if face.as_json or face.verbosity < 0 else mode
        self._clock = clock
        self._told_s = self._began_s = clock()
        self._bar: tqdm[NoReturn] | None = None
        self.tally = Tally()

    def hear(self, event: Event, /) -> None:
        """Takes note of an event, and shows what has changed."""
        if event.name == "load_began":
            self._begin("loading", event.data)
        elif event.name == "chunk_done":
            self.tally.done += _whole(event, "made") + _whole(event, "already")
            self.tally.bytes += _whole(event, "bytes")
        elif event.name in ("set_aside", "refused"):
            self.tally.left_out[event.name] = self.tally.left_out.get(event.name, 0) + 1
        elif event.name in _COUNTED:
            step, name = _COUNTED[event.name]
            if self.tally.step != step:
                self._begin(step, {})
            self.tally.done = max(self.tally.done, _whole(event, name))
            self.tally.bytes = max(self.tally.bytes, _whole(event, "bytes"))
        else:
            return
        self._show()

    def line(self) -> str:
        """How far things are, in one line."""
        told, tally, now_s = self._face.texts, self.tally, self._clock()
        elapsed = _clock_of(now_s - self._began_s)
        if not tally.step:
            return told.say("progress.nothing", elapsed=elapsed)
        moved = tally.bytes - tally.bytes_before
        parts = [f"[{elapsed}]", told.say(f"progress.{tally.step}", done=grouped(tally.done))]
        if tally.total is not None:
            percent = 100 * tally.done // max(tally.total, 1)
            parts[1] = told.say("progress.of", step=parts[1], total=grouped(tally.total), percent=min(percent, 100))
        parts.append(f"{tally.rate(now_s):.0f}/s")
        if moved:
            parts.append(f"{size(int(moved / max(now_s - tally.began_s, 0.001)))}/s")
        left = tally.left_s(now_s)
        if left is not None:
            parts.append(told.say("progress.left", left=duration(told, left)))
        parts += [told.say(f"progress.{name}", count=count) for name, count in sorted(tally.left_out.items())]
        return "  ".join(parts)

    def close(self) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _begin(self, step: str, data: Mapping[str, object]) -> None:
        self.close()
        done, moved = int(str(data.get("done", 0))), int(str(data.get("bytes_done", 0)))
        total = data.get("objects")
        self.tally = Tally(
            step=step,
            began_s=self._clock(),
            done=done,
            done_before=done,
            total=None if total is None else int(str(total)),
            bytes=moved,
            bytes_before=moved,
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
        tally = self.tally
        moved = tally.bytes - tally.bytes_before
        speed = [f"{size(int(moved / max(self._clock() - tally.began_s, 0.001)))}/s"] if moved else []
        told = self._face.texts
        left_out = [told.say(f"progress.{name}", count=count) for name, count in sorted(tally.left_out.items())]
        self._bar.set_postfix_str("  ".join([*speed, *left_out]), refresh=False)
        self._bar.update(tally.done - self._bar.n)

    def _new_bar(self) -> tqdm[NoReturn]:
        from tqdm import tqdm

        tqdm.monitor_interval = 0  # no thread of its own: workers are made by fork
        told, tally = self._face.texts, self.tally
        name = told.say(f"progress.{tally.step}", done="").strip()
        counts = "{n:,}/{total:,}" if tally.total is not None else "{n:,}"
        left = "  " + told.say("progress.left", left="{remaining}") if tally.total is not None else ""
        share = "{percentage:3.0f} % |{bar:24}| " if tally.total is not None else ""
        return tqdm(
            total=tally.total,
            initial=tally.done_before,
            desc=name,
            bar_format="{desc}  " + share + counts + "  {rate_noinv_fmt}" + left + "  {postfix}",
            unit="",
            leave=False,
            file=sys.stderr,
            dynamic_ncols=True,
        )


def chosen(face: Face, asked: str, *, terminal: bool) -> Progress:
    """The progress that was asked for; `auto` means a bar where a person looks on, else lines."""
    mode: Mode = "bar" if asked == "bar" or (asked == "auto" and terminal) else "plain"
    return Progress(face, "none" if asked == "none" else mode)


def duration(told: Texts, seconds: float) -> str:
    """A length of time as people say it."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return told.say("time.seconds", n=round(seconds))
    if minutes < 120:
        return told.say("time.minutes", n=minutes)
    return told.say("time.hours", hours=minutes // 60, minutes=minutes % 60)


def _clock_of(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"


def _whole(event: Event, name: str) -> int:
    found = event.data.get(name, 0)
    return found if isinstance(found, int) else 0
