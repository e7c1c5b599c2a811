"""Archive units of an extract as entities of the archive: fields, parties, documents, notes, links and their places.

What the archive has no place for, what had to be filled in and what stands elsewhere than in the extract is told with
the unit it concerns. A unit that cannot be taken as it is raises `Untakable`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from noarkit.errors import ItemChanged
from noarkit.forms.noark5.nodes import Node, exact_texts, nodes, text, texts
from noarkit.forms.noark5.read import conversions, values
from noarkit.forms.noark5.read.business import BusinessFields
from noarkit.forms.noark5.read.carrying import Carrier
from noarkit.forms.noark5.read.fields import Row, unknown_text
from noarkit.forms.noark5.read.own_dates import fill_dates, fill_years
from noarkit.forms.noark5.read.readers import ReaderCompiler, TypeReaders, UnreadableElement
from noarkit.forms.noark5.read.structure import Unit, unit_key
from noarkit.forms.noark5.read.targets import Targets
from noarkit.forms.noark5.read.unit_notes import UnitLocation, UnitNotes
from noarkit.forms.noark5.read.unmapped import UnmappedReader
from noarkit.graph.entity import Content, Entity, FieldValue
from noarkit.safe.spill import KeySet

_BUSINESS = "virksomhetsspesifikkeMetadata"
_PERIOD = Row("bevaringstid", "number")
_CLOSED = Row("avsluttetDato", "time")
_NO_DOCUMENT_BEFORE = "1900"
_FOLDERS: Mapping[str, str] = {name.lower(): name for name in ("Saksmappe", "Moetemappe")}
_RECORDS: Mapping[str, str] = {name.lower(): name for name in ("Journalpost", "Arkivnotat", "Moeteregistrering")}
# the element that a thing which hangs on a unit stands in
_ELEMENTS: Mapping[str, str] = {
    "Arkivskaper": "arkivskaper",
    "Sakspart": "part",
    "Merknad": "merknad",
    "Presedens": "presedens",
    "Moetedeltaker": "moetedeltaker",
    "Korrespondansepart": "korrespondansepart",
    "Dokumentflyt": "dokumentflyt",
}
_WITHIN: Mapping[str, str] = {"Journalpost": "saksmappe", "Moeteregistrering": "moetemappe"}


class Untakable(Exception):
    """A unit that is to be set aside: a fault code and what its sentences need."""

    def __init__(self, code: str, **data: object) -> None:
        super().__init__(code)
        self.code = code
        self.data = data


class Files(Protocol):
    """The document files of a package."""

    def content(self, path: str, sha256: str | None, algorithm: str, checksum: str) -> Content:
        """The file that an extract names. Raises Untakable where it is not there."""
        ...

    def is_damaged(self, content: Content) -> bool:
        """True if its bytes cannot be read, or are not what its checksum says."""
        ...


@dataclass(frozen=True, slots=True)
class EntityBuilder:
    """Makes entities of units; one for a whole package.

    What the archive has no place for goes to the `carrier`, where there is one; so do references that lead nowhere by
    what `targets` say. With `take_incomplete` a document whose file is missing or damaged is taken without it, and a
    journal post without a party gets one that says nothing; else such a record cannot be taken.
    """

    files: Files
    seen_ids: KeySet
    codes: values.Codes
    business: BusinessFields
    readers: ReaderCompiler
    take_incomplete: bool = False
    carrier: Carrier | None = None
    targets: Targets | None = None

    # spine

    def fonds(self, unit: Unit, notes: UnitNotes) -> tuple[Entity, ...]:
        """An arkiv and its creators."""
        node = unit.node
        if unit.above_kind == "arkiv":
            notes.move(_location_of(unit), "Arkiv", unit.above)
        fonds = Entity(unit.key, "Arkiv", self._identified_fields("Arkiv", unit, notes), recipe_line=unit.line)
        creators = list(nodes(node, "arkivskaper")) or [{}]
        return self._collect_above(
            (fonds, *self._build_children("Arkivskaper", creators, unit, "c refArkiv", notes)), notes
        )

    def series(
        self, unit: Unit, notes: UnitNotes, links: Iterable[tuple[str, str]], chained: Callable[[str, str], bool]
    ) -> Entity:
        """An arkivdel; `links` are those to its classification systems, `chained` whether one may follow the other."""
        fields = self._identified_fields("Arkivdel", unit, notes)
        self._screening(unit.node, fields, _location_of(unit), notes)
        all_links = [*links]
        for name in ("referanseForloeper", "referanseArvtaker"):
            for key in self._keys(unit, name, notes):
                before, after = (key, unit.key) if name == "referanseForloeper" else (unit.key, key)
                if chained(before, after):
                    all_links.append((f"refArkivdel{name.removeprefix('referanse')}", key))
                else:
                    notes.lose_text(_location_of(unit), name, key)
        entity = Entity(unit.key, "Arkivdel", fields, unit.above, "refArkiv", tuple(all_links), recipe_line=unit.line)
        return self._collect_above((entity,), notes)[0]

    def system(self, unit: Unit, notes: UnitNotes, links: tuple[tuple[str, str], ...] = ()) -> Entity:
        """A klassifikasjonssystem."""
        fields = self._identified_fields("Klassifikasjonssystem", unit, notes)
        entity = Entity(unit.key, "Klassifikasjonssystem", fields, links=links, recipe_line=unit.line)
        return self._collect_above((entity,), notes)[0]

    def klasse(self, unit: Unit, system: str, notes: UnitNotes) -> Entity:
        """A klasse, under its system and, where it has one, the class above."""
        fields = self._identified_fields("Klasse", unit, notes)
        self._screening(unit.node, fields, _location_of(unit), notes)
        self._disposal(unit.node, fields, _location_of(unit), notes)
        self._business(unit.node, fields)
        links = (("refForelderKlasse", unit.above),) if unit.above_kind == "klasse" else ()
        entity = Entity(unit.key, "Klasse", fields, system, "refKlassifikasjonssystem", links, recipe_line=unit.line)
        return self.carrier.carry_into((entity,), notes)[0] if self.carrier else entity

    # folders and records

    def folder(self, unit: Unit, klasse: str, notes: UnitNotes) -> tuple[Entity, ...]:
        """A mappe of any kind with what hangs on it; `klasse` is the key of its class, or empty."""
        kind = _FOLDERS.get(unit.type, "Mappe")
        node = unit.node
        fields = self._unit_fields(kind, unit, notes)
        nested = unit.above_kind == "mappe" and kind == "Mappe" and not unit.above_type
        links = list(self._cross_references(kind, unit, notes)) if "kryssreferanse" in node else []
        if nested:
            parent, link = unit.above, "refForelderMappe"
        else:
            parent, link = unit.arkivdel, "refArkivdel"
            if unit.above_kind == "mappe":
                notes.move(_location_of(unit), f"{kind} in {unit.above_type or 'mappe'}", unit.above)
                links.append(("refKryssreferanseTilMappe", unit.above))
            if klasse:
                links.append(("refPrimaerKlasse", klasse))
        for key in self._keys(unit, "referanseSekundaerKlassifikasjon", notes):
            if self._reaches(kind, "refSekundaerKlasse", key):
                links.append(("refSekundaerKlasse", key))
            else:
                notes.lose_text(_location_of(unit), "referanseSekundaerKlassifikasjon", key)
        me = Entity(unit.key, kind, fields, parent, link, tuple(dict.fromkeys(links)), recipe_line=unit.line)
        parts = [*nodes(node, "part"), *nodes(node, "sakspart")]
        below = [
            *self._keywords(unit, "refMappe"),
            *self._build_children("Sakspart", parts, unit, "p refMappe", notes),
            *self._children("Merknad", "merknad", unit, "n refMappe", notes),
        ]
        if kind == "Saksmappe":
            below += self._children("Presedens", "presedens", unit, "q refSaksmappe", notes)
        if kind == "Moetemappe":
            members = list(nodes(node, "moetedeltaker"))
            if not members:
                raise Untakable("F226", why="no-participant", type=kind, line=unit.line)
            below += self._build_children("Moetedeltaker", members, unit, "m refMappe", notes)
        return self._with_carried((me, *below), unit, notes)

    def record(self, unit: Unit, notes: UnitNotes) -> tuple[Entity, ...]:
        """A registrering of any kind with what hangs on it, its documents and their versions."""
        kind = _RECORDS.get(unit.type, "Basisregistrering")
        node = unit.node
        fields = self._unit_fields(kind, unit, notes)
        links = list(self._cross_references(kind, unit, notes)) if "kryssreferanse" in node else []
        required_folder = _WITHIN.get(kind)
        if unit.above_kind == "mappe" and required_folder in (None, unit.above_type):
            parent, link = unit.above, "refMappe"
        else:
            parent, link = unit.arkivdel, "refArkivdel"
            if unit.above_kind == "mappe":
                notes.move(_location_of(unit), f"{kind} in {unit.above_type or 'mappe'}", unit.above)
                links.append(("refKryssreferanseTilMappe", unit.above))
            if unit.klasse:
                links.append(("refPrimaerKlasse", unit.klasse))
        me = Entity(unit.key, kind, fields, parent, link, tuple(dict.fromkeys(links)), recipe_line=unit.line)
        below = [
            *self._keywords(unit, "refRegistrering"),
            *self._children("Korrespondansepart", "korrespondansepart", unit, "p refRegistrering", notes),
            *self._children("Merknad", "merknad", unit, "n refRegistrering", notes),
        ]
        if kind == "Journalpost" and self.take_incomplete and "korrespondansepart" not in node:
            notes.filled_fields.append("Journalpost.refKorrespondansepart")
            below += self._build_children("Korrespondansepart", [{}], unit, "p refRegistrering", notes)
        if kind == "Journalpost":
            below += self._sign_offs(unit, notes)
            below += self._children("Dokumentflyt", "dokumentflyt", unit, "f refJournalpost", notes)
            below += self._children("Presedens", "presedens", unit, "q refJournalpost", notes)
        if kind == "Arkivnotat":
            below += self._children("Dokumentflyt", "dokumentflyt", unit, "f refArkivnotat", notes)
        return self._with_carried((me, *below, *self._documents(unit, fields, notes)), unit, notes)

    def _with_carried(self, entities: tuple[Entity, ...], unit: Unit, notes: UnitNotes) -> tuple[Entity, ...]:
        entities = UnmappedReader(self.codes, self.business).restore_into(entities, unit, notes)
        return self.carrier.carry_into(entities, notes, with_above=True) if self.carrier else entities

    def _collect_above(self, entities: tuple[Entity, ...], notes: UnitNotes) -> tuple[Entity, ...]:
        if self.carrier is not None:
            self.carrier.collect_above(entities, notes)
        return entities

    # what hangs on them

    def _identified_fields(self, kind: str, unit: Unit, notes: UnitNotes) -> dict[str, FieldValue]:
        """The fields of a unit; its systemID is not kept where it is no UUID, or another unit's."""
        fields = self._titled_fields(kind, unit.node, _location_of(unit), notes)
        if fields.get("uuid") != unit.key:
            fields.pop("uuid", None)
            notes.drop_id(_location_of(unit), text(unit.node, "systemID") or "")
        return fields

    def _unit_fields(self, kind: str, unit: Unit, notes: UnitNotes) -> dict[str, FieldValue]:
        node, where = unit.node, _location_of(unit)
        fields = self._identified_fields(kind, unit, notes)
        fill_dates(kind, node, fields, notes.filled_fields)
        fill_years(fields)
        self._screening(node, fields, where, notes)
        self._disposal(node, fields, where, notes)
        self._business(node, fields)
        return fields

    def _titled_fields(self, kind: str, node: Node, where: UnitLocation, notes: UnitNotes) -> dict[str, FieldValue]:
        """The fields of a type that has a title: an unnamed record is named by its first document."""
        fields = self._fields(kind, node, where, notes)
        if f"{kind}.tittel" in notes.filled_fields and fields["tittel"] == unknown_text():
            titles = (title for document in nodes(node, "dokumentbeskrivelse") if (title := text(document, "tittel")))
            fields["tittel"] = next(titles, None) or text(node, "offentligTittel") or unknown_text()
        return fields

    def _fields(self, kind: str, node: Node, where: UnitLocation, notes: UnitNotes) -> dict[str, FieldValue]:
        type_readers = self.readers.readers_for(kind)
        try:
            fields = self.readers.fields(
                type_readers, node, lambda name, raw_values: notes.lose(where, name, raw_values)
            )
        except UnreadableElement as fault:
            raise Untakable("F206", why="unreadable-value", field=fault.name, kind=fault.kind) from None
        for name, filling in type_readers.absent:
            if name not in fields:
                fields[name] = self._filling(type_readers, name, filling)
                if not name.endswith("BrukerIdent"):
                    notes.filled_fields.append(f"{kind}.{name}")
        return fields

    def _filling(self, type_readers: TypeReaders, name: str, filling: str) -> str:
        if filling.startswith("="):
            return filling[1:]
        return self.codes.code(type_readers.codes[name], filling) if name in type_readers.codes else filling

    def _children(self, kind: str, name: str, unit: Unit, where: str, notes: UnitNotes) -> list[Entity]:
        """Things that hang on a unit, by the name of their element; `where` is the sign of their keys and the link
        that they hang by."""
        return self._build_children(kind, nodes(unit.node, name), unit, where, notes) if name in unit.node else []

    def _build_children(
        self, kind: str, child_nodes: Iterable[Node], unit: Unit, where: str, notes: UnitNotes
    ) -> list[Entity]:
        sign, link = where.split()
        children: list[Entity] = []
        for place, node in enumerate(child_nodes, 1):
            key = f"{unit.key}#{sign}{place}"
            fields = self._fields(kind, node, UnitLocation(key, _ELEMENTS[kind], unit.line), notes)
            fill_dates(kind, node, fields, notes.filled_fields)
            if _BUSINESS in node:
                self._business(node, fields)
            children.append(Entity(key, kind, fields, unit.key, link, recipe_line=unit.line))
        return children

    def _keywords(self, unit: Unit, link: str) -> list[Entity]:
        if "noekkelord" not in unit.node:
            return []
        return [
            Entity(f"{unit.key}#k{place}", "Noekkelord", {"verdi": word}, unit.key, link, recipe_line=unit.line)
            for place, word in enumerate(exact_texts(unit.node, "noekkelord"), 1)
        ]

    def _sign_offs(self, unit: Unit, notes: UnitNotes) -> Iterator[Entity]:
        for place, node in enumerate(nodes(unit.node, "avskrivning"), 1):
            key = f"{unit.key}#s{place}"
            fields = self._fields("Avskrivning", node, UnitLocation(key, "avskrivning", unit.line), notes)
            by = []
            for system_id in texts(node, "referanseAvskrivesAvJournalpost"):
                if self._reaches("Avskrivning", "refTilknyttetJournalpost", system_id):
                    by.append(("refTilknyttetJournalpost", unit_key(system_id)))
                else:
                    where = UnitLocation(key, "avskrivning", unit.line)
                    notes.lose_text(where, "referanseAvskrivesAvJournalpost", system_id)
            yield Entity(key, "Avskrivning", fields, unit.key, "refJournalpost", tuple(by), recipe_line=unit.line)

    def _reaches(self, owner: str, link: str, system_id: str) -> bool:
        return self.targets is None or self.targets.reaches(owner, link, system_id)

    def _cross_references(self, kind: str, unit: Unit, notes: UnitNotes) -> Iterator[tuple[str, str]]:
        for node in nodes(unit.node, "kryssreferanse"):
            for name, link in (
                ("referanseTilMappe", "refKryssreferanseTilMappe"),
                ("referanseTilRegistrering", "refKryssreferanseTilRegistrering"),
            ):
                for system_id in texts(node, name):
                    if unit_key(system_id) == unit.key or not self._reaches(kind, link, system_id):
                        notes.lose_text(_location_of(unit), f"kryssreferanse/{name}", system_id)
                    else:
                        yield link, unit_key(system_id)
            if "referanseTilKlasse" in node:
                notes.lose(_location_of(unit), "kryssreferanse/referanseTilKlasse", node["referanseTilKlasse"])

    def _keys(self, unit: Unit, name: str, notes: UnitNotes) -> Iterator[str]:
        for system_id in texts(unit.node, name):
            if unit_key(system_id) == unit.key:
                notes.lose_text(_location_of(unit), name, system_id)
            else:
                yield unit_key(system_id)

    # documents

    def _documents(self, unit: Unit, record: Mapping[str, FieldValue], notes: UnitNotes) -> Iterator[Entity]:
        place = 0
        for place, node in enumerate(nodes(unit.node, "dokumentbeskrivelse"), 1):
            key = f"{unit.key}#d{place}"
            where = UnitLocation(key, "dokumentbeskrivelse", unit.line)
            fields = self._titled_fields("Dokument", node, where, notes)
            self._drop_repeated_id(node, fields, where, notes)
            self._screening(node, fields, where, notes)
            self._disposal(node, fields, where, notes)
            self._destruction(node, where, notes)
            self._business(node, fields)
            self._close_with(record, fields, node)
            yield Entity(key, "Dokument", fields, unit.key, "refRegistrering", recipe_line=unit.line)
            if "merknad" in node:
                remarks = nodes(node, "merknad")
                yield from self._build_children("Merknad", remarks, unit._replace(key=key), "n refDokument", notes)
            yield from self._versions(unit, key, nodes(node, "dokumentobjekt"), notes)
        loose = list(nodes(unit.node, "dokumentobjekt"))
        if loose:
            key = f"{unit.key}#d{place + 1}"
            notes.filled_fields.append("Dokument")
            fields = {
                "tittel": record["tittel"],
                "tilknyttetRegistreringSom": self.codes.code("tilknyttetRegistreringSom", "Hoveddokument"),
                "dokumentstatus": self.codes.code("dokumentstatus", "Dokumentet er ferdigstilt"),
            }
            self._close_with(record, fields, {})
            yield Entity(key, "Dokument", fields, unit.key, "refRegistrering", recipe_line=unit.line)
            yield from self._versions(unit, key, loose, notes)

    def _versions(self, unit: Unit, document: str, version_nodes: Iterable[Node], notes: UnitNotes) -> Iterator[Entity]:
        for place, node in enumerate(version_nodes, 1):
            key = f"{document}v{place}"
            where = UnitLocation(key, "dokumentobjekt", unit.line)
            try:
                content = self._content(node)
            except Untakable:
                if not self.take_incomplete:
                    raise
                notes.miss_file(where, node)
                continue
            node, origin = conversions.split_conversion(node, self.readers.zone)
            fields = self._fields("Dokumentversjon", node, where, notes)
            self._drop_repeated_id(node, fields, where, notes)
            yield from conversions.with_origin(
                Entity(key, "Dokumentversjon", fields, document, "refDokument", (), content, recipe_line=unit.line),
                origin,
            )

    def _content(self, node: Node) -> Content:
        """The file of a version. Raises Untakable where none is named or there, and where it is to be read at once,
        for one that is not what its checksum says."""
        path = text(node, "referanseDokumentfil")
        if path is None:
            raise Untakable("F206", why="no-file-named", field="referanseDokumentfil")
        checksum = (text(node, "sjekksum") or "").lower()
        algorithm = (text(node, "sjekksumAlgoritme") or "").upper().replace("-", "").replace("_", "")
        sha256 = checksum if len(checksum) == 64 and algorithm in ("SHA256", "") else None
        content = self.files.content(path, sha256, algorithm, checksum)
        if self.take_incomplete and self.files.is_damaged(content):
            raise Untakable(ItemChanged.code, key=path, why="hash")
        return content

    def _drop_repeated_id(
        self, node: Node, fields: dict[str, FieldValue], where: UnitLocation, notes: UnitNotes
    ) -> None:
        """A systemID that was met before, or is none, is not kept."""
        uuid = fields.get("uuid")
        if isinstance(uuid, str) and self.seen_ids.add(uuid):
            return
        if "systemID" in node:
            notes.drop_id(where, text(node, "systemID") or "")
        fields.pop("uuid", None)

    # groups of fields

    def _screening(self, node: Node, fields: dict[str, FieldValue], where: UnitLocation, notes: UnitNotes) -> None:
        fields["skjerming"] = None  # said, so that the archive does not let it inherit one
        if "skjerming" not in node:
            return
        for screening in nodes(node, "skjerming"):
            name = text(screening, "tilgangsrestriksjon")
            if name is not None:
                ground = text(screening, "skjermingshjemmel")
                fields["skjerming"] = code = self.codes.code(
                    "skjerming", name, None if ground == unknown_text() else ground
                )
                if not self.codes.matches_text("skjerming", code, name):
                    notes.lose_text(where, "skjerming/tilgangsrestriksjon", name)
            self._lose_others(screening, ("tilgangsrestriksjon", "skjermingshjemmel"), where.within("skjerming"), notes)

    def _disposal(self, node: Node, fields: dict[str, FieldValue], where: UnitLocation, notes: UnitNotes) -> None:
        if "kassasjon" not in node:
            return
        for disposal in nodes(node, "kassasjon"):
            for name in ("kassasjonsvedtak", "kassasjonshjemmel"):
                value = text(disposal, name)
                if value is not None and value != unknown_text():
                    fields[name] = self.codes.code(name, value)
            period = self._period(disposal)
            if period:
                fields["bevaringstid"] = period
            self._lose_others(
                disposal, ("kassasjonsvedtak", "kassasjonshjemmel", "bevaringstid"), where.within("kassasjon"), notes
            )

    def _close_with(self, record: Mapping[str, FieldValue], document: dict[str, FieldValue], node: Node) -> None:
        """A document was closed with its record: the form says so of the record alone, and the day of the load says
        nothing. Where it is kept for some years, the day of its disposal tells its own day of closing, if likely."""
        for name in ("avsluttetDato", "avsluttetAv"):
            if record.get(name) is not None:
                document.setdefault(name, record[name])
        disposal_date = next((text(disposal, "kassasjonsdato") for disposal in nodes(node, "kassasjon")), None)
        if disposal_date is not None and document.get("avsluttetDato") is not None:
            try:
                closed = values.years_before(disposal_date, document.get("bevaringstid", 0))
                if closed >= _NO_DOCUMENT_BEFORE and values.day(str(document["avsluttetDato"])) != closed:
                    document["avsluttetDato"] = self.readers.value(_CLOSED, [f"{closed}T12:00:00"])
            except values.Unreadable:
                return

    def _period(self, node: Node) -> FieldValue:
        try:
            return self.readers.value(_PERIOD, node["bevaringstid"]) if "bevaringstid" in node else None
        except values.Unreadable as fault:
            raise Untakable("F206", why="unreadable-value", field="bevaringstid", kind=str(fault)) from None

    def _destruction(self, node: Node, where: UnitLocation, notes: UnitNotes) -> None:
        """What the archive writes of itself when it destroys a document cannot be given to it; nor who linked the
        document, and when, unless it was linked as it was made."""
        if "utfoertKassasjon" in node:
            notes.lose(where, "utfoertKassasjon", node["utfoertKassasjon"])
        for name, created_name in (("tilknyttetDato", "opprettetDato"), ("tilknyttetAv", "opprettetAv")):
            if name in node and node[name] != node.get(created_name):
                notes.lose(where, name, node[name])

    def _lose_others(self, node: Node, known_names: tuple[str, ...], where: UnitLocation, notes: UnitNotes) -> None:
        for name, raw_values in node.items():
            if name not in known_names:
                notes.lose(where, name, raw_values)

    def _business(self, node: Node, fields: dict[str, FieldValue]) -> None:
        if _BUSINESS in node:
            groups = self.business.read(nodes(node, _BUSINESS))
            if groups:
                fields[_BUSINESS] = groups


def _location_of(unit: Unit) -> UnitLocation:
    return UnitLocation(unit.key, unit.kind, unit.line)
