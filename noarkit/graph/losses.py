"""The losses of a plan: every value of a source that the archive has no field for, as the frozen notes tell it.

A note names its values as `losses`: (key of the object, path of the element, value, line). Those that business-specific
metadata keep are named as `carried` instead, and those that stand in a document that is kept whole as `in_document`:
neither are lost. A reference that leads to
nothing is one value too. What a record that is not loaded held is none of this: it is listed with that record.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

from noarkit.model.mapping import mapping
from noarkit.model.xml_model import xml_model

LINK_LEFT_OUT = "W234"
CARRIED = "W237"
IN_DOCUMENT = "W253"
_EXAMPLES = 3
_ROWS = (
    "SELECT n.code, coalesce(r.key, ''), n.data, e.key, e.type, e.line FROM note n LEFT JOIN record r ON r.n = n.record"
    " LEFT JOIN entity e ON e.n = n.entity WHERE (n.record IS NULL OR r.state = 'mapped') AND"
    " (n.code = ? OR instr(n.data, '\"losses\":')) ORDER BY n.record, n.rowid"
)


_CARRIED_ROWS = (
    "SELECT coalesce(r.key, ''), n.data FROM note n LEFT JOIN record r ON r.n = n.record"
    " WHERE n.code = ? AND (n.record IS NULL OR r.state = 'mapped') ORDER BY n.record, n.rowid"
)


class Loss(NamedTuple):
    """One value that has no place: whose it is (`record` is empty if it belongs to no record), where it stood, and
    the code that says why."""

    record: str
    key: str
    element: str
    value: str
    line: int
    code: str


@dataclass(slots=True)
class ElementLosses:
    """All values of one element: how many, and the first of them."""

    element: str
    count: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)

    def as_data(self) -> dict[str, object]:
        """As plain JSON values."""
        examples = [{"key": key, "value": value} for key, value in self.examples]
        return {"element": self.element, "count": self.count, "examples": examples}


def losses(db: sqlite3.Connection) -> Iterator[Loss]:
    """Every value that a plan leaves behind, in the order of its records."""
    for code, record, data, key, kind, line in db.execute(_ROWS, (LINK_LEFT_OUT,)):
        note = orjson.loads(data)
        if code == LINK_LEFT_OUT:
            yield Loss(record, key or "", _element(kind, str(note.get("name"))), str(note.get("key")), line or 0, code)
        else:
            for owner, element, value, at in note["losses"]:
                yield Loss(record, owner, element, value, at, code)


def carried_values(db: sqlite3.Connection) -> Iterator[Loss]:
    """Every value that has no field and that business-specific metadata keep, in the order of its records."""
    for record, data in db.execute(_CARRIED_ROWS, (CARRIED,)):
        for owner, element, value, at in orjson.loads(data)["carried"]:
            yield Loss(record, owner, element, value, at, CARRIED)


def in_documents(db: sqlite3.Connection) -> Iterator[tuple[Loss, int]]:
    """Every value that has no field and that stands in a document, and how often it is told there."""
    for record, data in db.execute(_CARRIED_ROWS, (IN_DOCUMENT,)):
        for owner, element, value, count in orjson.loads(data)["in_document"]:
            yield Loss(record, owner, element, value, 0, IN_DOCUMENT), count


def _element(kind: str | None, link: str) -> str:
    """The path of the element that a link is read from; the link itself where the form has none."""
    type_map = mapping().types.get(kind or "")
    path = type_map.links[link].path if type_map is not None and link in type_map.links else None
    if type_map is None or type_map.group is None or path is None:
        return f"{kind}/{link}"
    group = xml_model("5.0").structure.groups.get(type_map.group)
    return f"{(group.extends if group else None) or type_map.group}/{path}"


def losses_by_element(losses_: Iterable[Loss]) -> list[ElementLosses]:
    """Values by their elements, those with most first."""
    by_name: dict[str, ElementLosses] = {}
    for loss in losses_:
        element_losses = by_name.setdefault(loss.element, ElementLosses(loss.element))
        element_losses.count += 1
        if len(element_losses.examples) < _EXAMPLES:
            element_losses.examples.append((loss.key, loss.value))
    return sorted(by_name.values(), key=lambda loss: (-loss.count, loss.element))


def names(element: str) -> tuple[str, ...]:
    """The elements that a path leads through."""
    return tuple(element.split("/"))
