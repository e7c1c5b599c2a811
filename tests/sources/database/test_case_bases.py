"""Databases of cases go from `deposit new` to a package with their own numbers, dates, directions and screening."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from lxml import etree

from noarkit.model.own_marks import USUAL_SCREENING
from noarkit.projects.project import read_project
from noarkit.projects.questions import answer, questions
from noarkit.recipes import read_recipe
from tests.sources.database.case_bases import (
    BASES,
    CASES,
    SCREENED_EVERY,
    STILL_OPEN,
    WAYS,
    Way,
    make_case_base,
    opened,
)
from tests.sources.database.sample import NUMBER

NOARK = "{http://www.arkivverket.no/standarder/noark5/arkivstruktur}"
ANSWERS = ["", "Sætre kommune", "", "Saksbasen", "fagsystem", "close"]


def noarkit(*words: object, cwd: Path, typed: str = "") -> subprocess.CompletedProcess[str]:
    """One command, to its end."""
    command = [sys.executable, "-m", "noarkit", *map(str, words)]
    environment = {**os.environ, "NOARKIT_PROJECT": ""}
    return subprocess.run(command, cwd=cwd, env=environment, input=typed, capture_output=True, text=True, check=False)


def new_project(cwd: Path, way: Way) -> str:
    """A project of such a database, whose questions are asked; the recipe that is proposed."""
    make_case_base(cwd / "base.db", way)
    done = noarkit("deposit", "new", "sqlite:///base.db", "-o", "p", "--no-copies", cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return (cwd / "p" / "recipe.toml").read_text("utf-8")


def texts(element: etree._Element, name: str) -> list[str]:
    return [str(found.text) for found in element.findall(f"{NOARK}{name}")]


@pytest.mark.parametrize("name", BASES)
def test_a_case_base_becomes_a_package_with_its_own_numbers_and_dates(name: str, tmp_path: Path) -> None:
    way = BASES[name]
    new_project(tmp_path, way)
    done = noarkit("deposit", "p", "--ask", cwd=tmp_path, typed="\n".join([*ANSWERS, ""]))
    assert done.returncode == 4, done.stdout + done.stderr
    assert "1 case is open in the source" in done.stdout
    number = {"saksnr": "2014/117", "saknr": "14/117", "case_no": "2014000117", "saksAar": "2014/117"}[name]
    assert f"They are: {number}." in (tmp_path / "p" / "recipe.toml").read_text("utf-8").replace("\n# ", " ")
    assert "Not used" not in done.stdout
    done = noarkit("deposit", "p", "--approve", "--by", "Kari", cwd=tmp_path)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "Cases that are open in the source" in done.stdout

    tree = etree.parse(tmp_path / "p" / "package" / "arkivstruktur.xml")
    cases = [case for case in tree.iter(f"{NOARK}mappe") if case.find(f"{NOARK}saksaar") is not None]
    assert len(cases) == CASES
    by_number = {(texts(case, "saksaar")[0], texts(case, "sakssekvensnummer")[0]): case for case in cases}
    for n in range(1, CASES + 1):
        day = opened(n)
        case = by_number[str(day.year), str(100 + n)]
        assert texts(case, "mappeID") == [f"{day.year}/{100 + n}"]
        assert texts(case, "saksdato") == [day.isoformat()]
        assert texts(case, "opprettetDato")[0][:10] == day.isoformat()
        last = day + timedelta(days=14 if n == STILL_OPEN else 60)
        assert texts(case, "avsluttetDato")[0][:10] == last.isoformat()
        assert texts(case, "saksansvarlig") == [("Berit Dal", "Arne Lie", "Siv Moen")[n % 3]]
        screened = [texts(part, "tilgangsrestriksjon") for part in case.findall(f"{NOARK}skjerming")]
        assert bool(screened) is (n % SCREENED_EVERY == 0)
        assert_records(case, n)
    dates = {str(found.text)[:4] for found in tree.iter(f"{NOARK}opprettetDato", f"{NOARK}journaldato")}
    assert dates <= {"2012", "2013", "2014", "2015", "2016"}

    journal = etree.parse(tmp_path / "p" / "package" / "loependeJournal.xml")
    with closing(sqlite3.connect(tmp_path / "base.db")) as db:
        written = Counter(
            dict(db.execute(f"SELECT {way.names['direction']}, count(*) FROM {way.names['letter']} GROUP BY 1"))
        )
    posts = [element for element in journal.iter() if etree.QName(element).localname == "journalregistrering"]
    assert len(posts) == written.total() == CASES * len(WAYS)


def assert_records(case: etree._Element, n: int) -> None:
    """Each record of a case went its way, on its day, from whom and to whom it says."""
    records = sorted(case.findall(f"{NOARK}registrering"), key=lambda one: texts(one, "dokumentetsDato"))
    assert [texts(one, "journalposttype")[0][:3] for one in records] == ["Inn", "Utg", "Org"]
    for place, record in enumerate(records):
        day = (opened(n) + timedelta(days=place * 7)).isoformat()
        assert texts(record, "dokumentetsDato") == texts(record, "journaldato") == [day]
        assert texts(record, "journalaar") == [day[:4]]
    parties = [
        {
            (texts(party, "korrespondanseparttype")[0], texts(party, "korrespondansepartNavn")[0])
            for party in record.findall(f"{NOARK}korrespondansepart")
        }
        for record in records
    ]
    theirs, ours = f"Kari Nes {n}", "Sætre kommune"
    assert parties[0] == {("Avsender", theirs), ("Intern mottaker", ours)}
    assert parties[1] == {("Intern avsender", ours), ("Mottaker", theirs)}
    assert {role for role, _ in parties[2]} == {"Intern avsender"}


def without(recipe: str, *names: str) -> str:
    """The recipe without the lines of some fields."""
    return re.sub(rf"(?m)^({'|'.join(names)}) = .*\n", "", recipe)


def test_what_a_recipe_leaves_of_numbers_dates_and_directions_is_told_and_keeps_the_package_back(
    tmp_path: Path,
) -> None:
    recipe = new_project(tmp_path, BASES["saksnr"]).replace('"ask"', '"close"')
    bare = without(
        recipe, "saksaar", "sakssekvensnummer", "saksdato", "opprettetDato", "dokumentetsDato", "avsluttetDato"
    )
    bare = without(bare, "registreringsDato").replace('"Journalpost"', '"Basisregistrering"')
    bare = re.sub(r"(?m)^journalposttype = .*\n", "", bare)
    (tmp_path / "bare.toml").write_text(bare, "utf-8")
    done = noarkit("plan", "sqlite:///base.db", "--recipe", "bare.toml", "-o", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    for column in ("sak.saksnr", "sak.opprettet", "sak.avsluttet", "brev.brevdato"):
        assert column in done.stdout
    assert "40 cases get numbers other than in the source" in done.stdout
    page = (tmp_path / "run" / "plan.html").read_text("utf-8")
    assert "Columns that are not used" in page
    assert "Everything can be loaded.<" not in page
    assert noarkit("ingest", "run", "--archive", "embedded:a", cwd=tmp_path).returncode == 0
    done = noarkit("extract", "-o", "pk", "--as", "noark5", "--archive", "embedded:a", cwd=tmp_path)
    assert "Cases with a number other than in the source: 40" in done.stdout
    assert "although the source has dates" in done.stdout
    xml = (tmp_path / "pk" / "arkivstruktur.xml").read_text("utf-8")
    assert "datoer etter registreringene i kilden" not in xml


def test_words_of_screening_that_no_rule_uses_stop_a_plan_until_somebody_says_what_they_are(tmp_path: Path) -> None:
    recipe = new_project(tmp_path, BASES["saksnr"]).replace('"ask"', '"close"')
    open_to_all = without(recipe, "skjerming")
    (tmp_path / "open.toml").write_text(open_to_all, "utf-8")
    done = noarkit("plan", "sqlite:///base.db", "--recipe", "open.toml", "-o", "run", cwd=tmp_path)
    assert done.returncode == 4, done.stdout
    assert "sak.unntatt" in done.stderr
    assert "only-text" in done.stderr
    assert not (tmp_path / "run" / "plan.json").exists()
    (tmp_path / "open.toml").write_text(open_to_all + '\n[columns]\n"sak.unntatt" = "only-text"\n', "utf-8")
    done = noarkit("plan", "sqlite:///base.db", "--recipe", "open.toml", "-o", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "sak.unntatt" not in done.stdout


def test_open_cases_are_left_out_with_their_records_where_that_was_decided(tmp_path: Path) -> None:
    recipe = new_project(tmp_path, BASES["saksnr"])
    (tmp_path / "asks.toml").write_text(recipe, "utf-8")
    assert noarkit("plan", "sqlite:///base.db", "--recipe", "asks.toml", "-o", "run", cwd=tmp_path).returncode == 4
    (tmp_path / "asks.toml").write_text(recipe.replace('"ask"', '"leave-out"'), "utf-8")
    done = noarkit("plan", "sqlite:///base.db", "--recipe", "asks.toml", "-o", "run", cwd=tmp_path)
    assert done.returncode == 3, done.stdout + done.stderr
    with closing(sqlite3.connect(tmp_path / "run" / "graph.db")) as db:
        states = dict(db.execute("SELECT state, count(*) FROM record GROUP BY state"))
        cases = db.execute("SELECT count(*) FROM entity WHERE type = 'Saksmappe'").fetchone()[0]
    assert states == {"mapped": (CASES - 1) * 4, "set_aside": 4}
    assert cases == CASES - 1


def test_a_number_that_stands_in_a_remark_alone_is_told_of_the_package(tmp_path: Path) -> None:
    recipe_path = tmp_path / "p" / "recipe.toml"
    make_case_base(tmp_path / "base.db", BASES["saksnr"])
    with closing(sqlite3.connect(tmp_path / "base.db")) as db:
        db.execute(
            "CREATE TABLE part (id INTEGER PRIMARY KEY, sak_id INTEGER REFERENCES sak (id), navn TEXT, fodselsnr TEXT)"
        )
        db.execute("DELETE FROM brev WHERE sak_id > 3")
        db.execute("DELETE FROM sak WHERE id > 3")
        db.execute("INSERT INTO part VALUES (1, 2, 'Kari Nes', ?)", (NUMBER,))
        db.commit()
    done = noarkit("deposit", "new", "sqlite:///base.db", "-o", "p", "--no-copies", cwd=tmp_path)
    assert 'type = "Merknad"' in recipe_path.read_text("utf-8")
    recipe_path.write_text(re.sub("(?m)^# (saks.* = )", r"\1", recipe_path.read_text("utf-8")), "utf-8")
    words = ("ingest", "sqlite:///base.db", "--recipe", recipe_path, "-o", "run", "--archive", "embedded:a")
    done = noarkit(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    done = noarkit("extract", "-o", "pk", "--as", "noark5", "--archive", "embedded:a", cwd=tmp_path)
    assert "contain a national identity number in a title, description or remark: 1" in done.stdout
    xml = etree.parse(tmp_path / "pk" / "arkivstruktur.xml")
    holders = [element for element in xml.iter() if NUMBER in str(element.text)]
    assert [etree.QName(element).localname for element in holders] == ["merknadstekst"]


def test_what_is_doubtful_is_asked_and_an_answer_makes_it_count(tmp_path: Path) -> None:
    way = replace(BASES["saknr"], screened="Unntatt")
    make_case_base(tmp_path / "base.db", way)
    with closing(sqlite3.connect(tmp_path / "base.db")) as db:
        db.execute("DELETE FROM brev WHERE sak_id > 11")
        db.execute("DELETE FROM sak WHERE id > 11")
        db.execute("ALTER TABLE sak RENAME COLUMN saknr TO kode")
        db.commit()
    assert noarkit("deposit", "new", "sqlite:///base.db", "-o", "p", "--no-copies", cwd=tmp_path).returncode == 0
    asked = {question.key: question for question in questions(read_project(tmp_path / "p"))}
    assert asked["source.saksaar"].choices == ("yes", "no")
    assert "kode" in asked["source.saksaar"].evidence
    assert ", ".join(USUAL_SCREENING) in asked["codes.unntatt.Unntatt"].evidence, "which codes there are"
    assert "noarkit codes ARCHIVE skjerming" in asked["codes.unntatt.Unntatt"].evidence
    answer(asked["codes.unntatt.Unntatt"], "UO13")
    answer(asked["source.saksaar"], "yes")
    recipe = read_recipe((tmp_path / "p" / "recipe.toml").read_text("utf-8"))
    assert recipe.codes["unntatt"] == {"Unntatt": "UO13"}
    fields = next(rule.fields for rule in recipe.maps if rule.type == "Saksmappe")
    assert {"saksaar", "sakssekvensnummer"} <= fields.keys()


def test_a_check_of_a_recipe_tells_of_columns_before_any_plan(tmp_path: Path) -> None:
    recipe = new_project(tmp_path, BASES["saksnr"]).replace('"ask"', '"close"')
    (tmp_path / "bare.toml").write_text(without(recipe, "skjerming", "saksaar", "sakssekvensnummer"), "utf-8")
    done = noarkit("recipe", "check", "bare.toml", "sqlite:///base.db", cwd=tmp_path)
    assert done.returncode == 4
    assert "sak.unntatt has words for screening" in done.stdout
    assert "sak.saksnr looks like" in done.stdout


def test_posts_without_correspondents_and_numbers_that_contradict_are_told_by_the_plan(tmp_path: Path) -> None:
    recipe = new_project(tmp_path, BASES["saksnr"]).replace('"ask"', '"close"')
    letters = recipe.index('[[map]]\nfor = "brev"')
    without_parties = re.sub(r"(?s)\[\[map\.parties\]\].*?(?=\[map\.parent\])", "", recipe[letters:], count=1)
    cases = without(recipe[:letters], "sakssekvensnummer").replace(
        "[map.fields]", '[map.fields]\nmappeID = "= record.saksnr"\nsakssekvensnummer = 7', 1
    )
    (tmp_path / "odd.toml").write_text(cases + without_parties, "utf-8")
    done = noarkit("plan", "sqlite:///base.db", "--recipe", "odd.toml", "-o", "run", "--lang", "nb", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Saksnumre         {CASES} saker får andre numre enn i kilden" in done.stdout
    # the sender inside the house that an archive demands does for what went out, if not for N327
    assert (
        f"Korrespondanse    {2 * CASES} inngående brev uten avsender utenfra, eller utgående uten mottaker"
        in done.stdout
    )
    with closing(sqlite3.connect(tmp_path / "run" / "graph.db")) as db:
        notes = dict(db.execute("SELECT code, count(DISTINCT record) FROM note GROUP BY code"))
    assert notes["W264"] == CASES
    assert notes["W263"] == 2 * CASES
