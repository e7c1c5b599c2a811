"""A mail is readable without a mail program: who, when, what, in every letter, and which files were attached to it."""

from __future__ import annotations

import hashlib
import io
import socket
from email.message import EmailMessage
from pathlib import Path

import pikepdf
import pytest

from noarkit.copies.converters.mail import MAIL, spoken_moment
from noarkit.copies.converters.markup_cleaning import clean_markup
from noarkit.copies.gates.words import WordsGate
from noarkit.copies.inspection import words_of
from noarkit.copies.inspection.mail_words import mail_words
from noarkit.copies.port import Failure, Identity, Product
from noarkit.copies.reasons import Reason
from noarkit.documents.mail import moments_of, read_mail
from tests.copies.converters.library_tasks import Workbench, text_by_poppler
from tests.copies.gates.drawing import draw_pdf, picture_with_cross

TEXT = "Vi viser til søknaden om påbygg på Ærøya.\nSvarfrist er 3. mai."


def _mail(subject: str = "Søknad om påbygg – Ærøya") -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = "Åse Øvrebø <ase@kommune.example>"
    mail["To"] = "Postmottak <post@kommune.example>, Bjørn Bø <b@firma.example>"
    mail["Date"] = "Tue, 03 Feb 2026 10:11:12 +0100"
    mail["Subject"] = subject
    mail["Message-ID"] = "<1@kommune.example>"
    return mail


def _store(folder: Path, content: bytes | EmailMessage, name: str = "brev.eml") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.as_bytes())
    return path


def _png() -> bytes:
    file = io.BytesIO()
    picture_with_cross().save(file, "PNG")
    return file.getvalue()


def _assert_shown(path: Path, *passages: str) -> None:
    text = text_by_poppler(path)
    if text is not None:
        plain = " ".join(text.split())
        assert [passage for passage in passages if passage not in plain] == []


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "windows-1252"])
@pytest.mark.parametrize("encoding", ["quoted-printable", "base64", "8bit"])
def test_norwegian_letters_survive_every_way_of_sending(
    charset: str, encoding: str, tmp_path: Path, bench: Workbench
) -> None:
    mail = _mail()
    mail.set_content(TEXT, charset=charset, cte=encoding)
    product, findings = bench.copy(MAIL, bench.task(_store(tmp_path, mail), "pdfa-2b"))
    counts = [found.data for found in findings if found.code == "counted"]
    assert counts and all(data["original"] == data["copy"] for data in counts)
    assert {found.code for found in findings} == {"counted", "not-counted"}  # pictures of a mail are not
    _assert_shown(
        product.path, "Vi viser til søknaden om påbygg på Ærøya.", "Åse Øvrebø <ase@kommune.example>", "Bjørn Bø",
        "Søknad om påbygg – Ærøya", "Emne", "3. februar 2026 10:11 +01:00",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("stated", "language", "shown"),
    [
        ("Thu, 12 Mar 2020 09:12:00 +0100", "en", "12 March 2020 09:12 +01:00"),
        ("Thu, 12 Mar 2020 09:12:00 +0100", "nb", "12. mars 2020 09:12 +01:00"),
        ("Thu, 12 Mar 2020 23:12:00 -0530", "en", "12 March 2020 23:12 -05:30"),
        ("Thu, 12 Mar 2020 09:12:00", "en", "12 March 2020 09:12 +00:00"),
    ],
)
def test_the_time_of_sending_is_written_in_the_zone_of_the_mail(stated: str, language: str, shown: str) -> None:
    content = f"From: a@b.example\nTo: c@d.example\nSubject: x\nDate: {stated}\n\nHi\n".encode()
    assert spoken_moment(moments_of(content)["date"], language) == shown


def test_the_size_of_an_attached_file_stands_on_one_line(tmp_path: Path, bench: Workbench) -> None:
    mail = _mail()
    mail.set_content(TEXT)
    kind = "vnd.openxmlformats-officedocument.wordprocessingml.document"
    name = "Et langt navn på en tegning av fasade mot sør og øst, revidert etter møtet.docx"
    mail.add_attachment(b"x" * 1_234_567, maintype="application", subtype=kind, filename=name)
    product, _ = bench.copy(MAIL, bench.task(_store(tmp_path, mail), "pdfa-2b"))
    _assert_shown(product.path, "1234567")


def test_what_claims_to_be_ascii_and_is_windows(tmp_path: Path, bench: Workbench) -> None:
    raw = b"From: a@b.example\r\nTo: c@d.example\r\nSubject: Hei\r\nDate: Tue, 03 Feb 2026 10:11:12 +0100\r\n\r\n"
    product, _ = bench.copy(MAIL, bench.task(_store(tmp_path, raw + "Blåbær – sjø".encode("cp1252")), "pdfa-2b"))
    _assert_shown(product.path, "Blåbær – sjø")


