"""Sound and video are packed again and decode to the same, sample by sample; what would lose something is refused."""

from __future__ import annotations

import shutil
import subprocess
import wave
from pathlib import Path

import pytest

from noarkit.copies.converters.media import Media
from noarkit.copies.reasons import Reason
from tests.copies.converters.library_tasks import Workbench
from tests.waiting import PATIENCE_S

pytestmark = [
    pytest.mark.copies_tools,
    pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no FFmpeg here: scripts/copies-tools"),
]


def _ffmpeg(*words: str) -> bytes:
    program = shutil.which("ffmpeg")
    assert program
    command = [program, "-nostdin", "-v", "error", "-y", *words]
    return subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=True).stdout


def _samples(folder: Path, depth: int) -> Path:
    path = folder / f"sound-{depth}.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(depth // 8)
        file.setframerate(8000)
        file.writeframes(bytes((number * 37 + number // 9) % 256 for number in range(8000 * 2 * depth // 8)))
    return path


@pytest.mark.parametrize("depth", [16, 24])
def test_sound_is_the_same_sample_by_sample(depth: int, tmp_path: Path, bench: Workbench) -> None:
    source = _samples(tmp_path, depth)
    product, _ = bench.copy(Media("sound"), bench.task(source, "flac"))
    with wave.open(str(source), "rb") as file:
        samples = file.readframes(file.getnframes())
    assert _ffmpeg("-i", str(product.path), "-f", f"s{depth}le", "-c:a", f"pcm_s{depth}le", "-") == samples


def test_aiff_and_damaged_sound(tmp_path: Path, bench: Workbench) -> None:
    aiff, broken = tmp_path / "sound.aiff", tmp_path / "broken.wav"
    _ffmpeg("-i", str(_samples(tmp_path, 16)), str(aiff))
    bench.copy(Media("sound"), bench.task(aiff, "flac"))
    broken.write_bytes(b"RIFF\x10\x00\x00\x00WAVEfmt garbage")
    assert bench.refusal(Media("sound"), bench.task(broken, "flac")) is Reason.DAMAGED


def test_what_is_rounded_on_the_way_is_no_copy(tmp_path: Path, bench: Workbench) -> None:
    source = tmp_path / "float.wav"
    _ffmpeg("-f", "lavfi", "-i", "sine=440:duration=1", "-af", "volume=0.3337", "-c:a", "pcm_f32le", str(source))
    assert bench.refusal(Media("sound"), bench.task(source, "flac")) is Reason.IMAGE_DIFFERS


def test_video_is_the_same_frame_by_frame(tmp_path: Path, bench: Workbench) -> None:
    source = tmp_path / "film.avi"
    _ffmpeg(
        *("-f", "lavfi", "-i", "testsrc=size=64x48:rate=5:duration=2", "-f", "lavfi", "-i", "sine=440:duration=2"),
        *("-c:v", "mpeg4", "-c:a", "pcm_s16le", str(source)),
    )
    product, _ = bench.copy(Media("video"), bench.task(source, "mkv"))
    frames = [
        _ffmpeg("-i", str(path), "-map", "0:v", "-f", "framemd5", "-").splitlines()[-10:]
        for path in (source, product.path)
    ]
    sums = [[line.rpartition(b",")[2].strip() for line in lines] for lines in frames]
    assert sums[0] == sums[1] and len(set(sums[0])) > 1


def test_streams_that_would_be_left_out_are_a_reason_to_refuse(tmp_path: Path, bench: Workbench) -> None:
    (tmp_path / "s.srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nHei\n")
    source = tmp_path / "film.mkv"
    _ffmpeg(
        *("-f", "lavfi", "-i", "testsrc=size=64x48:rate=5:duration=1", "-i", str(tmp_path / "s.srt")),
        *("-c:v", "mpeg4", "-c:s", "srt", str(source)),
    )
    assert bench.refusal(Media("video"), bench.task(source, "mkv")) is Reason.CONTENT_REFUSED


def test_a_list_of_addresses_is_not_followed(tmp_path: Path, bench: Workbench) -> None:
    secret, source = _samples(tmp_path, 16), tmp_path / "list.wav"
    source.write_text(f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://{secret}\n#EXT-X-ENDLIST\n")
    assert bench.refusal(Media("sound"), bench.task(source, "flac")) is Reason.DAMAGED


def test_a_missing_program_is_told(tmp_path: Path, bench: Workbench) -> None:
    media = Media("sound", program="no-such-program")
    assert media.version() is None
    assert bench.refusal(media, bench.task(_samples(tmp_path, 16), "flac")) is Reason.TOOL_MISSING
