"""Downloads the file of each version and compares its bytes with the source's, or with the plan's checksum.

A good answer is believed at once. Any other, whether it is other bytes or no file, is asked for again, and believed
when it has come three times and none was good: what stands between may cut an answer short, or give one of its own.
One file that cannot be fetched is a finding, and the rest goes on; an archive that does not answer at all is a fault.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from noarkit.archive.port import Archive
from noarkit.archive.values import Downloaded, Query
from noarkit.errors import (
    ArchiveFault,
    ArchiveNotFound,
    ItemChanged,
    ItemVanished,
    NotLetIn,
    ProxyDenied,
    SourceFault,
    SourceGone,
    TrustFault,
)
from noarkit.events import Event, EventFields, Listener
from noarkit.graph.entity import Content
from noarkit.loading.verification.ledger import AMISS, CHANGED, Ledger
from noarkit.loading.verification.outcome import FIELDS, FILES, Depths, Finding, VerifyResult
from noarkit.loading.verification.walk import report_gone
from noarkit.records import PLACE_FAULTS, Source
from noarkit.safe.digest import sha256_of_stream
from noarkit.safe.workplace import temporary_folder

EVENTS: EventFields = {"compared": {"files": "count", "of": "count?", "bytes": "count"}}
_TELL_EVERY = 500
_OF_THE_ARCHIVE = (NotLetIn, TrustFault, ProxyDenied)
_ANYTHING = Query("Arkiv", limit=1)
_BELIEVED, _MOST_TRIES = 3, 6
_PAGE = "text/html"
_BROKE = 500

_CONTENTS = """
SELECT p.n, p.key, p.state, s.seen, s.n IS NOT NULL, v.file, v.sha256, v.size, e.sha256, e.bytes,
  c.locator, c.name, c.size, c.modified_ns, c.sha256, c.media_type, c.puid
FROM graph.content c JOIN plan p ON p.n = c.entity
LEFT JOIN planned_object s ON s.n = c.entity
LEFT JOIN version_file v ON v.n = c.entity LEFT JOIN run.entity e ON e.n = c.entity
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
    up the others. Without a `source` the plan's checksums, or nothing, stand in its place."""

    archive: Archive
    downloads: Archive
    source: Source | None


class _SourceBytes(NamedTuple):
    """The checksum of a file in the source, or the fault that it could not be read for."""

    sha256: str | None = None
    fault: SourceFault | None = None


class _Answer(NamedTuple):
    """What came of asking for a file: the file, or the code of a fault, and whether that is the archive's own word;
    `broke_at` is how much had come of a file that the archive named and then broke off over."""

    file: Downloaded | None
    code: str = ""
    is_own: bool = True
    broke_at: object = None


def compare_files(ledger: Ledger, places: FileSources, depths: Depths, result: VerifyResult, emit: Listener) -> None:
    """Every file, or a sample of them. Raises archive faults where the archive is away, and faults of the source's
    place."""
    count, total = 0, sum(not _reason_not_compared(version, depths) for version in _contents(ledger))
    emit(Event("compared", {"files": 0, "of": total, "bytes": 0}))
    with temporary_folder("verify") as spool:
        for version in _contents(ledger):
            reason = _reason_not_compared(version, depths)
            if reason:
                # what another user put in its place is accepted with the finding that says so
                is_accepted = reason == "changed_since" and version.key in result.accepted_keys
                result.leave(FILES, result.accepted_keys[version.key] if is_accepted else reason)
                continue
            count += 1
            _compare_file(version, places, spool / "content", ledger.accepted.get(version.n), result)
            if count % _TELL_EVERY == 0:
                emit(Event("compared", {"files": count, "of": total, "bytes": result.bytes_compared}))
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
    in_source = _read_source(version.content, places.source, result)
    fetched = _fetch(version, places, target, _good_checksums(version, in_source, accepted), result)
    if fetched is None:
        return
    if fetched.sha256 == accepted:
        result.take_accepted(FILES, Finding("V302", key, actual=fetched.sha256))
        return
    loaded_sha256 = version.loaded_sha256 or None
    length = version.loaded_size if loaded_sha256 and version.loaded_size is not None else version.named_size
    result.bytes_compared += fetched.size_bytes
    if length is not None and fetched.size_bytes != length:
        result.differ(FILES, "V304", key, f"{length} → {fetched.size_bytes}", actual=fetched.sha256)
    elif loaded_sha256 and fetched.sha256 != loaded_sha256:
        result.differ(FILES, "V302", key, actual=fetched.sha256)
    elif in_source.sha256 is not None and (in_source.fault is None or in_source.sha256 == fetched.sha256):
        _judge_checksum(version, in_source.sha256, result)
        if in_source.sha256 == fetched.sha256:
            result.agree(FILES)
        else:
            # what was loaded is what the archive has: then it is the source that says otherwise
            result.differ(FILES, "V303" if loaded_sha256 else "V302", key, actual=fetched.sha256)
    elif result.source == "plan":
        _compare_with_plan(version, fetched, result)
    else:
        _without_source(version, in_source.fault, result)


