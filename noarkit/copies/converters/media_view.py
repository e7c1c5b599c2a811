"""The converters of sound and video to be heard and seen: FFmpeg makes small files that every browser plays.

What they decode to is not what their masters do, so it is compared as a person would: how loud it is from moment to
moment, and how the picture looks every second. Whatever is less than in the master is told.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import orjson

from noarkit.copies.converters.ffmpeg import Ffmpeg, MediaFacts, Workplace, failure_of
from noarkit.copies.converters.one_by_one import OneByOne
from noarkit.copies.port import Failure, Finding, Outcome, Product, Rule, Task
from noarkit.copies.reasons import Reason

LONGEST_SIDE = "longest-side"
_REVISION = 1
_LONGEST = 1280
_SOUND: Mapping[str, tuple[str, ...]] = {
    "mp3": ("-c:a", "libmp3lame", "-b:a", "128k", "-ar", "44100"),
    "mp4": ("-c:a", "aac", "-b:a", "128k", "-ar", "48000"),
}
_VIDEO = ("-c:v", "libx264", "-crf", "26", "-preset", "medium", "-pix_fmt", "yuv420p", "-movflags", "+faststart")
_MOST_CHANNELS = 2
_TARGETS: Mapping[str, str] = {"sound-view": "mp3", "video-view": "mp4"}
_HEARD_HZ, _WINDOW = 8_000, 800
"""Loudness is compared ten times a second."""
_LOUDNESS = ("-ac", "1", "-ar", str(_HEARD_HZ), "-f", "s16le")
_WIDTH, _HEIGHT = 64, 36
_LOOKS = ("-vf", f"fps=1,scale={_WIDTH}:{_HEIGHT}:flags=area,format=gray", "-f", "rawvideo")
_FRAME, _HALF_SECOND = _WIDTH * _HEIGHT, _HEARD_HZ
"""In bytes, how much longer or shorter a picture and a sound may be: a frame of a second, or half a second."""
_MOST_LOUDNESS, _MOST_SHADES = 0.1, 16.0
"""How far the loudness (of the loudest moment) and the shades of a frame (of 255) may be apart on average."""
_MOST_SOFTER = 2.5
_MOST_DIFFERENT = 0.02
"""The share of moments that may be further apart."""


class MediaView(OneByOne):
    """FFmpeg as a converter to what a browser plays: `sound-view` (MP3) or `video-view` (H.264 and AAC in MP4)."""

    def __init__(self, name: str, ffmpeg: Ffmpeg) -> None:
        self.name = name
        self._ffmpeg = ffmpeg

    def version(self) -> str | None:
        """The version of FFmpeg; None where it is missing."""
        return self._ffmpeg.version

    def options_digest(self, rule: Rule, target: str) -> str:
        """A digest of the codecs and of the revision of this module."""
        parts = [_REVISION, target, _SOUND.get(target), _VIDEO, _longest_side(rule)]
        return hashlib.sha256(orjson.dumps(parts)).hexdigest()[:16]

    def convert_one(self, task: Task) -> Outcome:
        """What becomes of one document."""
        version = self._ffmpeg.version
        if version is None:
            return Failure(Reason.TOOL_MISSING, {"tool": self._ffmpeg.program})
        if task.target != _TARGETS[self.name]:
            return Failure(Reason.CONTENT_REFUSED, {"why": "target", "target": task.target})
        with self._ffmpeg.workplace(task) as place:
            facts = self._ffmpeg.facts(place.source, place)
            if isinstance(facts, Failure):
                return facts
            streams = _streams(facts, task.target)
            if not streams:
                return Failure(Reason.CONTENT_REFUSED, {"why": "streams", "streams": list(facts.kinds)})
            draft = place.outputs / f"copy.{task.target}"
            output = (*_codecs(task, facts), "-map_metadata", "-1", str(draft))
            completed = self._ffmpeg.decode(place.source, streams, output, place)
            failure = failure_of(completed)
            if failure is not None:
                return failure
            if not draft.is_file() or not draft.stat().st_size:
                return Failure(Reason.NO_RESULT)
            findings = self._judge(draft, facts, streams, place)
            if isinstance(findings, Failure):
                return findings
            result = task.folder / draft.name
            draft.replace(result)
        costs = (completed.cpu_s, completed.wall_s, completed.peak_bytes)
        return Product(result, "FFmpeg", version, tuple(findings), *costs)

    def _judge(
        self, draft: Path, facts: MediaFacts, streams: Sequence[str], place: Workplace
    ) -> Sequence[Finding] | Failure:
        """What the copy lacks, or why it is none: too short, not as loud, or not the same to look at."""
        copy = self._ffmpeg.facts(draft, place)
        if isinstance(copy, Failure):
            return copy
        for stream in streams:
            kind, output, apart = ("video", _LOOKS, _FRAME) if ":v" in stream else ("audio", _LOUDNESS, _HALF_SECOND)
            moments = [self._moments(file, stream, output, place) for file in (place.source, draft)]
            fault = next((answer for answer in moments if isinstance(answer, Failure)), None)
            if fault is not None:
                return fault
            original, view = (answer for answer in moments if not isinstance(answer, Failure))
            if abs(len(original) - len(view)) > apart:
                return Failure(Reason.IMAGE_DIFFERS, {"what": "length"})
            if (_looks_different if kind == "video" else _sounds_different)(original, view):
                return Failure(Reason.IMAGE_DIFFERS, {"what": kind})
        return list(_losses(facts, copy))

    def _moments(self, file: Path, stream: str, output: tuple[str, ...], place: Workplace) -> bytes | Failure:
        """What a stream decodes to, small enough to be held: a megabyte for a minute of sound."""
        raw = place.outputs / "moments.raw"
        completed = self._ffmpeg.decode(file, (stream,), ("-y", *output, str(raw)), place)
        failure = failure_of(completed)
        if failure is not None:
            return failure
        try:
            return raw.read_bytes()
        finally:
            raw.unlink()


def media_views(ffmpeg: Ffmpeg) -> tuple[MediaView, ...]:
    """The converters to what a browser plays."""
    return tuple(MediaView(name, ffmpeg) for name in _TARGETS)


def _longest_side(rule: Rule) -> int:
    return int(str(rule.options.get(LONGEST_SIDE, _LONGEST)))


def _streams(facts: MediaFacts, target: str) -> tuple[str, ...]:
    """The first picture and the first sound, which a copy holds; none where there is not what it is made for."""
    wanted = ("Audio",) if target == "mp3" else ("Video", "Audio")
    has_main = wanted[0] in facts.kinds
    return tuple(f"0:{kind[0].lower()}:0" for kind in wanted if kind in facts.kinds) if has_main else ()


def _codecs(task: Task, facts: MediaFacts) -> tuple[str, ...]:
    mixed = ("-ac", str(_MOST_CHANNELS)) if facts.channels > _MOST_CHANNELS else ()
    sound = (*_SOUND[task.target], *mixed) if "Audio" in facts.kinds else ()
    if task.target == "mp3":
        return sound
    longest = _longest_side(task.rule)
    width, height = facts.size
    scale = min(1.0, longest / max(width, height, 1))
    # both sides must be even
    size = f"scale={2 * round(width * scale / 2)}:{2 * round(height * scale / 2)}"
    return ("-vf", size, *_VIDEO, *sound)


def _sounds_different(original: bytes, view: bytes) -> bool:
    """True where the loudness goes another way, or is another altogether: mixed channels are a little softer."""
    of_original = _loudness(original)
    pairs = list(zip(of_original, _loudness(view), strict=False))
    if not pairs:
        return bool(of_original)
    before, after = sum(loud for loud, _ in pairs) or 1.0, sum(loud for _, loud in pairs) or 1.0
    if not 1 / _MOST_SOFTER <= after / before <= _MOST_SOFTER:
        return True
    loudest = max(loud for loud, _ in pairs) or 1.0
    apart = sum(abs(loud - of_view * before / after) > _MOST_LOUDNESS * loudest for loud, of_view in pairs)
    return apart > _MOST_DIFFERENT * len(pairs)


def _loudness(raw: bytes) -> list[float]:
    """How loud each tenth of a second is."""
    samples = array("h")
    samples.frombytes(raw[: len(raw) // 2 * 2])
    windows = (samples[at : at + _WINDOW] for at in range(0, len(samples) - _WINDOW + 1, _WINDOW))
    return [sum(map(abs, window)) / _WINDOW for window in windows]


def _looks_different(original: bytes, view: bytes) -> bool:
    frames = min(len(original), len(view)) // _FRAME
    if original and not frames:
        return True
    apart = sum(
        sum(
            abs(shade - of_view)
            for shade, of_view in zip(original[at : at + _FRAME], view[at : at + _FRAME], strict=True)
        )
        > _MOST_SHADES * _FRAME
        for at in range(0, frames * _FRAME, _FRAME)
    )
    return apart > _MOST_DIFFERENT * frames


def _losses(facts: MediaFacts, copy: MediaFacts) -> Iterator[Finding]:
    yield Finding("compressed-with-loss")
    if copy.size < facts.size and min(copy.size):
        sizes = dict(
            zip(("original_width", "original_height", "width", "height"), (*facts.size, *copy.size), strict=True)
        )
        yield Finding("resolution-reduced", sizes)
    if copy.channels < facts.channels:
        yield Finding("channels-mixed", {"original": facts.channels, "copy": copy.channels})
    if copy.rate_hz < facts.rate_hz:
        yield Finding("sampling-reduced", {"original": facts.rate_hz, "copy": copy.rate_hz})
    if dropped := len(facts.kinds) - len(copy.kinds):
        yield Finding("streams-dropped", {"count": dropped})
