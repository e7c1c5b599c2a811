"""Texts in the encodings of four decades, mails in several forms, pictures of several pages."""

from __future__ import annotations

import importlib
import io
from email.message import EmailMessage
from email.policy import SMTP

from PIL import Image

from scripts.copies_corpus.kind import NO_FONT, Kind, Write
from scripts.copies_corpus.letters import Letter
from tests.copies.corpus import images, ordinary
from tests.copies.corpus.mail import mail

_DOUBTFUL = ("encoding-doubtful",)
_INVITED = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nSUMMARY:Befaring på tomten\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)


def _in(encoding: str, before: bytes = b"") -> Write:
    return lambda letter: before + letter.text.replace("–", "-").encode(encoding, "replace")


def _mixed(letter: Letter) -> bytes:
    """Two texts in one file, each in an encoding of its own."""
    return letter.text.encode("cp1252") + b"\r\n" + "Ærøya, Ås og Åmot".encode()


def _written_twice(letter: Letter) -> bytes:
    return letter.text.encode().decode("cp1252", "replace").encode()


def _calendar(letter: Letter) -> bytes:
    """A mail that is an invitation and nothing else."""
    message = EmailMessage(policy=SMTP)
    message["From"], message["To"] = "kari@kommune.example", "ola@kommune.example"
    message["Subject"], message["Date"] = letter.subject, "Fri, 02 Jan 2026 10:00:00 +0100"
    message.set_content(_INVITED, subtype="calendar")
    return message.as_bytes()


def _two_forms(html: str) -> Write:
    return lambda letter: mail(letter.subject, letter.text, html=html or _page(letter), number=letter.number)


def _page(letter: Letter) -> str:
    return "".join(f"<p>{line}</p>" for line in letter.text.splitlines())


def _pages(letter: Letter) -> bytes:
    result = io.BytesIO()
    first, *others = (images.drawn("1", shade=shade, size=200) for shade in (letter.number % 250, 40, 80))
    first.save(result, format="TIFF", save_all=True, append_images=others, compression="group4")
    return result.getvalue()


def _cut(content: bytes) -> bytes:
    return content[: len(content) * 2 // 3]


def _from_phone(letter: Letter) -> bytes:
    importlib.import_module("pillow_heif").register_heif_opener()
    return images.encoded("HEIF", shade=letter.number % 250, quality=-1)


def _drawing(letter: Letter, before: str = "") -> bytes:
    return f"{before}{ordinary.DRAWING}".replace("tomten", letter.writer).encode()


def _foreign(letter: Letter) -> bytes:
    inner = f'<p xmlns="http://www.w3.org/1999/xhtml">{letter.writer}</p>'
    return (
        '<?xml version="1.0" encoding="UTF-8"?><svg xmlns="http://www.w3.org/2000/svg" width="300" height="90">'
        f'<path d="M5 5h40v30z"/><foreignObject width="200" height="60">{inner}</foreignObject></svg>'
    ).encode()


def _colours(letter: Letter) -> bytes:
    result = io.BytesIO()
    frames = [Image.new("RGB", (60, 40), colour) for colour in ("black", "white", (letter.number % 250, 9, 9))]
    frames[0].save(result, "GIF", save_all=True, append_images=frames[1:], duration=100)
    return result.getvalue()


KINDS: tuple[Kind, ...] = (
    Kind("koding-utf8", "txt", _in("utf-8"), "kept", count=4, is_ordinary=True),
    Kind("koding-cp1252", "txt", _in("cp1252"), "made", "", "text", 4, is_ordinary=True),
    Kind("koding-latin1", "txt", _in("latin-1"), "made", "", "text", 4, is_ordinary=True),
    Kind("koding-utf16", "txt", _in("utf-16"), "made", "", "text", 4),
    Kind("koding-utf16-umerket", "txt", _in("utf-16-le"), "failed", "unknown-format", "", 4, twin="koding-utf16.txt"),
    Kind("koding-cp865", "txt", _in("cp865"), "held", "held", "text", 4, held=_DOUBTFUL, twin="koding-cp1252.txt"),
    Kind("koding-cp850", "txt", _in("cp850"), "held", "held", "text", 4, held=_DOUBTFUL, twin="koding-cp1252.txt"),
    Kind("koding-mac", "txt", _in("mac-roman"), "held", "held", "text", 4, held=_DOUBTFUL, twin="koding-cp1252.txt"),
    Kind("koding-blandet", "txt", _mixed, "held", "held", "text", 4, held=("encoded-twice",), twin="koding-cp1252.txt"),
    Kind(
        "koding-dobbelt",
        "txt",
        _written_twice,
        "held",
        "held",
        "text",
        4,
        held=("encoded-twice",),
        twin="koding-utf8.txt",
    ),
    Kind("epost-kalender", "eml", _calendar, "made", "", "mail", 4, is_ordinary=True),
    Kind("epost-to-former", "eml", _two_forms(""), "made", "", "mail", 4, is_ordinary=True),
    Kind(
        "epost-ulike-former", "eml", _two_forms("<p>Se vedlagte vedtak om skjenkebevilling</p>"), "made", "", "mail", 4
    ),
    Kind(
        *(
            "epost-tegn",
            "eml",
            lambda x: mail(x.subject, f"{x.text} 👍", number=x.number),
            "failed",
            "not-valid",
            "mail",
            4,
        ),
        is_ordinary=True,
        needs=f"{NO_FONT}1f44d",
    ),
    Kind("sider", "tif", _pages, "kept", count=4, is_ordinary=True),
    Kind("sider-kuttet", "tif", lambda x: _cut(_pages(x)), "failed", "cut-off", count=4, twin="sider.tif"),
    Kind("telefon", "heic", _from_phone, "made", "", "image", 4, is_ordinary=True, needs="pillow_heif"),
    Kind("uten-linje", "svg", _drawing, "made", "", "page", 4),
    Kind("merknad-foran", "svg", lambda x: _drawing(x, "<!-- tegnet på kontoret -->\n"), "made", "", "page", 4),
    Kind("side-i-tegning", "svg", _foreign, "failed", "text-missing", "page", 4, twin="tegning.svg"),
    Kind("bevegelse", "gif", lambda _: images.frames("GIF"), "made", "", "image-pdf", 1),
    Kind("ensfarget", "gif", _colours, "made", "", "image-pdf", 4),
)
