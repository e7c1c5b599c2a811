"""A tree whose folders bear case numbers: numbers and titles go where they belong, and doubt is asked, not taken."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from noarkit.errors import PlanFault
from noarkit.events import ignore_event
from noarkit.graph.entity import Entity, MappedRecord
from noarkit.recipes import check, compile_recipe, read_recipe
from noarkit.records import SourceRecord
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree

MAIL = b"From: a@fjord.kommune.no\r\nTo: b@fjord.kommune.no\r\nDate: Tue, 04 Mar 2014 13:24:05 +0100\r\n\r\n"


def lay_out(root: Path, *names: str, year: int = 0) -> Path:
    """Files as old as the year in the name of their folder, or as `year`."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(MAIL if name.endswith(".eml") else b"x")
        moment = datetime(year or int(re.findall(r"\d{4}", name)[0]), 5, 6, tzinfo=UTC).timestamp()
        os.utime(path, (moment, moment))
    return root


def planned(source: FileTree, text: str) -> dict[str, Entity]:
    """What becomes of a tree by a recipe, by keys."""
    recipe = read_recipe(text)
    assert check(recipe) == []
    mapper, made = compile_recipe(recipe), dict[str, Entity]()
    for item in source.fitted(recipe.source_settings("files")).records(ignore_event):
        assert isinstance(item, SourceRecord)
        mapped = mapper.map(item)
        assert isinstance(mapped, MappedRecord), mapped
        made |= {entity.key: entity for entity in mapped.entities}
    return made


CASES = [f"{year}-{number:04} Sak om {number}/brev.txt" for year in (2014, 2015) for number in range(1, 14)]


def test_folders_that_nest_bear_their_number_and_their_title(tmp_path: Path) -> None:
    source = FileTree(lay_out(tmp_path / "Saker", *(f"Bygg/{name}" for name in CASES)))
    text = source.default_recipe()
    assert 'case_name = "{year:4}-{number} {title}"' in text.splitlines()
    years = "of 26 folders whose files show a year, 26 have the same year in their names."
    assert f"# 26 of 26 folders have names of this form; {years}" in text
    made = planned(source, text)
    case = made["folder:Bygg/2014-0007 Sak om 7"]
    assert (case.type, case.fields["mappeIdent"], case.fields["tittel"]) == ("Mappe", "2014/7", "Sak om 7")
    above = made["folder:Bygg"]
    assert (above.fields["tittel"], "mappeIdent" in above.fields) == ("Bygg", False)


def test_case_files_bear_year_and_number(tmp_path: Path) -> None:
    more = ("2014-0003 Sak om 3/svar.eml", "2014-0003 Sak om 3/ned/c.txt")
    source = FileTree(lay_out(tmp_path / "Saker", *CASES, *more))
    made = planned(source, source.default_recipe())
    case = made["folder:2014-0003 Sak om 3"]
    assert case.type == "Saksmappe"
    numbers = [case.fields[name] for name in ("saksaar", "sakssekvensnummer", "mappeIdent", "tittel")]
    assert numbers == [2014, 3, "2014/3", "Sak om 3"]


def test_what_does_not_fit_keeps_its_name_and_gets_no_number(tmp_path: Path) -> None:
    source = FileTree(
        lay_out(tmp_path / "Saker", *CASES, "Diverse/a.txt", "2014-2017 Plan/b.txt", "uten.txt", year=2014)
    )
    made = planned(source, source.default_recipe())
    for key, title in (("folder:Diverse", "Diverse"), ("folder:2014-2017 Plan", "2014-2017 Plan")):
        assert made[key].fields["tittel"] == title
        assert "mappeIdent" not in made[key].fields


def test_of_two_folders_with_one_number_neither_gets_it_until_somebody_says_which(tmp_path: Path) -> None:
    source = FileTree(lay_out(tmp_path / "Saker", *CASES, "2014_7 Nabovarsel/a.txt"))
    text = source.default_recipe()
    line = 'case_exceptions = ["2014-0007 Sak om 7", "2014_7 Nabovarsel"]'
    assert line in text
    made = planned(source, text)
    assert "mappeIdent" not in made["folder:2014-0007 Sak om 7"].fields
    assert made["folder:2014_7 Nabovarsel"].fields["tittel"] == "2014_7 Nabovarsel"
    decided = planned(source, text.replace(line, 'case_exceptions = ["2014_7 Nabovarsel"]'))
    assert decided["folder:2014-0007 Sak om 7"].fields["mappeIdent"] == "2014/7"
    assert "mappeIdent" not in decided["folder:2014_7 Nabovarsel"].fields


def test_a_form_that_almost_fits_is_asked_and_taken_when_it_is_said(tmp_path: Path) -> None:
    others = [f"Mappe {letter}/a.txt" for letter in "abcdefghijklmn"]
    source = FileTree(lay_out(tmp_path / "Saker", *CASES, *others, year=2015))
    text = source.default_recipe()
    asked = '# case_name = "{year:4}-{number} {title}"'
    assert "Are these case numbers? 26 of 40 folders" in text
    assert not [key for key, made in planned(source, text).items() if "mappeIdent" in made.fields]
    made = planned(source, text.replace(asked, asked.removeprefix("# ")))
    assert made["folder:2014-0007 Sak om 7"].fields["mappeIdent"] == "2014/7"


def test_a_few_folders_or_names_of_another_kind_are_no_case_numbers(tmp_path: Path) -> None:
    few = FileTree(lay_out(tmp_path / "few", *CASES[:5])).default_recipe()
    assert "\ncase_name" not in few
    dates = [f"2014-{month:02}-12 Møte/a.txt" for month in range(1, 13)]
    assert (
        "case_name"
        not in FileTree(
            lay_out(tmp_path / "dates", *dates, *(d.replace("-12 ", "-13 ") for d in dates))
        ).default_recipe()
    )


@pytest.mark.parametrize("form", ["{year}-{number}", "{title}", 7])
def test_what_is_no_form_is_told(form: object) -> None:
    with pytest.raises(PlanFault) as told:
        FilePolicy().with_settings({"case_name": form})
    assert told.value.data["where"] == "[source] case_name"


def test_the_comments_are_in_the_language_of_who_asks(tmp_path: Path) -> None:
    source = FileTree(lay_out(tmp_path / "Saker", *CASES, "2014_7 Nabovarsel/a.txt"))
    text = source.proposal(ignore_event, lang="nb")
    assert "27 av 27 mapper har navn på denne formen" in text
    assert "samme nummer" in text


def test_which_of_two_folders_has_a_number_is_a_question_that_stops_a_plan(tmp_path: Path) -> None:
    source = FileTree(lay_out(tmp_path / "Saker", *CASES, "2014_7 Nabovarsel/a.txt"))
    text = source.default_recipe()
    line = 'case_exceptions = ["2014-0007 Sak om 7", "2014_7 Nabovarsel"]'
    (problem,) = check(read_recipe(text.replace(line, line.replace("[", '["ask", '))))
    assert (problem.key, problem.data, problem.warning) == ("unanswered", {"name": "case_exceptions"}, False)
