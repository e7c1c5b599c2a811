"""The level of the case files is found from the folders, and the default recipe keeps the folders above it."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.events import ignore_event
from noarkit.graph.entity import Entity, MappedRecord
from noarkit.recipes import compile_recipe, read_recipe
from noarkit.records import SourceRecord, fitted
from noarkit.sources.files.levels import Levels, survey
from noarkit.sources.files.source import FileTree


def lay_out(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    return root


def mapped(root: Path) -> list[Entity]:
    recipe = read_recipe(FileTree(root).default_recipe(), "default")
    mapper = compile_recipe(recipe)
    source = fitted(FileTree(root), recipe.data.get("source"))
    made: list[Entity] = []
    for item in source.records(ignore_event):
        assert isinstance(item, SourceRecord)
        told = mapper.map(item)
        assert isinstance(told, MappedRecord), told
        made += told.entities
    return made


def titles_above(made: list[Entity], key: str) -> list[str]:
    """The titles of the Mapper that a record lies in, outermost first."""
    by_key = {entity.key: entity for entity in made}
    titles: list[str] = []
    above = by_key[key].parent
    while above in by_key:
        titles.insert(0, str(by_key[above].fields["tittel"]))
        above = by_key[above].parent
    return titles


CASES = [f"Byggesak/2019-{n:04} Hansen/Vedtak.pdf" for n in range(1, 131)]


@pytest.mark.parametrize(
    ("names", "level"),
    [
        (CASES, 2),
        ([f"{year}/{year}-{n} Sak/brev.txt" for year in (2018, 2019, 2020) for n in (1, 2)], 2),
        ([f"Teknisk/Bygg/{n}-2019/Vedtak.pdf" for n in range(1, 9)], 3),
        ([f"2019-{n}/Vedlegg/a.pdf" for n in range(1, 9)], 1),
        ([f"Kunder/{name}/avtale.pdf" for name in ("Berg", "Dal", "Li", "Moe")], 2),
        (["Bilder/a.jpg", "Brev/b.txt", "Notater/c.txt"], 1),
        (["a.txt"], 1),
        (["2023/2023-114 Byggesak/Vedtak.txt", "2023/2023-120 Bevilling/svar.eml"], 2),
        (["2023/2023-114 Byggesak/Vedtak.txt"], 2),
        (["Brev/liste.txt", "Brev/2023-114 Byggesak/Vedtak.txt"], 1),
    ],
)
def test_the_level_of_case_files_is_found(names: list[str], level: int, tmp_path: Path) -> None:
    assert survey(lay_out(tmp_path / "kilde", *names)).case_level == level


def test_each_case_folder_becomes_a_mappe_inside_those_above_it(tmp_path: Path) -> None:
    made = mapped(lay_out(tmp_path / "kilde", *CASES))
    folders = {entity.key for entity in made if entity.type == "Mappe"}
    assert len(folders) == 131
    assert titles_above(made, "Byggesak/2019-0007 Hansen/Vedtak.pdf") == ["Byggesak", "2019-0007 Hansen"]


def test_what_lies_above_or_below_the_case_files_keeps_its_place_in_words(tmp_path: Path) -> None:
    root = lay_out(
        tmp_path / "kilde", *CASES[:5], "les.txt", "Byggesak/oversikt.txt", "Byggesak/2019-0001 Hansen/a/b/c.txt"
    )
    made = mapped(root)
    by_key = {entity.key: entity for entity in made}
    assert titles_above(made, "les.txt") == ["kilde"]
    assert titles_above(made, "Byggesak/oversikt.txt") == ["Byggesak", "Byggesak"]
    assert titles_above(made, "Byggesak/2019-0001 Hansen/a/b/c.txt") == ["Byggesak", "2019-0001 Hansen"]
    assert by_key["Byggesak/2019-0001 Hansen/a/b/c.txt"].fields["tittel"] == "a / b / c.txt"
    # a Mappe holds either Mappe or records
    parents = {
        kind: {entity.parent for entity in made if entity.type == kind} for kind in ("Mappe", "Basisregistrering")
    }
    assert parents["Mappe"].isdisjoint(parents["Basisregistrering"])


def test_flattened_folders_are_counted_in_the_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lay_out(Path("kilde"), *CASES[:5], "Byggesak/2019-0001 Hansen/a/b/c.txt")
    assert main(["plan", "kilde", "-o", "run"], {}) == 0
    assert "W216: 1" in capsys.readouterr().out


def test_a_tree_without_folders_has_nothing_to_find(tmp_path: Path) -> None:
    assert survey(tmp_path) == Levels()
