"""What people type, as expressions of the index: any text is a question, and none is a fault.

Words must all be found, in any field and in any order. "Quotes" keep words together; a star at the end of a word stands
for any ending; OR between two words asks for either. A blank question, or a lone star, asks for everything.
"""

from __future__ import annotations

import re
import unicodedata

from noarkit.server.wire import Refusal

_MAX_WORDS = 64
_MAX_LENGTH = 4_000
_ITEM = re.compile(r'"([^"]*)"(\*?)|([^\s"]+)')


def expressions(text: str) -> list[str] | None:
    """One FTS5 expression for each thing that must be found; None where everything is asked for."""
    if len(text) > _MAX_LENGTH:
        raise Refusal(400, f"query is longer than {_MAX_LENGTH} characters.")
    if text.strip() in ("", "*"):
        return None
    found: list[list[str]] = []
    joined = False
    for match in _ITEM.finditer(unicodedata.normalize("NFC", text)):
        if match[3] == "OR" and found:
            joined = True
            continue
        term = _term(match)
        if term and joined:
            found[-1].append(term)
        elif term:
            found.append([term])
        joined = False
    if sum(map(len, found)) > _MAX_WORDS:
        raise Refusal(400, f"query has more than {_MAX_WORDS} words.")
    return [" OR ".join(terms) for terms in found]


def _term(match: re.Match[str]) -> str:
    words, star = (match[1], match[2]) if match[3] is None else (match[3].rstrip("*"), match[3][-1:])
    words = words.replace("\x00", " ")
    if not any(sign.isalnum() for sign in words):
        return ""
    return f'"{words}"*' if star == "*" else f'"{words}"'
