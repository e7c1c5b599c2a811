"""Puts elements of an original back into the text of a unit, each at its place in the sequence of the form.

Nothing is put back that would make the text invalid, or that the archive contradicts by now; it is said instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from xml.sax.saxutils import escape

from noarkit.model.mapping import BUSINESS_METADATA, mapping
from noarkit.model.xml_model import Element, Group, xml_model
from noarkit.packages.noark5.content import Thing
from noarkit.packages.noark5.elements import UNITS
from noarkit.packages.noark5.fitting import is_valid
from noarkit.packages.noark5.original import NAMESPACE, OWN, Original, from_text, kept, state_of
from noarkit.packages.noark5.spec import WRITTEN_VERSION

CUT = "\0"
"""Stands in a text where the units below are written."""

_FROM_BOTH_ENDS = ("referanseForloeper", "referanseArvtaker")
# the archive tells a chain of series from both its ends, an original each end by itself
_TAG = re.compile(r"<(/?)([^\s<>/]+)[^<>]*?(/?)>|\0")


@dataclass(slots=True)
class Restored:
    """How many values were put back, and how many could not be."""

    values: int = 0
    left_out: int = 0

    def add(self, other: Restored) -> None:
        """Adds what was counted elsewhere."""
        self.values += other.values
        self.left_out += other.left_out


@dataclass(slots=True)
class _Child:
    """An element as it is written."""

    name: str
    text: str
    at: int


def restored(text: str, thing: Thing, originals: Sequence[Original], count: Restored) -> str:
    """The text of a thing, which may be cut once, with these elements put back."""
    groups, told, fields = xml_model(WRITTEN_VERSION).structure.groups, mapping().types[thing["t"]], thing["f"]
    group = groups.get(told.group or "")
    if group is None:
        return text
    fills = frozenset(fill.path for fill in told.fills)
    left: list[Original] = []
    true = []
    for one in originals:
        if one.fields and one.state != state_of(one.fields, fields, escaped=True):
            left.append(one)  # the archive says something else by now
        else:
            true.append(one)
    made = _merged(text, group, true, _Rules(fills, "", left))
    lost = sum(one.leaves() for one in left)
    count.values += sum(one.leaves() for one in originals) - lost
    count.left_out += lost
    return made


@dataclass(slots=True)
class _Rules:
    """The elements that the writer fills by a rule, the path so far, and what finds no place."""

    fills: frozenset[str]
    path: str
    left: list[Original]


def _merged(text: str, group: Group, originals: Sequence[Original], rules: _Rules) -> str:
    order = {element.name: at for at, element in enumerate(group.elements)}
    opening, children, closing = _apart(text, order)
    by_name: dict[str, list[Original]] = {}
    for one in originals:
        by_name.setdefault(one.name, []).append(one)
    for name, some in by_name.items():
        element = group.element(name)
        if element is None:
            rules.left += some
            continue
        _put(children, order[name], element, some, rules)
    children.sort(key=lambda child: child.at)
    return opening + "".join(child.text for child in children) + closing


def _put(children: list[_Child], at: int, element: Element, some: Sequence[Original], rules: _Rules) -> None:
    """Puts the elements of one name among the children."""
    there = [child for child in children if child.name == element.name]
    path = rules.path + element.name
    inner = xml_model(WRITTEN_VERSION).structure.groups.get(element.group or "")
    if inner is not None and there and not element.many:
        for one in some:
            there[0].text = _merged(
                there[0].text, inner, one.within, _Rules(rules.fills, f"{path}/", _within(rules.left, one))
            )
        rules.left[:] = [one for one in rules.left if one.within or one.text]
        return
    valid = [one for one in some if is_valid(one, element)]
    rules.left += [one for one in some if one not in valid]
    if not element.many:
        rules.left += valid[1:]
        valid = valid[:1]
    of_a_field = bool(rules.path) or any(one.fields for one in valid)
    replaces = path in (*rules.fills, *_FROM_BOTH_ENDS) or (not element.many and inner is None and of_a_field)
    if valid and replaces:
        for child in there:
            children.remove(child)
        there = []
    elif there and not element.many:
        rules.left += valid
        return
    known = {child.text for child in there}
    children += [_Child(element.name, text, at) for one in valid if (text := _written(one)) not in known]


def _within(left: list[Original], one: Original) -> list[Original]:
    """What of an element finds no place is left as that element with no more than this."""
    rest = Original(one.name, fields=one.fields, state=one.state)
    left.append(rest)
    return rest.within


def _apart(text: str, order: Mapping[str, int]) -> tuple[str, list[_Child], str]:
    """The opening tag, the children with their places in the order, the closing tag."""
    first = _TAG.search(text)
    if first is None:
        return text, [], ""
    start = first.end() + (text[first.end() : first.end() + 1] == "\n")
    children: list[_Child] = []
    depth, begun, name, at = 0, start, "", 0
    end = len(text)
    for found in _TAG.finditer(text, first.end()):
        if found[0] == CUT:
            if depth == 0:
                at = min((order[one] for one in UNITS if one in order), default=at)
                children.append(_Child(CUT, CUT, at))
                begun = found.end()
            continue
        if found[1]:
            depth -= 1
            if depth < 0:
                end = begun
                break
        else:
            if depth == 0:
                name = found[2]
            depth += not found[3]
        if depth == 0:
            stop = found.end() + (text[found.end() : found.end() + 1] == "\n")
            at = order.get(name, at)
            children.append(_Child(name, text[begun:stop], at))
            begun = stop
    return text[:start], children, text[end:]


def _written(one: Original) -> str:
    if one.within and one.name == BUSINESS_METADATA:
        held = "".join(_plain(inner, f' xmlns="{NAMESPACE}"') for inner in one.within)
        return f"<{one.name}>\n{held}</{one.name}>\n"
    if one.within:
        held = "".join(_written(inner) for inner in one.within)
        return f"<{one.name}>\n{held}</{one.name}>\n"
    return _plain(one, "")


def _plain(one: Original, attributes: str) -> str:
    held = "".join(_plain(inner, "") for inner in one.within) if one.within else escape(one.text, {"\r": "&#13;"})
    return f"<{one.name}{attributes}>{held}</{one.name}>\n"


def of_things(
    originals: Sequence[Original], element: str, things: Sequence[Thing]
) -> tuple[dict[int, list[Original]], list[Original]]:
    """The originals of things that hang on an object, by the place of the thing among `things`; and those of none."""
    found: dict[int, list[Original]] = {}
    left: list[Original] = []
    for one in originals:
        if not one.place or one.name != element:
            continue
        at = _place_of(one, things, found)
        if at is None:
            left.append(one)
        else:
            found.setdefault(at, []).append(one)
    return found, left


def _place_of(one: Original, things: Sequence[Thing], taken: Mapping[int, object]) -> int | None:
    by_id = [at for at, thing in enumerate(things) if one.system_id and thing["f"].get("uuid") == one.system_id]
    if by_id:
        return by_id[0]
    alike = [at for at, thing in enumerate(things) if one.state == state_of(one.fields, thing["f"], escaped=True)]
    free = [at for at in alike if at not in taken]
    return next(iter(free or alike), None)


@lru_cache(maxsize=128)
def _read(texts: tuple[str, ...]) -> tuple[Original, ...]:
    return tuple(one for text in texts for one in from_text(text) or ())


def originals_of(fields: Mapping[str, object], name: str = OWN) -> tuple[Original, ...]:
    """What an object keeps of its original; nothing for what is none of ours."""
    return _read(tuple(kept(fields, name))) if BUSINESS_METADATA in fields else ()
