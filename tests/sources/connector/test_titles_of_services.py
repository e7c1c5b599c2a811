"""What records of services are called: titles show all of their characters, and an archive that was loaded with other
titles gets no second document."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import noarkit
from noarkit.cli.exit_codes import ingest_exit_code
from noarkit.services.appsec import trail
from noarkit.services.features import streams
from noarkit.services.standins.server import StandinSpec
from tests.services.histories.archived import ArchivedRecord, read_archived
from tests.services.standing import Standing, standing

pytestmark = pytest.mark.usefixtures("one_archive")

SPECS = {
    "appsec": StandinSpec(20, options={"decided": "60"}),
    "features": StandinSpec(12, limits=(), options={"audit": "5"}),
}
TITLES = {"appsec": ((trail, "decision_title"),), "features": ((streams, "review_title"), (streams, "decision_title"))}
RENAMED = {"appsec": ("triage",), "features": ("review", "decision")}


def load(held: Standing, folder: Path, name: str, archive: str) -> noarkit.IngestResult:
    noarkit.plan(f"{held.service}:standin", folder / name, archive=archive, settings=held.site(archive))
    return noarkit.ingest(folder / name, archive=archive, workers=1, settings=held.site(archive))


def is_renamed(record: ArchivedRecord, service: str) -> bool:
    return any(f":{kind}:" in record.key for kind in RENAMED[service])


@pytest.mark.parametrize("service", SPECS)
def test_a_new_title_makes_no_second_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: str) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing(service, tmp_path / "standin", SPECS[service]) as held:
        section = f"[connections.{service}.standin]\n"
        config = held.config.read_text()
        assert section in config
        held.config.write_text(config.replace(section, f"{section}sweep_days = 0\n"))  # each run reads all there is
        with monkeypatch.context() as older:
            for place, name in TITLES[service]:
                older.setattr(place, name, lambda *_: "Slik det het før")
            first = load(held, tmp_path, "first", archive)
        before = {record.key: record for record in read_archived(tmp_path / "archive", service, "")}
        second = load(held, tmp_path, "second", archive)
    renamed = [key for key, record in before.items() if is_renamed(record, service)]
    assert len(renamed) > 3
    assert (ingest_exit_code(second), second.numbers.archived, second.numbers.set_aside) == (0, 0, 0)
    assert (second.numbers.read, second.numbers.new_versions) == (first.numbers.archived, len(renamed))
    after = read_archived(tmp_path / "archive", service, "")
    assert sorted(record.key for record in after) == sorted(before), "no record came twice"
    for record in after:
        documents = before[record.key].documents
        assert record.documents.keys() == documents.keys(), record.key
        for number, document in record.documents.items():
            is_page = record.key in renamed and document.names[0].endswith(".txt")  # it says its title, so it is new
            assert len(document.names) == len(documents[number].names) + is_page, (record.key, document.names)


def test_a_title_is_without_control_and_reading_direction_and_the_plan_says_so(tmp_path: Path) -> None:
    odd = "kart\u202e\x07 \u2066fjell"
    members = {"name": odd, "decisionTime": 1_767_600_000_000}
    review = {"review_id": "odd", "status": "rejected", "created_at": 1_767_600_000_000}
    with standing("features", tmp_path, StandinSpec(2, limits=()), odd=True) as held:
        held.control("change", definitions=[{"kind": "experiments", "id": "odd", "members": members}])
        held.control("change", reviews=[{"kind": "experiments", "id": "odd", "reviews": [review]}])
        noarkit.plan("features:standin", tmp_path / "run", settings=held.site())
    with closing(sqlite3.connect(tmp_path / "run" / "graph.db")) as graph:
        fields = [json.loads(text) for (text,) in graph.execute("SELECT fields FROM entity")]
        (replaced,) = graph.execute("SELECT count(DISTINCT record) FROM note WHERE code = 'W221'").fetchone()
    titles = [str(one["tittel"]) for one in fields if "fjell" in str(one.get("tittel"))]
    assert len(titles) > 8, "a case, its version, decision and review, and the documents of each"
    assert all(title.isprintable() and "kart\ufffd\ufffd \ufffdfjell" in title for title in titles), titles
    assert replaced >= 3, "the plan names each record"
