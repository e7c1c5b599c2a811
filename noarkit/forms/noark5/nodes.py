"""Elements as plain values: a node holds, by name, the texts and nodes that stand under that name, in their order.

Names stand without their namespace. An element without text is none; comments and instructions are passed by.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from lxml import etree

Value: TypeAlias = "str | Node | None"
Node: TypeAlias = "dict[str, list[Value]]"


class LocalNames(dict[object, str]):
    """The local name of each tag met so far; empty for comments and for the tags that are to be passed by."""

    def __init__(self, passed_by: frozenset[str] = frozenset()) -> None:
        super().__init__()
        self._passed_by = passed_by

    def __missing__(self, tag: object) -> str:
        local = tag.rpartition("}")[2] if isinstance(tag, str) and tag not in self._passed_by else ""
        self[tag] = local
        return local


def to_node(element: etree._Element, names: LocalNames) -> Node:
    """What stands under an element, whole."""
    node: Node = {}
    for child in element:
        name = names[child.tag]
        if not name:
            continue
        value: Value = to_node(child, names) if len(child) else child.text
        if name in node:
            node[name].append(value)
        else:
            node[name] = [value]
    return node


def text(node: Node, name: str) -> str | None:
    """The text of the first element of a name that has one, without blanks at its ends; None if there is none."""
    for value in node.get(name, ()):
        if isinstance(value, str) and (stripped := value.strip()):
            return stripped
    return None


def exact_texts(node: Node, name: str) -> list[str]:
    """The texts of all elements of a name as they stand; what is only the layout of the document is none."""
    return [
        value
        for value in node.get(name, ())
        if isinstance(value, str) and value and (not value.isspace() or "\n" not in value)
    ]


def texts(node: Node, name: str) -> list[str]:
    """The texts of all elements of a name."""
    return [stripped for value in node.get(name, ()) if isinstance(value, str) and (stripped := value.strip())]


def nodes(node: Node, name: str) -> Iterator[Node]:
    """The elements of a name that hold elements."""
    for value in node.get(name, ()):
        if isinstance(value, dict):
            yield value
