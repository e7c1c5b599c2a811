"""Which day a file is of: what speaks for it is ranked, and what says nothing is passed over."""

from __future__ import annotations

import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from noarkit.events import ignore_event
from noarkit.forms.finders import open_source, reopen
from noarkit.recipes import read_recipe
from noarkit.records import SourceRecord
from noarkit.sources.files.dates import DateEvidence, day_in_name, latest_day
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree
from noarkit.sources.files.tree_times import TreeTimes

TODAY = datetime(2026, 11, 29, 12, tzinfo=UTC)
LATEST = latest_day(TODAY.timestamp())


USUAL = DateEvidence()


def date_of(evidence: DateEvidence = USUAL, /, **fields: object) -> tuple[object, object]:
    """The date of a record with such fields, and what it comes from."""
    usual: dict[str, object] = {
        "stem": "a",
        "name": "a.txt",
        "folders": [],
        "modified": None,
        "mail": {},
        "register": {},
        "saved": None,
    }
    record = evidence.dated(SourceRecord("file", "a.txt", {**usual, **fields}), LATEST)
    return record.fields["date"], record.fields["date_from"]


ALL: dict[str, object] = {
    "register": {"Dokumentdato": "05.01.2014"},
    "stem": "Brev 2014-02-05",
    "mail": {"date": "2014-03-05T10:00:00Z"},
    "saved": "2014-04-05T10:00:00Z",
    "modified": "2014-05-05T10:00:00.000Z",
}
RANKED = [
    ("register", "2014-01-05T12:00:00"),
    ("name", "2014-02-05T12:00:00"),
    ("mail", "2014-03-05T10:00:00Z"),
    ("document", "2014-04-05T10:00:00Z"),
    ("file", "2014-05-05T10:00:00.000Z"),
]


@pytest.mark.parametrize("at", range(len(RANKED)))
def test_the_best_evidence_that_is_there_is_believed(at: int) -> None:
    names = ["register", "stem", "mail", "saved", "modified"]
    assert date_of(USUAL, **{name: ALL[name] for name in names[at:]}) == RANKED[at][::-1]


def test_nothing_known_is_nothing_said() -> None:
    assert date_of() == (None, None)


def test_a_recipe_may_rank_otherwise_and_leave_out() -> None:
    assert date_of(DateEvidence(("file", "name")), **ALL) == RANKED[4][::-1]
    assert date_of(DateEvidence(("document",)), modified=ALL["modified"]) == (None, None)


@pytest.mark.parametrize("day", ["1899-12-31", "2026-12-01", "9999-01-01"])
def test_no_date_is_believed_that_cannot_be(day: str) -> None:
    assert date_of(saved=f"{day}T10:00:00Z", modified=ALL["modified"]) == RANKED[4][::-1]


def test_a_date_outside_the_period_counts_only_where_none_lies_within() -> None:
    period = DateEvidence(period=("2014-04-01", "2014-12-31"))
    assert date_of(period, **ALL) == RANKED[3][::-1]
    assert date_of(period, stem="Brev 2013-02-05") == ("2013-02-05T12:00:00", "name")


def test_files_of_days_of_copying_have_no_date_by_their_time() -> None:
    copied = DateEvidence(copied=("2014-05-04", "2014-05-06"))
    assert date_of(copied, modified="2014-05-06T23:59:59.999Z") == (None, None)
    assert date_of(copied, modified="2014-05-07T00:00:00.000Z")[1] == "file"
    assert date_of(copied, saved="2014-05-05T00:00:00Z")[1] == "document", "only times of files say nothing then"


@pytest.mark.parametrize("name", ["Thumbs.db", "desktop.ini", ".DS_Store"])
def test_what_a_desktop_system_made_dates_nothing(name: str) -> None:
    assert date_of(name=name, modified=ALL["modified"]) == (None, None)


