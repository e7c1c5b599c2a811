"""What `noarkit recipe new` proposes draws no warning from `recipe check`, and explains itself in either language."""

from __future__ import annotations

import mailbox
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from email.message import EmailMessage
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.events import ignore_event
from noarkit.graph.entity import MappedRecord
from noarkit.recipes import compile_recipe, read_recipe
from noarkit.records import SourceRecord
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree
from samples.packages.good import good_draft
from tests.test_documentation import ENVIRONMENT


def a_tree(root: Path) -> Path:
    """Case files of one level, and a file above them."""
    for name in ("2014-0007 Skole/brev.txt", "2014-0007 Skole/ned/svar.txt", "2014-0008 Vei/kart.txt", "rot.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    return root


def a_tree_of_classes(root: Path) -> Path:
    """Case files with mails below two levels of folders, and files above them."""
    for case in ("2014-0007 Skole", "2014-0008 Vei", "2014-0009 Bro"):
        (root / "1 Emne" / "11 Under" / case).mkdir(parents=True)
        (root / "1 Emne" / "11 Under" / case / "inn.eml").write_bytes(letter().as_bytes())
    (root / "1 Emne" / "plan.txt").write_text("x")
    (root / "rot.txt").write_text("x")
    return root


def letter() -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = "Kari <kari@a.no>", "Ola <ola@b.no>"
    message["Subject"], message["Date"] = "Sak", "Tue, 02 Jan 2014 13:24:05 +0100"
    message.set_content("hei")
    return message


def a_mailbox(root: Path) -> Path:
    root.mkdir()
    with closing(mailbox.mbox(root / "post.mbox")) as box:
        box.add(letter())
        box.flush()
    return root / "post.mbox"


def a_database(root: Path) -> Path:
    """Case files, records with documents, parties, and a table without a row."""
    root.mkdir()
    with closing(sqlite3.connect(root / "arkiv.db")) as db:
        db.executescript(
            "CREATE TABLE sak (id INTEGER PRIMARY KEY, tittel TEXT, opprettet DATE);"
            "CREATE TABLE dokument (id INTEGER PRIMARY KEY, sak INTEGER REFERENCES sak(id), tittel TEXT, innhold BLOB);"
            "CREATE TABLE tom (id INTEGER PRIMARY KEY, navn TEXT);"
            "INSERT INTO sak VALUES (1, 'Skole', '2014-01-02'); INSERT INTO dokument VALUES (1, 1, 'Brev', x'4142');"
        )
    return root / "arkiv.db"


def an_extract(root: Path) -> Path:
    good_draft("5.0").write(root)
    return root


PLACES: dict[str, Callable[[Path], Path]] = {
    "tree": a_tree,
    "classes": a_tree_of_classes,
    "mailbox": a_mailbox,
    "database": a_database,
    "extract": an_extract,
}


def proposed(place: Path, lang: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The text of the recipe that is proposed for a place."""
    recipe = place.parent / f"{place.name}-{lang}.toml"
    assert main(["recipe", "new", str(place), "-o", str(recipe), "--lang", lang], ENVIRONMENT) == 0
    capsys.readouterr()
    return recipe.read_text()


@pytest.mark.parametrize("kind", PLACES)
def test_a_proposed_recipe_draws_no_warning_from_a_check(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = PLACES[kind](tmp_path / "src")
    recipe = place.parent / f"{place.name}-en.toml"
    # whose the mails are is asked where nothing says it, and answered here: nobody's
    recipe.write_text(proposed(place, "en", capsys).replace('own_domains = ["ask"]', "own_domains = []"))
    assert main(["recipe", "check", str(recipe), str(place)], ENVIRONMENT) == 0
    told = capsys.readouterr()
    assert told.out == "" and "warning" not in told.err


def test_a_kind_that_the_source_never_has_still_draws_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = a_tree(tmp_path / "src")
    recipe = tmp_path / "r.toml"
    recipe.write_text(proposed(place, "en", capsys).replace('for = "folder"', 'for = "foldr"'))
    assert main(["recipe", "check", str(recipe), str(place)], ENVIRONMENT) == 0
    assert "No record of the kind foldr was found. Did you mean folder?" in capsys.readouterr().out


def comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("#")]


@pytest.mark.parametrize("kind", [kind for kind in PLACES if kind != "extract"])
def test_comments_are_in_the_language_that_was_asked_for(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = PLACES[kind](tmp_path / "src")
    english, norwegian = (proposed(place, lang, capsys) for lang in ("en", "nb"))
    without = [[line for line in text.splitlines() if not line.startswith("#")] for text in (english, norwegian)]
    assert without[0] == without[1], "a recipe says the same in every language"
    assert comments(norwegian) and not re.search(
        r"\b(the|and|record holds|which|never)\b", "\n".join(comments(norwegian))
    )
    assert "endre det aldri mellom to kjøringer" in norwegian
    assert "#:" not in english + norwegian and "…" not in english + norwegian
    assert not re.search(
        r"\b1 (rows|records|rader|poster)\b|rows?; E|rader?; H", "\n".join(comments(english) + comments(norwegian))
    )


def test_a_file_above_the_case_files_lies_in_a_class_with_a_name(tmp_path: Path) -> None:
    source = FileTree(a_tree_of_classes(tmp_path / "src"), FilePolicy(mail="parts", media_types=False))
    text = source.default_recipe()
    mapper = compile_recipe(read_recipe(text))
    results = [mapper.map(item) for item in source.records(ignore_event) if isinstance(item, SourceRecord)]
    mapped = [result for result in results if isinstance(result, MappedRecord)]
    assert len(mapped) == len(results) == 5
    entities = [*mapper.targets(), *(entity for one in mapped for entity in one.entities)]
    classes = [entity.fields for entity in entities if entity.type == "Klasse"]
    titles = {(fields["klasseIdent"], fields["tittel"]) for fields in classes}
    assert ("1 Emne/0", "Uten klasse") in titles and ("0", "Uten klasse") in titles
    assert not [ident for ident, _ in titles if "-/" in str(ident) or str(ident).endswith("-")]
