"""What an archivist reads of a service's records: titles, types, times, and a page beside each snapshot."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import noarkit
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import standing

NAMES = re.compile(r"\.(json|eml|pdf|png|xml|txt|sarif)$|[0-9a-f]{8}-[0-9a-f]{4}-")
SERVICES = ("spend", "features", "appsec")


@pytest.fixture(scope="module", params=SERVICES)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A plan by the default recipe."""
    folder = tmp_path_factory.mktemp(request.param)
    with standing(request.param, folder, StandinSpec(20, limits=((1_000_000, 60.0),))) as held:
        noarkit.plan(f"{request.param}:standin", folder / "run", settings=held.site())
    return request.param, folder / "run"


def entities(run: Path, kind: str) -> list[dict[str, object]]:
    """The fields of what is planned of a type."""
    with closing(sqlite3.connect(run / "graph.db")) as graph, graph:
        rows = graph.execute("SELECT fields FROM entity WHERE type = ?", (kind,))
        return [json.loads(told) for (told,) in rows]


def test_documents_are_called_by_what_they_are(run: tuple[str, Path]) -> None:
    documents = entities(run[1], "Dokument")
    assert len(documents) > 20
    for one in documents:
        assert not NAMES.search(str(one["tittel"])), one["tittel"]
        assert one["dokumenttype"] in ("A", "F", "N", "B")


def test_documents_are_of_their_own_time(run: tuple[str, Path]) -> None:
    service, folder = run
    dated = [one for one in entities(folder, "Dokument") if one.get("opprettetDato")]
    assert len(dated) > 10
    assert any(not str(one["opprettetDato"]).startswith("2026-11") for one in dated), service


def test_each_record_has_a_page_in_plain_text(run: tuple[str, Path]) -> None:
    _, folder = run
    with closing(sqlite3.connect(folder / "graph.db")) as graph, graph:
        records = graph.execute(
            "SELECT count(*) FROM entity WHERE type IN ('Arkivnotat', 'Basisregistrering', 'Journalpost')"
        ).fetchone()[0]
        pages = graph.execute(
            "SELECT count(*) FROM entity WHERE type = 'Dokumentversjon' AND fields LIKE '%text/plain%'"
        ).fetchone()[0]
    assert pages >= records > 5


def test_no_case_file_holds_a_record_that_it_may_not_hold(run: tuple[str, Path]) -> None:
    """Which is what N106 would say of the extract."""
    with closing(sqlite3.connect(run[1] / "graph.db")) as graph, graph:
        wrong = graph.execute(
            "SELECT count(*) FROM entity JOIN entity above ON above.n = entity.parent"
            " WHERE above.type = 'Saksmappe' AND entity.type = 'Basisregistrering'"
        ).fetchone()[0]
    assert wrong == 0


def test_classes_bear_the_titles_of_the_recipe(run: tuple[str, Path]) -> None:
    titles = {str(one["tittel"]) for one in entities(run[1], "Klasse")}
    assert titles & {"Bilag", "Definisjoner", "Informasjonssikkerhet"}
    assert not titles & {"B", "F", "L", "S", "R"}


def test_disposal_is_proposed_for_vouchers(run: tuple[str, Path]) -> None:
    service, folder = run
    decided = [one for kind in ("Basisregistrering", "Journalpost") for one in entities(folder, kind)]
    proposed = [one for one in decided if one.get("kassasjonsvedtak") == "K" and one.get("bevaringstid") == 5]
    assert bool(proposed) == (service == "spend")
