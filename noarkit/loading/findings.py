"""Findings of a run in the archive: each stays open, and every command reports it, until it is repaired or accepted.

A document whose checksum is not ours is mended by uploading its bytes once more, where the account may change the
version; an object that could not be closed is mended by closing it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from noarkit.archive.port import Archive
from noarkit.archive.values import Save
from noarkit.errors import ArchiveFault, ArchiveNotFound, ArchiveRefused, ChecksumDiffers, NotAllowed, SourceFault
from noarkit.graph.store import GraphStore
from noarkit.loading.contents import ContentUploader, OpenContent, no_gate
from noarkit.loading.journal import CHECKSUM, NOT_CLOSED, ArchiveFinding, Journal
from noarkit.records import PLACE_FAULTS

_ITEMS_EXIT = 3


def exit_code_of(findings: Sequence[ArchiveFinding]) -> int:
    """The exit code of findings: 7 where bytes differ, 3 where something could not be closed."""
    kinds = {finding.kind for finding in findings}
    return ChecksumDiffers.exit_code if CHECKSUM in kinds else _ITEMS_EXIT if NOT_CLOSED in kinds else 0


def fault_of_finding(finding: ArchiveFinding) -> ArchiveFault:
    """The fault that a finding of a wrong checksum stands for."""
    return ChecksumDiffers(**{"key": finding.key, **finding.data})


def repair(
    journal: Journal, graph: GraphStore, archive: Archive, open_content: OpenContent, now_s: Callable[[], float]
) -> int:
    """Uploads again the files that a retry asked for, and links them in place of those that differ; returns how many.

    What the account may not change, or the source cannot give, stays listed. Raises other faults of the archive.
    """
    mended = 0
    for finding in journal.findings("asked"):
        if finding.kind != CHECKSUM or finding.entity is None:
            continue
        if _replace_file(
            journal, graph, archive, ContentUploader(archive, open_content, now_s, no_gate), finding.entity
        ):
            journal.settle(finding.kind, finding.key, "mended", now_s(), "noarkit retry")
            mended += 1
        else:
            journal.settle(finding.kind, finding.key, "open", now_s(), "noarkit retry")
    return mended


def _replace_file(
    journal: Journal, graph: GraphStore, archive: Archive, contents: ContentUploader, entity: int
) -> bool:
    content, archive_id = graph.content(entity), journal.ids([entity]).get(entity)
    if content is None or archive_id is None:
        return False
    try:
        upload = contents.upload_all({entity: content})[0].get(entity)
        if upload is None:
            return False
        saved_objects = archive.transaction((Save("Dokumentversjon", archive_id, {"referanseDokumentfil": upload.id}),))
    except PLACE_FAULTS:
        raise
    except (SourceFault, ArchiveRefused, ArchiveNotFound, NotAllowed):
        return False
    version = saved_objects.get(archive_id)
    if version is None or str(version.fields.get("sjekksum") or "").lower() != upload.sha256:
        return False
    journal.keep_file(entity, upload.id, upload.sha256, upload.size_bytes)
    return True
