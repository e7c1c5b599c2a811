"""Looks for case files, records and what stands above them in an archive. Of what is screened, itself or through
anything above it, no text is told, and no search by its title finds it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.query import Condition, all_of, equals, like, select
from noarkit.archive.values import SavedObject
from noarkit.errors import UsageFault
from noarkit.model import metamodel

TYPES = (
    "Arkiv", "Arkivdel", "Klasse", "Mappe", "Saksmappe", "Moetemappe", "Basisregistrering", "Journalpost", "Arkivnotat",
    "Moeteregistrering",
)  # fmt: skip
_IDENTS = ("mappeIdent", "registreringsIdent", "klasseIdent")
_TOLD = (
    *_IDENTS, "opprettetDato", "avsluttetDato", "saksaar", "sakssekvensnummer", "saksstatus", "mappestatus",
    "journalaar", "journalsekvensnummer", "journalpostnummer", "journalposttype", "journalstatus", "arkivstatus",
    "arkivdelstatus",
)  # fmt: skip
_UP = (
    "refForelderMappe", "refMappe", "refForelderKlasse", "refPrimaerKlasse", "refKlassifikasjonssystem", "refArkivdel",
    "refForelderArkiv", "refArkiv",
)  # fmt: skip
_SCREEN = "skjerming"
_TITLE = "tittel"
_MOST = 50
_MOST_SEEN = 2_000
_DEEPEST = 64


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for: a part of the title, an ident, or an id."""

    type: str
    title: str = ""
    ident: str = ""
    id: str = ""
    limit: int = 20


def search(archive: Archive, asked: Asked) -> dict[str, object]:
    """The newest objects that fit. Raises `UsageFault` for a type or field that cannot be asked for."""
    limit = max(1, min(asked.limit, _MOST))
    found = _found(archive, asked)
    hits = list(islice(found, limit + 1))
    return {"hits": hits[:limit], "more": len(hits) > limit}


def _found(archive: Archive, asked: Asked) -> Iterator[dict[str, object]]:
    if asked.type not in TYPES or asked.type not in metamodel().types:
        raise UsageFault(what="no-such-type", where=asked.type, proposal=", ".join(TYPES))
    query = replace(select(asked.type, all_of(*_conditions(asked)), limit=100), public_use=True)
    screens = _Screens(archive)
    for one in islice(objects(archive, query), _MOST_SEEN):
        # what the archive withheld, and what we see is screened ourselves
        closed = _TITLE not in one.fields or screens.above(one)
        if closed and asked.title:
            continue
        told = {name: one.fields[name] for name in _TOLD if name in one.fields}
        title = {} if closed else {"title": one.fields[_TITLE]}
        yield {"type": one.type, "id": one.id, "screened": closed, **told, **title}


def _conditions(asked: Asked) -> list[Condition]:
    found: list[Condition] = []
    if asked.title:
        found.append(like(_TITLE, f"%{asked.title}%"))
    if asked.id:
        found.append(equals("id", asked.id))
    if asked.ident:
        known = metamodel().types[asked.type].fields
        name = next((name for name in _IDENTS if name in known), None)
        if name is None:
            raise UsageFault(what="no-ident", where=asked.type)
        found.append(equals(name, asked.ident))
    if not found:
        raise UsageFault(what="nothing-asked", where="search")
    return found


@dataclass(slots=True)
class _Screens:
    """Whether an object or anything above it is screened; what cannot be seen counts as screened."""

    archive: Archive
    known: dict[tuple[str, str], bool] = field(default_factory=dict)

    def above(self, one: SavedObject, depth: int = 0) -> bool:
        """True where it is screened, itself or by what stands above it."""
        if one.fields.get(_SCREEN) is not None or depth > _DEEPEST:
            return True
        references = metamodel().types[one.type].references
        up = {name: one.links[name] for name in _UP if name in references and name in one.links}
        return any(self._link(references[name].targets, target, depth) for name, target in up.items())

    def _link(self, targets: tuple[str, ...], target: str, depth: int) -> bool:
        key = (targets[0], target)
        if key not in self.known:
            self.known[key] = True  # until it is seen not to be; a circle stays closed
            parent = next((found for kind in targets for found in self._read(kind, target)), None)
            self.known[key] = parent is None or self.above(parent, depth + 1)
        return self.known[key]

    def _read(self, kind: str, target: str) -> Iterator[SavedObject]:
        yield from self.archive.query(select(kind, equals("id", target), limit=1)).objects