def test_attachments_are_listed_with_the_checksums_of_their_bytes(tmp_path: Path, bench: Workbench) -> None:
    mail = _mail()
    mail.set_content(TEXT)
    files = {"tegning æ.pdf": b"%PDF-1.7 x" * 999, "notat.txt": b"Et vedlegg som ingen leser"}
    mail.add_attachment(files["tegning æ.pdf"], maintype="application", subtype="pdf", filename="tegning æ.pdf")
    mail.add_attachment(files["notat.txt"], maintype="text", subtype="plain", filename="notat.txt")
    product, _ = bench.copy(MAIL, bench.task(_store(tmp_path, mail), "pdfa-2b"))
    assert [(found.code, found.data) for found in product.findings] == [("attachments", {"count": 2})]
    text = text_by_poppler(product.path)
    if text is not None:
        joined = "".join(text.split())
        for name, content in files.items():
            assert "".join(name.split()) in joined and str(len(content)) in joined
        sums = [hashlib.sha256(content).hexdigest() for content in files.values()]
        assert all(sum(part in joined for part in (digest[:8], digest[-8:])) == 2 for digest in sums)
        assert "ingenleser" not in joined  # what is attached is a document of its own
    with pikepdf.open(product.path) as pdf:
        assert not pdf.attachments


