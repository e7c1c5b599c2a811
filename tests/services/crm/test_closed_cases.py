"""What is added to a closed case is found: by a message, by the times of what hangs on it, and by a sweep of all."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import noarkit
from noarkit.cli.exit_codes import ingest_exit_code, verify_exit_code
from noarkit.cli.main import main
from noarkit.errors import UsageFault
from noarkit.events import Event, ignore_event
from noarkit.services.crm.listing import records_by_page
from noarkit.services.crm.service import Crm, open_service
from noarkit.services.inbox.store import Inbox, inbox_place
from noarkit.services.known_keys import KnownKeys, add_known_keys
from noarkit.services.port import Item, Window
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import LATER, Standing, connected, standing

pytestmark = pytest.mark.usefixtures("one_archive")
CLOSED = "Closed Won"


@dataclass(frozen=True, slots=True)
class Scene:
    """A CRM with a closed deal that is archived, and a window in which the deal itself did not change."""

    held: Standing
    crm: Crm
    deal: str
    since: datetime
    known: KnownKeys

    def papers(self, *, swept: Collection[str] = (), hinted: frozenset[str] = frozenset()) -> list[str]:
        """The titles of the attachments and emails of the deal that are found in the window."""
        found: list[str] = []
        for stream in self.crm.streams():
            window = Window(self.since, LATER, stream.name in swept, hinted, known_keys=self.known)
            for item in self.crm.items(stream, window, ignore_event):
                if isinstance(item, Item) and stream.name in ("Attachments", "Emails") and self.deal in item_case(item):
                    found.append(str(item.fields["title"]))
        return found

    def add(self) -> None:
        """Somebody adds an attachment and an email to the deal."""
        self.held.control("attach", deal=self.deal, name="Etterslep.txt", content="kom senere")
        self.held.control("mail", deal=self.deal, subject="Etterspill", content="kom senere")


def item_case(item: Item) -> str:
    """The key of the case that an item hangs on."""
    case = item.fields["case"]
    assert isinstance(case, dict)
    return str(case["key"])


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """A closed deal to which something is added, and a window that begins after all there was."""
    with standing("crm", tmp_path, StandinSpec(12)) as held, connected(open_service, held, tmp_path) as crm:
        deals = records_by_page(crm.calls, "Deals", crm.fields("Deals"), "test")
        deal = next(str(row["id"]) for row in deals if row["Stage"] == CLOSED)
        whole = Window(None, LATER, keys_only=True)
        items = [item for stream in crm.streams() for item in crm.items(stream, whole, ignore_event)]
        add_known_keys(tmp_path / "known.db", "archive", [item.key for item in items], ())
        with closing(KnownKeys(tmp_path / "known.db")) as known:
            yield Scene(held, crm, deal, datetime.now(UTC) - timedelta(minutes=5), known)


def test_nothing_is_asked_of_a_closed_case_that_nothing_tells_of(scene: Scene) -> None:
    scene.add()
    assert scene.papers() == []


@pytest.mark.parametrize("swept", [("Deals",), ("Attachments", "Emails")])
def test_a_sweep_of_cases_or_of_papers_looks_through_closed_cases_too(scene: Scene, swept: tuple[str, ...]) -> None:
    scene.add()
    assert {"Etterslep.txt", "Etterspill"} <= set(scene.papers(swept=swept))


def test_a_message_that_names_a_closed_case_has_it_looked_through(scene: Scene) -> None:
    scene.add()
    assert {"Etterslep.txt", "Etterspill"} <= set(scene.papers(hinted=frozenset({scene.deal})))


def test_a_new_note_on_a_closed_case_has_the_rest_of_it_looked_through(scene: Scene) -> None:
    scene.add()
    scene.held.control("note", deal=scene.deal, title="Etterarbeid", content="se vedlegg")
    assert {"Etterslep.txt", "Etterspill"} <= set(scene.papers())


def test_a_changed_task_of_a_closed_case_has_the_rest_of_it_looked_through(scene: Scene) -> None:
    scene.add()
    task = {"Subject": "Følg opp", "What_Id": {"id": scene.deal, "name": "…"}}
    scene.held.control("change", module="Tasks", put=[task])
    assert {"Etterslep.txt", "Etterspill"} <= set(scene.papers())


def test_a_case_that_tells_of_activity_is_looked_through_although_it_did_not_change(scene: Scene) -> None:
    scene.add()
    scene.held.control("stir", module="Deals", id=scene.deal)
    assert {"Etterslep.txt", "Etterspill"} <= set(scene.papers())


def test_which_final_states_close_a_case_is_configured(scene: Scene, tmp_path: Path) -> None:
    scene.add()
    with connected(open_service, scene.held, tmp_path / "other", closed_states=["lost"]) as crm:
        assert "Etterslep.txt" in Scene(scene.held, crm, scene.deal, scene.since, scene.known).papers(), (
            "it is open here"
        )


def load(held: Standing, folder: Path, name: str) -> noarkit.IngestResult:
    """One plan, loaded."""
    archive = f"embedded:{folder / 'archive'}"
    noarkit.plan("crm:standin", folder / name, archive=archive, settings=held.site(archive))
    done = noarkit.ingest(folder / name, archive=archive, workers=1, settings=held.site(archive))
    assert ingest_exit_code(done) == 0
    return done


def test_what_was_added_to_a_closed_deal_is_archived_at_the_latest_when_a_sweep_is_due(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(6)) as held:
        load(held, tmp_path, "first")
        with connected(open_service, held, tmp_path / "other") as crm:
            deals = records_by_page(crm.calls, "Deals", crm.fields("Deals"), "test")
            deal = next(str(row["id"]) for row in deals if str(row["Stage"]).startswith("Closed"))
        held.control("attach", deal=deal, name="Etterslep.txt", content="kom senere")
        assert load(held, tmp_path, "second").numbers.archived == 0, "nothing tells of it"
        (place,) = (tmp_path / ".local/state/noarkit/connections").glob("*.marks-*.json")
        marks = json.loads(place.read_text())
        long_ago = (datetime.now(UTC) - timedelta(days=31)).isoformat()
        for mark in marks["streams"].values():
            mark["swept"] = long_ago
        place.write_text(json.dumps(marks))
        third = load(held, tmp_path, "third")
        assert third.numbers.archived == 1
        swept = json.loads(place.read_text())["streams"]["Attachments"]["swept"]
        assert swept > long_ago
        proof = noarkit.verify(tmp_path / "third", settings=held.site(f"embedded:{tmp_path / 'archive'}"))
        assert proof.good, "it looks where the plan looked"


def test_a_message_in_the_inbox_brings_what_it_tells_of(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(6)) as held:
        load(held, tmp_path, "first")
        with connected(open_service, held, tmp_path / "other") as crm:
            deals = records_by_page(crm.calls, "Deals", crm.fields("Deals"), "test")
            deal = next(str(row["id"]) for row in deals if str(row["Stage"]).startswith("Closed"))
        held.control("mail", deal=deal, subject="Etterspill", content="kom senere")
        inbox = Inbox(inbox_place(held.environment))
        inbox.add("crm:standin", "1", "Deals.update", (deal,), datetime.now(UTC).timestamp())
        inbox.close()
        assert load(held, tmp_path, "second").numbers.archived == 1
        proof = noarkit.verify(tmp_path / "second", settings=held.site(f"embedded:{tmp_path / 'archive'}"))
        assert proof.good, "it asks for what the message named"


def test_what_no_plan_met_is_found_by_a_whole_listing_and_what_was_not_asked_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with standing("crm", tmp_path, StandinSpec(6)) as held:
        archive = f"embedded:{tmp_path / 'archive'}"
        load(held, tmp_path, "first")
        with connected(open_service, held, tmp_path / "other") as crm:
            deals = records_by_page(crm.calls, "Deals", crm.fields("Deals"), "test")
            deal = next(str(row["id"]) for row in deals if str(row["Stage"]).startswith("Closed"))
        held.control("attach", deal=deal, name="Etterslep.txt", content="kom senere")
        load(held, tmp_path, "second")
        by_change = noarkit.verify(tmp_path / "second", settings=held.site(archive))
        assert by_change.good and "listing" not in by_change.rows, "it asks for what changed, and nothing did"
        whole = noarkit.verify(tmp_path / "second", whole=True, settings=held.site(archive))
        assert [(one.code, one.detail) for one in whole.findings] == [("V102", "Attachments")]
        row = whole.rows["listing"]
        assert (row.differ, verify_exit_code(whole)) == (1, 7)
        assert row.agree > 10
        line = ["verify", str(tmp_path / "second"), "--config", str(held.config)]
        assert main(line, held.environment) == 0
        shown = capsys.readouterr()
        assert "--whole" in shown.out, "what was not asked is said"
        assert main([*line, "--whole"], held.environment) == 7
        assert "--whole" not in capsys.readouterr().out
        certificate = max(tmp_path.glob("second/verify-*.json")).read_text()
        assert "Attachments" in certificate


def test_what_a_rule_left_out_of_an_earlier_run_is_counted_apart_and_is_not_missing(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    with standing("crm", tmp_path, StandinSpec(6)) as held:
        archive = f"embedded:{tmp_path / 'archive'}"
        site = held.site(archive)
        noarkit.plan("crm:standin", tmp_path / "proposed", archive=archive, settings=site)
        with closing(sqlite3.connect(tmp_path / "proposed" / "graph.db")) as graph, graph:
            (text,) = graph.execute("SELECT value FROM meta WHERE name = 'recipe'").fetchone()
        graph.close()
        rule = '[[skip]]\nwhen = "= record.kind == \'attachment\'"\nreason = "attachments stay there"\n'
        recipe.write_text(text + rule)
        for name in ("first", "second"):
            noarkit.plan("crm:standin", tmp_path / name, recipe=recipe, archive=archive, settings=site)
            noarkit.ingest(tmp_path / name, archive=archive, workers=1, settings=site)
        whole = noarkit.verify(tmp_path / "second", whole=True, settings=site)
    row = whole.rows["listing"]
    assert whole.findings == []
    assert row.differ == 0 and row.not_compared["by_rule"] > 0


def test_a_whole_listing_of_what_is_no_connection_is_refused(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.txt").write_text("a")
    archive = f"embedded:{tmp_path / 'archive'}"
    noarkit.plan(tmp_path / "files", tmp_path / "run", archive=archive)
    assert ingest_exit_code(noarkit.ingest(tmp_path / "run", archive=archive, workers=1)) == 0
    with pytest.raises(UsageFault):
        noarkit.verify(tmp_path / "run", whole=True, archive=archive)


@pytest.mark.moves_archive
def test_marks_are_of_the_very_archive_that_earned_them(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(4)) as held:
        first = load(held, tmp_path, "first")
        assert load(held, tmp_path, "second").numbers.archived == 0, "nothing is new to this archive"
        shutil.rmtree(tmp_path / "archive")
        told: list[Event] = []
        archive = f"embedded:{tmp_path / 'archive'}"
        noarkit.plan(
            "crm:standin", tmp_path / "third", archive=archive, settings=held.site(archive), listener=told.append
        )
        assert [one.data["why"] for one in told if one.name == "remark"] == ["other-archive"]
        done = noarkit.ingest(tmp_path / "third", archive=archive, workers=1, settings=held.site(archive))
        assert (ingest_exit_code(done), done.numbers.archived) == (0, first.numbers.archived), (
            "a new archive starts anew"
        )
        shutil.rmtree(tmp_path / "archive")
        files = tmp_path / "files"
        files.mkdir()
        (files / "a.txt").write_text("a")
        noarkit.plan(files, tmp_path / "other", archive=archive)
        assert ingest_exit_code(noarkit.ingest(tmp_path / "other", archive=archive, workers=1)) == 0
        assert load(held, tmp_path, "fourth").numbers.archived == first.numbers.archived, "so does one made for another"
        assert load(held, tmp_path, "fifth").numbers.archived == 0
