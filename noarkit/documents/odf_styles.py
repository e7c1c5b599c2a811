"""What the styles of an OpenDocument say of text: the level of a heading, the master page, and whether it is hidden.

A style without a word on hiding is as the one that it is based on. Both members have automatic styles, and may call
them the same: the styles of a member are taken before its text.
"""

from __future__ import annotations

import re
from typing import Any  # Any: elements of lxml

_NS = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
_TEXT, _STYLE = (_NS % name for name in ("text", "style"))
_DISPLAY = f"{_TEXT}display"
_HEADING = re.compile(r"Heading_20_([1-9])")
STYLE_TAGS = frozenset({f"{_STYLE}style", f"{_STYLE}default-style", f"{_STYLE}text-properties"})
"""The elements that say anything of a style."""
_Key = tuple[str, str]
"""The family of a style and its name; the name of what holds by default is empty."""


class OdfStyles:
    """The styles that were seen so far."""

    def __init__(self) -> None:
        self.headings: dict[str, int] = {}
        self.masters: dict[str, str] = {}
        """The master page that a style begins."""
        self._parents: dict[_Key, str] = {}
        self._hides: dict[_Key, bool] = {}

    def take(self, element: Any) -> None:
        """One of `STYLE_TAGS` begins."""
        if element.tag == f"{_STYLE}style":
            self._take_style(element)
        elif element.tag == f"{_STYLE}text-properties" and element.get(_DISPLAY) is not None:
            self._hides[_key(element.getparent())] = is_hidden(element)

    def hides(self, family: str, name: str | None) -> bool:
        """Whether a style hides its text, or the nearest that it is based on."""
        seen: set[str] = set()
        while name and name not in seen:
            if (family, name) in self._hides:
                return self._hides[family, name]
            seen.add(name)
            name = self._parents.get((family, name), "")
        return self._hides.get((family, ""), False)

    def _take_style(self, element: Any) -> None:
        key = _key(element)
        self._hides.pop(key, None)  # what one of the same name in the other member said
        self._parents[key] = parent = element.get(f"{_STYLE}parent-style-name", "")
        if (match := _HEADING.match(parent)) is not None:
            self.headings[key[1]] = min(6, int(match[1]))
        if master := element.get(f"{_STYLE}master-page-name"):
            self.masters[key[1]] = master


def is_hidden(element: Any) -> bool:
    """Whether an element says of itself that its text is not shown."""
    return bool(element.get(_DISPLAY) == "none")


def _key(style: Any) -> _Key:
    return style.get(f"{_STYLE}family", ""), style.get(f"{_STYLE}name", "")
