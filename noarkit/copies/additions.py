"""Plans copies beside documents that are in the archive already: each document is found, its copies are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from noarkit.copies.archived import NUMBERS, VERSIONS
from noarkit.copies.planning import CopyLookup, copy_entities
from noarkit.graph.entity import Content, CreationMode, Entity, FieldValue, MappedRecord, SetAside, Skipped
from noarkit.model.conversions import copy_key
from noarkit.records import SourceRecord

NO_COPY = "no-copy"
"""Why a document is skipped: nothing was made of it."""


class AdditionMapper:
    """Maps a document of the archive to itself and the copies that are to stand in it.

    `sha256_of` tells the checksum of a content that the archive names by another algorithm, once it was read.
    """

    def __init__(self, lookup: CopyLookup, sha256_of: Callable[[Content], str | None]) -> None:
        self._lookup = lookup
        self._sha256_of = sha256_of
        self.copies = 0

    def targets(self) -> tuple[Entity, ...]:
        """Nothing: a document is found by its uuid, wherever it hangs."""
        return ()

    def map(self, record: SourceRecord) -> MappedRecord | SetAside | Skipped:
        """A document with its copies; one that has none is skipped."""
        document = Entity(record.key, "Dokument", {"uuid": record.key}, target=CreationMode.FIND)
        made: list[Entity] = []
        numbers, uuids = record.fields[NUMBERS], record.fields[VERSIONS]
        assert isinstance(numbers, list) and isinstance(uuids, list)  # noqa: S101  # as the list of documents has them
        for number, uuid, content in zip(numbers, uuids, record.contents, strict=True):
            sha256 = content.sha256 or self._sha256_of(content)
            if sha256 is not None:
                made += self._copies(document, uuid, number, replace(content, sha256=sha256))
        if not made:
            return Skipped(record.key, NO_COPY)
        return MappedRecord(record.key, (document, *made), root=made[0].key)

    def _copies(self, document: Entity, uuid: str, number: int, content: Content) -> list[Entity]:
        fields: dict[str, FieldValue] = {"variantformat": "P", "versjonsnummer": number}
        key = f"{document.key}/{uuid}"
        original = Entity(key, "Dokumentversjon", fields, document.key, "refDokument", content=content)
        entities: list[Entity] = []
        for copy in self._lookup.copies_of(content):
            if copy.state == "made":
                key = copy_key(key, copy.purpose)
                entities += copy_entities(original, copy, key)
                self.copies += 1
        return entities
