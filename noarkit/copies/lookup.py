"""Finds the copies of a document in COPIES by the document's checksum, for plans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path, PurePosixPath

from noarkit.copies.acceptance import acceptances
from noarkit.copies.by_hand import maker_by_hand
from noarkit.copies.gates.formats import SUFFIXES
from noarkit.copies.identity import suffix_of
from noarkit.copies.objects import object_path
from noarkit.copies.planning import PlannedCopy
from noarkit.copies.port import Finding
from noarkit.copies.reasons import Reason
from noarkit.copies.rows import StoredCopy
from noarkit.copies.store import CopyStore
from noarkit.graph.entity import Content
from noarkit.model.conversions import PURPOSES, Purpose
from noarkit.safe.digest import Readable

_AGENT = "noarkit"
_MEDIA_TYPES: Mapping[str, str] = {
    "pdf": "application/pdf",
    "odt": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "png": "image/png",
    "tif": "image/tiff",
    "jpg": "image/jpeg",
    "flac": "audio/flac",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "siard": "application/x-siard+zip",
    "wav": "audio/x-wav",
    "mkv": "video/x-matroska",
    "txt": "text/plain",
    "csv": "text/csv",
    "xml": "text/xml",
    "html": "text/html",
}
_OF_EVERY_COPY = frozenset({"counted", "not-counted"})
"""Findings that go along with no copy: what is missing of what was counted is told by a finding of its own."""


class StoreLookup:
    """The copies in one folder, for every purpose. The store is opened when it is first asked, in the process that
    asks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._store: CopyStore | None = None

    def copies_of(self, content: Content) -> Iterable[PlannedCopy]:
        """What the latest rule made of a document: by target the latest copy made, else the latest try.

        The same bytes under a name that contradicts them may have another rule, or none: names that end alike decide.
        """
        if self._store is None:
            self._store = CopyStore.open(self.folder)
        rows = self._store.copies_of(content.sha256 or "", suffix_of(content.name))
        by_target: dict[tuple[Purpose, str], StoredCopy] = {}
        rules: dict[Purpose, str] = {}
        for row in rows:
            if row.rule_digest != rules.setdefault(row.purpose, row.rule_digest):
                continue
            known = by_target.get((row.purpose, row.target))
            if known is None or (row.state == "made" and known.state != "made"):
                by_target[row.purpose, row.target] = row
        agent = self._store.meta("agent") or _AGENT
        return [self._planned(self._store, row, content, agent) for row in sorted(by_target.values(), key=_place)]

    @staticmethod
    def _planned(store: CopyStore, row: StoredCopy, content: Content, agent: str) -> PlannedCopy:
        copy = _planned(row, content, agent)
        accepted = acceptances(store, row.n)[-1:] if row.accepted_by is not None else ()
        return replace(copy, accepted_by=accepted[0].who, accepted_at=accepted[0].at) if accepted else copy

    def open(self, sha256: str) -> AbstractContextManager[Readable]:
        """The bytes of a copy. Raises `FileNotFoundError`."""
        return self.path(sha256).open("rb")

    def path(self, sha256: str) -> Path:
        """Where the bytes of a copy lie."""
        return object_path(self.folder, sha256)

    def close(self) -> None:
        """Closes the store, if it was opened."""
        if self._store is not None:
            self._store.close()
            self._store = None


def media_type_of(row: StoredCopy, content: Content) -> str:
    """The media type of a copy, by what was to be made; empty where that does not say it."""
    return _MEDIA_TYPES.get(_suffix(row.target, content), "")


def _planned(row: StoredCopy, content: Content, agent: str) -> PlannedCopy:
    suffix = _suffix(row.target, content)
    return PlannedCopy(
        state=row.state,
        source_sha256=row.source_sha256,
        source_puid=row.puid,
        sha256=row.sha256 or "",
        size_bytes=row.size_bytes or 0,
        puid=row.result_puid or "",
        media_type=media_type_of(row, content),
        suffix=suffix,
        made_at=row.made_at or "",
        made_by=maker_by_hand(row) or agent,
        tool=f"{row.tool} {row.tool_version}".strip(),
        rule=row.rule,
        purpose=row.purpose,
        is_accepted=row.reason is not Reason.SIGNED,
        findings=tuple(_finding_text(finding) for finding in row.findings if finding.code not in _OF_EVERY_COPY),
    )


def _place(row: StoredCopy) -> tuple[int, int]:
    return PURPOSES.index(row.purpose), row.n


def _suffix(target: str, content: Content) -> str:
    """The ending of what is made: a text that is written in another character set keeps its own."""
    return SUFFIXES.get(target, target) or PurePosixPath(content.name).suffix.removeprefix(".").lower()


def _finding_text(finding: Finding) -> str:
    """A finding with its numbers; names and texts in it may be those of people."""
    numbers = [f"{name}={value}" for name, value in sorted(finding.data.items()) if isinstance(value, int | float)]
    return " ".join((finding.code, *numbers))
