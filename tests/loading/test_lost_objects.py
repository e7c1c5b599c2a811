"""What the archive lost after it was loaded is made again by a retry, exactly once, whichever step of it is broken.

Objects are lost, verify says so, and retry loads them again, with one step of archive, journal or source broken; then
the same command again until it gets through. NOARKIT_DEEP=1 (`scripts/faults`) breaks every step.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import random
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from noarkit.archive.port import Archive
from noarkit.archive.values import Delete, Page, Query
from noarkit.errors import NoarkitError
from noarkit.events import Listener
from noarkit.graph.cut import Limits
from noarkit.graph.entity import Content, MappedRecord, SetAside, Skipped
from noarkit.graph.store import PlannedEntity
from noarkit.loading.cutting import split_task
from noarkit.loading.differences import remember_differences
from noarkit.loading.engines import assembly
from noarkit.loading.folder import RunFolder
from noarkit.loading.journal import ArchiveFinding
from noarkit.loading.lease import ChunkTask
from noarkit.loading.plan import PlanSpec, make_plan
from noarkit.loading.run import LoadSettings
from noarkit.loading.state import read_state
from noarkit.loading.stopping import StopRequest
from noarkit.loading.verification import Depth, Depths, VerifyResult, verify
from noarkit.records import SourceItem, SourceRecord
from noarkit.server.service import Service
from noarkit.server.settings import Settings
from tests.loading.direct import DirectArchive
from tests.loading.journey import SYSTEM, Journey, copied, record
from tests.loading.shelf import Mapper, Shelf
from tests.loading.trouble import (
    ARCHIVE_TROUBLES,
    JOURNAL_TROUBLES,
    TOO_LATE_TROUBLES,
    Killed,
    Schedule,
    TroubledArchive,
    TroubledJournal,
)

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
CONTENTS = {f"{n}": f"content {n}".encode() for n in range(7)}
EARLY, OTHERS = {"20": b"early"}, {f"{n}": f"of others {n}".encode() for n in range(30, 36)}
LIMITS = Limits(chunk_actions=45, shard_entities=22)
PROTECTIONS = {
    "guard and uuids": (True, "admin"),
    "guard alone": (True, "plain"),
    "settling alone": (False, "plain"),
}
MOST_STEPS_IN_SAMPLE = {"transaction": 8, "upload": 6, "query": 40, "journal": 20}
STEPS_IN_SAMPLE = 2


class TwoContents(Shelf):
    """Three records a folder, each with two documents."""

    def records(self, tell: Listener) -> Iterator[SourceItem]:
        for key in [key for key in self.contents if "+" not in key]:
            names = (key, f"{key}+2")
            held = tuple(Content(name, f"{name}.txt", len(self.contents[name]), 1) for name in names)
            yield SourceRecord("file", key, {"name": key}, held)


class TwoDocuments(Mapper):
    def map(self, one: SourceRecord) -> MappedRecord | SetAside | Skipped:
        made, held = record(one.key, f"f{int(one.key) // 3}", b"", b""), iter(one.contents)
        entities = (
            replace(entity, content=next(held)) if entity.type == "Dokumentversjon" else entity
            for entity in made.entities
        )
        return replace(made, entities=tuple(entities))


def shelf_of(contents: Mapping[str, bytes]) -> Shelf:
    return TwoContents({**contents, **{f"{key}+2": b"more of " + content for key, content in contents.items()}})


def planned(journey: Journey, contents: dict[str, bytes]) -> Shelf:
    shelf = shelf_of(contents)
    spec = PlanSpec(shelf, TwoDocuments(), "r", SYSTEM, limits=LIMITS)
    make_plan(spec, journey.folder, lambda event: None, lambda: 1.0)
    return shelf


Loaded = Callable[[str], Journey]


@pytest.fixture(scope="module")
def loaded(archive_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    """A run that was loaded into an archive which held another; `backup` beside it is the archive before."""

    @functools.cache
    def load(protection: str) -> Journey:
        honours_versions, account = PROTECTIONS[protection]
        root = tmp_path_factory.mktemp("loaded")
        copied(archive_template, root / "archive")
        journey = Journey(root, {}, Settings(honours_versions=honours_versions), account)
        load_into(journey.another("early"), EARLY)
        copied(root / "archive", root / "backup")
        load_into(journey, CONTENTS)
        return journey

    return load


def load_into(journey: Journey, contents: dict[str, bytes]) -> None:
    shelf = planned(journey, contents)
    service = journey.service()
    assert journey.once(service, source=shelf.open).numbers.archived == len(contents)
    service.close()


def copy_of(template: Journey, root: Path) -> Journey:
    shutil.copytree(template.root, root)
    return replace(template, root=root, told=[], time=replace(template.time, due=[]))


# what is lost


def found(journey: Journey, service: Service, kind: str, title: str) -> list[str]:
    return [one.id for one in journey.all(service, kind) if one.fields["tittel"] == title]


def delete(journey: Journey, *wanted: tuple[str, str]) -> None:
    service = journey.service()
    archive = DirectArchive(service)
    for kind, title in wanted:
        (object_id,) = found(journey, service, kind, title)
        archive.transaction((Delete(kind, object_id),))
    service.close()


def lose_records(journey: Journey) -> None:
    delete(journey, ("Basisregistrering", "record 1"), ("Basisregistrering", "record 5"))


def lose_a_document(journey: Journey) -> None:
    """The last of two of one record, which has no key of its own."""
    service = journey.service()
    (record_id,) = found(journey, service, "Basisregistrering", "record 4")
    documents = [one.id for one in journey.all(service, "Dokument") if one.links["refRegistrering"] == record_id]
    DirectArchive(service).transaction((Delete("Dokument", documents[-1]),))
    service.close()


def lose_a_case(journey: Journey) -> None:
    delete(journey, *(("Basisregistrering", f"record {n}") for n in (3, 4, 5)), ("Mappe", "f1"))


def flip_a_byte(journey: Journey) -> None:
    service = journey.service()
    path = service.files.store.path(hashlib.sha256(CONTENTS["2"]).hexdigest())
    path.chmod(0o600)
    path.write_bytes(b"k" + CONTENTS["2"][1:])
    service.close()


def restore_a_backup(journey: Journey) -> None:
    shutil.rmtree(journey.root / "archive")
    shutil.copytree(journey.root / "backup", journey.root / "archive")


def restore_and_load_others(journey: Journey) -> None:
    """After the restore others load: their objects have the ids that ours had."""
    restore_a_backup(journey)
    load_into(journey.another("others"), OTHERS)


LOSSES: Mapping[str, Callable[[Journey], None]] = {
    "records": lose_records,
    "a document": lose_a_document,
    "a case": lose_a_case,
    "a byte": flip_a_byte,
    "a backup": restore_a_backup,
    "a backup, then others": restore_and_load_others,
}


# verify, retry, ingest


def verified(journey: Journey, service: Service, depth: Depth = "bytes") -> VerifyResult:
    archive = DirectArchive(service)
    result = verify(journey.folder, shelf_of(CONTENTS), archive, Depths(depth, 1.0), lambda event: None)
    remember_differences(journey.folder, result, journey.time.now, whole=False)
    return result


def ingested(journey: Journey, service: Service, schedule: Schedule, archive: Archive) -> bool:
    """What `noarkit ingest` does; True where it got through."""
    shelf, real = shelf_of(CONTENTS), RunFolder.open_journal

    def open_troubled(folder: RunFolder) -> TroubledJournal:
        return TroubledJournal(real(folder), schedule)

    with mock.patch.object(RunFolder, "open_journal", open_troubled):
        assembly._reopen_lost(journey.folder, archive, "test", lambda: journey.time.now)
    loaded = journey.once(service, schedule, archive=archive, source=shelf.open)
    with mock.patch.object(RunFolder, "open_journal", open_troubled):
        tell, wall_s = journey.told.append, lambda: journey.time.now
        assembly._repair(journey.folder, archive, shelf, terms_of(journey), StopRequest(), emit=tell, now_s=wall_s)
    return loaded.state == "done"


def terms_of(journey: Journey) -> LoadSettings:
    """The terms of a journey on its own clock."""
    return replace(journey.terms, clocks=journey.clocks, sleep_s=journey.time.sleep)


def retried(journey: Journey, service: Service, schedule: Schedule, archive: Archive | None = None) -> int:
    """`noarkit retry`, then `noarkit ingest` until one gets through; how many calls that took."""
    archive = archive or TroubledArchive(DirectArchive(service, journey.account), schedule, journey.time)
    with closing(journey.folder.open_journal()) as journal, closing(journey.folder.open_graph()) as graph:
        journal.reopen(graph)
    for calls in range(1, 9):
        try:
            if ingested(journey, service, schedule, archive):
                return calls
        except (Killed, NoarkitError):
            continue
    raise AssertionError(f"not done after 8 calls: {schedule}")


def check(journey: Journey, service: Service, said: str) -> None:
    journey.time.sleep(200)
    keys = journey.keys(service)
    assert {key: count for key, count in keys.items() if count != 1} == {}, said
    assert set(CONTENTS) | set(EARLY) <= set(keys), said
    records = sum(key.isdigit() for key in keys)
    assert journey.count(service, "Basisregistrering") == records, said
    assert journey.count(service, "Dokument") == journey.count(service, "Dokumentversjon") == 2 * records, said
    assert journey.count(service, "Arkivdel") == journey.count(service, "Arkiv") == 1, said
    result = verified(journey, service)
    assert result.differences == 0, f"{said}: {result.findings}"
    state = read_state(journey.folder)
    numbers = state.numbers
    assert (state.findings, state.exit_code, numbers.open, numbers.in_doubt) == ((), 0, 0, 0), said
    assert numbers.archived + numbers.already_there == numbers.read == len(CONTENTS), said


@pytest.mark.parametrize("protection", PROTECTIONS)
@pytest.mark.parametrize("loss", LOSSES)
def test_what_was_lost_is_made_again_by_one_retry(loss: str, protection: str, loaded: Loaded, tmp_path: Path) -> None:
    journey = copy_of(loaded(protection), tmp_path / "here")
    LOSSES[loss](journey)
    with closing(journey.service()) as service:
        assert verified(journey, service).differences > 0
        assert retried(journey, service, Schedule()) == 1
        check(journey, service, loss)


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_what_another_run_had_loaded_is_made_again_with_its_key(
    protection: str, loaded: Loaded, tmp_path: Path
) -> None:
    first = copy_of(loaded(protection), tmp_path / "here")
    journey = first.another("again")
    shelf = planned(journey, CONTENTS)
    with closing(journey.service()) as service:
        assert journey.once(service, source=shelf.open).numbers.already_there == len(CONTENTS)
    lose_records(journey)
    with closing(journey.service()) as service:
        assert verified(journey, service).differences > 0
        assert retried(journey, service, Schedule()) == 1
        check(journey, service, protection)


def lose_the_first_document(journey: Journey) -> None:
    """The first of two of one record: the archive would give the next number to what is made again."""
    service = journey.service()
    (record_id,) = found(journey, service, "Basisregistrering", "record 4")
    documents = [one.id for one in journey.all(service, "Dokument") if one.links["refRegistrering"] == record_id]
    DirectArchive(service).transaction((Delete("Dokument", documents[0]),))
    service.close()


@pytest.mark.parametrize("protection", ["guard and uuids", "guard alone"])
def test_a_document_that_was_not_the_last_gets_its_number_back_or_its_new_one_is_said(
    protection: str, loaded: Loaded, tmp_path: Path
) -> None:
    journey = copy_of(loaded(protection), tmp_path / "here")
    lose_the_first_document(journey)
    with closing(journey.service()) as service:
        assert verified(journey, service).differences > 0
        assert retried(journey, service, Schedule()) == 1
        if protection == "guard and uuids":
            check(journey, service, protection)
            return
        said = [(one.kind, one.key, one.data["why"]) for one in read_state(journey.folder).findings]
        assert said == [("V215", "4#d2", "renumbered")]
        findings = verified(journey, service).findings
        assert [(one.code, one.key) for one in findings] == [("V215", "4#d2")], "and it is no other than the next one"
        assert len(read_state(journey.folder).findings) == 1


def test_findings_are_neither_doubled_nor_forgotten_by_another_verification(loaded: Loaded, tmp_path: Path) -> None:
    journey = copy_of(loaded("guard alone"), tmp_path / "here")
    lose_records(journey)
    flip_a_byte(journey)
    with closing(journey.service()) as service:
        verified(journey, service)
        first = read_state(journey.folder).findings
        kinds = {finding.kind for finding in first}
        assert {"V204", "V231"} & kinds and len(first) > 2
        verified(journey, service)
        assert read_state(journey.folder).findings == first, "the same once more"
        verified(journey, service, "counts")
        assert len(read_state(journey.folder).findings) == len(first), "one that sees less takes nothing back"
        path = service.files.store.path(hashlib.sha256(CONTENTS["2"]).hexdigest())
        path.write_bytes(CONTENTS["2"])
        verified(journey, service)
        after = read_state(journey.folder).findings
        assert 0 < len(after) < len(first), "what was mended by hand goes away"
        assert {finding.key for finding in after} < {finding.key for finding in first}


class LagsBehind(DirectArchive):
    """Finds nothing by its id, as an index that is built again."""

    def query(self, query: Query) -> Page:
        return Page((), has_more=False) if "@i0" in query.parameters else super().query(query)


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_what_an_index_that_lags_calls_lost_is_found_by_its_key_and_not_made_twice(
    protection: str, loaded: Loaded, tmp_path: Path
) -> None:
    journey = copy_of(loaded(protection), tmp_path / "here")
    with closing(journey.service()) as service:
        with closing(journey.folder.open_journal()) as journal, closing(journey.folder.open_graph()) as graph:
            journal.keep_findings([ArchiveFinding("V201", "2", graph.number_of("2"), {})])
            journal.reopen(graph)
        with contextlib.suppress(NoarkitError):
            ingested(journey, service, Schedule(), LagsBehind(service, journey.account))
        retried(journey, service, Schedule())
        check(journey, service, protection)


def test_what_stands_between_the_halves_of_a_refused_chunk_is_in_one_of_them() -> None:
    """The halves were cut when the middle record had its outcome."""
    task = ChunkTask("1/0", (1, 1, 1), (1, 5, 6))
    rows = [PlannedEntity(n, f"{n}", "Mappe", None, None, None, {}, "create", 1, 1, n) for n in range(1, 6)]
    halves = split_task(task, [rows[0], rows[1], rows[3], rows[4]], rows)
    covered = [row.n for row in rows if sum(half.first <= (1, row.bundle, row.n) <= half.last for half in halves) == 1]
    assert covered == [1, 2, 3, 4, 5]


def steps(kind: str) -> list[int]:
    if DEEP:
        return list(range(1, 400))
    last = MOST_STEPS_IN_SAMPLE[kind.split(":")[0]]
    if kind == "transaction:kill:after":
        return list(range(1, last + 1))
    return [1, *sorted(random.Random(kind).sample(range(2, last + 1), STEPS_IN_SAMPLE - 1))]


def cases() -> list[tuple[str, str, str]]:
    """Every trouble with every protection and loss, or each trouble with one of each."""
    kinds = [(kind, protection) for kind in (*ARCHIVE_TROUBLES, *JOURNAL_TROUBLES) for protection in PROTECTIONS]
    # only a guard keeps out what is later than the archive promised
    kinds += [(kind, protection) for kind in TOO_LATE_TROUBLES for protection in list(PROTECTIONS)[:2]]
    every = [(*pair, loss) for pair in kinds for loss in LOSSES]
    if DEEP:
        return every
    picked = {kind: random.Random(kind).choice([case for case in every if case[0] == kind]) for kind, _ in kinds}
    # what has no key is saved by nothing but its doubt
    alone = [("transaction:kill:after", protection, "a document") for protection in PROTECTIONS]
    # what never arrived must not be taken for what landed
    return [*picked.values(), *alone, ("transaction:kill:before", "guard alone", "a byte")]


@pytest.mark.parametrize(("kind", "protection", "loss"), cases())
def test_a_retry_broken_at_any_step_makes_again_what_was_lost_exactly_once(
    kind: str, protection: str, loss: str, loaded: Loaded, tmp_path: Path
) -> None:
    prepared = copy_of(loaded(protection), tmp_path / "prepared")
    LOSSES[loss](prepared)
    with closing(prepared.service()) as service:
        verified(prepared, service)
    for step in steps(kind):
        journey = copy_of(prepared, tmp_path / str(step))
        schedule = Schedule(kind, step)
        with closing(journey.service()) as service:
            retried(journey, service, schedule)
            check(journey, service, f"{loss}: {schedule}")
        shutil.rmtree(journey.root)
        if not schedule.struck:
            break
