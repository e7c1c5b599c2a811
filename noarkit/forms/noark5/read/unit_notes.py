"""What a person should know of a unit that becomes entities: each value that the archive has no place for, what was
filled in, and what stands elsewhere than in the extract."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from noarkit.forms.noark5.nodes import Node, Value
from noarkit.graph.entity import Note

NO_PLACE = "W231"
FILLED_IN = "W232"
STANDS_ELSEWHERE = "W233"
ID_NOT_KEPT = "W235"
FILE_MISSING = "W236"
CARRIED = "W237"
_MOST_NAMES = 8


class UnitLocation(NamedTuple):
    """A unit or a thing that hangs on one: the key of its entity, the name of its element, and the line it stands
    at."""

    key: str
    element: str
    line: int

    def within(self, element: str) -> UnitLocation:
        """The same, in an element of it."""
        return self._replace(element=f"{self.element}/{element}")


Loss = tuple[str, str, str, int]
"""A value that has no place: key of the entity, path of the element, value, line."""


class Piece(NamedTuple):
    """Values of one element that have no place: the key of the entity that it stands in, the elements that lead to it
    from there, what it holds, and the same as losses."""

    key: str
    steps: tuple[str, ...]
    values: tuple[Value, ...]
    losses: tuple[Loss, ...]


@dataclass(slots=True)
class UnitNotes:
    """What is noticed while a unit becomes entities. `pieces` have no place in the archive; `carried` are those of
    them that its business-specific metadata keep."""

    pieces: list[Piece] = field(default_factory=list)
    carried_losses: list[Loss] = field(default_factory=list)
    filled_fields: list[str] = field(default_factory=list)
    elsewhere: list[tuple[str, str, str, int]] = field(default_factory=list)
    ids: list[tuple[str, str, str, int]] = field(default_factory=list)
    files: list[tuple[str, str, str, int]] = field(default_factory=list)

    def lose(self, where: UnitLocation, name: str, values: list[Value]) -> None:
        """Every value in the elements of a name has no place in the archive."""
        losses = tuple(
            (where.key, f"{where.element}/{path}", value, where.line) for path, value in _leaves(name, values)
        )
        if losses:
            self.pieces.append(Piece(where.key, _steps(where, name), tuple(values), losses))

    def lose_text(self, where: UnitLocation, path: str, value: str) -> None:
        """One value has no place in the archive."""
        loss = (where.key, f"{where.element}/{path}", value, where.line)
        self.pieces.append(Piece(where.key, _steps(where, path), (value,), (loss,)))

    def move(self, where: UnitLocation, what: str, above: str) -> None:
        """A unit stands elsewhere than below `above`, its place in the extract."""
        self.elsewhere.append((where.key, f"{where.element} ({what})", above, where.line))

    def drop_id(self, where: UnitLocation, value: str) -> None:
        """A systemID is not kept."""
        self.ids.append((where.key, f"{where.element}/systemID", value, where.line))

    def miss_file(self, where: UnitLocation, node: Node) -> None:
        """The file of a version is missing or damaged, and all that is said of it has nothing to stand at."""
        self.files += [(where.key, path, value, where.line) for path, value in _leaves(where.element, [node])]

    def notes(self) -> tuple[Note, ...]:
        """As notes of a record."""
        if not (self.pieces or self.carried_losses or self.filled_fields or self.elsewhere or self.ids or self.files):
            return ()
        result: list[Note] = []
        for code, losses in (
            (NO_PLACE, [loss for piece in self.pieces for loss in piece.losses]),
            (CARRIED, self.carried_losses),
            (STANDS_ELSEWHERE, self.elsewhere),
            (ID_NOT_KEPT, self.ids),
            (FILE_MISSING, self.files),
        ):
            if losses:
                names = list(dict.fromkeys(path for _, path, _, _ in losses))
                names_text = ", ".join(names[:_MOST_NAMES]) + (" …" if len(names) > _MOST_NAMES else "")
                field_ = f"{len(losses)}: {names_text}"
                what = "carried" if code == CARRIED else "losses"
                result.append(Note(code, {"field": field_, "count": len(losses), what: losses, "line": losses[0][3]}))
        if self.filled_fields:
            names = sorted(set(self.filled_fields))
            result.append(Note(FILLED_IN, {"field": ", ".join(names), "count": len(self.filled_fields)}))
        return tuple(result)


def _steps(where: UnitLocation, path: str) -> tuple[str, ...]:
    return (*where.element.split("/")[1:], *path.split("/"))


def _leaves(name: str, values: list[Value]) -> Iterator[tuple[str, str]]:
    for value in values:
        if isinstance(value, dict):
            for inner, below in value.items():
                for path, text in _leaves(inner, below):
                    yield f"{name}/{path}", text
        elif value is not None and (stripped := value.strip()):
            yield name, stripped
