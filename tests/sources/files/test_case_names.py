"""Case numbers in names of folders: forms as people write them, and which form a level has, by generated names."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest

from noarkit.sources.files.case_names import FORMS, BadForm, Folder, best_fit, read_form

Chance = random.Random
Number = tuple[int, int]
Maker = Callable[[Chance, int, int], str]

TITLES = (
    *("Høring om veg", "Klage på vedtak", "Byggesak Åsveien 12", "Ansettelse", "Søknad om tilskudd", "Skolebytte"),
    *("Reguleringsplan Vestre", "Tilsyn", "Barnehageplass", "Skjenkeløyve", "Avtale med Fjord AS", "Årsmelding"),
)
WITH_NUMBERS: dict[str, Maker] = {
    "2014-0007 Title": lambda chance, year, number: f"{year}-{number:04} {chance.choice(TITLES)}",
    "2014_7 Title": lambda chance, year, number: f"{year}_{number} {chance.choice(TITLES)}",
    "2014 7 - Title": lambda chance, year, number: f"{year} {number} - {chance.choice(TITLES)}",
    "201400007 Title": lambda chance, year, number: f"{year}{number:05} {chance.choice(TITLES)}",
    "14-00007 Title": lambda chance, year, number: f"{year % 100:02}-{number:05} {chance.choice(TITLES)}",
    "7-2014 Title": lambda chance, year, number: f"{number}-{year} {chance.choice(TITLES)}",
    "007-14 Title": lambda chance, year, number: f"{number:03}-{year % 100:02} {chance.choice(TITLES)}",
    "Sak 2014-7 Title": lambda chance, year, number: f"Sak {year}-{number} {chance.choice(TITLES)}",
    "Title sak 14-7": lambda chance, year, number: f"{chance.choice(TITLES)} sak {year % 100:02}-{number}",
    "Title (sak 14-7)": lambda chance, year, number: f"{chance.choice(TITLES)} (sak {year % 100:02}-{number})",
}
WITHOUT_NUMBERS: dict[str, Maker] = {
    "60-116 Title": lambda chance, *_: f"{chance.randrange(1, 99)}-{chance.randrange(1, 400)} {chance.choice(TITLES)}",
    "2014-2017 Title": lambda chance, year, _: f"{year}-{year + chance.randrange(1, 5)} {chance.choice(TITLES)}",
    "2014-03 Title": lambda chance, year, _: f"{year}-{chance.randrange(1, 13):02} {chance.choice(TITLES)}",
    "2014-03-12 Title": lambda chance, year, _: (
        f"{year}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02} {chance.choice(TITLES)}"
    ),
    "20140312 Title": lambda chance, year, _: (
        f"{year}{chance.randrange(1, 13):02}{chance.randrange(1, 29):02} {chance.choice(TITLES)}"
    ),
    "12.03.2014 Title": lambda chance, year, _: f"{chance.randrange(1, 29):02}.03.{year} {chance.choice(TITLES)}",
    "07 Title": lambda chance, _, number: f"{number:02} {chance.choice(TITLES)}",
    "Title Rev 10-12": lambda chance, *_: (
        f"{chance.choice(TITLES)} Rev {chance.randrange(1, 30)}-{chance.randrange(30)}"
    ),
    "Title": lambda chance, *_: chance.choice(TITLES),
}
NOISE = ("Diverse", "Maler", "_gammelt", "Kopi av dokumenter", "Ny mappe", "2014", "til sletting")


def level_of(chance: Chance, make: Maker, size: int, *, dated: bool) -> tuple[list[Folder], dict[str, Number]]:
    """A level of folders with such names, and the number that each of them means."""
    folders, meant = list[Folder](), dict[str, Number]()
    last: dict[int, int] = {}
    for _ in range(size):
        year = chance.randrange(2009, 2021)
        last[year] = last.get(year, chance.randrange(40)) + chance.randrange(1, 30)
        name = make(chance, year, last[year])
        if chance.random() < 0.06:
            name = chance.choice(NOISE)
        else:
            meant[name] = (year, last[year])
        begins = year + (chance.choice((0, 0, 0, 0, 1, 2)) if chance.random() < 0.95 else -3)
        folders.append(Folder(name, frozenset({begins, begins + 1}) if dated else frozenset()))
    return folders, meant


def judge(make: Maker, size: int, seeds: int, *, dated: bool, numbered: bool) -> tuple[int, int]:
    """Of so many levels those that were read wrongly, and those that are asked."""
    wrong = asked = 0
    for seed in range(seeds):
        folders, meant = level_of(random.Random(f"{seed} {size}"), make, size, dated=dated)
        fit = best_fit(folders)
        if fit is None or fit.asks:
            asked += numbered
            continue
        cases = [(folder.name, case) for folder in folders if (case := fit.form.parse(folder.name)) is not None]
        wrong += not numbered or any(meant.get(name) != case[:2] for name, case in cases)
    return wrong, asked


@pytest.mark.parametrize("size", [40, 150])
@pytest.mark.parametrize("kind", WITH_NUMBERS)
def test_no_level_of_forty_folders_is_read_wrongly_and_hardly_one_is_asked(kind: str, size: int) -> None:
    wrong, asked = judge(WITH_NUMBERS[kind], size, 12, dated=True, numbered=True)
    assert wrong == 0
    assert asked <= 1


@pytest.mark.parametrize("dated", [True, False])
@pytest.mark.parametrize("kind", WITHOUT_NUMBERS)
def test_what_is_no_case_number_is_never_taken_for_one(kind: str, dated: bool) -> None:
    for size in (12, 40, 150):
        assert judge(WITHOUT_NUMBERS[kind], size, 8, dated=dated, numbered=False)[0] == 0


@pytest.mark.parametrize("kind", WITH_NUMBERS)
def test_without_any_date_a_year_of_two_figures_is_asked_and_never_wrong(kind: str) -> None:
    wrong, asked = judge(WITH_NUMBERS[kind], 60, 8, dated=False, numbered=True)
    assert wrong == 0
    whole = kind.startswith(("2014", "7-2014", "Sak 2014"))
    assert asked <= 1 if whole else asked == 8


@pytest.mark.parametrize("kind", WITH_NUMBERS)
def test_of_a_few_folders_nothing_is_taken(kind: str) -> None:
    wrong, asked = judge(WITH_NUMBERS[kind], 8, 6, dated=True, numbered=True)
    assert (wrong, asked) == (0, 6)


@pytest.mark.parametrize(
    ("form", "name", "expected"),
    [
        ("{year:4}-{number} {title}", "2014-0007 Høring", (2014, 7, "Høring")),
        ("{year:4}-{number} {title}", "2014_0007_Høring", (2014, 7, "Høring")),
        ("{year:4}-{number} {title}", "2014 - 7", (2014, 7, "")),
        ("{year:4}-{number} {title}", "2014-0007 12 stoler", (2014, 7, "12 stoler")),
        ("{year:4}-{number} {title}", "2014-0007, Høring", (2014, 7, "Høring")),
        ("{year:4}-{number} {title}", "2014-0007(Høring)", (2014, 7, "(Høring)")),
        ("{year:4}-{number} {title}", "2014-0007Høring", None),
        ("{year:4}-{number} {title}", "2014-0000 Høring", None),
        ("{year:4}-{number} {title}", "2014-0007-12 Høring", None),
        ("{year:4}-{number} {title}", "2014-2017 Plan", None),
        ("{year:4}-{number} {title}", "2014-03-12 Møte", None),
        ("{year:4}-{number} {title}", "2014 03 12 Møte", None),
        ("{year:4}-{number} {title}", "12014-7 Høring", None),
        ("{year:4}-{number} {title}", "", None),
        ("{number}-{year:4} {title}", "7-2014 Klage", (2014, 7, "Klage")),
        ("{number}-{year:4} {title}", "2010-2014 Plan", None),
        ("{year:2}-{number} {title}", "98-7 Klage", (1998, 7, "Klage")),
        ("{year:2}/{number} {title}", "14/7 Klage", (2014, 7, "Klage")),
        ("{number}-{year:2} {title}", "12-03-14 Klage", None),
        ("{title} (sak {year:4}-{number})", "Klage (Sak 2014-7)", (2014, 7, "Klage")),
        ("{title} sak {year:2}-{number}", "Klage sak 14-7", (2014, 7, "Klage")),
        ("{title} sak {year:2}-{number}", "Klage PS 14-7", None),
        ("{year:4}{number:5} {title}", "201400007 Klage", (2014, 7, "Klage")),
        ("{year:4}{number:5} {title}", "20140312 Klage", None),
        ("Arkivsak {number}.{year:4}", "Arkivsak 7.2014", (2014, 7, "")),
    ],
)
def test_what_a_form_reads(form: str, name: str, expected: tuple[int, int, str] | None) -> None:
    case = read_form(form).parse(name)
    assert (case and case[:3]) == expected


@pytest.mark.parametrize(
    "form",
    ["", "{year:4}", "{number} {title}", "{year:3}-{number}", "{year:4}-{number}-{number}", "{year:4}-{number} {x}"],
)
def test_what_is_no_form_is_refused(form: str) -> None:
    with pytest.raises(BadForm):
        read_form(form)


@pytest.mark.parametrize("form", FORMS)
def test_a_name_without_end_is_read_in_no_time(form: str) -> None:
    began_s = time.process_time()
    for sign in ("-", " ", "1", "a ", "sak ", "("):
        read_form(form).parse("2014-0007 " + sign * 100_000)
        read_form(form).parse(sign * 100_000)
    assert time.process_time() - began_s < 1.0, "a name is read as far as a file system has any"


def test_two_folders_of_one_number_are_named_and_other_forms_make_doubt() -> None:
    folders = [Folder(f"{year}-{number:04} Sak") for year in (2014, 2015) for number in range(1, 21)]
    fit = best_fit([*folders, Folder("2015_7 Nabovarsel")])
    assert fit is not None
    assert (fit.form.text, fit.asks, fit.folders, fit.matching) == ("{year:4}-{number} {title}", False, 41, 41)
    assert fit.twice == ("2015-0007 Sak", "2015_7 Nabovarsel")
    half = best_fit([*folders, *(Folder(f"Mappe {letter}") for letter in "abcdefghijklmnopqrstuvwxyzæøå")])
    assert half is not None
    assert half.asks, "of 69 folders 40 have a number"
    assert best_fit([Folder(f"Mappe {number}") for number in range(40)]) is None
    assert best_fit([]) is None
