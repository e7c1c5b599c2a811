"""Small graphs to cut, freeze and check."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from noarkit.graph.builder import GraphBuilder
from noarkit.graph.checks import EntityChecks
from noarkit.graph.entity import AlreadyThere, Content, CreationMode, Entity, MappedRecord, SetAside, Skipped
from noarkit.graph.store import GraphStore

SYSTEM = "shelf"
Item = MappedRecord | SetAside | Skipped | AlreadyThere


def spine() -> tuple[Entity, ...]:
    """A fonds with its creator, and a series."""
    either = CreationMode.FIND_OR_CREATE
    creator = {"arkivskaperIdent": "1", "arkivskaperNavn": "Creator"}
    return (
        Entity("arkiv", "Arkiv", {"tittel": "Fonds"}, target=either),
        Entity("skaper", "Arkivskaper", creator, "arkiv", "refArkiv", target=either),
        Entity("del", "Arkivdel", {"tittel": "Series"}, "arkiv", "refArkiv", target=either),
    )


def folder(key: str, title: str = "t", parent: str = "del") -> Entity:
    """A folder below the series or another folder."""
    link = "refArkivdel" if parent == "del" else "refForelderMappe"
    return Entity(key, "Mappe", {"tittel": title}, parent, link)


def record(key: str, parent: str = "del", links: tuple[tuple[str, str], ...] = (), title: str = "t") -> Entity:
    """A record in the series or a folder."""
    link = "refArkivdel" if parent == "del" else "refMappe"
    return Entity(key, "Basisregistrering", {"tittel": title}, parent, link, links, recipe_line=7)


def document(key: str, parent: str) -> Entity:
    """A document of a record."""
    return Entity(key, "Dokument", {"tittel": "d", "tilknyttetRegistreringSom": "H"}, parent, "refRegistrering")


def version(key: str, parent: str, size_bytes: int = 10) -> Entity:
    """A version of a document, with so many bytes."""
    fields = {"variantformat": "P", "format": "txt"}
    return Entity(key, "Dokumentversjon", fields, parent, "refDokument", content=Content(key, "a.txt", size_bytes))


def whole(key: str, parent: Entity | None = None, sizes: Iterable[int] = (10,), title: str = "t") -> MappedRecord:
    """A source record: its folder, its record, and a document with a version for each size."""
    above = (parent,) if parent is not None else ()
    entities = [*above, record(key, parent.key if parent else "del", title=title)]
    for place, size in enumerate(sizes):
        entities += [document(f"{key}#d{place}", key), version(f"{key}#v{place}", f"{key}#d{place}", size)]
    return MappedRecord(key, tuple(entities))


def grown(path: Path, items: Iterable[Item], batch_records: int = 1000) -> GraphStore:
    """A finished graph of these items."""
    store = GraphStore.create(path)
    builder = GraphBuilder(store, SYSTEM, EntityChecks(), batch_records)
    builder.targets(spine())
    for item in items:
        builder.add(item)
    builder.finish()
    return store


def states(store: GraphStore) -> list[tuple[str, str, str | None]]:
    """Key, state and code of every record, in order."""
    return store.db.execute("SELECT key, state, code FROM record ORDER BY n").fetchall()


def keys(store: GraphStore) -> list[str]:
    """The keys of all entities in the order of loading, without the external ids."""
    return [entity.key for entity in store.all_entities() if entity.type != "EksternId"]
