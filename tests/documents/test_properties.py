"""When a document was last saved, by its own word; programs that are not ours write it, and read it beside us."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from noarkit.documents.detect import HEAD_BYTES
from noarkit.documents.office_type import office_type
from noarkit.documents.properties import saved_at

FLAT = """<?xml version="1.0"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0" office:version="1.2"
 office:mimetype="application/vnd.oasis.opendocument.{kind}"><office:meta>
 <meta:creation-date>2013-02-03T10:11:12</meta:creation-date><dc:date>2014-03-12T09:15:00</dc:date></office:meta>
 <office:body><office:{kind}/></office:body></office:document>"""
DCTERMS = 'xmlns:dcterms="http://purl.org/dc/terms/"'


def saved(path: Path) -> str | None:
    """What the document in a file says."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return saved_at(descriptor, path.stat().st_size, os.pread(descriptor, HEAD_BYTES, 0))
    finally:
        os.close(descriptor)


@pytest.fixture
def zipped(tmp_path: Path) -> Callable[..., Path]:
    """A zip with one member."""

    def write(name: str, text: str, method: int = zipfile.ZIP_DEFLATED) -> Path:
        path = tmp_path / "x.docx"
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("[Content_Types].xml", "<Types/>")
            archive.writestr(name, text)
            archive.writestr("word/document.xml", "<w/>" * 20_000)
        return path

    return write


@pytest.mark.parametrize(
    ("source", "target"),
    [("text", "docx"), ("text", "odt"), ("text", "doc"), ("spreadsheet", "xlsx"), ("spreadsheet", "xls")],
)
def test_what_an_office_program_wrote_is_read(tmp_path: Path, source: str, target: str) -> None:
    if shutil.which("soffice") is None:
        pytest.skip("soffice is not installed")
    flat = tmp_path / {"text": "a.fodt", "spreadsheet": "a.fods"}[source]
    flat.write_text(FLAT.format(kind=source))
    home = f"-env:UserInstallation=file://{tmp_path}/home"
    words = ["soffice", home, "--headless", "--convert-to", target, "--outdir", str(tmp_path), str(flat)]
    subprocess.run(words, check=True, capture_output=True, timeout=300)
    told = saved(tmp_path / f"a.{target}")
    assert told is not None
    assert told[:19] == "2014-03-12T09:15:00"


def test_every_pdf_of_others_says_what_another_reader_of_pdf_says(reference: Path) -> None:
    if shutil.which("pdfinfo") is None:
        pytest.skip("pdfinfo is not installed")
    paths = sorted((reference.parent / "samples").rglob("*.pdf"))[::9]
    assert paths
    for path in paths:
        words = ["pdfinfo", "-isodates", str(path)]
        lines = subprocess.run(words, capture_output=True, check=False).stdout.decode("utf-8", "replace").splitlines()
        dates = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
        expected = dates.get("ModDate") or dates.get("CreationDate")
        assert (saved(path) or "")[:19] == (expected or "")[:19], path.name


def test_a_pdf_whose_information_was_written_by_a_library_of_others_is_read(tmp_path: Path) -> None:
    pikepdf = pytest.importorskip("pikepdf", reason="the extra [copies] is not installed")
    path = tmp_path / "a.pdf"
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        pdf.docinfo["/CreationDate"] = "D:20130203101112+01'00'"
        pdf.docinfo["/ModDate"] = "D:20140312091500+01'00'"
        pdf.save(path, object_stream_mode=pikepdf.ObjectStreamMode.disable)
    assert saved(path) == "2014-03-12T09:15:00+0100"


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "docProps/core.xml",
            f"<c {DCTERMS}><dcterms:modified>2014-03-12T09:15:00Z</dcterms:modified></c>",
            "2014-03-12T09:15:00Z",
        ),
        ("docProps/core.xml", "<c><a:created>2013-01-02</a:created><a:modified></a:modified></c>", "2013-01-02"),
        ("docProps/core.xml", "<c><a:modified>1970-01-01T00:00:00Z</a:modified></c>", None),
        ("docProps/core.xml", "<c><a:modified>1601-01-01T00:00:00Z</a:modified></c>", None),
        ("docProps/core.xml", "<c><a:modified>yesterday</a:modified></c>", None),
        ("docProps/core.xml", "<c><a:lastModifiedBy>2014-03-12</a:lastModifiedBy></c>", None),
        ("docProps/core.xml", "", None),
        ("meta.xml", "<m><dc:date>2014-03-12T09:15:00.123456789</dc:date></m>", "2014-03-12T09:15:00.123456789"),
        ("other/meta.xml", "<m><dc:date>2014-03-12T09:15:00</dc:date></m>", None),
    ],
)
def test_times_in_zipped_documents(
    zipped: Callable[..., Path], name: str, text: str, expected: str | None, method: int
) -> None:
    assert saved(zipped(name, text, method)) == expected


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9, 0.99])
def test_a_document_that_is_cut_off_says_nothing_else(zipped: Callable[..., Path], kept: float) -> None:
    path = zipped("docProps/core.xml", "<c><a:modified>2014-03-12T09:15:00Z</a:modified></c>")
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * kept)])
    assert saved(path) in (None, "2014-03-12T09:15:00Z")


