"""A field may be written by the archive's name or by the standard's, and a plan does not know which was chosen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import noarkit
from noarkit.errors import UsageFault
from noarkit.loading.folder import RunFolder
from noarkit.loading.request import check_same_request
from noarkit.recipes import read_recipe
from noarkit.words.texts import texts
from tests.sources.recipe.recipes import HEAD, mapped, problems, record, told

BY_ARCHIVE = """[target]
external_system = "filer"
model = 3
[target.arkivskaper]
fields = { arkivskaperIdent = "987654321", arkivskaperNavn = "Fjord" }
[target.classification]
fields = { tittel = "Emne", uuid = "00000000-0000-4000-8000-000000000001" }
classes = [{ ident = "1", title = "Fisk", fields = { skjerming = "UO" } }]
[defaults.Saksmappe]
administrativEnhet = "ADM"   # mappeIdent is left alone here
avsluttetDato = 2014-12-31
[[map]]
class = "1"
notes = [{ fields = { tekst = "= key", opprettetAv = "Kari" } }]
sign_offs = [{ by = "= none", fields = { avskrivningsmaate = "TE", opprettetDato = 2014-02-03 } }]
fields = { registreringsDato = 2014-03-12, registreringsIdent = "2014/1", "avsluttetAv" = "= 'journaldato'" }
documents = [{ fields = { skjerming = "= none", uuid = "= none" }, versions = [{ fields = { uuid = "= none" } }] }]
[[map.parents]]
key = "= record.folder"
class = { ident = "1", fields = { skjerming = "UO" } }
parties = [{ fields = { sakspartIdent = "1", sakspartNavn = "Per", sakspartRolle = "KLI" } }]
fields.mappeIdent = "2014/7"
fields.skjerming = "= none"
"""
STANDARD_NAMES = {
    r"arkivskaperIdent": "arkivskaperID",
    r"uuid": "systemID",
    r"skjerming": "tilgangsrestriksjon",
    r"tekst": "merknadstekst",
    r"opprettetAv": "merknadRegistrertAv",
    r"opprettetDato": "avskrivningsdato",
    r"registreringsDato": "journaldato",
    r"registreringsIdent": "registreringsID",
    r'"avsluttetAv"': '"arkivertAv"',
    r"sakspart(?=Ident|Navn|Rolle)": "part",
    r"partIdent": "partID",
    r"mappeIdent(?= =)": "mappeID",
}


def by_standard() -> str:
    text = BY_ARCHIVE
    for name, standard in STANDARD_NAMES.items():
        text, count = re.subn(name, standard, text)
        assert count, name
    return text


def test_a_recipe_reads_the_same_by_either_name() -> None:
    first, second = read_recipe(BY_ARCHIVE), read_recipe(by_standard())
    assert first.problems == second.problems == ()
    assert (first.maps, first.target, first.defaults) == (second.maps, second.target, second.defaults)
    assert second.text.replace('avsluttetAv = "=', '"avsluttetAv" = "=') == first.text == BY_ARCHIVE
    assert problems(BY_ARCHIVE) == problems(by_standard()) == []


def test_plans_of_both_spellings_have_one_sha256(tmp_path: Path) -> None:
    source = tmp_path / "sak"
    source.mkdir()
    (source / "brev.txt").write_text("brev")
    plain = BY_ARCHIVE.replace('"avsluttetAv"', "avsluttetAv")
    recipes = [tmp_path / name for name in ("archive.toml", "standard.toml", "other.toml")]
    for place, text in zip(recipes, (plain, by_standard(), plain.replace("Per", "Kari")), strict=True):
        place.write_text(text)
    plans = [noarkit.plan(tmp_path / "sak", recipe=place, run=tmp_path / place.stem) for place in recipes]
    assert plans[0].sha256 == plans[1].sha256 != plans[2].sha256
    run = RunFolder(tmp_path / "archive")
    check_same_request(run, {"recipe": str(recipes[1])})
    with pytest.raises(UsageFault):
        check_same_request(run, {"recipe": str(recipes[2])})


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ('journaldato = "2014-01-01", registreringsDato = "2014-01-02"', ("registreringsDato", "journaldato")),
        ('registreringsDato = "2014-01-01", journaldato = "2014-01-02"', ("journaldato", "registreringsDato")),
        ('skjerming = "UO", tilgangsrestriksjon = "UO"', ("tilgangsrestriksjon", "skjerming")),
    ],
)
def test_both_names_in_one_map_are_a_fault(fields: str, names: tuple[str, str]) -> None:
    recipe = f'{HEAD}model = 3\n[defaults.Saksmappe]\nadministrativEnhet = "A"\n[[map]]\nfields = {{ {fields} }}\n'
    (problem,) = told(recipe)
    assert (problem.key, problem.line, problem.warning) == ("field-twice", 7, False)
    assert (problem.data["field"], problem.data["other"]) == names
    assert all(name in texts("nb").problem(problem.key, problem.data) for name in names)


@pytest.mark.parametrize("field", ["skjerming", "tilgangsrestriksjon"])
def test_a_short_name_beside_the_field_is_a_fault(field: str) -> None:
    (problem,) = told(f'{HEAD}[[map]]\nscreening = "UO"\nfields = {{ {field} = "UO" }}\n')
    assert (problem.key, problem.data) == ("field-twice", {"field": field, "other": "screening"})


def test_a_default_gives_way_to_the_rule_by_either_name() -> None:
    recipe = (
        f'{HEAD}[defaults.Basisregistrering]\nskjerming = "UO"\n[[map]]\nfields = {{ tilgangsrestriksjon = "P" }}\n'
    )
    assert problems(recipe) == []
    assert mapped(recipe, record())["k"].fields["skjerming"] == "P"


def test_a_fault_calls_a_field_what_the_recipe_calls_it() -> None:
    head = f'{HEAD}model = 3\n[defaults.Saksmappe]\nadministrativEnhet = "A"\n[[map]]\n'
    (problem,) = told(head + 'fields = { journaldato = "i dag" }\n')
    assert (problem.key, problem.data["field"]) == ("constant-wrong-kind", "journaldato")
    (problem,) = told(head + 'fields = { registreringsDato = "i dag" }\n')
    assert problem.data["field"] == "registreringsDato"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("arkivperiodeStartDato", "Saksmappe has no field arkivperiodeStartDato; Arkivdel has arkivperiodeStartDato."),
        ("journaldato", "Saksmappe has no field journaldato; Journalpost has journaldato."),
        ("registreringsID", "Saksmappe has no field registreringsID; Basisregistrering, Moeteregistrering,"),
        ("sakstatus", "Saksmappe has no field sakstatus. Did you mean saksstatus? See noarkit help saksstatus."),
        ("utlaantDato", "The standard has utlaantDato, but the archive has no field for it."),
        ("qqq", "Saksmappe has no field qqq. See noarkit help Saksmappe."),
    ],
)
def test_an_unknown_field_is_answered_by_what_is_known_of_it(name: str, sentence: str) -> None:
    (problem,) = told(f'{HEAD}model = 3\n[defaults.Saksmappe]\nadministrativEnhet = "A"\n{name} = "x"\n')
    assert texts("en").problem(problem.key, problem.data).startswith(sentence)


def test_an_element_leads_to_its_type() -> None:
    (problem,) = told(f'{HEAD}[[map]]\ntype = "dokumentbeskrivelse"\n')[:1]
    assert (problem.key, problem.data["near"]) == ("unknown-type", "Dokument")
