"""Writes units of an archive as elements of arkivstruktur.xml.

Plans (`elements`) are compiled to short lists of operations, one for each element; these to templates (`shapes`,
`record_templates`). A unit becomes one text, and no tree is ever built:

    {"t": "Merknad", "f": {"tekst": "Seen", "opprettetDato": …, "opprettetAv": "Kari"}}
        ->  <merknad><merknadstekst>Seen</merknadstekst><merknadsdato>…</merknadsdato>…</merknad>

What the form wants and the archive does not hold is filled by the rule the table names, and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape

from noarkit.forms.noark5.conversions import ELEMENT, conversion_elements
from noarkit.forms.noark5.moments import Moments
from noarkit.forms.noark5.read.original import GROUP, Original, state_of
from noarkit.forms.noark5.screened import withheld_parts
from noarkit.forms.noark5.spec import STRUCTURE, XSI_NAMESPACE, namespace
from noarkit.forms.noark5.write import vsm
from noarkit.forms.noark5.write.content import Codes, Content, EntityData, xml_text
from noarkit.forms.noark5.write.elements import Block, Leaf, Nested, Part, Plan, Reference, plan_of
from noarkit.forms.noark5.write.record_templates import RecordTemplates
from noarkit.forms.noark5.write.restoring import CUT, RestoreCount, match_originals, originals_of, restore_elements
from noarkit.forms.noark5.write.shapes import ComputedPart, Convert, Field, Fill, Op, Shape, shape_of
from noarkit.model.conversions import parse_details
from noarkit.model.mapping import BUSINESS_METADATA, mapping

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
    """What was written: units by element, defaults by type, element and rule; `carried_values` are those that the form
    has no element for and that stand in business-specific metadata."""

    units: Counter[str] = field(default_factory=Counter)
    defaults: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    screened: int = 0
    disposals: int = 0
    disposed: int = 0
    business: int = 0
    carried_values: int = 0
    files: int = 0
    restore_count: RestoreCount = field(default_factory=RestoreCount)

    @property
    def is_screened(self) -> bool:
        """True if anything is screened, whether it was written or put back as it was."""
        return self.screened + self.restore_count.elements["skjerming"] > 0

    @property
    def has_disposal_decisions(self) -> bool:
        """The same for decisions on disposal."""
        return self.disposals + self.restore_count.elements["kassasjon"] > 0

    @property
    def has_disposed(self) -> bool:
        """The same for what was disposed of."""
        return self.disposed + self.restore_count.elements["utfoertKassasjon"] > 0

    @property
    def has_business_metadata(self) -> bool:
        """The same for metadata of the archive's own making."""
        return self.business + self.restore_count.elements[BUSINESS_METADATA] > 0

    def add(self, tally: Tally) -> None:
        """Adds what another writer wrote."""
        self.units.update(tally.units)
        self.defaults.update(tally.defaults)
        self.screened += tally.screened
        self.disposals += tally.disposals
        self.disposed += tally.disposed
        self.business += tally.business
        self.carried_values += tally.carried_values
        self.files += tally.files
        self.restore_count.add(tally.restore_count)


@dataclass(frozen=True, slots=True)
class ClosingInfo:
    """When and by whom a unit was closed, ready for XML."""

    time: str
    name: str


