"""What a certificate once called verified and was not: each is found, and named by its code."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.archive.values import Delete, Link, Save, SavedObject, Unlink, bytes_to_upload
from noarkit.cli.exit_codes import verify_exit_code
from noarkit.loading.journal import CHECKSUM, NOT_CLOSED, ArchiveFinding
from noarkit.loading.plan import PlanSpec, make_plan
from noarkit.loading.verification import Depth, Depths, VerifyResult, verify
from tests.loading.conftest import Opened
from tests.loading.journey import SYSTEM
from tests.loading.shelf import Mapper
from tests.loading.test_verify import Verifying

Harm = Callable[[Verifying], None]


@pytest.fixture
def here(root: Path, opened: Opened) -> Verifying:
    return Verifying(root, opened)


def again(here: Verifying, opened: Opened) -> Verifying:
    """The same source loaded a second time: all of it is already there."""
    journey = here.journey.another("second")
    make_plan(PlanSpec(here.shelf, Mapper(), "r", SYSTEM), journey.folder, lambda event: None, lambda: 1.0)
    assert journey.once(here.service, source=here.shelf.open).numbers.already_there == 5
    here.journey = journey
    return here


def found(here: Verifying, kind: str, place: int = 0) -> SavedObject:
    return here.journey.all(here.service, kind)[place]


def record(here: Verifying, place: int) -> SavedObject:
    return found(here, "Basisregistrering", place)


def sql(here: Verifying, statement: str, *values: object) -> None:
    """A change below the archive, which no log knows of."""
    with here.service.db.transaction() as db:
        db.execute(statement, values)


# records, folders, documents and versions


def title(here: Verifying) -> None:
    here.archive.transaction((Save("Basisregistrering", record(here, 1).id, {"tittel": "another"}),))


def folder_title(here: Verifying) -> None:
    here.archive.transaction((Save("Mappe", found(here, "Mappe").id, {"tittel": "another"}),))


def document_title(here: Verifying) -> None:
    here.archive.transaction((Save("Dokument", found(here, "Dokument", 2).id, {"tittel": "another"}),))


def emptied(here: Verifying) -> None:
    sql(here, "UPDATE o_dokument SET tittel = '' WHERE id = ?", int(found(here, "Dokument", 2).id))


def described(here: Verifying) -> None:
    here.archive.transaction((Save("Basisregistrering", record(here, 1).id, {"beskrivelse": "more"}),))


def published(here: Verifying) -> None:
    fields = {"publiseringsstatus": "PUBLISHED_METADATA"}
    here.archive.transaction((Save("Basisregistrering", record(here, 1).id, fields),))


def screened(here: Verifying) -> None:
    sql(here, "UPDATE o_abstraktregistrering SET skjerming = 'UO' WHERE id = ?", int(record(here, 1).id))


def screened_folder(here: Verifying) -> None:
    sql(here, "UPDATE o_abstraktmappe SET skjerming = 'UO' WHERE id = ?", int(found(here, "Mappe").id))


def reopened(here: Verifying) -> None:
    here.archive.transaction((Save("Dokument", found(here, "Dokument", 1).id, {"dokumentstatus": "B"}),))


def reopened_record(here: Verifying) -> None:
    here.archive.transaction((Save("Basisregistrering", record(here, 1).id, {"avsluttetDato": None}),))


def uuid_of_another(here: Verifying) -> None:
    sql(
        here,
        "UPDATE o_abstraktregistrering SET uuid = '11111111-1111-4111-8111-111111111111' WHERE id = ?",
        int(record(here, 1).id),
    )


def moved(here: Verifying) -> None:
    folder, series = found(here, "Mappe"), found(here, "Arkivdel")
    one = record(here, 1)
    here.archive.transaction(
        (
            Save("Mappe", "other", {"tittel": "other"}),
            Link("Mappe", "other", "refArkivdel", (series.id,)),
            Save("EksternId", "key", {"eksterntSystem": "other", "eksternID": "x"}),
            Link("EksternId", "key", "refMappe", ("other",)),
            Unlink("Basisregistrering", one.id, "refMappe", (folder.id,)),
            Link("Basisregistrering", one.id, "refMappe", ("other",)),
        )
    )


def documents_swapped_by_link(here: Verifying) -> None:
    one, two = found(here, "Dokument", 0), found(here, "Dokument", 1)
    first, second = one.links["refRegistrering"], two.links["refRegistrering"]
    here.archive.transaction(
        (
            Unlink("Dokument", one.id, "refRegistrering", (first,)),
            Link("Dokument", one.id, "refRegistrering", (second,)),
            Unlink("Dokument", two.id, "refRegistrering", (second,)),
            Link("Dokument", two.id, "refRegistrering", (first,)),
        )
    )


def versions_swapped_by_link(here: Verifying) -> None:
    one, two = found(here, "Dokumentversjon", 0), found(here, "Dokumentversjon", 1)
    first, second = one.links["refDokument"], two.links["refDokument"]
    here.archive.transaction(
        (
            Unlink("Dokumentversjon", one.id, "refDokument", (first,)),
            Link("Dokumentversjon", one.id, "refDokument", (second,)),
            Unlink("Dokumentversjon", two.id, "refDokument", (second,)),
            Link("Dokumentversjon", two.id, "refDokument", (first,)),
        )
    )


def files_swapped(here: Verifying) -> None:
    """Two versions name each other's file, checksum and all."""
    one, two = found(here, "Dokumentversjon", 0), found(here, "Dokumentversjon", 1)
    names = ("referanseDokumentfil", "sjekksum", "filstoerrelse")
    for version, other in ((one, two), (two, one)):
        values = [other.fields[name] for name in names]
        values[0] = int(str(values[0]))
        changes = ", ".join(f"{name} = ?" for name in names)
        sql(here, f"UPDATE o_dokumentversjon SET {changes} WHERE id = ?", *values, int(version.id))  # our own words


