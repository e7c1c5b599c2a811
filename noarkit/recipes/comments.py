"""The comments of a recipe that noarkit proposes, in the language of whoever asked for it.

A template says where one stands by a line of its own, `#: KEY`; the sentences are in the words (`[recipe_comments]`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from noarkit.model.disclosure import mask_text
from noarkit.words.texts import texts

_MOST_NAMED = 5
"""So many of what somebody is asked about are named."""
_PLACE = re.compile(r"^#: ([a-z-]+)$", re.MULTILINE)


def comment(lang: str, key: str, **data: object) -> str:
    """A comment without its signs, filled with data; it may have several lines."""
    words = texts(lang)
    return words.fill(words.forms("recipe_comments", key), data)


def with_comments(template: str, lang: str, **data: object) -> str:
    """The template with its comments, filled with data."""
    return _PLACE.sub(lambda match: as_comment(comment(lang, match[1], **data)), template)


def first_names(names: Sequence[str]) -> dict[str, object]:
    """What a sentence says of many: the first by name, and how many more there are, if any.

    >>> first_names(["1", "2", "3", "4", "5", "6"])
    {'names': '1, 2, 3, 4, 5', 'more': 1}
    """
    shown = names[:_MOST_NAMED]
    return {"names": ", ".join(map(mask_text, shown)), "more": len(names) - len(shown) or None}


def as_comment(text: str) -> str:
    """Text as lines of a comment.

    >>> as_comment("one\\n\\ntwo")
    '# one\\n#\\n# two'
    """
    return "\n".join(f"# {line}".rstrip() for line in text.split("\n"))
