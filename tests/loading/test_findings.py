"""What was found wrong in the archive stays wrong in the run, until it is mended or accepted by name."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.archive.port import Archive
from noarkit.archive.values import Action, SavedObject, Upload, Uploaded, bytes_to_upload
from noarkit.errors import NotAllowed
from noarkit.graph.store import GraphStore
from noarkit.loading import lost_objects, mending
from noarkit.loading.contents import ContentUploader, no_gate
from noarkit.loading.findings import exit_code_of
from noarkit.loading.journal import CHECKSUM, NOT_CLOSED, ArchiveFinding, Journal
from noarkit.loading.journal_tables import JOURNAL_VERSION
from noarkit.loading.mending import Mender, reopen_lost
from noarkit.loading.settling import Clock
from tests.loading.conftest import Opened
from tests.loading.direct import DirectArchive
from tests.loading.journey import DEADLINE_S, Journey, record
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


def mender_of(journey: Journey, journal: Journal, graph: GraphStore, archive: Archive) -> Mender:
    """What mends the findings of a journey, on its clock."""
    source = Contents(journey.contents, Schedule()).open
    clock = Clock(lambda: journey.time.now, lambda moment: journey.time.sleep(moment - journey.time.now))
    contents = ContentUploader(archive, source, clock.now_s, no_gate)
    return Mender(journal, graph, archive, contents, clock, DEADLINE_S, journey.told.append, clock.now_s)


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
    with closing(journal_of(journey)) as journal, closing(GraphStore.open(journey.folder.graph)) as graph:
        mender = mender_of(journey, journal, graph, DirectArchive(service))
        assert mender.mend() == 0, "none was asked for"
        journal.reopen(graph)
        assert mender.mend() == 2
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
    with closing(journal_of(journey)) as journal, closing(GraphStore.open(journey.folder.graph)) as graph:
        journal.reopen(graph, "F314")
        assert mender_of(journey, journal, graph, Unchangeable(service)).mend() == 0
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


class LosesTheAnswer(DirectArchive):
    """Puts a file in place of another; the process is gone before it hears so. Counts what changes versions."""

    replaced = 0

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        rows = sqlite3.connect(self.journal).execute("SELECT sha256, sent_at FROM mending").fetchall()
        assert [len(row[0]) for row in rows if row[1] is not None] == [64], "the intent comes first"
        super().transaction(actions)
        self.replaced += 1
        raise Killed()

    def upload(self, content: Upload) -> Uploaded:
        rows = sqlite3.connect(self.journal).execute("SELECT sent_at FROM mending").fetchall()
        assert rows == [(None,)], "the intent comes first"
        return super().upload(content)

    journal: Path


def test_a_file_that_was_put_in_place_without_an_answer_is_not_sent_again(journey: Journey, opened: Opened) -> None:
    service = opened(journey)
    journey.once(service, archive=FlipsABit(service))
    journey.once(service)
    archive = LosesTheAnswer(service)
    archive.journal = journey.folder.journal
    with closing(journal_of(journey)) as journal, closing(GraphStore.open(journey.folder.graph)) as graph:
        journal.settle(CHECKSUM, "2#d1v1", "accepted", 0.0, "kari")
        journal.reopen(graph)
        with pytest.raises(Killed):
            mender_of(journey, journal, graph, archive).mend()
        sent_at = journey.time.now
        assert mender_of(journey, journal, graph, Unchangeable(service)).mend() == 1, "it is found, not sent"
        assert journal.findings() == [] and journal.rows("SELECT * FROM mending", ()) == []
        rows = journal.rows("SELECT sha256 FROM entity WHERE n = ?", (graph.number_of("1#d1v1"),))
    assert rows == [(hashlib.sha256(CONTENTS["1"]).hexdigest(),)]
    assert archive.replaced == 1
    assert journey.time.now >= sent_at + DEADLINE_S, "until then the archive may still commit"


def test_what_was_asked_for_is_met_once_each_however_much_it_is(
    journey: Journey, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = opened(journey)
    journey.once(service, archive=FlipsABit(service))
    journey.once(service)
    for module in (mending, lost_objects):
        monkeypatch.setattr(module, "_AT_ONCE", 1)
    with closing(journal_of(journey)) as journal, closing(GraphStore.open(journey.folder.graph)) as graph:
        lost = [ArchiveFinding("V204", key, graph.number_of(key), {}) for key in CONTENTS]
        journal.keep_findings([*lost, ArchiveFinding("V206", "3", graph.number_of("3"), {})])
        journal.reopen(graph)
        reopen_lost(journal, graph, DirectArchive(service), lambda: 0.0)
        assert mender_of(journey, journal, graph, DirectArchive(service)).mend() == 2 + len(lost), "they stand"
        assert [(one.kind, one.data["why"]) for one in journal.findings()] == [("V206", "moved")]