def checksum_forged(here: Verifying) -> None:
    version = found(here, "Dokumentversjon", 1)
    sql(here, "UPDATE o_dokumentversjon SET sjekksum = ? WHERE id = ?", "0" * 64, int(version.id))


def size_forged(here: Verifying) -> None:
    version = found(here, "Dokumentversjon", 1)
    sql(here, "UPDATE o_dokumentversjon SET filstoerrelse = 7 WHERE id = ?", int(version.id))


def document_gone(here: Verifying) -> None:
    here.archive.transaction((Delete("Dokument", found(here, "Dokument", 1).id),))


def extra_record(here: Verifying) -> None:
    here.archive.transaction(
        (
            Save("Basisregistrering", "extra", {"tittel": "extra"}),
            Link("Basisregistrering", "extra", "refMappe", (found(here, "Mappe").id,)),
        )
    )


def extra_folder(here: Verifying) -> None:
    here.archive.transaction(
        (
            Save("Mappe", "extra", {"tittel": "extra"}),
            Link("Mappe", "extra", "refArkivdel", (found(here, "Arkivdel").id,)),
        )
    )


def extra_document(here: Verifying) -> None:
    here.archive.transaction(
        (
            Save("Dokument", "extra", {"tittel": "extra", "tilknyttetRegistreringSom": "V"}),
            Link("Dokument", "extra", "refRegistrering", (record(here, 1).id,)),
        )
    )


def extra_version(here: Verifying) -> None:
    file = here.archive.upload(bytes_to_upload(b"extra", "extra.txt")).id
    fields = {"variantformat": "P", "format": "txt", "referanseDokumentfil": file}
    here.archive.transaction(
        (
            Save("Dokumentversjon", "extra", fields),
            Link("Dokumentversjon", "extra", "refDokument", (found(here, "Dokument", 1).id,)),
        )
    )


