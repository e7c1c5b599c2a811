"""The objects with their links, the files and the change log. A draft is carried out whole or not at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from tests.strict_archive.business import Registry
from tests.strict_archive.tables import Tables
from tests.strict_archive.values import RefusedRequest, Value, shown

FILE_LIFE_S = 3600.0


@dataclass(slots=True)
class Object:
    """An object, or the draft of one."""

    id: int
    type: str
    version: int = 0
    fields: dict[str, Value] = field(default_factory=dict)
    business: dict[str, object] = field(default_factory=dict)
    links: dict[str, list[int]] = field(default_factory=dict)

    def copy(self) -> Object:
        """The same, to be changed."""
        links = {name: list(ids) for name, ids in self.links.items()}
        return Object(self.id, self.type, self.version, dict(self.fields), dict(self.business), links)


@dataclass(slots=True)
class StoredFile:
    """An uploaded file."""

    id: str
    owner: str
    name: str
    media_type: str
    body: bytes
    arrived_s: float
    sha256: str
    is_used: bool = False


class Store:
    """What the archive holds."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.objects: dict[int, Object] = {}
        self.ids_of: dict[str, set[int]] = defaultdict(set)
        self.files: dict[str, StoredFile] = {}
        self.registry = Registry()
        self.changes: list[dict[str, object]] = []
        self.counters: dict[tuple[object, ...], int] = defaultdict(int)
        self.next_id = 1000
        self._indexes: dict[tuple[str, str], dict[Value, list[int]]] = {}

    def new_id(self) -> int:
        """An id that nothing had before."""
        self.next_id += 1
        return self.next_id

    def commit(self, draft: Draft) -> None:
        """Carries a draft out."""
        for id in draft.deleted:
            gone = self.objects.pop(id, None)
            if gone is not None:
                self.ids_of[gone.type].discard(id)
        for id, changed in draft.changed.items():
            if id in draft.deleted:
                continue
            changed.version += 1
            self.objects[id] = changed
            self.ids_of[changed.type].add(id)
        for file_id in draft.files:
            self.files[file_id].is_used = True
        self.changes += draft.log
        self._indexes.clear()

    def snapshot(self) -> Store:
        """The same as it is now; what is changed later is changed in copies of the objects."""
        kept = Store(self.tables)
        kept.objects, kept.files, kept.registry = dict(self.objects), dict(self.files), self.registry
        kept.changes = list(self.changes)
        for kind, ids in self.ids_of.items():
            kept.ids_of[kind] = set(ids)
        return kept

    def forget_indexes(self) -> None:
        """What was changed below the interface is found by its new values."""
        self._indexes.clear()

    def with_value(self, type_name: str, name: str, value: Value) -> list[int]:
        """The ids of a type's objects whose field has this value."""
        key = (type_name, name)
        index = self._indexes.get(key)
        if index is None:
            index = defaultdict(list)
            for id in self.ids_of[type_name]:
                index[self.objects[id].fields.get(name)].append(id)
            self._indexes[key] = index
        return index.get(value, [])


