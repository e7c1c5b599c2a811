"""The table of signatures says what libmagic says of the kinds that it knows, and of others that it knows nothing."""

from __future__ import annotations

import io
import sqlite3
import tarfile
import wave
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.documents.detect import MediaTypes
from noarkit.documents.signatures import SignatureTable

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\x06\0\0\0\x1f\x15\xc4\x89"
HEADS = {
    "pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
    "png": PNG,
    "gif": b"GIF89a\1\0\1\0\x80\0\0",
    "jpg": b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0",
    "tif": b"II*\0\x08\0\0\0\x0c\0\0\1\3\0\1\0\0\0\1\0\0\0",
    "rtf": b"{\\rtf1\\ansi Hei}",
    "gz": b"\x1f\x8b\x08\0\0\0\0\0\0\3",
    "html": b"<!DOCTYPE html>\n<html><head><title>a</title></head></html>",
    "xml": b'<?xml version="1.0" encoding="UTF-8"?>\n<arkiv/>\n',
    "txt": "Søknad om byggetillatelse\r\n".encode(),
    "empty": b"",
}


def _zip(**members: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/"), content)
    return packed.getvalue()[:4096]


def _tar() -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a"))
    return packed.getvalue()[:4096]


def _wav() -> bytes:
    sound = io.BytesIO()
    with wave.open(sound, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8_000)
        file.writeframes(bytes(64))
    return sound.getvalue()


@pytest.mark.parametrize("ext", HEADS)
def test_it_says_what_libmagic_says(ext: str) -> None:
    assert SignatureTable().from_buffer(HEADS[ext]) == MediaTypes().of(HEADS[ext], "bin")


def test_containers_are_told_by_what_is_in_them(tmp_path: Path) -> None:
    table = SignatureTable()
    odt = b"application/vnd.oasis.opendocument.text"
    assert (
        table.from_buffer(_zip(mimetype=odt, content=b"a"))
        == odt.decode()
        == MediaTypes().of(_zip(mimetype=odt), "odt")
    )
    assert table.from_buffer(_zip(word__document=b"a")).endswith("wordprocessingml.document")
    assert table.from_buffer(_zip(xl__workbook=b"a")).endswith("spreadsheetml.sheet")
    assert table.from_buffer(_zip(a=b"a")) == "application/zip"
    for content in (_tar(), _wav()):
        assert table.from_buffer(content) == MediaTypes().of(content, "bin")
    with closing(sqlite3.connect(tmp_path / "db")) as database:
        database.execute("CREATE TABLE a (b)")
        database.commit()
    assert table.from_buffer((tmp_path / "db").read_bytes()[:4096]) == "application/vnd.sqlite3"


def _box(brand: bytes) -> bytes:
    return b"\0\0\0\x18ftyp" + brand + b"\0\0\0\0mif1" + brand + b"\0\0\1\x2emeta"


@pytest.mark.parametrize("brand", [b"heic", b"heix", b"mif1", b"avif", b"M4A ", b"M4V ", b"isom", b"mp42", b"qt  "])
def test_pictures_sound_and_film_in_boxes_are_told_apart_as_libmagic_does(brand: bytes) -> None:
    assert SignatureTable().from_buffer(_box(brand)) == MediaTypes().of(_box(brand), "bin")


@pytest.mark.parametrize(
    "text", [b"BMW-saken: et brev", b"MZ er et merke", b"ID3 er et dokument", b"BZh 1", b"12345678WAVE of letters"]
)
def test_a_text_that_begins_like_something_else_is_a_text(text: bytes) -> None:
    assert SignatureTable().from_buffer(text) == "text/plain"


def test_short_signatures_are_told_where_bytes_follow() -> None:
    for head, media_type in (
        (b"BM\x36\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0", "image/bmp"),
        (b"ID3\3\0\0\0\0\0\x0f", "audio/mpeg"),
        (b"BZh91AY&SY\0\1", "application/x-bzip2"),
        (b"MZ\x90\0\3\0\0\0\4\0", "application/x-dosexec"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
    ):
        assert SignatureTable().from_buffer(head) == media_type


@pytest.mark.parametrize("content", [bytes(range(256)), b"\0" * 40, b"\x01\x02 binary"])
def test_what_it_does_not_know_it_does_not_name(content: bytes) -> None:
    assert SignatureTable().from_buffer(content) == "application/octet-stream"