def test_a_mail_that_came_in_is_of_the_day_it_came() -> None:
    mail = {"date": "2014-03-05T22:00:00Z", "received": "2014-03-06T08:00:00Z"}
    assert date_of(mail={**mail, "direction": "in"}) == ("2014-03-06T08:00:00Z", "mail")
    assert date_of(mail={**mail, "direction": "out"}) == ("2014-03-05T22:00:00Z", "mail")
    assert date_of(mail={"date": "2014-03-05T22:00:00Z", "direction": "in"}) == ("2014-03-05T22:00:00Z", "mail")


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("12.03.2014", "2014-03-12"),
        ("Møte 1.2.2014 kl 10", "2014-02-01"),
        ("2014-03-12 Møte", "2014-03-12"),
        ("20140312 Møte", "2014-03-12"),
        ("2014_03_12", "2014-03-12"),
        ("Referat 2014.03.12", "2014-03-12"),
        ("IMG_20140312_101112", "2014-03-12"),
        ("Rev 1.2.2014", None),
        ("v1.2.2014", None),
        ("Versjon 1.2.2014", None),
        ("201400123", None),
        ("Budsjett 2014-2017", None),
        ("2014-03 Mars", None),
        ("2014-0007 Høring", None),
        ("2014-13-01", None),
        ("30.02.2014", None),
        ("tlf 22140312", None),
        ("60-116 Byggesak", None),
        ("fra 2014-03-12 til 2014-03-14", None),
        ("12.03.2014 (12.03.2014)", "2014-03-12"),
        ("1.12.03.2014", None),
        ("2014-03-12-17", None),
        ("12.03.14", None),
    ],
)
def test_days_in_names(name: str, day: str | None) -> None:
    assert day_in_name(name) == day


def test_the_nearest_name_that_bears_a_day_tells() -> None:
    assert date_of(stem="Referat", folders=["2013-01-02", "2014-03-12 Møte", "Vedlegg"])[0] == "2014-03-12T12:00:00"
    assert date_of(stem="Referat 2015-01-01", folders=["2014-03-12 Møte"])[0] == "2015-01-01T12:00:00"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A document that says when it was saved, a day in a name, and one file that says nothing; all copied in 2026."""
    folder = tmp_path / "kilde" / "2014-0007 Høring"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "brev.docx", "w") as archive:
        archive.writestr("docProps/core.xml", "<c><d:modified>2014-03-12T09:15:00Z</d:modified></c>")
    (folder / "Notat 12.04.2014.txt").write_text("x")
    (folder / "uten.txt").write_text("x")
    for path in folder.iterdir():
        os.utime(path, (TODAY.timestamp(), TODAY.timestamp()))
    return tmp_path / "kilde"


def dates_of(source: FileTree) -> dict[str, object]:
    """What is told of each file, by the last part of its key."""
    records = [item for item in source.records(ignore_event) if isinstance(item, SourceRecord)]
    return {record.key.rpartition("/")[2]: record.fields["date"] for record in records}


def test_a_tree_tells_the_dates_of_its_files_and_a_plan_remembers_how(tree: Path) -> None:
    recipe = read_recipe(
        '[source]\nkind = "files"\n'
        '[dates]\nfrom = ["name", "document", "file"]\ncopied = ["2026-11-28", "2026-11-30"]\n'
    )
    source = open_source(str(tree))
    assert isinstance(source, FileTree)
    fitted = source.fitted(recipe.source_settings("files"))
    expected = {
        "brev.docx": "2014-03-12T09:15:00Z",
        "Notat 12.04.2014.txt": "2014-04-12T12:00:00",
        "uten.txt": None,
    }
    assert dates_of(fitted) == expected
    again = reopen(fitted.identity)
    assert isinstance(again, FileTree)
    assert dates_of(again) == expected


def test_no_document_is_opened_for_a_date_that_is_not_asked_for(tree: Path) -> None:
    assert dates_of(FileTree(tree, FilePolicy(dates_from=("file",))))["brev.docx"] == "2026-11-29T12:00:00.000Z"
    assert dates_of(FileTree(tree, FilePolicy(look_inside=False)))["brev.docx"] == "2026-11-29T12:00:00.000Z"


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('from = ["nam"]', "unknown-choice"),
        ('copied = ["2026-03-02"]', "wrong-kind"),
        ('copied = ["2026-03-04", "2026-03-02"]', "wrong-kind"),
        ('period = ["2014", "2015"]', "wrong-kind"),
        ('period = ["20140101", "20151231"]', "wrong-kind"),
        ("period = 2014", "wrong-kind"),
        ('case = "all"', "unknown-choice"),
        ('archived = "first"', "unknown-choice"),
        ("waves = 1", "unknown-key"),
    ],
)
def test_what_dates_cannot_be_is_told_with_its_line(line: str, key: str) -> None:
    problems = read_recipe(f'[source]\nkind = "files"\n[dates]\n{line}\n').problems
    assert [(problem.key, problem.line) for problem in problems] == [(key, 4)]


def test_a_source_that_is_no_tree_of_files_has_no_evidence_to_rank() -> None:
    problems = read_recipe('[source]\nkind = "database"\n[dates]\ncase = "span"\ncopied = []\n').problems
    assert [problem.key for problem in problems] == ["unknown-key"]


@pytest.mark.parametrize("kind", ["database", "eark", "dias", "bag", "crm", "siard", "addml"])
def test_any_source_has_a_period_and_folders_that_are_dated_by_their_records(kind: str) -> None:
    days = '["2014-01-01", "2016-12-31"]'
    dated = read_recipe(f'[source]\nkind = "{kind}"\n[dates]\ncase = "span"\nperiod = {days}\narchived = "load"\n')
    assert not dated.problems
    assert (dated.dates.spans, dated.dates.period) == (True, ("2014-01-01", "2016-12-31"))
    assert not read_recipe(f'[source]\nkind = "{kind}"\n[dates]\ncase = "span"\n').problems


def wave_of(days: dict[str, int], names: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The wave in files of some days."""
    times = TreeTimes(latest_year=2026)
    for day, count in days.items():
        for _ in range(count):
            times.add_file("a.txt", int(datetime.fromisoformat(f"{day}T12:00:00+00:00").timestamp() * 1e9))
    for name in names:
        times.enter((name,))
    return times.wave()


