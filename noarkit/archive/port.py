"""What any archive can do. The hot calls have methods; everything else is a `Call` (see `administration`).

Faults are those of F3xx. Each method may raise, beside what it names: `ArchiveAway` (nothing was sent), `AnswerLost`,
`TransferStalled`, `ArchiveBroken` (sent, fate unknown), `ArchiveBusy`, `ArchiveStrange`, `NotLetIn`, `NotAllowed`,
`TrustFault`. `ArchiveFault.fate_unknown` is True only where a call that changes something may have taken effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from noarkit.archive.values import (
    Action,
    Call,
    Downloaded,
    Json,
    Page,
    Query,
    Rendition,
    SavedObject,
    Upload,
    Uploaded,
)


class Archive(Protocol):
    """An archive, as one account sees it. Safe for threads; belongs to the process that opened it."""

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        """Carries `actions` out in order, all or none, and returns what was saved by the ids the actions used.

        Never sent twice by itself. Raises `ArchiveRefused` (with the action and the field where the archive names
        them), `ArchiveNotFound`, `ArchiveConflict`: then nothing was changed.
        """
        ...

    def query(self, query: Query) -> Page:
        """One page of the objects that `query` means. Raises `ArchiveRefused` for a query the archive cannot follow."""
        ...

    def upload(self, content: Upload) -> Uploaded:
        """Streams bytes to the archive, hashed as they pass. Unless a transaction soon refers to the id, they go.

        Raises `ItemChanged` where fewer or more bytes came than promised, `ItemUnreadable` where reading failed.
        """
        ...

    def download(
        self,
        file_id: str,
        target: Path,
        *,
        rendition: Rendition = "original",
        expected_sha256: str | None = None,
        durable: bool = True,
    ) -> Downloaded:
        """Streams a file of the archive to `target`, which appears whole or not at all, hashed as it passes.

        With `durable=False` it is not forced to disk: for files of a folder that is synced as a whole.
        Raises `ArchiveNotFound`, `ChecksumDiffers` where it is not the file expected, `DiskFull`.
        """
        ...

    def call(self, call: Call) -> Json:
        """Makes any other call and returns its JSON, None if the answer has no body.

        Raises `ArchiveRefused`, `ArchiveNotFound`, `ArchiveConflict`, `ArchiveMediaType`.
        """
        ...

    def close(self) -> None:
        """Ends the connections. Closing twice is harmless."""
        ...
