"""Mails with and without attachments, pictures and pages that would fetch something."""

from __future__ import annotations

from email.message import EmailMessage
from email.policy import SMTP


def mail(
    subject: str,
    text: str,
    *,
    html: str = "",
    attachments: tuple[tuple[str, str, bytes], ...] = (),
    number: int = 1,
) -> bytes:
    """A mail; an attachment is its name, its media type and its bytes. The same call gives the same bytes."""
    message = EmailMessage(policy=SMTP)
    message["From"] = "Kari Nordmann <kari@kommune.example>"
    message["To"] = "Ola Nordmann <ola@kommune.example>"
    message["Subject"] = subject
    message["Date"] = "Fri, 02 Jan 2026 10:00:00 +0100"
    message["Message-ID"] = f"<{number}@kommune.example>"
    message.set_content(text)
    if html:
        message.add_alternative(html, subtype="html")
    for name, media_type, content in attachments:
        main, _, sub = media_type.partition("/")
        message.add_attachment(content, maintype=main, subtype=sub, filename=name)
    if message.is_multipart():
        for count, part in enumerate(part for part in message.walk() if part.is_multipart()):
            part.set_boundary(f"=_grense_{number}_{count}")
    return message.as_bytes()