class Writer:
    """Things as text. `above` is how the nearest closed unit above was closed; whoever walks the tree keeps it.
    `originals` are what others keep for the fonds, series and classification systems above them."""

    def __init__(
        self,
        codes: Codes,
        moments: Moments,
        started_at: str,
        render_carried: Callable[[Content], tuple[str, int]] | None = None,
    ) -> None:
        texts = mapping().words.texts
        self.tally = Tally()
        self.above = ClosingInfo(moments.local(started_at), texts["unknown"])
        self.originals: Sequence[Original] = ()
        self._codes = codes
        self._moments = moments
        self._unknown = texts["unknown"]
        self._render_carried = render_carried
        self._compiled: dict[str, tuple[str, tuple[Op, ...], tuple[Op, ...], str]] = {}
        self._shapes: dict[_Key, Shape] = {}
        self._field_counts: Counter[tuple[str, str]] = Counter()
        self._templates = RecordTemplates(self._plan, self.tally.units)

    def render(self, content: Content) -> str:
        """A thing with all that stands within it. No text in it may be empty (`content.parse` sees to that)."""
        if "d" in content:
            # Only records have documents; the quick way gives the same text or declines.
            record_text = self._templates.render(content)
            if record_text is not None:
                return record_text
        text = self._render_half(content, 2, _content_markers(content) if len(content) > 1 else ())
        return self._with_originals(text, content["o"], originals_of(content["o"]["f"]))

    def render_halves(self, content: Content) -> tuple[str, str]:
        """A unit as what stands before the units below it, and what stands after them."""
        inside = _content_markers(content)
        before, after = self._render_half(content, 0, inside), self._render_half(content, 1, inside)
        entity = content["o"]
        originals = [*originals_of(entity["f"]), *self._originals_for(entity)]
        if originals:
            # Restored as one text with a mark where the units go, for an element to be put back may belong on either
            # side of it.
            before, _, after = self._with_originals(f"{before}{CUT}{after}", entity, originals).partition(CUT)
        return before, after

    def field_counts(self) -> Counter[tuple[str, str]]:
        """How many of the things that were written had each field set, by type and field."""
        self._count_shapes()
        return self._field_counts + self._templates.field_counts()

    def closing_of(self, entity: EntityData) -> ClosingInfo:
        """How a unit was closed, or what was above it."""
        fields = entity["f"]
        if "avsluttetDato" not in fields:
            return self.above
        return ClosingInfo(
            self._moments.local(fields["avsluttetDato"]), str(fields.get("avsluttetAv") or self._unknown)
        )

    def _plan(self, type_name: str) -> tuple[str, tuple[Op, ...], tuple[Op, ...], str]:
        compiled = self._compiled.get(type_name)
        if compiled is None:
            plan = plan_of(type_name)
            before = tuple(self._op(plan, part) for part in plan.before)
            after = tuple(self._op(plan, part) for part in plan.after)
            compiled = self._compiled[type_name] = (plan.start_tag, before, after, plan.end_tag)
        return compiled

    def _render_half(self, content: Content, half: int, inside: tuple[str, ...]) -> str:
        """A thing, or the first (0) or second (1) half of it."""
        entity = content["o"]
        fields = entity["f"]
        # Everything that decides which elements are written; values never do.
        key = (entity["t"], half, tuple(fields), inside)
        shape = self._shapes.get(key) or self._new_shape(key)
        shape.count += 1
        values = list(shape.values(fields))
        for at, convert in shape.converts:
            values[at] = convert(values[at])
        for at, fill in shape.fills:
            values[at] = fill(content)
        return shape.template % tuple(values)

    def _new_shape(self, key: _Key) -> Shape:
        """The shape for a type, one of its halves or both (2), the fields that are set, and what stands within."""
        type_name, half, names, inside = key
        start_tag, before, after, end_tag = self._plan(type_name)
        ops = before + after if half == 2 else (before, after)[half]
        there = frozenset((*names, *inside))
        shape = shape_of(ops, there, "" if half == 1 else start_tag, "" if half == 0 else end_tag)
        if len(self._shapes) >= _MOST_SHAPES:
            self._count_shapes()
            self._shapes.clear()
        self._shapes[key] = shape
        return shape

    def _count_shapes(self) -> None:
        for (type_name, half, names, _), shape in self._shapes.items():
            # A unit that is written in two halves is counted once.
            if half != 1:
                for name in names:
                    self._field_counts[type_name, name] += shape.count
            shape.count = 0

    def _op(self, plan: Plan, part: Part) -> Op:
        if isinstance(part, Leaf):
            return self._leaf(plan, part)
        if isinstance(part, Block):
            return self._block(plan, part)
        if isinstance(part, Nested):
            return ComputedPart(self._nested(plan, part), _needs(part), part)
        return ComputedPart(_reference_element(part), ("+k",))

    def _leaf(self, plan: Plan, leaf: Leaf) -> Op:
        start_tag, end_tag = (f"<{leaf.element}>", f"</{leaf.element}>\n") if leaf.element else ("", "")
        fallback = self._fallback(plan.type, leaf) if leaf.mandatory else None
        field_name, rule = _SAME_AS.get(leaf.rule, (leaf.field, leaf.rule))
        if field_name and rule in _PLAIN:
            return Field(field_name, start_tag, end_tag, self._convert(field_name, rule), fallback)
        return self._by_rule(plan.type, leaf, start_tag, end_tag)

    def _convert(self, field_name: str, rule: str) -> Convert | None:
        if rule == "instant":
            return self._moments.local
        if rule in ("date", "day"):
            return self._moments.day
        names = self._codes.names_of(field_name) if rule == "code" else {}
        return _Names(names).__getitem__ if names else None

    def _by_rule(self, type_name: str, leaf: Leaf, start_tag: str, end_tag: str) -> ComputedPart:
        if leaf.rule in ("list", "lines"):
            several = _repeated_element(leaf.field, "; " if leaf.rule == "list" else "\n", start_tag, end_tag)
            return ComputedPart(several, (leaf.field,))
        if leaf.rule == "business":
            return ComputedPart(self._business, () if self._render_carried is not None else (leaf.field,))
        if leaf.rule == "conversion":
            return ComputedPart(self._conversion(leaf.field), (leaf.field,))
        if leaf.rule == "screened-parts":
            return ComputedPart(self._screened_parts(type_name, start_tag, end_tag))
        rule = self._rule(leaf.rule)
        return ComputedPart(lambda content: f"{start_tag}{rule(content)}{end_tag}")

    def _fallback(self, type_name: str, leaf: Leaf) -> Fill:
        name = leaf.fallback or _MISSING.get(leaf.rule, "unknown")
        rule, defaults, key = self._rule(name), self.tally.defaults, (type_name, leaf.element, name)

        def fill_default(content: Content) -> str:
            # Every default is counted: what the extract says and the archive does not must show in its report.
            defaults[key] += 1
            return rule(content)

        return fill_default

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
        authority = self._codes.authorities.get(str(content["o"]["f"].get("skjerming")))
        if not authority:
            self.tally.defaults[content["o"]["t"], "skjermingshjemmel", "authority"] += 1
        return authority or self._unknown

    def _conversion(self, field_name: str) -> Fill:
        def fill(content: Content) -> str:
            conversion = parse_details(unescape(str(content["o"]["f"].get(field_name, ""))))
            elements = conversion_elements(conversion, self._moments) if conversion is not None else None
            if elements is None:
                return ""
            self.tally.units[ELEMENT] += 1
            within = "".join(f"<{name}>{xml_text(text)}</{name}>\n" for name, text in elements.items())
            return f"<{ELEMENT}>\n{within}</{ELEMENT}>\n"

        return fill

    def _screened_parts(self, type_name: str, start_tag: str, end_tag: str) -> Fill:
        def fill(content: Content) -> str:
            parts = withheld_parts(content)
            if not parts:
                self.tally.defaults[type_name, "skjermingMetadata", "unknown"] += 1
            return "".join(f"{start_tag}{part}{end_tag}" for part in parts or (self._unknown,))

        return fill

    def _disposal_date(self, content: Content) -> str:
        fields = content["o"]["f"]
        began = fields.get("avsluttetDato") or fields.get("opprettetDato") or self.above.time
        return self._moments.years_later(began, fields.get("bevaringstid", 0))

    def _block(self, plan: Plan, block: Block) -> ComputedPart:
        ops = tuple(self._leaf(plan, leaf) for leaf in block.leaves)
        start_tag, end_tag, tally = f"<{block.element}>\n", f"</{block.element}>\n", self.tally
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
                shape = shapes[key] = shape_of(ops, frozenset(key), start_tag, end_tag)
            values = list(shape.values(fields))
            for at, convert in shape.converts:
                values[at] = convert(values[at])
            for at, compute in shape.fills:
                values[at] = compute(content)
            return shape.template % tuple(values)

        return ComputedPart(fill, tuple(leaf.field for leaf in block.leaves if leaf.field))

    def _with_originals(self, text: str, entity: EntityData, originals: Sequence[Original]) -> str:
        own = [original for original in originals if not original.place]
        return restore_elements(text, entity, own, self.tally.restore_count) if own else text

    def _originals_for(self, entity: EntityData) -> list[Original]:
        """What others keep for a unit that they know by its id, or where it has another one here, by its title."""
        group, own_id = mapping().types[entity["t"]].group, str(entity["f"].get("uuid"))
        matches = [original for original in self.originals if original.name == group and original.system_id == own_id]
        if not matches:
            alike = [original for original in self.originals if original.name == group and not original.system_id]
            matches = [
                original for original in alike if original.state == state_of(original.fields, entity["f"], escaped=True)
            ][:1]
            self.originals = [original for original in self.originals if original not in matches]
        return [inner for original in matches for inner in original.within]

    def _restore_texts(
        self, content: Content, element: str, entities: Sequence[EntityData], texts: list[str]
    ) -> list[str]:
        """The texts of things that hang on another, with what it keeps of their originals."""
        holder = content["o"]
        originals = self.originals if holder["t"] == "Arkiv" else originals_of(holder["f"])
        if not originals:
            return texts
        by_place, unmatched = match_originals(originals, element, entities)
        for at, group in by_place.items():
            texts[at] = self._with_originals(
                texts[at], entities[at], [inner for original in group for inner in original.within]
            )
        if holder["t"] != "Arkiv":
            self.tally.restore_count.left_out += sum(original.leaves() for original in unmatched)
        return texts

    def _nested(self, plan: Plan, nested: Nested) -> Fill:
        types, units = frozenset(nested.types), self.tally.units
        if nested.member != "p":

            def within(content: Content) -> str:
                contents = content.get("d", []) if nested.member == "d" else content.get("v", [])
                if not contents:
                    return ""
                units[nested.element] += len(contents)
                texts = [self.render(inner) for inner in contents]
                return "".join(self._restore_texts(content, nested.element, [inner["o"] for inner in contents], texts))

            return within

        def parts(content: Content) -> str:
            entities, links = content.get("p"), content.get("k")
            matching = [item for item in entities if item["t"] in types] if entities else []
            texts = self._restore_texts(content, nested.element, matching, [self._part(item) for item in matching])
            if links:
                texts += [self._part(item["o"]) for item in links if item["o"] is not None and item["o"]["t"] in types]
            if not texts:
                return self._missing(plan, nested) if nested.mandatory else ""
            units[nested.element] += len(texts)
            # Sorted as text: the archive promises no order of parts, and two extracts of one archive must be the same,
            # byte by byte.
            return texts[0] if len(texts) == 1 else "".join(sorted(texts))

        return parts

    def _part(self, entity: EntityData) -> str:
        """A part; one that a link leads from is written once for each."""
        links = entity.get("k", [])
        if len(links) > 1:
            return "".join(sorted(self.render({"o": entity, "k": [link]}) for link in links))
        return self.render({"o": entity, "k": links} if links else {"o": entity})

    def _missing(self, plan: Plan, nested: Nested) -> str:
        """Renders a mandatory part that the archive does not have, from an object without fields."""
        self.tally.defaults[plan.type, nested.element, "unknown"] += 1
        return self.render({"o": {"t": nested.types[0], "f": {}}})

    def _business(self, content: Content) -> str:
        content_xml = vsm.groups_xml(content["o"]["f"].get("virksomhetsspesifikkeMetadata"), left_out=GROUP)
        if self._render_carried is not None:
            more, count = self._render_carried(content)
            content_xml += more
            self.tally.carried_values += count
        if not content_xml:
            return ""
        self.tally.business += 1
        return f"<virksomhetsspesifikkeMetadata>\n{content_xml}</virksomhetsspesifikkeMetadata>\n"


