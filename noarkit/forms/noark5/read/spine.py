"""Orders what all else stands in: fonds, creators, classification systems, classes and series, parents first.

A series is told after the classification systems that stand before its first folder or record, because it links to
them; the system that holds those is its primary one. A case file that stands in no class gets one of our own. Where
nothing is said of when a unit was closed, that was with what it stands in: its folder, its series, or its fonds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from noarkit.forms.noark5.nodes import Node, text
from noarkit.forms.noark5.read.entities import EntityBuilder
from noarkit.forms.noark5.read.structure import Unit
from noarkit.forms.noark5.read.unit_notes import UnitNotes
from noarkit.graph.entity import Entity, FieldValue

OWN_SYSTEM_TITLE = "Uten klassifikasjon"
OWN_CLASS_IDENT = "0"
OWN_CLASS_TITLE = "Uten klasse"
# what is made up is as old as what it is made for, and not of the day of the load
_DATES = ("opprettetDato", "opprettetAv", "avsluttetDato", "avsluttetAv")
_CLOSED = ("avsluttetDato", "avsluttetAv")
_CLOSINGS: Mapping[str, tuple[str, str]] = {"mappe": _CLOSED, "registrering": ("arkivertDato", "arkivertAv")}
_MOST_FOLDERS = 10_000


class Spine:
    """Takes the units above folders and records as they come; says what of them is ready to be planned."""

    def __init__(self, maker: EntityBuilder) -> None:
        self._maker = maker
        self._series: Unit | None = None
        self._series_emitted = False
        self._primary = ""
        self._systems: list[tuple[Unit, list[Entity]]] = []
        self._own_class = ""
        self._series_dates: dict[str, FieldValue] = {}
        self._fonds_dates: dict[str, FieldValue] = {}
        self._folders: dict[str, tuple[str, ...]] = {}
        self._nodes: dict[str, Node] = {}
        self._after: dict[str, str] = {}
        self._before: dict[str, str] = {}

    def take(self, unit: Unit, notes: UnitNotes) -> Iterator[Entity]:
        """One unit; yields what is ready with it."""
        if unit.kind in ("arkiv", "arkivdel"):
            self._nodes[unit.kind] = unit.node
        if unit.kind == "arkiv":
            yield from self.finish(notes)
            fonds = self._maker.fonds(unit, notes)
            self._fonds_dates = _dates(fonds[0])
            yield from fonds
        elif unit.kind == "arkivdel":
            yield from self.finish(notes)
            self._series, self._series_emitted, self._primary, self._own_class = unit, False, "", ""
        elif unit.kind == "klassifikasjonssystem":
            yield from self._later_system(notes)
            self._systems.append((unit, []))
        elif self._systems:
            system, classes = self._systems[-1]
            klasse = self._maker.klasse(unit, system.key, notes)
            if self._series_emitted and self._primary == system.key:
                yield self._with_closing(klasse, notes)
            else:
                classes.append(klasse)

    @property
    def is_settled(self) -> bool:
        """True if nothing waits to be told before the next folder or record."""
        only_primary = not self._systems or (len(self._systems) == 1 and self._systems[0][0].key == self._primary)
        return self._series_emitted and only_primary

    def before(self, unit: Unit, notes: UnitNotes) -> Iterator[Entity]:
        """What a folder or record needs to stand first."""
        inside = bool(unit.klasse) or unit.above_kind == "klassifikasjonssystem"
        if not self._series_emitted:
            current = self._systems[-1][0].key if self._systems and inside else ""
            yield from self._emit_series(current, notes)
        elif inside and self._systems:
            # a further system that holds something too: it is told like a secondary one
            yield from self._later_system(notes)

    def close(self, unit: Unit, notes: UnitNotes) -> None:
        """Gives a folder or record that says nothing of its closing that of what it stands in. Where that is not told
        either, the archive closes it on the day of the load; both are noted as filled in."""
        own = _closing_of(unit.node, _CLOSINGS[unit.kind])
        if not own:
            around = (_closing_of(self._nodes.get(kind, {}), _CLOSED) for kind in ("arkivdel", "arkiv"))
            own = self._folders.get(unit.above) or next((pair for pair in around if pair), ())
            for name, value in zip(_CLOSINGS[unit.kind], own, strict=False):
                unit.node.setdefault(name, [value])
            notes.filled_fields.append(f"{unit.type or unit.kind}.{_CLOSINGS[unit.kind][0]}")
        if unit.kind == "mappe" and own:
            if len(self._folders) >= _MOST_FOLDERS:
                self._folders.clear()
            self._folders[unit.key] = own

    def class_of(self, unit: Unit, notes: UnitNotes) -> tuple[str, tuple[Entity, ...]]:
        """The key of a folder's class; for a case file that has none that of our own, which comes along the first
        time."""
        if unit.klasse or unit.type != "saksmappe":
            return unit.klasse, ()
        notes.filled_fields.append("Saksmappe.refPrimaerKlasse")
        key = f"{unit.arkivdel}#klasse"
        if self._own_class:
            return key, ()
        self._own_class = key
        name = f"{unit.arkivdel}#klassifikasjonssystem"
        link = "refArkivdelSomSekundaer" if self._primary else "refArkivdelSomPrimaer"
        titled = {**self._series_dates, "tittel": OWN_SYSTEM_TITLE}
        system = Entity(name, "Klassifikasjonssystem", titled, links=((link, unit.arkivdel),))
        fields = {**self._series_dates, "klasseIdent": OWN_CLASS_IDENT, "tittel": OWN_CLASS_TITLE}
        return key, (system, Entity(key, "Klasse", fields, name, "refKlassifikasjonssystem"))

    def finish(self, notes: UnitNotes) -> Iterator[Entity]:
        """What waits still, at the end of a series or of all."""
        if self._series is not None and not self._series_emitted:
            yield from self._emit_series(self._systems[0][0].key if self._systems else "", notes)
        yield from self._later_system(notes)
        self._series, self._systems = None, []

    def _emit_series(self, primary: str, notes: UnitNotes) -> Iterator[Entity]:
        if self._series is None:
            return
        self._series_emitted, self._primary = True, primary
        links: list[tuple[str, str]] = []
        for system, _ in self._systems:
            main = system.key == primary
            links.append(
                ("refPrimaerKlassifikasjonssystem" if main else "refSekundaerKlassifikasjonssystem", system.key)
            )
        series = self._maker.series(self._series, notes, links, self._chained)
        self._series_dates = _dates(series)
        for system, classes in self._systems:
            yield self._with_closing(self._maker.system(system, notes), notes)
            yield from (self._with_closing(klasse, notes) for klasse in classes)
        yield series
        # the primary one goes on: its further classes are told as they come
        self._systems = self._systems[-1:] if self._systems and self._systems[-1][0].key == primary else []

    def _chained(self, before: str, after: str) -> bool:
        """True if the two may be told to follow each other: the first time, and where neither has another."""
        if before in self._after or after in self._before:
            return False
        self._after[before], self._before[after] = after, before
        return True

    def _later_system(self, notes: UnitNotes) -> Iterator[Entity]:
        """A system that came after its series was told says itself that it belongs to it."""
        if not self._series_emitted or self._series is None:
            return
        for system, classes in self._systems:
            if system.key != self._primary:
                links = (("refArkivdelSomSekundaer", self._series.key),)
                yield self._with_closing(self._maker.system(system, notes, links), notes)
                yield from (self._with_closing(klasse, notes) for klasse in classes)
                classes.clear()

    def _with_closing(self, entity: Entity, notes: UnitNotes) -> Entity:
        """A class or system with the closing of its series, or of its fonds, where it tells none of its own."""
        above = next((dates for dates in (self._series_dates, self._fonds_dates) if _CLOSED[0] in dates), None)
        if above is None or entity.fields.get(_CLOSED[0]) is not None:
            return entity
        notes.filled_fields.append(f"{entity.type}.{_CLOSED[0]}")
        closed = {name: above[name] for name in _CLOSED if name in above}
        return replace(entity, fields={**entity.fields, **closed})


def _dates(unit: Entity) -> dict[str, FieldValue]:
    return {name: unit.fields[name] for name in _DATES if unit.fields.get(name) is not None}


def _closing_of(node: Node, names: tuple[str, str]) -> tuple[str, ...]:
    """When a unit was closed, and by whom as far as that is told; empty if it is not told when."""
    texts = [text(node, name) for name in names]
    return tuple(value for value in texts if value is not None) if texts[0] is not None else ()