class Draft:
    """Changes that are not carried out yet."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.changed: dict[int, Object] = {}
        self.created: dict[int, None] = {}
        self.deleted: set[int] = set()
        self.files: set[str] = set()
        self.log: list[dict[str, object]] = []

    def look(self, id: int) -> Object:
        """An object as it would be."""
        found = None if id in self.deleted else self.changed.get(id) or self.store.objects.get(id)
        if found is None:
            raise RefusedRequest(404, f"There is no object with the id {id}.")
        return found

    def change(self, id: int) -> Object:
        """An object, to be changed."""
        found = self.look(id)
        if id not in self.changed:
            found = self.changed[id] = found.copy()
        return found

    def create(self, type_name: str) -> Object:
        """A new object."""
        made = Object(self.store.new_id(), type_name)
        self.changed[made.id] = made
        self.created[made.id] = None
        return made

    def linked(self, owner: Object, name: str) -> Iterator[Object]:
        """The objects that a reference leads to."""
        return (self.look(id) for id in owner.links.get(name, ()))

    def parents(self, owner: Object) -> Iterator[Object]:
        """What an object lies in."""
        for name in PARENTS.get(owner.type, ()):
            yield from self.linked(owner, name)

    def children(self, owner: Object) -> Iterator[Object]:
        """What lies in an object."""
        return children(self.look, owner)

    def remove(self, gone: Object) -> None:
        """Removes an object with all that lies in it, and every link to it."""
        for child in list(self.children(gone)):
            if child.id not in self.deleted:
                self.remove(child)
        for id in [id for ids in gone.links.values() for id in ids if id not in self.deleted]:
            for there in self.change(id).links.values():
                if gone.id in there:
                    there.remove(gone.id)
        self.deleted.add(gone.id)


def children(look: Callable[[int], Object], owner: Object) -> Iterator[Object]:
    """What lies in an object: what is linked to it, and names it as what it lies in."""
    for name in CHILDREN:
        for id in owner.links.get(name, ()):
            child = look(id)
            if any(owner.id in child.links.get(up, ()) for up in PARENTS.get(child.type, ())):
                yield child


def as_answer(tables: Tables, seen: Object, hidden: frozenset[str] = frozenset()) -> dict[str, object]:
    """An object as answers have it: what is not set is left out, and only to-one references are told."""
    fields: dict[str, object] = {
        name: shown(value)
        for name, value in seen.fields.items()
        if value is not None and name not in hidden and not name.startswith("~")
    }
    if seen.business and "virksomhetsspesifikkeMetadata" not in hidden:
        fields["virksomhetsspesifikkeMetadata"] = seen.business
    references = tables.types[seen.type].references
    links: Mapping[str, object] = {
        name: ids[0]
        for name, ids in seen.links.items()
        if ids and name in references and references[name].is_shown and not references[name].is_many
    }
    return {"type": seen.type, "id": str(seen.id), "version": str(seen.version), "fields": fields, "links": links}


_IN_A_FOLDER = ("refMappe", "refArkivdel")
_OWNED = ("refMappe", "refRegistrering", "refDokument", "refDokumentversjon")
PARENTS: Mapping[str, tuple[str, ...]] = {
    "Arkivskaper": ("refArkiv",),
    "Arkivdel": ("refArkiv",),
    "Klasse": ("refKlassifikasjonssystem", "refForelderKlasse"),
    "Mappe": ("refForelderMappe", "refArkivdel"),
    "Saksmappe": ("refArkivdel",),
    "Moetemappe": ("refArkivdel",),
    "Sakspart": ("refMappe",),
    "Moetedeltaker": ("refMappe",),
    "Basisregistrering": _IN_A_FOLDER,
    "Moeteregistrering": _IN_A_FOLDER,
    "Arkivnotat": _IN_A_FOLDER,
    "Journalpost": _IN_A_FOLDER,
    "Korrespondansepart": ("refRegistrering",),
    "Dokumentflyt": ("refJournalpost", "refArkivnotat"),
    "Avskrivning": ("refJournalpost",),
    "Dokument": ("refRegistrering",),
    "Dokumentversjon": ("refDokument",),
    "Adresse": _OWNED,
    "Bygning": _OWNED,
    "Eiendom": _OWNED,
    "Plan": _OWNED,
    "EksternId": _OWNED,
    "Noekkelord": _OWNED,
    "Merknad": _OWNED,
}
CHILDREN = (
    "refArkivdel",
    "refArkivskaper",
    "refMappe",
    "refBarnMappe",
    "refRegistrering",
    "refKlasse",
    "refBarnKlasse",
    "refSakspart",
    "refMoetedeltaker",
    "refKorrespondansepart",
    "refDokumentflyt",
    "~Dokumentflyt.refArkivnotat",
    "refAvskrivning",
    "refDokument",
    "refDokumentversjon",
    "refNasjonalIdentifikator",
    "refEksternId",
    "refNoekkelord",
    "refMerknad",
)
