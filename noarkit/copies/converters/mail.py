"""The converter of mails: the head as a table, the body as it was sent, what is attached as a list with checksums.

What is attached stays a document of its own in the source, and within the original. Its SHA-256 says which it is.
"""

from __future__ import annotations

import base64
import email
import email.policy
import hashlib
import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from email.message import EmailMessage, Message
from functools import partial
from io import BytesIO

from noarkit.copies.converters.library import LibraryConverter
from noarkit.copies.converters.markup_cleaning import clean_markup
from noarkit.copies.converters.page_writer import write_pages
from noarkit.copies.port import Failure, Finding, Outcome, Task
from noarkit.copies.reasons import Reason
from noarkit.documents.mail import Attachment, Mail, moments_of, read_mail, zone_text
from noarkit.documents.mail_text import says_more
from noarkit.documents.markup import text_of_markup
from noarkit.documents.outlook import SIGNATURE, read_message, read_message_body
from noarkit.words.texts import texts

_MOST_BYTES = 256 * 1024 * 1024
_SHOWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"})
_TEXTS = frozenset({"text/plain", "text/html"})
_DATES = ("date", "received")
_SIZE = ' class="size"'
_STYLE = """
body { font: 10.5pt sans-serif }
table.noarkit-head { border-collapse: collapse; border-bottom: 1pt solid #888; width: 100%; margin-bottom: 5mm }
table.noarkit-head th { text-align: left; vertical-align: top; padding: 1pt 8pt 1pt 0; white-space: nowrap }
table.noarkit-files { border-collapse: collapse; margin-top: 8mm; border-top: 1pt solid #888; width: 100% }
table.noarkit-files .size { white-space: nowrap; text-align: right }
table.noarkit-files td, table.noarkit-files th { font-size: 8pt; text-align: left; padding: 1pt 8pt 1pt 0 }
"""


@dataclass(frozen=True, slots=True)
class MailBody:
    """What a mail says: passages in their order, each HTML or plain, and pictures within it by content id."""

    passages: tuple[tuple[str, bool], ...] = ()
    """Text, and True where it is HTML."""
    pictures: Mapping[str, str] = field(default_factory=dict)
    replaced: bool = False
    """True where bytes could not be read in the encoding that they claim."""


def make_mail(task: Task) -> Outcome:
    """A PDF/A of one mail, of the internet or of Outlook."""
    if task.source.stat().st_size > _MOST_BYTES:
        return Failure(Reason.TOO_LARGE, {"bytes": task.source.stat().st_size, "limit": _MOST_BYTES})
    content = task.source.read_bytes()
    if content.startswith(SIGNATURE):
        message = read_message(BytesIO(content), include_parts=True)
        said = read_message_body(BytesIO(content))
        if said is None:
            return Failure(Reason.DAMAGED)
        if said.has_rich and not (said.text or said.markup):
            return Failure(Reason.CONTENT_REFUSED, {"why": "rtf-body"})
        passages = [(said.markup or said.text, bool(said.markup))]
        if said.markup and _says_more((said.text, False), passages):
            passages.append((said.text, False))
        body = MailBody(tuple(passages), _pictures_of(message))
    else:
        message = read_mail(content)
        body = body_of(content)
        message = replace(message, fields={**message.fields, **dict.fromkeys(_DATES), **moments_of(content)})
    if not message.is_mail:
        return Failure(Reason.DAMAGED)
    if message.too_complex:
        return Failure(Reason.CONTENT_REFUSED, {"why": "parts"})
    if body.replaced:
        return Failure(Reason.CONTENT_REFUSED, {"why": "no-encoding"})
    language = str(task.rule.options.get("language", "nb"))
    count = len(message.attachments) + message.within
    findings = (Finding("attachments", {"count": count}),) if count else ()
    return write_pages(task, mail_page(message, body, language), style=_STYLE, findings=findings)


def body_of(content: bytes) -> MailBody:
    """The body of a mail of the internet: of alternatives the richest that can be shown, and what is not attached."""
    message = email.message_from_bytes(content, policy=email.policy.default)
    passages: list[tuple[str, bool]] = []
    pictures: dict[str, str] = {}
    replaced = False
    is_one_text = message.get_content_maintype() == "text" and not message.get_filename()
    for part, is_other_form in [(message, False)] if is_one_text else _inline_parts(message):
        text = _text(part)
        replaced |= text is None
        form = (text or "", part.get_content_type() == "text/html")
        if not is_other_form or _says_more(form, passages):
            passages.append(form)
    for part in message.walk():
        name = str(part.get("content-id", "")).strip().strip("<>").lower()
        data = part.get_payload(decode=True) if name and part.get_content_type() in _SHOWN else None
        if isinstance(data, bytes):
            pictures[name] = data_address(part.get_content_type(), data)
    return MailBody(tuple(passages), pictures, replaced)


def _says_more(form: tuple[str, bool], passages: Sequence[tuple[str, bool]]) -> bool:
    """True where another form of a mail says what is not shown yet."""
    return says_more(_words_of_form(*form), "\n".join(_words_of_form(*passage) for passage in passages))


