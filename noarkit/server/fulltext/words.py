"""Parses the text of a search query into FTS5 expressions; any text is a valid query.

All words must be found, in any field and in any order. "Quotes" keep words together; a star at the end of a word stands
for any ending; OR between two words asks for either. A blank query, or a single star, asks for everything.

    water OR pipe "old town"*  ->  ['"water" OR "pipe"', '"old town"*']
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
    groups: list[list[str]] = []
    is_alternative = False
    for match in _ITEM.finditer(unicodedata.normalize("NFC", text)):
        if match[3] == "OR" and groups:
            is_alternative = True
            continue
        term = _term(match)
        if term and is_alternative:
            groups[-1].append(term)
        elif term:
            groups.append([term])
        is_alternative = False
    if sum(map(len, groups)) > _MAX_WORDS:
        raise Refusal(400, f"query has more than {_MAX_WORDS} words.")
    return [" OR ".join(alternatives) for alternatives in groups]


def _term(match: re.Match[str]) -> str:
    words, star = (match[1], match[2]) if match[3] is None else (match[3].rstrip("*"), match[3][-1:])
    words = words.replace("\x00", " ")
    if not any(character.isalnum() for character in words):
        return ""
    return f'"{words}"*' if star == "*" else f'"{words}"'