_PLAIN = frozenset({"text", "number", "uuid", "code", "instant", "date", "day", "file"})


def _content_markers(content: Content) -> tuple[str, ...]:
    """What stands within a content, in the words of `ComputedPart.needs`."""
    markers = []
    if content.get("d"):
        markers.append("+d")
    if content.get("v"):
        markers.append("+v")
    parts = content.get("p")
    if parts:
        kinds = [part["t"] for part in parts]
        markers += kinds if len(kinds) == 1 else sorted(set(kinds))
    links = content.get("k")
    if links:
        markers += ["+k", *sorted({link["o"]["t"] for link in links if link["o"] is not None})]
    return tuple(markers)


def _needs(nested: Nested) -> tuple[str, ...]:
    """What must be there for a nested element; one that is mandatory is written in any case."""
    if nested.mandatory:
        return ()
    return (f"+{nested.member}",) if nested.member != "p" else nested.types


class _Names(dict[object, object]):
    """Names of codes; a code without a name stands for itself."""

    def __missing__(self, code: object) -> object:
        return code


def structure_start_tag(start_tag: str) -> str:
    """The tag of the root with its namespaces."""
    return start_tag.replace("<arkiv>", f"<arkiv {namespaces(STRUCTURE)}>", 1)


def namespaces(document: str) -> str:
    """The attributes that a root of a document bears."""
    name = namespace(document)
    return f'xmlns="{name}" xmlns:xsi="{XSI_NAMESPACE}" xsi:schemaLocation="{name} {document}.xsd"'


