"""The text of a mail: who wrote to whom, the subject, what is written, and the text of what is attached."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO

from noarkit.copies.inspection.mail_words import texts_of_mail
from noarkit.documents.layers import TextLine
from noarkit.documents.mail import Mail, read_mail
from noarkit.documents.outlook import SIGNATURE, read_message

DEEPEST = 10
"""How far mails that are attached to mails are followed."""
_MOST_ATTACHMENTS = 200

ReadAttachment = Callable[[bytes, str, str, int], Iterator[str | TextLine]]
"""The text of an attachment by its bytes, its name, its media type and how deep it lies; none where it has none."""


def mail_text(
    content: bytes, depth: int, read_attachment: ReadAttachment, note_gap: Callable[[], None]
) -> Iterator[str | TextLine]:
    """The pieces of text in a mail, or an Outlook message, in their order; `note_gap` hears of attachments beyond what
    is read."""
    mail = _read(content)
    date = mail.fields.get("date") or mail.fields.get("sent")
    if date:
        yield f"{date}\n"
    for text in texts_of_mail(content) or ():
        yield text + "\n"
    if len(mail.attachments) > _MOST_ATTACHMENTS or (mail.attachments and depth >= DEEPEST):
        note_gap()
    for attachment in mail.attachments[:_MOST_ATTACHMENTS]:
        yield f"{attachment.name}\n"
        if depth < DEEPEST:
            yield from read_attachment(attachment.payload, attachment.name, attachment.media_type, depth + 1)
            yield "\n"


def _read(content: bytes) -> Mail:
    return read_message(BytesIO(content), include_parts=True) if content.startswith(SIGNATURE) else read_mail(content)
