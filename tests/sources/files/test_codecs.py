"""The codec of a video is read from its own bytes, whatever its name says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.extraction.delivered_formats import CODEC, reason_not_taken
from noarkit.sources.files.codecs import UNKNOWN, unaccepted_codec


def box(name: bytes, *content: bytes) -> bytes:
    """A box of an MP4 file."""
    whole = b"".join(content)
    return (len(whole) + 8).to_bytes(4, "big") + name + whole


def track(kind: bytes, codec: bytes) -> bytes:
    """A track of that kind with one entry in its table of samples."""
    table = box(b"stsd", bytes(4), (1).to_bytes(4, "big"), box(codec, bytes(70)))
    return box(b"trak", box(b"mdia", box(b"hdlr", bytes(8), kind, bytes(12)), box(b"minf", box(b"stbl", table))))


def mp4(codec: bytes) -> bytes:
    """A film with sound; the tracks are described after the frames, as cameras write it."""
    return (
        box(b"ftyp", b"isom") + box(b"mdat", bytes(999)) + box(b"moov", track(b"soun", b"mp4a"), track(b"vide", codec))
    )


def matroska(codec: bytes) -> bytes:
    return b"\x1a\x45\xdf\xa3" + bytes(40) + b"\x86" + bytes([0x80 + len(codec)]) + codec + bytes(40)


@pytest.mark.parametrize(
    ("name", "content", "codec"),
    [
        ("film.mp4", mp4(b"avc1"), ""),
        ("film.m4v", mp4(b"avc3"), ""),
        ("film.mp4", mp4(b"hvc1"), "hvc1"),
        ("film.mp4", mp4(b"mp4v"), "mp4v"),
        ("film.mp4", box(b"ftyp", b"isom") + bytes(50), UNKNOWN),
        ("film.mp4", b"", UNKNOWN),
        ("film.mp4", b"\x00\x00\x00\x00moov", UNKNOWN),
        ("film.mkv", matroska(b"V_FFV1"), ""),
        ("film.mkv", matroska(b"V_VP9"), "V_VP9"),
        ("film.mkv", bytes(500), UNKNOWN),
        ("brev.txt", b"avc1", ""),
    ],
)
def test_a_video_is_taken_for_its_codec_alone(name: str, content: bytes, codec: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with (tmp_path / name).open("rb") as file:
        assert unaccepted_codec(file.fileno(), len(content), name.rpartition(".")[2]) == codec


def test_a_plan_approves_no_video_that_an_extract_lists_as_accepted_by_no_depot(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    for name, codec in (("good.mp4", b"avc1"), ("other.mp4", b"hvc1")):
        (source / name).write_bytes(mp4(codec))
    run = tmp_path / "run"
    assert main(["plan", str(source), "-o", str(run), "--progress", "none"], {"HOME": str(tmp_path)}) == 0
    facts = json.loads((run / "plan-report.json").read_text("utf-8"))
    assert {one["standing"]: one["count"] for one in facts["formats"]} == {"conditions": 1, "not-approved": 1}
    assert [reason_not_taken(source / name, "mp4") for name in ("good.mp4", "other.mp4")] == [None, CODEC]