def test_a_member_that_unpacks_without_end_is_read_to_a_bound(zipped: Callable[..., Path]) -> None:
    path = zipped("docProps/core.xml", " " * 20_000_000 + "<c><a:modified>2014-03-12T09:15:00Z</a:modified></c>")
    assert saved(path) is None


def test_odd_bytes_say_nothing_and_raise_nothing(zipped: Callable[..., Path]) -> None:
    whole = zipped("docProps/core.xml", "<c><a:modified>2014-03-12T09:15:00Z</a:modified></c>").read_bytes()
    path = zipped("docProps/core.xml", "")
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        told = saved(path)
        assert told is None or datetime.fromisoformat(told).replace(tzinfo=UTC).year > 1970


@pytest.mark.parametrize(
    ("trailer", "expected"),
    [
        ("D:20140312091500Z", "2014-03-12T09:15:00Z"),
        ("D:20140312091500+01'00'", "2014-03-12T09:15:00+0100"),
        ("D:20140312", "2014-03-12"),
        ("D:201403120915", "2014-03-12T09:15:00"),
        ("D:20141312", None),
        ("D:0", None),
        ("2014", None),
    ],
)
def test_times_as_a_pdf_writes_them(tmp_path: Path, trailer: str, expected: str | None) -> None:
    path = tmp_path / "a.pdf"
    info = f"7 0 obj\n<< /Producer (x) /ModDate ({trailer}) >>\nendobj\n"
    path.write_text(
        f"%PDF-1.4\n17 0 obj\n<< /ModDate (D:19990101) >>\nendobj\n{info}trailer << /Info 7 0 R >>\n%%EOF\n"
    )
    assert saved(path) == expected


def test_metadata_of_a_pdf_tell_where_its_information_is_silent(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_text('%PDF-1.7\n<rdf:Description xmp:ModifyDate="2014-03-12T09:15:00+01:00"/>\n%%EOF\n')
    assert saved(path) == "2014-03-12T09:15:00+01:00"
    path.write_text("%PDF-1.7\n<xmp:CreateDate>2014-03-12</xmp:CreateDate>\n%%EOF\n")
    assert saved(path) == "2014-03-12"


@pytest.mark.parametrize(
    "content", [b"", b"2014-03-12", b"\x89PNG\r\n", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600]
)
def test_what_is_no_document_says_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    assert saved(path) is None


def test_what_looks_like_a_list_of_members_hides_none_of_the_true_ones(tmp_path: Path) -> None:
    path = tmp_path / "x.docx"
    false_entry = b"PK\x01\x02" + b"\xff" * 60
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("picture.bin", false_entry)
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", "<w/>")
        archive.writestr("docProps/core.xml", "<c><a:modified>2014-03-12T09:15:00Z</a:modified></c>")
    assert saved(path) == "2014-03-12T09:15:00Z"
    descriptor = os.open(path, os.O_RDONLY)
    try:
        told = office_type(descriptor, path.stat().st_size, os.pread(descriptor, HEAD_BYTES, 0))
    finally:
        os.close(descriptor)
    assert told == "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