def extra_note(here: Verifying) -> None:
    here.archive.transaction(
        (
            Save("Noekkelord", "extra", {"verdi": "extra"}),
            Link("Noekkelord", "extra", "refRegistrering", (record(here, 1).id,)),
        )
    )


def extra_key(here: Verifying) -> None:
    here.archive.transaction(
        (
            Save("EksternId", "extra", {"eksterntSystem": SYSTEM, "eksternID": "nobody's"}),
            Link("EksternId", "extra", "refRegistrering", (record(here, 1).id,)),
        )
    )


IN_THE_ARCHIVE: dict[Harm, str] = {
    title: "V210",
    folder_title: "V210",
    document_title: "V210",
    emptied: "V211",
    described: "V212",
    published: "V212",
    screened: "V213",
    screened_folder: "V213",
    reopened: "V214",
    reopened_record: "V214",
    uuid_of_another: "V210",
    moved: "V206",
    documents_swapped_by_link: "V206",
    versions_swapped_by_link: "V206",
    files_swapped: "V231",
    checksum_forged: "V232",
    size_forged: "V233",
    document_gone: "V204",
    extra_record: "V220",
    extra_folder: "V220",
    extra_document: "V220",
    extra_version: "V221",
    extra_note: "V220",
    extra_key: "V220",
}


@pytest.mark.parametrize(("harm", "code"), IN_THE_ARCHIVE.items(), ids=lambda one: getattr(one, "__name__", str(one)))
def test_what_was_changed_in_the_archive_is_found_without_fetching_a_file(
    harm: Harm, code: str, here: Verifying
) -> None:
    harm(here)
    result = here.result("fields")
    assert code in {finding.code for finding in result.findings}, result.findings
    assert (result.verdict, verify_exit_code(result)) == ("not_verified", 7)
    assert sum(row.differ for row in result.rows.values()) >= result.differences > 0


def byte_flipped(here: Verifying) -> None:
    stored = here.service.files.store.path(str(found(here, "Dokumentversjon", 1).fields["sjekksum"]))
    stored.write_bytes(b"C" + stored.read_bytes()[1:])


def stored_file_longer(here: Verifying) -> None:
    stored = here.service.files.store.path(str(found(here, "Dokumentversjon", 1).fields["sjekksum"]))
    stored.write_bytes(stored.read_bytes() + b"!")


def file_of_another(here: Verifying) -> None:
    """One version names the file of another and keeps its own checksum."""
    file = int(str(found(here, "Dokumentversjon", 0).fields["referanseDokumentfil"]))
    version = int(found(here, "Dokumentversjon", 1).id)
    sql(here, "UPDATE o_dokumentversjon SET referanseDokumentfil = ? WHERE id = ?", file, version)


OF_BYTES: dict[Harm, str] = {byte_flipped: "V302", stored_file_longer: "V304", file_of_another: "V302"}


@pytest.mark.parametrize(("harm", "code"), OF_BYTES.items(), ids=lambda one: getattr(one, "__name__", str(one)))
@pytest.mark.parametrize("second", [False, True], ids=["made", "already-there"])
def test_bytes_that_are_not_the_source_s_are_found_whoever_loaded_them(
    second: bool, harm: Harm, code: str, here: Verifying, opened: Opened
) -> None:
    if second:
        again(here, opened)
    harm(here)
    assert code in here.found()
    assert verify_exit_code(here.result()) == 7


def test_what_was_there_already_is_held_against_this_source(here: Verifying, opened: Opened) -> None:
    again(here, opened)
    result = here.result()
    assert (result.differences, result.compared_counts["files"], result.compared_counts["Dokument"]) == (
        0,
        (5, 5),
        (5, 5),
    )
    assert result.verdict == "verified"
    document_gone(here)
    title(here)
    assert {"V204", "V210"} <= here.found().keys()


# runs, journals and sources


def never(here: Verifying) -> VerifyResult:
    journey = here.journey.another("never")
    make_plan(PlanSpec(here.shelf, Mapper(), "r", SYSTEM), journey.folder, lambda event: None, lambda: 1.0)
    return verify(journey.folder, here.shelf, here.archive, Depths("bytes"), lambda event: None)