def _good_checksums(version: _VersionFile, in_source: _SourceBytes, accepted: str | None) -> frozenset[str]:
    """The checksums with which a file is taken as it came: as it was loaded; where nobody hashed it then, as anybody
    else has it. None where there are none: then there is nothing to judge an answer by."""
    others = (in_source.sha256, version.content.sha256, version.named_sha256)
    known = (version.loaded_sha256, accepted) if version.loaded_sha256 else (*others, accepted)
    return frozenset(sha256.lower() for sha256 in known if sha256)


def _compare_with_plan(version: _VersionFile, fetched: Downloaded, result: VerifyResult) -> None:
    """Holds a file against the checksum that the frozen plan keeps of it."""
    planned_sha256 = version.content.sha256
    if planned_sha256 is None:
        result.leave(FILES, "no_plan_checksum")
    elif fetched.sha256 == planned_sha256.lower():
        result.agree(FILES)
    else:
        result.differ(FILES, "V302", version.key, actual=fetched.sha256)


def _read_source(content: Content, source: Source | None, result: VerifyResult) -> _SourceBytes:
    """The checksum of the file that the source has now, also where its time alone is another than planned."""
    if source is None or result.source != "read":
        return _SourceBytes()
    try:
        try:
            with source.open(content) as stream:
                return _SourceBytes(sha256_of_stream(stream))
        except ItemChanged as changed:
            return _read_changed(content, source, changed)
    except SourceGone as gone:
        report_gone(result, gone)
        return _SourceBytes()
    except PLACE_FAULTS:
        raise
    except SourceFault as fault:
        return _SourceBytes(fault=fault)


def _read_changed(content: Content, source: Source, changed: ItemChanged) -> _SourceBytes:
    """The checksum of a file whose time is not as planned, with that fault: its bytes may be the same."""
    try:
        with source.open(replace(content, size_bytes=None, modified_ns=None, sha256=None)) as stream:
            return _SourceBytes(sha256_of_stream(stream), changed)
    except PLACE_FAULTS:
        raise
    except SourceFault:
        return _SourceBytes(fault=changed)


def _judge_checksum(version: _VersionFile, source_sha256: str, result: VerifyResult) -> None:
    """Holds the archive's checksum against the source's, where nobody had hashed the file before."""
    if version.loaded_sha256 or version.content.sha256:
        return
    if version.named_sha256 is None or len(version.named_sha256) != len(source_sha256):
        result.leave(FIELDS, "no_checksum")
    elif version.named_sha256 == source_sha256:
        result.agree(FIELDS)
    else:
        result.differ(FIELDS, "V232", version.key, "Dokumentversjon.sjekksum", actual=version.named_sha256)


def _without_source(version: _VersionFile, fault: SourceFault | None, result: VerifyResult) -> None:
    """The source moved on after it was archived: nothing to compare with is left."""
    if fault is None:
        result.leave(FILES, "source_gone")
        return
    if isinstance(fault, ItemVanished):
        result.leave(FILES, "source_gone")
    elif isinstance(fault, ItemChanged):
        result.leave(FILES, "source_changed")
    else:
        result.leave(FILES, "source_unreadable")
    result.source_changed += 1
    result.notice("V103", version.key, fault.code)


def _fetch(
    version: _VersionFile, places: FileSources, target: Path, good: frozenset[str], result: VerifyResult
) -> Downloaded | None:
    """The file as the archive has it; None if it cannot be had, which is a finding, or a notice where no answer came
    often enough to be believed. Raises the fault of an archive that is away."""
    times: Counter[tuple[str, object]] = Counter()
    for _ in range(_MOST_TRIES):
        answer = _ask(version, places, target)
        if answer.file is not None and (not good or answer.file.sha256 in good):
            return answer.file
        name = (answer.code or (answer.file.sha256 if answer.file else ""), answer.broke_at)
        times[name] += 1
        if times[name] < _BELIEVED:
            continue
        if answer.file is None and answer.is_own:
            code, detail = ("V301", "") if answer.code == ArchiveNotFound.code else ("V305", answer.code)
            result.differ(FILES, code, version.key, detail)
            return None
        if answer.file is not None and not _is_page(answer.file, version):
            return answer.file
        break
    result.leave(FILES, "not_fetched")
    result.notice("V306", version.key)
    return None


def _is_page(answer: Downloaded, version: _VersionFile) -> bool:
    """True for what no archive keeps: a page of HTML, or nothing, without a file's name, as long as the version's file
    is not."""
    is_none = not answer.size_bytes or (answer.media_type or "").lower().startswith(_PAGE)
    return is_none and answer.name is None and answer.size_bytes != version.named_size


def _ask(version: _VersionFile, places: FileSources, target: Path) -> _Answer:
    """Asks for a file once. Raises the fault of an archive that answers nothing else either."""
    assert version.file is not None  # noqa: S101  # who calls has looked
    try:
        return _Answer(places.downloads.download(version.file, target, durable=False))
    except _OF_THE_ARCHIVE:
        raise
    except ArchiveFault as fault:
        # what passes is no word of the archive's about this file, but that it broke over it
        code, broke_at = fault.code, fault.data.get("received_bytes")
        is_own = not fault.transient or fault.data.get("status") == _BROKE or broke_at is not None
    finally:
        target.unlink(missing_ok=True)
    places.archive.query(_ANYTHING)  # it waits as long as it is patient, and raises where there is no archive
    return _Answer(None, code, is_own, broke_at)


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
