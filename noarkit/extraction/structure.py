"""arkivstruktur.xml: the tree of units walked in order, each written as it is met, in constant memory.

With an outlet that gives portions away, folders and records are written by other processes, to the same bytes.

Where the archive lets stand side by side what the form does not (folders with and without a class in one series,
folders beside records), what does not fit is put under a class or folder made for it, and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from noarkit.extraction.bundles import Bundles
from noarkit.extraction.partition import Folders, Outlet, Portion, Records, folder_portions, record_bounds
from noarkit.extraction.rows import place_in_series
from noarkit.extraction.store import Key, key_of
from noarkit.forms.noark5.write.content import Content, EntityData, parse
from noarkit.forms.noark5.write.placeholders import CLASS_TITLE, FOLDER_TITLE, placeholder_uuid
from noarkit.forms.noark5.write.structure import Writer, structure_start_tag

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_FLUSH = 512
_FEW = 20


@dataclass(slots=True)
class Placement:
    """Counts of units that were placed by a rule: units made to hold others, and systems that could not be written."""

    made_classes: int = 0
    made_folders: int = 0
    repeated_systems: int = 0
    left_out_systems: list[str] = field(default_factory=list)

    def add(self, addition: Placement) -> None:
        """Adds what was placed elsewhere in the same structure."""
        self.made_classes += addition.made_classes
        self.made_folders += addition.made_folders
        self.repeated_systems += addition.repeated_systems
        self.left_out_systems += addition.left_out_systems


class StructureWalk:
    """One walk of one fonds, or of portions of it. What is written goes to `write` in blocks; with an `outlet` that
    has hands, portions of `size` records are given to them."""

    def __init__(
        self,
        bundles: Bundles,
        writer: Writer,
        write: Callable[[bytes], None],
        outlet: Outlet | None = None,
        size: int = 0,
    ) -> None:
        self.placement = Placement()
        self._bundles = bundles
        self._writer = writer
        self._write = write
        self._outlet = outlet
        self._size = size
        self._waiting: list[str] = []
        self._systems: set[Key] = set()

    def portion(self, portion: Portion) -> None:
        """Writes one portion."""
        writer = self._writer
        writer.above = portion.above
        if isinstance(portion, Folders):
            for folder_id in portion.ids:
                self._folder_of(folder_id)
        else:
            self._write_records(self._bundles.some_records(portion.place, portion.after, portion.last))
        self._flush()

    def write(self) -> None:
        """Writes the whole document."""
        writer = self._writer
        self._append(HEAD)
        for fonds_id, fonds in self._bundles.units("", "F"):
            before, after = writer.render_halves(fonds)
            self._append(structure_start_tag(before))
            writer.above = writer.closing_of(fonds["o"])
            for series_id, series in self._bundles.units(fonds_id, "S"):
                self._series(series_id, series)
            self._append(after)
        self._flush()

    def _series(self, series_id: Key, series: Content) -> None:
        before, after = self._writer.render_halves(series)
        self._append(before)
        above = self._writer.above
        self._writer.above = self._writer.closing_of(series["o"])
        loose = [place_in_series(series_id, ""), *self._places_of_unknown_classes(series_id)]
        systems = self._systems_of(series_id, series["o"])
        has_loose = any(self._bundles.exists(place, kind) for place in loose for kind in "MR")
        primary = "refPrimaerKlassifikasjonssystem" in series["o"]["l"]
        if systems and not primary and has_loose and not self._uses_classes(series_id):
            self.placement.left_out_systems += [str(system_unit["o"]["f"].get("uuid")) for _, system_unit in systems]
            systems = []
        if systems:
            for at, (system_id, system) in enumerate(systems):
                self._system(series_id, series["o"], system_id, system, loose if has_loose and at == 0 else [])
        else:
            self._inside(loose, series["o"])
        self._writer.above = above
        self._append(after)

    def _systems_of(self, series_id: Key, series: EntityData) -> list[tuple[Key, Content]]:
        """The systems of a series that have classes: its primary one first, then others by uuid."""
        system_ids: dict[Key, None] = {}
        if "refPrimaerKlassifikasjonssystem" in series["l"]:
            system_ids[key_of(series["l"]["refPrimaerKlassifikasjonssystem"])] = None
        low, high = place_in_series(series_id, ""), f"{series_id}0"
        used_rows = (
            "SELECT DISTINCT k.klasse FROM (SELECT DISTINCT klasse FROM unit WHERE parent >= ? AND parent < ?) u"
            " JOIN unit k ON k.id = u.klasse AND k.kind = 'K'"
        )
        secondary = "SELECT target FROM link WHERE source = ? AND name = 'refSekundaerKlassifikasjonssystem'"
        more = [row[0] for row in self._bundles.db.execute(used_rows, (low, high))]
        more += [row[0] for row in self._bundles.db.execute(secondary, (series_id,))]
        primary = len(system_ids)
        system_ids |= dict.fromkeys(more)
        units = [
            (system_id, unit) for system_id in system_ids if (unit := self._bundles.unit(system_id, "C")) is not None
        ]
        head, tail = units[:primary], units[primary:]
        tail.sort(key=lambda system_id: str(system_id[1]["o"]["f"].get("uuid")))
        return head + tail

    def _uses_classes(self, series_id: Key) -> bool:
        sql = "SELECT 1 FROM unit WHERE parent > ? AND parent < ? LIMIT 1"
        return self._bundles.db.execute(sql, (place_in_series(series_id, ""), f"{series_id}0")).fetchone() is not None

    def _places_of_unknown_classes(self, series_id: Key) -> Iterator[Key]:
        sql = (
            "SELECT DISTINCT parent FROM unit WHERE parent > ? AND parent < ? AND NOT EXISTS"
            " (SELECT 1 FROM unit k WHERE k.id = unit.klasse AND k.kind = 'K') ORDER BY parent"
        )
        for row in self._bundles.db.execute(sql, (place_in_series(series_id, ""), f"{series_id}0")):
            yield row[0]

    def _system(self, series_id: Key, series: EntityData, system_id: Key, system: Content, loose: list[Key]) -> None:
        seed = ""
        if system_id in self._systems:
            seed = str(series["f"]["uuid"])
            self.placement.repeated_systems += 1
        self._systems.add(system_id)
        if not loose and not self._bundles.exists(f"c{system_id}", "K"):
            self.placement.left_out_systems.append(str(system["o"]["f"].get("uuid")))
            return
        before, after = self._writer.render_halves(_repeat_unit(system, seed))
        self._append(before)
        self._classes(series_id, f"c{system_id}", seed)
        if loose:
            self.placement.made_classes += 1
            before_class, after_class = self._writer.render_halves(_make_unit("Klasse", series, CLASS_TITLE))
            self._append(before_class)
            self._inside(loose, series)
            self._append(after_class)
        self._append(after)

    def _classes(self, series_id: Key, parent: Key, seed: str) -> None:
        for class_id, klasse in self._bundles.units(parent, "K"):
            klasse = _repeat_unit(klasse, seed)
            before, after = self._writer.render_halves(klasse)
            self._append(before)
            if self._bundles.exists(class_id, "K"):
                self._classes(series_id, class_id, seed)
            else:
                self._inside([place_in_series(series_id, class_id)], klasse["o"])
            self._append(after)

    def _inside(self, places: list[Key], holder: EntityData) -> None:
        """Folders and records at these places; where there are both, records go into a folder made for them."""
        with_folders = any(self._bundles.exists(place, "M") for place in places)
        with_records = any(self._bundles.exists(place, "R") for place in places)
        for place in places if with_folders else []:
            self._folders(place)
        if with_records and with_folders:
            self.placement.made_folders += 1
            self._writer.tally.units["mappe"] += 1
            before, after = self._writer.render_halves(_make_unit("Mappe", holder, FOLDER_TITLE))
            self._append(before)
            self._records(places)
            self._append(after)
        elif with_records:
            self._records(places)

    def _folders(self, place: Key) -> None:
        outlet = self._outlet
        if outlet is None:
            for folder_id, folder in self._bundles.units(place, "M"):
                self._folder(folder_id, folder)
            return
        for batch in folder_portions(self._bundles, place, self._size):
            if isinstance(batch, tuple):
                self._flush()
                outlet.submit(Folders(batch, self._writer.above))
            else:
                self._folder_of(batch)

    def _folder_of(self, folder_id: Key) -> None:
        folder = self._bundles.unit(folder_id, "M")
        assert folder is not None  # noqa: S101  # it was found in the same store
        self._folder(folder_id, folder)

    def _folder(self, folder_id: Key, folder: Content) -> None:
        self._writer.tally.units["mappe"] += 1
        before, after = self._writer.render_halves(folder)
        self._append(before)
        above = self._writer.above
        self._writer.above = self._writer.closing_of(folder["o"])
        if self._bundles.exists(folder_id, "M"):
            self._inside([folder_id], folder["o"])
        else:
            self._records([folder_id])
        self._writer.above = above
        self._append(after)

    def _records(self, places: list[Key]) -> None:
        outlet = self._outlet
        for place in places:
            if outlet is None:
                self._write_records(self._bundles.records(place))
                continue
            for after, last, count in record_bounds(self._bundles, place, self._size):
                if count <= self._size // _FEW:
                    self._write_records(self._bundles.some_records(place, after, last))
                else:
                    self._flush()
                    outlet.submit(Records(place, after, last, self._writer.above))

    def _write_records(self, records: Iterator[bytes]) -> None:
        writer, cleaned, write_text = self._writer, self._bundles.cleaned, self._append
        count = 0
        for raw in records:
            write_text(writer.render(parse(raw, cleaned)))
            count += 1
        writer.tally.units["registrering"] += count

    def _append(self, text: str) -> None:
        self._waiting.append(text)
        if len(self._waiting) >= _FLUSH:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._write("".join(self._waiting).encode())
            self._waiting.clear()


def _repeat_unit(content: Content, seed: str) -> Content:
    """A unit that stands in the document once more, under a uuid of its own."""
    if seed:
        fields = content["o"]["f"]
        fields["uuid"] = placeholder_uuid(str(fields.get("uuid")), seed)
    return content


def _make_unit(kind: str, holder: EntityData, title: str) -> Content:
    """Makes a unit to hold others that fit nowhere else; it has the times and names of its holder."""
    kept_names = ("opprettetDato", "opprettetAv", "avsluttetDato", "avsluttetAv")
    fields: dict[str, object] = {name: holder["f"][name] for name in kept_names if name in holder["f"]}
    ident = "klasseIdent" if kind == "Klasse" else "mappeIdent"
    own_uuid = placeholder_uuid(str(holder["f"].get("uuid")), kind)
    return {"o": {"t": kind, "f": {"uuid": own_uuid, ident: title, "tittel": title, **fields}}}
