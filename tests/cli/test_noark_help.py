"""`noarkit help` explains each type, field, element and number of Noark 5, in both languages."""

from __future__ import annotations

import re

import pytest

from noarkit.cli.main import main
from noarkit.cli.noark_help import noark_help, noark_names
from noarkit.cli.noark_lists import noark_lists
from noarkit.manual.markdown import Table, plain_text
from noarkit.manual.terminal import WIDTH, terminal_text
from noarkit.model import metamodel
from noarkit.model.field_names import field_names, standard_name
from noarkit.model.own_marks import USUAL_SCREENING
from noarkit.recipes import check, read_recipe
from noarkit.recipes.examples import recipe_example
from noarkit.server.starter_codes import own_codes
from noarkit.words.texts import LANGUAGES, texts
from tests.test_documentation import ENVIRONMENT


def help_text(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What `noarkit help` prints, in one line of text."""
    assert main(["help", *words], ENVIRONMENT) == 0
    return re.sub(r"\s+", " ", capsys.readouterr().out)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_type_field_and_element_is_explained(lang: str) -> None:
    for name in noark_names():
        blocks = noark_help(name, texts(lang))
        assert blocks is not None, name
        text = terminal_text(blocks)
        assert text.startswith(name) or name in metamodel().types or name in text.lower(), name
        assert "{" not in text.replace("{ group = { field", ""), name
        assert max(len(line) for line in text.splitlines()) <= WIDTH + 30, name


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_name_is_explained_that_is_none(lang: str) -> None:
    words = texts(lang)
    assert set(words.tables["noark_types"]) == set(metamodel().types)
    names = {name for kind in metamodel().types for name in field_names(kind)}
    assert set(words.tables["noark_fields"]) <= names
    defaults = {str(field.default).strip("<>") for kind in metamodel().types.values() for field in kind.fields.values()}
    assert set(words.tables["noark_defaults"]) - {"own"} <= defaults


def test_a_field_says_who_sets_it_how_it_looks_and_where_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    text = help_text(capsys, "journaldato")
    for part in (
        "journaldato (Date registered, M101) The day a registry entry was journalled.",
        "on Journalpost: you may set it; without it, the archive uses the day of the load",
        "in recipes journaldato or registreringsDato",
        "form a day, as 2014-03-12",
        "in an extract journaldato (xs:date)",
        "checked by N504 The period of a journal matches its entries (N5.60)",
    ):
        assert part in text
    assert "Journalpost: the day a registry entry was journalled; you may set it" in help_text(
        capsys, "registreringsDato"
    )
    assert help_text(capsys, "m101") == help_text(capsys, "JournalDato") == text


@pytest.mark.parametrize("name", ["skjerming", "tilgangsrestriksjon", "screening"])
def test_screening_says_which_codes_there_are_and_where_they_are_written(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    told = help_text(capsys, name)
    assert f"in an archive that noarkit makes: {', '.join(USUAL_SCREENING)}" in told
    assert [row[0] for row in own_codes()["skjerming"]] == list(USUAL_SCREENING), "as every archive of ours has them"
    assert "noarkit codes ARCHIVE skjerming" in told
    assert 'screening = "UO13" in [[map]], its parents and its documents, and in [personal_data]; skjerming' in told
    code = USUAL_SCREENING[0]
    recipe = (recipe_example("Arkivdel") or "").replace(
        'class = "123"\n', f'class = "123"\nscreening = "{code}"\n'
    ).replace(
        'fields = { tittel = "Saker 2014-2019",', f'fields = {{ skjerming = "{code}", tittel = "Saker 2014-2019",'
    ) + f'\n[personal_data]\nidentity_numbers = "screen"\nscreening = "{code}"\n'
    assert recipe.count(code) == 4, recipe
    assert [problem for problem in check(read_recipe(recipe)) if not problem.warning] == []


def test_a_field_is_explained_in_norwegian(capsys: pytest.CaptureFixture[str]) -> None:
    text = help_text(capsys, "mappeID", "--lang", "nb")
    assert "mappeID (Mappe-ID, M003) Saksnummeret eller mappens nummer: år og sekvens." in text
    assert "i oppskrifter mappeID eller mappeIdent" in text
    assert "du kan sette det hvis kontoen har rettigheten UpdateSystemManaged; ellers bruker arkivet" in text


def test_a_field_that_types_have_otherwise_is_told_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    text = help_text(capsys, "opprettetDato")
    assert "Merknad: when the remark was made; you may set it" in text
    assert text.count("all others:") == 2
    assert "Avskrivning: avskrivningsdato or opprettetDato" in text


def test_the_types_that_have_a_field_are_named_unless_all_have_it(capsys: pytest.CaptureFixture[str]) -> None:
    screening, revision = help_text(capsys, "skjerming"), help_text(capsys, "id")
    assert "on Arkivdel, Klasse, Mappe, Saksmappe, Moetemappe," in screening and "all types" not in screening
    assert "on all types: the archive sets it, nobody else" in revision


def test_a_type_says_where_it_lies_and_who_sets_its_fields(capsys: pytest.CaptureFixture[str]) -> None:
    text = help_text(capsys, "saksmappe")
    assert "Saksmappe (Case file)" in text and "is in Arkivdel, Klasse" in text
    assert "must have tittel, administrativEnhet, a class" in text
    right, archive = text.index("with the permission UpdateSystemManaged"), text.index("the archive sets id, version")
    assert right < text.index("mappeID (mappeIdent), saksaar, sakssekvensnummer") < archive
    assert "parties (Sakspart)" in text and "noarkit help Saksmappe --example" in text
    assert help_text(capsys, "dokumentbeskrivelse") == help_text(capsys, "Dokument")
    assert "external_ids" not in help_text(capsys, "Sakspart"), "a recipe cannot give a party an external id"


def test_an_element_without_a_field_says_what_becomes_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert "noarkit fills it in when it extracts" in help_text(capsys, "skjermingshjemmel")
    assert "the archive has no field for it" in help_text(capsys, "utlaantDato")


@pytest.mark.parametrize(
    ("cited", "rule"), [("N5.60", "N504"), ("n5.60", "N504"), ("6.4.15", "N003"), ("krav 6.4.15", "N003")]
)
def test_a_check_of_others_leads_to_our_rules(cited: str, rule: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"{rule} {texts('en').text('rules', rule, 'title')}" in help_text(capsys, cited)


def test_an_example_is_printed_as_a_recipe(capsys: pytest.CaptureFixture[str]) -> None:
    for lang, comment in (("en", "# Makes Saksmappe"), ("nb", "# Lager Saksmappe")):
        assert main(["help", "Saksmappe", "--example", "--lang", lang], ENVIRONMENT) == 0
        text = capsys.readouterr().out
        assert text.startswith(comment)
        assert check(read_recipe(text)) == []


@pytest.mark.parametrize("words", [["Presedens", "--example"], ["recipes", "--example"], ["--example"], ["saksmape"]])
def test_what_there_is_none_of_is_said(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", *words], ENVIRONMENT) == 2
    assert "noarkit help" in capsys.readouterr().err


def test_the_chapter_has_every_type_and_field() -> None:
    lists = noark_lists(texts("en"))
    first_cells = {name: _first_cells(table) for name, table in lists.items() if isinstance(table, Table)}
    assert first_cells["noark-types"] == list(metamodel().types)
    names = {name.strip("*") for cell in first_cells["noark-fields"] for name in cell.split(", ")}
    assert names == {
        name
        for kind in metamodel().types.values()
        for field in kind.fields
        for name in (field, standard_name(kind.name, field))
    }
    assert "journaldato" in first_cells["noark-names"]


def _first_cells(table: Table) -> list[str]:
    return [plain_text(row[0]) for row in table.rows]
