"""Downloads the file of each version and compares its bytes with the source's.

One file that cannot be fetched is a finding, and the rest goes on; an archive that does not answer at all is a fault.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from noarkit.archive.port import Archive
from noarkit.archive.values import Downloaded, Query
from noarkit.errors import (
    ArchiveAway,
    ArchiveFault,
    ArchiveNotFound,
    ItemChanged,
    ItemVanished,
    NotLetIn,
    ProxyDenied,
    SourceFault,
    TrustFault,
)
from noarkit.events import Event, Listener
from noarkit.graph.entity import Content
from noarkit.loading.verification.expectation import ACCEPTED
from noarkit.loading.verification.ledger import AMISS, CHANGED, Ledger
from noarkit.loading.verification.outcome import FIELDS, FILES, Depths, VerifyResult
from noarkit.records import PLACE_FAULTS, Source
from noarkit.safe.digest import sha256_of_stream
from noarkit.safe.workplace import temporary_folder

_TELL_EVERY = 500
_OF_THE_ARCHIVE = (NotLetIn, TrustFault, ProxyDenied)
_ANYTHING = Query("Arkiv", limit=1)

_CONTENTS = """
SELECT p.n, p.key, p.state, s.seen, s.n IS NOT NULL, v.file, v.sha256, v.size, e.sha256, e.bytes,
  c.locator, c.name, c.size, c.modified_ns, c.sha256, c.media_type, c.puid
FROM graph.content c JOIN plan p ON p.n = c.entity
LEFT JOIN standing s ON s.n = c.entity LEFT JOIN named v ON v.n = c.entity LEFT JOIN run.entity e ON e.n = c.entity
WHERE c.entity > ? ORDER BY c.entity LIMIT 500
"""


class _VersionFile(NamedTuple):
    """A document version with a content: its state, and the file and checksum that plan, journal and archive name."""

    n: int
    key: str
    state: str
    judgement: int | None
    is_archived: bool
    file: str | None
    named_sha256: str | None
    named_size: int | None
    loaded_sha256: str | None
    loaded_size: int | None
    content: Content


@dataclass(frozen=True, slots=True)
class FileSources:
    """Where bytes come from. `downloads` is the archive with little patience: one file that is broken should not hold
    up the others."""

    archive: Archive
    downloads: Archive
    source: Source


def compare_files(ledger: Ledger, places: FileSources, depths: Depths, result: VerifyResult, emit: Listener) -> None:
    """Every file, or a sample of them. Raises archive faults where the archive is away, and faults of the source's
    place."""
    count, total = 0, sum(not _reason_not_compared(version, depths) for version in _contents(ledger))
    with temporary_folder("verify") as spool:
        for version in _contents(ledger):
            reason = _reason_not_compared(version, depths)
            if reason:
                result.leave(FILES, reason)
                continue
            count += 1
            _compare_file(version, places, spool / "content", ledger.accepted.get(version.n), result)
            if count % _TELL_EVERY == 0:
                emit(Event("compared", {"files": count, "of": total, "bytes": result.bytes_compared}))


def _reason_not_compared(version: _VersionFile, depths: Depths) -> str:
    """The reason why a file is not compared; empty if it is."""
    if not version.is_archived:
        return "open" if version.state == "unnamed" else version.state
    if not depths.reaches("bytes"):
        return "depth"
    if depths.sample < 1 and _sample_share(version.key) >= depths.sample:
        return "sample"
    return "changed_since" if version.judgement == CHANGED else ""


def _compare_file(
    version: _VersionFile, places: FileSources, target: Path, accepted: str | None, result: VerifyResult
) -> None:
    key = version.key
    if version.file is None:
        result.differ(FILES, "V301", key)
        return
    fetched = _fetch(version, places, target, result)
    if fetched is None:
        return
    if fetched.sha256 == accepted:
        result.leave(FILES, ACCEPTED)
        result.notice("V503", key)
        return
    loaded_sha256 = version.loaded_sha256 or None
    length = version.loaded_size if loaded_sha256 and version.loaded_size is not None else version.named_size
    result.bytes_compared += fetched.size_bytes
    if length is not None and fetched.size_bytes != length:
        result.differ(FILES, "V304", key, f"{length} → {fetched.size_bytes}")
        return
    if loaded_sha256 and fetched.sha256 != loaded_sha256:
        result.differ(FILES, "V302", key)
        return
    try:
        with places.source.open(version.content) as stream:
            source_sha256 = sha256_of_stream(stream)
    except PLACE_FAULTS:
        raise
    except SourceFault as fault:
        _without_source(version, fault, result)
        return
    _judge_checksum(version, source_sha256, result)
    if source_sha256 == fetched.sha256:
        result.agree(FILES)
    else:
        # what was loaded is what the archive has: then it is the source that says otherwise
        result.differ(FILES, "V303" if loaded_sha256 else "V302", key)


def _judge_checksum(version: _VersionFile, source_sha256: str, result: VerifyResult) -> None:
    """Holds the archive's checksum against the source's, where nobody had hashed the file before."""
    if version.loaded_sha256 or version.content.sha256:
        return
    if version.named_sha256 is None or len(version.named_sha256) != len(source_sha256):
        result.leave(FIELDS, "no_checksum")
    elif version.named_sha256 == source_sha256:
        result.agree(FIELDS)
    else:
        result.differ(FIELDS, "V232", version.key, "Dokumentversjon.sjekksum")


def _without_source(version: _VersionFile, fault: SourceFault, result: VerifyResult) -> None:
    """The source moved on after it was archived: nothing to compare with is left."""
    if isinstance(fault, ItemVanished):
        result.leave(FILES, "source_gone")
    elif isinstance(fault, ItemChanged):
        result.leave(FILES, "source_changed")
    else:
        result.leave(FILES, "source_unreadable")
    result.source_changed += 1
    result.notice("V103", version.key, fault.code)


def _fetch(version: _VersionFile, places: FileSources, target: Path, result: VerifyResult) -> Downloaded | None:
    """The file; None if it cannot be had, which is a finding. Raises the fault of an archive that is away."""
    assert version.file is not None  # noqa: S101  # who calls has looked
    last: ArchiveFault | None = None
    for _ in range(2):
        try:
            return places.downloads.download(version.file, target, durable=False)
        except ArchiveNotFound:
            result.differ(FILES, "V301", version.key)
            return None
        except _OF_THE_ARCHIVE:
            raise
        except ArchiveFault as fault:
            last = fault
        finally:
            target.unlink(missing_ok=True)
        places.archive.query(_ANYTHING)  # it waits as long as it is patient, and raises where there is no archive
        if not last.transient or isinstance(last, ArchiveAway):
            continue
    result.differ(FILES, "V305", version.key, last.code if last else "")
    return None


def _contents(ledger: Ledger) -> Iterator[_VersionFile]:
    last = -1
    while rows := ledger.db.execute(_CONTENTS, (last,)).fetchall():
        last = rows[-1][0]
        for n, key, state, judgement, is_archived, file, sha256, size, loaded_sha256, bytes_, *content in rows:
            yield _VersionFile(
                n,
                key,
                state,
                judgement,
                bool(is_archived),
                file,
                sha256,
                size,
                loaded_sha256,
                bytes_,
                Content(*content),
            )


def _sample_share(key: str) -> float:
    """A number from 0 to 1 that a key always has: the same sample is drawn every time."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") / 2**64


__all__ = ["AMISS", "FileSources", "compare_files"]
