"""Archive units of an extract as entities of the archive: fields, parties, documents, notes, links and their places.

What the archive has no place for, what had to be filled in and what stands elsewhere than in the extract is told with
the unit it concerns. A unit that cannot be taken as it is raises `Untakable`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from noarkit.graph.entity import Content, Entity, FieldValue, Note
from noarkit.packages.noark5 import values
from noarkit.packages.noark5.business import BusinessFields
from noarkit.packages.noark5.fields import Row, unknown
from noarkit.packages.noark5.nodes import Node, exact, nodes, text, texts
from noarkit.packages.noark5.read import Unit, unit_key
from noarkit.packages.noark5.readers import Compiled, Readers

NO_PLACE = "W231"
FILLED_IN = "W232"
STANDS_ELSEWHERE = "W233"
ID_NOT_KEPT = "W235"

_BUSINESS = "virksomhetsspesifikkeMetadata"
_PERIOD = Row("bevaringstid", "number")
_FOLDERS: Mapping[str, str] = {"saksmappe": "Saksmappe", "moetemappe": "Moetemappe"}
_RECORDS: Mapping[str, str] = {
    "journalpost": "Journalpost",
    "arkivnotat": "Arkivnotat",
    "moeteregistrering": "Moeteregistrering",
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


class SeenIds(Protocol):
    """Which systemIDs of documents and versions were met."""

    def first(self, system_id: str) -> bool:
        """True the first time an id comes."""
        ...


@dataclass(slots=True)
class Told:
    """What is noticed while a unit becomes entities."""

    no_place: dict[str, int] = field(default_factory=dict)
    filled: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    ids: int = 0

    def notes(self) -> tuple[Note, ...]:
        """As notes of a record."""
        found: list[Note] = []
        if self.no_place:
            names = sorted(self.no_place)
            found.append(Note(NO_PLACE, {"names": ", ".join(names), "count": sum(self.no_place.values())}))
        if self.filled:
            found.append(Note(FILLED_IN, {"names": ", ".join(sorted(set(self.filled))), "count": len(self.filled)}))
        if self.elsewhere:
            found.append(Note(STANDS_ELSEWHERE, {"names": ", ".join(self.elsewhere), "count": len(self.elsewhere)}))
        if self.ids:
            found.append(Note(ID_NOT_KEPT, {"count": self.ids}))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes entities of units; one for a whole package."""

    files: Files
    seen: SeenIds
    codes: values.Codes
    business: BusinessFields
    readers: Readers

    # spine

    def fonds(self, unit: Unit, told: Told) -> tuple[Entity, ...]:
        """An arkiv and its creators."""
        node = unit.node
        fonds = Entity(unit.key, "Arkiv", self._named("Arkiv", unit, told), recipe_line=unit.line)
        creators = list(nodes(node, "arkivskaper")) or [{}]
        return (fonds, *self._made("Arkivskaper", creators, unit, "c refArkiv", told))

    def series(
        self, unit: Unit, told: Told, links: Iterable[tuple[str, str]], chained: Callable[[str, str], bool]
    ) -> Entity:
        """An arkivdel; `links` are those to its classification systems, `chained` whether one may follow the other."""
        fields = self._named("Arkivdel", unit, told)
        self._screening(unit.node, fields, told)
        found = [*links]
        before = [key for key in self._keys(unit, "referanseForloeper", told) if chained(key, unit.key)]
        found.extend(("refArkivdelForloeper", key) for key in before)
        after = [key for key in self._keys(unit, "referanseArvtaker", told) if chained(unit.key, key)]
        found.extend(("refArkivdelArvtaker", key) for key in after)
        return Entity(unit.key, "Arkivdel", fields, unit.above, "refArkiv", tuple(found), recipe_line=unit.line)

    def system(self, unit: Unit, told: Told, links: tuple[tuple[str, str], ...] = ()) -> Entity:
        """A klassifikasjonssystem."""
        fields = self._named("Klassifikasjonssystem", unit, told)
        return Entity(unit.key, "Klassifikasjonssystem", fields, links=links, recipe_line=unit.line)

    def klasse(self, unit: Unit, system: str, told: Told) -> Entity:
        """A klasse, under its system and, where it has one, the class above."""
        fields = self._named("Klasse", unit, told)
        self._screening(unit.node, fields, told)
        self._disposal(unit.node, fields, told)
        self._business(unit.node, fields)
        links = (("refForelderKlasse", unit.above),) if unit.above_kind == "klasse" else ()
        return Entity(unit.key, "Klasse", fields, system, "refKlassifikasjonssystem", links, recipe_line=unit.line)

    # folders and records

    def folder(self, unit: Unit, klasse: str, told: Told) -> tuple[Entity, ...]:
        """A mappe of any kind with what hangs on it; `klasse` is the key of its class, or empty."""
        kind = _FOLDERS.get(unit.type, "Mappe")
        node = unit.node
        fields = self._unit_fields(kind, unit, told)
        nested = unit.above_kind == "mappe" and kind == "Mappe" and not unit.above_type
        links = list(self._cross_references(unit, told)) if "kryssreferanse" in node else []
        if nested:
            parent, link = unit.above, "refForelderMappe"
        else:
            parent, link = unit.arkivdel, "refArkivdel"
            if unit.above_kind == "mappe":
                told.elsewhere.append(f"{kind} in {unit.above_type or 'mappe'}")
                links.append(("refKryssreferanseTilMappe", unit.above))
            if klasse:
                links.append(("refPrimaerKlasse", klasse))
        for key in self._keys(unit, "referanseSekundaerKlassifikasjon", told):
            links.append(("refSekundaerKlasse", key))
        me = Entity(unit.key, kind, fields, parent, link, tuple(dict.fromkeys(links)), recipe_line=unit.line)
        parts = [*nodes(node, "part"), *nodes(node, "sakspart")]
        below = [
            *self._keywords(unit, "refMappe"),
            *self._made("Sakspart", parts, unit, "p refMappe", told),
            *self._children("Merknad", "merknad", unit, "n refMappe", told),
        ]
        if kind == "Saksmappe":
            below += self._children("Presedens", "presedens", unit, "q refSaksmappe", told)
        if kind == "Moetemappe":
            members = list(nodes(node, "moetedeltaker"))
            if not members:
                raise Untakable("F226", why="no-participant", type=kind, line=unit.line)
            below += self._made("Moetedeltaker", members, unit, "m refMappe", told)
        return (me, *below)

    def record(self, unit: Unit, told: Told) -> tuple[Entity, ...]:
        """A registrering of any kind with what hangs on it, its documents and their versions."""
        kind = _RECORDS.get(unit.type, "Basisregistrering")
        node = unit.node
        fields = self._unit_fields(kind, unit, told)
        links = list(self._cross_references(unit, told)) if "kryssreferanse" in node else []
        needed = _WITHIN.get(kind)
        if unit.above_kind == "mappe" and needed in (None, unit.above_type):
            parent, link = unit.above, "refMappe"
        else:
            parent, link = unit.arkivdel, "refArkivdel"
            if unit.above_kind == "mappe":
                told.elsewhere.append(f"{kind} in {unit.above_type or 'mappe'}")
                links.append(("refKryssreferanseTilMappe", unit.above))
            if unit.klasse:
                links.append(("refPrimaerKlasse", unit.klasse))
        me = Entity(unit.key, kind, fields, parent, link, tuple(dict.fromkeys(links)), recipe_line=unit.line)
        below = [
            *self._keywords(unit, "refRegistrering"),
            *self._children("Korrespondansepart", "korrespondansepart", unit, "p refRegistrering", told),
            *self._children("Merknad", "merknad", unit, "n refRegistrering", told),
        ]
        if kind == "Journalpost":
            below += self._sign_offs(unit, told)
            below += self._children("Dokumentflyt", "dokumentflyt", unit, "f refJournalpost", told)
            below += self._children("Presedens", "presedens", unit, "q refJournalpost", told)
        if kind == "Arkivnotat":
            below += self._children("Dokumentflyt", "dokumentflyt", unit, "f refArkivnotat", told)
        return (me, *below, *self._documents(unit, fields, told))

    # what hangs on them

    def _named(self, kind: str, unit: Unit, told: Told) -> dict[str, FieldValue]:
        """The fields of a unit; its systemID is not kept where it is no UUID, or another unit's."""
        fields = self._titled(kind, unit.node, told)
        if fields.get("uuid") != unit.key:
            fields.pop("uuid", None)
            told.ids += 1
        return fields

    def _unit_fields(self, kind: str, unit: Unit, told: Told) -> dict[str, FieldValue]:
        node = unit.node
        fields = self._named(kind, unit, told)
        self._year(fields)
        self._screening(node, fields, told)
        self._disposal(node, fields, told)
        self._business(node, fields)
        return fields

    def _year(self, fields: dict[str, FieldValue]) -> None:
        """A number without a year belongs to the year of the unit's own date."""
        for year, number, date in (
            ("saksaar", "sakssekvensnummer", "saksdato"),
            ("journalaar", "journalsekvensnummer", "registreringsDato"),
        ):
            day = fields.get(date) or fields.get("opprettetDato")
            if number in fields and year not in fields and isinstance(day, str):
                fields[year] = int(day[:4])

    def _titled(self, kind: str, node: Node, told: Told) -> dict[str, FieldValue]:
        """The fields of a type that has a title: an unnamed record is named by its first document."""
        fields = self._fields(kind, node, told)
        if f"{kind}.tittel" in told.filled and fields["tittel"] == unknown():
            titles = (found for one in nodes(node, "dokumentbeskrivelse") if (found := text(one, "tittel")))
            fields["tittel"] = next(titles, None) or text(node, "offentligTittel") or unknown()
        return fields

    def _fields(self, kind: str, node: Node, told: Told) -> dict[str, FieldValue]:
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
                elif name not in how.structural:
                    told.no_place[name] = told.no_place.get(name, 0) + len(held)
        except values.Unreadable as fault:
            raise Untakable("F206", why="unreadable-value", field=name, kind=str(fault)) from None
        for name, filling in how.absent.items():
            if name not in fields:
                fields[name] = self._filling(how, name, filling)
                if not name.endswith("BrukerIdent"):
                    told.filled.append(f"{kind}.{name}")
        return fields

    def _filling(self, how: Compiled, name: str, filling: str) -> str:
        if filling.startswith("="):
            return filling[1:]
        return self.codes.code(how.codes[name], filling) if name in how.codes else filling

    def _children(self, kind: str, name: str, unit: Unit, where: str, told: Told) -> list[Entity]:
        """Things that hang on a unit, by the name of their element; `where` is the sign of their keys and the link
        that they hang by."""
        return self._made(kind, nodes(unit.node, name), unit, where, told) if name in unit.node else []

    def _made(self, kind: str, found: Iterable[Node], unit: Unit, where: str, told: Told) -> list[Entity]:
        sign, link = where.split()
        made: list[Entity] = []
        for place, node in enumerate(found, 1):
            fields = self._fields(kind, node, told)
            if _BUSINESS in node:
                self._business(node, fields)
            made.append(Entity(f"{unit.key}#{sign}{place}", kind, fields, unit.key, link, recipe_line=unit.line))
        return made

    def _keywords(self, unit: Unit, link: str) -> list[Entity]:
        if "noekkelord" not in unit.node:
            return []
        return [
            Entity(f"{unit.key}#k{place}", "Noekkelord", {"verdi": word}, unit.key, link, recipe_line=unit.line)
            for place, word in enumerate(exact(unit.node, "noekkelord"), 1)
        ]

    def _sign_offs(self, unit: Unit, told: Told) -> Iterator[Entity]:
        for place, node in enumerate(nodes(unit.node, "avskrivning"), 1):
            fields = self._fields("Avskrivning", node, told)
            by = tuple(
                ("refTilknyttetJournalpost", unit_key(one)) for one in texts(node, "referanseAvskrivesAvJournalpost")
            )
            key = f"{unit.key}#s{place}"
            yield Entity(key, "Avskrivning", fields, unit.key, "refJournalpost", by, recipe_line=unit.line)

    def _cross_references(self, unit: Unit, told: Told) -> Iterator[tuple[str, str]]:
        for node in nodes(unit.node, "kryssreferanse"):
            for name, link in (
                ("referanseTilMappe", "refKryssreferanseTilMappe"),
                ("referanseTilRegistrering", "refKryssreferanseTilRegistrering"),
            ):
                for one in texts(node, name):
                    if unit_key(one) == unit.key:
                        told.no_place[f"{name} to itself"] = 1
                    else:
                        yield link, unit_key(one)
            if "referanseTilKlasse" in node:
                told.no_place["referanseTilKlasse"] = told.no_place.get("referanseTilKlasse", 0) + 1

    def _keys(self, unit: Unit, name: str, told: Told) -> Iterator[str]:
        for one in texts(unit.node, name):
            if unit_key(one) == unit.key:
                told.no_place[f"{name} to itself"] = 1
            else:
                yield unit_key(one)

    # documents

    def _documents(self, unit: Unit, record: Mapping[str, FieldValue], told: Told) -> Iterator[Entity]:
        place = 0
        for place, node in enumerate(nodes(unit.node, "dokumentbeskrivelse"), 1):
            key = f"{unit.key}#d{place}"
            fields = self._titled("Dokument", node, told)
            self._once("systemID", node, fields, told)
            self._screening(node, fields, told)
            self._disposal(node, fields, told)
            self._business(node, fields)
            yield Entity(key, "Dokument", fields, unit.key, "refRegistrering", recipe_line=unit.line)
            if "merknad" in node:
                notes = nodes(node, "merknad")
                yield from self._made("Merknad", notes, unit._replace(key=key), "n refDokument", told)
            yield from self._versions(unit, key, nodes(node, "dokumentobjekt"), told)
        loose = list(nodes(unit.node, "dokumentobjekt"))
        if loose:
            key = f"{unit.key}#d{place + 1}"
            told.filled.append("Dokument")
            fields = {
                "tittel": record["tittel"],
                "tilknyttetRegistreringSom": self.codes.code("tilknyttetRegistreringSom", "Hoveddokument"),
                "dokumentstatus": self.codes.code("dokumentstatus", "Dokumentet er ferdigstilt"),
            }
            yield Entity(key, "Dokument", fields, unit.key, "refRegistrering", recipe_line=unit.line)
            yield from self._versions(unit, key, loose, told)

    def _versions(self, unit: Unit, document: str, found: Iterable[Node], told: Told) -> Iterator[Entity]:
        for place, node in enumerate(found, 1):
            fields = self._fields("Dokumentversjon", node, told)
            self._once("systemID", node, fields, told)
            path = text(node, "referanseDokumentfil")
            if path is None:
                raise Untakable("F206", why="no-file-named", field="referanseDokumentfil")
            checksum = (text(node, "sjekksum") or "").lower()
            algorithm = (text(node, "sjekksumAlgoritme") or "").upper().replace("-", "").replace("_", "")
            sha256 = checksum if len(checksum) == 64 and algorithm in ("SHA256", "") else None
            content = self.files.content(path, sha256, algorithm, checksum)
            key = f"{document}v{place}"
            yield Entity(
                key, "Dokumentversjon", fields, document, "refDokument", content=content, recipe_line=unit.line
            )

    def _once(self, name: str, node: Node, fields: dict[str, FieldValue], told: Told) -> None:
        """A systemID that was met before, or is none, is not kept."""
        uuid = fields.get("uuid")
        if isinstance(uuid, str) and self.seen.first(uuid):
            return
        if name in node:
            told.ids += 1
        fields.pop("uuid", None)

    # groups of fields

    def _screening(self, node: Node, fields: dict[str, FieldValue], told: Told) -> None:
        fields["skjerming"] = None  # said, so that the archive does not let it inherit one
        if "skjerming" not in node:
            return
        for one in nodes(node, "skjerming"):
            name = text(one, "tilgangsrestriksjon")
            if name is not None:
                ground = text(one, "skjermingshjemmel")
                fields["skjerming"] = self.codes.code("skjerming", name, None if ground == unknown() else ground)
            self._homeless(one, ("tilgangsrestriksjon", "skjermingshjemmel", "skjermingMetadata"), told)

    def _disposal(self, node: Node, fields: dict[str, FieldValue], told: Told) -> None:
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
            self._homeless(one, ("kassasjonsvedtak", "kassasjonshjemmel", "bevaringstid", "kassasjonsdato"), told)

    def _period(self, node: Node) -> FieldValue:
        try:
            return self.readers.value(_PERIOD, node["bevaringstid"]) if "bevaringstid" in node else None
        except values.Unreadable as fault:
            raise Untakable("F206", why="unreadable-value", field="bevaringstid", kind=str(fault)) from None

    def _homeless(self, node: Node, taken: tuple[str, ...], told: Told) -> None:
        for name in node:
            if name not in taken:
                told.no_place[name] = told.no_place.get(name, 0) + 1

    def _business(self, node: Node, fields: dict[str, FieldValue]) -> None:
        if _BUSINESS in node:
            found = self.business.read(nodes(node, _BUSINESS))
            if found:
                fields[_BUSINESS] = found
