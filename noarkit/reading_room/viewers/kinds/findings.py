"""What a person should know of a document before reading it here, as the inspection of copies finds it."""

from __future__ import annotations

from noarkit.copies.inspection import inspect
from noarkit.copies.port import Failure, Identity
from noarkit.reading_room.viewers.job import Reading, Refusal
from noarkit.reading_room.viewers.port import Note

_TOLD = frozenset(
    {"macros", "external-content", "embedded-objects", "hidden-text", "hidden-sheets", "hidden-rows", "hidden-slides"}
    | {"tracked-changes", "comments", "notes", "scripts", "form", "attachments", "signed", "fields"}
)


def findings_of(reading: Reading) -> list[Note]:
    """Notes on what is not shown of a document, or was not done. Raises `Refusal` for one that is not to be opened."""
    detected = reading.detected
    findings = inspect(reading.job.document, Identity(None, detected.media_type, "", "signature"))
    if isinstance(findings, Failure):
        raise Refusal(str(findings.reason))
    notes = []
    for finding in findings:
        if finding.code in _TOLD:
            count = finding.data.get("count")
            is_left_out = finding.code == "hidden-text" and detected.format == "rtf"
            notes.append(
                Note(
                    "hidden-text-unseen" if is_left_out else finding.code,
                    {"count": count} if isinstance(count, int) else {},
                )
            )
    return notes
