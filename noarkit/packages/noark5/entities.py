"""Archive units of an extract as entities of the archive: fields, parties, documents, notes, links and their places.

What the archive has no place for, what had to be filled in and what stands elsewhere than in the extract is told with
the unit it concerns. A unit that cannot be taken as it is raises `Untakable`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from noarkit.errors import ItemChanged
from noarkit.graph.entity import Content, Entity, FieldValue
from noarkit.packages.noark5 import values
from noarkit.packages.noark5.business import BusinessFields
from noarkit.packages.noark5.carrying import Carrier
from noarkit.packages.noark5.fields import Row, unknown
from noarkit.packages.noark5.given_back import GivenBack
from noarkit.packages.noark5.nodes import Node, exact, nodes, text, texts
from noarkit.packages.noark5.own_dates import fill_dates, fill_years
from noarkit.packages.noark5.read import Unit, unit_key
from noarkit.packages.noark5.readers import Compiled, Readers
from noarkit.packages.noark5.targets import Targets
from noarkit.packages.noark5.unit_notes import UnitNotes, Where

_BUSINESS = "virksomhetsspesifikkeMetadata"
_PERIOD = Row("bevaringstid", "number")
_CLOSED = Row("avsluttetDato", "time")
_NO_DOCUMENT_BEFORE = "1900"
_FOLDERS: Mapping[str, str] = {"saksmappe": "Saksmappe", "moetemappe": "Moetemappe"}
_RECORDS: Mapping[str, str] = {
    "journalpost": "Journalpost",
    "arkivnotat": "Arkivnotat",
    "moeteregistrering": "Moeteregistrering",
}
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
        """True where its bytes cannot be read, or are not what its checksum says."""
        ...


class SeenIds(Protocol):
    """Which systemIDs of documents and versions were met."""

    def first(self, system_id: str) -> bool:
        """True the first time an id comes."""
        ...


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes entities of units; one for a whole package.

    What the archive has no place for goes to the `carrier`, where there is one; so do references that lead nowhere by
    what `targets` say. With `take_incomplete` a document whose file is missing or damaged is taken without it, and a
    journal post without a party gets one that says nothing; else such a record cannot be taken.
    """

    files: Files
    seen: SeenIds
    codes: values.Codes
    business: BusinessFields
    readers: Readers
    take_incomplete: bool = False
    carrier: Carrier | None = None
    targets: Targets | None = None

    # spine

    def fonds(self, unit: Unit, notes: UnitNotes) -> tuple[Entity, ...]:
        """An arkiv and its creators."""
        node = unit.node
        if unit.above_kind == "arkiv":
            notes.move(_where(unit), "Arkiv", unit.above)
        fonds = Entity(unit.key, "Arkiv", self._named("Arkiv", unit, notes), recipe_line=unit.line)
        creators = list(nodes(node, "arkivskaper")) or [{}]
        return self._above((fonds, *self._made("Arkivskaper", creators, unit, "c refArkiv", notes)), notes)

    def series(
        self, unit: Unit, notes: UnitNotes, links: Iterable[tuple[str, str]], chained: Callable[[str, str], bool]
    ) -> Entity:
        """An arkivdel; `links` are those to its classification systems, `chained` whether one may follow the other."""
        fields = self._named("Arkivdel", unit, notes)
        self._screening(unit.node, fields, _where(unit), notes)
        found = [*links]
        for name in ("referanseForloeper", "referanseArvtaker"):
            for key in self._keys(unit, name, notes):
                before, after = (key, unit.key) if name == "referanseForloeper" else (unit.key, key)
                if chained(before, after):
                    found.append((f"refArkivdel{name.removeprefix('referanse')}", key))
                else:
                    notes.lose_text(_where(unit), name, key)
        made = Entity(unit.key, "Arkivdel", fields, unit.above, "refArkiv", tuple(found), recipe_line=unit.line)
        return self._above((made,), notes)[0]

    def system(self, unit: Unit, notes: UnitNotes, links: tuple[tuple[str, str], ...] = ()) -> Entity:
        """A klassifikasjonssystem."""
        fields = self._named("Klassifikasjonssystem", unit, notes)
        made = Entity(unit.key, "Klassifikasjonssystem", fields, links=links, recipe_line=unit.line)
        return self._above((made,), notes)[0]

    def klasse(self, unit: Unit, system: str, notes: UnitNotes) -> Entity:
        """A klasse, under its system and, where it has one, the class above."""
        fields = self._named("Klasse", unit, notes)
        self._screening(unit.node, fields, _where(unit), notes)
        self._disposal(unit.node, fields, _where(unit), notes)
        self._business(unit.node, fields)
        links = (("refForelderKlasse", unit.above),) if unit.above_kind == "klasse" else ()
        made = Entity(unit.key, "Klasse", fields, system, "refKlassifikasjonssystem", links, recipe_line=unit.line)
        return self.carrier.into((made,), notes)[0] if self.carrier else made

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
                notes.move(_where(unit), f"{kind} in {unit.above_type or 'mappe'}", unit.above)
                links.append(("refKryssreferanseTilMappe", unit.above))
            if klasse:
                links.append(("refPrimaerKlasse", klasse))
        for key in self._keys(unit, "referanseSekundaerKlassifikasjon", notes):
            if self._reaches(kind, "refSekundaerKlasse", key):
                links.append(("refSekundaerKlasse", key))
            else:
                notes.lose_text(_where(unit), "referanseSekundaerKlassifikasjon", key)
        me = Entity(unit.key, kind, fields, parent, link, tuple(dict.fromkeys(links)), recipe_line=unit.line)
        parts = [*nodes(node, "part"), *nodes(node, "sakspart")]
        below = [
            *self._keywords(unit, "refMappe"),
            *self._made("Sakspart", parts, unit, "p refMappe", notes),
            *self._children("Merknad", "merknad", unit, "n refMappe", notes),
        ]
        if kind == "Saksmappe":
            below += self._children("Presedens", "presedens", unit, "q refSaksmappe", notes)
        if kind == "Moetemappe":
            members = list(nodes(node, "moetedeltaker"))
            if not members:
                raise Untakable("F226", why="no-participant", type=kind, line=unit.line)
            below += self._made("Moetedeltaker", members, unit, "m refMappe", notes)
        return self._carried((me, *below), unit, notes)

    def record(self, unit: Unit, notes: UnitNotes) -> tuple[Entity, ...]:
        """A registrering of any kind with what hangs on it, its documents and their versions."""
        kind = _RECORDS.get(unit.type, "Basisregistrering")
        node = unit.node
        fields = self._unit_fields(kind, unit, notes)
        links = list(self._cross_references(kind, unit, notes)) if "kryssreferanse" in node else []
        needed = _WITHIN.get(kind)
        if unit.above_kind == "mappe" and needed in (None, unit.above_type):
            parent, link = unit.above, "refMappe"
        else:
            parent, link = unit.arkivdel, "refArkivdel"
            if unit.above_kind == "mappe":
                notes.move(_where(unit), f"{kind} in {unit.above_type or 'mappe'}", unit.above)
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
            notes.filled.append("Journalpost.refKorrespondansepart")
            below += self._made("Korrespondansepart", [{}], unit, "p refRegistrering", notes)
        if kind == "Journalpost":
            below += self._sign_offs(unit, notes)
            below += self._children("Dokumentflyt", "dokumentflyt", unit, "f refJournalpost", notes)
            below += self._children("Presedens", "presedens", unit, "q refJournalpost", notes)
        if kind == "Arkivnotat":
            below += self._children("Dokumentflyt", "dokumentflyt", unit, "f refArkivnotat", notes)
        return self._carried((me, *below, *self._documents(unit, fields, notes)), unit, notes)

    def _carried(self, made: tuple[Entity, ...], unit: Unit, notes: UnitNotes) -> tuple[Entity, ...]:
        made = GivenBack(self.codes, self.business).into(made, unit, notes)
        return self.carrier.into(made, notes, with_above=True) if self.carrier else made

    def _above(self, made: tuple[Entity, ...], notes: UnitNotes) -> tuple[Entity, ...]:
        if self.carrier is not None:
            self.carrier.above(made, notes)
        return made

    # what hangs on them

    def _named(self, kind: str, unit: Unit, notes: UnitNotes) -> dict[str, FieldValue]:
        """The fields of a unit; its systemID is not kept where it is no UUID, or another unit's."""
        fields = self._titled(kind, unit.node, _where(unit), notes)
        if fields.get("uuid") != unit.key:
            fields.pop("uuid", None)
            notes.drop_id(_where(unit), text(unit.node, "systemID") or "")
        return fields

    def _unit_fields(self, kind: str, unit: Unit, notes: UnitNotes) -> dict[str, FieldValue]:
        node = unit.node
        fields = self._named(kind, unit, notes)
        fill_dates(kind, node, fields, notes.filled)
        fill_years(fields)
        self._screening(node, fields, _where(unit), notes)
        self._disposal(node, fields, _where(unit), notes)
        self._business(node, fields)
        return fields

    def _titled(self, kind: str, node: Node, where: Where, notes: UnitNotes) -> dict[str, FieldValue]:
        """The fields of a type that has a title: an unnamed record is named by its first document."""
        fields = self._fields(kind, node, where, notes)
        if f"{kind}.tittel" in notes.filled and fields["tittel"] == unknown():
            titles = (found for one in nodes(node, "dokumentbeskrivelse") if (found := text(one, "tittel")))
            fields["tittel"] = next(titles, None) or text(node, "offentligTittel") or unknown()
        return fields

    def _fields(self, kind: str, node: Node, where: Where, notes: UnitNotes) -> dict[str, FieldValue]:
        how = self.readers.of(kind)
        readers = how.readers
        fields: dict[str, FieldValue] = {}
        name = ""
        try:
            for name, held in node.items():
                reader = readers.get(name)
                if reader is not None:
                    value = reader[1](held)
                    if value is not None:
                        fields[reader[0]] = value
                    if len(held) > 1 and name in how.single:
                        notes.lose(where, name, held[1:])
                    listed = how.codes.get(reader[0])
                    if listed is not None and isinstance(value, str) and not self.codes.says(listed, value, held[0]):
                        notes.lose(where, name, held[:1])
                elif name not in how.structural:
                    notes.lose(where, name, held)
        except values.Unreadable as fault:
            raise Untakable("F206", why="unreadable-value", field=name, kind=str(fault)) from None
        for name, filling in how.absent.items():
            if name not in fields:
                fields[name] = self._filling(how, name, filling)
                if not name.endswith("BrukerIdent"):
                    notes.filled.append(f"{kind}.{name}")
        return fields

    def _filling(self, how: Compiled, name: str, filling: str) -> str:
        if filling.startswith("="):
            return filling[1:]
        return self.codes.code(how.codes[name], filling) if name in how.codes else filling

    def _children(self, kind: str, name: str, unit: Unit, where: str, notes: UnitNotes) -> list[Entity]:
        """Things that hang on a unit, by the name of their element; `where` is the sign of their keys and the link
        that they hang by."""
        return self._made(kind, nodes(unit.node, name), unit, where, notes) if name in unit.node else []

    def _made(self, kind: str, found: Iterable[Node], unit: Unit, where: str, notes: UnitNotes) -> list[Entity]:
        sign, link = where.split()
        made: list[Entity] = []
        for place, node in enumerate(found, 1):
            key = f"{unit.key}#{sign}{place}"
            fields = self._fields(kind, node, Where(key, _ELEMENTS[kind], unit.line), notes)
            fill_dates(kind, node, fields, notes.filled)
            if _BUSINESS in node:
                self._business(node, fields)
            made.append(Entity(key, kind, fields, unit.key, link, recipe_line=unit.line))
        return made

    def _keywords(self, unit: Unit, link: str) -> list[Entity]:
        if "noekkelord" not in unit.node:
            return []
        return [
            Entity(f"{unit.key}#k{place}", "Noekkelord", {"verdi": word}, unit.key, link, recipe_line=unit.line)
            for place, word in enumerate(exact(unit.node, "noekkelord"), 1)
        ]

    def _sign_offs(self, unit: Unit, notes: UnitNotes) -> Iterator[Entity]:
        for place, node in enumerate(nodes(unit.node, "avskrivning"), 1):
            key = f"{unit.key}#s{place}"
            fields = self._fields("Avskrivning", node, Where(key, "avskrivning", unit.line), notes)
            by = []
            for one in texts(node, "referanseAvskrivesAvJournalpost"):
                if self._reaches("Avskrivning", "refTilknyttetJournalpost", one):
                    by.append(("refTilknyttetJournalpost", unit_key(one)))
                else:
                    where = Where(key, "avskrivning", unit.line)
                    notes.lose_text(where, "referanseAvskrivesAvJournalpost", one)
            yield Entity(key, "Avskrivning", fields, unit.key, "refJournalpost", tuple(by), recipe_line=unit.line)

    def _reaches(self, owner: str, link: str, system_id: str) -> bool:
        return self.targets is None or self.targets.reaches(owner, link, system_id)

    def _cross_references(self, kind: str, unit: Unit, notes: UnitNotes) -> Iterator[tuple[str, str]]:
        for node in nodes(unit.node, "kryssreferanse"):
            for name, link in (
                ("referanseTilMappe", "refKryssreferanseTilMappe"),
                ("referanseTilRegistrering", "refKryssreferanseTilRegistrering"),
            ):
                for one in texts(node, name):
                    if unit_key(one) == unit.key or not self._reaches(kind, link, one):
                        notes.lose_text(_where(unit), f"kryssreferanse/{name}", one)
                    else:
                        yield link, unit_key(one)
            if "referanseTilKlasse" in node:
                notes.lose(_where(unit), "kryssreferanse/referanseTilKlasse", node["referanseTilKlasse"])

    def _keys(self, unit: Unit, name: str, notes: UnitNotes) -> Iterator[str]:
        for one in texts(unit.node, name):
            if unit_key(one) == unit.key:
                notes.lose_text(_where(unit), name, one)
            else:
                yield unit_key(one)

    # documents

    def _documents(self, unit: Unit, record: Mapping[str, FieldValue], notes: UnitNotes) -> Iterator[Entity]:
        place = 0
        for place, node in enumerate(nodes(unit.node, "dokumentbeskrivelse"), 1):
            key = f"{unit.key}#d{place}"
            where = Where(key, "dokumentbeskrivelse", unit.line)
            fields = self._titled("Dokument", node, where, notes)
            self._once(node, fields, where, notes)
            self._screening(node, fields, where, notes)
            self._disposal(node, fields, where, notes)
            self._destruction(node, where, notes)
            self._business(node, fields)
            self._close_with(record, fields, node)
            yield Entity(key, "Dokument", fields, unit.key, "refRegistrering", recipe_line=unit.line)
            if "merknad" in node:
                remarks = nodes(node, "merknad")
                yield from self._made("Merknad", remarks, unit._replace(key=key), "n refDokument", notes)
            yield from self._versions(unit, key, nodes(node, "dokumentobjekt"), notes)
        loose = list(nodes(unit.node, "dokumentobjekt"))
        if loose:
            key = f"{unit.key}#d{place + 1}"
            notes.filled.append("Dokument")
            fields = {
                "tittel": record["tittel"],
                "tilknyttetRegistreringSom": self.codes.code("tilknyttetRegistreringSom", "Hoveddokument"),
                "dokumentstatus": self.codes.code("dokumentstatus", "Dokumentet er ferdigstilt"),
            }
            self._close_with(record, fields, {})
            yield Entity(key, "Dokument", fields, unit.key, "refRegistrering", recipe_line=unit.line)
            yield from self._versions(unit, key, loose, notes)

    def _versions(self, unit: Unit, document: str, found: Iterable[Node], notes: UnitNotes) -> Iterator[Entity]:
        for place, node in enumerate(found, 1):
            key = f"{document}v{place}"
            where = Where(key, "dokumentobjekt", unit.line)
            try:
                content = self._content(node)
            except Untakable:
                if not self.take_incomplete:
                    raise
                notes.miss_file(where, node)
                continue
            fields = self._fields("Dokumentversjon", node, where, notes)
            self._once(node, fields, where, notes)
            yield Entity(
                key, "Dokumentversjon", fields, document, "refDokument", content=content, recipe_line=unit.line
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

    def _once(self, node: Node, fields: dict[str, FieldValue], where: Where, notes: UnitNotes) -> None:
        """A systemID that was met before, or is none, is not kept."""
        uuid = fields.get("uuid")
        if isinstance(uuid, str) and self.seen.first(uuid):
            return
        if "systemID" in node:
            notes.drop_id(where, text(node, "systemID") or "")
        fields.pop("uuid", None)

    # groups of fields

    def _screening(self, node: Node, fields: dict[str, FieldValue], where: Where, notes: UnitNotes) -> None:
        fields["skjerming"] = None  # said, so that the archive does not let it inherit one
        if "skjerming" not in node:
            return
        for one in nodes(node, "skjerming"):
            name = text(one, "tilgangsrestriksjon")
            if name is not None:
                ground = text(one, "skjermingshjemmel")
                fields["skjerming"] = code = self.codes.code("skjerming", name, None if ground == unknown() else ground)
                if not self.codes.says("skjerming", code, name):
                    notes.lose_text(where, "skjerming/tilgangsrestriksjon", name)
            self._homeless(one, ("tilgangsrestriksjon", "skjermingshjemmel"), where.within("skjerming"), notes)

    def _disposal(self, node: Node, fields: dict[str, FieldValue], where: Where, notes: UnitNotes) -> None:
        if "kassasjon" not in node:
            return
        for one in nodes(node, "kassasjon"):
            for name in ("kassasjonsvedtak", "kassasjonshjemmel"):
                found = text(one, name)
                if found is not None and found != unknown():
                    fields[name] = self.codes.code(name, found)
            period = self._period(one)
            if period:
                fields["bevaringstid"] = period
            self._homeless(
                one, ("kassasjonsvedtak", "kassasjonshjemmel", "bevaringstid"), where.within("kassasjon"), notes
            )

    def _close_with(self, record: Mapping[str, FieldValue], document: dict[str, FieldValue], node: Node) -> None:
        """A document was closed with its record: the form says so of the record alone, and the day of the load says
        nothing. Where it is kept for some years, the day of its disposal tells its own day of closing, if likely."""
        for name in ("avsluttetDato", "avsluttetAv"):
            if record.get(name) is not None:
                document.setdefault(name, record[name])
        told = next((text(one, "kassasjonsdato") for one in nodes(node, "kassasjon")), None)
        if told is not None and document.get("avsluttetDato") is not None:
            try:
                closed = values.years_before(told, document.get("bevaringstid", 0))
                if closed >= _NO_DOCUMENT_BEFORE and values.day(str(document["avsluttetDato"])) != closed:
                    document["avsluttetDato"] = self.readers.value(_CLOSED, [f"{closed}T12:00:00"])
            except values.Unreadable:
                return

    def _period(self, node: Node) -> FieldValue:
        try:
            return self.readers.value(_PERIOD, node["bevaringstid"]) if "bevaringstid" in node else None
        except values.Unreadable as fault:
            raise Untakable("F206", why="unreadable-value", field="bevaringstid", kind=str(fault)) from None

    def _destruction(self, node: Node, where: Where, notes: UnitNotes) -> None:
        """What the archive writes of itself when it destroys a document cannot be given to it; nor who linked the
        document, and when, unless it was linked as it was made."""
        if "utfoertKassasjon" in node:
            notes.lose(where, "utfoertKassasjon", node["utfoertKassasjon"])
        for name, made in (("tilknyttetDato", "opprettetDato"), ("tilknyttetAv", "opprettetAv")):
            if name in node and node[name] != node.get(made):
                notes.lose(where, name, node[name])

    def _homeless(self, node: Node, taken: tuple[str, ...], where: Where, notes: UnitNotes) -> None:
        for name, held in node.items():
            if name not in taken:
                notes.lose(where, name, held)

    def _business(self, node: Node, fields: dict[str, FieldValue]) -> None:
        if _BUSINESS in node:
            found = self.business.read(nodes(node, _BUSINESS))
            if found:
                fields[_BUSINESS] = found


def _where(unit: Unit) -> Where:
    return Where(unit.key, unit.kind, unit.line)
