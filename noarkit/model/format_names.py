"""Names of formats for people, and the marks of an original and its archival copy in lists."""

from __future__ import annotations

from noarkit.model.formats import classify_format
from noarkit.words.texts import Texts, plain


def format_name(words: Texts, puid: str, suffix: str = "", media_type: str = "") -> str:
    """What people call a format; what its name or media type says where nobody wrote that; empty where nothing does."""
    if words.has("format_names", puid):
        return words.text("format_names", puid)
    name = classify_format(puid or None, suffix, media_type or None).name
    return "" if name == "?" else usual_name(words, name)


def usual_name(words: Texts, name: str) -> str:
    """The usual name of a format in a language; most are the same in all."""
    return words.text("format_names", name) if words.has("format_names", name) else plain(name)


def role_mark(words: Texts, role: str, puid: str) -> str:
    """How lists mark an archival copy and one for access, with the format, and the original of one; empty for any other
    document."""
    if not role:
        return ""
    return words.say(f"browse.mark.{role}", format=format_name(words, puid) if puid else None)
