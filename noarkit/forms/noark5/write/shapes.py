"""Compiles a type's operations, for objects with the same fields set, to one `%` template and what fills its places.

Writing millions of objects by asking of every element «is it set?» costs most of the time. Objects of a source have
few combinations of fields, so the questions are answered once for each combination (a shape), and then one `%` writes
the whole object. Example: a Merknad with `"tekst"` alone, where `"opprettetDato"` is mandatory and has a fallback:

    shape_of(ops, {"tekst"}, "<merknad>\\n", "</merknad>\\n")
        template  "<merknad>\\n<merknadstekst>%s</merknadstekst>\\n<merknadsdato>%s</merknadsdato>\\n</merknad>\\n"
        values    itemgetter("tekst", "tekst")      one value a place; the second is only there to be replaced
        fills     ((1, fallback),)                  place 1 gets what the fallback makes of the object
"""

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
    # A place that is filled otherwise still needs a value from `itemgetter`, which takes them all in one call of C: any
    # field that is set will do. (Markers of what stands within begin with «+» or a capital.)
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
            # Per cent signs of a tag are doubled for the `%` to come; the place itself is put back.
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
