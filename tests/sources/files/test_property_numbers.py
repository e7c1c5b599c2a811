"""Property numbers in names and registers become Eiendom of the case; a pair of numbers without a word is none."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from noarkit.events import ignore_event
from noarkit.graph.entity import Entity, MappedRecord
from noarkit.recipes import check, compile_recipe, read_recipe
from noarkit.records import SourceRecord
from noarkit.sources.files.case_names import read_form
from noarkit.sources.files.property_numbers import properties_in, read_properties
from noarkit.sources.files.source import FileTree

MAIL = b"From: a@fjord.kommune.no\r\nTo: b@fjord.kommune.no\r\nDate: Tue, 04 Mar 2014 13:24:05 +0100\r\n\r\n"


@pytest.mark.parametrize(
    ("name", "numbers", "title"),
    [
        ("Byggesak Vika gnr 60-116", ["60/116"], "Byggesak Vika 60/116"),
        ("Byggesak gnr. 12/34", ["12/34"], "Byggesak 12/34"),
        ("Deling gnr 12 bnr 34 i Vika", ["12/34"], "Deling 12/34 i Vika"),
        ("Deling Gnr. 12, bnr. 034 fnr 5 snr 2", ["12/34/5/2"], "Deling 12/34/5/2"),
        ("Gårdsnr 12 bruksnr 34, skjøte", ["12/34"], "12/34, skjøte"),
        ("gnr/bnr 12/34 og gnr/bnr 12/35", ["12/34", "12/35"], "12/34 og 12/35"),
        ("gbnr 12/34/0/7", ["12/34/0/7"], "12/34/0/7"),
        ("Sak om 60-116", [], "Sak om 60-116"),
        ("Nr 60-116, telefonnr 12/34", [], "Nr 60-116, telefonnr 12/34"),
        ("gnr 12", [], "gnr 12"),
        ("gnr 12/34567", [], "gnr 12/34567"),
    ],
)
def test_a_name_tells_its_properties(name: str, numbers: list[str], title: str) -> None:
    found, rewritten = properties_in(name)
    assert ([number.text for number in found], rewritten) == (numbers, title)


@pytest.mark.parametrize(
    ("cell", "numbers"),
    [
        ("12/34", ["12/34"]),
        ("12/34/0/7", ["12/34/0/7"]),
        ("12/34, 12/35; 13/1", ["12/34", "12/35", "13/1"]),
        ("gnr 12, bnr 34", ["12/34"]),
        ("12/34 m.fl.", []),
        ("Vika", []),
        ("", []),
    ],
)
def test_a_cell_is_a_property_or_none(cell: str, numbers: list[str]) -> None:
    assert [number.text for number in read_properties(cell)] == numbers


def test_a_case_name_has_its_number_its_title_and_its_properties() -> None:
    case = read_form("{year:4}-{number} {title}").parse("2014-0007 Byggesak gnr 60-116")
    assert case is not None
    assert case.fields("") == {
        "year": 2014,
        "number": 7,
        "ident": "2014/7",
        "title": "Byggesak 60/116",
        "properties": [{"gnr": "60", "bnr": "116"}],
    }


def share(root: Path, *, in_names: bool) -> FileTree:
    """Case folders with mails, and a register of them with a column of properties."""
    rows = ["Saksnummer;Tittel;Eiendom"]
    for number in range(1, 15):
        tail = f" gnr 60-{number}" if in_names else ""
        for year in (2014, 2015):
            path = root / f"{year}-{number:04} Byggesak nummer {number}{tail}" / "brev.eml"
            path.parent.mkdir(parents=True)
            path.write_bytes(MAIL)
            moment = datetime(year, 5, 6, tzinfo=UTC).timestamp()
            os.utime(path, (moment, moment))
            rows.append(f"{year}/{number};Byggesak nummer {number};{61 + in_names}/{number}")
    (root / "Saksregister.csv").write_text("\n".join(rows))
    return FileTree(root)


@pytest.mark.parametrize(("in_names", "gnr"), [(True, "60"), (False, "61")])
def test_the_proposal_makes_them_eiendom_and_asks_for_the_municipality(
    in_names: bool, gnr: str, tmp_path: Path
) -> None:
    source = share(tmp_path / "Saker", in_names=in_names)
    text = source.proposal(ignore_event)
    (problem,) = check(read_recipe(text))
    assert (problem.key, problem.data["name"]) == ("unanswered", "knr")

    recipe = read_recipe(text.replace('knr = "ask"', 'knr = "1413"'))
    assert check(recipe) == []
    mapper, made = compile_recipe(recipe), dict[str, Entity]()
    for item in source.fitted(recipe.source_settings("files")).records(ignore_event):
        if isinstance(item, SourceRecord):
            mapped = mapper.map(item)
            assert isinstance(mapped, MappedRecord), mapped
            made |= {entity.key: entity for entity in mapped.entities if entity.type == "Eiendom"}
    assert len(made) == 28
    for entity in made.values():
        assert (entity.fields["knr"], entity.fields["gnr"]) == ("1413", gnr)
        assert entity.parent is not None and f"-{int(str(entity.fields['bnr'])):04} " in entity.parent


def test_a_plan_without_a_recipe_asks_nothing_and_makes_none(tmp_path: Path) -> None:
    text = share(tmp_path / "Saker", in_names=True).default_recipe()
    assert 'type = "Eiendom"' not in text
    assert check(read_recipe(text)) == []
