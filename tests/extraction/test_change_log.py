"""Which change log a package gets, and what is said of journal posts that no journal can hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree

from noarkit.archive.values import Action, Link, Query, Save
from noarkit.extraction.run import ExtractSettings, extract
from noarkit.forms.noark5.read.changes import read_changes
from noarkit.forms.validation import validate
from tests.extraction.test_extract import judged
from tests.extraction.world import World, case, post, spine, uuid, world

ON_THE_LOG = {"N011", "N103", "N209", "N601", "N603", "N604"}


@pytest.fixture
def unchanged(tmp_path: Path) -> Iterator[World]:
    """An archive in which nothing was ever changed."""
    with world(tmp_path / "a") as live:
        live.archive.transaction([*spine(), *case("c1", 10), *post("p1", "c1", 20)])
        yield live


def test_a_log_without_changes_says_so_in_one_entry_that_changes_nothing(unchanged: World, tmp_path: Path) -> None:
    plain = extract(
        unchanged.archive, tmp_path / "plain", ExtractSettings(include_open=True, change_log="from-archive")
    )
    noted = extract(unchanged.archive, tmp_path / "noted", ExtractSettings(include_open=True, change_log="empty-note"))
    assert "no-changes" in plain.flaws
    assert "changes-noted" in noted.flaws
    assert (plain.changes, noted.changes) == (0, 0)
    assert not (plain.package / "endringslogg.xml").exists()
    assert judged(noted.package, noted.package, "endringslogg") == []
    assert ON_THE_LOG & validate(plain.package).codes == {"N011"}
    assert ON_THE_LOG & validate(noted.package).codes == set()
    (entry,) = etree.parse(noted.package / "endringslogg.xml").iterfind("{*}endring")
    assert entry.findtext("{*}referanseArkivenhet") == uuid(1)
    assert entry.findtext("{*}tidligereVerdi") == entry.findtext("{*}nyVerdi") == "Arkiv <1>"
    assert list(read_changes(noted.package / "endringslogg.xml")) == []


def test_changes_are_told_or_left_out_and_that_stands_against_depositing(unchanged: World, tmp_path: Path) -> None:
    (folder,) = unchanged.archive.query(Query("Saksmappe")).objects
    unchanged.archive.transaction([Save("Saksmappe", folder.id, {"tittel": "Ny tittel"}, folder.version)])
    told = extract(unchanged.archive, tmp_path / "told", ExtractSettings(include_open=True, change_log="empty-note"))
    left = extract(unchanged.archive, tmp_path / "left", ExtractSettings(include_open=True, change_log="none"))
    assert told.changes == 1
    assert not {"no-changes", "changes-noted", "changes-left-out"} & set(told.flaws)
    assert "changes-left-out" in left.flaws
    assert not (left.package / "endringslogg.xml").exists()


def test_posts_outside_case_files_are_told_by_the_extract_and_judged_by_a_rule_of_their_own(tmp_path: Path) -> None:
    folder: list[Action] = [
        Save("Mappe", "m1", {"tittel": "Perm", "uuid": uuid(40)}),
        Link("Mappe", "m1", "refArkivdel", ("series",)),
        Link("Mappe", "m1", "refPrimaerKlasse", ("leaf",)),
    ]
    with world(tmp_path / "a", profile="lenient") as live:
        inside = [*case("c1", 10), *post("p1", "c1", 20)]
        live.archive.transaction([*spine(), *inside, *folder, *post("p2", "m1", 30)])
        made = extract(live.archive, tmp_path / "package", ExtractSettings(include_open=True))
    assert "posts-outside-cases" in made.flaws
    report = validate(made.package)
    (outcome,) = [one for one in report.outcomes if one.rule.code == "N519"]
    assert [place.system_id for place in outcome.places] == [uuid(30)]
    assert not {"N504", "N507", "N508"} & report.codes
