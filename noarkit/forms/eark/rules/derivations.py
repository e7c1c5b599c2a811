"""Checks what PREMIS says of copies: what a file was made of is in the package, with the bytes it was made of, and the
event of its making is there with an outcome.

The documents of a package are seen together, for a copy and its original may be told of in different ones. A second
look at them is taken only where there are derivations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from noarkit.forms.eark.rules.finding_sink import FindingSink
from noarkit.forms.eark.rules.premis import PremisEntity
from noarkit.safe.scratch import scratch

SOURCE, CHECKSUM, EVENT = "EARK-COPY-SOURCE", "EARK-COPY-CHECKSUM", "EARK-COPY-EVENT"
_DERIVATION = "derivation"
_SUMS = re.compile("sha256 ([0-9a-f]{64}) (?:to|\u2192) ([0-9a-f]{64})")
_SHA256 = "SHA-256"
ReadDocuments = Callable[[], Iterable[tuple[str, PremisEntity]]]


class _Row(NamedTuple):
    document: str
    line: int
    name: str
    related: str
    event: str


class DerivationRules:
    """The derivations of all PREMIS documents of a package."""

    def __init__(self) -> None:
        self._db = scratch()
        self._db.execute("CREATE TABLE relation (document TEXT, line INTEGER, name TEXT, related TEXT, event TEXT)")
        self._db.execute("CREATE INDEX relation_related ON relation (related)")
        self._db.execute("CREATE TABLE object (id TEXT PRIMARY KEY, digest TEXT) WITHOUT ROWID")
        self._db.execute("CREATE TABLE event (id TEXT PRIMARY KEY, has_outcome INTEGER) WITHOUT ROWID")
        self._db.execute(
            "CREATE TABLE claim (document TEXT, line INTEGER, source TEXT, source_sum TEXT, copy TEXT, copy_sum TEXT)"
        )
        self._any = False

    def observe(self, document: str, entity: PremisEntity) -> None:
        """Remembers what an entity says of derivations."""
        if entity.kind == "event":
            self._observe_event(document, entity)
        if entity.kind != "object" or entity.type not in ("file", ""):
            return
        for relationship in entity.relationships:
            if relationship.type.casefold() != _DERIVATION:
                continue
            self._any = True
            name = entity.first("originalName") or entity.first("objectIdentifierValue")
            event = next(iter(relationship.events), "")
            rows = [_Row(document, entity.line, name, related, event) for related in relationship.objects]
            self._db.executemany("INSERT INTO relation VALUES (?, ?, ?, ?, ?)", rows)

    def _observe_event(self, document: str, entity: PremisEntity) -> None:
        sums = _SUMS.search(entity.first("eventDetail"))
        objects = entity.all("linkingObjectIdentifierValue")
        if sums is not None and len(objects) == 2:
            values = (document, entity.line, objects[0], sums[1], objects[1], sums[2])
            self._db.execute("INSERT INTO claim VALUES (?, ?, ?, ?, ?, ?)", values)

    def judge(self, read_documents: ReadDocuments, sink_of: Callable[[str], FindingSink]) -> None:
        """Compares; `read_documents` reads every entity once more."""
        if not self._any:
            return
        for _, entity in read_documents():
            if entity.kind == "object":
                self._take_object(entity)
            elif entity.kind == "event":
                has_outcome = bool(entity.all("eventOutcome"))
                rows = [(value, has_outcome) for value in entity.all("eventIdentifierValue")]
                self._db.executemany("INSERT OR REPLACE INTO event VALUES (?, ?)", rows)
        self._judge_relations(sink_of)
        self._judge_checksums(sink_of)

    def _take_object(self, entity: PremisEntity) -> None:
        pairs = zip(entity.all("messageDigestAlgorithm"), entity.all("messageDigest"), strict=False)
        digest = next((digest.lower() for algorithm, digest in pairs if algorithm.upper() == _SHA256), "")
        rows = [(value, digest) for value in entity.all("objectIdentifierValue")]
        self._db.executemany("INSERT OR REPLACE INTO object VALUES (?, ?)", rows)

    def _judge_relations(self, sink_of: Callable[[str], FindingSink]) -> None:
        missing = self._db.execute(
            "SELECT * FROM relation WHERE NOT EXISTS (SELECT 1 FROM object WHERE id = related) ORDER BY document, line"
        )
        for row in map(_Row._make, missing):
            sink_of(row.document).hit(SOURCE, row.line, name=row.name, id=row.related)
        unproven = self._db.execute(
            "SELECT * FROM relation WHERE NOT EXISTS (SELECT 1 FROM event WHERE id = relation.event AND has_outcome)"
            " ORDER BY document, line"
        )
        for row in map(_Row._make, unproven):
            sink_of(row.document).hit(EVENT, row.line, name=row.name, id=row.event)

    def _judge_checksums(self, sink_of: Callable[[str], FindingSink]) -> None:
        for which in ("source", "copy"):
            differing = self._db.execute(
                f"SELECT document, line, {which}, {which}_sum, digest FROM claim JOIN object ON id = {which}"  # noqa: S608  # our own names
                f" WHERE digest <> '' AND digest <> {which}_sum ORDER BY document, line"
            )
            for document, line, identifier, expected, digest in differing:
                sink_of(document).hit(CHECKSUM, line, id=identifier, expected=expected, found=digest)
