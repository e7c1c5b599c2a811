"""Documents of an extract made at random from our tables, and broken in one place."""

from __future__ import annotations

import copy
import random

from lxml import etree

from noarkit.forms.noark5.spec import XSI_NAMESPACE
from noarkit.model.xml_model import Document, Element, Group, XmlModel

XSI_TYPE = f"{{{XSI_NAMESPACE}}}type"
DEEP = 7
WORDS = ("Søknad", "a", "  b  ", "1", "Utgår", "2024-01-02", "x\ny", "&<>\"'", "Avsluttet")
BAD = (
    "",
    "x",
    "-1",
    "1.5",
    "2024-13-01",
    "2024-02-30",
    "2024-01-02T25:00:00",
    "12",
    "01234567-89ab",
    "2024-01-02",
    " ",
)
DATES = ("2024-01-02", "1999-12-31", "2024-02-29", "2024-01-02Z", "2024-01-02+01:00")
TIMES = ("2024-01-02T03:04:05", "1999-12-31T23:59:59.123", "2024-01-02T03:04:05Z", "2024-01-02T03:04:05+01:00")


def make(model: XmlModel, document: Document, chance: random.Random, *, first_edition: bool = False) -> etree._Element:
    """A valid document; `first_edition` leaves out what the maintenance of 2023 brought."""
    maker = _Maker(model, document, chance, first_edition)
    return maker.group(document.root, document.root, 0)


class _Maker:
    def __init__(self, model: XmlModel, document: Document, chance: random.Random, first_edition: bool) -> None:
        self._model, self._document, self._chance = model, document, chance
        self._first_edition = first_edition
        self._prefixes = {"n": document.namespace, "xsi": XSI_NAMESPACE}

    def group(self, tag: str, name: str, depth: int) -> etree._Element:
        """One element with all it holds."""
        kind = self._chance.choice(self._document.kinds(name))
        node = etree.Element(f"{{{self._document.namespace}}}{tag}", nsmap=self._prefixes)
        if kind != name:
            node.set(XSI_TYPE, f"n:{kind}")
        group = self._document.groups[kind]
        branch = self._branch(group, depth)
        for element in group.elements:
            if element.choice is None or element.name == branch.get(element.choice):
                self._add(node, element, depth)
        return node

    def _branch(self, group: Group, depth: int) -> dict[int, str]:
        found: dict[int, list[str]] = {}
        for element in group.elements:
            if element.choice is not None and not (element.name == group.name == "arkiv" and depth > 1):
                found.setdefault(element.choice, []).append(element.name)
        return {choice: self._chance.choice(names) for choice, names in found.items()}

    def _add(self, node: etree._Element, element: Element, depth: int) -> None:
        if self._first_edition and element.since_2023:
            return
        times = element.least
        if depth <= DEEP and self._chance.random() < (0.5 if element.group is None or depth < 4 else 0.25):
            times = self._chance.choice((1, 2)) if element.most is None else 1
        for _ in range(times):
            if element.group:
                node.append(self.group(element.name, element.group, depth + 1))
            else:
                self._leaf(node, element)

    def _leaf(self, node: etree._Element, element: Element) -> None:
        leaf = etree.SubElement(node, f"{{{self._document.namespace}}}{element.name}")
        leaf.text = self._text(element)
        if element.kind == "labelled-uuid" and self._chance.random() < 0.1:
            leaf.set("label", "x")
        if element.kind == "any" and self._chance.random() < 0.5:
            etree.SubElement(leaf, "{urn:own}felt").text = "verdi"

    def _text(self, element: Element) -> str:
        chance = self._chance
        match element.kind:
            case "code":
                return chance.choice(element.codes)
            case "uuid" | "labelled-uuid":
                digits = f"{chance.getrandbits(128):032x}"
                return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
            case "date":
                return chance.choice(DATES)
            case "dateTime":
                return chance.choice(TIMES)
            case "moment":
                return chance.choice(DATES + TIMES)
            case "integer":
                return str(chance.randrange(-3, 3000))
            case "size":
                return str(chance.randrange(10**12))
            case "string" if chance.random() < 0.1:
                return ""
            case _:
                return chance.choice(WORDS)


def broken(whole: etree._Element, chance: random.Random) -> etree._Element:
    """A copy with one change, which may or may not make it invalid."""
    root = copy.deepcopy(whole)
    chosen = chance.choice([one for one in root.iter() if isinstance(one.tag, str)])
    parent = chosen.getparent()
    name = chance.choice(("text", "text", "attribute", "kind", "child", "tail") if parent is None else _MUTATIONS)
    if name == "text":
        chosen.text = chance.choice(BAD)
    elif name == "attribute":
        chosen.set(chance.choice(("label", "noe", f"{{{XSI_NAMESPACE}}}nil")), chance.choice(("true", "x")))
    elif name == "kind":
        chosen.set(
            XSI_TYPE, chance.choice(("n:saksmappe", "n:journalpost", "n:arkivnotat", "n:finnes-ikke", "arkivnotat"))
        )
    elif name == "child":
        etree.SubElement(chosen, chance.choice((chosen.tag, "{urn:own}fremmed", "utenfor")))
    elif name == "tail" or parent is None:
        chosen.tail = "tekst mellom"
    else:
        _displace(chosen, parent, name, chance)
    return root


_MUTATIONS = ("text", "text", "attribute", "kind", "child", "tail", "drop", "drop", "double", "move", "rename", "space")


def _displace(chosen: etree._Element, parent: etree._Element, name: str, chance: random.Random) -> None:
    at = parent.index(chosen)
    if name == "drop":
        parent.remove(chosen)
    elif name == "double":
        parent.insert(at, copy.deepcopy(chosen))
    elif name == "move":
        parent.insert(chance.randrange(len(parent)), chosen)
    elif name == "rename":
        other = chance.choice(list(parent))
        chosen.tag = other.tag
    else:
        chosen.tag = "{urn:own}" + etree.QName(chosen).localname
