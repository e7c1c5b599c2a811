"""The tree of an archive, walked from the tables that its objects were fetched into."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import orjson

from noarkit.catalogue.conversion_steps import steps_of_details
from noarkit.catalogue.places.archive_fetch import PRECEDENT, STRUCTURE
from noarkit.catalogue.places.noark_objects import (
    DOCUMENT,
    FOLDERS,
    RECORDS,
    VERSION,
    CodeNames,
    Part,
    documents_of,
    heading,
    nested_fields,
    with_names,
)
from noarkit.catalogue.port import Change, CustodyStep, Document, Item
from noarkit.model.disclosure import CARRIED_ABOVE, carried_above, of_fields

_CACHED = 50_000
_SERIES, _SYSTEM, _CLASS = "Arkivdel", "Klassifikasjonssystem", "Klasse"
_COLUMNS = "o.family, o.id, o.type, o.uuid, o.owner_family, o.owner, o.sort, o.data"

# those that lie in nothing of their own family first, then what lies in these
_LEVELS = f"""
WITH RECURSIVE level (id, depth) AS (
  SELECT id, 0 FROM object o WHERE family = ?1 AND NOT EXISTS
    (SELECT 1 FROM object p WHERE p.family = ?1 AND o.owner_family = ?1 AND p.id = o.owner)
  UNION SELECT o.id, l.depth + 1 FROM level l JOIN object o ON o.owner_family = ?1 AND o.owner = l.id AND o.family = ?1)
