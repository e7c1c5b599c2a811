"""Proves a run from outside: walks the source again and asks the archive; the journal alone proves nothing.

counts  every record of the source is accounted for, and the archive holds as many keys as were archived
ids     every key is in the archive exactly once, under the id the journal knows, with all its documents and versions
bytes   the bytes of every version (or a sample) in the archive and in the source have the sha256 that was loaded
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Query
from noarkit.errors import ArchiveNotFound, ChecksumDiffers, SourceFault
from noarkit.events import Event, Listener
from noarkit.graph.entity import Content
from noarkit.load.folder import RunFolder
from noarkit.load.numbers import Numbers, numbers
from noarkit.safe.digest import sha256_of_stream
from noarkit.safe.workplace import own_folder
from noarkit.sources.port import OF_THE_PLACE, Groundwork, Source

Depth = Literal["counts", "ids", "bytes"]
Proof = Literal["counts", "ids", "bytes", "receipt"]
_IDS_A_QUERY = 100
_TELL_EVERY = 5000
_MOST_FINDINGS = 100_000

_NEW = "SELECT count(*) FROM walked w LEFT JOIN graph.record r ON r.key = w.key WHERE r.n IS NULL"

_EXPECTED = """
CREATE TEMP VIEW expected AS
SELECT p.key, e.id FROM graph.entity p JOIN run.entity e ON e.n = p.n
WHERE p.type IN ('Mappe', 'Saksmappe', 'Moetemappe',
                 'Basisregistrering', 'Journalpost', 'Moeteregistrering', 'Arkivnotat')
AND e.id IS NOT NULL AND e.id != ''
"""

_COUNTED_CHILDREN: Mapping[str, str] = {
    "Korrespondansepart": "refRegistrering",
    "Dokument": "refRegistrering",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that does not agree: a code (V1xx source, V2xx archive, V3xx bytes, V4xx receipt) and the key it
    concerns."""

    code: str
    key: str
    detail: str = ""


