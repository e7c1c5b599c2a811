"""Documents are found by their words, whatever program wrote them; what breaks a reader breaks nothing else."""

from __future__ import annotations

import os
import re
import sqlite3
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from email.message import EmailMessage
from io import BytesIO
from pathlib import Path

import pytest

from noarkit.server.document_text import MOST_CHARACTERS, Unreadable
from noarkit.server.service import TextReader
from noarkit.services.standins.papers import pdf
from tests.copies.corpus import office as corpus
from tests.server.conftest import Archive, serving
from tests.server.wire import Wire, save, small_archive
from tests.waiting import came

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_T = 'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'


def office(**parts: str) -> bytes:
    """An office file of these parts; two underscores stand for a slash, and .xml is added."""
    whole = BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in parts.items():
            packed.writestr(name.replace("__", "/") + ".xml", content)
    return whole.getvalue()


def a_mail() -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = "Angående fiskekort", "kari@example.org", "ola@example.org"
    message.set_content("Vedlagt følger regnbueørret.")
    message.add_alternative("<p>Vedlagt f&oslash;lger <b>sj&oslash;røye</b></p>", subtype="html")
    message.add_attachment(b"\x00\x01", maintype="application", subtype="octet-stream", filename="kartblad.bin")
    return message.as_bytes()


DOCUMENTS: dict[str, tuple[str, bytes, tuple[str, ...]]] = {
    "plain": ("a.txt", "Blåbærsyltetøy i Nordmarka".encode(), ("Blåbærsyltetøy",)),
    "latin": ("a.txt", "Blåbærsyltetøy i Nordmarka".encode("latin-1"), ("Blåbærsyltetøy",)),
    "utf-16": ("a.txt", "Blåbærsyltetøy".encode("utf-16"), ("Blåbærsyltetøy",)),
    "csv": ("a.csv", "navn;antall\nmultebær;3\n".encode(), ("multebær",)),
    "html": (
        "a.html",
        b"<html><head><title>x</title><script>unseen()</script></head><body><p>Tytteb&aelig;r</p>og<br>krekling</body>",
        ("Tyttebær", "krekling"),
    ),
    "mail": ("a.eml", a_mail(), ("fiskekort", "regnbueørret", "sjørøye", "kartblad")),
    "pdf": ("a.pdf", pdf("Byggesak ved Glomma"), ("Byggesak", "Glomma")),
    "docx": (
        "a.docx",
        office(
            word__document=f"<w:document {_W}><w:p><w:r><w:t>Reguleringspl</w:t></w:r><w:r><w:t>an</w:t></w:r></w:p>"
            "<w:p><w:r><w:t>Hovedvei</w:t></w:r></w:p></w:document>",
            word__footer1=f"<w:ftr {_W}><w:p><w:r><w:t>Bunntekst</w:t></w:r></w:p></w:ftr>",
        ),
        ("Reguleringsplan", "Hovedvei", "Bunntekst"),
    ),
    "xlsx": (
        "a.xlsx",
        corpus.xlsx([["Lønnstabell", "Timelister"]]),
        ("Lønnstabell", "Timelister"),
    ),
    "pptx": (
        "a.pptx",
        corpus.pptx(["Strategiseminar"]),
        ("Strategiseminar",),
    ),
    "odt": ("a.odt", office(content=f"<d {_T}><text:p>Vassdragsvern<text:s/>nå</text:p></d>"), ("Vassdragsvern",)),
}


@pytest.fixture
def reader() -> Iterator[TextReader]:
    made = TextReader()
    yield made
    made.close()


