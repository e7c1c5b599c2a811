"""The list of cases beside a share, all the way into the package: what was joined and what was left over, each number
the same wherever it is told. Judged by the script that made both, and by reading the package with lxml."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree

from noarkit.cli.main import main
from tests.journeys.old_share import Share, make_share
from tests.journeys.share_register import ShareRegister, make_register

pytestmark = pytest.mark.usefixtures("one_archive")

N = "{http://www.arkivverket.no/standarder/noark5/arkivstruktur}"
Journey = tuple[Share, ShareRegister, dict[str, str]]


@pytest.fixture(scope="module")
def journey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    """A share with a register, loaded and delivered as `package`; and what the commands on the way printed."""
    place = tmp_path_factory.mktemp("share")
    said = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        share = make_share(Path("share"))
        register = make_register(share)
        assert main(["recipe", "new", "share", "-o", "recipe.toml"], {}) == 0
        recipe = Path("recipe.toml")
        assert main(["plan", "share", "--recipe", "recipe.toml", "-o", "run"], {}) == 4, "two questions are open"
        said["proposal"] = recipe.read_text("utf-8")
        answered = said["proposal"].replace('no_folder = "ask"', 'no_folder = "make"')
        recipe.write_text(answered.replace('no_row = "ask"', 'no_row = "report"'), "utf-8")
        for words in (
            ("recipe", "check", "recipe.toml", "share"),
            ("plan", "share", "--recipe", "recipe.toml", "-o", "run"),
            ("ingest", "run"),
            ("verify", "run", "--depth", "bytes"),
        ):
            assert main(list(words), {}) == 0, words
        assert main(["extract", "-o", "package"], {}) == 3, "made, and not ready: formats, schemas, creator"
        yield share, register, said


@pytest.fixture(scope="module")
def cases(journey: Journey) -> dict[str, etree._Element]:
    """The case files of the package, by number."""
    root = etree.parse(journey[0].root.absolute().parent / "package" / "arkivstruktur.xml").getroot()
    found = [one for one in root.iter(f"{N}mappe") if one.find(f"{N}saksaar") is not None]
    by_number = {str(one.findtext(f"{N}mappeID")): one for one in found}
    assert len(by_number) == len(found), "a number twice"
    return by_number


def test_every_folder_and_every_row_is_a_case_once(journey: Journey, cases: dict[str, etree._Element]) -> None:
    share, register, _ = journey
    assert sorted(cases) == sorted({*register.rows, *(number for number, _ in share.cases.values())})
    for number in register.without_folder:
        assert cases[number].find(f"{N}registrering") is None
        assert str(cases[number].findtext(f"{N}opprettetDato"))[:4] == number[:4]


def test_titles_days_officers_and_parties_are_those_of_the_register(
    journey: Journey, cases: dict[str, etree._Element]
) -> None:
    share, register, _ = journey
    titles = dict(share.cases.values()) | {number: row["Tittel"] for number, row in register.rows.items()}
    assert {number: case.findtext(f"{N}tittel") for number, case in cases.items()} == titles
    for number, row in register.rows.items():
        case = cases[number]
        assert case.findtext(f"{N}saksdato") == f"{number[:4]}-01-02"
        assert case.findtext(f"{N}saksansvarlig") == row["Ansvarlig"]
        assert case.findtext(f"{N}part/{N}partNavn") == row["Part"]
    for number in register.without_row:
        assert cases[number].find(f"{N}part") is None
        assert str(cases[number].findtext(f"{N}saksdato"))[:4] == number[:4]


def test_what_the_register_screens_is_screened_and_not_in_the_public_journal(
    journey: Journey, cases: dict[str, etree._Element]
) -> None:
    share, register, _ = journey
    screened = {number for number, case in cases.items() if case.find(f"{N}skjerming") is not None}
    assert screened == set(register.screened)
    package = share.root.absolute().parent / "package"
    public, running = ((package / f"{name}Journal.xml").read_text("utf-8") for name in ("offentlig", "loepende"))
    for number in register.screened:
        title = register.rows[number]["Tittel"]
        assert title in running
        assert title not in public


def test_every_place_tells_the_same_numbers(journey: Journey, capsys: pytest.CaptureFixture[str]) -> None:
    share, register, said = journey
    rows, left = len(register.rows), len(register.without_folder)
    assert (
        f"It has {rows} rows; {rows - left} rows have a folder, {left} rows have none, and 2 folders"
        in said["proposal"]
    )
    place = share.root.absolute().parent
    line = f"Register          {rows} rows; {rows - left} joined with a folder, {left} without one; 2 folders without"
    capsys.readouterr()
    assert main(["recipe", "check", str(place / "recipe.toml"), str(share.root)], {}) == 0
    assert line in capsys.readouterr().out
    assert main(["plan", str(share.root), "--recipe", str(place / "recipe.toml"), "-o", "again"], {}) == 0
    assert line in capsys.readouterr().out
    facts = json.loads((place / "run" / "plan-report.json").read_text("utf-8"))
    account = facts["register"]
    assert (account["rows"], account["by_number"], account["rows_left"]) == (rows, rows - left, left)
    with (place / "run" / "register.csv").open(encoding="utf-8-sig", newline="") as file:
        listed = list(csv.DictReader(file, delimiter=";"))
    by_remark = {
        remark: [one for one in listed if one["remark"] == remark] for remark in {one["remark"] for one in listed}
    }
    assert [one["in_register"] for one in by_remark["The row has no folder or file"]] == register.without_folder
    assert [one["in_place"] for one in by_remark["The folder or file has no row"]] == register.without_row
    assert len(by_remark["The titles differ"]) == len(register.other_title)
    assert [one["in_register"] for one in by_remark["The row has no case number"]] == [f"{rows} saker"]
    assert len(listed) == left + len(register.without_row) + len(register.other_title) + 1


def test_a_word_of_screening_that_nobody_gave_a_code_lets_nothing_through(journey: Journey) -> None:
    share, register, _ = journey
    place = share.root.absolute().parent
    recipe = (place / "recipe.toml").read_text("utf-8")
    (place / "open.toml").write_text(recipe.replace('"§ 13" = "UO13"', '"§ 14" = "UO14"'), "utf-8")
    words = ["plan", str(share.root), "--recipe", str(place / "open.toml"), "-o", str(place / "open")]
    assert main(words, {}) == 3
    with (place / "open" / "set-aside.csv").open(encoding="utf-8-sig", newline="") as file:
        left_out = {one["key"].split("/")[2] for one in csv.DictReader(file, delimiter=";")}
    numbers = dict((name, number) for name, (number, _) in share.cases.items())
    assert {numbers[name] for name in left_out} == set(register.screened)


def test_numbers_of_rows_are_those_of_the_sheet(journey: Journey) -> None:
    share, register, _ = journey
    with (share.root.absolute().parent / "run" / "register.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {one["in_register"]: int(one["row"]) for one in csv.DictReader(file, delimiter=";") if one["row"]}
    first = 4  # a title, an empty row, the headings
    for index, number in enumerate(register.rows):
        if number in rows:
            assert rows[number] == first + index


def test_a_register_that_changed_is_no_reason_to_load_twice(
    journey: Journey, capsys: pytest.CaptureFixture[str]
) -> None:
    share, _, _ = journey
    place = share.root.absolute().parent
    words = [
        "plan",
        str(share.root),
        "--recipe",
        str(place / "recipe.toml"),
        "-o",
        "since",
        "--since",
        str(place / "run"),
    ]
    assert main(words, {}) == 0
    assert main(["ingest", "since"], {}) == 0
    assert "archived         0" in capsys.readouterr().out
