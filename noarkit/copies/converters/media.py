"""The converters of sound and video: FFmpeg packs them again without loss, and what is decoded must be the same.

A checksum of everything decoded is made of the original and of the copy, sample by sample and frame by frame. Where the
two differ there is no copy.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import orjson

from noarkit.copies.converters.versions import ask_version
from noarkit.copies.port import Failure, Outcome, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.safe.sandbox import Completed, Limits, Sandbox

_REVISION = 1
_QUIET = ("-nostdin", "-hide_banner", "-v", "error")
# nothing but the file itself: lists of files and addresses are formats to FFmpeg, and would be followed
_LOCAL = ("-protocol_whitelist", "file,pipe")
_DIGEST = re.compile(r"^MD5=([0-9a-f]{32})$", re.MULTILINE)
_STREAM = re.compile(r"^  Stream #0:\d+.*?: (Video|Audio|Subtitle|Data|Attachment)\b", re.MULTILINE)
_VERSION = re.compile(r"ffmpeg version (\S+)")


@dataclass(frozen=True, slots=True)
class _Recipe:
    """How a target is made, and which streams of it are compared."""

    suffix: str
    streams: tuple[str, ...]
    codecs: tuple[str, ...]


_FLAC = _Recipe("flac", ("0:a:0",), ("-c:a", "flac", "-compression_level", "8"))
_FFV1 = _Recipe("mkv", ("0:v:0", "0:a?"), ("-c:v", "ffv1", "-level", "3", "-g", "1", "-slicecrc", "1", "-c:a", "flac"))
_COPIED = _Recipe("mkv", ("0:v:0", "0:a?"), ("-c", "copy"))
REMUX = "copy"
"""What a rule says as `codec` where streams are only to be put into another file."""


class Media:
    """FFmpeg as a converter: of sound (`sound`, FLAC), or of video (`video`, FFV1 and FLAC in Matroska)."""

    def __init__(self, name: str, sandbox: Sandbox | None = None, program: str = "ffmpeg") -> None:
        self.name = name
        self._sandbox = sandbox or Sandbox()
        self._program = program

    @cached_property
    def _number(self) -> str | None:
        completed = ask_version(self._program, "-version", self._run)
        number = _VERSION.match(completed.stdout) if completed else None
        return number[1] if number else None

    def version(self) -> str | None:
        """The version of FFmpeg; None where it is missing."""
        return self._number

    def options_digest(self, rule: Rule, target: str) -> str:
        """A digest of the codecs and of the revision of this module."""
        recipe = self._recipe(rule, target)
        parts = [_REVISION, target, [recipe.streams, recipe.codecs] if recipe else None]
        return hashlib.sha256(orjson.dumps(parts)).hexdigest()[:16]

    def batch_size(self, task: Task) -> int:
        """One: a start costs next to nothing."""
        del task
        return 1

    def convert(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Outcome]]:
        """Each task in its turn."""
        for task in tasks:
            yield task, self._convert(task)

    def _recipe(self, rule: Rule, target: str) -> _Recipe | None:
        if self.name == "sound":
            return _FLAC if target == "flac" else None
        if target != "mkv":
            return None
        return _COPIED if rule.options.get("codec") == REMUX else _FFV1

    def _convert(self, task: Task) -> Outcome:
        recipe = self._recipe(task.rule, task.target)
        if self._number is None:
            return Failure(Reason.TOOL_MISSING, {"tool": self._program})
        if recipe is None:
            return Failure(Reason.CONTENT_REFUSED, {"why": "target", "target": task.target})
        with tempfile.TemporaryDirectory(prefix=".media-", dir=task.folder, ignore_cleanup_errors=True) as name:
            inputs, outputs = Path(name).resolve() / "inputs", Path(name).resolve() / "outputs"
            inputs.mkdir()
            outputs.mkdir()
            source = inputs / f"document.{task.identity.suffix or 'media'}"
            shutil.copyfile(task.source, source)
            refused = self._streams_refused(source, (inputs, outputs), task)
            if refused is not None:
                return refused
            made = outputs / f"copy.{recipe.suffix}"
            completed = self._ffmpeg(source, recipe.streams, (*recipe.codecs, str(made)), (inputs, outputs), task)
            failure = _failure_of(completed)
            if failure is not None:
                return failure
            if not made.is_file() or not made.stat().st_size:
                return Failure(Reason.NO_RESULT)
            failure = self._compare(source, made, recipe, (inputs, outputs), task)
            if failure is not None:
                return failure
            result = task.folder / made.name
            made.replace(result)
        return Product(
            result,
            "FFmpeg",
            str(self._number),
            cpu_s=completed.cpu_s,
            wall_s=completed.wall_s,
            peak_bytes=completed.peak_bytes,
        )

    def _streams_refused(self, source: Path, folders: tuple[Path, Path], task: Task) -> Failure | None:
        """A failure where a file holds streams that the copy would not: subtitles, data, a second picture."""
        command = [str(shutil.which(self._program)), "-nostdin", "-hide_banner", *_LOCAL, "-i", str(source)]
        completed = self._run(command, *folders, task.limits)  # without an output it tells of its input, and fails
        if completed.reason is not None:
            return Failure(Reason(completed.reason))
        kinds = _STREAM.findall(completed.stderr)
        if not kinds:
            return Failure(Reason.DAMAGED, {"exit": completed.exit_code})
        wanted = ["Audio"] if self.name == "sound" else ["Video", *(kind for kind in kinds if kind == "Audio")]
        if sorted(kinds) != sorted(wanted):
            return Failure(Reason.CONTENT_REFUSED, {"why": "streams", "streams": kinds})
        return None

    def _compare(
        self, source: Path, copy: Path, recipe: _Recipe, folders: tuple[Path, Path], task: Task
    ) -> Failure | None:
        """A failure where what is decoded of one is not what is decoded of the other."""
        for stream in recipe.streams:
            kind = "picture" if ":v" in stream else "sound"
            depth = ("-c:a", "pcm_s32le") if kind == "sound" else ()
            digests = [self._digest(file, stream, depth, folders, task) for file in (source, copy)]
            fault = next((digest for digest in digests if isinstance(digest, Failure)), None)
            if fault is not None:
                return fault
            if digests[0] != digests[1]:
                return Failure(Reason.IMAGE_DIFFERS, {"what": kind})
        return None

    def _digest(
        self, file: Path, stream: str, depth: tuple[str, ...], folders: tuple[Path, Path], task: Task
    ) -> str | Failure:
        """The checksum of what a stream decodes to; empty where a file has no such stream and need not."""
        completed = self._ffmpeg(file, (stream,), (*depth, "-f", "md5", "-"), folders, task)
        found = _DIGEST.search(completed.stdout)
        if found is not None and not completed.exit_code:
            return found[1]
        if stream.endswith("?") and "does not contain any stream" in completed.stderr:
            return ""
        return _failure_of(completed) or Failure(Reason.DAMAGED)

    def _ffmpeg(
        self, file: Path, streams: Sequence[str], output: Sequence[str], folders: tuple[Path, Path], task: Task
    ) -> Completed:
        maps = [word for stream in streams for word in ("-map", stream)]
        command = [str(shutil.which(self._program)), *_QUIET, *_LOCAL, "-xerror", "-i", str(file), *maps, *output]
        return self._run(command, *folders, task.limits)

    def _run(self, command: Sequence[str], inputs: Path, outputs: Path, limits: Limits) -> Completed:
        home = Path(command[0]).resolve().parent
        readable = () if home.is_relative_to("/usr") else (home,)
        return self._sandbox.run(command, inputs=inputs, outputs=outputs, limits=limits, readable=readable)


def _failure_of(completed: Completed) -> Failure | None:
    """Why a run gives nothing; what it says of it is of the document, and is told in short."""
    if completed.reason is not None:
        return Failure(Reason(completed.reason))
    if completed.exit_code:
        return Failure(Reason.DAMAGED, {"exit": completed.exit_code})
    return None


def media_converters(sandbox: Sandbox, program: str) -> Mapping[str, Media]:
    """The converters that FFmpeg is, by name."""
    return {name: Media(name, sandbox, program) for name in ("sound", "video")}
