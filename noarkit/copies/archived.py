"""Documents in an archive as a source: a list of the versions that have no archival copy, and their bytes.

The list is a file with a JSON object a line, written once from the archive's answers. A run that adds copies keeps it,
so that it can be read again when the archive says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from noarkit.archive.port import Archive
from noarkit.errors import ArchiveNotFound, ChecksumDiffers, ItemChanged, ItemVanished, SourceGone
from noarkit.events import Listener
from noarkit.graph.entity import Content
from noarkit.records import DOCUMENT_LIST, ContentStream, SourceIdentity, SourceItem, SourceRecord
from noarkit.safe import atomic
from noarkit.safe.fixity import BY_ARCHIVE, Fixity, checked

ARCHIVE = "archive"
"""The kind of a source of documents in an archive."""
NUMBERS, VERSIONS = "numbers", "versions"
"""Fields of a record: the numbers and the uuids of its versions, in the order of its contents."""

_LOCATOR = "archive:"
_ALGORITHMS = {"MD5": "md5", "SHA1": "sha1", "SHA256": "sha256", "SHA384": "sha384", "SHA512": "sha512"}


@dataclass(frozen=True, slots=True)
class ArchivedVersion:
    """A version as the archive tells of it. `checksum` is in the archive's own algorithm, which may be none we know."""

    uuid: str
    number: int
    file: str
    name: str
    size_bytes: int | None
    algorithm: str
    checksum: str

    @property
    def sha256(self) -> str | None:
        """The checksum, where it is a sha256."""
        return self.checksum if _algorithm(self.algorithm) == "sha256" and self.checksum else None

    def content(self) -> Content:
        """The version as something that can be opened."""
        locator = f"{_LOCATOR}{_algorithm(self.algorithm)}:{self.checksum}:{self.file}"
        return Content(locator, self.name, self.size_bytes, None, self.sha256)


@dataclass(frozen=True, slots=True)
class ArchivedDocument:
    """A document, whether it is finalised, and those of its versions that lack an archival copy."""

    uuid: str
    is_final: bool
    versions: tuple[ArchivedVersion, ...]


class DocumentList:
    """A source of the documents in a list. Their bytes are in the archive: it opens none."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()

    @classmethod
    def write(cls, path: Path, documents: Iterable[ArchivedDocument]) -> DocumentList:
        """Writes a list. Raises `DiskFull`."""
        with atomic.no_room(path), path.open("wb") as file:
            for document in documents:
                file.write(orjson.dumps(asdict(document)) + b"\n")
        return cls(path)

    @property
    def identity(self) -> SourceIdentity:
        """The list is where it lies."""
        return SourceIdentity(DOCUMENT_LIST, str(self.path))

    def count_versions(self) -> int:
        """How many versions the list names."""
        return sum(len(document.versions) for document in self.documents())

    def documents(self) -> Iterator[ArchivedDocument]:
        """Every document, in the order of the list. Raises `SourceGone`."""
        try:
            with self.path.open("rb") as file:
                for line in file:
                    entry = orjson.loads(line)
                    versions = tuple(ArchivedVersion(**version) for version in entry["versions"])
                    yield ArchivedDocument(entry["uuid"], entry["is_final"], versions)
        except FileNotFoundError as error:
            raise SourceGone(where=str(self.path), why="ENOENT") from error

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """A record for each document; its contents are the versions."""
        del emit
        for document in self.documents():
            fields = {
                NUMBERS: [version.number for version in document.versions],
                VERSIONS: [version.uuid for version in document.versions],
            }
            contents = tuple(version.content() for version in document.versions)
            yield SourceRecord("document", document.uuid, fields, contents)

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        """Raises `ItemVanished`: the bytes of a document are asked of the archive alone."""
        raise ItemVanished(key=content.locator)
        yield  # what makes it a generator

    def default_recipe(self) -> str:
        """None is needed: what is planned of a document is fixed."""
        return ""

    def proposal(self, emit: Listener, *, lang: str = "en") -> str:
        """None is needed."""
        del emit
        return ""


class ArchivedDocuments:
    """A source of documents with their bytes, which are downloaded to a folder of ours while they are read."""

    def __init__(self, documents: DocumentList, archive: Archive, where: str, folder: Path) -> None:
        self._documents = documents
        self._archive = archive
        self._where = where
        self._folder = folder

    @property
    def identity(self) -> SourceIdentity:
        """The archive by its name."""
        return SourceIdentity(ARCHIVE, self._where)

    def count_versions(self) -> int:
        """How many versions there are to read."""
        return self._documents.count_versions()

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """A record for each document of the list."""
        return self._documents.records(emit)

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        """Downloads a version, held to the archive's checksum. Raises `ItemVanished`, `ItemChanged`, and faults of the
        archive."""
        algorithm, checksum, file_id = content.locator.removeprefix(_LOCATOR).split(":", 2)
        target = self._folder / atomic.temporary_name()
        sha256 = checksum if algorithm == "sha256" and checksum else None
        try:
            self._archive.download(file_id, target, expected_sha256=sha256, durable=False)
            with target.open("rb") as file:
                yield checked(file, Fixity(algorithm, checksum, by=BY_ARCHIVE))
        except ArchiveNotFound as fault:
            raise ItemVanished(key=content.locator) from fault
        except ChecksumDiffers as fault:
            raise ItemChanged(key=content.locator) from fault
        finally:
            target.unlink(missing_ok=True)

    def default_recipe(self) -> str:
        """None is needed: nothing but copies is made of them."""
        return ""

    def proposal(self, emit: Listener, *, lang: str = "en") -> str:
        """None is needed."""
        return self._documents.proposal(emit, lang=lang)


def _algorithm(name: str) -> str:
    """An algorithm by the name that hashlib has; empty for one that we do not know."""
    return _ALGORITHMS.get(name.upper().replace("-", ""), "")
