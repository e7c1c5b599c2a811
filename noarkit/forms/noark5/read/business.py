"""Business-specific metadata of an extract as groups of fields: an element that holds elements is a group, what stands
in it are fields.

Ids of groups and fields are made of the elements' names; a field id that another group has is preceded by its group.
What our own schema in the package declares has the names and kinds that it says; all else is text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from noarkit.forms.noark5.nodes import Node
from noarkit.forms.noark5.schemas import VsmGroup
from noarkit.forms.noark5.write import unmapped

_NOT_ID = re.compile(r"[^a-z0-9]+")
_LOOSE_GROUP = "metadata"


class BusinessFields:
    """Remembers which groups and fields are declared or were met: `groups`, `{group id: {field id: kind}}`.

    `names` are those that were declared: of a group by its id, of a field by `group/field`.
    """

    def __init__(self, vsm_groups: Iterable[VsmGroup] = ()) -> None:
        self.groups: dict[str, dict[str, str]] = {}
        self.names: dict[str, str] = {}
        self._owner: dict[str, str] = {}
        for group in vsm_groups:
            fields = self.groups.setdefault(group.id, {})
            self.names[group.id] = group.name
            for field in group.fields:
                fields[field.id] = field.kind
                self.names[f"{group.id}/{field.id}"] = field.name
                self._owner[field.id] = group.id

    def read(self, nodes: Iterable[Node]) -> dict[str, object]:
        """The groups of one object in the form of a save; empty if nothing is said."""
        groups: dict[str, dict[str, dict[str, list[str]]]] = {}
        for node in nodes:
            for group, name, value in _leaves(node):
                field = self._field(group, name)
                groups.setdefault(group, {}).setdefault(field, {"values": []})["values"].append(value)
        return dict(groups)

    def _field(self, group: str, name: str) -> str:
        field = element_id(name)
        if self._owner.setdefault(field, group) != group:
            field = f"{group}-{field}"
        self.groups.setdefault(group, {}).setdefault(field, "string")
        return field


def element_id(name: str) -> str:
    """The id of an element's name: lower-case letters, digits and dashes, first a letter."""
    folded = name.lower().replace("æ", "ae").replace("ø", "oe").replace("å", "aa")
    plain = _NOT_ID.sub("-", unicodedata.normalize("NFKD", folded).encode("ascii", "ignore").decode()).strip("-")
    return plain if plain[:1].isalpha() else f"x-{plain}".strip("-")


def _leaves(node: Node) -> Iterator[tuple[str, str, str]]:
    for name, values in node.items():
        if name == unmapped.MARK:
            continue  # fields of the archive itself
        for value in values:
            if isinstance(value, dict):
                yield from ((element_id(name), path, text) for path, text in _texts(value, ""))
            elif value is not None and value.strip():
                yield _LOOSE_GROUP, name, value


def _texts(node: Node, above: str) -> Iterator[tuple[str, str]]:
    for name, values in node.items():
        path = f"{above}-{name}" if above else name
        for value in values:
            if isinstance(value, dict):
                yield from _texts(value, path)
            elif value and (not value.isspace() or "\n" not in value):
                yield path, value
