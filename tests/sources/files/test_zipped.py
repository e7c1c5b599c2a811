"""Office documents are known by what their zip holds, in whatever order that lies there."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from noarkit.documents.office_type import office_type
from noarkit.events import ignore_event
from noarkit.records import SourceRecord
from noarkit.sources.files.source import FileTree

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
TEXT = "application/vnd.oasis.opendocument.text"


def zipped(path: Path, *members: tuple[str, str], method: int = zipfile.ZIP_STORED) -> Path:
    """A zip of these members in this order."""
    with zipfile.ZipFile(path, "w", method) as file:
        for name, text in members:
            file.writestr(name, text)
    return path


def told(path: Path) -> str | None:
    """What is found in a file."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return office_type(descriptor, path.stat().st_size, path.read_bytes()[:4096])
    finally:
        os.close(descriptor)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        (("media/a.png", "word/document.xml", "[Content_Types].xml"), WORD),
        (("xl/workbook.xml", "[Content_Types].xml"), WORD.replace("wordprocessingml.document", "spreadsheetml.sheet")),
        (("word/document.xml",), None),
        (("[Content_Types].xml", "a/word/document.xml"), None),
        (("a.txt",), None),
    ],
)
def test_a_zip_is_what_its_members_say(members: tuple[str, ...], expected: str | None, tmp_path: Path) -> None:
    assert told(zipped(tmp_path / "a.zip", *((name, "x" * 9000) for name in members))) == expected


@pytest.mark.parametrize(
    ("said", "method", "expected"),
    [
        (TEXT, zipfile.ZIP_STORED, TEXT),
        (TEXT, zipfile.ZIP_DEFLATED, None),
        ("application/epub+zip", zipfile.ZIP_STORED, None),
        (f"{TEXT}{'x' * 200}", zipfile.ZIP_STORED, None),
    ],
)
def test_an_open_document_says_it_itself(said: str, method: int, expected: str | None, tmp_path: Path) -> None:
    path = zipped(tmp_path / "a", ("content.xml", "<x/>"), ("mimetype", said), method=method)
    assert told(path) == expected


@pytest.mark.parametrize(
    "damage", [b"", b"PK\x03\x04", b"PK\x03\x04" + b"PK\x01\x02" * 400, b"PK\x03\x04" + b"\xff" * 90]
)
def test_what_is_damaged_is_nothing(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(damage)
    assert told(path) is None


def test_a_member_that_is_said_to_lie_elsewhere_is_not_believed(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a", ("content.xml", "<x/>"), ("mimetype", TEXT))
    whole = bytearray(path.read_bytes())
    entry = whole.rindex(b"PK\x01\x02")
    whole[entry + 42 : entry + 46] = (2**32 - 1).to_bytes(4, "little")
    path.write_bytes(whole)
    assert told(path) is None


def test_a_document_without_an_ending_gets_its_type(tmp_path: Path) -> None:
    zipped(tmp_path / "brev", ("media/a.bin", "x" * 9000), ("mimetype", TEXT))
    (record,) = (one for one in FileTree(tmp_path).records(ignore_event) if isinstance(one, SourceRecord))
    assert record.contents[0].media_type == TEXT
