"""A plan with copies is loaded with each copy beside its document, once, and verified from outside."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import noarkit
from noarkit.errors import UsageFault
from noarkit.model.conversions import parse_details
from noarkit.safe.signing import new_key_pair
from tests.copies.planning.made import BORN, LETTER, MADE_AT, MINUTES, NOTE, SHEET, lay, sha256

pytestmark = pytest.mark.usefixtures("one_archive")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    yield tmp_path


def versions(archive: noarkit.Archive) -> dict[str, list[dict[str, object]]]:
    """The versions of each document, by the checksum of the first, in the order of the archive."""
    found: dict[str, list[dict[str, object]]] = {}
    for one in archive.find("Dokumentversjon"):
        found.setdefault(one.links["refDokument"], []).append({**one.fields, "id": one.id})
    return {str(some[0]["sjekksum"]): some for some in found.values()}


def test_copies_stand_beside_their_documents_and_verify_proves_both(place: Path) -> None:
    folder, copies = lay(place)
    planned = noarkit.plan(folder, "run", copies="copies")
    assert planned.entities["Dokumentversjon"] == 7
    result = noarkit.ingest("run", workers=0)
    assert result.state == "done"
    verified = noarkit.verify("run", depth="bytes")
    assert verified.good, verified.to_dict()
    with noarkit.Archive() as archive:
        found = versions(archive)
        assert {one["sjekksum"] for some in found.values() for one in some} == {
            *(sha256(one) for one in (LETTER, MINUTES, BORN, SHEET, NOTE)),
            *(sha256(copies.made[sha256(one)]) for one in (LETTER, MINUTES)),
        }
        original, copy = found[sha256(LETTER)]
        assert (original["variantformat"], copy["variantformat"]) == ("P", "A")
        assert original["versjonsnummer"] == copy["versjonsnummer"] == 1
        assert copy["format"] == "pdf"
        told = parse_details(str(copy["formatDetaljer"]))
        assert told is not None
        assert (told.source_format, told.result_format, told.made_at) == ("fmt/40", "fmt/477", MADE_AT)
        assert (told.source_sha256, told.result_sha256) == (sha256(LETTER), copy["sjekksum"])
        assert told.findings == ("fields count=2",)
        (born,) = found[sha256(BORN)]
        assert born["variantformat"] == "A"
        names = {
            one.links["refDokumentversjon"]: one.fields["eksternID"]
            for one in archive.find("EksternId")
            if one.fields["eksterntSystem"] == "noarkit:derived-from"
        }
        assert names[str(copy["id"])] == f"sha256:{sha256(LETTER)}"
        assert len(names) == 2


def test_the_plan_tells_what_has_a_copy(place: Path) -> None:
    folder, _ = lay(place)
    noarkit.plan(folder, "run", copies="copies")
    facts = json.loads((place / "run" / "plan-report.json").read_text("utf-8"))
    assert facts["copies"] == {"made": 2, "kept": 1, "held": 1, "without": 1}
    noted = {one["code"]: one["count"] for one in facts["warnings"]}
    assert (noted["W228"], noted["W229"]) == (1, 1)


def test_a_second_run_loads_nothing_twice(place: Path) -> None:
    folder, _ = lay(place)
    noarkit.plan(folder, "run", copies="copies")
    noarkit.ingest("run", workers=0)
    noarkit.plan(folder, "again", copies="copies")
    second = noarkit.ingest("again", workers=0)
    assert second.numbers.new_versions == 0
    with noarkit.Archive() as archive:
        assert archive.count("Dokumentversjon") == 7


def test_copies_made_later_are_added_to_what_is_loaded(place: Path) -> None:
    folder, copies = lay(place)
    (folder / "sak" / "plan.png").unlink()  # one that is archival was loaded as what the recipe called it
    noarkit.plan(folder, "run")
    noarkit.ingest("run", workers=0)
    noarkit.plan(folder, "again", copies="copies")
    second = noarkit.ingest("again", workers=0)
    assert second.numbers.new_versions == 2
    assert noarkit.verify("again", depth="bytes").good
    with noarkit.Archive() as archive:
        original, copy = versions(archive)[sha256(LETTER)]
        assert original["versjonsnummer"] == copy["versjonsnummer"] == 1
        assert copy["sjekksum"] == sha256(copies.made[sha256(LETTER)])
        assert sum(one.fields["eksterntSystem"] == "noarkit:derived-from" for one in archive.find("EksternId")) == 2


def test_copies_of_unchanged_documents_are_planned_whatever_an_earlier_run_archived(place: Path) -> None:
    folder, _ = lay(place)
    noarkit.plan(folder, "run")
    noarkit.ingest("run", workers=0)
    planned = noarkit.plan(folder, "again", copies="copies", since="run")
    assert (planned.records.get("already_there", 0), planned.entities["Dokumentversjon"]) == (0, 7)
    noarkit.ingest("again", workers=0)
    third = noarkit.plan(folder, "third", since="again")
    assert third.records.get("already_there", 0) == 5


def test_a_copy_that_was_changed_is_never_loaded(place: Path) -> None:
    folder, copies = lay(place)
    noarkit.plan(folder, "run", copies="copies")
    sum_ = sha256(copies.made[sha256(LETTER)])
    (place / "copies" / "objects" / sum_[:2] / sum_).write_bytes(b"%PDF-1.4 something else")
    result = noarkit.ingest("run", workers=0)
    assert result.numbers.set_aside == 1
    with noarkit.Archive() as archive:
        assert sha256(LETTER) not in versions(archive)


def test_a_copy_of_other_bytes_is_no_copy(place: Path) -> None:
    folder, _ = lay(place)
    (folder / "sak" / "brev.doc").write_bytes(LETTER + b"!")
    noarkit.plan(folder, "run", copies="copies")
    with closing(sqlite3.connect(place / "run" / "graph.db")) as db, db:
        (count,) = db.execute("SELECT count(*) FROM content WHERE locator LIKE 'copies:%'").fetchone()
    assert count == 1


def test_a_folder_without_copies_is_refused(place: Path) -> None:
    folder, _ = lay(place)
    with pytest.raises(UsageFault):
        noarkit.plan(folder, "run", copies=folder)


def test_copies_go_over_an_air_gap_with_their_documents(place: Path) -> None:
    folder, copies = lay(place)
    noarkit.plan(folder, "run", copies="copies")
    private, public = new_key_pair()
    (place / "own.key").write_bytes(private)
    (place / "own.key").chmod(0o600)
    (place / "own.key.pub").write_bytes(public)
    packed = noarkit.pack("run", "bundle.zip", seal_key=place / "own.key")
    assert packed.documents == 7
    (place / "copies").rename(place / "left behind")
    (place / "saker").rename(place / "left behind too")
    noarkit.receive("bundle.zip", "there", trust_key=place / "own.key.pub")
    assert noarkit.ingest("there", workers=0).numbers.archived == 5
    assert noarkit.verify("there", depth="bytes").good
    with noarkit.Archive() as archive:
        held = {str(one.fields["sjekksum"]) for one in archive.find("Dokumentversjon")}
    assert {sha256(copies.made[sha256(one)]) for one in (LETTER, MINUTES)} <= held