@pytest.mark.parametrize("kind", sorted(DOCUMENTS))
def test_each_kind_of_document_has_its_words(reader: TextReader, tmp_path: Path, kind: str) -> None:
    name, content, words = DOCUMENTS[kind]
    (tmp_path / "content").write_bytes(content)
    media_type = "text/plain" if name.endswith((".txt", ".csv")) else "application/octet-stream"
    text = reader.read(tmp_path / "content", name, media_type)
    assert [word for word in words if word not in text] == []
    assert "unseen" not in text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.pdf", b"%PDF-1.7\n" + bytes(1000)),
        ("a.pdf", pdf("cut")[:200]),
        ("a.docx", b"PK\x03\x04" + bytes(100)),
        ("a.zip", office(other="<x/>")),
        ("a.docx", office(word__document="<w><unclosed></w>")),
        ("a.docx", office(word__document='<!DOCTYPE w [<!ENTITY a "b">]><w>&a;</w>')),
        ("a.docx", office(word__document="<w>" + " " * 70_000_000 + "</w>")),
        ("a.docx", office(word__document="<w>" * 5_000 + "</w>" * 5_000)),
        ("a.jpg", b"\xff\xd8\xff" + bytes(100)),
        ("a.bin", os.urandom(1000)),
        ("a.bin", b""),
    ],
)
def test_what_cannot_be_read_has_no_words_and_the_next_is_read(
    reader: TextReader, tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / "bad").write_bytes(content)
    with suppress(Unreadable):
        assert reader.read(tmp_path / "bad", name, "application/octet-stream").strip() == ""
    good = DOCUMENTS["pdf"]
    (tmp_path / "good").write_bytes(good[1])
    assert "Glomma" in reader.read(tmp_path / "good", good[0], "application/pdf")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a named pipe")
def test_what_takes_too_long_is_ended_and_the_next_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "endless")  # to open it waits for ever
    (tmp_path / "good").write_bytes(DOCUMENTS["pdf"][1])
    impatient, patient = TextReader(time_limit_s=0.5), TextReader()
    try:
        with pytest.raises(Unreadable):
            impatient.read(tmp_path / "endless", "a.pdf", "application/pdf")
        assert impatient._child is None
        assert "Glomma" in patient.read(tmp_path / "good", "a.pdf", "application/pdf")
    finally:
        impatient.close()
        patient.close()


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="the system does not tell the limits of a process")
def test_the_process_that_reads_is_bounded_in_memory_and_writes_nothing(reader: TextReader, tmp_path: Path) -> None:
    (tmp_path / "good").write_bytes(DOCUMENTS["pdf"][1])
    reader.read(tmp_path / "good", "a.pdf", "application/pdf")
    assert reader._child is not None
    limits = Path(f"/proc/{reader._child.pid}/limits").read_text()
    for line in (r"Max address space +1073741824 +1073741824 ", r"Max file size +0 +0 ", r"Max core file size +0 +0 "):
        assert re.search(line, limits), limits
    environment = Path(f"/proc/{reader._child.pid}/environ").read_bytes()
    assert b"NOARKIT_" not in environment


def test_a_long_document_is_indexed_as_far_as_a_million_characters(reader: TextReader, tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"<p>" + b"word " * 1_000_000)
    assert len(reader.read(tmp_path / "long", "a.html", "text/html")) == MOST_CHARACTERS


def found(wire: Wire, word: str) -> int:
    """How many texts hold a word."""
    asked = {"doctype": "Tekst", "query": word, "publicUse": False}
    return int(str(wire.call("POST", "full-text/search", asked).json()["total"]))


def test_documents_are_found_by_the_words_of_their_files(fresh_archive: Archive) -> None:
    wire = fresh_archive.wire
    names = ("plain", "mail", "pdf", "docx")
    uploaded = [str(wire.upload(DOCUMENTS[kind][1], DOCUMENTS[kind][0]).json()["id"]) for kind in names]
    small_archive(wire, *uploaded)
    for kind in names:
        word = DOCUMENTS[kind][2][-1]
        assert came(lambda word=word: found(wire, word) == 1), word  # type: ignore[misc]  # bound at once


