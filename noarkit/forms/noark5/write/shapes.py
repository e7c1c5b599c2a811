"""What is left of a type's operations where just these fields are set: one template, and what goes into its places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter

from noarkit.forms.noark5.write.content import Content
from noarkit.forms.noark5.write.elements import Nested

Fill = Callable[[Content], str]
Convert = Callable[[object], object]


@dataclass(frozen=True, slots=True)
class Field:
    """An element made of one field; `convert` where the value is not written as it is, `fallback` where it must be."""

    name: str
    start_tag: str
    end_tag: str
    convert: Convert | None
    fallback: Fill | None


@dataclass(frozen=True, slots=True)
class ComputedPart:
    """Elements made by `fill`; only where one of `needs` is there, if any are named: a field that is set, the
    type of a part, `+d` and `+v` for documents and versions, `+k` for links. `nested` where things stand within."""

    fill: Fill
    needs: tuple[str, ...] = ()
    nested: Nested | None = None


Op = Field | ComputedPart


@dataclass(slots=True)
class Shape:
    """The operations for things with the same fields set: one template, what goes into its places, how often used."""

    template: str
    values: Callable[[dict[str, object]], tuple[object, ...]]
    converts: tuple[tuple[int, Convert], ...]
    fills: tuple[tuple[int, Fill], ...]
    count: int = 0


def shape_of(ops: tuple[Op, ...], names: frozenset[str], start_tag: str, end_tag: str) -> Shape:
    """What is left of the operations where just these fields are set."""
    parts: list[str] = [start_tag.replace("%", "%%")]
    field_names: list[str] = []
    converts: list[tuple[int, Convert]] = []
    fills: list[tuple[int, Fill]] = []
    any_name = next((name for name in sorted(names) if name[0].islower()), "")
    for op in ops:
        fill = None
        if isinstance(op, ComputedPart):
            if op.needs and not names.intersection(op.needs):
                continue
            parts.append("%s")
            fill = op.fill
        else:
            if op.name not in names and op.fallback is None:
                continue
            parts.append(f"{op.start_tag}%s{op.end_tag}".replace("%", "%%").replace("%%s", "%s", 1))
            fill = None if op.name in names else op.fallback
            if fill is None and op.convert is not None:
                converts.append((len(field_names), op.convert))
        if fill is not None:
            fills.append((len(field_names), fill))
        field_names.append(op.name if isinstance(op, Field) and fill is None else any_name)
    parts.append(end_tag.replace("%", "%%"))
    return Shape("".join(parts), getter(tuple(field_names)), tuple(converts), tuple(fills))


def getter(names: tuple[str, ...]) -> Callable[[dict[str, object]], tuple[object, ...]]:
    """Takes the values of these fields at once; places that are filled otherwise take any value there is."""
    if len(names) > 1 and "" not in names:
        getter: Callable[[dict[str, object]], tuple[object, ...]] = itemgetter(*names)
        return getter
    return lambda fields: tuple([fields.get(name) for name in names])
