"""Writes units of an archive as elements of arkivstruktur.xml.

Plans are compiled to short lists of operations, one an element; a unit becomes one text, and no tree is ever built.
What the form wants and the archive does not hold is filled by the rule the table names, and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from noarkit.model.mapping import mapping
from noarkit.packages.noark5 import vsm
from noarkit.packages.noark5.content import Codes, Content, Thing
from noarkit.packages.noark5.elements import Block, Leaf, Nested, Part, Plan, Referring, plan_of
from noarkit.packages.noark5.moments import Moments
from noarkit.packages.noark5.screened import screened_parts
from noarkit.packages.noark5.spec import STRUCTURE, XSI_NAMESPACE, namespace

Fill = Callable[[Content], str]
Op = tuple[int, str, str, str, Fill | None, Fill | None]

_TEXT, _CODE, _INSTANT, _DAY, _FILL = range(5)
_HOW: Mapping[str, int] = {
    "text": _TEXT,
    "number": _TEXT,
    "uuid": _TEXT,
    "code": _CODE,
    "instant": _INSTANT,
    "date": _DAY,
    "day": _DAY,
}
_FILE_FACTS: Mapping[str, str] = {"sjekksum": "sha256", "filstoerrelse": "size", "referanseDokumentfil": "path"}
_DISPOSED = "K"


@dataclass(slots=True)
class Tally:
    """What was written: units by element, defaults by type, element and rule, and the sets of fields that were met."""

    units: Counter[str] = field(default_factory=Counter)
    defaults: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    met: dict[tuple[str, tuple[str, ...]], int] = field(default_factory=dict)
    screened: int = 0
    disposals: int = 0
    disposed: int = 0
    business: int = 0
    files: int = 0


@dataclass(frozen=True, slots=True)
class Closing:
    """When and by whom a unit was closed, ready for XML."""

    time: str
    name: str


class Writer:
    """Things as text. `above` is how the nearest closed unit above was closed; whoever walks the tree keeps it."""

    def __init__(
        self, codes: Codes, moments: Moments, begun: str, carried: Callable[[Content], str] | None = None
    ) -> None:
        texts = mapping().words.texts
        self.tally = Tally()
        self.above = Closing(moments.local(begun), texts["unknown"])
        self._codes = codes
        self._moments = moments
        self._unknown = texts["unknown"]
        self._carried = carried
        self._compiled: dict[str, tuple[str, tuple[Op, ...], tuple[Op, ...], str]] = {}

    def whole(self, content: Content) -> str:
        """A thing with all that stands within it."""
        opening, before, after, closing = self._plan(content["o"]["t"])
        return f"{opening}{self._filled(content, before, counted=True)}{self._filled(content, after)}{closing}"

    def halves(self, content: Content) -> tuple[str, str]:
        """A unit as what stands before the units below it, and what stands after them."""
        opening, before, after, closing = self._plan(content["o"]["t"])
        return opening + self._filled(content, before, counted=True), self._filled(content, after) + closing

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

    def _filled(self, content: Content, ops: tuple[Op, ...], *, counted: bool = False) -> str:
        fields = content["o"]["f"]
        if counted:
            key = (content["o"]["t"], tuple(fields))
            met = self.tally.met
            met[key] = met.get(key, 0) + 1
        local, day, out = self._moments.local, self._moments.day, []
        for how, name, opening, closing, fill, fallback in ops:
            if how == _FILL:
                out.append(fill(content))  # type: ignore[misc]  # an operation of this kind has one
                continue
            value = fields.get(name)
            if value is None or value == "":
                if fallback is not None:
                    out.append(f"{opening}{fallback(content)}{closing}")
                continue
            if how == _CODE:
                value = self._codes.names[name].get(value, value)  # type: ignore[call-overload]  # codes are texts
            elif how == _INSTANT:
                value = local(value)
            elif how == _DAY:
                value = day(value)
            out.append(f"{opening}{value}{closing}")
        return "".join(out)

    def _op(self, plan: Plan, part: Part) -> Op:
        if isinstance(part, Leaf):
            return self._leaf(plan, part)
        if isinstance(part, Block):
            return (_FILL, "", "", "", self._block(plan, part), None)
        if isinstance(part, Nested):
            return (_FILL, "", "", "", self._nested(plan, part), None)
        return (_FILL, "", "", "", _referring(part), None)

    def _leaf(self, plan: Plan, leaf: Leaf) -> Op:
        opening, closing = (f"<{leaf.element}>", f"</{leaf.element}>\n") if leaf.element else ("", "")
        fact = _FILE_FACTS.get(leaf.field) if plan.type == "Dokumentversjon" else None
        if fact is not None:
            return (_FILL, "", "", "", _file_fact(fact, opening, closing), None)
        if plan.type == "Dokumentversjon" and leaf.field == "sjekksumAlgoritme":
            return (_FILL, "", "", "", lambda _: f"{opening}SHA-256{closing}", None)
        fallback = self._fallback(plan.type, leaf) if leaf.mandatory else None
        if leaf.rule in _HOW and leaf.field:
            how = _HOW[leaf.rule]
            if how == _CODE and leaf.field not in self._codes.names:
                how = _TEXT
            return (how, leaf.field, opening, closing, None, fallback)
        return (_FILL, "", "", "", self._by_rule(plan.type, leaf, opening, closing), None)

    def _by_rule(self, type_name: str, leaf: Leaf, opening: str, closing: str) -> Fill:
        if leaf.rule in ("list", "lines"):
            return _several(leaf.field, "; " if leaf.rule == "list" else "\n", opening, closing)
        if leaf.rule == "business":
            return self._business
        if leaf.rule == "screened-parts":
            told = "".join(f"{opening}{one}{closing}" for one in screened_parts(type_name))
            return lambda _: told
        rule = self._rule(leaf.rule)
        return lambda content: f"{opening}{rule(content)}{closing}"

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
            "linked-time": lambda content: self._moments.local(content["o"]["f"].get("opprettetDato", "")),
            "linked-name": lambda content: str(content["o"]["f"].get("opprettetAv") or self._unknown),
            "authority": self._authority,
            "disposal-date": self._disposal_date,
        }
        return rules[name]

    def _authority(self, content: Content) -> str:
        found = self._codes.authorities.get(str(content["o"]["f"].get("skjerming")))
        if not found:
            self.tally.defaults[content["o"]["t"], "skjermingshjemmel", "authority"] += 1
        return found or self._unknown

    def _disposal_date(self, content: Content) -> str:
        fields = content["o"]["f"]
        began = fields.get("avsluttetDato") or fields.get("opprettetDato") or self.above.time
        return self._moments.years_later(began, fields.get("bevaringstid", 0))

    def _block(self, plan: Plan, block: Block) -> Fill:
        ops = tuple(self._leaf(plan, leaf) for leaf in block.leaves)
        triggers = tuple(leaf.field for leaf in block.leaves if leaf.field)
        opening, closing, tally = f"<{block.element}>\n", f"</{block.element}>\n", self.tally

        def fill(content: Content) -> str:
            fields = content["o"]["f"]
            for name in triggers:
                if fields.get(name) not in (None, ""):
                    break
            else:
                return ""
            if block.element == "skjerming":
                tally.screened += 1
            elif block.element == "utfoertKassasjon":
                tally.disposed += 1
            elif fields.get("kassasjonsvedtak") == _DISPOSED:
                tally.disposals += 1
            return f"{opening}{self._filled(content, ops)}{closing}"

        return fill

    def _nested(self, plan: Plan, nested: Nested) -> Fill:
        types, units = frozenset(nested.types), self.tally.units
        if nested.member != "p":

            def within(content: Content) -> str:
                things = content.get("d", []) if nested.member == "d" else content.get("v", [])
                if not things:
                    return ""
                units[nested.element] += len(things)
                return "".join([self.whole(one) for one in things])

            return within

        def parts(content: Content) -> str:
            things = content.get("p")
            told = [self._part(one) for one in things if one["t"] in types] if things else []
            linked = content.get("k")
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
        return self.whole({"o": thing, "k": links})

    def _missing(self, plan: Plan, nested: Nested) -> str:
        """A part that must be there and is not: written with what is known, which is nothing."""
        self.tally.defaults[plan.type, nested.element, "unknown"] += 1
        return self.whole({"o": {"t": nested.types[0], "i": "", "f": {}, "l": {}}})

    def _business(self, content: Content) -> str:
        held = vsm.groups_xml(content["o"]["f"].get("virksomhetsspesifikkeMetadata"))
        if self._carried is not None:
            held += self._carried(content)
        if not held:
            return ""
        self.tally.business += 1
        return f"<virksomhetsspesifikkeMetadata>\n{held}</virksomhetsspesifikkeMetadata>\n"


_MISSING: Mapping[str, str] = {"number": "zero", "instant": "closing-time", "date": "closing-day", "day": "closing-day"}


def opening_of_structure(opening: str) -> str:
    """The tag of the root with its namespaces."""
    return opening.replace("<arkiv>", f"<arkiv {namespaces(STRUCTURE)}>", 1)


def namespaces(document: str) -> str:
    """The attributes that a root of a document bears."""
    name = namespace(document)
    return f'xmlns="{name}" xmlns:xsi="{XSI_NAMESPACE}" xsi:schemaLocation="{name} {document}.xsd"'


def _file_fact(name: str, opening: str, closing: str) -> Fill:
    member = name

    def fill(content: Content) -> str:
        return f"{opening}{content[member]}{closing}"  # type: ignore[literal-required]  # one of the three of _FILE_FACTS

    return fill


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
