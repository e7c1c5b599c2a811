"""Mends what a retry asked for of that which was found wrong in the archive, and says of the rest why it stays.

A document whose bytes are not ours is mended by uploading them once more, where the account may change the version; an
object that is gone was made again by the load before this (`lost_objects`); one that could not be closed is closed
after this. No file is put in place without an intent in the journal, and none again before what became of the last time
is known (invariants 1 and 5).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import orjson

from noarkit.archive.port import Archive
from noarkit.archive.values import Save, SavedObject
from noarkit.errors import ArchiveNotFound, ArchiveRefused, NotAllowed, SourceFault
from noarkit.events import Event, Listener
from noarkit.graph.store import GraphStore
from noarkit.loading.contents import ContentUploader, UploadedFile
from noarkit.loading.findings import LOST, OF_FILES
from noarkit.loading.journal import NOT_CLOSED, ArchiveFinding, Journal
from noarkit.loading.lookup import ORDERS, objects_of_ids
from noarkit.loading.lost_objects import asked_numbers, find_lost
from noarkit.loading.settling import Clock
from noarkit.loading.version_numbers import find_renumbered
from noarkit.records import PLACE_FAULTS
from noarkit.safe.fixity import is_same_digest

_WHO = "noarkit retry"
_ORDER, _MOVED = "V215", "V206"
_AT_ONCE = 1_000
_PAUSE_S = 1.0
_VERSION = "Dokumentversjon"


class _NotMended(NamedTuple):
    """Why a finding stays: a reason by its name in the words, with the code of a fault."""

    why: str
    code: str = ""


_MENDED = _NotMended("")


def reopen_lost(journal: Journal, graph: GraphStore, archive: Archive, now_s: Callable[[], float]) -> None:
    """Opens again what a retry asked for and the archive has lost, so that the load makes it again with its bytes."""
    for numbers in asked_numbers(journal):
        journal.reopen_lost(find_lost(journal, graph, archive, numbers).values())
    for findings in _asked_batches(journal):
        versions = {finding.entity: finding for finding in findings if finding.kind in OF_FILES}
        ids = journal.ids(n for n in versions if n is not None)
        for n, finding in versions.items():
            if n is not None and n not in ids:
                journal.settle(finding.kind, finding.key, "mended", now_s(), _WHO)


@dataclass(frozen=True, slots=True)
class Mender:
    """Mends the findings of one run. `deadline_s` is how long the archive may still commit what it did not answer."""

    journal: Journal
    graph: GraphStore
    archive: Archive
    contents: ContentUploader
    clock: Clock
    deadline_s: float
    emit: Listener
    wall_s: Callable[[], float]

    def mend(self) -> int:
        """Mends what was asked for; returns how many.

        What was lost has been loaded again by now, was left out, or is open still. Raises `Paused` from the clock, and
        other faults of the archive.
        """
        mended = 0
        for findings in _asked_batches(self.journal):
            self._wait_for_doubts()
            numbers = sorted({finding.entity for finding in findings if finding.kind in LOST and finding.entity})
            lost_entities = find_lost(self.journal, self.graph, self.archive, numbers, strictly=True)
            for finding in findings:
                reason = self._mend_one(finding, lost_entities)
                if reason is None:
                    continue
                state = "open" if reason.why or finding.kind == NOT_CLOSED else "mended"
                self.journal.settle(finding.kind, finding.key, state, self.wall_s(), _WHO)
                self.journal.explain(finding.kind, finding.key, reason.why, reason.code)
                mended += state == "mended"
        return mended

    def _mend_one(self, finding: ArchiveFinding, lost_entities: Container[int]) -> _NotMended | None:
        """Why a finding stays, empty where it is mended; None where the load did not come to it, and goes on."""
        if finding.kind == NOT_CLOSED:
            return _MENDED  # by closing, after this
        if finding.entity is not None and finding.kind in OF_FILES:
            return self._replace_file(finding.entity)
        if finding.entity is None or finding.kind not in LOST:
            return _NotMended("moved" if finding.kind == _MOVED else "by-hand")
        entity = self.graph.entity(finding.entity)
        outcome = self.journal.left_out_of(entity.bundle)
        if outcome is not None:
            return _NotMended("left-out", outcome)
        if finding.entity not in self.journal.ids([finding.entity]):
            return None
        if finding.entity in lost_entities:
            return _NotMended("left-out")
        if (place := find_renumbered(self.archive, self.graph, self.journal, entity)) is not None:
            # the next verification would find it: it is said now
            data = {"details": [[place.detail, ""]], "depth": "fields", "why": "renumbered", "code": ""}
            self.journal.keep_findings([ArchiveFinding(_ORDER, place.key, place.n, data)])
        return _MENDED

    def _wait_for_doubts(self) -> None:
        """Waits once for all that was sent and not answered: until then the archive may still commit it."""
        (row,) = self.journal.rows("SELECT max(sent_at), count(sent_at) FROM mending", ())
        if row[0] is None:
            return
        seconds = row[0] + self.deadline_s - self.clock.now_s()
        if seconds >= 1:
            self.emit(Event("waiting", {"shard": 0, "wait_s": round(seconds, 1), "chunks": row[1]}))
        self.clock.wait_until(row[0] + self.deadline_s)

    def _replace_file(self, entity: int) -> _NotMended:
        content, archive_id = self.graph.content(entity), self.journal.ids([entity]).get(entity)
        if content is None or archive_id is None:
            return _NotMended("by-hand")
        if (landed := self._find_landed_file(entity, archive_id)) is not None:
            self._keep(entity, landed)
            return _MENDED
        self._intend(entity)
        try:
            uploads, faults = self.contents.upload_all({entity: content})
            if entity not in uploads:
                return _NotMended("source", faults[entity].code if entity in faults else "")
            upload = uploads[entity]
            before = self._version(archive_id)
            if before is None:
                return _NotMended("by-hand")
            self._intend(entity, upload)
            # as it was read: of two sends whose answers were lost the later commit would win, and is refused
            version = before.version if self.journal.meta("honours_versions") == "True" else None
            fields = {"referanseDokumentfil": upload.id}
            saved_objects = self.archive.transaction((Save(_VERSION, archive_id, fields, version=version),))
        except PLACE_FAULTS:
            raise
        except SourceFault as fault:
            return _NotMended("source", fault.code)
        except (ArchiveRefused, ArchiveNotFound, NotAllowed) as fault:
            self._forget(entity)  # it was answered: nothing of it is on its way
            return _NotMended("not-allowed" if isinstance(fault, NotAllowed) else "refused", fault.code)
        after = saved_objects.get(archive_id)
        if after is None or not is_same_digest(_checksum(after), upload.sha256):
            self._forget(entity)
            return _NotMended("still-differs")
        self._keep(entity, (upload.id, upload.sha256, upload.size_bytes))
        return _MENDED

    def _version(self, archive_id: str) -> SavedObject | None:
        """The version as it is now; asked for as often as anything whose absence has a consequence."""
        for order in ORDERS:
            for version in objects_of_ids(self.archive, _VERSION, [archive_id], order=order):
                return version
        return None

    def _find_landed_file(self, entity: int, archive_id: str) -> tuple[str, str, int] | None:
        """The file that was sent and not answered, where the version has it by now: asked twice, after the deadline."""
        rows = self.journal.rows(
            "SELECT file, sha256, bytes FROM mending WHERE n = ? AND sent_at IS NOT NULL", (entity,)
        )
        for file, sha256, size_bytes in rows * 2:
            version = self._version(archive_id)
            # by the file: the checksum that an archive keeps of a damaged one may be ours as well
            if version is not None and str(version.fields.get("referanseDokumentfil")) == file:
                return file, sha256, size_bytes
            self.clock.wait_until(self.clock.now_s() + min(_PAUSE_S, self.deadline_s))
        return None

    def _intend(self, entity: int, upload: UploadedFile | None = None) -> None:
        """Makes durable what is about to be sent: first the upload, then what links it."""
        row: tuple[object, ...] = (None, None, None, None)
        if upload is not None:
            row = (upload.id, upload.sha256, upload.size_bytes, self.clock.now_s())
        with self.journal.change() as db:
            db.execute("INSERT OR REPLACE INTO mending VALUES (?, ?, ?, ?, ?)", (entity, *row))

    def _keep(self, entity: int, file: tuple[str, str, int]) -> None:
        """The file that a version has now, and that nothing of it is on its way."""
        with self.journal.change() as db:
            db.execute("UPDATE entity SET file = ?, sha256 = ?, bytes = ? WHERE n = ?", (*file, entity))
            db.execute("DELETE FROM mending WHERE n = ?", (entity,))

    def _forget(self, entity: int) -> None:
        with self.journal.change() as db:
            db.execute("DELETE FROM mending WHERE n = ?", (entity,))


def _checksum(version: SavedObject) -> str:
    return str(version.fields.get("sjekksum") or "")


def _asked_batches(journal: Journal) -> Iterator[list[ArchiveFinding]]:
    """What a retry asked for, some at a time; what is settled meanwhile is not met again."""
    kind, key = "", ""
    while rows := journal.rows(
        "SELECT kind, key, entity, data FROM finding WHERE state = 'asked' AND (kind, key) > (?, ?)"
        " ORDER BY kind, key LIMIT ?",
        (kind, key, _AT_ONCE),
    ):
        yield [ArchiveFinding(kind, key, n, orjson.loads(data)) for kind, key, n, data in rows]
        kind, key = rows[-1][:2]
