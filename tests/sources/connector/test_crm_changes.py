"""A deal that changes after it was archived: what is told of its case file, and what of it follows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import noarkit
from noarkit.api.origins import source_at
from noarkit.events import Event
from noarkit.services.crm.listing import records_by_page
from noarkit.services.crm.service import open_service
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import Standing, connected, standing

pytestmark = pytest.mark.usefixtures("one_archive")

CHANGED = {
    "Deal_Name": "Nytt navn",
    "Account_Name": {"id": "77", "name": "Ny kunde AS"},
    "Stage": "Closed Won",
}


class Loaded:
    """A CRM that was archived, and one open deal of it."""

    def __init__(self, held: Standing, folder: Path) -> None:
        self.held, self.folder = held, folder
        self.archive = f"embedded:{folder / 'archive'}"
        self.told: list[Event] = []
        self.load("first")
        with connected(open_service, held, folder / "other") as crm:
            deals = records_by_page(crm.calls, "Deals", crm.fields("Deals"), "test")
            self.deal = next(row for row in deals if not str(row["Stage"]).startswith("Closed"))
        self.held.control("change", module="Deals", put=[{"id": self.deal["id"], **CHANGED}])
        time.sleep(1.1)

    def load(self, name: str, recipe: Path | None = None) -> noarkit.IngestResult:
        """One plan, loaded."""
        site = self.held.site(self.archive)
        noarkit.plan("crm:standin", self.folder / name, recipe=recipe, archive=self.archive, settings=site)
        return noarkit.ingest(
            self.folder / name, archive=self.archive, workers=1, settings=site, listener=self.told.append
        )

    def remarks(self) -> dict[str, int]:
        """What was told of case files."""
        return {str(one.data["why"]): int(str(one.data["count"])) for one in self.told if one.name == "remark"}

    def changes(self, name: str) -> list[list[str]]:
        """The rows of what differed: field, before, now, done."""
        path = self.folder / name / "changed-there.csv"
        if not path.is_file():
            return []
        rows = path.read_text("utf-8-sig").splitlines()[1:]
        return [row.strip('"').split('";"')[3:] for row in rows]

    def case(self, name: str) -> tuple[object, object, set[str]]:
        """Title, status and parties of the case file of this name."""
        with noarkit.Archive(self.archive, settings=self.held.site(self.archive)) as archive:
            (case,) = archive.find("Saksmappe", tittel=name)
            parties = [one for one in archive.find("Sakspart") if one.links.get("refMappe") == case.id]
            return (
                case.fields["tittel"],
                case.fields["saksstatus"],
                {str(one.fields["sakspartNavn"]) for one in parties},
            )


@pytest.fixture
def loaded(tmp_path: Path) -> Iterator[Loaded]:
    """A CRM that was archived before one of its deals got another name, another customer, and was won."""
    with standing("crm", tmp_path, StandinSpec(4)) as held:
        yield Loaded(held, tmp_path)


def test_the_stage_follows_and_what_else_changed_is_told_and_listed(loaded: Loaded) -> None:
    second = loaded.load("second")
    assert second.numbers.new_versions == 1
    before = str(loaded.deal["Deal_Name"])
    title, status, parties = loaded.case(before)
    assert (title, status, "Ny kunde AS" in parties) == (before, "S", False)
    assert loaded.remarks() == {"cases-followed": 1, "cases-differ": 2}
    assert sorted(loaded.changes("second")) == sorted(
        [
            ["tittel", before, "Nytt navn", "no"],
            ["saksstatus", "B", "S", "yes"],
            ["parties", "", "Kunde: Ny kunde AS", "no"],
        ]
    )
    site = loaded.held.site(loaded.archive)
    proof = noarkit.verify(loaded.folder / "second", archive=loaded.archive, settings=site)
    assert (proof.differences, set(proof.missing)) == (0, {"source_changed"}), proof.notices


def test_title_and_parties_follow_where_the_recipe_says_so(loaded: Loaded) -> None:
    recipe = loaded.folder / "recipe.toml"
    text = source_at("crm:standin", loaded.held.site(loaded.archive)).default_recipe()
    recipe.write_text(text.replace('Saksmappe = ["saksstatus"]', 'Saksmappe = ["tittel", "saksstatus", "parties"]'))
    before = str(loaded.deal["Deal_Name"])
    _, _, parties_before = loaded.case(before)
    loaded.load("second", recipe)
    title, status, parties = loaded.case("Nytt navn")
    assert (title, status) == ("Nytt navn", "S")
    assert parties == parties_before | {"Ny kunde AS"}, "none is taken away"
    assert {row[-1] for row in loaded.changes("second")} == {"yes"}
    loaded.told.clear()
    loaded.load("third", recipe)
    assert loaded.remarks() == {} and loaded.changes("third") == []


def test_a_case_file_that_the_archive_has_finished_is_told_of_and_left_alone(loaded: Loaded) -> None:
    noarkit.close(loaded.folder / "first", archive=loaded.archive)
    loaded.load("second")
    before = str(loaded.deal["Deal_Name"])
    assert loaded.case(before)[:2] == (before, "A")
    assert {row[-1] for row in loaded.changes("second")} == {"no"}
    assert "saksstatus" not in {row[0] for row in loaded.changes("second")}
