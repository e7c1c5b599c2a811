"""What the things of a CRM are called in an archive: a title shows all of its characters, and a date is a true one."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import noarkit
from noarkit.events import Event
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import standing

DEAL = "4150868030000000000"


def test_a_title_is_without_control_and_reading_direction_and_the_plan_says_so(tmp_path: Path) -> None:
    events: list[Event] = []
    odd = "Fjord\u202e\x07 og\n\u2066 \x9bfjell"
    with standing("crm", tmp_path, StandinSpec(2), odd=True) as held:
        held.control("change", module="Deals", put=[{"id": DEAL, "Deal_Name": odd, "Created_Time": None}])
        held.control("note", deal=DEAL, title=odd, content="x")
        held.control("attach", deal=DEAL, name=f"{odd}.txt", content="x")
        held.control("mail", deal=DEAL, subject=odd, content="x")
        noarkit.plan("crm:standin", tmp_path / "run", settings=held.site(), listener=events.append)
    with closing(sqlite3.connect(tmp_path / "run" / "graph.db")) as graph:
        fields = [json.loads(text) for (text,) in graph.execute("SELECT fields FROM entity")]
        (replaced,) = graph.execute("SELECT count(DISTINCT record) FROM note WHERE code = 'W221'").fetchone()
    titles = [str(one["tittel"]) for one in fields if "fjell" in str(one.get("tittel"))]
    assert len(titles) > 8, "a case, its record, note, attachment and email, and a document of each"
    assert all(title.isprintable() and "Fjord\ufffd\ufffd og \ufffd \ufffdfjell" in title for title in titles), titles
    assert replaced >= 4, "the plan names each record"
    (case,) = [one for one in fields if "saksdato" in one and "fjell" in str(one["tittel"])]
    (record,) = [one for one in fields if str(one.get("tittel")).startswith("Opplysninger fra kundesystemet: Fjord")]
    assert str(case["saksdato"])[:10] == str(record["dokumentetsDato"])[:10], "the day of its last change"
    assert [event.data["count"] for event in events if event.data.get("why") == "no-creation-date"] == [1]
