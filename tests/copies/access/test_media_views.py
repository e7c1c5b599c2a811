"""Access copies of sound and video: small, and to the ear and the eye what their masters are."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from noarkit.copies.converters.ffmpeg import Ffmpeg
from noarkit.copies.converters.media_view import MediaView
from noarkit.copies.port import Failure, Finding, Identity, Outcome, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.safe.sandbox import Completed, Limits

pytestmark = pytest.mark.skipif(
    not (shutil.which("ffmpeg") and shutil.which("ffprobe")), reason="no FFmpeg here: scripts/copies-tools"
)

LOUD_AND_SOFT = "volume='if(lt(mod(t,1),0.5),1,0.1)':eval=frame"
TONE = ("-f", "lavfi", "-i", "sine=440:duration=2", "-af", LOUD_AND_SOFT)
PICTURE = ("-f", "lavfi", "-i", "testsrc=duration=2:size=640x360:rate=10")


def _write(path: Path, *words: str) -> Path:
    program = str(shutil.which("ffmpeg"))
    subprocess.run([program, "-v", "error", "-y", *words, str(path)], check=True, capture_output=True)
    return path


def _video(tmp_path: Path, *more: str) -> Path:
    return _write(tmp_path / "film.mkv", *PICTURE, *more, "-c:v", "ffv1", "-level", "3", "-c:a", "flac")


def _outcome(
    source: Path, target: str, tmp_path: Path, options: dict[str, object] | None = None, program: str = "ffmpeg"
) -> Outcome:
    name = {"mp3": "sound-view", "mp4": "video-view"}[target]
    rule = Rule("read", (), "derive", (name,), target, options=options or {}, purpose="access")
    identity = Identity("fmt/141", "audio/x-wav", source.suffix[1:], "signature")
    (tmp_path / "out").mkdir()
    task = Task(source, source.name, identity, rule, target, tmp_path / "out", Limits(60.0, 240.0))
    ((_, outcome),) = MediaView(name, Ffmpeg(program)).convert([task])
    return outcome


def _streams(outcome: Outcome) -> list[dict[str, object]]:
    assert isinstance(outcome, Product), outcome
    command = [str(shutil.which("ffprobe")), "-v", "error", "-show_streams", "-of", "json", str(outcome.path)]
    streams: list[dict[str, object]] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)[
        "streams"
    ]
    return streams


def test_sound_is_an_mp3_and_says_what_it_lacks(tmp_path: Path) -> None:
    source = _write(tmp_path / "six.wav", *TONE, "-ar", "96000", "-ac", "6", "-c:a", "pcm_s24le")
    outcome = _outcome(source, "mp3", tmp_path)
    (stream,) = _streams(outcome)
    assert (stream["codec_name"], stream["channels"], stream["sample_rate"]) == ("mp3", 2, "44100")
    assert isinstance(outcome, Product)
    assert outcome.findings == (
        Finding("compressed-with-loss"),
        Finding("channels-mixed", {"original": 6, "copy": 2}),
        Finding("sampling-reduced", {"original": 96000, "copy": 44100}),
    )


def test_video_is_an_mp4_as_large_as_its_rule_says(tmp_path: Path) -> None:
    outcome = _outcome(_video(tmp_path, *TONE), "mp4", tmp_path, {"longest-side": 321})
    video, sound = _streams(outcome)
    assert (video["codec_name"], video["width"], video["height"], sound["codec_name"]) == ("h264", 320, 180, "aac")
    assert isinstance(outcome, Product)
    sizes = {"original_width": 640, "original_height": 360, "width": 320, "height": 180}
    assert outcome.findings == (Finding("compressed-with-loss"), Finding("resolution-reduced", sizes))


def test_subtitles_and_further_sound_are_left_out_and_told(tmp_path: Path) -> None:
    titles = tmp_path / "titles.srt"
    titles.write_text("1\n00:00:00,000 --> 00:00:01,000\nHei\n", "utf-8")
    more = ("-i", str(titles), "-f", "lavfi", "-i", "sine=300:duration=2", "-map", "0:v", "-map", "1:s", "-map", "2:a")
    outcome = _outcome(_video(tmp_path, *more, "-map", "2:a", "-c:s", "srt"), "mp4", tmp_path)
    assert isinstance(outcome, Product), outcome
    assert Finding("streams-dropped", {"count": 2}) in outcome.findings


def test_silent_video_stays_silent(tmp_path: Path) -> None:
    (stream,) = _streams(_outcome(_video(tmp_path), "mp4", tmp_path))
    assert stream["codec_type"] == "video"


def test_what_is_no_sound_has_no_copy(tmp_path: Path) -> None:
    outcome = _outcome(_video(tmp_path), "mp3", tmp_path)
    assert outcome == Failure(Reason.CONTENT_REFUSED, {"why": "streams", "streams": ["Video"]})
    (tmp_path / "other").mkdir()
    noise = tmp_path / "noise.wav"
    noise.write_bytes(bytes(range(256)) * 40)
    broken = _outcome(noise, "mp3", tmp_path / "other")
    assert isinstance(broken, Failure)
    assert broken.reason is Reason.DAMAGED


def test_a_program_that_is_missing_is_said(tmp_path: Path) -> None:
    source = _write(tmp_path / "tone.wav", *TONE)
    assert _outcome(source, "mp3", tmp_path, program="no-such-program") == Failure(
        Reason.TOOL_MISSING, {"tool": "no-such-program"}
    )


class _Spoiling(Ffmpeg):
    """A program that makes another file than it was asked for: `filters` say how it differs."""

    filters: tuple[str, ...] = ()

    def decode(self, file: Path, streams: Sequence[str], output: Sequence[str], place: object) -> Completed:
        is_copy = output[-1].endswith((".mp3", ".mp4"))
        spoilt = (*output[:-1], *self.filters, output[-1]) if is_copy else output
        return super().decode(file, streams, spoilt, place)  # type: ignore[arg-type]  # as it was given


@pytest.mark.parametrize(
    ("target", "filters", "what"),
    [
        ("mp3", ("-af", "volume=0"), "audio"),
        ("mp3", ("-af", "volume=0.2"), "audio"),
        ("mp3", ("-af", "areverse"), "audio"),
        ("mp3", ("-t", "1"), "length"),
        ("mp4", ("-t", "1"), "length"),
        ("mp4", ("-vf", "negate"), "video"),
        ("mp4", ("-vf", "hflip"), "video"),
    ],
)
def test_a_copy_that_sounds_or_looks_different_is_none(
    target: str, filters: tuple[str, ...], what: str, tmp_path: Path
) -> None:
    source = _video(tmp_path, *TONE) if target == "mp4" else _write(tmp_path / "tone.wav", *TONE)
    name = {"mp3": "sound-view", "mp4": "video-view"}[target]
    rule = Rule("read", (), "derive", (name,), target, options={"longest-side": 640}, purpose="access")
    identity = Identity("fmt/141", "audio/x-wav", source.suffix[1:], "signature")
    (tmp_path / "out").mkdir()
    task = Task(source, source.name, identity, rule, target, tmp_path / "out", Limits(60.0, 240.0))
    program = type("Spoiling", (_Spoiling,), {"filters": filters})()
    ((_, outcome),) = MediaView(name, program).convert([task])
    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.data["what"]) == (Reason.IMAGE_DIFFERS, what)
