"""What is known of the step under way, counted from events: how many are done, of how many, how fast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from noarkit.events import Event
from noarkit.words.texts import Texts, grouped

# the first steps are slower than the rest: sooner than this a time left would be a guess
_SURE_AFTER_S = 3.0
_SURE_SHARE = 0.005
_PACE_AFTER_S = 1.0
# what an event counts, and which of its fields says how many there are by now
COUNTED: Mapping[str, tuple[str, str]] = {
    "source_read": ("reading", "items"),
    "members_listed": ("listing", "members"),
    "read": ("reading", "records"),
    "closed": ("closing", "objects"),
    "walked": ("walking", "records"),
    "asked": ("asking", "keys"),
    "compared": ("comparing", "files"),
    "documents_read": ("identifying", "documents"),
    "cataloguing": ("cataloguing", "items"),
    "reading_documents": ("reading_texts", "documents"),
    "copies_made": ("converting", "settled"),
    "seal_proven": ("proving", "files"),
    "judged": ("judging", "objects"),
    "retracted": ("retracting", "objects"),
    "archive_copied": ("copying_archive", "files"),
    "archive_checked": ("checking_archive", "files"),
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
    steps_begun: int = 0

    def rate(self, now_s: float) -> float | None:
        """Things done a second, of those done in this step; None in its first second, which says nothing."""
        elapsed_s = now_s - self.began_s
        return None if elapsed_s < _PACE_AFTER_S else (self.done_count - self.done_before) / elapsed_s

    def left_s(self, now_s: float) -> float | None:
        """Seconds to the end at the pace so far; None if that cannot be said."""
        new, rate = self.done_count - self.done_before, self.rate(now_s)
        if self.total is None or not rate or now_s - self.began_s < _SURE_AFTER_S or new < _SURE_SHARE * self.total:
            return None
        return max(self.total - self.done_count, 0) / rate

    def begin(self, step: str, now_s: float, data: Mapping[str, object]) -> None:
        """Begins another step, of which some may be done already; what was left out stays counted."""
        done_before, bytes_before = int(str(data.get("done", 0))), int(str(data.get("bytes_done", 0)))
        total = data.get("objects")
        self.step, self.began_s = step, now_s
        self.steps_begun += 1
        self.done_count = self.done_before = done_before
        self.bytes = self.bytes_before = bytes_before
        self.total = None if total is None else int(str(total))


def take_event(tally: Tally, event: Event, now_s: float) -> bool:
    """Counts an event; False for one that counts nothing."""
    if event.name == "load_began":
        tally.begin("loading", now_s, event.data)
    elif event.name == "chunk_done":
        tally.done_count += _int_of(event, "made") + _int_of(event, "already")
        tally.bytes += _int_of(event, "bytes")
    elif event.name == "package_begun":
        tally.begin("packing", now_s, {"done": event.data.get("files", 0)})
    elif event.name == "package_files":
        tally.done_count += _int_of(event, "files")
        tally.bytes += _int_of(event, "bytes")
    elif event.name in ("set_aside", "refused"):
        tally.left_out[event.name] = tally.left_out.get(event.name, 0) + 1
    elif event.name in COUNTED:
        step, name = COUNTED[event.name]
        if tally.step != step:
            tally.begin(step, now_s, {"objects": event.data.get("of")})
        tally.done_count = max(tally.done_count, _int_of(event, name))
        tally.bytes = max(tally.bytes, _int_of(event, "bytes"))
    else:
        return False
    if tally.total is not None and tally.done_count > tally.total:
        tally.total = None  # more are done than there were to be: nobody knows how many there are
    return True


def step_text(tally: Tally, texts: Texts, *, with_total: bool = True) -> str:
    """How far the step under way is, in words, and of how many where that is known."""
    step = texts.say(f"progress.{tally.step}", done=grouped(tally.done_count))
    return (
        step
        if tally.total is None or not with_total
        else texts.say("progress.of", step=step, total=grouped(tally.total))
    )


def _int_of(event: Event, name: str) -> int:
    value = event.data.get(name, 0)
    return value if isinstance(value, int) else 0