SELECT {_COLUMNS} FROM level l JOIN object o ON o.family = ?1 AND o.id = l.id ORDER BY l.depth, o.sort, o.id
"""  # noqa: S608  # our own words
_IN_STRUCTURE = ", ".join(f"'{family}'" for family in STRUCTURE)
_PARTS = f"""
SELECT {_COLUMNS} FROM object o WHERE owner_family = ?1 AND owner = ?2 AND family NOT IN ({_IN_STRUCTURE})
UNION ALL SELECT {_COLUMNS} FROM link l JOIN object o ON o.uuid = l.target
WHERE l.family = ?1 AND l.id = ?2 AND l.name = '{PRECEDENT}'
"""  # noqa: S608  # our own words
# further links of an object, and those of what belongs to it
_LINKS = f"""
SELECT name, target FROM link WHERE family = ?1 AND id = ?2 UNION ALL
SELECT l.name, l.target FROM object p JOIN link l ON l.family = p.family AND l.id = p.id
WHERE p.owner_family = ?1 AND p.owner = ?2 AND p.family NOT IN ({_IN_STRUCTURE})
"""  # noqa: S608  # our own words
# what belongs to nothing that the account may read
_LOOSE = f"""
SELECT {_COLUMNS} FROM object o WHERE family NOT IN ({_IN_STRUCTURE})
AND NOT EXISTS (SELECT 1 FROM object p WHERE p.family = o.owner_family AND p.id = o.owner)
AND NOT EXISTS (SELECT 1 FROM link l WHERE l.target = o.uuid AND l.name = '{PRECEDENT}')
ORDER BY o.family, o.sort, o.id
"""  # noqa: S608  # our own words


@dataclass(frozen=True, slots=True)
class _Object:
    family: str
    id: str
    type: str
    uuid: str
    owner_family: str | None
    owner: str | None
    sort: str
    fields: dict[str, object]
    links: dict[str, str]

    @property
    def ref(self) -> str:
        return _reference(self.uuid, self.type, self.id)


class ArchiveTree:
    """One walk through the objects of an archive."""

    def __init__(self, db: sqlite3.Connection, names: CodeNames) -> None:
        self._db = db
        self._names = names
        self._series_of_system: dict[str, str] = {}
        self._find = lru_cache(_CACHED)(self._find_object)
        carriers = db.execute("SELECT data FROM object WHERE instr(data, ?) > 0", (CARRIED_ABOVE,))
        self._screened_above = frozenset(
            unit for (data,) in carriers for unit in carried_above(orjson.loads(data)["f"])
        )

    def items(self) -> Iterator[Item]:
        """Every object that is an item, once: what lies in nothing that the account may read stands at the top."""
        for series in self._objects(_LEVELS, _SERIES):
            system = series.links.get("refPrimaerKlassifikasjonssystem")
            if system is not None:
                self._series_of_system.setdefault(system, series.id)
        for family in STRUCTURE:
            for archived in self._objects(_LEVELS, family):
                yield self._item(archived)
        for archived in self._objects(_LOOSE):
            yield self._item(archived)

    def _objects(self, sql: str, *values: object) -> Iterator[_Object]:
        return (_object(row) for row in self._db.execute(sql, values))

    def _find_object(self, family: str, id_: str) -> _Object | None:
        sql = f"SELECT {_COLUMNS} FROM object o WHERE family = ? AND id = ?"  # noqa: S608  # our own words
        return next(self._objects(sql, family, id_), None)

    def _item(self, archived: _Object) -> Item:
        part = self._part(archived)
        parent, klass, is_class_screened = self._place(archived)
        about = heading(part.fields, self._case_ident(archived))
        return Item(
            part.ref,
            parent,
            archived.type,
            about.title,
            ident=about.ident,
            day=about.day,
            status=about.status,
            klass=klass,
            screened=about.is_screened or is_class_screened or archived.uuid in self._screened_above,
            fields=nested_fields(part),
            links=tuple(self._links(archived)),
            documents=documents_of(part, _files(part)),
            history=tuple(self._history(part)),
        )

    def _part(self, archived: _Object) -> Part:
        """An object with what belongs to it and is no item of its own."""
        below = sorted(self._objects(_PARTS, archived.family, archived.id), key=lambda part: part.sort)
        fields = {"id": archived.id} | with_names(archived.type, archived.fields, self._names)
        return Part(archived.ref, archived.type, fields, [self._part(child) for child in below])

    def _place(self, archived: _Object) -> tuple[str | None, str, bool]:
        """The ref of what an object lies in, the number of its class, and whether that is screened.

        What lies in a series lies in its class there, where that is a class of the series; a classification system lies
        in the first series that has it."""
        family, owner = archived.owner_family, archived.owner
        if archived.family == _SYSTEM:
            family, owner = _SERIES, self._series_of_system.get(archived.id)
        above = self._find(family, owner) if family and owner else None
        parent = above.ref if above is not None else None
        if archived.family not in (FOLDERS, RECORDS) or "refPrimaerKlasse" not in archived.links:
            return parent, "", False
        klass = self._find(_CLASS, archived.links["refPrimaerKlasse"])
        if klass is None:
            return parent, "", False
        series = self._series_of_system.get(klass.links.get("refKlassifikasjonssystem", ""))
        lies_in_class = family == _SERIES and series == owner
        ident, is_screened = str(klass.fields.get("klasseIdent") or ""), self._is_screened(klass)
        return klass.ref if lies_in_class else parent, ident, is_screened

    def _is_screened(self, klass: _Object) -> bool:
        """True for a class that is screened, or lies in something that is."""
        above: _Object | None = klass
        while above is not None:
            if of_fields(above.fields).is_screened or above.uuid in self._screened_above:
                return True
            above = self._find(above.owner_family, above.owner) if above.owner_family and above.owner else None
        return False

    def _case_ident(self, archived: _Object) -> str:
        if archived.family != RECORDS or archived.owner_family != FOLDERS or archived.owner is None:
            return ""
        folder = self._find(FOLDERS, archived.owner)
        return "" if folder is None else heading(folder.fields).ident

    def _links(self, archived: _Object) -> Iterator[tuple[str, str]]:
        """The links of an object to other items, without that to what it lies in."""
        for name, target in archived.links.items():
            family = _CLASS if name == "refPrimaerKlasse" else _SYSTEM
            if name in ("refPrimaerKlasse", "refPrimaerKlassifikasjonssystem"):
                other = self._find(family, target)
                yield name, other.ref if other is not None else target
        rows = self._db.execute(_LINKS, (archived.family, archived.id))
        yield from ((str(name), str(target)) for name, target in rows if name != PRECEDENT)

    def _history(self, part: Part) -> Iterator[Change]:
        uuid = part.fields.get("uuid")
        rows = self._db.execute(
            "SELECT at, actor, field, before, after FROM change WHERE uuid = ? ORDER BY at", (uuid,)
        )
        for at, actor, name, before, after in rows:
            codes = self._names.get((part.type, name), {})
            yield Change(at, actor, name, codes.get(before, before), codes.get(after, after))
        for child in part.parts:
            for change in self._history(child):
                yield Change(change.at, change.actor, f"{child.type}.{change.field}", change.before, change.after)


def _object(row: tuple[str, str, str, str, str | None, str | None, str, str]) -> _Object:
    data = orjson.loads(row[7])
    return _Object(*row[:7], data["f"], data["l"])


def _reference(uuid: str, kind: str, id_: str) -> str:
    return uuid or f"{kind}/{id_}"


def _files(part: Part) -> Mapping[str, Document]:
    documents = (child for child in part.parts if child.type == DOCUMENT)
    versions = (version for document in documents for version in document.parts if version.type == VERSION)
    return {version.ref: _file(version) for version in versions}


def _file(version: Part) -> Document:
    """What an archive says of the file of a version; that it was linked, with that checksum, is all that it knows of
    the way it came."""
    fields = version.fields
    algorithm = str(fields.get("sjekksumAlgoritme", "")).upper().replace("-", "")
    sha256 = str(fields.get("sjekksum") or "").lower() if algorithm == "SHA256" else ""
    file_id, size = fields.get("referanseDokumentfil"), fields.get("filstoerrelse")
    created, creator = str(fields.get("opprettetDato") or ""), str(fields.get("opprettetAv") or "")
    return Document(
        version.ref,
        name=str(fields.get("filnavn") or ""),
        media_type=str(fields.get("innholdstype") or ""),
        size_bytes=size if isinstance(size, int) else None,
        sha256=sha256,
        locator=orjson.dumps([file_id, sha256]).decode() if file_id else None,
        custody=(
            *steps_of_details(str(fields.get("formatDetaljer") or "")),
            *((CustodyStep("linked", created, sha256, creator),) if sha256 else ()),
        ),
    )
