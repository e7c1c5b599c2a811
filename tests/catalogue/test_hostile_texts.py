"""Documents made to hurt cost themselves alone: a reason, nothing from outside, no request, no process left over."""

from __future__ import annotations

import os
import select
import signal
import socket
import time
import zlib
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import pytest

from noarkit.catalogue.search import SearchQuery
from noarkit.catalogue.text.children import Patience, TextChild
from noarkit.catalogue.text.collecting import ReadingOptions, collect_texts
from noarkit.catalogue.text.decoding import DocumentText
from noarkit.documents.layers import MOST_CHARACTERS
from noarkit.safe.process_tree import descendants
from tests.catalogue.shelves import Shelf, catalogue_of
from tests.copies.corpus.hostile import HOSTILE
from tests.copies.corpus.office import docx
from tests.copies.corpus.pdf import pdf
from tests.copies.corpus.zips import deflated_zeros
from tests.waiting import PATIENCE_S

SECRET = "kjempehemmelig innhold fra en annen fil"
GOOD = "Et ærlig brev om gravemaskin"
REASONS = {"bomb", "damaged", "password", "too-large", "unknown-format", "no-text", "timed-out", "memory", "crashed"}


def _nested_mail(depth: int) -> bytes:
    inner = b"From: a@b.example\nSubject: innerst\n\ndypest\n"
    for level in range(depth):
        boundary = f"g{level}".encode()
        inner = (
            b"From: a@b.example\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="
            + boundary
            + b"\n\n--"
            + boundary
            + b"\nContent-Type: message/rfc822\n\n"
            + inner
            + b"\n--"
            + boundary
            + b"--\n"
        )
    return inner


def _many_parts() -> bytes:
    return (
        b"From: a@b.example\nSubject: mange\nContent-Type: multipart/mixed; boundary=b\n\n"
        + b"--b\nContent-Type: text/plain\n\nx\n" * 100_000
        + b"--b--\n"
    )