@dataclass(slots=True)
class Verified:
    """What was compared, and what did not agree. `differences` is all of them, `findings` the first of each.
    `certificate` is the page that says so, where one was written; `receipt` what was made for the sending side."""

    depth: Proof
    numbers: Numbers
    compared: dict[str, tuple[int, int]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    differences: int = 0
    bytes_compared: int = 0
    source_new: int = 0
    source_gone: int = 0
    source_changed: int = 0
    certificate: Path | None = None
    receipt: Path | None = None

    @property
    def good(self) -> bool:
        """True where nothing disagrees. A source that grew since the plan is no disagreement; it is told apart."""
        return self.differences == 0 and self.numbers.add_up

    def find(self, code: str, key: str, detail: str = "") -> None:
        """Counts a difference; the first hundred thousand are kept one by one."""
        self.differences += 1
        if len(self.findings) < _MOST_FINDINGS:
            self.findings.append(Finding(code, key, detail))


@dataclass(frozen=True, slots=True)
class Depths:
    """How deep to look. `sample` is the share of versions whose bytes are compared, 0 to 1."""

    depth: Depth = "ids"
    sample: float = 1.0


def verify(folder: RunFolder, source: Source, archive: Archive, depths: Depths, tell: Listener) -> Verified:
    """Compares source, plan and archive. Raises RunFault where the run is broken, archive faults, SourceGone."""
    result = Verified(depths.depth, numbers(folder))
    if not result.numbers.add_up:
        result.find("V100", "", str(result.numbers))
    with _Ledger(folder) as ledger:
        _walk_source(ledger, source, result, tell)
        _ask_keys(ledger, archive, result, tell, by_id=depths.depth != "counts")
        if depths.depth != "counts":
            _ask_children(ledger, archive, result)
        if depths.depth == "bytes":
            _compare_bytes(ledger, source, archive, depths.sample, result, tell)
    return result


class _Ledger:
    """Plan and journal side by side, with a table of our own for what the source and the archive said."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder

    def __enter__(self) -> _Ledger:
        self.db = sqlite3.connect("", uri=True, isolation_level=None)
        for name, path in (("graph", self._folder.graph), ("run", self._folder.journal)):
            self.db.execute(f"ATTACH ? AS {name}", (f"{path.resolve().as_uri()}?mode=ro",))
        self.db.execute("CREATE TABLE walked (key TEXT PRIMARY KEY) WITHOUT ROWID")
        self.db.execute("CREATE TABLE answered (key TEXT, owner TEXT)")
        row = self.db.execute("SELECT value FROM graph.meta WHERE name = 'external_system'").fetchone()
        self.system = str(row[0]) if row else ""
        return self

    def __exit__(self, *_: object) -> None:
        self.db.close()


def _walk_source(ledger: _Ledger, source: Source, result: Verified, tell: Listener) -> None:
    db = ledger.db
    db.execute("BEGIN")
    for seen, item in enumerate(source.records(tell), 1):
        if isinstance(item, Groundwork):
            continue
        key = getattr(item, "key", None) or getattr(item, "record_key", "")
        db.execute("INSERT OR IGNORE INTO walked VALUES (?)", (key,))
        if seen % _TELL_EVERY == 0:
            tell(Event("walked", {"records": seen}))
    db.execute("COMMIT")
    result.source_new = _count(db, _NEW)
    gone = db.execute(
        "SELECT r.key FROM graph.record r LEFT JOIN walked w ON w.key = r.key"
        " WHERE w.key IS NULL AND r.key NOT LIKE '%#again%' ORDER BY r.n"
    )
    for _ in gone:
        result.source_gone += 1
    planned = _count(db, "SELECT count(*) FROM graph.record")
    result.compared["source records"] = (
        _count(db, "SELECT count(*) FROM walked") - result.source_new + result.source_gone,
        planned,
    )


def _ask_keys(ledger: _Ledger, archive: Archive, result: Verified, tell: Listener, *, by_id: bool) -> None:
    """Every external id of the run's system, once through, against the keys the run put there."""
    db = ledger.db
    db.execute("BEGIN")
    query = Query("EksternId", "eksterntSystem = @s", {"@s": ledger.system}, order=(("id", "asc"),))
    for seen, one in enumerate(objects(archive, query), 1):
        owner = one.links.get("refRegistrering") or one.links.get("refMappe") or ""
        db.execute("INSERT INTO answered VALUES (?, ?)", (str(one.fields.get("eksternID")), owner))
        if seen % _TELL_EVERY == 0:
            tell(Event("asked", {"keys": seen}))
    db.execute("COMMIT")
    db.execute("CREATE INDEX answered_key ON answered (key)")
    db.execute(_EXPECTED)
    count = _count(db, "SELECT count(*) FROM expected")
    missing = db.execute("SELECT key FROM expected x WHERE NOT EXISTS (SELECT 1 FROM answered a WHERE a.key = x.key)")
    found = count
    for (key,) in missing:
        found -= 1
        result.find("V201", key)
    result.compared["keys"] = (count, found)
    doubles = "SELECT key FROM expected x WHERE (SELECT count(*) FROM answered a WHERE a.key = x.key) > 1"
    for (key,) in db.execute(doubles):
        result.find("V202", key)
    if by_id:
        other = "SELECT x.key, x.id FROM expected x JOIN answered a ON a.key = x.key WHERE a.owner != x.id"
        for key, archive_id in db.execute(other):
            result.find("V203", key, archive_id)


def _ask_children(ledger: _Ledger, archive: Archive, result: Verified) -> None:
    """As many parties, documents and versions under the run's own objects as were made there."""
    for kind, link in {**_COUNTED_CHILDREN, "Dokumentversjon": "refDokument"}.items():
        planned = found = 0
        cursor = ledger.db.execute(
            "SELECT pe.id, parent.key, count(*) FROM graph.entity p JOIN run.entity e ON e.n = p.n AND e.state = 'done'"
            " JOIN run.entity pe ON pe.n = p.parent AND pe.state = 'done'"
            " JOIN graph.entity parent ON parent.n = p.parent"
            " WHERE p.type = ? GROUP BY p.parent",
            (kind,),
        )
        while rows := cursor.fetchmany(_IDS_A_QUERY):
            there = dict.fromkeys((row[0] for row in rows), 0)
            parameters = {f"@p{i}": one for i, one in enumerate(there)}
            where = " || ".join(f"{link}.id = {name}" for name in parameters)
            for one in objects(archive, Query(kind, where, parameters, order=(("id", "asc"),))):
                there[one.links[link]] += 1
            for owner, key, count in rows:
                planned += count
                found += min(there[owner], count)  # what a later run added is not of this one
                if there[owner] < count:
                    result.find("V204", key, f"{kind} {there[owner]} of {count}")
        if planned or found:
            result.compared[kind] = (planned, found)


def _compare_bytes(
    ledger: _Ledger, source: Source, archive: Archive, sample: float, result: Verified, tell: Listener
) -> None:
    compared = alike = 0
    with own_folder("verify") as spool:
        target = spool / "content"
        for key, file, sha256, content in _versions(ledger, sample):
            compared += 1
            code = _same_bytes(archive, source, file, sha256, content, target)
            result.bytes_compared += content.size_bytes or 0
            if code == "V103":
                result.source_changed += 1
                alike += 1
            elif code:
                result.find(code, key)
            else:
                alike += 1
            if compared % 500 == 0:
                tell(Event("compared", {"files": compared, "bytes": result.bytes_compared}))
    result.compared["files"] = (compared, alike)


def _same_bytes(archive: Archive, source: Source, file: str, sha256: str, content: Content, target: Path) -> str | None:
    try:
        archive.download(file, target, expected_sha256=sha256)
    except ArchiveNotFound:
        return "V301"
    except ChecksumDiffers:
        return "V302"
    finally:
        target.unlink(missing_ok=True)
    try:
        with source.open(content) as stream:
            return None if sha256_of_stream(stream) == sha256 else "V303"
    except OF_THE_PLACE:
        raise
    except SourceFault:
        return "V103"  # the source moved on after it was archived; what was archived stands


def _versions(ledger: _Ledger, sample: float) -> Iterator[tuple[str, str, str, Content]]:
    rows = ledger.db.execute(
        "SELECT p.key, e.file, e.sha256, c.locator, c.name, c.size, c.modified_ns, c.sha256, c.media_type, c.puid"
        " FROM run.entity e JOIN graph.entity p ON p.n = e.n JOIN graph.content c ON c.entity = e.n"
        " WHERE e.file IS NOT NULL ORDER BY e.n"
    )
    for key, file, sha256, *content in rows:
        if sample >= 1 or _share(key) < sample:
            yield key, file, sha256, Content(*content)


def _share(key: str) -> float:
    """A number from 0 to 1 that a key always has: the same sample is drawn every time."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") / 2**64


def _count(db: sqlite3.Connection, statement: str) -> int:
    return int(db.execute(statement).fetchone()[0])
