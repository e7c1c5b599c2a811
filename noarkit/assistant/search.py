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
from noarkit.model.disclosure import mask_text, of_fields

TYPES = (
    "Arkiv", "Arkivdel", "Klasse", "Mappe", "Saksmappe", "Moetemappe", "Basisregistrering", "Journalpost", "Arkivnotat",
    "Moeteregistrering",
)  # fmt: skip
_IDENTS = ("mappeIdent", "registreringsIdent", "klasseIdent")
_SHOWN_FIELDS = (
    *_IDENTS, "opprettetDato", "avsluttetDato", "saksaar", "sakssekvensnummer", "saksstatus", "mappestatus",
    "journalaar", "journalsekvensnummer", "journalpostnummer", "journalposttype", "journalstatus", "arkivstatus",
    "arkivdelstatus",
)  # fmt: skip
_UP = (
    "refForelderMappe", "refMappe", "refForelderKlasse", "refPrimaerKlasse", "refKlassifikasjonssystem", "refArkivdel",
    "refForelderArkiv", "refArkiv",
)  # fmt: skip
_TITLE = "tittel"
_MOST = 50
_MOST_SEEN = 2_000
_DEEPEST = 64


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search: by a part of the title, an ident, or an id."""

    type: str
    title: str = ""
    ident: str = ""
    id: str = ""
    limit: int = 20


def search(archive: Archive, request: SearchRequest) -> dict[str, object]:
    """The newest objects that fit. Raises `UsageFault` for a type or field that cannot be asked for."""
    limit = max(1, min(request.limit, _MOST))
    all_hits = _find_hits(archive, request)
    hits = list(islice(all_hits, limit + 1))
    return {"hits": hits[:limit], "more": len(hits) > limit}


def _find_hits(archive: Archive, request: SearchRequest) -> Iterator[dict[str, object]]:
    if request.type not in TYPES or request.type not in metamodel().types:
        raise UsageFault(what="no-such-type", where=request.type, proposal=", ".join(TYPES))
    query = replace(select(request.type, all_of(*_conditions(request)), limit=100), public_use=True)
    screens = _ScreeningCheck(archive)
    for candidate in islice(objects(archive, query), _MOST_SEEN):
        # what the archive withheld, and what we see is screened ourselves
        closed = _TITLE not in candidate.fields or screens.above(candidate)
        if closed and request.title:
            continue
        shown_fields = {name: candidate.fields[name] for name in _SHOWN_FIELDS if name in candidate.fields}
        title = {} if closed else {"title": mask_text(str(candidate.fields[_TITLE]))}
        yield {"type": candidate.type, "id": candidate.id, "screened": closed, **shown_fields, **title}


def _conditions(request: SearchRequest) -> list[Condition]:
    conditions: list[Condition] = []
    if request.title:
        conditions.append(like(_TITLE, f"%{request.title}%"))
    if request.id:
        conditions.append(equals("id", request.id))
    if request.ident:
        fields = metamodel().types[request.type].fields
        name = next((name for name in _IDENTS if name in fields), None)
        if name is None:
            raise UsageFault(what="no-ident", where=request.type)
        conditions.append(equals(name, request.ident))
    if not conditions:
        raise UsageFault(what="nothing-asked", where="search")
    return conditions


@dataclass(slots=True)
class _ScreeningCheck:
    """Whether an object or anything above it is screened; what cannot be seen counts as screened."""

    archive: Archive
    screened_by_object: dict[tuple[str, str], bool] = field(default_factory=dict)

    def above(self, saved_object: SavedObject, depth: int = 0) -> bool:
        """True if the object, or anything above it, is screened."""
        if of_fields(saved_object.fields).is_screened or depth > _DEEPEST:
            return True
        references = metamodel().types[saved_object.type].references
        up = {name: saved_object.links[name] for name in _UP if name in references and name in saved_object.links}
        return any(self._link(references[name].targets, target, depth) for name, target in up.items())

    def _link(self, targets: tuple[str, ...], target: str, depth: int) -> bool:
        key = (targets[0], target)
        if key not in self.screened_by_object:
            self.screened_by_object[key] = True  # until it is seen not to be; a circle stays closed
            parent = next((parent_object for kind in targets for parent_object in self._read(kind, target)), None)
            self.screened_by_object[key] = parent is None or self.above(parent, depth + 1)
        return self.screened_by_object[key]

    def _read(self, kind: str, target: str) -> Iterator[SavedObject]:
        yield from self.archive.query(select(kind, equals("id", target), limit=1)).objects