YEARS = {f"{year}-0{month}-15": 3 for year in (2014, 2015, 2016) for month in range(1, 9)}


@pytest.mark.parametrize(
    ("days", "names", "wave"),
    [
        ({**YEARS, "2026-03-02": 10, "2026-03-03": 30}, (), ("2026-03-02", "2026-03-04")),
        ({**YEARS, "2026-03-02": 5}, ("2014-0007 Sak", "2016-0003 Sak"), ("2026-03-02", "2026-03-04")),
        ({**YEARS, "2026-03-02": 4}, ("2016-0003 Sak",), ()),
        ({**YEARS, "2026-03-02": 5}, (), ()),
        ({**YEARS, "2026-03-02": 5, "2024-03-02": 5}, ("2016-0003 Sak",), ()),
        ({**YEARS, "2017-03-02": 5}, ("2016-0003 Sak",), ()),
        (YEARS, ("2016-0003 Sak",), ()),
        ({"2026-03-02": 29}, ("2016-0003 Sak",), ()),
        ({"2026-03-02": 30}, ("2016-0003 Sak",), ("2026-03-02", "2026-03-04")),
        ({"2026-03-02": 30}, (), ()),
        ({"2026-03-02": 30}, ("2026-0003 Sak",), ()),
        ({"2026-03-02": 30}, ("2016-0003 Sak", "Plan 2030"), ("2026-03-02", "2026-03-04")),
        ({**{f"2016-0{month}-15": 3 for month in range(1, 9)}, "2016-09-01": 30}, (), ()),
    ],
)
def test_a_wave_of_copying_is_told_from_busy_days(
    days: dict[str, int], names: tuple[str, ...], wave: tuple[str, ...]
) -> None:
    assert wave_of(days, names) == wave


def test_times_beyond_any_calendar_are_no_days() -> None:
    times = TreeTimes(latest_year=2026)
    for moment in (-(2**62), 2**62, 0):
        times.add_file("a", moment)
    assert times.wave() == ()
