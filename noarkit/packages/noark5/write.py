"""Writes units of an archive as elements of arkivstruktur.xml.

Plans are compiled to short lists of operations, one an element; a unit becomes one text, and no tree is ever built.
What the form wants and the archive does not hold is filled by the rule the table names, and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from noarkit.model.mapping import mapping
from noarkit.packages.noark5 import vsm
from noarkit.packages.noark5.content import Codes, Content, Thing
from noarkit.packages.noark5.elements import Block, Leaf, Nested, Part, Plan, Referring, plan_of
from noarkit.packages.noark5.flats import Flats
from noarkit.packages.noark5.moments import Moments
from noarkit.packages.noark5.original import GROUP, Original, state_of
from noarkit.packages.noark5.restoring import CUT, Restored, of_things, originals_of, restored
from noarkit.packages.noark5.screened import withheld
from noarkit.packages.noark5.shapes import Convert, Field, Fill, Made, Op, Shape, shape_of
from noarkit.packages.noark5.spec import STRUCTURE, XSI_NAMESPACE, namespace

_SAME_AS: Mapping[str, tuple[str, str]] = {
    "linked-time": ("opprettetDato", "instant"),
    "linked-name": ("opprettetAv", "text"),
}
_MISSING: Mapping[str, str] = {
    "number": "zero",
    "instant": "closing-time",
    "linked-time": "closing-time",
    "date": "closing-day",
    "day": "closing-day",
}
_MOST_SHAPES = 20_000


_Key = tuple[str, int, tuple[str, ...], tuple[str, ...]]


@dataclass(slots=True)
class Tally:
    """What was written: units by element, defaults by type, element and rule; `carried` are values that the form has no
    element for and that stand in business-specific metadata."""

    units: Counter[str] = field(default_factory=Counter)
    defaults: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    screened: int = 0
    disposals: int = 0
    disposed: int = 0
    business: int = 0
    carried: int = 0
    files: int = 0
    restored: Restored = field(default_factory=Restored)

    def add(self, other: Tally) -> None:
        """Adds what another writer wrote."""
        self.units.update(other.units)
        self.defaults.update(other.defaults)
        self.screened += other.screened
        self.disposals += other.disposals
        self.disposed += other.disposed
        self.business += other.business
        self.carried += other.carried
        self.files += other.files
        self.restored.add(other.restored)


@dataclass(frozen=True, slots=True)
class Closing:
    """When and by whom a unit was closed, ready for XML."""

    time: str
    name: str


class Writer:
    """Things as text. `above` is how the nearest closed unit above was closed; whoever walks the tree keeps it.
    `originals` are what others keep for the fonds, series and classification systems above them."""

    def __init__(
        self, codes: Codes, moments: Moments, begun: str, carried: Callable[[Content], tuple[str, int]] | None = None
    ) -> None:
        texts = mapping().words.texts
        self.tally = Tally()
        self.above = Closing(moments.local(begun), texts["unknown"])
        self.originals: Sequence[Original] = ()
        self._codes = codes
        self._moments = moments
        self._unknown = texts["unknown"]
        self._carried = carried
        self._compiled: dict[str, tuple[str, tuple[Op, ...], tuple[Op, ...], str]] = {}
        self._shapes: dict[_Key, Shape] = {}
        self._met: Counter[tuple[str, str]] = Counter()
        self._flats = Flats(self._plan, self.tally.units)

    def whole(self, content: Content) -> str:
        """A thing with all that stands within it. No text in it may be empty (`content.parse` sees to that)."""
        if "d" in content:
            flat = self._flats.whole(content)
            if flat is not None:
                return flat
        text = self._filled(content, 2, _inside(content) if len(content) > 1 else ())
        return self._with_originals(text, content["o"], originals_of(content["o"]["f"]))

    def halves(self, content: Content) -> tuple[str, str]:
        """A unit as what stands before the units below it, and what stands after them."""
        inside = _inside(content)
        before, after = self._filled(content, 0, inside), self._filled(content, 1, inside)
        thing = content["o"]
        originals = [*originals_of(thing["f"]), *self._kept_for(thing)]
        if originals:
            before, _, after = self._with_originals(f"{before}{CUT}{after}", thing, originals).partition(CUT)
        return before, after

    def met(self) -> Counter[tuple[str, str]]:
        """How many of the things that were written had each field set, by type and field."""
        self._count_shapes()
        return self._met + self._flats.met()

    def closing_of(self, thing: Thing) -> Closing:
        """How a unit was closed, or what was above it."""
        fields = thing["f"]
        if "avsluttetDato" not in fields:
            return self.above
        return Closing(self._moments.local(fields["avsluttetDato"]), str(fields.get("avsluttetAv") or self._unknown))

    def _plan(self, type_name: str) -> tuple[str, tuple[Op, ...], tuple[Op, ...], str]:
        found = self._compiled.get(type_name)
        if found is None:
            plan = plan_of(type_name)
            before = tuple(self._op(plan, part) for part in plan.before)
            after = tuple(self._op(plan, part) for part in plan.after)
            found = self._compiled[type_name] = (plan.opening, before, after, plan.closing)
        return found

    def _filled(self, content: Content, half: int, inside: tuple[str, ...]) -> str:
        """A thing, or the first (0) or second (1) half of it."""
        thing = content["o"]
        fields = thing["f"]
        key = (thing["t"], half, tuple(fields), inside)
        shape = self._shapes.get(key) or self._shaped(key)
        shape.count += 1
        values = list(shape.values(fields))
        for at, convert in shape.converts:
            values[at] = convert(values[at])
        for at, fill in shape.fills:
            values[at] = fill(content)
        return shape.template % tuple(values)

    def _shaped(self, key: _Key) -> Shape:
        """The shape for a type, one of its halves or both (2), the fields that are set, and what stands within."""
        type_name, half, names, inside = key
        opening, before, after, closing = self._plan(type_name)
        ops = before + after if half == 2 else (before, after)[half]
        there = frozenset((*names, *inside))
        shape = shape_of(ops, there, "" if half == 1 else opening, "" if half == 0 else closing)
        if len(self._shapes) >= _MOST_SHAPES:
            self._count_shapes()
            self._shapes.clear()
        self._shapes[key] = shape
        return shape

    def _count_shapes(self) -> None:
        for (type_name, half, names, _), shape in self._shapes.items():
            if half != 1:
                for name in names:
                    self._met[type_name, name] += shape.count
            shape.count = 0

    def _op(self, plan: Plan, part: Part) -> Op:
        if isinstance(part, Leaf):
            return self._leaf(plan, part)
        if isinstance(part, Block):
            return self._block(plan, part)
        if isinstance(part, Nested):
            return Made(self._nested(plan, part), _needs(part), part)
        return Made(_referring(part), ("+k",))

    def _leaf(self, plan: Plan, leaf: Leaf) -> Op:
        opening, closing = (f"<{leaf.element}>", f"</{leaf.element}>\n") if leaf.element else ("", "")
        fallback = self._fallback(plan.type, leaf) if leaf.mandatory else None
        field_name, rule = _SAME_AS.get(leaf.rule, (leaf.field, leaf.rule))
        if field_name and rule in _PLAIN:
            return Field(field_name, opening, closing, self._convert(field_name, rule), fallback)
        return self._by_rule(plan.type, leaf, opening, closing)

    def _convert(self, field_name: str, rule: str) -> Convert | None:
        if rule == "instant":
            return self._moments.local
        if rule in ("date", "day"):
            return self._moments.day
        names = self._codes.of(field_name) if rule == "code" else {}
        return _Names(names).__getitem__ if names else None

    def _by_rule(self, type_name: str, leaf: Leaf, opening: str, closing: str) -> Made:
        if leaf.rule in ("list", "lines"):
            several = _several(leaf.field, "; " if leaf.rule == "list" else "\n", opening, closing)
            return Made(several, (leaf.field,))
        if leaf.rule == "business":
            return Made(self._business, () if self._carried is not None else (leaf.field,))
        if leaf.rule == "screened-parts":
            return Made(self._screened_parts(type_name, opening, closing))
        rule = self._rule(leaf.rule)
        return Made(lambda content: f"{opening}{rule(content)}{closing}")

    def _fallback(self, type_name: str, leaf: Leaf) -> Fill:
        name = leaf.fallback or _MISSING.get(leaf.rule, "unknown")
        rule, defaults, key = self._rule(name), self.tally.defaults, (type_name, leaf.element, name)

        def filled(content: Content) -> str:
            defaults[key] += 1
            return rule(content)

        return filled

    def _rule(self, name: str) -> Fill:
        rules: Mapping[str, Fill] = {
            "unknown": lambda _: self._unknown,
            "zero": lambda _: "0",
            "closing-time": lambda _: self.above.time,
            "closing-name": lambda _: self.above.name,
            "closing-day": lambda _: self.above.time[:10],
            "authority": self._authority,
            "disposal-date": self._disposal_date,
        }
        return rules[name]

    def _authority(self, content: Content) -> str:
        found = self._codes.authorities.get(str(content["o"]["f"].get("skjerming")))
        if not found:
            self.tally.defaults[content["o"]["t"], "skjermingshjemmel", "authority"] += 1
        return found or self._unknown

    def _screened_parts(self, type_name: str, opening: str, closing: str) -> Fill:
        def fill(content: Content) -> str:
            told = withheld(content)
            if not told:
                self.tally.defaults[type_name, "skjermingMetadata", "unknown"] += 1
            return "".join(f"{opening}{one}{closing}" for one in told or (self._unknown,))

        return fill

    def _disposal_date(self, content: Content) -> str:
        fields = content["o"]["f"]
        began = fields.get("avsluttetDato") or fields.get("opprettetDato") or self.above.time
        return self._moments.years_later(began, fields.get("bevaringstid", 0))

    def _block(self, plan: Plan, block: Block) -> Made:
        ops = tuple(self._leaf(plan, leaf) for leaf in block.leaves)
        opening, closing, tally = f"<{block.element}>\n", f"</{block.element}>\n", self.tally
        shapes: dict[tuple[str, ...], Shape] = {}

        def fill(content: Content) -> str:
            fields = content["o"]["f"]
            if block.element == "skjerming":
                tally.screened += 1
            elif block.element == "utfoertKassasjon":
                tally.disposed += 1
            elif block.element == "kassasjon":  # whatever was decided: receivers count the decisions
                tally.disposals += 1
            key = tuple(fields)
            shape = shapes.get(key)
            if shape is None:
                shape = shapes[key] = shape_of(ops, frozenset(key), opening, closing)
            values = list(shape.values(fields))
            for at, convert in shape.converts:
                values[at] = convert(values[at])
            for at, made in shape.fills:
                values[at] = made(content)
            return shape.template % tuple(values)

        return Made(fill, tuple(leaf.field for leaf in block.leaves if leaf.field))

    def _with_originals(self, text: str, thing: Thing, originals: Sequence[Original]) -> str:
        own = [one for one in originals if not one.place]
        return restored(text, thing, own, self.tally.restored) if own else text

    def _kept_for(self, thing: Thing) -> list[Original]:
        """What others keep for a unit that they know by its id, or where it has another one here, by its title."""
        group, own_id = mapping().types[thing["t"]].group, str(thing["f"].get("uuid"))
        known = [one for one in self.originals if one.name == group and one.system_id == own_id]
        if not known:
            alike = [one for one in self.originals if one.name == group and not one.system_id]
            known = [one for one in alike if one.state == state_of(one.fields, thing["f"], escaped=True)][:1]
            self.originals = [one for one in self.originals if one not in known]
        return [inner for one in known for inner in one.within]

    def _told(self, content: Content, element: str, things: Sequence[Thing], texts: list[str]) -> list[str]:
        """The texts of things that hang on another, with what it keeps of their originals."""
        holder = content["o"]
        kept = self.originals if holder["t"] == "Arkiv" else originals_of(holder["f"])
        if not kept:
            return texts
        found, left = of_things(kept, element, things)
        for at, some in found.items():
            texts[at] = self._with_originals(texts[at], things[at], [inner for one in some for inner in one.within])
        if holder["t"] != "Arkiv":
            self.tally.restored.left_out += sum(one.leaves() for one in left)
        return texts

    def _nested(self, plan: Plan, nested: Nested) -> Fill:
        types, units = frozenset(nested.types), self.tally.units
        if nested.member != "p":

            def within(content: Content) -> str:
                things = content.get("d", []) if nested.member == "d" else content.get("v", [])
                if not things:
                    return ""
                units[nested.element] += len(things)
                texts = [self.whole(one) for one in things]
                return "".join(self._told(content, nested.element, [one["o"] for one in things], texts))

            return within

        def parts(content: Content) -> str:
            things, linked = content.get("p"), content.get("k")
            held = [one for one in things if one["t"] in types] if things else []
            told = self._told(content, nested.element, held, [self._part(one) for one in held])
            if linked:
                told += [self._part(one["o"]) for one in linked if one["o"] is not None and one["o"]["t"] in types]
            if not told:
                return self._missing(plan, nested) if nested.mandatory else ""
            units[nested.element] += len(told)
            return told[0] if len(told) == 1 else "".join(sorted(told))

        return parts

    def _part(self, thing: Thing) -> str:
        """A part; one that a link leads from is written once for each."""
        links = thing.get("k", [])
        if len(links) > 1:
            return "".join(sorted(self.whole({"o": thing, "k": [link]}) for link in links))
        return self.whole({"o": thing, "k": links} if links else {"o": thing})

    def _missing(self, plan: Plan, nested: Nested) -> str:
        """A part that must be there and is not: written with what is known, which is nothing."""
        self.tally.defaults[plan.type, nested.element, "unknown"] += 1
        return self.whole({"o": {"t": nested.types[0], "f": {}}})

    def _business(self, content: Content) -> str:
        held = vsm.groups_xml(content["o"]["f"].get("virksomhetsspesifikkeMetadata"), left_out=GROUP)
        if self._carried is not None:
            more, count = self._carried(content)
            held += more
            self.tally.carried += count
        if not held:
            return ""
        self.tally.business += 1
        return f"<virksomhetsspesifikkeMetadata>\n{held}</virksomhetsspesifikkeMetadata>\n"


_PLAIN = frozenset({"text", "number", "uuid", "code", "instant", "date", "day", "file"})


def _inside(content: Content) -> tuple[str, ...]:
    """What stands within a content, in the words of `Made.needs`."""
    found = []
    if content.get("d"):
        found.append("+d")
    if content.get("v"):
        found.append("+v")
    parts = content.get("p")
    if parts:
        kinds = [part["t"] for part in parts]
        found += kinds if len(kinds) == 1 else sorted(set(kinds))
    links = content.get("k")
    if links:
        found += ["+k", *sorted({link["o"]["t"] for link in links if link["o"] is not None})]
    return tuple(found)


def _needs(nested: Nested) -> tuple[str, ...]:
    """What must be there for a nested element; one that is mandatory is written in any case."""
    if nested.mandatory:
        return ()
    return (f"+{nested.member}",) if nested.member != "p" else nested.types


class _Names(dict[object, object]):
    """Names of codes; a code without a name stands for itself."""

    def __missing__(self, code: object) -> object:
        return code


def opening_of_structure(opening: str) -> str:
    """The tag of the root with its namespaces."""
    return opening.replace("<arkiv>", f"<arkiv {namespaces(STRUCTURE)}>", 1)


def namespaces(document: str) -> str:
    """The attributes that a root of a document bears."""
    name = namespace(document)
    return f'xmlns="{name}" xmlns:xsi="{XSI_NAMESPACE}" xsi:schemaLocation="{name} {document}.xsd"'


def _several(name: str, between: str, opening: str, closing: str) -> Fill:
    """One element a part of the text; where a part would be empty, the whole text in one."""
    apart = re.compile(rf"(?<!&amp)(?<!&lt)(?<!&gt)(?<!&#13){re.escape(between)}")  # an escaped sign ends so too

    def fill(content: Content) -> str:
        value = content["o"]["f"].get(name)
        if value is None or value == "":
            return ""
        parts = apart.split(str(value))
        if "" in parts:
            parts = [str(value)]
        return "".join([f"{opening}{part}{closing}" for part in parts])

    return fill


def _referring(part: Referring) -> Fill:
    opening = "".join(f"<{name}>" for name in part.path)
    closing = "".join(f"</{name}>" for name in reversed(part.path)) + "\n"

    def fill(content: Content) -> str:
        links = content.get("k")
        if not links:
            return ""
        told = sorted(f"{opening}{link['u']}{closing}" for link in links if link["n"] == part.link)
        return "".join(told if part.many else told[:1])

    return fill