def test_a_plan_that_was_never_ingested_is_not_verified(here: Verifying) -> None:
    result = never(here)
    assert (result.verdict, verify_exit_code(result), result.good) == ("not_verified", 7, False)
    assert result.row("source records").not_compared == Counter(open=5)


def journal(here: Verifying, *statements: str) -> None:
    db = sqlite3.connect(here.journey.folder.journal, isolation_level=None)
    for statement in statements:
        db.execute(statement)
    db.close()


def test_an_interrupted_run_is_verified_in_part_at_best(here: Verifying) -> None:
    """Two records of five without an outcome, as a run that was stopped leaves them."""
    keys = "SELECT n FROM plan.entity WHERE key LIKE '3%' OR key LIKE '4%'"
    for place in (4, 3):
        here.archive.transaction((Delete("Basisregistrering", record(here, place).id),))
    journal(here, f"ATTACH '{here.journey.folder.graph}' AS plan", f"DELETE FROM entity WHERE n IN ({keys})")
    result = here.result()
    assert (result.verdict, verify_exit_code(result), result.differences) == ("in_part", 3, 0)
    assert result.missing == {"open": result.row("fields").not_compared["open"]}
    assert result.row("source records").not_compared == Counter(open=2)
    assert result.compared_counts["files"] == (3, 3)


def test_a_journal_without_rows_of_files_lets_no_file_pass_unseen(here: Verifying) -> None:
    journal(here, "UPDATE entity SET file = NULL, sha256 = NULL, bytes = NULL")
    assert here.result().compared_counts["files"] == (5, 5)
    byte_flipped(here)
    assert here.found() == Counter(V302=1)


def test_a_journal_without_rows_of_versions_does_not_hide_them(here: Verifying) -> None:
    kinds = "SELECT n FROM plan.entity WHERE type = 'Dokumentversjon'"
    journal(here, f"ATTACH '{here.journey.folder.graph}' AS plan", f"DELETE FROM entity WHERE n IN ({kinds})")
    result = here.result()
    assert (result.compared_counts["Dokumentversjon"], result.compared_counts["files"]) == ((5, 5), (5, 5))


def test_sources_that_are_gone_are_counted_and_never_verified(here: Verifying) -> None:
    for key in ("1", "2", "3"):
        del here.shelf.contents[key]
    result = here.result()
    assert (result.verdict, verify_exit_code(result)) == ("in_part", 3)
    for name in ("source records", "files"):
        row = result.row(name)
        assert (row.all, row.agree, dict(row.not_compared)) == (5, 2, {"source_gone": 3})
    here.shelf.contents.clear()
    gone = here.result()
    assert (gone.verdict, gone.source, gone.missing) == ("in_part", "gone", {"source_gone": 5})


def test_refused_records_that_are_in_the_archive_are_found(here: Verifying) -> None:
    bundle = "SELECT bundle FROM plan.entity WHERE key IN ('2', '3')"
    journal(
        here,
        f"ATTACH '{here.journey.folder.graph}' AS plan",
        "INSERT INTO left_out SELECT DISTINCT bundle, 'refused', 'F310', '{}' FROM plan.entity WHERE key IN ('2', '3')",
        f"DELETE FROM entity WHERE n IN (SELECT n FROM plan.entity WHERE bundle IN ({bundle}))",
    )
    result = here.result("counts")
    assert {(one.code, one.key) for one in result.findings} == {("V208", "2"), ("V208", "3")}


def test_a_sample_or_a_lower_depth_is_verified_in_part_and_says_so(here: Verifying) -> None:
    half = here.result("bytes", sample=0.5)
    assert (half.verdict, verify_exit_code(half), half.missing) == ("in_part", 0, {})
    assert half.left_by_choice == {"sample": half.row("files").not_compared["sample"]}
    assert half.row("files").all == 5
    fields = here.result("fields")
    assert (fields.verdict, verify_exit_code(fields), fields.left_by_choice) == ("in_part", 0, {"depth": 5})