def _repeated_element(name: str, between: str, start_tag: str, end_tag: str) -> Fill:
    """One element a part of the text; where a part would say nothing, the whole text in one: a reader drops blanks."""
    separator = re.compile(rf"(?<!&amp)(?<!&lt)(?<!&gt)(?<!&#13){re.escape(between)}")  # an escaped sign ends so too

    def fill(content: Content) -> str:
        value = content["o"]["f"].get(name)
        if value is None or value == "":
            return ""
        # Values are escaped by now, so «; » may be the end of an entity: `Per &amp; Kari` must not be cut behind
        # `&amp;`.
        parts = separator.split(str(value))
        if not all(part.replace("&#13;", "").strip() for part in parts):
            parts = [str(value)]
        return "".join([f"{start_tag}{part}{end_tag}" for part in parts])

    return fill


def _reference_element(part: Reference) -> Fill:
    start_tag = "".join(f"<{name}>" for name in part.path)
    end_tag = "".join(f"</{name}>" for name in reversed(part.path)) + "\n"

    def fill(content: Content) -> str:
        links = content.get("k")
        if not links:
            return ""
        elements = sorted(f"{start_tag}{link['u']}{end_tag}" for link in links if link["n"] == part.link)
        return "".join(elements if part.many else elements[:1])

    return fill
