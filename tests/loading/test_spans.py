"""A plan opens and closes folders by what lies in them, whatever record named them first, as an oracle counts it."""

from __future__ import annotations

import json
import os
import random
import sqlite3
from collections import defaultdict
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

import noarkit
from noarkit.loading import spans

RECIPE = """
[source]
kind = "files"
{source}
[target]
external_system = "x"
model = {model}
close = {close}
[target.arkivskaper]
fields = {{ arkivskaperIdent = "u", arkivskaperNavn = "U" }}
[target.arkiv]
fields = {{ tittel = "A" }}
[target.arkivdel]
fields = {{ tittel = "D" }}
{classes}
[dates]
case = "span"
copied = ["2026-01-01", "2027-12-31"]
{dates}
[[map]]
type = "{record}"
[map.fields]
tittel = "= record.name"
{fields}
[[map.parents]]
each = "= record.folders"
key = "= record.folders[:index + 1] | join('/')"
type = "{folder}"
fields = {{ tittel = "= item"{more} }}
"""
CLASSES = """
[[target.classification]]
name = "m"
role = "primary"
fields = { tittel = "M" }
default_class = { ident = "0", title = "Uten" }
[defaults.Saksmappe]
administrativEnhet = "ADM"
"""
COPIED_S = datetime(2026, 6, 1, 12, tzinfo=UTC).timestamp()
Planned = dict[str, dict[str, object]]


def plan_of(source: Path, out: Path, **parts: str) -> Planned:
    """The fields of what is planned, by type and title; of what bears none, by its type."""
    usual = {"source": "", "model": "2", "close": "true", "classes": "", "dates": "", "record": "Basisregistrering"}
    usual |= {"fields": 'opprettetDato = "= record.date"', "folder": "Mappe", "more": ""}
    out.mkdir()
    (out / "r.toml").write_text(RECIPE.format(**{**usual, **parts}))
    noarkit.plan(source, recipe=out / "r.toml", run=out / "run")
    with closing(sqlite3.connect(out / "run" / "graph.db")) as db:
        rows = [(kind, json.loads(fields)) for kind, fields in db.execute("SELECT type, fields FROM entity")]
    return {f"{kind} {fields.get('tittel', '')}".strip(): fields for kind, fields in rows}


