"""Business-specific metadata of an extract as groups of fields: an element that holds elements is a group, what stands
in it are fields.

Ids of groups and fields are made of the elements' names; a field id that another group has is preceded by its group.
The kinds of fields are those of the package's own schemas where they say so, else text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from noarkit.packages.noark5.nodes import Node

Kind = Literal["string", "long", "double", "timestamp", "boolean"]
_NOT_ID = re.compile(r"[^a-z0-9]+")
_LOOSE_GROUP = "metadata"


class BusinessFields:
    """Remembers which groups and fields were met: `groups`, `{group id: {field id: kind}}`."""

    def __init__(self, kinds: Mapping[str, Kind] | None = None) -> None:
        self.groups: dict[str, dict[str, Kind]] = {}
        self._kinds = kinds or {}
        self._owner: dict[str, str] = {}

    def read(self, found: Iterable[Node]) -> dict[str, object]:
        """The groups of one object in the form of a save; empty where nothing is said."""
        whole: dict[str, dict[str, dict[str, list[str]]]] = {}
        for node in found:
            for group, name, value in _leaves(node):
                field = self._field(group, name)
                whole.setdefault(group, {}).setdefault(field, {"values": []})["values"].append(value)
        return dict(whole)

    def _field(self, group: str, name: str) -> str:
        field = element_id(name)
        if self._owner.setdefault(field, group) != group:
            field = f"{group}-{field}"
        self.groups.setdefault(group, {}).setdefault(field, self._kinds.get(name, "string"))
        return field


def element_id(name: str) -> str:
    """The id of an element's name: lower-case letters, digits and dashes, first a letter."""
    folded = name.lower().replace("æ", "ae").replace("ø", "oe").replace("å", "aa")
    plain = _NOT_ID.sub("-", unicodedata.normalize("NFKD", folded).encode("ascii", "ignore").decode()).strip("-")
    return plain if plain[:1].isalpha() else f"x-{plain}".strip("-")


def _leaves(node: Node) -> Iterator[tuple[str, str, str]]:
    for name, held in node.items():
        for value in held:
            if isinstance(value, dict):
                yield from ((element_id(name), path, text) for path, text in _texts(value, ""))
            elif value is not None and value.strip():
                yield _LOOSE_GROUP, name, value.strip()


def _texts(node: Node, above: str) -> Iterator[tuple[str, str]]:
    for name, held in node.items():
        path = f"{above}-{name}" if above else name
        for value in held:
            if isinstance(value, dict):
                yield from _texts(value, path)
            elif value is not None and value.strip():
                yield path, value.strip()
