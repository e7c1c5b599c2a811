"""The units of an extract by their names, and what a report of it may show of them.

What is screened, and what lies in it, keeps its title to itself, and what a finding tells of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.findings import Count, Outcome, Place
from noarkit.forms.noark5.nodes import Node, nodes, text
from noarkit.forms.noark5.read.structure import Unit, units
from noarkit.forms.noark5.spec import STRUCTURE, XML_DOCUMENTS
from noarkit.forms.validation import ValidateResult
from noarkit.model.disclosure import (
    MASK,
    OPEN,
    Disclosure,
    mask_finding,
    of_fields,
    of_whole,
    public_title,
    shown_class,
)
from noarkit.safe.paths import has_file

_PARTS = ("dokumentbeskrivelse", "dokumentobjekt")
_STRUCTURE_FILE = f"{STRUCTURE}.xml"
_UNIT_FILES = frozenset(f"{name}.xml" for name in XML_DOCUMENTS)


def unit_names(package: Path, system_ids: Set[str]) -> Mapping[str, str]:
    """What units with these systemIDs are called: type, title, and the path of a file. Reads the structure once.

    Empty for a package that is no extract in a folder; what cannot be read any more has no name.
    """
    return _look_up(package, system_ids, ()).names


def shown_report(
    package: Path, report: ValidateResult, *, most_places: int | None = None, most_bytes: int | None = None
) -> tuple[ValidateResult, Mapping[str, str]]:
    """A report as people see it, with at most so many places of each rule, and what the units in these are called.

    Of a unit that is screened, has a screened part, or is not known, a place tells what it breaks and where, and not
    with what. A structure of more than `most_bytes` is not read, so that none is known.
    """
    outcomes = [replace(outcome, places=outcome.places[:most_places]) for outcome in report.outcomes]
    places = [place for outcome in outcomes for place in outcome.places]
    ids = {place.system_id for place in places if place.system_id is not None}
    lines = sorted({place.line for place in places if place.line is not None and _is_within_unit(place)})
    structure = package / _STRUCTURE_FILE
    is_read = most_bytes is None or (structure.is_file() and structure.stat().st_size <= most_bytes)
    class_counts = report.counts if most_places is None else ()
    units_ = _look_up(package, ids, lines, class_counts) if is_read and report.form == "noark5" else _Units()
    shown_outcomes = tuple(_shown_outcome(outcome, units_) for outcome in outcomes)
    counts = tuple(_shown_count(count, units_.screened_classes) for count in report.counts)
    return replace(report, outcomes=shown_outcomes, counts=counts), units_.names


@dataclass(slots=True)
class _Units:
    """What is known of the units that a report names, by systemID and by line."""

    names: dict[str, str] = field(default_factory=dict)
    open_ids: set[str] = field(default_factory=set)
    open_lines: set[int] = field(default_factory=set)
    screened_classes: set[tuple[str, ...]] = field(default_factory=set)


def _look_up(package: Path, system_ids: Set[str], lines: Sequence[int], counts: Sequence[Count] = ()) -> _Units:
    """Reads the structure, as far as it tells of these units, those at these lines and the classes that are counted."""
    look_up = _Units()
    if not (system_ids or lines or counts) or not package.is_dir() or not has_file(package, _STRUCTURE_FILE):
        return look_up
    waiting, is_open = list(reversed(lines)), True  # what stands before the first unit is of the document
    try:
        for unit, disclosure in _units(package / _STRUCTURE_FILE):
            while waiting and waiting[-1] < unit.line:
                _add_line(look_up, waiting.pop(), is_open=is_open)
            is_open = not disclosure.hides_key
            _add_names(look_up, (unit.kind, unit.node), system_ids, disclosure)
            if unit.kind == "klasse" and disclosure.is_screened:
                look_up.screened_classes.add((text(unit.node, "klasseID") or "", text(unit.node, "tittel") or ""))
            if not waiting and not counts and len(look_up.names) == len(system_ids):
                break
    except (PackageFault, UnsafeXml):
        return look_up  # the validation itself says that the structure breaks off
    for line in waiting:
        _add_line(look_up, line, is_open=is_open)
    return look_up


def _add_line(look_up: _Units, line: int, *, is_open: bool) -> None:
    if is_open:
        look_up.open_lines.add(line)


def _units(structure: Path) -> Iterator[tuple[Unit, Disclosure]]:
    """Every unit, and what may be shown of it with its parts and what it lies in."""
    above: list[tuple[str, Disclosure]] = []
    for unit in units(structure, lambda _: True):
        while above and above[-1][0] != unit.above:
            above.pop()
        own = of_fields(unit.node, above[-1][1] if above else OPEN)
        yield unit, of_whole(own, [unit.node])
        above.append((unit.key, own))


def _add_names(look_up: _Units, part: tuple[str, Node], system_ids: Set[str], disclosure: Disclosure) -> None:
    """Adds a unit and the documents and versions in it, where they are asked for."""
    kind, node = part
    system_id = text(node, "systemID")
    if system_id is not None and system_id in system_ids:
        look_up.names[system_id] = _name(kind, node, is_screened=disclosure.is_screened)
        if not disclosure.hides_key:
            look_up.open_ids.add(system_id)
    for name in _PARTS:
        for inner in nodes(node, name):
            own = of_fields(inner, disclosure)
            _add_names(look_up, (name, inner), system_ids, of_whole(own, [inner]))


def _name(kind: str, node: Node, *, is_screened: bool) -> str:
    title = public_title(text(node, "tittel") or "", text(node, "offentligTittel"), screened=is_screened)
    number = text(node, "mappeID") or text(node, "registreringsID")
    path = None if is_screened else text(node, "referanseDokumentfil")
    return " ".join(part for part in (kind, number, title and f"«{title}»", path) if part)


def _is_within_unit(place: Place) -> bool:
    return place.system_id is None and place.file.rpartition("/")[2] == _STRUCTURE_FILE


def _shown_outcome(outcome: Outcome, look_up: _Units) -> Outcome:
    return replace(outcome, places=tuple(_shown_place(place, look_up) for place in outcome.places))


def _shown_place(place: Place, look_up: _Units) -> Place:
    if place.system_id is not None:
        is_open = place.system_id in look_up.open_ids
    elif _is_within_unit(place):
        is_open = place.line is None or place.line in look_up.open_lines
    else:
        is_open = place.file.rpartition("/")[2] not in _UNIT_FILES
    is_named = is_open or "/" not in place.file or place.file.rpartition("/")[2] in _UNIT_FILES
    data = mask_finding(place.data, screened=not is_open)
    return replace(place, file=place.file if is_named else MASK, data=data)


def _shown_count(count: Count, screened_classes: Set[tuple[str, ...]]) -> Count:
    """A statistic, without the titles of screened classes."""
    rows = ((_shown_labels(labels) if labels in screened_classes else labels, number) for labels, number in count.rows)
    return replace(count, rows=tuple(rows))


def _shown_labels(labels: tuple[str, ...]) -> tuple[str, ...]:
    """The number of a screened class, where it is one, and a mask for its title."""
    return (shown_class(labels[0], screened=True) or MASK, *(MASK for _ in labels[1:]))
