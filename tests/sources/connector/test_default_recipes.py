"""What the records of services become where nobody says otherwise: types an archivist expects, and who may see them."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import noarkit
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import standing

FREE = ((1_000_000, 60.0),)


def planned(
    folder: Path, kind: str, wish: StandinSpec
) -> tuple[Counter[tuple[str, str]], list[tuple[str, str, dict[str, object]]]]:
    """The pairs of types that lie in each other, and all entities: type, key, fields."""
    with standing(kind, folder, wish) as held:
        noarkit.plan(f"{kind}:standin", folder / "run", settings=held.site())
    assert (folder / "run" / "fetched.db").stat().st_mode & 0o777 == 0o600, "what was told is the owner's alone"
    with closing(sqlite3.connect(folder / "run" / "graph.db")) as graph, graph:
        pairs = Counter(
            graph.execute("SELECT above.type, entity.type FROM entity JOIN entity above ON above.n = entity.parent")
        )
        whole = [
            (kind, key, json.loads(told)) for kind, key, told in graph.execute("SELECT type, key, fields FROM entity")
        ]
    return pairs, whole


def test_a_deal_is_a_case_file_with_its_customer_and_a_note_an_archive_note(tmp_path: Path) -> None:
    pairs, whole = planned(tmp_path, "crm", StandinSpec(30))
    for inner in ("Sakspart", "Journalpost", "Arkivnotat"):
        assert pairs["Saksmappe", inner] > 0, inner
    assert pairs["Saksmappe", "Basisregistrering"] == 0, "a case file holds none of them"
    notes = [key for kind, key, _ in whole if kind == "Arkivnotat"]
    for each in (":note:", ":att:", ":snapshot", ":Quotes:", ":Invoices:", ":Tasks:", ":Calls:"):
        assert any(each in key for key in notes), each


def test_what_the_service_calls_private_is_screened_and_nothing_else(tmp_path: Path) -> None:
    _, whole = planned(tmp_path, "crm", StandinSpec(30))
    snapshots = {
        (key.split(":")[1], told.get("skjerming"))
        for kind, key, told in whole
        if kind == "Arkivnotat" and key.endswith(":snapshot")
    }
    assert snapshots == {("Deals", None), ("Cases", None), ("Inspections", "UO13")}


def test_vouchers_lie_in_a_folder_a_month_and_bills_in_a_case_file(tmp_path: Path) -> None:
    pairs, whole = planned(tmp_path, "spend", StandinSpec(60, limits=FREE))
    assert pairs["Mappe", "Basisregistrering"] > 0
    assert pairs["Saksmappe", "Journalpost"] > 0
    assert pairs["Saksmappe", "Basisregistrering"] == 0
    folders = [key for kind, key, _ in whole if kind in ("Mappe", "Saksmappe")]
    assert all(key.count(":") >= 3 for key in folders)  # folder:COMPANY:period:2026-01


def test_journeys_and_guests_are_screened(tmp_path: Path) -> None:
    _, whole = planned(tmp_path, "spend", StandinSpec(60, limits=FREE))
    told = Counter(fields.get("skjerming") for kind, _, fields in whole if kind == "Basisregistrering")
    assert told["UO13"] > 0
    assert told[None] > 0
