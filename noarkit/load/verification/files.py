"""Fetches the file that each version names now, and holds its bytes against the source's.

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
from noarkit.load.verification.expectation import ACCEPTED
from noarkit.load.verification.ledger import AMISS, CHANGED, Ledger
from noarkit.load.verification.outcome import FIELDS, FILES, Depths, Verified
from noarkit.safe.digest import sha256_of_stream
from noarkit.safe.workplace import own_folder
from noarkit.sources.port import OF_THE_PLACE, Source

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


class _Wanted(NamedTuple):
    """A version with a content: what became of it, and what it is said to hold."""

    n: int
    key: str
    state: str
    seen: int | None
    stands: bool
    file: str | None
    named_sha256: str | None
    named_size: int | None
    loaded_sha256: str | None
    loaded_size: int | None
    content: Content


@dataclass(frozen=True, slots=True)
class Places:
    """Where bytes come from. `downloads` is the archive with little patience: one file that is broken should not hold
    up the others."""

    archive: Archive
    downloads: Archive
    source: Source


def compare_files(ledger: Ledger, places: Places, depths: Depths, result: Verified, emit: Listener) -> None:
    """Every file, or a sample of them. Raises archive faults where the archive is away, and faults of the source's
    place."""
    seen = 0
    with own_folder("verify") as spool:
        for wanted in _contents(ledger):
            reason = _left(wanted, depths)
            if reason:
                result.leave(FILES, reason)
                continue
            seen += 1
            _compare(wanted, places, spool / "content", ledger.accepted.get(wanted.n), result)
            if seen % _TELL_EVERY == 0:
                emit(Event("compared", {"files": seen, "bytes": result.bytes_compared}))


def _left(wanted: _Wanted, depths: Depths) -> str:
    """Why a file is not compared; empty where it is."""
    if not wanted.stands:
        return "open" if wanted.state == "unnamed" else wanted.state
    if not depths.reaches("bytes"):
        return "depth"
    if depths.sample < 1 and _share(wanted.key) >= depths.sample:
        return "sample"
    return "changed_since" if wanted.seen == CHANGED else ""


def _compare(wanted: _Wanted, places: Places, target: Path, accepted: str | None, result: Verified) -> None:
    key = wanted.key
    if wanted.file is None:
        result.differ(FILES, "V301", key)
        return
    fetched = _fetch(wanted, places, target, result)
    if fetched is None:
        return
    if fetched.sha256 == accepted:
        result.leave(FILES, ACCEPTED)
        result.notice("V503", key)
        return
    loaded = wanted.loaded_sha256 or None
    length = wanted.loaded_size if loaded and wanted.loaded_size is not None else wanted.named_size
    result.bytes_compared += fetched.size_bytes
    if length is not None and fetched.size_bytes != length:
        result.differ(FILES, "V304", key, f"{length} → {fetched.size_bytes}")
        return
    if loaded and fetched.sha256 != loaded:
        result.differ(FILES, "V302", key)
        return
    try:
        with places.source.open(wanted.content) as stream:
            ours = sha256_of_stream(stream)
    except OF_THE_PLACE:
        raise
    except SourceFault as fault:
        _without_source(wanted, fault, result)
        return
    _judge_checksum(wanted, ours, result)
    if ours == fetched.sha256:
        result.agree(FILES)
    else:
        # what was loaded is what the archive has: then it is the source that says otherwise
        result.differ(FILES, "V303" if loaded else "V302", key)


def _judge_checksum(wanted: _Wanted, ours: str, result: Verified) -> None:
    """Holds the archive's checksum against the source's, where nobody had hashed the file before."""
    if wanted.loaded_sha256 or wanted.content.sha256:
        return
    if wanted.named_sha256 is None or len(wanted.named_sha256) != len(ours):
        result.leave(FIELDS, "no_checksum")
    elif wanted.named_sha256 == ours:
        result.agree(FIELDS)
    else:
        result.differ(FIELDS, "V232", wanted.key, "Dokumentversjon.sjekksum")


def _without_source(wanted: _Wanted, fault: SourceFault, result: Verified) -> None:
    """The source moved on after it was archived: nothing to compare with is left."""
    if isinstance(fault, ItemVanished):
        result.leave(FILES, "source_gone")
    elif isinstance(fault, ItemChanged):
        result.leave(FILES, "source_changed")
    else:
        result.leave(FILES, "source_unreadable")
    result.source_changed += 1
    result.notice("V103", wanted.key, fault.code)


def _fetch(wanted: _Wanted, places: Places, target: Path, result: Verified) -> Downloaded | None:
    """The file; None where it cannot be had, which is a finding. Raises the fault of an archive that is away."""
    assert wanted.file is not None  # noqa: S101  # who calls has looked
    last: ArchiveFault | None = None
    for _ in range(2):
        try:
            return places.downloads.download(wanted.file, target, durable=False)
        except ArchiveNotFound:
            result.differ(FILES, "V301", wanted.key)
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
    result.differ(FILES, "V305", wanted.key, last.code if last else "")
    return None


def _contents(ledger: Ledger) -> Iterator[_Wanted]:
    last = -1
    while rows := ledger.db.execute(_CONTENTS, (last,)).fetchall():
        last = rows[-1][0]
        for n, key, state, seen, stands, file, sha256, size, loaded, bytes_, *content in rows:
            yield _Wanted(n, key, state, seen, bool(stands), file, sha256, size, loaded, bytes_, Content(*content))


def _share(key: str) -> float:
    """A number from 0 to 1 that a key always has: the same sample is drawn every time."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") / 2**64


__all__ = ["AMISS", "Places", "compare_files"]
