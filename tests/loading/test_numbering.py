"""Journal posts bear numbers that rise with their days, and none that an archive has given already."""

from __future__ import annotations

import json
import random
import sqlite3
from collections import defaultdict
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

import noarkit
from tests.loading.test_spans import CLASSES, RECIPE, lay_out

Post = tuple[int, int | None, str, str, int | None]
"""Year, number, day, case, and number in the case."""
THIS_YEAR = datetime.now(UTC).year


def names_of(seed: int, years: tuple[int, ...] = (2014, 2015), cases: int = 5) -> list[str]:
    """Files of some cases, whose names bear a day of some years; several of one day."""
    chance = random.Random(seed)
    days = [date(chance.choice(years), 1, 1) + timedelta(days=chance.randrange(360)) for _ in range(25)]
    return [f"Sak {chance.randrange(cases)}/{number} {day} {seed}.txt" for number, day in enumerate([*days, *days[:8]])]


def recipe(place: Path, system: str, more: str = "") -> Path:
    parts = {"source": "", "model": "3", "close": "true", "classes": CLASSES, "dates": "", "record": "Journalpost"}
    fields = f'registreringsDato = "= record.date"\njournalposttype = "I"\n{more}'
    parts |= {"fields": fields, "folder": "Saksmappe", "more": ', administrativEnhet = "ADM"'}
    file = place / f"{system}.toml"
    file.write_text(RECIPE.format(**parts).replace('external_system = "x"', f'external_system = "{system}"'), "utf-8")
    return file


def planned(run: Path) -> list[Post]:
    """The posts of a plan, as it was frozen."""
    query = (
        "SELECT e.fields, a.key FROM entity e JOIN entity a ON a.n = e.parent WHERE e.type = 'Journalpost'"
        " ORDER BY e.n DESC"
    )
    with closing(sqlite3.connect(run / "graph.db")) as db:
        rows = [(json.loads(fields), case) for fields, case in db.execute(query)]
    names = ("journalaar", "journalsekvensnummer", "registreringsDato")
    return [(*map(fields.get, names), case, fields.get("journalpostnummer")) for fields, case in rows]


def check_rising(posts: list[Post], first: int = 1) -> None:
    """In each year from a number on, without gaps; in each case from 1; never an earlier day behind a later one."""
    by_year, by_case = defaultdict(list), defaultdict(list)
    for year, number, day, case, in_case in posts:
        assert number is not None and in_case is not None
        assert day.startswith(str(year))
        by_year[year].append((number, day))
        by_case[case].append((in_case, day))
    for group, begin in [*((group, first) for group in by_year.values()), *((group, 1) for group in by_case.values())]:
        numbers = sorted(group)
        assert [number for number, _ in numbers] == [*range(begin, begin + len(group))]
        assert [day for _, day in numbers] == sorted(day for _, day in group)


@pytest.mark.parametrize("seed", range(4))
def test_numbers_rise_with_the_days_of_the_posts(seed: int, tmp_path: Path) -> None:
    source = lay_out(tmp_path / "kilde", *names_of(seed))
    noarkit.plan(source, tmp_path / "run", recipe=recipe(tmp_path, "a"), archive=f"embedded:{tmp_path / 'arkiv'}")
    posts = planned(tmp_path / "run")
    assert len(posts) == 33
    check_rising(posts)


@pytest.mark.usefixtures("one_archive")
def test_a_second_load_goes_on_behind_the_numbers_that_the_archive_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number, system in enumerate("ab"):
        source = lay_out(tmp_path / system, *names_of(number, (2014,)))
        noarkit.plan(source, f"run-{system}", recipe=recipe(tmp_path, system), archive="embedded:arkiv")
        check_rising(planned(Path(f"run-{system}")), 1 + 33 * number)
        assert noarkit.ingest(f"run-{system}", archive="embedded:arkiv", workers=0).numbers.archived == 33
        assert noarkit.verify(f"run-{system}", archive="embedded:arkiv").verdict != "not_verified"
    with noarkit.Archive("embedded:arkiv") as archive:
        numbers = [str(post.fields["registreringsIdent"]) for post in archive.find("Journalpost")]
    assert sorted(numbers) == sorted(f"2014/{number}" for number in range(1, 67))


def test_what_has_a_number_keeps_it_and_others_go_on_behind_it(tmp_path: Path) -> None:
    source = lay_out(tmp_path / "kilde", *names_of(1, (2014,)))
    more = "journalsekvensnummer = \"= 40 if record.name[:2] == '3 ' else none\""
    noarkit.plan(source, tmp_path / "run", recipe=recipe(tmp_path, "a", more), archive=f"embedded:{tmp_path / 'arkiv'}")
    posts = sorted(planned(tmp_path / "run"), key=lambda post: post[1] or 0)
    assert [number for _, number, *_ in posts] == [40, *range(41, 73)]
    assert [day for _, _, day, *_ in posts[1:]] == sorted(day for _, _, day, *_ in posts[1:])


