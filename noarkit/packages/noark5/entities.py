"""Archive units of an extract as entities of the archive: fields, parties, documents, notes, links and their places.

What the archive has no place for, what had to be filled in and what stands elsewhere than in the extract is told with
the unit it concerns. A unit that cannot be taken as it is raises `Untakable`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from zoneinfo import ZoneInfo

from noarkit.graph.entity import Content, Entity, FieldValue, Note
from noarkit.packages.noark5 import values
from noarkit.packages.noark5.business import BusinessFields
from noarkit.packages.noark5.fields import JOINED, Reading, Row, reading, unknown
from noarkit.packages.noark5.nodes import Node, exact, nodes, text, texts
from noarkit.packages.noark5.read import UUID, Unit, unit_key

NO_PLACE = "W231"
FILLED_IN = "W232"
STANDS_ELSEWHERE = "W233"
ID_NOT_KEPT = "W235"

_BUSINESS = "virksomhetsspesifikkeMetadata"
_BETWEEN: Mapping[str, str] = {"text": "", "many": JOINED, "lines": "\n"}
_NOTHING: Mapping[str, str] = {}
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

    zone: ZoneInfo
    files: Files
    seen: SeenIds
    codes: values.Codes
    business: BusinessFields

    # spine

    def fonds(self, unit: Unit, told: Told) -> tuple[Entity, ...]:
        """An arkiv and its creators."""
        node = unit.node
        fonds = Entity(unit.key, "Arkiv", self._named("Arkiv", unit, told), recipe_line=unit.line)
        creators = list(nodes(node, "arkivskaper")) or [{}]
        return (fonds, *self._children("Arkivskaper", creators, unit, "c refArkiv", told))

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
        links = list(self._cross_references(unit, told))
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
            *self._children("Sakspart", parts, unit, "p refMappe", told),
            *self._children("Merknad", nodes(node, "merknad"), unit, "n refMappe", told),
        ]
        if kind == "Saksmappe":
            below += self._children("Presedens", nodes(node, "presedens"), unit, "q refSaksmappe", told)
        if kind == "Moetemappe":
            members = list(nodes(node, "moetedeltaker"))
            if not members:
                raise Untakable("F226", why="no-participant", type=kind, line=unit.line)
            below += self._children("Moetedeltaker", members, unit, "m refMappe", told)
        return (me, *below)

    def record(self, unit: Unit, told: Told) -> tuple[Entity, ...]:
        """A registrering of any kind with what hangs on it, its documents and their versions."""
        kind = _RECORDS.get(unit.type, "Basisregistrering")
        node = unit.node
        fields = self._unit_fields(kind, unit, told)
        links = list(self._cross_references(unit, told))
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
        parties = nodes(node, "korrespondansepart")
        below = [
            *self._keywords(unit, "refRegistrering"),
            *self._children("Korrespondansepart", parties, unit, "p refRegistrering", told),
            *self._children("Merknad", nodes(node, "merknad"), unit, "n refRegistrering", told),
        ]
        if kind == "Journalpost":
            below += self._sign_offs(unit, told)
            below += self._children("Dokumentflyt", nodes(node, "dokumentflyt"), unit, "f refJournalpost", told)
            below += self._children("Presedens", nodes(node, "presedens"), unit, "q refJournalpost", told)
        if kind == "Arkivnotat":
            below += self._children("Dokumentflyt", nodes(node, "dokumentflyt"), unit, "f refArkivnotat", told)
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
        title = text(node, "tittel") or next(
            (found for one in nodes(node, "dokumentbeskrivelse") if (found := text(one, "tittel"))), None
        )
        return self._fields(kind, node, told, {"tittel": title or text(node, "offentligTittel") or unknown()})

    def _fields(
        self, kind: str, node: Node, told: Told, instead: Mapping[str, str] = _NOTHING
    ) -> dict[str, FieldValue]:
        how = reading(kind)
        rows, structural = how.rows, how.structural
        fields: dict[str, FieldValue] = {}
        for name, held in node.items():
            row = rows.get(name)
            if row is not None:
                value = self._value(row, node, name)
                if value is not None:
                    fields[row.field] = value
            elif name not in structural:
                told.no_place[name] = told.no_place.get(name, 0) + len(held)
        for name, filling in how.absent.items():
            if name not in fields:
                fields[name] = instead[name] if name in instead else self._filling(how, name, filling)
                if not name.endswith("BrukerIdent"):
                    told.filled.append(f"{kind}.{name}")
        return fields

    def _filling(self, how: Reading, name: str, filling: str) -> str:
        if filling.startswith("="):
            return filling[1:]
        return self.codes.code(how.codes[name], filling) if name in how.codes else filling

    def _value(self, row: Row, node: Node, name: str) -> FieldValue:
        if row.how in _BETWEEN:
            told = exact(node, name)
            if not told or told[0] == row.empty:
                return None
            return told[0] if row.how == "text" else _BETWEEN[row.how].join(told)
        found = text(node, name)
        if found is None or found == row.empty:
            return None
        try:
            match row.how:
                case "time":
                    return values.timestamp(found, self.zone)
                case "code":
                    return self.codes.code(row.code_list, found)
                case "day":
                    return values.day(found)
                case "number":
                    return values.number(found)
        except values.Unreadable as fault:
            raise Untakable("F206", why="unreadable-value", field=name, kind=str(fault)) from None
        return found.lower() if UUID.fullmatch(found) else None

    def _children(self, kind: str, found: Iterable[Node], unit: Unit, where: str, told: Told) -> list[Entity]:
        """Things that hang on a unit; `where` is the sign of their keys and the link that they hang by."""
        sign, link = where.split()
        made: list[Entity] = []
        for place, node in enumerate(found, 1):
            fields = self._fields(kind, node, told)
            if _BUSINESS in node:
                self._business(node, fields)
            made.append(Entity(f"{unit.key}#{sign}{place}", kind, fields, unit.key, link, recipe_line=unit.line))
        return made

    def _keywords(self, unit: Unit, link: str) -> list[Entity]:
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
            notes = nodes(node, "merknad")
            yield from self._children("Merknad", notes, unit._replace(key=key), "n refDokument", told)
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
        for one in nodes(node, "skjerming"):
            name = text(one, "tilgangsrestriksjon")
            if name is not None:
                ground = text(one, "skjermingshjemmel")
                fields["skjerming"] = self.codes.code("skjerming", name, None if ground == unknown() else ground)
            self._homeless(one, ("tilgangsrestriksjon", "skjermingshjemmel", "skjermingMetadata"), told)

    def _disposal(self, node: Node, fields: dict[str, FieldValue], told: Told) -> None:
        for one in nodes(node, "kassasjon"):
            for name in ("kassasjonsvedtak", "kassasjonshjemmel"):
                found = text(one, name)
                if found is not None and found != unknown():
                    fields[name] = self.codes.code(name, found)
            period = self._value(Row("bevaringstid", "number"), one, "bevaringstid")
            if period:
                fields["bevaringstid"] = period
            self._homeless(one, ("kassasjonsvedtak", "kassasjonshjemmel", "bevaringstid", "kassasjonsdato"), told)

    def _homeless(self, node: Node, taken: tuple[str, ...], told: Told) -> None:
        for name in node:
            if name not in taken:
                told.no_place[name] = told.no_place.get(name, 0) + 1

    def _business(self, node: Node, fields: dict[str, FieldValue]) -> None:
        if _BUSINESS in node:
            found = self.business.read(nodes(node, _BUSINESS))
            if found:
                fields[_BUSINESS] = found
