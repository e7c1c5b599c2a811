"""What must be in an archive after a history, and what must have been reported: computed from the listings alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from tests.services.histories.archived import ArchivedRecord, read_archived, read_file
from tests.services.histories.facts import Fact, Listing, Oracle, item_key, shows
from tests.services.histories.world import Played, Run


def differences(service: str, oracle: Oracle, played: Played, archive: Path) -> list[str]:
    """What is wrong, one line each; empty where nothing is lost, doubled, invented or kept silent."""
    found = read_archived(archive, service, f"{played.tenant}:")
    records = [record for record in found if oracle.is_followed(record.key)]
    by_key: dict[str, ArchivedRecord] = {record.key: record for record in records}
    return [
        *_doubled(records),
        *_not_archived(oracle, played, by_key, archive),
        *_invented(played, records, archive),
        *_deletions(oracle, played, by_key),
        *(f"{run.name}: its numbers do not add up: {run.numbers}" for run in played.runs if not run.numbers.add_up),
    ]


def required_facts(oracle: Oracle, played: Played) -> Iterator[tuple[Run, Fact]]:
    """What a run saw from its beginning to its end, and had to take: all of it, where it looks through everything; else
    what is new or bears a time within its window."""
    previous: list[Run] = []
    known_folders: set[str] = set()
    for run in (run for run in played.runs if run.fault is None):
        first, *others = played.during(run)
        for key, fact in first.facts.items():
            if any(listing.facts.get(key) != fact for listing in others) or _is_excused(run, key):
                continue
            if fact.modified is not None and fact.modified >= run.until:
                continue  # the next run takes it
            is_slow = fact.is_slow and (oracle.is_slow_in_new_folders or fact.folder in known_folders)
            if run.is_thorough or not (is_slow or _is_unmarked(oracle, played, previous, fact)):
                yield run, fact
        previous.append(run)
        known_folders |= {fact.folder for listing in (first, *others) for fact in listing.facts.values()}


def _is_unmarked(oracle: Oracle, played: Played, previous: list[Run], fact: Fact) -> bool:
    """True for a change of something known that no time tells of."""
    if fact.modified is None:
        return False
    return any(
        fact.modified < run.until - timedelta(seconds=oracle.look_back_s)
        and any(fact.key in listing.facts for listing in played.during(run))
        for run in previous
    )


def _is_excused(run: Run, key: str) -> bool:
    """True where the run listed the object itself as left out."""
    return key in run.left_out


def _not_archived(oracle: Oracle, played: Played, by_key: dict[str, ArchivedRecord], archive: Path) -> Iterator[str]:
    """What was not archived by the run that had to take it, even if a later one did, or is not in the archive now."""
    complaints: set[tuple[str, str]] = set()
    held_after = {run.name: {record.key: record for record in run.archived} for run in played.runs}
    for run, fact in required_facts(oracle, played):
        wrong = _missing(fact, held_after[run.name].get(fact.key), archive)
        wrong = wrong or _missing(fact, by_key.get(fact.key), archive)
        if wrong and (fact.key, wrong) not in complaints:
            complaints.add((fact.key, wrong))
            yield f"{run.name}: {fact.key} {wrong}"


def _missing(fact: Fact, record: ArchivedRecord | None, archive: Path) -> str:
    if record is None:
        return "was there all the time and is not archived"
    if record.folder != fact.folder:
        return f"is in {record.folder}, not in {fact.folder}"
    held = {sha256 for document in record.documents.values() for sha256 in document.sha256s}
    lost = [file_id for file_id, sha256 in fact.files if sha256 not in held]
    if lost:
        return f"is archived without its file {', '.join(lost)}"
    if fact.members and not any(shows(fact.members, data) for data in _files_of(fact, record, archive)):
        return f"is archived without this version: {fact.members[:400]}"
    return ""


def _files_of(fact: Fact, record: ArchivedRecord, archive: Path) -> Iterator[bytes]:
    """The documents of a record that show members of its fact."""
    for document in record.documents.values():
        for sha256, name in zip(document.sha256s, document.names, strict=True):
            if name.endswith(fact.document):
                yield read_file(archive, sha256)


def _doubled(records: list[ArchivedRecord]) -> Iterator[str]:
    for key, count in Counter(record.key for record in records).items():
        if count > 1:
            yield f"{key} is archived {count} times"
    for record in records:
        for document in record.documents.values():
            pairs = zip(document.sha256s, document.sha256s[1:], strict=False)
            if any(first == second for first, second in pairs):
                yield f"{record.key} has the same version twice: {document.names}"


def _invented(played: Played, records: list[ArchivedRecord], archive: Path) -> Iterator[str]:
    """What was archived and never was there so: an object, a version, or a file among the versions of another."""
    facts_by_key: dict[str, set[Fact]] = {}
    for listing in played.timeline:
        for key, fact in listing.facts.items():
            facts_by_key.setdefault(key, set()).add(fact)
    for record in records:
        facts = facts_by_key.get(record.key)
        if facts is None:
            yield f"{record.key} is archived and never was there"
            continue
        file_ids = {sha256: file_id for fact in facts for file_id, sha256 in fact.files}
        for document in record.documents.values():
            met = {file_ids[sha256] for sha256 in document.sha256s if sha256 in file_ids}
            if len(met) > 1:
                yield f"{record.key}: one document has versions of several files: {', '.join(sorted(met))}"
        if any(fact.members for fact in facts):
            for data in _files_of(next(iter(facts)), record, archive):
                if not any(shows(fact.members, data) for fact in facts):
                    yield f"{record.key} is archived in a version that never was: {data[:300]!r}"


def _deletions(oracle: Oracle, played: Played, by_key: dict[str, ArchivedRecord]) -> Iterator[str]:
    yield from _false_deletions(oracle, played)
    yield from _silent_deletions(oracle, played, by_key)


def _false_deletions(oracle: Oracle, played: Played) -> Iterator[str]:
    reported: dict[str, Run] = {}
    for run in played.runs:
        for told in run.deleted_keys:
            key = item_key(told)
            if all(key in _keys(oracle, listing) for listing in played.during(run)):
                yield f"{run.name}: {told} is reported as deleted, and was there all the time"
            before = reported.get(key)
            if before is not None and not any(
                key in _keys(oracle, listing) for listing in played.timeline[before.begin : run.end + 1]
            ):
                yield f"{run.name}: {told} is reported as deleted again, after {before.name}"
            reported[key] = run


def _silent_deletions(oracle: Oracle, played: Played, by_key: dict[str, ArchivedRecord]) -> Iterator[str]:
    """What is archived, was gone during the whole last run with its case still there, and was reported by no run."""
    last = played.during(played.runs[-1])
    present = {key for listing in last for key in _keys(oracle, listing)}
    folders = {fact.folder for listing in last[:1] for fact in listing.facts.values()}
    told = {item_key(key) for run in played.runs for key in run.deleted_keys}
    lenient = {applied.object_id for applied in played.applied if applied.change.what in ("hide", "move")}
    is_restricted = any(listing.withheld for listing in last)
    for key, record in by_key.items():
        if (is_restricted and oracle.is_homeless(key)) or _is_of_an_unread_list(played.runs[-1], key):
            continue
        deletion_key = oracle.deletion_key(key)
        own_id = deletion_key.rpartition(":")[2]
        if not deletion_key or deletion_key in present or deletion_key in told or own_id in lenient:
            continue
        if record.folder in folders or oracle.is_whole(key):
            yield f"{key} is archived, is gone in the service, and no run reported it"


def _is_of_an_unread_list(run: Run, key: str) -> bool:
    """True for an object of a list that the run said it could not read: nobody knows what is gone there."""
    unread_lists = {left_out.partition(":")[2] for left_out in run.left_out}
    return not unread_lists.isdisjoint(key.split(":")[1:])


def _keys(oracle: Oracle, listing: Listing) -> set[str]:
    """The keys that deletions would bear, of all that is there."""
    return {oracle.deletion_key(key) for key in (*listing.facts, *listing.withheld)}
