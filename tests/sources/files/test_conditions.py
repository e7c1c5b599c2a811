"""Old office files are told apart, and files that nobody can read are told before they are archived."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from noarkit.events import ignore_event
from noarkit.sources.files.source import FileTree
from noarkit.sources.scan import scan
from samples.files.outlook import ole2

EICAR = rb"X5O!P%@AP[4\PZX54(P^)7CC)7}$" + b"EICAR-STANDARD-ANTIVIRUS-" + b"TEST-FILE!$H+H*"
PDF = b"%%PDF-1.7\n1 0 obj <<>> endobj\ntrailer << /Root 1 0 R %s >>\nstartxref\n9\n%%%%EOF\n"


def zipped(*, locked: bool = False) -> bytes:
    """A zip file with one member."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("a.txt", "x" * 200)
    content = bytearray(held.getvalue())
    content[6] |= locked
    return bytes(content)


@pytest.mark.parametrize(
    ("name", "content", "media_type", "noted"),
    [
        ("a.doc", ole2({"WordDocument": b"x" * 5_000}), "application/msword", []),
        ("a.xls", ole2({"Workbook": b"x" * 90}), "application/vnd.ms-excel", []),
        ("a.xls", ole2({"Book": b"x" * 90}), "application/vnd.ms-excel", []),
        ("a.ppt", ole2({"PowerPoint Document": b"x"}), "application/vnd.ms-powerpoint", []),
        ("a.docx", ole2({"EncryptionInfo": b"x", "EncryptedPackage": b"x" * 5_000}), None, ["W225"]),
        ("a.xls", ole2({"Workbook": b"x" * 5_000})[:700], None, ["W226"]),
        ("a.pdf", PDF % b"", "application/pdf", []),
        ("a.pdf", PDF % b"/Encrypt 2 0 R", "application/pdf", ["W225"]),
        ("a.pdf", (PDF % b"")[:-6], "application/pdf", ["W226"]),
        ("a.zip", zipped(), "application/zip", []),
        ("a.zip", zipped(locked=True), "application/zip", ["W225"]),
        ("a.zip", zipped()[:-30], "application/zip", ["W226"]),
        ("a.com", EICAR, None, ["W227"]),
        ("a.com", EICAR + b"\r\n", None, ["W227"]),
        ("a.com", EICAR + b"x", None, []),
    ],
)
def test_a_file_is_told_by_what_it_holds(
    name: str, content: bytes, media_type: str | None, noted: list[str], tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    report = scan(FileTree(tmp_path), ignore_event)
    assert list(report.notes) == noted
    if media_type:
        assert list(report.formats) == [media_type]
