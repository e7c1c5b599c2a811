"""An archive as a place: its objects as the tree of Noark 5, with codes by name, the change log as history, and the
bytes of documents downloaded when they are asked for."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import orjson

from noarkit.archive.administration import Administration
from noarkit.archive.port import Archive
from noarkit.archive.values import Query
from noarkit.catalogue.places.archive_fetch import STRUCTURE, fetch_objects, last_revision
from noarkit.catalogue.places.archive_tree import ArchiveTree
from noarkit.catalogue.places.fingerprints import fingerprint_of
from noarkit.catalogue.places.noark_objects import DOCUMENT, VERSION, CodeNames
from noarkit.catalogue.port import Item, PlaceIdentity
from noarkit.errors import ArchiveNotFound, ChecksumDiffers, ItemVanished
from noarkit.events import Listener
from noarkit.records import ContentStream
from noarkit.safe.fixity import BY_ARCHIVE, checked, sha256_stated

_AGE_S = 3_600
_PROBED = (*STRUCTURE, DOCUMENT, VERSION, "Korrespondansepart", "Merknad")


class ArchivePlace:
    """A connected archive. `where` is its address; `release` ends the connection."""

    def __init__(self, archive: Archive, where: str, now_s: Callable[[], float], release: Callable[[], None]) -> None:
        self._archive = archive
        self._release = release
        self._identity = PlaceIdentity("archive", where, where, _fingerprint(archive, now_s))

    @property
    def identity(self) -> PlaceIdentity:
        """Kind `archive`. Its fingerprint follows the newest entry of the change log; of an archive that does not tell
        its log as a whole, the newest object of each kind, and the hour."""
        return self._identity

    def items(self, emit: Listener) -> Iterator[Item]:
        """The structure, then folders, then records, each in the order of their numbers. Raises faults of the
        archive."""
        names = code_names(self._archive)
        with closing(fetch_objects(self._archive, emit)) as db:
            yield from ArchiveTree(db, names).items()

    @contextmanager
    def open(self, locator: str) -> Iterator[ContentStream]:
        """Downloads a file and opens it. Raises `ItemVanished`, faults of the archive."""
        file_id, sha256 = orjson.loads(locator)
        with tempfile.TemporaryDirectory(prefix="noarkit-") as folder:
            target = Path(folder) / "document"
            try:
                self._download(file_id, sha256 or None, target)
            except ArchiveNotFound as fault:
                raise ItemVanished(key=file_id, why="ENOENT") from fault
            with target.open("rb") as file:
                yield checked(file, *sha256_stated(sha256, BY_ARCHIVE))

    def _download(self, file_id: str, sha256: str | None, target: Path) -> None:
        """Downloads a file; one that stays another than the archive states is had as it is, and told as that."""
        try:
            self._archive.download(file_id, target, expected_sha256=sha256, durable=False)
        except ChecksumDiffers:
            self._archive.download(file_id, target, expected_sha256=None, durable=False)

    def close(self) -> None:
        """Ends the connection."""
        self._release()


def code_names(archive: Archive) -> CodeNames:
    """The names of the codes of an archive, by type and field."""
    return {
        (listed.type, listed.field): {code.code: code.name for code in listed.values}
        for listed in Administration(archive).code_lists()
    }


def _fingerprint(archive: Archive, now_s: Callable[[], float]) -> str:
    revision = last_revision(archive)
    facts = [repr(sorted((key, sorted(names.items())) for key, names in code_names(archive).items()))]
    facts += [f"hour {int(now_s() // _AGE_S)}"] if revision is None else [f"revision {revision}"]
    for kind in _PROBED:
        newest = archive.query(Query(kind, order=(("id", "desc"),), limit=1)).objects
        facts += [f"{kind} {archived.id} {archived.version}" for archived in newest]
    return fingerprint_of(*facts)
