"""The whole journey, command by command, against an archive that knows the published interface and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any  # facts read back from JSON

import pytest

from tests.strict_archive.conftest import ACCOUNT, Strict

RECIPE = """
[source]
kind = "files"

[target]
external_system = "strict"
model = 3
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
keywords = ["tilskudd"]
screening = "= 'U' if record.stem == 'b' else none"

[map.fields]
tittel = "= record.stem"
offentligTittel = "= 'Unntatt' if record.stem == 'b' else record.stem"
journalposttype = "I"
dokumentetsDato = "2019-03-04"

[[map.parents]]
key = "= record.top"
type = "Saksmappe"
class = "0"

[map.parents.fields]
tittel = "= record.top"
administrativEnhet = "ADM"

[[map.parents.parties]]
[map.parents.parties.fields]
sakspartNavn = "Kari Nordmann"
sakspartRolle = "søker"

[[map.parties]]
[map.parties.fields]
korrespondanseparttype = "EA"
korrespondansepartNavn = "Ola Nordmann"

[[map.notes]]
[map.notes.fields]
tekst = "= 'Seen: ' ~ record.stem"
merknadstype = "MER"
"""


@pytest.fixture
def share(strict: Strict) -> Path:
    """Two case files of three letters."""
    for name in ("2019-1/a.txt", "2019-1/b.txt", "2019-2/c.txt"):
        path = strict.home / "share" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text of {name}\n", encoding="utf-8")
    (strict.home / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    return strict.home / "share"


def proof() -> dict[str, Any]:
    """The newest certificate, as data."""
    found: dict[str, Any] = json.loads(max(Path("run").glob("verify-*.json")).read_text("utf-8"))
    return found


def load(strict: Strict) -> None:
    """Plans and loads the share."""
    assert strict.noarkit("plan", "share", "--recipe", "recipe.toml", "-o", "run", "--hash") == 0, strict.err
    assert strict.noarkit("ingest", "run", "--workers", 0) == 0, strict.err


@pytest.mark.usefixtures("share")
def test_every_step_of_the_journey_comes_to_its_good_end(strict: Strict) -> None:
    strict.archive.codes["rettskildefaktor"].values["L"] = {"code": "L", "name": "Lov"}
    assert strict.noarkit("doctor", "--probe") == 0, strict.out + strict.err
    load(strict)
    assert len(strict.objects("Korrespondansepart")) == len(strict.objects("Merknad")) == 3
    assert all(seen.fields["journalstatus"] == "A" for seen in strict.objects("Journalpost"))
    # written in a second save: what is not linked yet lies where nobody has the right
    assert {str(seen.fields["uuid"])[14] for seen in strict.objects("Journalpost")} == {"5"}
    for depth in ("counts", "ids", "fields", "bytes"):
        assert strict.noarkit("verify", "run", "--depth", depth) == 0, (depth, strict.out + strict.err)
    assert proof()["verdict"] == "verified"
    assert strict.noarkit("close", "run") == 0, strict.err
    assert strict.noarkit("ingest", "run", "--workers", 0) == 0, strict.err
    assert len(strict.objects("Journalpost")) == 3
    assert strict.noarkit("plan", "share", "--recipe", "recipe.toml", "-o", "again", "--since", "run") == 0
    assert strict.noarkit("ingest", "again", "--workers", 0) == 0, strict.err
    assert len(strict.objects("Journalpost")) == 3


@pytest.mark.usefixtures("share")
def test_what_was_loaded_can_be_extracted_is_valid_and_loads_into_a_second_run(strict: Strict) -> None:
    load(strict)
    assert strict.noarkit("extract", "-o", "package", "--as", "noark5") in (0, 3), strict.err
    # 4 would be errors of form; whether a depot takes it is another question
    assert strict.noarkit("validate", "package") in (0, 3), strict.out + strict.err


@pytest.mark.usefixtures("share")
def test_a_closed_object_that_lost_who_closed_it_is_a_difference(strict: Strict) -> None:
    load(strict)
    for kind in ("Arkiv", "Saksmappe", "Journalpost", "Dokument"):
        for name in ("avsluttetAv", "avsluttetAvBrukerIdent"):
            closed = strict.objects(kind)[-1]
            closed_by = closed.fields[name]
            strict.harm(closed, **{name: None})
            assert strict.noarkit("verify", "run", "--depth", "fields") == 7, strict.out + strict.err
            assert {(found["code"], found["detail"]) for found in proof()["findings"]} == {("V211", f"{kind}.{name}")}
            closed.fields[name] = closed_by


@pytest.mark.usefixtures("share")
def test_the_end_of_a_series_is_not_asked_of_an_archive_that_has_no_such_field(strict: Strict) -> None:
    load(strict)
    assert "avsluttetDato" not in strict.objects("Arkivdel")[0].fields
    assert strict.noarkit("verify", "run", "--depth", "fields") == 0, strict.out + strict.err
    strict.harm(strict.objects("Arkivdel")[0], arkivdelstatus="A")
    assert strict.noarkit("verify", "run", "--depth", "fields") == 7
    assert {(found["code"], found["detail"]) for found in proof()["findings"]} == {("V214", "Arkivdel.arkivdelstatus")}


@pytest.mark.usefixtures("share")
def test_a_series_whose_source_tells_when_it_ended_is_closed_where_no_field_takes_that(strict: Strict) -> None:
    recipe = RECIPE.replace('{ tittel = "Saker" }', '{ tittel = "Saker", avsluttetDato = "2019-12-31T12:00:00Z" }')
    Path("recipe.toml").write_text(recipe, encoding="utf-8")
    load(strict)
    (series,) = strict.objects("Arkivdel")
    assert (series.fields["arkivdelstatus"], series.fields.get("avsluttetDato")) == ("P", None)
    assert strict.noarkit("verify", "run", "--depth", "fields") == 0, strict.out + strict.err


@pytest.mark.usefixtures("share")
def test_an_account_without_the_right_loads_without_it_and_leaves_no_probe_twice(strict: Strict) -> None:
    account = strict.archive.accounts[ACCOUNT.id]
    rights = account.explicit - {"UpdateSystemManaged"}
    strict.archive.accounts[ACCOUNT.id] = replace(account, explicit=rights)
    assert strict.noarkit("plan", "share", "--recipe", "recipe.toml", "-o", "run", "--hash") == 0, strict.err
    # journal posts get the dates of today, which is allowed here; classes, which a date alone closes, stay open
    assert strict.noarkit("ingest", "run", "--workers", 0, "--todays-dates") == 3, strict.err
    assert {str(seen.fields["uuid"])[14] for seen in strict.objects("Journalpost")} == {"4"}
    names = [seen.fields["klasseIdent"] for seen in strict.objects("Klasse")]
    assert sum(str(name).startswith("probe ") for name in names) == 1 and len(set(names)) == len(names)


@pytest.mark.usefixtures("share")
@pytest.mark.parametrize("status", [None, 400, 404, 500])
def test_an_archive_that_cannot_be_asked_for_the_same_folder_loads_it(strict: Strict, status: int | None) -> None:
    for name in ("one", "two"):
        text = RECIPE.replace('external_system = "strict"', f'external_system = "files:{name}"')
        Path(f"{name}.toml").write_text(text, encoding="utf-8")
        assert strict.noarkit("plan", "share", "--recipe", f"{name}.toml", "-o", name, "--hash", "--as-new") == 0
    Path("two/plan.json").write_text(Path("two/plan.json").read_text("utf-8").replace('"as-new":', '"no":'), "utf-8")
    assert strict.noarkit("ingest", "one", "--workers", 0) == 0, strict.err
    before, asked = len(strict.objects("Journalpost")), len(strict.archive.requests)

    def refuse(method: str, name: str, body: object) -> int | None:
        by_keys = isinstance(body, dict) and body.get("type") == "EksternId" and "System" not in str(body.get("query"))
        return status if name == "query" and by_keys else None

    strict.archive.refuse = refuse
    code = strict.noarkit("ingest", "two", "--workers", 0, "-v", "--dry-run")
    assert (len(strict.objects("Journalpost")), code) == (before, 0 if status else 2), strict.err
    assert ("other_root_unknown" if status else "F330") in strict.err
    assert len(strict.archive.requests) - asked < 60
