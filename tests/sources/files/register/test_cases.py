"""How the rows of a register of cases and the folders of a tree find each other, and what is told of the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any  # rules, as TOML has them

import pytest

from noarkit.errors import ItemMalformed, ItemVanished
from noarkit.events import ignore_event
from noarkit.graph.entity import Skipped
from noarkit.recipes.recipe_model import RegisterRules
from noarkit.records import Oddity, RegisterAccount, SourceRecord
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree

FORM = "{year:4}-{number} {title}"
RULES = {"file": "R.csv", "column": "Saksnr", "columns": {"tittel": "Tittel"}}


def tree(
    root: Path,
    folders: Sequence[str],
    rows: Sequence[str],
    *,
    form: str = FORM,
    head: str = "Saksnr;Tittel",
    **rules: object,
) -> FileTree:
    """A tree of one file a folder, with a register of those rows."""
    for folder in folders:
        (root / folder).mkdir(parents=True)
        (root / folder / "a.txt").write_text("a")
    (root / "R.csv").write_text("\n".join([head, *rows, ""]), "utf-8")
    register = RegisterRules(**{**RULES, **rules})  # type: ignore[arg-type]  # as each test has them
    return FileTree(root, FilePolicy(case_level=1, case_name=form, register=register))


def read(source: FileTree) -> tuple[dict[str, object], RegisterAccount]:
    """The row of each folder by the title in it, the reasons of what is skipped, and the account."""
    rows: dict[str, object] = {}
    for item in source.records(ignore_event):
        if isinstance(item, SourceRecord):
            case = item.fields["case"]
            assert isinstance(case, dict)
            rows[item.key] = (case.get("ident"), case.get("row", {}).get("tittel"))
        elif isinstance(item, Skipped):
            rows[item.record_key] = item.reason
    account = source.register_account()
    assert account is not None
    return rows, account


def test_numbers_join_however_either_side_writes_them(tmp_path: Path) -> None:
    folders = ["2014-0007 Veg", "2014_8 Bru", "2015 9 - Skole"]
    rows, account = read(tree(tmp_path, folders, ["2014/7;Vegen", "Sak 2014-0008;Brua", "2015/0009;Skolen"]))
    assert rows == {
        "2014-0007 Veg/a.txt": ("2014/7", "Vegen"),
        "2014_8 Bru/a.txt": ("2014/8", "Brua"),
        "2015 9 - Skole/a.txt": ("2015/9", "Skolen"),
        "R.csv": "the register itself",
    }
    assert (account.rows, account.by_number, account.titles) == (3, 3, 3)


@pytest.mark.parametrize(
    ("form", "number"), [("{year:2}-{number} {title}", "14/7"), ("{number}-{year:2} {title}", "7/14")]
)
def test_two_figures_of_a_year_stand_where_those_of_the_folders_do(tmp_path: Path, form: str, number: str) -> None:
    folder = number.replace("/", "-") + " Veg"
    rows, _ = read(tree(tmp_path, [folder], [f"{number};Vegen"], form=form))
    assert rows[f"{folder}/a.txt"] == ("2014/7", "Vegen")


def test_a_folder_without_a_number_is_joined_by_its_name_and_gets_the_number(tmp_path: Path) -> None:
    rows, account = read(tree(tmp_path, ["Hoering – om VEG", "Bru"], ["2014/7;Bru", "2014/8;Høring om veg"]))
    assert rows["Bru/a.txt"] == ("2014/7", "Bru")
    assert rows["Hoering – om VEG/a.txt"] == (None, None)  # ø is no accent
    assert (account.by_name, account.rows_left, account.places_left) == (1, 1, 1)


def test_a_name_that_two_rows_have_joins_neither(tmp_path: Path) -> None:
    _, account = read(tree(tmp_path, ["Klage"], ["2014/7;Klage", "2014/8;klage."]))
    assert (account.by_name, account.rows_left, account.places_left) == (1, 1, 0)  # one of them to the letter
    _, account = read(tree(tmp_path / "b", ["KLAGE"], ["2014/7;Klage", "2014/8;klage."]))
    assert (account.by_name, account.rows_left, account.places_left) == (0, 2, 1)


@pytest.mark.parametrize("title", ["Veg", "2014-9 Veg"])
def test_a_number_that_no_row_has_is_not_joined_by_a_title(title: str, tmp_path: Path) -> None:
    rows, account = read(tree(tmp_path, ["2014-9 Veg"], [f"2014/7;{title}"]))
    assert rows["2014-9 Veg/a.txt"] == ("2014/9", None)
    assert account.oddities == (
        Oddity("place-left", None, "2014-9 Veg", "", "2014/9"),
        Oddity("row-left", 2, "", "2014/7", ""),
    )


def test_numbers_in_two_rows_or_of_two_folders_are_told_and_nothing_gets_lost(tmp_path: Path) -> None:
    folders = ["2014-7 Veg", "2014-07 Veg igjen", "2014-8 Bru"]
    rows, account = read(tree(tmp_path, folders, ["2014/7;Veg", "2014/8;Bru", "2014/8;Bru, kopi", ";Sum 3"]))
    assert [row for key, row in sorted(rows.items()) if key != "R.csv"] == [
        ("2014/7", "Veg"),
        ("2014/7", None),
        ("2014/8", "Bru"),
    ]
    assert (account.twice, account.same_number, account.no_number) == (1, 1, 1)
    assert account.rows == account.by_number + account.rows_left + account.twice


def test_rows_without_a_folder_become_cases_where_the_others_of_their_year_lie(tmp_path: Path) -> None:
    source = tree(tmp_path, ["2014-7 Veg"], ["2014/7;Veg", "2014/9;Uten mappe", ";Sum"], no_folder="make")
    (made,) = (item for item in source.records(ignore_event) if isinstance(item, SourceRecord) and item.kind == "case")
    assert (made.key, made.contents, made.fields["folders"]) == ("R.csv//2014/9", (), [])
    assert made.fields["case"] == {
        **{"year": 2014, "number": 9, "ident": "2014/9", "title": "Uten mappe"},
        "row": {"Saksnr": "2014/9", "Tittel": "Uten mappe", "tittel": "Uten mappe"},
    }


def test_files_of_a_folder_without_a_row_are_left_out_only_where_asked(tmp_path: Path) -> None:
    rows, account = read(tree(tmp_path, ["2014-7 Veg", "2014-9 Ny"], ["2014/7;Veg"], no_row="leave-out"))
    assert rows["2014-9 Ny/a.txt"] == "in a case file that the register does not have"
    assert account.places_left == 1


def test_what_lies_above_the_case_files_has_no_row(tmp_path: Path) -> None:
    source = tree(tmp_path, ["2014-7 Veg"], ["2014/7;Veg"], no_row="leave-out")
    (tmp_path / "les meg.txt").write_text("a")
    assert read(source)[0]["les meg.txt"] == (None, None)


def test_the_register_is_loaded_too_where_asked(tmp_path: Path) -> None:
    assert read(tree(tmp_path, ["2014-7 Veg"], ["2014/7;Veg"], keep=True))[0]["R.csv"] == (None, None)


def test_files_are_looked_into_elsewhere_and_rows_joined_here(tmp_path: Path) -> None:
    folders = [f"2014-{number} Sak" for number in range(1, 320)]
    rows, account = read(tree(tmp_path, folders, [f"2014/{number};Tittel {number}" for number in range(1, 320)]))
    assert (account.by_number, account.rows_left, account.places_left) == (319, 0, 0)
    assert rows["2014-300 Sak/a.txt"] == ("2014/300", "Tittel 300")


def test_a_register_that_is_gone_or_has_no_such_column_stops_the_reading(tmp_path: Path) -> None:
    source = tree(tmp_path, ["2014-7 Veg"], ["2014/7;Veg"], columns={"tittel": "Emne"})
    with pytest.raises(ItemMalformed) as refusal:
        list(source.records(ignore_event))
    assert refusal.value.data["why"] == "no column Emne"
    (tmp_path / "R.csv").unlink()
    with pytest.raises(ItemVanished):
        list(source.records(ignore_event))


def test_a_run_reads_its_source_again_on_the_same_terms(tmp_path: Path) -> None:
    source = tree(tmp_path, ["2014-7 Veg"], ["2014/7;Veg"])
    assert source.fitted(source.identity.settings).identity == source.identity


def test_rows_of_documents_and_files_are_counted_both_ways(tmp_path: Path) -> None:
    rules: dict[str, Any] = {"is_of": "document", "column": "Fil", "joins": "path", "columns": {"tittel": "Emne"}}
    rows = ["A/a.txt;Om A", "B\\a.txt;Om B", "C/borte.txt;Om C"]
    source = tree(tmp_path, ["A", "B", "D"], rows, head="Fil;Emne", **rules)
    titles = {
        item.key: item.fields["register"] for item in source.records(ignore_event) if isinstance(item, SourceRecord)
    }
    assert {key: row.get("tittel") for key, row in titles.items() if isinstance(row, dict)} == {
        **{"A/a.txt": "Om A", "B/a.txt": "Om B", "D/a.txt": None}
    }
    account = source.register_account()
    assert account is not None
    assert (account.is_of, account.rows, account.by_name, account.rows_left, account.places_left) == (
        "document",
        3,
        2,
        1,
        1,
    )
