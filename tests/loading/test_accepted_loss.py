"""A plan that would lose a grade or the proof of a disposal stops, until a person accepts that."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import orjson
import pytest

from noarkit.api import planning
from noarkit.errors import LossNotAccepted, UsageFault
from noarkit.graph.store import GraphStore
from noarkit.loading.folder import RunFolder
from noarkit.words.texts import render
from tests.sources.package.made import folder, fonds, package, series, uuid

GRADE = "<gradering><grad>Strengt hemmelig (sikkerhetsgrad)</grad><gradertAv>Kari</gradertAv></gradering>"
PLACE = "<oppbevaringssted>Kjeller</oppbevaringssted>"


def graded(place: Path, *more: str) -> Path:
    package(place, fonds(series(folder(10, before=PLACE + "".join(more)))))
    return place


def test_a_graded_record_stops_the_plan_and_nothing_is_planned(tmp_path: Path) -> None:
    with pytest.raises(LossNotAccepted) as caught:
        planning.plan(graded(tmp_path / "p", GRADE), tmp_path / "run")
    assert caught.value.exit_code == 4
    said = "\n".join(render(caught.value, "en"))
    assert "gradering (2)" in said
    assert "--accept-loss gradering" in said
    assert not RunFolder(tmp_path / "run").path.joinpath("plan.json").exists()


DISPOSED = (
    "<utfoertKassasjon><kassertDato>2019-01-02T03:04:05</kassertDato><kassertAv>Kari</kassertAv></utfoertKassasjon>"
)


def test_proof_of_a_disposal_stops_the_plan_until_that_loss_is_accepted(tmp_path: Path) -> None:
    source = tmp_path / "p"
    package(source, fonds(series(DISPOSED, folder(10))))
    with pytest.raises(LossNotAccepted) as caught:
        planning.plan(source, tmp_path / "run")
    assert "--accept-loss utfoertKassasjon" in "\n".join(render(caught.value, "en"))
    assert planning.plan(source, tmp_path / "run", accept_loss=["utfoertKassasjon"]).records["mapped"] == 1


def test_who_accepts_a_loss_stands_in_the_frozen_plan_and_on_its_page(tmp_path: Path) -> None:
    planned = planning.plan(graded(tmp_path / "p", GRADE), tmp_path / "run", accept_loss=["gradering"])
    graph = GraphStore.open(planned.folder.graph)
    accepted = orjson.loads(graph.meta("accepted_loss") or "{}")
    graph.close()
    assert accepted["fields"] == ["gradering"]
    assert accepted["by"]
    page = (tmp_path / "run" / "plan.html").read_text("utf-8")
    assert f"The loss of gradering was accepted by {accepted['by']}" in page


def test_accepting_one_loss_accepts_no_other(tmp_path: Path) -> None:
    with pytest.raises(LossNotAccepted):
        planning.plan(graded(tmp_path / "p", GRADE), tmp_path / "run", accept_loss=["utfoertKassasjon"])


def test_a_name_that_no_element_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageFault):
        planning.plan(graded(tmp_path / "p", GRADE), tmp_path / "run", accept_loss=["gradring"])


def test_what_has_no_place_is_listed_with_its_value_and_the_plan_never_says_that_everything_can_be_loaded(
    tmp_path: Path,
) -> None:
    planning.plan(graded(tmp_path / "p"), tmp_path / "run", carry=False)
    with (tmp_path / "run" / "not-in-archive.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    assert [(row["record"], row["object"], row["element"], row["value"]) for row in rows] == [
        (uuid(10), uuid(10), "mappe/oppbevaringssted", "Kjeller")
    ]
    with (tmp_path / "run" / "faults.csv").open(encoding="utf-8-sig", newline="") as file:
        reasons = {row["code"]: row["reason"] for row in csv.DictReader(file, delimiter=";")}
    assert reasons == {"W231": "1: mappe/oppbevaringssted", "W232": "mappe.avsluttetDato"}
    page = (tmp_path / "run" / "plan.html").read_text("utf-8")
    assert "Everything can be loaded" not in page
    assert "mappe/oppbevaringssted" in page
    assert "Kjeller" in page
    facts = json.loads((tmp_path / "run" / "plan-report.json").read_text("utf-8"))
    assert (facts["not_in_archive"]["values"], facts["not_in_archive"]["fields"]) == (1, 1)


def test_where_everything_has_a_place_the_page_says_so_and_no_list_lies_there(tmp_path: Path) -> None:
    package(tmp_path / "p", fonds(series(folder(10))))
    planning.plan(tmp_path / "p", tmp_path / "run")
    assert "Everything can be loaded" in (tmp_path / "run" / "plan.html").read_text("utf-8")
    assert not (tmp_path / "run" / "not-in-archive.csv").exists()


def test_what_stands_above_all_records_is_listed_too(tmp_path: Path) -> None:
    package(tmp_path / "p", fonds(series(PLACE, folder(10))))
    planning.plan(tmp_path / "p", tmp_path / "run", carry=False)
    facts = json.loads((tmp_path / "run" / "plan-report.json").read_text("utf-8"))
    assert [one["element"] for one in facts["not_in_archive"]["elements"]] == ["arkivdel/oppbevaringssted"]
    assert [(one["code"], one["count"]) for one in facts["warnings"]] == [("W231", 1), ("W232", 1)]


def test_what_is_kept_in_business_specific_metadata_is_told_apart_from_what_is_lost(tmp_path: Path) -> None:
    package(tmp_path / "p", fonds(series(PLACE, folder(10))))
    planning.plan(tmp_path / "p", tmp_path / "run")
    facts = json.loads((tmp_path / "run" / "plan-report.json").read_text("utf-8"))["not_in_archive"]
    assert (facts["values"], facts["carried"]["values"]) == (0, 1)
    page = (tmp_path / "run" / "plan.html").read_text("utf-8")
    assert "arkivdel/oppbevaringssted" in page
    assert "kept in its business-specific metadata" in page
