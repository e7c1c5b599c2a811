"""An account that may not set dates, years and numbers: none becomes today's in silence, and an extract has them back.

The archive knows the published interface alone; what a package says is read with xml.etree, by nothing of ours.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.journeys.old_share import YEARS, make_share
from tests.strict_archive.conftest import ACCOUNT, Strict

NOARK = "{http://www.arkivverket.no/standarder/noark5/arkivstruktur}"
RECIPE = """
[source]
kind = "files"
[target]
external_system = "strict"
close = true
[target.arkivskaper]
fields = { arkivskaperIdent = "987654321", arkivskaperNavn = "Fjord kommune" }
[target.arkiv]
fields = { tittel = "Fjord kommune" }
[target.arkivdel]
fields = { tittel = "Saker" }
[[target.classification]]
name = "emne"
fields = { tittel = "Emne" }
classes = [{ ident = "0", title = "Uten klasse" }]
[[map]]
for = "file"
type = "Journalpost"
[map.fields]
tittel = "= record.stem"
journalposttype = "X"
opprettetDato = "2014-03-02T10:00:00Z"
registreringsDato = "2014-03-02"
journalaar = 2014
journalsekvensnummer = "= 17 if record.stem == 'a' else 18"
journalpostnummer = "= 1 if record.stem == 'a' else 2"
[[map.documents]]
[map.documents.fields]
opprettetDato = "2014-03-03T10:00:00Z"
[[map.documents.versions]]
[map.documents.versions.fields]
opprettetDato = "2014-03-04T10:00:00Z"
[[map.parents]]
key = "= record.top"
type = "Saksmappe"
class = "0"
[map.parents.fields]
tittel = "= record.top"
administrativEnhet = "ADM"
opprettetDato = "2014-03-01T10:00:00Z"
saksdato = "2014-03-01"
saksaar = 2014
sakssekvensnummer = 7
"""


@pytest.fixture
def lesser(strict: Strict) -> Strict:
    """An archive whose account has not got the right, and a share of one case of 2014."""
    account = strict.archive.accounts[ACCOUNT.id]
    strict.archive.accounts[ACCOUNT.id] = replace(account, explicit=account.explicit - {"UpdateSystemManaged"})
    Path("share/sak").mkdir(parents=True)
    for name in "ab":
        Path(f"share/sak/{name}.txt").write_text(f"letter {name}", encoding="utf-8")
    Path("recipe.toml").write_text(RECIPE, encoding="utf-8")
    assert strict.noarkit("plan", "share", "--recipe", "recipe.toml", "-o", "run") == 0, strict.err
    return strict


def extracted() -> Iterator[tuple[str, str, str]]:
    """Each element with a date, year or number of the units in the package: the unit, the element, the text."""
    for unit in ElementTree.parse("pkg/arkivstruktur.xml").iter():
        kind = unit.tag.removeprefix(NOARK)
        if kind in ("mappe", "registrering", "dokumentbeskrivelse", "dokumentobjekt"):
            for element in unit:
                yield kind, element.tag.rpartition("}")[2], (element.text or "").strip()


def test_dates_of_the_past_do_not_become_todays_unasked(lesser: Strict) -> None:
    assert lesser.noarkit("ingest", "run", "--workers", 0) == 4
    assert "F413" in lesser.err and "7 folders, records and documents of 2014" in lesser.err
    assert not lesser.objects("Saksmappe") and not lesser.objects("Journalpost"), "nothing was sent"
    assert lesser.noarkit("ingest", "run", "--workers", 0) == 4, "it stops until somebody decides"


def test_the_right_that_is_granted_later_lets_the_same_command_load(lesser: Strict) -> None:
    assert lesser.noarkit("ingest", "run", "--workers", 0) == 4
    account = lesser.archive.accounts[ACCOUNT.id]
    lesser.archive.accounts[ACCOUNT.id] = replace(account, explicit=account.explicit | {"UpdateSystemManaged"})
    assert lesser.noarkit("ingest", "run", "--workers", 0) == 0, lesser.err
    assert [seen.fields["saksaar"] for seen in lesser.objects("Saksmappe")] == [2014]


def test_who_takes_todays_dates_is_not_asked_again(lesser: Strict) -> None:
    assert lesser.noarkit("ingest", "run", "--workers", 0) == 4
    command = lesser.out[lesser.out.index("noarkit ingest run --todays-dates") :].partition("     ")[0]
    assert lesser.noarkit(*shlex.split(command)[1:], "--workers", 0) == 3, "a class, which a date closes, is open"
    assert [seen.fields["saksaar"] for seen in lesser.objects("Saksmappe")] != [2014]
    assert lesser.noarkit("ingest", "run", "--workers", 0) == 3, lesser.err


def test_carried_dates_and_numbers_are_those_of_the_package(lesser: Strict) -> None:
    assert lesser.noarkit("ingest", "run", "--workers", 0) == 4
    command = lesser.out[lesser.out.index("noarkit plan") :].partition("     ")[0]
    assert lesser.noarkit(*shlex.split(command)[1:]) == 0, lesser.err
    assert lesser.noarkit("ingest", "run-2", "--workers", 0) == 3, lesser.err
    assert [seen.fields["saksaar"] for seen in lesser.objects("Saksmappe")] != [2014]
    assert lesser.noarkit("verify", "run-2", "--depth", "fields") == 3, "the class is not closed"
    assert "Verified in part: no differences" in lesser.out
    assert lesser.noarkit("extract", "-o", "pkg", "--include-open") == 3, lesser.err
    values = list(extracted())
    days = {(kind, text[:10]) for kind, name, text in values if name == "opprettetDato"}
    assert days == {
        ("mappe", "2014-03-01"),
        ("registrering", "2014-03-02"),
        ("dokumentbeskrivelse", "2014-03-03"),
        ("dokumentobjekt", "2014-03-04"),
    }
    assert {text for _, name, text in values if name in ("opprettetAv", "tilknyttetAv")} == {"strict"}
    names = ("mappeID", "saksaar", "journalaar", "registreringsID")
    numbers = {f"{name} {text}" for _, name, text in values if name in names}
    of_posts = {"journalaar 2014", "registreringsID 2014/17", "registreringsID 2014/18"}
    assert numbers == {"mappeID 2014/7", "saksaar 2014"} | of_posts
    assert "put back in place of those that the archive gave: 5." in lesser.out
    assert "is not verified" not in lesser.out, "the run that was stopped loaded nothing"
    assert "no list accounts for" not in lesser.out


def test_a_copied_share_without_a_recipe_is_stopped_and_carried_too(lesser: Strict) -> None:
    made = make_share(Path("old"), cases_a_year=3)
    assert lesser.noarkit("plan", "old", "-o", "old-run") == 0, lesser.err
    assert lesser.noarkit("ingest", "old-run", "--workers", 0) == 4
    assert "F413" in lesser.err and "of 2014–2019" in lesser.err
    assert not lesser.objects("Saksmappe"), "nothing was sent"
    command = lesser.out[lesser.out.index("noarkit plan") :].partition("     ")[0]
    assert lesser.noarkit(*shlex.split(command)[1:]) == 0, lesser.err
    run = shlex.split(command)[shlex.split(command).index("-o") + 1]
    assert lesser.noarkit("ingest", run, "--workers", 0) == 3, lesser.err
    assert lesser.noarkit("extract", "-o", "pkg", "--include-open") == 3, lesser.err
    values = list(extracted())
    dates = {(name, text[:4]) for _, name, text in values if name.endswith("Dato") or name.endswith("dato")}
    assert {int(year) for name, year in dates if name != "avsluttetDato"} == set(YEARS)
    people = ("opprettetAv", "arkivertAv", "tilknyttetAv")
    assert {text for _, name, text in values if name in people} == {"old (filområde)"}
    assert {text for kind, name, text in values if name == "mappeID"} == {number for number, _ in made.cases.values()}
