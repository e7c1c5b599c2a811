"""FFmpeg as a program: run in the sandbox on one file, and asked for what it holds and what its streams decode to."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from noarkit.copies.converters.versions import ask_version
from noarkit.copies.port import Failure, Task
from noarkit.copies.reasons import Reason
from noarkit.safe.sandbox import Completed, Limits, Sandbox

_QUIET = ("-nostdin", "-hide_banner", "-v", "error")
# nothing but the file itself: lists of files and addresses are formats to FFmpeg, and would be followed
_LOCAL = ("-protocol_whitelist", "file,pipe")
_STREAM = re.compile(r"^  Stream #0:\d+.*?: (Video|Audio|Subtitle|Data|Attachment)\b(.*)$", re.MULTILINE)
_VERSION = re.compile(r"ffmpeg version (\S+)")
_PIXELS = re.compile(r", (\d{2,5})x(\d{2,5})\b")
_SAMPLES = re.compile(r", (\d+) Hz, (mono|stereo|\d+ channels|\S+)")
_CHANNELS = {"mono": 1, "stereo": 2}
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class MediaFacts:
    """What a file of sound or video holds: the kinds of its streams, and the size and channels of the first ones."""

    kinds: tuple[str, ...]
    size: tuple[int, int] = (0, 0)
    rate_hz: int = 0
    channels: int = 0


@dataclass(frozen=True, slots=True)
class Workplace:
    """The copy of a document that FFmpeg may read, and the folder that it may write to."""

    source: Path
    inputs: Path
    outputs: Path
    limits: Limits


@dataclass(frozen=True)
class Ffmpeg:
    """FFmpeg, where it is there. `program` is `ffmpeg` or where it lies."""

    program: str = "ffmpeg"
    sandbox: Sandbox = field(default_factory=Sandbox)

    @cached_property
    def version(self) -> str | None:
        """Its version; None where it is missing."""
        completed = ask_version(self.program, "-version", self._run)
        number = _VERSION.match(completed.stdout) if completed else None
        return number[1] if number else None

    @contextmanager
    def workplace(self, task: Task) -> Iterator[Workplace]:
        """A place for one task, which goes again."""
        with tempfile.TemporaryDirectory(prefix=".media-", dir=task.folder, ignore_cleanup_errors=True) as name:
            inputs, outputs = Path(name).resolve() / "inputs", Path(name).resolve() / "outputs"
            inputs.mkdir()
            outputs.mkdir()
            source = inputs / f"document.{task.identity.suffix or 'media'}"
            shutil.copyfile(task.source, source)
            yield Workplace(source, inputs, outputs, task.limits)

    def facts(self, file: Path, place: Workplace) -> MediaFacts | Failure:
        """What a file says that it holds."""
        command = [str(shutil.which(self.program)), "-nostdin", "-hide_banner", *_LOCAL, "-i", str(file)]
        # without an output it tells of its input, and fails
        completed = self._run(command, place.inputs, place.outputs, place.limits)
        if completed.reason is not None:
            return Failure(Reason(completed.reason))
        streams = _STREAM.findall(completed.stderr)
        if not streams:
            return Failure(Reason.DAMAGED, {"exit": completed.exit_code})
        return _facts(streams)

    def decode(self, file: Path, streams: Sequence[str], output: Sequence[str], place: Workplace) -> Completed:
        """Decodes streams of a file, and writes what `output` says."""
        maps = [word for stream in streams for word in ("-map", stream)]
        command = [str(shutil.which(self.program)), *_QUIET, *_LOCAL, "-xerror", "-i", str(file), *maps, *output]
        return self._run(command, place.inputs, place.outputs, place.limits)

    def _run(self, command: Sequence[str], inputs: Path, outputs: Path, limits: Limits) -> Completed:
        home = Path(command[0]).resolve().parent
        readable = () if home.is_relative_to("/usr") else (home,)
        return self.sandbox.run(command, inputs=inputs, outputs=outputs, limits=limits, readable=readable)


def failure_of(completed: Completed) -> Failure | None:
    """Why a run gives nothing; what it says of it is of the document, and is told in short."""
    if completed.reason is not None:
        return Failure(Reason(completed.reason))
    if completed.exit_code:
        return Failure(Reason.DAMAGED, {"exit": completed.exit_code})
    return None


def _facts(streams: Sequence[tuple[str, str]]) -> MediaFacts:
    video = next((words for kind, words in streams if kind == "Video"), "")
    audio = next((words for kind, words in streams if kind == "Audio"), "")
    pixels, samples = _PIXELS.search(video), _SAMPLES.search(audio)
    return MediaFacts(
        tuple(kind for kind, _ in streams),
        (int(pixels[1]), int(pixels[2])) if pixels else (0, 0),
        int(samples[1]) if samples else 0,
        _channel_count(samples[2]) if samples else 0,
    )


def _channel_count(layout: str) -> int:
    """How many channels a layout has: `stereo` has two, `5.1` six."""
    if layout in _CHANNELS:
        return _CHANNELS[layout]
    return sum(map(int, _DIGITS.findall(layout.partition("(")[0])))