@pytest.mark.parametrize("depth", ["counts", "ids", "fields", "bytes"])
def test_every_row_counts_all_there_is(depth: Depth, here: Verifying) -> None:
    result = here.result(depth)
    with closing(sqlite3.connect(here.journey.folder.graph)) as db, db:
        types = dict(db.execute("SELECT type, count(*) FROM entity GROUP BY type"))
        fields = db.execute("SELECT sum((SELECT count(*) FROM json_each(fields))) FROM entity").fetchone()[0]
    db.close()
    assert {name: result.row(name).all for name in types} == types
    assert result.row("files").all == 5
    assert result.row("keys").all == 6
    assert result.row("fields").all >= fields
    for row in result.rows.values():
        assert row.compared_count + row.not_compared.total() == row.all >= row.comparable >= row.compared_count


# what the run found wrong, and what somebody accepted of it


def finding(here: Verifying, kind: str, key: str, data: Mapping[str, str], state: str) -> None:
    """Has the run find something wrong, in a state of it."""
    folder = here.journey.folder
    with closing(folder.open_graph()) as graph, closing(folder.open_journal()) as kept:
        row = graph.db.execute("SELECT n FROM entity WHERE key = ?", (key,)).fetchone()
        kept.keep_findings([ArchiveFinding(kind, key, row and int(row[0]), dict(data))])
        if state != "open":
            kept.settle(kind, key, state, 5.0, "kari")


def damaged_bytes(here: Verifying) -> str:
    byte_flipped(here)
    stored = here.service.files.store.path(str(found(here, "Dokumentversjon", 1).fields["sjekksum"]))
    return hashlib.sha256(stored.read_bytes()).hexdigest()


def test_bytes_that_were_accepted_by_name_are_listed_as_that_and_nothing_else_is_accepted_with_them(
    here: Verifying,
) -> None:
    theirs = damaged_bytes(here)
    assert here.found() == Counter(V302=1)
    finding(here, CHECKSUM, "1#d1v1", {"theirs": theirs}, "accepted")
    result = here.result()
    assert (result.verdict, verify_exit_code(result), result.differences) == ("in_part", 3, 0)
    assert (result.missing, result.compared_counts["files"]) == ({"accepted": 1}, (4, 4))
    assert [(one.code, one.key) for one in result.notices] == [("V503", "1#d1v1")]
    stored = here.service.files.store.path(str(found(here, "Dokumentversjon", 1).fields["sjekksum"]))
    stored.write_bytes(b"D" + stored.read_bytes()[1:])
    assert here.found() == Counter(V302=1), "other bytes than those that were accepted"


def test_a_checksum_that_was_accepted_by_name_is_listed_as_that(here: Verifying) -> None:
    sql(here, "UPDATE o_dokumentversjon SET sjekksum = ? WHERE id = ?", "b" * 64, found(here, "Dokumentversjon", 1).id)
    assert here.found("fields") == Counter(V232=1)
    finding(here, CHECKSUM, "1#d1v1", {"theirs": "b" * 64}, "accepted")
    result = here.result("fields")
    assert (result.missing, result.differences, verify_exit_code(result)) == ({"accepted": 1}, 0, 3)


@pytest.mark.parametrize(("state", "reason"), [("open", "not_finalised"), ("accepted", "accepted")])
def test_what_the_run_could_not_close_is_no_difference_and_stays_named(
    state: str, reason: str, here: Verifying
) -> None:
    reopened(here)
    assert here.found("fields")["V214"]
    finding(here, NOT_CLOSED, f"Dokument {found(here, 'Dokument', 1).id}", {"code": "F310"}, state)
    result = here.result("fields")
    assert (result.missing, result.differences, verify_exit_code(result)) == ({reason: 1}, 0, 3)
