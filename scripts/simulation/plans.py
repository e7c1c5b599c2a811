"""Plans for simulations: real graphs, made as plans are made, of records that nobody wrote."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from noarkit.graph.builder import GraphBuilder
from noarkit.graph.checks import EntityChecks
from noarkit.graph.cut import Limits, cut
from noarkit.graph.entity import Content, CreationMode, Entity, MappedRecord
from noarkit.graph.freeze import digest
from noarkit.graph.store import GraphStore
from noarkit.loading.folder import RunFolder
from noarkit.records import ContentStream

SYSTEM = "simulated"


@dataclass(frozen=True, slots=True)
class Shape:
    """How many records a plan has, in how many folders, cut how small. `linked`: records refer to the next folder's."""

    records: int = 10
    folders: int = 4
    chunk_actions: int = 20
    shard_entities: int = 12
    document_bytes: int = 40
    linked: bool = True


class Stream(io.BytesIO):
    """Bytes of a source that nobody changes."""

    def still_the_same(self) -> bool:
        return True


@contextmanager
def open_content(content: Content) -> Iterator[ContentStream]:
    """Opens a content: its name, whatever size it claims to be."""
    yield Stream(content.locator.encode())


def make_plan(folder: RunFolder, shape: Shape) -> None:
    """Plans, cuts and freezes records of this shape."""
    folder.path.mkdir(parents=True)
    store = GraphStore.create(folder.graph)
    builder = GraphBuilder(store, SYSTEM, EntityChecks())
    builder.targets(_spine())
    for number in range(shape.records):
        builder.add(_record(number, shape))
    builder.finish()
    assert not store.count("record", "state != 'mapped'"), "every record is to be loaded"
    store.remember("external_system", SYSTEM)
    cut(store, Limits(chunk_actions=shape.chunk_actions, shard_entities=shape.shard_entities))
    folder.write_plan({"sha256": digest(store.db)})
    store.db.execute("PRAGMA journal_mode = DELETE")
    store.close()


def _spine() -> tuple[Entity, ...]:
    either = CreationMode.FIND_OR_CREATE
    creator = {"arkivskaperIdent": "1", "arkivskaperNavn": "Creator"}
    return (
        Entity("arkiv", "Arkiv", {"tittel": "Fonds"}, target=either),
        Entity("skaper", "Arkivskaper", creator, "arkiv", "refArkiv", target=either),
        Entity("del", "Arkivdel", {"tittel": "Series"}, "arkiv", "refArkiv", target=either),
    )


def _record(number: int, shape: Shape) -> MappedRecord:
    folder = number * shape.folders // shape.records
    key, case = f"r{number}", f"f{folder}"
    document = {"tittel": f"document {number}", "tilknyttetRegistreringSom": "H"}
    version = {"variantformat": "P", "format": "txt"}
    content = Content(key, f"{key}.txt", shape.document_bytes if shape.document_bytes > 1000 else len(key))
    links: tuple[tuple[str, str], ...] = ()
    if shape.linked and number and folder != (number - 1) * shape.folders // shape.records:
        links = (("refKryssreferanseTilRegistrering", f"r{number - 1}"),)
    return MappedRecord(
        key,
        (
            Entity(case, "Mappe", {"tittel": case}, "del", "refArkivdel"),
            Entity(key, "Basisregistrering", {"tittel": f"record {number}"}, case, "refMappe", links=links),
            Entity(f"{key}#d", "Dokument", document, key, "refRegistrering"),
            Entity(f"{key}#v", "Dokumentversjon", version, f"{key}#d", "refDokument", content=content),
        ),
    )
