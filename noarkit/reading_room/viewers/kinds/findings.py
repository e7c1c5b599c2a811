"""What a person should know of a document before reading it here, as the inspection of copies finds it."""

from __future__ import annotations

from noarkit.reading_room.viewers.job import Reading, Refusal
from noarkit.reading_room.viewers.port import Note
from noarkit.wings import has_wing

_TOLD = frozenset(
    {"macros", "external-content", "embedded-objects", "hidden-text", "hidden-sheets", "hidden-rows", "hidden-slides"}
    | {"tracked-changes", "comments", "notes", "scripts", "form", "attachments", "signed", "fields"}
)


def findings_of(reading: Reading) -> list[Note]:
    """Notes on what is not shown of a document, or was not done; none where archival copies are not installed. Raises
    `Refusal` for one that is not to be opened."""
    if not has_wing("copies"):
        return []
    from noarkit.copies.inspection import inspect
    from noarkit.copies.port import Failure, Identity

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
