"""The units of an extract by their names, so that a report need not name them by systemID alone.

What is screened, and what lies in it, keeps its title to itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from pathlib import Path

from noarkit.catalogue.masking import MASK, mask_text
from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.noark5.nodes import Node, nodes, text
from noarkit.forms.noark5.read.structure import Unit, units
from noarkit.forms.noark5.spec import STRUCTURE
from noarkit.safe.paths import has_file

_PARTS = ("dokumentbeskrivelse", "dokumentobjekt")


def unit_names(package: Path, system_ids: Set[str]) -> Mapping[str, str]:
    """What units with these systemIDs are called: type, title, and the path of a file. Reads the structure once.

    Empty for a package that is no extract in a folder; what cannot be read any more has no name.
    """
    structure = f"{STRUCTURE}.xml"
    if not system_ids or not package.is_dir() or not has_file(package, structure):
        return {}
    names: dict[str, str] = {}
    try:
        for unit, is_screened in _units(package / structure):
            names.update(_names(unit.kind, unit.node, system_ids, is_screened=is_screened))
            if len(names) == len(system_ids):
                break
    except (PackageFault, UnsafeXml):
        return names  # the validation itself says that the structure breaks off
    return names


def _units(structure: Path) -> Iterator[tuple[Unit, bool]]:
    """Every unit, and whether it or a unit around it is screened."""
    above: list[tuple[str, bool]] = []
    for unit in units(structure, lambda _: True):
        while above and above[-1][0] != unit.above:
            above.pop()
        is_screened = _screens(unit.node) or bool(above and above[-1][1])
        yield unit, is_screened
        above.append((unit.key, is_screened))


def _names(kind: str, node: Node, system_ids: Set[str], *, is_screened: bool) -> Iterator[tuple[str, str]]:
    """The names of a unit and of the documents and versions in it, where they are asked for."""
    is_screened = is_screened or _screens(node)
    system_id = text(node, "systemID")
    if system_id is not None and system_id in system_ids:
        yield system_id, _name(kind, node, is_screened=is_screened)
    for part in _PARTS:
        for inner in nodes(node, part):
            yield from _names(part, inner, system_ids, is_screened=is_screened)


def _screens(node: Node) -> bool:
    """True where a unit, document or version says of itself that it is screened, graded or hidden from the public."""
    return "skjerming" in node or "gradering" in node or text(node, "skjermEInnsyn") == "true"


def _name(kind: str, node: Node, *, is_screened: bool) -> str:
    title = text(node, "tittel")
    if title is not None and is_screened:
        title = MASK
    elif title is not None:
        title = mask_text(title)
    number = text(node, "mappeID") or text(node, "registreringsID")
    path = None if is_screened else text(node, "referanseDokumentfil")
    return " ".join(part for part in (kind, number, title and f"«{title}»", path) if part)
