"""A document that is kept as it is must be what its format says; a right name and a right signature are not enough."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pikepdf
import pytest

from noarkit.copies.gates.as_delivered import check_as_delivered
from noarkit.copies.policy.read import CHECKS
from noarkit.copies.port import Failure
from noarkit.copies.reasons import Reason
from tests.copies.gates.drawing import draw_pdf, draw_pdfa, picture_with_cross


def _judge(path: Path, how: str) -> Reason | list[str]:
    result = check_as_delivered(path, how)
    return result.reason if isinstance(result, Failure) else [found.code for found in result]


def _zip(path: Path, *, method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a.txt", "blåbær " * 4000)
    return path


def test_each_check_that_a_policy_can_ask_for_is_there(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.write_bytes(b"")
    assert len(CHECKS) == 10
    for how in CHECKS:
        check_as_delivered(path, how)


def test_pdfa_that_is_none_is_refused(tmp_path: Path) -> None:
    valid = draw_pdfa(tmp_path / "valid.pdf")
    broken, scripted = tmp_path / "broken.pdf", tmp_path / "scripted.pdf"
    with pikepdf.open(valid) as pdf:
        pdf.Root.OpenAction = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS="x")
        pdf.save(scripted)
        del pdf.Root["/OpenAction"]
        del pdf.Root["/OutputIntents"]
        pdf.save(broken)
    assert _judge(valid, "pdfa") == []
    assert _judge(broken, "pdfa") is Reason.NOT_VALID
    assert _judge(scripted, "pdfa") == ["claimed-only"]
    assert _judge(draw_pdf(tmp_path / "plain.pdf", ["x"]), "pdfa") == ["claimed-only"]


def test_a_zip_is_whole_and_packed_as_the_standard_says(tmp_path: Path) -> None:
    whole = _zip(tmp_path / "whole.zip")
    assert _judge(whole, "zip") == []
    assert _judge(_zip(tmp_path / "odd.zip", method=zipfile.ZIP_BZIP2), "zip") is Reason.WRONG_FORMAT
    flipped, cut = tmp_path / "flipped.docx", tmp_path / "cut.docx"
    content = bytearray(whole.read_bytes())
    cut.write_bytes(bytes(content[:-30]))
    content[60] ^= 0xFF
    flipped.write_bytes(bytes(content))
    for path in (flipped, cut):
        assert _judge(path, "opens") is Reason.DAMAGED
        assert _judge(path, "zip") is Reason.DAMAGED


def test_a_zip_with_a_password_is_locked(tmp_path: Path) -> None:
    """The bit that says so is set in the member's header and in the directory."""
    path = _zip(tmp_path / "locked.zip")
    content = bytearray(path.read_bytes())
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(content))
    assert _judge(path, "opens") is Reason.PASSWORD


@pytest.mark.parametrize(
    ("content", "verdict"),
    [
        ("blåbær".encode(), []),
        (b"\xef\xbb\xbfhei", []),
        ("blåbær".encode("cp1252"), Reason.WRONG_FORMAT),
        ("hei".encode("utf-16"), Reason.WRONG_FORMAT),
        (b"hei\0", Reason.WRONG_FORMAT),
        ("æ".encode() * 700_000, []),
        ("æ".encode()[:1], Reason.WRONG_FORMAT),
    ],
    ids=["utf-8", "mark", "windows", "utf-16", "binary", "across-blocks", "cut"],
)
def test_text_is_utf8(tmp_path: Path, content: bytes, verdict: Reason | list[str]) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(content)
    assert _judge(path, "utf-8") == verdict


@pytest.mark.parametrize(
    ("how", "content", "verdict"),
    [
        ("xml", b"<a><b/></a>", []),
        ("xml", b"<a><b></a>", Reason.DAMAGED),
        ("xml", b"<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", ["not-checked"]),
        ("json", b'{"a": 1}', []),
        ("json", b'{"a": 1', Reason.DAMAGED),
        ("self-contained", b"<p>hei <a href='https://example.org'>her</a><img src='data:image/png;base64,AA=='>", []),
        ("self-contained", b"<img src='https://example.org/x.png'>", Reason.EXTERNAL_CONTENT),
        ("self-contained", b"<link rel=stylesheet href='stil.css'>", Reason.EXTERNAL_CONTENT),
        ("self-contained", b"<script src=x.js></script>", Reason.EXTERNAL_CONTENT),
    ],
)
def test_data_is_well_formed(tmp_path: Path, how: str, content: bytes, verdict: Reason | list[str]) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    assert _judge(path, how) == verdict


def test_pictures_can_be_decoded(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.png", tmp_path / "cut.png"
    picture_with_cross(size=400).save(whole)
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    assert _judge(whole, "image") == []
    assert _judge(cut, "image") is Reason.DAMAGED


@pytest.mark.parametrize(
    ("compression", "verdict"),
    [("raw", []), ("tiff_lzw", []), ("tiff_adobe_deflate", []), ("packbits", []), ("jpeg", Reason.WRONG_FORMAT)],
)
def test_tiff_is_compressed_without_loss(tmp_path: Path, compression: str, verdict: Reason | list[str]) -> None:
    path = tmp_path / "x.tif"
    pages = [picture_with_cross(), picture_with_cross(10)]
    pages[0].save(path, compression=compression, save_all=True, append_images=pages[1:])
    assert _judge(path, "tiff") == verdict


def test_a_codec_that_nobody_can_tell_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.mp4"
    path.write_bytes(b"\0\0\0\x18ftypmp42")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _judge(path, "codec") == ["codec-unknown"]


@pytest.mark.parametrize(
    ("answer", "verdict"), [("h264", []), ("ffv1", []), ("wmv2", Reason.WRONG_FORMAT), ("", Reason.DAMAGED)]
)
def test_the_codec_of_a_video_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, verdict: Reason | list[str]
) -> None:
    program = tmp_path / "ffprobe"
    program.write_text(f"#!/bin/sh\necho '{answer}'\n", "utf-8")
    program.chmod(0o755)
    path = tmp_path / "x.mp4"
    path.write_bytes(b"\0\0\0\x18ftypmp42")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert _judge(path, "codec") == verdict
