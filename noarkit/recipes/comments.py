"""The comments of a recipe that noarkit proposes, in the language of whoever asked for it.

A template says where one stands by a line of its own, `#: KEY`; the sentences are in the words (`[recipe_comments]`).
"""

from __future__ import annotations

import re

from noarkit.words.texts import texts

_PLACE = re.compile(r"^#: ([a-z-]+)$", re.MULTILINE)


def comment(lang: str, key: str, **data: object) -> str:
    """A comment without its signs, filled with data; it may have several lines."""
    words = texts(lang)
    return words.fill(words.forms("recipe_comments", key), data)


def with_comments(template: str, lang: str, **data: object) -> str:
    """The template with its comments, filled with data."""
    return _PLACE.sub(lambda match: as_comment(comment(lang, match[1], **data)), template)


def as_comment(text: str) -> str:
    """Text as lines of a comment.

    >>> as_comment("one\\n\\ntwo")
    '# one\\n#\\n# two'
    """
    return "\n".join(f"# {line}".rstrip() for line in text.split("\n"))
