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
    "validating": ("validating", "bytes"),
}
# what an event adds to its step: which of its fields say how many there are more
ADDED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "chunk_done": ("loading", ("made", "already")),
    "package_files": ("packing", ("files",)),
    "fetched": ("fetching", ("count",)),
    "files_fetched": ("downloading", ("count",)),
}
# what begins a step of things that later events add: how many there are to be, and how many are done already
BEGUN: Mapping[str, tuple[str, str, str]] = {
    "load_began": ("loading", "objects", "done"),
    "package_begun": ("packing", "of", "files"),
    "fetching": ("fetching", "of", "done"),
    "files_wanted": ("downloading", "count", "done"),
}
# steps that read a source for something: what the source says of its reading is no step beside them
_READING_TOO = frozenset({"identifying", "walking", "packing"})
# steps that are counted in bytes, for what they read is a few large files
IN_BYTES = frozenset({"validating"})


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

    @property
    def is_in_bytes(self) -> bool:
        """True where what is done is counted in bytes."""
        return self.step in IN_BYTES


def take_event(tally: Tally, event: Event, now_s: float) -> bool:
    """Counts an event; False for one that counts nothing."""
    if event.name in BEGUN:
        step, total, done = BEGUN[event.name]
        data = {"objects": event.data.get(total), "done": event.data.get(done, 0)}
        tally.begin(step, now_s, {**data, "bytes_done": event.data.get("bytes_done", 0)})
    elif event.name in ADDED:
        step, names = ADDED[event.name]
        if tally.step != step:
            return False  # it is part of another step, which counts otherwise
        tally.done_count += sum(_int_of(event, name) for name in names)
        tally.bytes += _int_of(event, "bytes")
    elif event.name in ("set_aside", "refused"):
        tally.left_out[event.name] = tally.left_out.get(event.name, 0) + 1
    elif event.name in COUNTED:
        step, name = COUNTED[event.name]
        if event.name == "source_read" and tally.step in _READING_TOO:
            return False
        if step in IN_BYTES and not isinstance(event.data.get("of"), int):
            return False  # the sizes of files one by one add up to nothing that could be shown
        is_first = _int_of(event, name) == 0 and tally.done_count > 0  # another of its kind begins
        if tally.step != step or is_first:
            tally.begin(step, now_s, {})
        of = event.data.get("of")
        tally.total = of if isinstance(of, int) else None
        tally.done_count = max(tally.done_count, _int_of(event, name))
        if step not in IN_BYTES:
            tally.bytes = max(tally.bytes, _int_of(event, "bytes"))
    else:
        return False
    if tally.total is not None and tally.done_count > tally.total:
        tally.total = None  # more are done than there were to be: nobody knows how many there are
    return True


def step_text(tally: Tally, texts: Texts, *, with_total: bool = True) -> str:
    """How far the step under way is, in words, and of how many where that is known."""
    count = texts.size if tally.is_in_bytes else grouped
    step = texts.say(f"progress.{tally.step}", done=count(tally.done_count))
    if tally.total is None or not with_total:
        return step
    return texts.say("progress.of", step=step, total=count(tally.total))


def _int_of(event: Event, name: str) -> int:
    value = event.data.get(name, 0)
    return value if isinstance(value, int) else 0
