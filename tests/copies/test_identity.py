"""A document is what its bytes are; a name that says otherwise is told, and a name alone is believed in nothing."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pikepdf
import pytest
from pikepdf import pdfa
from PIL import Image

from noarkit.copies.identity import Identifier, suffix_of
from noarkit.copies.port import Identity
from tests.copies.corpus import hostile, odf, ordinary
from tests.copies.corpus.zips import pack


@pytest.fixture(scope="module")
def identifier() -> Iterator[Identifier]:
    with Identifier() as identifier:
        yield identifier


def _pdfa() -> bytes:
    plain, result = io.BytesIO(), io.BytesIO()
    Image.new("RGB", (9, 9)).save(plain, format="PDF")
    with pikepdf.open(plain) as pdf:
        pdfa.save(pdf, result, "2b")
    return result.getvalue()


def _docx() -> bytes:
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            f'<Override PartName="/word/document.xml" ContentType="{main}"/></Types>',
        )
        archive.writestr("word/document.xml", "<w:document/>")
    return buffer.getvalue()


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "x")
    return buffer.getvalue()


MAIL = b"From: a@b.no\r\nTo: c@d.no\r\nSubject: Hei\r\nDate: Mon, 2 Feb 2026 10:00:00 +0100\r\n\r\nHei\r\n"
CASES = [
    ("plan.pdf", _pdfa(), "fmt/477", "signature", False),
    ("plan.doc", _pdfa(), "fmt/477", "signature", True),
    ("plan", _pdfa(), "fmt/477", "signature", False),
    ("brev.docx", _docx(), "fmt/412", "container", False),
    ("brev.doc", b"<html><body>hei</body></html>", "fmt/96", "signature", True),
    ("ark.xlsx", _zip(), "x-fmt/263", "signature", True),
    ("notat.txt", "Blåbærsyltetøy".encode(), "x-fmt/111", "text", False),
    ("LESMEG.md", "# Blåbær\n".encode(), "fmt/1149", "text", False),
    ("tall.csv", b"a;b\n1;2\n", "x-fmt/18", "text", False),
    ("svar.json", b'{"a": 1}', "fmt/817", "text", False),
    ("post.eml", MAIL, "fmt/278", "signature", False),
    ("kart.svg", ordinary.DRAWING.encode(), "fmt/91", "text", False),
    ("kart.svg", ordinary.DRAWING.replace("<svg", '<svg version="1.1"').encode(), "fmt/92", "text", False),
    ("kart.svg", b"<p>ingen tegning</p>", None, "none", False),
    ("brev.docx", os.urandom(3000), None, "none", False),
    ("tall.csv", b"\x00\x01\x02\xff" * 900, None, "name", False),
    ("tom.docx", b"", None, "none", False),
]


@pytest.mark.parametrize(("name", "content", "puid", "basis", "mismatch"), CASES)
def test_bytes_decide(
    identifier: Identifier, tmp_path: Path, name: str, content: bytes, puid: str | None, basis: str, mismatch: bool
) -> None:
    path = tmp_path / "staged"
    path.write_bytes(content)
    identity = identifier.identify(path, name)
    assert (identity.puid, identity.basis, identity.mismatch) == (puid, basis, mismatch)
    assert identity.suffix == suffix_of(name)


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("a.PDF", "pdf"), ("mappe.x/brev", ""), ("C:\\x\\brev.Doc", "doc"), (".bashrc", ""), ("a.b c", ""), ("a.", "")],
)
def test_the_ending_of_a_name(name: str, suffix: str) -> None:
    assert suffix_of(name) == suffix


def test_a_file_that_cannot_be_read_is_told(identifier: Identifier, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        identifier.identify(tmp_path / "missing", "missing.pdf")


def test_an_unknown_document_has_no_identifier() -> None:
    assert Identity(None, None, "", "none").mismatch is False


DAMAGES = {"halvskrevet": "half-written", "avkortet": "cut-off", "feil-start": "wrong-start"}


@pytest.mark.parametrize("suffix", hostile.WHOLE)
@pytest.mark.parametrize("name", DAMAGES)
def test_a_broken_document_says_how_it_is_broken(
    identifier: Identifier, tmp_path: Path, name: str, suffix: str
) -> None:
    whole, broken = hostile.WHOLE[suffix](), hostile.HOSTILE[f"{name}.{suffix}"]()
    path = tmp_path / "document"
    path.write_bytes(broken)
    found = identifier.identify(path, f"brev.{suffix}")
    at = {"halvskrevet": len(broken.rstrip(b"\0")), "avkortet": len(broken), "feil-start": 0}[name]
    assert (found.damage, found.damaged_at) == (DAMAGES[name], at)
    path.write_bytes(whole)
    assert identifier.identify(path, f"brev.{suffix}").damage == ""


@pytest.mark.parametrize(
    ("name", "content", "damage"),
    [
        ("tom.docx", b"", "empty"),
        ("tom", b"", "empty"),
        ("nuller.dat", bytes(4096), "half-written"),
        ("ukjent.dat", b"\x01\x07" * 50 + bytes(4096), ""),  # a format of its own may end in zeros
        ("hel.docx", b"PK\x03\x04" + b"\x07" * 90 + b"PK\x05\x06" + b"\x07" * 18, "damaged"),
        ("brev.rtf", b"{\\rt\x01\x02 Vedtak", "cut-off"),
        ("kort.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "cut-off"),
    ],
)
def test_what_is_wrong_is_told_of_endings_that_are_known(
    identifier: Identifier, tmp_path: Path, name: str, content: bytes, damage: str
) -> None:
    path = tmp_path / "document"
    path.write_bytes(content)
    found = identifier.identify(path, name)
    assert found.damage == damage, found


@pytest.mark.parametrize(("suffix", "mismatch"), [("ott", False), ("otp", True)])
def test_a_template_of_newer_opendocument_bears_the_ending_of_templates(
    suffix: str, mismatch: bool, identifier: Identifier, tmp_path: Path
) -> None:
    path = tmp_path / f"mal.{suffix}"
    path.write_bytes(odf.odt("Mal"))
    members = {"mimetype": odf.TYPES["odt"]}
    with zipfile.ZipFile(path) as package:
        for name in package.namelist()[1:]:
            members[name] = package.read(name).decode().replace('version="1.2"', 'version="1.3"')
    path.write_bytes(pack(members, stored=("mimetype",)))
    identity = identifier.identify(path, path.name)
    assert (identity.puid, identity.mismatch) == ("fmt/1756", mismatch)