def _words_of_form(text: str, is_markup: bool) -> str:
    return text_of_markup(text) if is_markup else text


def _inline_parts(part: Message) -> Iterator[tuple[Message, bool]]:
    """What a mail says, in its order, and behind each passage the other forms of it, which are told as such."""
    kind = part.get_content_type()
    if kind == "message/rfc822" or not isinstance(part, EmailMessage):
        return
    if not part.is_multipart():
        is_attached = part.get_content_disposition() == "attachment" or part.get_filename()
        if kind in _TEXTS and not is_attached:
            yield part, False
        return
    choices = [list(_inline_parts(inner)) for inner in part.iter_parts()]
    if kind == "multipart/alternative":  # the richest is the last
        richest, *poorer = [choice for choice in reversed(choices) if choice] or [[]]
        yield from richest
        yield from ((inner, True) for choice in poorer for inner, _ in choice)
        return
    yield from (inner for choice in choices for inner in choice)


def _text(part: Message) -> str | None:
    """The text of a part in the encoding that it claims; None where that is not what it is in."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return None
    claimed = part.get_content_charset() or "utf-8"
    # what claims to be ASCII or Latin 1 is written by Windows as often as not
    choices: tuple[str, ...] = (claimed, "utf-8", "cp1252")
    if claimed in ("us-ascii", "ascii"):
        choices = ("utf-8", "cp1252")
    elif claimed in ("iso-8859-1", "latin-1"):
        choices = ("cp1252",)
    for encoding in choices:
        try:
            return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return None


def _pictures_of(message: Mail) -> Mapping[str, str]:
    """The attached pictures of a message of Outlook, by the name that its HTML knows them under as a rule."""
    return {
        attachment.name.lower(): data_address(attachment.media_type, attachment.payload)
        for attachment in message.attachments
        if attachment.media_type in _SHOWN
    }


def data_address(media_type: str, payload: bytes) -> str:
    """Bytes as an address that holds them."""
    return f"data:{media_type};base64,{base64.b64encode(payload).decode('ascii')}"


def mail_page(message: Mail, body: MailBody, language: str) -> str:
    """A mail as a page in HTML."""
    words = partial(texts(language).text, "copies_page")
    fields = message.fields
    rows = [
        (words(name), _parties(fields.get(name)))
        for name in ("from", "to", "cc", "bcc", "reply_to")
        if fields.get(name)
    ]
    rows += [(words(name), spoken_moment(fields[name], language)) for name in _DATES if fields.get(name)]
    rows.append((words("subject"), str(fields.get("subject", ""))))
    head = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>" for name, text in rows)
    shown = "".join(_passage(text, is_markup, body.pictures) for text, is_markup in body.passages)
    title = html.escape(str(fields.get("subject", "")) or words("mail"))
    return (
        f'<!DOCTYPE html><html lang="{language}"><head><title>{title}</title></head><body>'
        f'<table class="noarkit-head">{head}</table><div>{shown}</div>'
        f"{_files(message.attachments, message.within, language)}</body></html>"
    )


def spoken_moment(value: object, language: str) -> str:
    """A moment as people write it, with the distance of its zone from UTC: 12 March 2020 09:12 +01:00."""
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    month = texts(language).text("copies_page", "months").split()[moment.month - 1]
    day = f"{moment.day}." if language == "nb" else f"{moment.day}"
    return f"{day} {month} {moment.year} {moment:%H:%M} {zone_text(moment)}"


def _passage(text: str, is_markup: bool, pictures: Mapping[str, str]) -> str:
    clean_text = text.replace("\0", "")
    return f"<div>{clean_markup(clean_text, pictures)}</div>" if is_markup else f"<pre>{html.escape(clean_text)}</pre>"


def _parties(value: object) -> str:
    parties = value if isinstance(value, list) else []
    return ", ".join(
        f"{party['name']} <{party['address']}>" if party["name"] not in ("", party["address"]) else party["address"]
        for party in parties
    )


def _files(attachments: Sequence[Attachment], within: int, language: str) -> str:
    if not attachments and not within:
        return ""
    words = partial(texts(language).text, "copies_page")
    names = ("file", "media_type", "bytes", "sha256")
    head = "".join(f"<th{_SIZE if name == 'bytes' else ''}>{html.escape(words(name))}</th>" for name in names)
    body = "".join(
        f"<tr><td>{html.escape(attachment.name)}</td><td>{html.escape(attachment.media_type)}</td>"
        f"<td{_SIZE}>{len(attachment.payload)}</td><td>{_digest(attachment.payload)}</td></tr>"
        for attachment in attachments
    )
    more = f"<p>{html.escape(words('within'))}: {within}</p>" if within else ""
    return f'<table class="noarkit-files"><tr>{head}</tr>{body}</table>{more}'


def _digest(payload: bytes) -> str:
    return hashlib.sha256(payload).hexdigest()


MAIL = LibraryConverter("mail", ("weasyprint", "pikepdf"), make_mail, revision=3, options=("language",))
