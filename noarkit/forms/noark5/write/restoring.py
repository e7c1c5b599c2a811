"""Puts elements of the original extract, kept as metadata, back into the text of a unit, each at its place.

    "<mappe>\\n<tittel>A</tittel>\\n</mappe>\\n" with an original <dokumentmedium>Elektronisk</dokumentmedium>
        ->  the same text with <dokumentmedium> where the sequence of the form has it

Nothing is put back that would make the text invalid, or that the archive contradicts by now; it is counted as left out
instead. The text is our own, well-formed and escaped, so tags are found by a regular expression: building a tree for
each unit would cost more than writing it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from xml.sax.saxutils import escape

from noarkit.forms.noark5.read.original import NAMESPACE, OWN, Original, from_text, kept_texts, state_of
from noarkit.forms.noark5.spec import WRITTEN_VERSION
from noarkit.forms.noark5.write.content import EntityData
from noarkit.forms.noark5.write.elements import UNITS
from noarkit.forms.noark5.write.fitting import is_valid
from noarkit.model.mapping import BUSINESS_METADATA, mapping
from noarkit.model.xml_model import Element, Group, xml_model

CUT = "\0"
"""Stands in a text where the units below are written."""

_FROM_BOTH_ENDS = ("referanseForloeper", "referanseArvtaker")
# the archive tells a chain of series from both its ends, an original each end by itself
_DESCRIBED = ("skjerming", "kassasjon", "utfoertKassasjon", BUSINESS_METADATA)
# No repeat contains another, and none can pass a «<» or «>»: a search backtracks within one tag at most.
_TAG = re.compile(r"<(/?)([^\s<>/]+)[^<>]*?(/?)>|\0")


@dataclass(slots=True)
class RestoreCount:
    """How many values were put back, and how many could not be; and how often what a description tells of."""

    values: int = 0
    left_out: int = 0
    elements: Counter[str] = field(default_factory=Counter)

    def add(self, increment: RestoreCount) -> None:
        """Adds what was counted elsewhere."""
        self.values += increment.values
        self.left_out += increment.left_out
        self.elements.update(increment.elements)


@dataclass(slots=True)
class _Child:
    """An element as it is written."""

    name: str
    text: str
    at: int


def restore_elements(text: str, entity: EntityData, originals: Sequence[Original], count: RestoreCount) -> str:
    """The text of a thing, which may be cut once, with these elements put back."""
    groups, type_map, fields = xml_model(WRITTEN_VERSION).structure.groups, mapping().types[entity["t"]], entity["f"]
    group = groups.get(type_map.group or "")
    if group is None:
        return text
    fills = frozenset(fill.path for fill in type_map.fills)
    unplaced: list[Original] = []
    current = []
    for original in originals:
        # The state is a checksum of the fields that the original was read into. If they were changed in the archive,
        # the archive is right and the original is history.
        if original.fields and original.state != state_of(original.fields, fields, escaped=True):
            unplaced.append(original)  # the archive says something else by now
        else:
            current.append(original)
    result = _merge_originals(text, group, current, _Rules(fills, "", unplaced))
    lost_count = sum(original.leaves() for original in unplaced)
    count.values += sum(original.leaves() for original in originals) - lost_count
    count.left_out += lost_count
    for name in _DESCRIBED:
        count.elements[name] += result.count(f"<{name}>") - text.count(f"<{name}>")
    return result


@dataclass(slots=True)
class _Rules:
    """The elements that the writer fills by a rule, the path so far, and what finds no place."""

    fills: frozenset[str]
    path: str
    unplaced: list[Original]


def _merge_originals(text: str, group: Group, originals: Sequence[Original], rules: _Rules) -> str:
    order = {element.name: at for at, element in enumerate(group.elements)}
    start_tag, children, end_tag = _split_element(text, order)
    by_name: dict[str, list[Original]] = {}
    for original in originals:
        by_name.setdefault(original.name, []).append(original)
    for name, same_name in by_name.items():
        element = group.element(name)
        if element is None:
            rules.unplaced += same_name
            continue
        _put_elements(children, order[name], element, same_name, rules)
    # A stable sort: children of one name keep the order they had.
    children.sort(key=lambda child: child.at)
    return start_tag + "".join(child.text for child in children) + end_tag


def _put_elements(
    children: list[_Child], at: int, element: Element, same_name: Sequence[Original], rules: _Rules
) -> None:
    """Puts the elements of one name among the children."""
    there = [child for child in children if child.name == element.name]
    path = rules.path + element.name
    inner = xml_model(WRITTEN_VERSION).structure.groups.get(element.group or "")
    # A group that is written already gets the missing elements inside it; the same rules apply one level down.
    if inner is not None and there and not element.many:
        for original in same_name:
            there[0].text = _merge_originals(
                there[0].text,
                inner,
                original.within,
                _Rules(rules.fills, f"{path}/", _unplaced_within(rules.unplaced, original)),
            )
        rules.unplaced[:] = [original for original in rules.unplaced if original.within or original.text]
        return
    valid = [original for original in same_name if is_valid(original, element)]
    rules.unplaced += [original for original in same_name if original not in valid]
    if not element.many:
        rules.unplaced += valid[1:]
        valid = valid[:1]
    of_a_field = bool(rules.path) or any(original.fields for original in valid)
    # What the writer made up by a rule gives way to the original; what is the archive's own data stays, unless the
    # original was read into that very field.
    replaces = path in (*rules.fills, *_FROM_BOTH_ENDS) or (not element.many and inner is None and of_a_field)
    if valid and replaces:
        for child in there:
            children.remove(child)
        there = []
    elif there and not element.many:
        rules.unplaced += valid
        return
    existing_texts = {child.text for child in there}
    children += [
        _Child(element.name, text, at) for original in valid if (text := _element_xml(original)) not in existing_texts
    ]


def _unplaced_within(unplaced: list[Original], original: Original) -> list[Original]:
    """What of an element finds no place is left as that element with no more than this."""
    remaining = Original(original.name, fields=original.fields, state=original.state)
    unplaced.append(remaining)
    return remaining.within


def _split_element(text: str, order: Mapping[str, int]) -> tuple[str, list[_Child], str]:
    """The opening tag, the children with their places in the order, the closing tag."""
    first = _TAG.search(text)
    if first is None:
        return text, [], ""
    start = first.end() + (text[first.end() : first.end() + 1] == "\n")
    children: list[_Child] = []
    depth, child_start, name, at = 0, start, "", 0
    end = len(text)
    for match in _TAG.finditer(text, first.end()):
        if match[0] == CUT:
            if depth == 0:
                # The mark is a child like others, with the place of the first unit, so that the sort puts it right.
                at = min((order[unit] for unit in UNITS if unit in order), default=at)
                children.append(_Child(CUT, CUT, at))
                child_start = match.end()
            continue
        if match[1]:
            depth -= 1
            # The closing tag of the unit itself: all children are found.
            if depth < 0:
                end = child_start
                break
        else:
            if depth == 0:
                name = match[2]
            depth += not match[3]
        if depth == 0:
            stop = match.end() + (text[match.end() : match.end() + 1] == "\n")
            at = order.get(name, at)
            children.append(_Child(name, text[child_start:stop], at))
            child_start = stop
    return text[:start], children, text[end:]


def _element_xml(original: Original) -> str:
    if original.within and original.name == BUSINESS_METADATA:
        content = "".join(_plain(inner, f' xmlns="{NAMESPACE}"') for inner in original.within)
        return f"<{original.name}>\n{content}</{original.name}>\n"
    if original.within:
        content = "".join(_element_xml(inner) for inner in original.within)
        return f"<{original.name}>\n{content}</{original.name}>\n"
    return _plain(original, "")


def _plain(original: Original, attributes: str) -> str:
    content = (
        "".join(_plain(inner, "") for inner in original.within)
        if original.within
        else escape(original.text, {"\r": "&#13;"})
    )
    return f"<{original.name}{attributes}>{content}</{original.name}>\n"


def match_originals(
    originals: Sequence[Original], element: str, entities: Sequence[EntityData]
) -> tuple[dict[int, list[Original]], list[Original]]:
    """The originals of `entities`, which belong to an object, by the place among them; and those of none."""
    by_place: dict[int, list[Original]] = {}
    unmatched: list[Original] = []
    for original in originals:
        if not original.place or original.name != element:
            continue
        at = _place_of(original, entities, by_place)
        if at is None:
            unmatched.append(original)
        else:
            by_place.setdefault(at, []).append(original)
    return by_place, unmatched


def _place_of(original: Original, entities: Sequence[EntityData], used_places: Mapping[int, object]) -> int | None:
    # By id where it was kept; else by equal state. Of several that are equal the first unused, so that two like parts
    # get one original each.
    by_id = [
        at for at, entity in enumerate(entities) if original.system_id and entity["f"].get("uuid") == original.system_id
    ]
    if by_id:
        return by_id[0]
    alike = [
        at
        for at, entity in enumerate(entities)
        if original.state == state_of(original.fields, entity["f"], escaped=True)
    ]
    free = [at for at in alike if at not in used_places]
    return next(iter(free or alike), None)


@lru_cache(maxsize=128)
def _parse_originals(texts: tuple[str, ...]) -> tuple[Original, ...]:
    return tuple(original for text in texts for original in from_text(text) or ())


def originals_of(fields: Mapping[str, object], name: str = OWN) -> tuple[Original, ...]:
    """What an object keeps of its original; nothing for what is none of ours."""
    return _parse_originals(tuple(kept_texts(fields, name))) if BUSINESS_METADATA in fields else ()
