"""Verify asks the source and the archive, and names whatever does not agree."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.archive.values import Delete, Link, Save
from noarkit.cli.exit_codes import verify_exit_code
from noarkit.loading.close import close
from noarkit.loading.journal import NOT_CLOSED, ArchiveFinding
from noarkit.loading.plan import PlanSpec, make_plan
from noarkit.loading.stopping import StopRequest
from noarkit.loading.verification import Depth, Depths, VerifyResult, verify
from noarkit.server.service import Service
from tests.loading.conftest import Opened
from tests.loading.direct import DirectArchive
from tests.loading.journey import SYSTEM, Journey
from tests.loading.shelf import Mapper, Shelf

CONTENTS = {f"{n}": f"content {n}".encode() for n in range(5)}


class Verifying:
    """A loaded run, its source, and the archive to be spoiled."""

    def __init__(self, root: Path, opened: Opened, *, tells_sizes: bool = True) -> None:
        self.shelf = Shelf(dict(CONTENTS), tells_sizes=tells_sizes)
        self.journey = Journey(root, {})
        make_plan(PlanSpec(self.shelf, Mapper(), "r", SYSTEM), self.journey.folder, lambda event: None, lambda: 1.0)
        self.service: Service = opened(self.journey)
        assert self.journey.once(self.service, source=self.shelf.open).numbers.archived == 5
        self.archive = DirectArchive(self.service)
        folder = self.journey.folder
        close(
            folder,
            self.archive,
            stop_request=StopRequest(),
            emit=lambda event: None,
            now_s=lambda: self.journey.time.now,
        )
        journal = folder.open_journal()
        journal.remember(closed="yes")
        journal.close()

    def result(self, depth: Depth = "bytes", sample: float = 1.0) -> VerifyResult:
        return verify(self.journey.folder, self.shelf, self.archive, Depths(depth, sample), lambda event: None)

    def found(self, depth: Depth = "bytes") -> Counter[str]:
        return Counter(finding.code for finding in self.result(depth).findings)


@pytest.fixture
def here(root: Path, opened: Opened) -> Verifying:
    return Verifying(root, opened)


@pytest.mark.parametrize("depth", ["counts", "ids", "fields", "bytes"])
def test_a_good_run_is_found_good_at_every_depth(depth: Depth, here: Verifying) -> None:
    result = here.result(depth)
    assert (result.good, result.findings) == (True, [])
    assert result.compared_counts["source records"] == (5, 5)
    assert result.compared_counts["keys"] == (6, 6)
    assert ("Dokumentversjon" in result.compared_counts) == (depth != "counts")
    assert ("fields" in result.compared_counts) == (depth in ("fields", "bytes"))
    assert result.verdict == ("verified" if depth == "bytes" else "in_part")
    assert verify_exit_code(result) == 0
    if depth == "bytes":
        assert (result.compared_counts["files"], result.bytes_compared) == ((5, 5), sum(map(len, CONTENTS.values())))


def test_bytes_are_counted_as_they_are_fetched_where_the_source_tells_no_sizes(root: Path, opened: Opened) -> None:
    here = Verifying(root, opened, tells_sizes=False)
    with closing(here.journey.folder.open_graph()) as graph:
        assert graph.db.execute("SELECT count(*), count(size) FROM content").fetchone() == (5, 0)
    result = here.result()
    assert (result.compared_counts["files"], result.bytes_compared) == ((5, 5), sum(map(len, CONTENTS.values())))
    assert result.verdict == "verified"


def test_a_record_that_is_gone_from_the_archive_is_found(here: Verifying) -> None:
    victim = here.journey.all(here.service, "Basisregistrering")[2]
    here.archive.transaction((Delete("Basisregistrering", victim.id),))
    result = here.result()
    assert not result.good
    assert Counter(finding.code for finding in result.findings)["V201"] == 1
    assert {finding.key for finding in result.findings if finding.code == "V201"} == {"2"}
    assert here.found("counts")["V201"] == 1


def test_a_key_that_is_there_twice_or_on_another_object_is_found(here: Verifying) -> None:
    second = here.journey.all(here.service, "Basisregistrering")[1]
    twice = {"eksterntSystem": SYSTEM, "eksternID": "0"}
    here.archive.transaction((Save("EksternId", "x", twice), Link("EksternId", "x", "refRegistrering", (second.id,))))
    assert here.found("ids") == Counter({"V202": 1, "V203": 1})


def test_a_version_that_is_gone_is_found_by_its_document(here: Verifying) -> None:
    victim = here.journey.all(here.service, "Dokumentversjon")[3]
    here.archive.transaction((Delete("Dokumentversjon", victim.id),))
    found = {(finding.code, finding.key) for finding in here.result("ids").findings}
    assert found == {("V204", "3#d1v1")}
    assert here.found()["V301"] == 1


def test_bytes_that_changed_in_the_archives_store_are_found(here: Verifying) -> None:
    stored = here.journey.all(here.service, "Dokumentversjon")[1].fields["sjekksum"]
    here.service.files.store.path(str(stored)).write_bytes(b"kontent 1")
    assert [(one.code, one.key) for one in here.result().findings] == [("V302", "1#d1v1")]
    assert here.result("ids").good


def test_bytes_that_were_read_wrongly_at_loading_are_found(here: Verifying) -> None:
    here.shelf.contents["4"] = b"kontent 4"
    assert [(one.code, one.key) for one in here.result().findings] == [("V303", "4#d1v1")]


def test_a_source_that_lost_items_is_verified_in_part_and_is_no_difference(here: Verifying) -> None:
    here.shelf.contents["new"] = b"new"
    del here.shelf.contents["0"]
    result = here.result()
    assert (result.differences, result.source_new, result.source_gone, result.source_changed) == (0, 1, 1, 1)
    assert (result.verdict, verify_exit_code(result)) == ("in_part", 3)
    assert result.missing == {"source_gone": 1}
    assert [(one.code, one.key) for one in result.notices] == [("V101", "0"), ("V103", "0#d1v1")]


def test_a_sample_is_the_same_every_time_and_smaller_than_the_whole(root: Path, opened: Opened) -> None:
    here = Verifying(root, opened)
    sizes = [here.result(sample=0.5).compared_counts["files"] for _ in range(2)]
    assert sizes[0] == sizes[1]
    assert 0 < sizes[0][0] < 5
    assert here.result(sample=0.0).compared_counts["files"] == (0, 0)


def test_a_run_that_could_not_close_everything_is_verified_in_part(here: Verifying) -> None:
    victim = here.journey.all(here.service, "Basisregistrering")[1]
    here.archive.transaction((Save("Basisregistrering", victim.id, {"avsluttetDato": None}),))
    with closing(here.journey.folder.open_journal()) as journal:
        journal.keep_findings([ArchiveFinding(NOT_CLOSED, f"Basisregistrering {victim.id}", None, {"code": "F310"})])
        journal.remember(closed="no")
    result = here.result()
    assert (result.verdict, result.findings) == ("in_part", [])
    assert result.missing == {"not_finalised": 1}
