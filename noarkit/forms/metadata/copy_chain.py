"""Follows each archival copy in a package back to its original: by what PREMIS says, and by the files that are there.

What a copy was made of must be in the package, with the bytes it was made of; the event of its making must be there
with an outcome; and the copy must be in the format that this event made. Nothing here knows how a package is written:
PREMIS is read entity by entity, and `PackageFiles` tells of the bytes and of what the package lists.

The documents of a package are seen together, for a copy and its original may be described in different ones. A second
look at them is taken only where there are derivations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from noarkit.forms.container.storage import Storage
from noarkit.forms.metadata.file_facts import checksum_name
from noarkit.forms.metadata.premis_entities import PremisEntity
from noarkit.forms.noark5.rules.documents import row_of
from noarkit.forms.noark5.rules.values import formats
from noarkit.safe.digest import BLOCK_BYTES, Readable
from noarkit.safe.scratch import scratch

_DERIVATION = "derivation"
_CUTS = (b"\0", b"&#", b"<!")
_SUMS = re.compile("sha256 ([0-9a-f]{64}) (?:to|\u2192) ([0-9a-f]{64})")
_FORMATS = re.compile(r"(\S+) (?:to|\u2192) (\S+?), ")
_REGISTERED = re.compile(r"(?:x-)?fmt/\d+")
_SHA256 = "SHA-256"
_UNKNOWN = "?"
_PDFA = frozenset({"fmt/95", "fmt/354", "fmt/476", "fmt/477", "fmt/478", "fmt/479", "fmt/480", "fmt/481"})
ReadDocuments = Callable[[], Iterable[tuple[str, PremisEntity]]]


class FindingSink(Protocol):
    """Takes findings of one document."""

    def hit(self, code: str, line: int | None = None, **data: object) -> None:
        """One place where a rule does not hold."""
        ...


@dataclass(frozen=True, slots=True)
class ChainCodes:
    """The rules of a form: the original is there with its bytes, and so is the event, whose format the copy has."""

    source: str
    checksum: str
    event: str
    format: str


class FileLook(NamedTuple):
    """What the bytes of a file say: whether they begin as the ending of its name has it (None where nobody knows), the
    PDF/A that they declare to be, and whether they were read at all."""

    fits: int | None
    puid: str | None
    was_read: int


@dataclass(frozen=True, slots=True)
class PackageFiles:
    """The files of a package: where they lie, which one a document means by a location, and the sha256 that the package
    lists of a file and that its own rules hold to the bytes; None where there is no such file or checksum."""

    storage: Storage
    name_of: Callable[[str, str], str | None]
    listed_sum: Callable[[str], str | None]


def may_tell_derivations(source: Readable) -> bool:
    """False for a document of which no reading could give a relationship that is a derivation, so that none is needed.

    A word that is written in letters of ASCII stands so in the bytes, unless references, comments or instructions cut
    it in pieces, or it is in an encoding of more than one byte a letter.
    """
    overlap = b""
    is_first = True
    while block := source.read(BLOCK_BYTES):
        window = overlap + block
        instructions = window.count(b"<?") - (is_first and window.startswith((b"<?", b"\xef\xbb\xbf<?")))
        if instructions or any(sign in window for sign in _CUTS) or _DERIVATION.encode() in window.lower():
            return True
        overlap, is_first = window[1:][-len(_DERIVATION) :], False
    return False


class _Relation(NamedTuple):
    document: str
    line: int
    name: str
    related: str
    event: str


class CopyChain:
    """The derivations of all PREMIS documents of a package.

    `placed_only` leaves out objects without a place in it, where the package itself is told of as one.
    """

    def __init__(self, codes: ChainCodes, files: PackageFiles, *, placed_only: bool = False) -> None:
        self._codes = codes
        self._files = files
        self._placed_only = placed_only
        self._db = scratch()
        self._db.execute("CREATE TABLE relation (document TEXT, line INTEGER, name TEXT, related TEXT, event TEXT)")
        self._db.execute("CREATE INDEX relation_related ON relation (related)")
        self._db.execute(
            "CREATE TABLE object (id TEXT PRIMARY KEY, digest TEXT, format TEXT, location TEXT, document TEXT)"
            " WITHOUT ROWID"
        )
        self._db.execute("CREATE TABLE event (id TEXT PRIMARY KEY, has_outcome INTEGER) WITHOUT ROWID")
        self._db.execute(
            "CREATE TABLE claim (document TEXT, line INTEGER, source TEXT, source_sum TEXT, copy TEXT, copy_sum TEXT,"
            " made_as TEXT)"
        )
        self._any = False

    def observe(self, document: str, entity: PremisEntity) -> None:
        """Remembers what an entity says of derivations. An object without a place is no file of the package."""
        if entity.kind == "event":
            self._observe_event(document, entity)
        if entity.kind != "object" or entity.type not in ("file", ""):
            return
        if self._placed_only and not entity.all("contentLocationValue"):
            return
        for relationship in entity.relationships:
            if relationship.type.casefold() != _DERIVATION:
                continue
            self._any = True
            name = entity.first("originalName") or entity.first("objectIdentifierValue")
            event = next(iter(relationship.events), "")
            rows = [_Relation(document, entity.line, name, related, event) for related in relationship.objects]
            self._db.executemany("INSERT INTO relation VALUES (?, ?, ?, ?, ?)", rows)

    def _observe_event(self, document: str, entity: PremisEntity) -> None:
        detail = entity.first("eventDetail")
        sums, made = _SUMS.search(detail), _FORMATS.search(detail)
        objects = entity.all("linkingObjectIdentifierValue")
        if sums is not None and len(objects) == 2:
            values = (document, entity.line, objects[0], sums[1], objects[1], sums[2], made[2] if made else "")
            self._db.execute("INSERT INTO claim VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def judge(self, read_documents: ReadDocuments, sink_of: Callable[[str], FindingSink]) -> None:
        """Compares; `read_documents` reads every entity once more."""
        if not self._any:
            return
        for document, entity in read_documents():
            if entity.kind == "object":
                self._take_object(document, entity)
            elif entity.kind == "event":
                has_outcome = bool(entity.all("eventOutcome"))
                rows = [(value, has_outcome) for value in entity.all("eventIdentifierValue")]
                self._db.executemany("INSERT OR REPLACE INTO event VALUES (?, ?)", rows)
        self._judge_relations(sink_of)
        self._judge_claims(sink_of)

    def _take_object(self, document: str, entity: PremisEntity) -> None:
        pairs = entity.digests
        digest = next((digest.lower() for algorithm, digest in pairs if checksum_name(algorithm) == _SHA256), "")
        facts = (digest, entity.first("formatRegistryKey"), entity.first("contentLocationValue"), document)
        rows = [(value, *facts) for value in entity.all("objectIdentifierValue")]
        self._db.executemany("INSERT OR REPLACE INTO object VALUES (?, ?, ?, ?, ?)", rows)

    def _judge_relations(self, sink_of: Callable[[str], FindingSink]) -> None:
        query = "SELECT r.*, o.id, o.location, o.document FROM relation r LEFT JOIN object o ON o.id = r.related"
        for *values, known, location, document in self._db.execute(f"{query} ORDER BY r.document, r.line"):
            row = _Relation._make(values)
            if known is None or not self._is_there(document, location):
                data = {"name": row.name, "id": location or row.related}
                sink_of(row.document).hit(self._codes.source, row.line, **data)
        unproven = self._db.execute(
            "SELECT * FROM relation WHERE NOT EXISTS (SELECT 1 FROM event WHERE id = relation.event AND has_outcome)"
            " ORDER BY document, line"
        )
        for row in map(_Relation._make, unproven):
            sink_of(row.document).hit(self._codes.event, row.line, name=row.name, id=row.event)

    def _is_there(self, document: str, location: str) -> bool:
        """True for a file of the package, and for what PREMIS gives no place: that is described alone."""
        return not location or self._files.name_of(document, location) is not None

    def _judge_claims(self, sink_of: Callable[[str], FindingSink]) -> None:
        """What each event says of both files, held against what they are."""
        self._find_files()
        self._read_files()
        query = (
            "SELECT c.document, c.line, c.{0}_sum, o.id, o.digest, f.name, f.sum FROM claim c"
            " JOIN object o ON o.id = c.{0} LEFT JOIN file f ON f.id = o.id ORDER BY c.document, c.line"
        )
        for which in ("source", "copy"):
            for document, line, expected, identifier, told, name, actual in self._db.execute(query.format(which)):
                digest = actual or told
                if digest and digest != expected:
                    data = {"id": name or identifier, "expected": expected, "found": digest}
                    sink_of(document).hit(self._codes.checksum, line, **data)
        copies = (
            "SELECT c.document, c.line, c.made_as, o.id, o.format, coalesce(f.name, o.location), f.fits, f.puid, f.read"
            " FROM claim c JOIN object o ON o.id = c.copy LEFT JOIN file f ON f.id = o.id WHERE c.made_as <> ''"
            " ORDER BY c.document, c.line"
        )
        for document, line, made_as, identifier, told, name, *seen in self._db.execute(copies):
            other = _other_format(made_as, told, name, FileLook(*seen))
            if other:
                sink_of(document).hit(self._codes.format, line, id=name or identifier, expected=made_as, found=other)

    def _find_files(self) -> None:
        """The files of both ends of every event; an original whose checksum the package lists need not be read."""
        self._db.execute(
            "CREATE TABLE file (id TEXT PRIMARY KEY, name TEXT, sum TEXT, is_copy INTEGER, fits INTEGER, puid TEXT,"
            " read INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID"
        )
        ends = (
            "SELECT o.id, o.location, o.document, max(o.id = c.copy) FROM claim c"
            " JOIN object o ON o.id IN (c.source, c.copy) WHERE o.location <> '' GROUP BY o.id"
        )
        for identifier, location, document, is_copy in self._db.execute(ends).fetchall():
            name = self._files.name_of(document, location)
            if name is not None:
                listed = self._files.listed_sum(name)
                values = (identifier, name, listed, is_copy)
                self._db.execute("INSERT INTO file (id, name, sum, is_copy) VALUES (?, ?, ?, ?)", values)
        self._db.execute("CREATE INDEX file_name ON file (name)")

    def _read_files(self) -> None:
        wanted = "SELECT DISTINCT name FROM file WHERE is_copy OR sum IS NULL"
        storage = self._files.storage
        if storage.folder is None:
            for name, content in storage.contents():
                if self._db.execute(f"{wanted} AND name = ?", (name,)).fetchone() is not None:
                    self._take_file(name, content)
            return
        for (name,) in self._db.execute(f"{wanted} ORDER BY name").fetchall():
            with suppress(OSError), storage.open(name) as content:
                self._take_file(name, content)

    def _take_file(self, name: str, content: Readable) -> None:
        _, _, _, digest, _, fits, _, _, puid = row_of(name, content)
        values = (bytes(digest).hex(), fits, puid, name)  # type: ignore[arg-type]  # as that row has it
        self._db.execute("UPDATE file SET sum = ?, fits = ?, puid = ?, read = 1 WHERE name = ?", values)

    def close(self) -> None:
        """Forgets everything."""
        self._db.close()


def _other_format(made_as: str, told_format: str, name: str, look: FileLook) -> str:
    """What a copy is instead of what its event made: by PREMIS, by its name's ending, by its bytes. Empty where nothing
    contradicts the event."""
    suffix = name.rpartition(".")[2].lower() if "." in name.rpartition("/")[2] else ""
    if not _REGISTERED.fullmatch(made_as):
        return suffix if suffix and suffix != made_as.lower() else ""
    if _REGISTERED.fullmatch(told_format) and told_format != made_as:
        return told_format
    if suffix not in formats().endings.get(made_as, (suffix,)):
        return suffix or _UNKNOWN
    if look.was_read and look.fits == 0:
        return _UNKNOWN
    if look.was_read and made_as in _PDFA and look.puid != made_as:
        return look.puid or suffix
    return ""
