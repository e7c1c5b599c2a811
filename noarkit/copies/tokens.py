"""The words of a text, cut the same way in a document and in its copy, so that the two can be compared.

Letters and digits make words; ligatures, widths and soft hyphens make no difference. Characters that say that something
was lost (U+FFFD) and characters without a meaning of their own (private use) are kept: both are looked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

LOST = "\ufffd"
PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010fffd]")

_WORD = re.compile("[\\w\ufffd\ue000-\uf8ff\U000f0000-\U0010fffd]+")
# soft hyphen, zero-width spaces and joiners, byte order mark, and what Word writes for its own marks
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff\x02\x03]")
# ticks that one reader of a form writes out and another draws
_TICKS = re.compile("[\u25cf\u2610-\u2612\u2713-\u2718]|\\s")


def spaceless(text: str) -> str:
    """The characters of a text without its spaces: where a word ends, two makers of a page may not agree."""
    return _TICKS.sub("", _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)))


def letters(text: str) -> Counter[str]:
    """How often each character but a space is in a text."""
    return Counter(spaceless(text))


def tokens(text: str) -> Iterator[str]:
    """The words of a text in their order, in small letters."""
    clean_text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold()
    return (match[0] for match in _WORD.finditer(clean_text))