def _pdf_with_stream(stream: bytes, font: bytes = b"") -> bytes:
    """A PDF of one page with this stream as its content, and this as the program of its font; both are deflated."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /TrueType /BaseFont /Evil /FontDescriptor 6 0 R >>",
        b"<< /Type /FontDescriptor /FontName /Evil /Flags 4 /FontFile2 7 0 R >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(font), font),
    ]
    body = b"%PDF-1.7\n"
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return (
        body
        + b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (*(size, table, size, len(body)),)
    )


def _asking(port: int, secret: Path) -> dict[str, bytes]:
    """Documents that want to fetch from a port of this machine, or to read a file beside them."""
    far, near = f"http://127.0.0.1:{port}/x", secret.as_uri()
    doctype = f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "{near}"><!ENTITY y SYSTEM "{far}">]>'
    letter = EmailMessage()
    letter["Subject"], letter["From"] = "Bilder", "a@b.example"
    letter.set_content("tekst")
    letter.add_alternative(f'<img src="{far}"><iframe src="{near}"></iframe>', subtype="html")
    return {
        "side.html": f'<html><link rel=stylesheet href="{far}"><img src="{near}"><iframe src="{near}">x'.encode(),
        "tegning.svg": f'{doctype}<svg xmlns="http://www.w3.org/2000/svg"><text>&x;&y;</text></svg>'.encode(),
        "data.xml": f"{doctype}<a>&x;&y;</a>".encode(),
        "brev.docx": docx("x", extra={"word/document.xml": f"{doctype}<a>&x;&y;</a>"}),
        "mal.docx": docx(
            "x", extra={"word/_rels/settings.xml.rels": f'<R><R Target="{far}" TargetMode="External"/></R>'}
        ),
        "brev.rtf": ('{\\rtf1 {\\field{\\*\\fldinst INCLUDETEXT "' + str(secret) + '"}{\\fldrslt }} x}').encode(),
        "post.eml": letter.as_bytes(),
        "del.eml": (
            'From: a@b.example\nContent-Type: message/external-body; access-type=URL; URL="' + far + '"\n\nx\n'
        ).encode(),
        "skript.pdf": pdf(["x"]).replace(b"/Type /Catalog", b"/OpenAction << /S /URI /URI (" + far.encode() + b") >>"),
    }


def _more() -> dict[str, bytes]:
    return {
        "million.txt": b"linje\n" * 1_000_000,
        "en-linje.txt": b"a" * 30_000_000,
        "post-100-dyp.eml": _nested_mail(100),
        "post-mange-deler.eml": _many_parts(),
        "post-lang-linje.eml": b"From: " + b"a" * 5_000_000 + b"\nSubject: x\n\nx",
        "strøm.pdf": _pdf_with_stream(deflated_zeros(1024**3)),
        "skrift.pdf": _pdf_with_stream(zlib.compress(b"BT /F1 12 Tf (x) Tj ET"), deflated_zeros(1024**3)),
        "sider.pdf": _pdf_with_stream(zlib.compress(b"")).replace(b"/Count 1", b"/Count 2147483647"),
        "tagger.html": b"<a " * 30_000,
        "kommentar.html": b"<html><!" + b"-" * 3_000_000,
        "dyp.xml": b"<a>" * 1_000_000,
        "nuller.txt": bytes(1000),
        "tomt.txt": b"",
        "bare-hode.pdf": b"%PDF-1.7",
        "utf16-halv.txt": b"\xff\xfea",
    }


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A port of this machine that nobody may ask."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def test_documents_made_to_hurt_are_refused_with_a_reason_and_hurt_nothing(
    tmp_path: Path, listener: socket.socket
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    hostile = {name: build() for name, build in HOSTILE.items()}
    hostile |= _more() | _asking(listener.getsockname()[1], secret)
    assert len(hostile) >= 60
    before = set(descendants(os.getpid()))
    shelf = Shelf({**hostile, "ærlig.txt": GOOD.encode()})
    catalogue = catalogue_of(shelf, tmp_path)
    options = ReadingOptions(children=2, patience=Patience(least_s=45))
    counts = collect_texts(catalogue.path, shelf, options=options)

    assert counts.missing == 0 and catalogue.unread_documents() == 0
    assert set(counts.without) <= REASONS
    texts = {name: catalogue.document_text(f"{name}#1") for name in shelf.documents}
    assert texts["ærlig.txt"] == DocumentText(GOOD)
    assert [name for name, text in texts.items() if text is None or SECRET in text.text or "root:" in text.text] == []
    bombs = [name for name in hostile if name.startswith("bombe-") and name.endswith((".docx", ".xlsx", ".zip"))]
    assert len(bombs) > 8
    honest = {"bombe-avsnitt.docx", "bombe-lang-tekst.docx"}  # much text, and nothing else
    assert {name for name in bombs if (text := texts[name]) and len(text.text) > 100} <= honest
    assert not any("lolo" in text.text for text in texts.values() if text)
    assert all(len(text.text) <= MOST_CHARACTERS for text in texts.values() if text)
    assert select.select([listener], [], [], 0)[0] == []
    of_others = {below for other in before for below in descendants(other)}  # a browser of other tests starts its own
    assert set(descendants(os.getpid())) <= before | of_others
    assert catalogue.search(SearchQuery("ærlig gravemaskin")).total.number == 1


def test_a_document_that_kills_its_child_costs_only_itself() -> None:
    child = TextChild()

    def deadly() -> Iterator[bytes]:
        yield b"first half"
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        yield b"second half" * 100_000

    child.ask("0.txt", "", [b"one before"])
    assert _answer(child) == DocumentText("one before")
    child.ask("a.txt", "", deadly())
    assert _answer(child).reason in ("crashed", "memory")
    child.ask("b.txt", "", [b"the next one"])
    assert _answer(child) == DocumentText("the next one")
    child.kill()


def test_a_document_that_takes_too_long_is_given_up() -> None:
    child = TextChild(Patience(least_s=0.01, per_megabyte_s=0))
    child.ask("a.txt", "", [b"text"])
    assert _answer(child).reason == "timed-out"
    assert child.pid is None


def test_a_document_that_cannot_be_had_to_its_end_is_forgotten_by_its_child() -> None:
    child = TextChild()

    def broken() -> Iterator[bytes]:
        yield b"half"
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        child.ask("a.txt", "", broken())
    child.ask("b.txt", "", [b"whole"])
    assert _answer(child) == DocumentText("whole")
    child.kill()


def test_a_child_has_neither_network_nor_our_files(tmp_path: Path) -> None:
    child = TextChild()
    child.ask("a.txt", "", [b"x"])
    _answer(child)
    if not child.is_isolated:
        pytest.skip("no walls on this system")
    below = [int(process) for process in _processes_of(child)]
    assert below
    for process in below[-1:]:
        assert Path(f"/proc/{process}/ns/net").readlink() != Path("/proc/self/ns/net").readlink()
        assert not Path(f"/proc/{process}/root{tmp_path}").exists()
        assert not Path(f"/proc/{process}/root/etc/passwd").exists()
    child.kill()


def _processes_of(child: TextChild) -> list[int]:
    assert child.pid is not None
    return [child.pid, *descendants(child.pid)]


def _answer(child: TextChild) -> DocumentText:
    deadline = time.monotonic() + PATIENCE_S
    while (answer := child.collect()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return answer
