"""The converters of sound and video: FFmpeg packs them again without loss, and what is decoded must be the same.

A checksum of everything decoded is made of the original and of the copy, sample by sample and frame by frame. Where the
two differ there is no copy.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from noarkit.copies.converters.ffmpeg import Ffmpeg, MediaFacts, Workplace, failure_of
from noarkit.copies.converters.one_by_one import OneByOne
from noarkit.copies.port import Failure, Outcome, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.safe.sandbox import Sandbox

_REVISION = 1
_DIGEST = re.compile(r"^MD5=([0-9a-f]{32})$", re.MULTILINE)


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


class Media(OneByOne):
    """FFmpeg as a converter: of sound (`sound`, FLAC), or of video (`video`, FFV1 and FLAC in Matroska)."""

    def __init__(self, name: str, sandbox: Sandbox | None = None, program: str = "ffmpeg") -> None:
        self.name = name
        self._ffmpeg = Ffmpeg(program, sandbox or Sandbox())

    def version(self) -> str | None:
        """The version of FFmpeg; None where it is missing."""
        return self._ffmpeg.version

    def options_digest(self, rule: Rule, target: str) -> str:
        """A digest of the codecs and of the revision of this module."""
        recipe = self._recipe(rule, target)
        parts = [_REVISION, target, [recipe.streams, recipe.codecs] if recipe else None]
        return hashlib.sha256(orjson.dumps(parts)).hexdigest()[:16]

    def _recipe(self, rule: Rule, target: str) -> _Recipe | None:
        if self.name == "sound":
            return _FLAC if target == "flac" else None
        if target != "mkv":
            return None
        return _COPIED if rule.options.get("codec") == REMUX else _FFV1

    def convert_one(self, task: Task) -> Outcome:
        """What becomes of one document."""
        recipe, version = self._recipe(task.rule, task.target), self._ffmpeg.version
        if version is None:
            return Failure(Reason.TOOL_MISSING, {"tool": self._ffmpeg.program})
        if recipe is None:
            return Failure(Reason.CONTENT_REFUSED, {"why": "target", "target": task.target})
        with self._ffmpeg.workplace(task) as place:
            facts = self._ffmpeg.facts(place.source, place)
            refused = facts if isinstance(facts, Failure) else self._streams_refused(facts)
            if refused is not None:
                return refused
            made = place.outputs / f"copy.{recipe.suffix}"
            completed = self._ffmpeg.decode(place.source, recipe.streams, (*recipe.codecs, str(made)), place)
            failure = failure_of(completed)
            if failure is not None:
                return failure
            if not made.is_file() or not made.stat().st_size:
                return Failure(Reason.NO_RESULT)
            failure = self._compare(made, recipe, place)
            if failure is not None:
                return failure
            result = task.folder / made.name
            made.replace(result)
        return Product(
            result,
            "FFmpeg",
            version,
            cpu_s=completed.cpu_s,
            wall_s=completed.wall_s,
            peak_bytes=completed.peak_bytes,
        )

    def _streams_refused(self, facts: MediaFacts) -> Failure | None:
        """A failure where a file holds streams that the copy would not: subtitles, data, a second picture."""
        kinds = list(facts.kinds)
        wanted = ["Audio"] if self.name == "sound" else ["Video", *(kind for kind in kinds if kind == "Audio")]
        if sorted(kinds) != sorted(wanted):
            return Failure(Reason.CONTENT_REFUSED, {"why": "streams", "streams": kinds})
        return None

    def _compare(self, copy: Path, recipe: _Recipe, place: Workplace) -> Failure | None:
        """A failure where what is decoded of one is not what is decoded of the other."""
        for stream in recipe.streams:
            kind = "picture" if ":v" in stream else "sound"
            depth = ("-c:a", "pcm_s32le") if kind == "sound" else ()
            digests = [self._digest(file, stream, depth, place) for file in (place.source, copy)]
            fault = next((digest for digest in digests if isinstance(digest, Failure)), None)
            if fault is not None:
                return fault
            if digests[0] != digests[1]:
                return Failure(Reason.IMAGE_DIFFERS, {"what": kind})
        return None

    def _digest(self, file: Path, stream: str, depth: tuple[str, ...], place: Workplace) -> str | Failure:
        """The checksum of what a stream decodes to; empty where a file has no such stream and need not."""
        completed = self._ffmpeg.decode(file, (stream,), (*depth, "-f", "md5", "-"), place)
        found = _DIGEST.search(completed.stdout)
        if found is not None and not completed.exit_code:
            return found[1]
        if stream.endswith("?") and "does not contain any stream" in completed.stderr:
            return ""
        return failure_of(completed) or Failure(Reason.DAMAGED)


def media_converters(sandbox: Sandbox, program: str) -> Mapping[str, Media]:
    """The converters that FFmpeg is, by name."""
    return {name: Media(name, sandbox, program) for name in ("sound", "video")}
