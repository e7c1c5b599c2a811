"""An email put together again from what the service tells of it: an .eml that says so, and never claims to be the
original message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, formataddr

MARK = "X-Reconstructed"


def letter(email: Mapping[str, object]) -> bytes:
    """The message. Its attachments are documents of their own and stand by name only."""
    made = EmailMessage(policy=SMTP.clone(max_line_length=200))
    made[MARK] = "from the fields of a service, not the original message"
    made["Subject"] = plain(email.get("subject"))
    made["Message-ID"] = f"<{plain(email.get('message_id'))}@reconstructed.invalid>"
    for name in ("from", "to", "cc"):
        shown = [address(one) for one in people(email.get(name))]
        if shown:
            made[name.capitalize()] = ", ".join(shown)
    when = moment(email)
    if when is not None:
        made["Date"] = format_datetime(when)
    for enclosure in enclosures(email):
        made["X-Attachment"] = f"{plain(enclosure.get('name'))} ({plain(enclosure.get('size'))} bytes)"
    content = str(email.get("content") or "")
    kind = "html" if str(email.get("mail_format") or "").casefold() == "html" else "plain"
    # base64 keeps every sign as it was, whatever its lines are like
    made.set_content(content.encode("utf-8", "backslashreplace").decode("utf-8"), subtype=kind, cte="base64")
    return made.as_bytes()


def moment(email: Mapping[str, object]) -> datetime | None:
    """When it was sent."""
    for name in ("sent_time", "time"):
        value = email.get(name)
        if isinstance(value, str):
            try:
                return datetime.fromisoformat(value.replace("Z", "+00:00"))
            except ValueError:
                continue
    return None


def people(value: object) -> Sequence[Mapping[str, object]]:
    """One or several correspondents."""
    found = value if isinstance(value, list) else [value]
    return [one for one in found if isinstance(one, Mapping)]


def enclosures(email: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
    """What hangs on it."""
    found = email.get("attachments")
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def address(person: Mapping[str, object]) -> str:
    """A correspondent as headers have it."""
    name, at = plain(person.get("user_name")), plain(person.get("email"))
    try:
        return formataddr((name, at), "utf-8") if at.isascii() else f"{name} <{at.encode('punycode').decode()}>"
    except (ValueError, UnicodeError):
        return f"<{at.encode('ascii', 'replace').decode()}>"


def plain(value: object) -> str:
    """A value on one line."""
    text = "" if value is None else str(value)
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
