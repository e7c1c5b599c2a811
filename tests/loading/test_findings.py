"""What was found wrong in the archive stays wrong in the run, until it is mended or accepted by name."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.archive.values import Action, SavedObject, Upload, Uploaded, bytes_to_upload
from noarkit.errors import NotAllowed
from noarkit.graph.store import GraphStore
from noarkit.loading.findings import exit_code_of, repair
from noarkit.loading.journal import CHECKSUM, JOURNAL_VERSION, NOT_CLOSED, ArchiveFinding, Journal
from tests.loading.conftest import Opened
from tests.loading.direct import DirectArchive
from tests.loading.journey import Journey, record
from tests.loading.trouble import Contents, Killed, Schedule

CONTENTS = {f"{n}": f"content {n}".encode() for n in range(4)}
RECORDS = [record(key, "f", content) for key, content in CONTENTS.items()]


class FlipsABit(DirectArchive):
    """Stores other bytes of two contents than were sent; what the sender saw pass was right."""

    def upload(self, content: Upload) -> Uploaded:
        with content.open() as stream:
            whole = b"".join(iter(lambda: stream.read(65536), b""))
        if whole not in (CONTENTS["1"], CONTENTS["2"]):
            return super().upload(bytes_to_upload(whole, content.name))
        stored = super().upload(bytes_to_upload(bytes([whole[0] ^ 1]) + whole[1:], content.name))
        return replace(stored, sha256=hashlib.sha256(whole).hexdigest())


def journal_of(journey: Journey) -> Journal:
    return Journal(journey.folder.journal)


@pytest.fixture
def journey(root: Path) -> Journey:
    journey = Journey(root, dict(CONTENTS))
    journey.plan(RECORDS)
    return journey


def test_every_document_that_differs_is_kept_and_stays_when_the_run_goes_on(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    assert journey.once(service, archive=FlipsABit(service)).exit_code == 7
    journey.once(service)
    with closing(journal_of(journey)) as journal:
        found = journal.findings()
        assert [one.key for one in found] == ["1#d1v1", "2#d1v1"]
        assert exit_code_of(found) == 7
        assert found[0].data["ours"] == hashlib.sha256(CONTENTS["1"]).hexdigest()


def test_a_retry_puts_the_right_bytes_in_the_place_of_what_differs(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    journey.once(service, archive=FlipsABit(service))
    journey.once(service)
    source = Contents(journey.contents, Schedule()).open
    with closing(journal_of(journey)) as journal, closing(GraphStore.open(journey.folder.graph)) as graph:
        assert repair(journal, graph, DirectArchive(service), source, lambda: journey.time.now) == 0, (
            "none was asked for"
        )
        journal.reopen(graph)
        assert repair(journal, graph, DirectArchive(service), source, lambda: journey.time.now) == 2
        assert journal.findings() == []
    held = {one.fields["sjekksum"] for one in journey.all(service, "Dokumentversjon")}
    assert held == {hashlib.sha256(content).hexdigest() for content in CONTENTS.values()}


class Unchangeable(DirectArchive):
    """Takes no other file for a version that stands; the bytes are sent in vain."""

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        raise NotAllowed(call="transaction", status=403)


def test_what_the_account_may_not_mend_stays_listed(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    journey.once(service, archive=FlipsABit(service))
    source = Contents(journey.contents, Schedule()).open
    with closing(journal_of(journey)) as journal, closing(GraphStore.open(journey.folder.graph)) as graph:
        journal.reopen(graph, "F314")
        assert repair(journal, graph, Unchangeable(service), source, lambda: journey.time.now) == 0
        assert [one.key for one in journal.findings("open")] == ["1#d1v1", "2#d1v1"]


def test_what_was_accepted_by_name_is_not_found_again(journey: Journey) -> None:
    found = ArchiveFinding(NOT_CLOSED, "Mappe 12", None, {"code": "F310"})
    with closing(journal_of(journey)) as journal:
        journal.keep_findings([found, ArchiveFinding(CHECKSUM, "a", 3, {})])
        assert journal.settle(NOT_CLOSED, "Mappe 12", "accepted", 5.0, "kari")
        assert not journal.settle(NOT_CLOSED, "Mappe 12", "accepted", 6.0, "ola"), "it is settled"
        journal.keep_findings([found])
        assert [one.key for one in journal.findings()] == ["a"]
    with closing(sqlite3.connect(journey.folder.journal)) as db:
        assert db.execute("SELECT at, who FROM finding WHERE key = 'Mappe 12'").fetchall() == [(5.0, "kari")]
        assert db.execute("SELECT count(*) FROM event WHERE name = 'finding_settled'").fetchall() == [(1,)]


def test_what_was_mended_and_is_wrong_again_is_found_again(journey: Journey) -> None:
    found = ArchiveFinding(CHECKSUM, "a", 3, {})
    with closing(journal_of(journey)) as journal:
        journal.keep_findings([found])
        journal.settle(CHECKSUM, "a", "mended", 5.0, "noarkit")
        journal.keep_findings([found])
        assert journal.findings() == [found]


SAMPLES = sorted((Path(__file__).parent / "journals").glob("version-*.sql"))


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_a_journal_of_every_version_still_opens_and_keeps_what_it_holds(sample: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "run.db")) as db:
        db.executescript(sample.read_text("utf-8"))
    for _ in range(2):
        with closing(Journal(tmp_path / "run.db")) as journal:
            assert journal.meta("version") == str(JOURNAL_VERSION)
            assert journal.meta("archive") == "an-archive"
            assert journal.entity_counts() == {"done": 2, "already_there": 1}
            assert [task.sent_at for task in journal.tasks(1)] == [1700000000.0, None]
            assert journal.findings() == []
            journal.keep_findings([])


def test_there_is_a_sample_of_every_version_before_this() -> None:
    assert [path.stem for path in SAMPLES] == [f"version-{n}" for n in range(1, JOURNAL_VERSION)]


class FlipsAndIsCutOff(FlipsABit):
    """Stores other bytes than were sent; the client is gone before the answer to what links them comes."""

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        saved = super().transaction(actions)
        if any(action.type == "Dokumentversjon" for action in actions):
            raise Killed()
        return saved


def test_damage_is_found_where_the_process_that_sent_the_bytes_is_gone(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    with pytest.raises(Killed):
        journey.once(service, archive=FlipsAndIsCutOff(service))
    assert journey.once(service).exit_code == 7
    with closing(journal_of(journey)) as journal:
        assert [one.key for one in journal.findings()] == ["1#d1v1", "2#d1v1"]