def test_posts_of_this_year_are_numbered_by_the_archive(tmp_path: Path) -> None:
    source = lay_out(tmp_path / "kilde", f"Sak/a {THIS_YEAR}-01-01.txt", f"Sak/b {THIS_YEAR - 1}-12-31.txt")
    place = f"embedded:{tmp_path / 'arkiv'}"
    noarkit.plan(source, tmp_path / "run", recipe=recipe(tmp_path, "a"), archive=place)
    assert {year: number for year, number, *_ in planned(tmp_path / "run")} == {THIS_YEAR: None, THIS_YEAR - 1: 1}


def test_a_plan_for_no_archive_leaves_the_numbers_to_the_one_that_it_is_loaded_into(tmp_path: Path) -> None:
    source = lay_out(tmp_path / "kilde", *names_of(2))
    noarkit.plan(source, tmp_path / "run", recipe=recipe(tmp_path, "a"))
    assert {number for _, number, *_ in planned(tmp_path / "run")} == {None}


def other_records(run: Path) -> list[tuple[str, str, str]]:
    """What a plan says of records that are no posts: number, creation, and type."""
    query = "SELECT fields, type FROM entity WHERE type IN ('Basisregistrering', 'Arkivnotat') ORDER BY n"
    with closing(sqlite3.connect(run / "graph.db")) as db:
        rows = [(json.loads(text), kind) for text, kind in db.execute(query)]
    return [(fields.get("registreringsIdent"), fields["opprettetDato"], kind) for fields, kind in rows]


@pytest.mark.usefixtures("one_archive")
def test_records_that_are_no_posts_have_numbers_of_their_year_and_share_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two loads, each of posts and of other records: no identifier twice, and each bears the year of its record."""
    monkeypatch.chdir(tmp_path)
    for number, system in enumerate("abc"):
        source = lay_out(tmp_path / system, *names_of(number))
        file = recipe(tmp_path, system)
        if system != "b":
            text = file.read_text("utf-8").replace('type = "Journalpost"', 'type = "Basisregistrering"', 1)
            text = text.replace("registreringsDato = ", "opprettetDato = ")
            file.write_text(text.replace('journalposttype = "I"\n', ""), "utf-8")
        noarkit.plan(source, f"run-{system}", recipe=file, archive="embedded:arkiv")
        assert noarkit.ingest(f"run-{system}", archive="embedded:arkiv", workers=0).numbers.archived == 33
    with noarkit.Archive("embedded:arkiv") as archive:
        records = [record.fields for record in archive.find("AbstraktRegistrering")]
    idents = [str(record["registreringsIdent"]) for record in records]
    assert len(set(idents)) == len(idents) == 99
    assert all(str(record["registreringsIdent"])[:5] == f"{str(record['opprettetDato'])[:4]}/" for record in records)
    for system in "ac":
        by_day = sorted((day, ident) for ident, day, _ in other_records(Path(f"run-{system}")))
        for year in ("2014", "2015"):
            numbers = [int(ident[5:]) for day, ident in by_day if day.startswith(year)]
            assert len(numbers) > 5
            days = dict(zip(numbers, [day for day, _ in by_day if day.startswith(year)], strict=True))
            assert [days[number] for number in sorted(numbers)] == sorted(days.values()), "numbers rise with the days"


def test_cases_without_a_number_are_numbered_by_their_day_behind_those_that_have_one(tmp_path: Path) -> None:
    source = lay_out(tmp_path / "kilde", *names_of(3, (2014,)))
    file = recipe(tmp_path, "a")
    named = 'fields = { tittel = "= item", sakssekvensnummer = "= 40 if item == \'Sak 2\' else none"'
    file.write_text(file.read_text("utf-8").replace('fields = { tittel = "= item"', named), "utf-8")
    noarkit.plan(source, tmp_path / "run", recipe=file, archive=f"embedded:{tmp_path / 'arkiv'}")
    with closing(sqlite3.connect(tmp_path / "run" / "graph.db")) as db:
        rows = [json.loads(text) for (text,) in db.execute("SELECT fields FROM entity WHERE type = 'Saksmappe'")]
    numbers = {case["sakssekvensnummer"]: case["saksdato"] for case in rows}
    assert sorted(numbers) == [40, *range(41, 40 + len(rows))] and len(rows) == 5
    del numbers[40]
    assert [numbers[number] for number in sorted(numbers)] == sorted(numbers.values())