def lay_out(root: Path, *names: str) -> Path:
    """Files, all of which were copied."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        os.utime(path, (COPIED_S, COPIED_S))
    return root


NOON = "{}T11:00:00.000Z"
SUMMER_NOON = "{}T10:00:00.000Z"


def test_a_case_is_as_long_as_what_lies_in_it(tmp_path: Path) -> None:
    names = ["Sak/Thumbs.db", "Sak/b 2015-01-20.txt", "Sak/c 2014-02-03.txt", "Sak/d 2014-12-24.txt", "Sak/e.txt"]
    parts = {"model": "3", "classes": CLASSES, "folder": "Saksmappe", "more": ', administrativEnhet = "ADM"'}
    made = plan_of(lay_out(tmp_path / "kilde", *names), tmp_path / "a", **parts)
    case = made["Saksmappe Sak"]
    assert case["opprettetDato"] == NOON.format("2014-02-03")
    assert case["avsluttetDato"] == NOON.format("2015-01-20")
    assert (case["saksdato"], case["saksaar"]) == ("2014-02-03", 2014)
    dated = made["Basisregistrering d 2014-12-24.txt"]
    assert (dated["opprettetDato"], dated["avsluttetDato"]) == (NOON.format("2014-12-24"),) * 2
    for name in ("e.txt", "Thumbs.db"):
        undated = made[f"Basisregistrering {name}"]
        assert undated["opprettetDato"] == case["opprettetDato"], "what bears no day is as old as its case"
        assert undated["avsluttetDato"] == case["avsluttetDato"]
    document = made["Dokument d 2014-12-24.txt"]
    assert document["opprettetDato"] == dated["opprettetDato"]
    assert "avsluttetDato" not in document
    for kind in ("Arkiv A", "Arkivdel D", "Klassifikasjonssystem M", "Klasse Uten"):
        assert made[kind]["opprettetDato"] == case["opprettetDato"], kind
        assert made[kind]["avsluttetDato"] == case["avsluttetDato"], kind
    assert "arkivperiodeStartDato" not in made["Arkivdel D"], "nobody stated a period"


def test_what_a_recipe_says_stands(tmp_path: Path) -> None:
    source = lay_out(tmp_path / "kilde", "Sak/b 2015-01-20.txt", "Sak/c 2014-02-03.txt")
    more = ", saksdato = \"= '2013-05-01'\", avsluttetDato = \"= '2016-01-01'\""
    parts = {"model": "3", "classes": CLASSES, "folder": "Saksmappe", "more": more}
    case = plan_of(source, tmp_path / "a", **parts)["Saksmappe Sak"]
    assert (case["saksdato"], case["saksaar"]) == ("2013-05-01", 2013), "the year is that of the day"
    assert case["avsluttetDato"] == "2015-12-31T23:00:00.000Z"
    assert case["opprettetDato"] == NOON.format("2014-02-03")


def test_the_period_covers_cases_and_records_alike(tmp_path: Path) -> None:
    source = lay_out(tmp_path / "kilde", "Sak/b 2015-01-20.txt", "Sak/c 2014-02-03.txt")
    more = ", saksdato = \"= '2013-05-01'\", avsluttetDato = \"= '2016-06-01'\""
    parts = {"model": "3", "classes": CLASSES, "folder": "Saksmappe", "more": more}
    made = plan_of(source, tmp_path / "a", **parts)
    for kind in ("Arkiv A", "Arkivdel D", "Klassifikasjonssystem M", "Klasse Uten"):
        assert made[kind]["opprettetDato"] == SUMMER_NOON.format("2013-05-01"), kind
        assert made[kind]["avsluttetDato"] == "2016-05-31T22:00:00.000Z", kind
    more = ", avsluttetDato = \"= '2016-06-01' if item == 'Sak' else none\""
    made = plan_of(lay_out(tmp_path / "ytre", "Ytre/Sak/c 2014-02-03.txt"), tmp_path / "b", more=more)
    closed = {title: made[f"Mappe {title}"]["avsluttetDato"] for title in ("Ytre", "Sak")}
    assert closed == dict.fromkeys(closed, "2016-05-31T22:00:00.000Z"), "a folder lasts as long as those in it"


def test_a_journal_post_is_of_the_year_of_its_day(tmp_path: Path) -> None:
    source = lay_out(tmp_path / "kilde", "Sak/b 2015-06-20.txt")
    fields = 'registreringsDato = "= record.date"\njournalposttype = "I"'
    parts = {"model": "3", "classes": CLASSES, "folder": "Saksmappe", "record": "Journalpost", "fields": fields}
    made = plan_of(source, tmp_path / "a", **parts)["Journalpost b 2015-06-20.txt"]
    assert (made["registreringsDato"], made["journalaar"]) == ("2015-06-20", 2015)
    assert made["opprettetDato"] == SUMMER_NOON.format("2015-06-20"), "its day, where it bears no other date"


@pytest.mark.parametrize(
    ("parts", "of_record", "of_folder"),
    [
        ({}, True, True),
        ({"dates": 'archived = "load"'}, False, True),
        ({"close": "false"}, False, False),
    ],
)
def test_a_record_may_count_as_archived_with_the_load(
    tmp_path: Path, parts: dict[str, str], of_record: bool, of_folder: bool
) -> None:
    made = plan_of(lay_out(tmp_path / "kilde", "S/b 2015-06-20.txt", "S/uten.txt"), tmp_path / "a", **parts)
    for name in ("b 2015-06-20.txt", "uten.txt"):
        assert ("avsluttetDato" in made[f"Basisregistrering {name}"]) is of_record, name
    assert ("avsluttetDato" in made["Mappe S"]) is of_folder
    assert ("avsluttetDato" in made["Arkiv A"]) is of_folder, "what takes more later is not closed by its date"


def test_a_period_that_is_stated_is_that_of_the_series_and_of_what_bears_no_day(tmp_path: Path) -> None:
    source = lay_out(tmp_path / "kilde", "A/b 2015-06-20.txt", "B/uten.txt")
    made = plan_of(source, tmp_path / "a", dates='period = ["2014-01-01", "2019-12-31"]')
    series, empty = made["Arkivdel D"], made["Mappe B"]
    assert (series["arkivperiodeStartDato"], series["arkivperiodeSluttDato"]) == ("2014-01-01", "2019-12-31")
    first, last = NOON.format("2014-01-01"), NOON.format("2019-12-31")
    assert (empty["opprettetDato"], empty["avsluttetDato"]) == (first, last)
    assert made["Basisregistrering uten.txt"]["opprettetDato"] == first
    assert made["Arkiv A"]["opprettetDato"] == first
    assert made["Mappe A"]["opprettetDato"] == SUMMER_NOON.format("2015-06-20")


def test_a_case_without_any_day_is_of_the_year_of_its_number(tmp_path: Path) -> None:
    source = lay_out(tmp_path / "kilde", "2014-7 Sak/uten.txt", "Diverse/b 2015-06-20.txt")
    more = ', administrativEnhet = "ADM", saksaar = "= (item | match(\'([0-9]{4}).*\') or [none])[0]"'
    parts = {"model": "3", "classes": CLASSES, "folder": "Saksmappe"}
    case = plan_of(source, tmp_path / "a", **parts, more=more)["Saksmappe 2014-7 Sak"]
    assert (case["saksdato"], case["saksaar"]) == ("2014-01-01", 2014)
    assert (case["opprettetDato"], case["avsluttetDato"]) == (NOON.format("2014-01-01"), NOON.format("2014-12-31"))


def test_where_nothing_bears_a_day_nothing_is_dated(tmp_path: Path) -> None:
    made = plan_of(lay_out(tmp_path / "kilde", "A/a.txt", "b.txt"), tmp_path / "a")
    assert not [name for name, fields in made.items() if {"opprettetDato", "avsluttetDato"} & set(fields)]


def test_a_plan_without_that_section_is_left_as_it_is(tmp_path: Path) -> None:
    source = lay_out(tmp_path / "kilde", "A/b 2015-06-20.txt")
    (tmp_path / "r.toml").write_text(
        '[source]\nkind = "files"\n[target]\nexternal_system = "x"\nmodel = 1\n'
        '[target.arkiv]\nfields = { tittel = "A" }'
        '\n[target.arkivskaper]\nfields = { arkivskaperIdent = "u", arkivskaperNavn = "U" }\n[target.arkivdel]'
        '\nfields = { tittel = "D" }\n[[map]]\ntype = "Basisregistrering"\nfields = { tittel = "= record.name" }\n'
    )
    noarkit.plan(source, recipe=tmp_path / "r.toml", run=tmp_path / "run")
    with closing(sqlite3.connect(tmp_path / "run" / "graph.db")) as db:
        assert db.execute("SELECT count(*) FROM entity WHERE instr(fields, 'opprettetDato')").fetchone() == (0,)
        assert not db.execute("SELECT 1 FROM meta WHERE name = 'date_evidence'").fetchall()


@pytest.mark.parametrize("seed", range(6))
def test_folders_in_folders_are_as_an_oracle_counts(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "_PAGE", 5)  # many pages, so that what lies below a folder is spread over them
    chance = random.Random(seed)
    first: dict[str, str] = {}
    last: dict[str, str] = {}
    names, days = [], defaultdict[str, int](int)
    for number in range(60):
        steps = [f"{level}{chance.randrange(3)}" for level in "abc"]
        day = f"{chance.randrange(2010, 2020)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"
        dated = chance.random() < 0.8
        days["name" if dated else "none"] += 1
        names.append("/".join([*steps, f"{number} {day if dated else ''}.txt"]))
        for depth in range(1, len(steps) + 1):
            if dated:
                folder = "/".join(steps[:depth])
                first[folder], last[folder] = min(first.get(folder, day), day), max(last.get(folder, day), day)
    out = tmp_path / "a"
    plan_of(lay_out(tmp_path / "kilde", *names), out)
    with closing(sqlite3.connect(out / "run" / "graph.db")) as db:
        rows = db.execute("SELECT key, fields FROM entity WHERE type = 'Mappe'").fetchall()
        told = json.loads(db.execute("SELECT value FROM meta WHERE name = 'date_evidence'").fetchone()[0])
    assert told == dict(days)
    assert rows
    for key, text in rows:
        folder, fields = key.removeprefix("folder:"), json.loads(text)
        steps = folder.split("/")
        dated_folder = next(
            (above for depth in range(len(steps), 0, -1) if (above := "/".join(steps[:depth])) in first), None
        )
        if dated_folder is None:  # nothing dates it, nor what it lies in: the days of all
            first[folder], last[folder] = min(first.values()), max(last.values())
        else:
            first[folder], last[folder] = first[dated_folder], last[dated_folder]
        assert fields.get("opprettetDato", "")[:10] == first[folder], folder
        assert fields.get("avsluttetDato", "")[:10] == last.get(folder, ""), folder