def test_a_rich_mail_shows_its_own_pictures_and_calls_nobody(
    tmp_path: Path, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noarkit.copies.converters.library._leave_network", lambda: None)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.3)
        here = f"http://127.0.0.1:{server.getsockname()[1]}"
        mail = _mail()
        mail.set_content("Den enkle utgaven")
        mail.add_alternative(
            f"""<html><head><style>table {{ display: none }} @import url({here}/a.css)</style></head><body>
            <p style="color: red; position: fixed; top: 0">Kjære søker, <b>vedtaket</b> er fattet.</p>
            <script>document.write("skjult")</script><img src="cid:kart@x"><img src="{here}/pixel.gif">
            <img src="file:///etc/hostname"><div style="background: url({here}/b.png)">Hilsen Åse</div>
            </body></html>""",
            subtype="html",
        )
        mail.get_payload()[1].add_related(  # type: ignore[union-attr, index]
            _png(), maintype="image", subtype="png", cid="<kart@x>", disposition="inline"
        )
        product, _ = bench.copy(MAIL, bench.task(_store(tmp_path, mail), "pdfa-2b"))
        with pytest.raises(TimeoutError):
            server.accept()
    codes = {found.code: found.data for found in product.findings}
    assert codes["remote-refused"]["count"] == 2
    _assert_shown(product.path, "Kjære søker, vedtaket er fattet.", "Hilsen Åse", "Søknad om påbygg")
    text = text_by_poppler(product.path) or ""
    assert "skjult" not in text and "Den enkle" in text  # which says something else
    with pikepdf.open(product.path) as pdf:
        images = [item for item in pdf.objects if isinstance(item, pikepdf.Stream) and item.get("/Subtype") == "/Image"]
        assert [int(image.Width) for image in images] == [60]


def test_an_encoding_that_cannot_be_read_is_refused(tmp_path: Path, bench: Workbench) -> None:
    raw = (
        b"From: a@b.example\r\nTo: c@d.example\r\nSubject: Hei\r\nDate: Tue, 03 Feb 2026 10:11:12 +0100\r\n"
        b"MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nbad \x81\x8d\x90 bytes"
    )
    assert bench.refusal(MAIL, bench.task(_store(tmp_path, raw), "pdfa-2b")) is Reason.CONTENT_REFUSED
    assert bench.refusal(MAIL, bench.task(_store(tmp_path, b"no mail at all", "no.eml"), "pdfa-2b")) in {
        Reason.DAMAGED,
        Reason.CONTENT_REFUSED,
    }


def test_a_copy_without_a_part_of_the_body_is_no_copy(tmp_path: Path, bench: Workbench) -> None:
    mail = _mail()
    mail.set_content("Første del av brevet")
    mail.add_attachment("Andre del av brevet", disposition="inline")
    source = _store(tmp_path, mail)
    task = bench.task(source, "pdfa-2b")
    product, _ = bench.copy(MAIL, task)
    _assert_shown(product.path, "Første del av brevet", "Andre del av brevet")
    half = draw_pdf(tmp_path / "half.pdf", ["Søknad om påbygg – Ærøya Åse Øvrebø Første del av brevet"])
    verdict = WordsGate(words_of).check(task, Product(half, "t", "1"))
    assert isinstance(verdict, Failure) and verdict.reason is Reason.TEXT_MISSING


def test_words_of_a_mail_are_those_a_reader_sees(tmp_path: Path) -> None:
    mail = _mail("Emneord")
    mail.set_content("enkelt")
    mail.add_alternative("<html><style>stil</style><body>rikt<b>holdig</b></body></html>", subtype="html")
    mail.add_attachment("vedlagt", filename="v.txt")
    words = words_of(_store(tmp_path, mail), Identity("fmt/278", "message/rfc822", "eml", "signature"))
    assert words is not None and {"emneord", "åse", "postmottak", "riktholdig"} <= set(words)
    assert not {"stil", "vedlagt"} & set(words)
    assert "enkelt" in words  # which the other form does not say


@pytest.mark.parametrize(
    ("markup", "clean"),
    [
        ("<p onclick=x()>a<script>b</script>c</p>", "<p>ac</p>"),
        ("</div></table></html>x<b>y", "x<b>y</b>"),
        ('<a href="javascript:x()">a</a>', "<a>a</a>"),
        ('<p style="display:none;color:red">a</p>', '<p style="color:red">a</p>'),
        ('<p style="color:url(http://x)">a</p>', "<p>a</p>"),
        ("<font style='font-size:0'>a</font>", "<font>a</font>"),
        ("1 < 2 &amp; <!-- c -->3", "1 &lt; 2 &amp; 3"),
        ("<title>t</title><svg><text>s</text></svg>a", "a"),
    ],
)
def test_a_strangers_html_stays_in_its_place(markup: str, clean: str) -> None:
    assert clean_markup(markup, {}) == clean


def test_a_form_of_a_mail_that_says_something_else_is_shown_too(tmp_path: Path, bench: Workbench) -> None:
    mail = _mail()
    mail.set_content("Beløpet er 4700 kroner.\nSe https://kommune.example/sak for mer.")
    mail.add_alternative(
        "<p>Beløpet er <b>7400</b> kroner.</p><p>Se <a href='#'>saken</a> for mer.</p>", subtype="html"
    )
    product, _ = bench.copy(MAIL, bench.task(_store(tmp_path, mail), "pdfa-2b"))
    _assert_shown(product.path, "Beløpet er 7400 kroner.", "Beløpet er 4700 kroner.")


def test_a_form_of_a_mail_that_says_the_same_is_shown_once(tmp_path: Path, bench: Workbench) -> None:
    mail = _mail()
    mail.set_content("Beløpet er 4700 kroner.\nSe <https://kommune.example/sak> for mer. [cid:logo.png]")
    mail.add_alternative("<p>Beløpet er 4700 kroner.</p><p>Se <a href='#'>her</a> for mer.</p>", subtype="html")
    product, _ = bench.copy(MAIL, bench.task(_store(tmp_path, mail), "pdfa-2b"))
    text = text_by_poppler(product.path)
    assert text is None or text.count("4700") == 1


@pytest.mark.parametrize("subtype", ["calendar", "plain"])
def test_a_mail_that_is_one_text_of_any_kind_is_shown(subtype: str, tmp_path: Path, bench: Workbench) -> None:
    mail = _mail()
    mail.set_content("BEGIN:VCALENDAR\nSUMMARY:Befaring på Ærøya\nEND:VCALENDAR\n", subtype=subtype)
    product, _ = bench.copy(MAIL, bench.task(_store(tmp_path, mail), "pdfa-2b"))
    _assert_shown(product.path, "Befaring på Ærøya")
    words = mail_words(tmp_path / "brev.eml")
    assert words is not None and words["befaring"] == 1


def test_a_copy_that_lacks_a_form_that_says_something_else_is_no_copy(tmp_path: Path) -> None:
    mail = _mail()
    mail.set_content("Beløpet er 4700 kroner.")
    mail.add_alternative("<p>Beløpet er 7400 kroner.</p>", subtype="html")
    words = mail_words(_store(tmp_path, mail))
    assert words is not None
    assert (words["4700"], words["7400"]) == (1, 1)


def test_a_mail_that_is_nothing_but_a_file_has_a_document() -> None:
    content = _mail().as_bytes() + b"Content-Type: application/pdf\nContent-Transfer-Encoding: base64\n\nJVBERi0=\n"
    content = content.replace(b"\n\nContent-Type", b"\nContent-Type")
    assert [(part.media_type, part.payload) for part in read_mail(content).attachments] == [
        ("application/pdf", b"%PDF-")
    ]