def test_a_text_that_was_set_goes_before_that_of_the_file_and_so_does_none(fresh_archive: Archive) -> None:
    wire = fresh_archive.wire
    ids = small_archive(wire, *(str(wire.upload(b"filetext", "a.txt").json()["id"]) for _ in range(3)))

    def set_text(number: int, **told: str) -> None:
        body = {"dokumentversjonId": ids[f"@version{number}"], **told}
        assert wire.call("POST", "full-text/set", body).status == 200

    set_text(1, tekst="settext")
    assert came(lambda: found(wire, "filetext") == 2)
    set_text(2, tekst="settext")
    set_text(3)
    assert (found(wire, "filetext"), found(wire, "settext")) == (0, 2)
    another = str(wire.upload(b"anotherfile", "b.txt").json()["id"])
    wire.saved(save("Dokumentversjon", ids["@version1"], referanseDokumentfil=another))
    wire.saved(save("Mappe", ids["@folder"], tittel="changed"))
    small_archive(wire, str(wire.upload(b"lasttext", "c.txt").json()["id"]))
    assert came(lambda: found(wire, "lasttext") == 1), "what came before it is read by now"
    assert (found(wire, "anotherfile"), found(wire, "settext")) == (0, 2)


def test_a_new_file_of_a_version_is_read_anew_and_a_deleted_one_forgotten(fresh_archive: Archive) -> None:
    wire = fresh_archive.wire
    ids = small_archive(wire, str(wire.upload(b"firsttext", "a.txt").json()["id"]))
    assert came(lambda: found(wire, "firsttext") == 1)
    another = str(wire.upload(b"secondtext", "b.txt").json()["id"])
    wire.saved(save("Dokumentversjon", ids["@version1"], referanseDokumentfil=another))
    assert came(lambda: (found(wire, "firsttext"), found(wire, "secondtext")) == (0, 1))
    wire.saved({"action": "delete", "type": "Dokumentversjon", "id": ids["@version1"]})
    assert found(wire, "secondtext") == 0
    with closing(sqlite3.connect(fresh_archive.data_dir / "archive.db")) as db:
        assert db.execute("SELECT COUNT(*) FROM fulltext_read").fetchone() == (0,)


def test_documents_are_left_alone_where_a_switch_says_so(archive_with: Callable[..., Archive]) -> None:
    wire = archive_with(index_documents=False).wire
    small_archive(wire, str(wire.upload(b"filetext", "a.txt").json()["id"]))
    assert not came(lambda: found(wire, "filetext") > 0, 3)


def test_what_was_read_before_a_document_was_understood_better_is_read_again_once(tmp_path: Path) -> None:
    with serving(tmp_path / "archive") as live:
        small_archive(live.wire, str(live.wire.upload("Blåbær".encode("cp865"), "a.txt").json()["id"]))
        assert came(lambda: found(live.wire, "blåbær") == 1)
    archive = tmp_path / "archive" / "archive.db"
    with closing(sqlite3.connect(archive)) as db, db:
        db.execute("UPDATE fulltext_read SET text = 'Bl†b‘r'")
        assert db.execute("SELECT revision > 0 FROM fulltext_read_position").fetchone() == (1,)
        db.execute("DROP TABLE fulltext_read_format")  # as in an archive of before
    with serving(tmp_path / "archive"):
        pass
    with serving(tmp_path / "archive") as live:
        assert came(lambda: found(live.wire, "blåbær") == 1)
    with closing(sqlite3.connect(archive)) as db:
        assert db.execute("SELECT text FROM fulltext_read").fetchall() == [("Blåbær",)]


def test_what_was_committed_while_nobody_read_is_read_at_the_next_start(tmp_path: Path) -> None:
    with serving(tmp_path / "archive", {"index_documents": False}) as live:
        small_archive(live.wire, str(live.wire.upload(b"filetext", "a.txt").json()["id"]))
    (tmp_path / "archive" / "server.toml").unlink()
    with closing(sqlite3.connect(tmp_path / "archive" / "archive.db")) as db:
        db.execute("DROP TABLE fulltext_read")  # as in an archive of before documents were read
        db.execute("DROP TABLE fulltext_read_position")
        db.commit()
    with serving(tmp_path / "archive") as live:
        assert came(lambda: found(live.wire, "filetext") == 1)
