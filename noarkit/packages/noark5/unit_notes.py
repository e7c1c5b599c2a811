"""What a person should know of a unit that becomes entities: each value that the archive has no place for, what was
filled in, and what stands elsewhere than in the extract."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from noarkit.graph.entity import Note
from noarkit.packages.noark5.nodes import Node, Value

NO_PLACE = "W231"
FILLED_IN = "W232"
STANDS_ELSEWHERE = "W233"
ID_NOT_KEPT = "W235"
FILE_MISSING = "W236"
CARRIED = "W237"
_MOST_NAMES = 8


class Where(NamedTuple):
    """A unit or a thing that hangs on one: the key of its entity, the name of its element, and the line it stands
    at."""

    key: str
    element: str
    line: int

    def within(self, element: str) -> Where:
        """The same, in an element of it."""
        return self._replace(element=f"{self.element}/{element}")


Loss = tuple[str, str, str, int]
"""A value that has no place: key of the entity, path of the element, value, line."""


class Piece(NamedTuple):
    """Values of one element that have no place: the key of the entity that it stands in, the elements that lead to it
    from there, what it holds, and the same as losses."""

    key: str
    steps: tuple[str, ...]
    held: tuple[Value, ...]
    losses: tuple[Loss, ...]


@dataclass(slots=True)
class UnitNotes:
    """What is noticed while a unit becomes entities. `pieces` have no place in the archive; `carried` are those of
    them that its business-specific metadata keep."""

    pieces: list[Piece] = field(default_factory=list)
    carried: list[Loss] = field(default_factory=list)
    filled: list[str] = field(default_factory=list)
    elsewhere: list[tuple[str, str, str, int]] = field(default_factory=list)
    ids: list[tuple[str, str, str, int]] = field(default_factory=list)
    files: list[tuple[str, str, str, int]] = field(default_factory=list)

    def lose(self, where: Where, name: str, held: list[Value]) -> None:
        """Every value in the elements of a name has no place in the archive."""
        found = tuple((where.key, f"{where.element}/{path}", value, where.line) for path, value in _leaves(name, held))
        if found:
            self.pieces.append(Piece(where.key, _steps(where, name), tuple(held), found))

    def lose_text(self, where: Where, path: str, value: str) -> None:
        """One value has no place in the archive."""
        loss = (where.key, f"{where.element}/{path}", value, where.line)
        self.pieces.append(Piece(where.key, _steps(where, path), (value,), (loss,)))

    def move(self, where: Where, what: str, above: str) -> None:
        """A unit stands elsewhere than below `above`, its place in the extract."""
        self.elsewhere.append((where.key, f"{where.element} ({what})", above, where.line))

    def drop_id(self, where: Where, value: str) -> None:
        """A systemID is not kept."""
        self.ids.append((where.key, f"{where.element}/systemID", value, where.line))

    def miss_file(self, where: Where, node: Node) -> None:
        """The file of a version is missing or damaged, and all that is said of it has nothing to stand at."""
        self.files += [(where.key, path, value, where.line) for path, value in _leaves(where.element, [node])]

    def notes(self) -> tuple[Note, ...]:
        """As notes of a record."""
        found: list[Note] = []
        for code, losses in (
            (NO_PLACE, [loss for piece in self.pieces for loss in piece.losses]),
            (CARRIED, self.carried),
            (STANDS_ELSEWHERE, self.elsewhere),
            (ID_NOT_KEPT, self.ids),
            (FILE_MISSING, self.files),
        ):
            if losses:
                names = list(dict.fromkeys(path for _, path, _, _ in losses))
                shown = ", ".join(names[:_MOST_NAMES]) + (" …" if len(names) > _MOST_NAMES else "")
                field_ = f"{len(losses)}: {shown}"
                what = "carried" if code == CARRIED else "losses"
                found.append(Note(code, {"field": field_, "count": len(losses), what: losses, "line": losses[0][3]}))
        if self.filled:
            names = sorted(set(self.filled))
            found.append(Note(FILLED_IN, {"field": ", ".join(names), "count": len(self.filled)}))
        return tuple(found)


def _steps(where: Where, path: str) -> tuple[str, ...]:
    return (*where.element.split("/")[1:], *path.split("/"))


def _leaves(name: str, held: list[Value]) -> Iterator[tuple[str, str]]:
    for value in held:
        if isinstance(value, dict):
            for inner, below in value.items():
                for path, text in _leaves(inner, below):
                    yield f"{name}/{path}", text
        elif value is not None and (found := value.strip()):
            yield name, found
