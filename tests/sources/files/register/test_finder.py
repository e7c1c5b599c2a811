"""Which table among the files is a register, what joins it, and what its columns mean: by generated registers, and by
tables that are none."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

from noarkit.sources.files.case_names import Folder, read_form
from noarkit.sources.files.register.finder import FoundRegister, Places, find_register, is_candidate

FORM = read_form("{year:4}-{number} {title}")
NUMBERS = ("{year}/{number}", "{year}-{number:04}", "{year}/{number:05}", "Sak {year}/{number}", "{year}{number:05}")
HEADINGS = {
    "number": ("Saksnummer", "Saksnr", "Sak", "Arkivsak", "Nr", "Case"),
    "tittel": ("Tittel", "Sakstittel", "Emne", "Title", "Innhold"),
    "saksdato": ("Dato", "Opprettet", "Saksdato", "Startet", "Opened"),
    "saksansvarlig": ("Ansvarlig", "Saksbehandler", "Saksansv.", "Officer"),
    "part": ("Part", "Søker", "Tiltakshaver", "Klient"),
    "skjerming": ("Unntatt", "Skjerming", "Gradering", "U.off."),
    "unit": ("Enhet", "Avd."),
}
TITLES = (
    "Høring om veg",
    "Klage på vedtak",
    "Byggesak Åsveien",
    "Ansettelse av rektor",
    "Søknad om tilskudd",
    "Tilsyn",
)
OFFICERS = ("Berit Dal", "Arne Lie", "Kari Ås")
PARTIES = (
    "Ola Nordmann",
    "Kari Vik",
    "Fjord Bygg AS",
    "Nils Holm",
    "Åse Berg",
    "Tor Li",
    "Eva Moe",
    "Jon Nes",
    "Ida Rud",
)


def cases(chance: random.Random, count: int) -> list[tuple[int, int, str]]:
    """Year, number and title of some cases, each number once."""
    numbers = sorted(chance.sample([(year, number) for year in range(2014, 2020) for number in range(1, 300)], count))
    return [(year, number, f"{chance.choice(TITLES)} {number}") for year, number in numbers]


def row(chance: random.Random, case: tuple[int, int, str], form: str) -> dict[str, str]:
    year, number, title = case
    return {
        "number": form.format(year=year, number=number),
        "tittel": title if chance.random() < 0.9 else f"{title} m.m.",
        "saksdato": f"{chance.randrange(1, 28):02}.{chance.randrange(1, 13):02}.{year}",
        "saksansvarlig": chance.choice(OFFICERS),
        "part": chance.choice(PARTIES),
        "skjerming": chance.choice(("", "", "§ 13", "Offl. § 23")),
        "unit": chance.choice(("TEK", "OPP")),
    }


@pytest.mark.parametrize("seed", range(60))
def test_a_register_is_found_with_what_joins_it_and_what_its_columns_mean(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    all_cases = cases(chance, chance.choice((12, 60, 200)))
    headings = {name: chance.choice(choices) for name, choices in HEADINGS.items()}
    names = list(headings)
    chance.shuffle(names)
    form = chance.choice(NUMBERS)
    rows = [row(chance, case, form) for case in all_cases if chance.random() < 0.95]
    above = [["Saksregister for Sætre", *[""] * 6], ["Utskrift 3. mars 2026"], []] if chance.random() < 0.5 else []
    path = tmp_path / "liste over saker.csv"
    with path.open("w", encoding=chance.choice(("utf-8", "cp1252")), newline="") as file:
        writer = csv.writer(file, delimiter=chance.choice(";,\t"))
        writer.writerows([*above, [headings[name] for name in names]])
        writer.writerows([one[name] for name in names] for one in rows)
        writer.writerows([[], ["Sum", str(len(rows))]] if chance.random() < 0.5 else [])
    folders = [Folder(f"{year}-{number:04} {title}") for year, number, title in all_cases]
    found = find_register(tmp_path, [path], Places(folders, FORM, frozenset({"a.txt"})))
    assert found is not None
    assert (found.rules.file, found.rules.is_of, found.rules.joins) == (path.name, "case", "case.number")
    assert found.rules.column == headings["number"]
    assert (found.rows, found.joined) == (len(rows), len(rows))
    expected = {name: heading for name, heading in headings.items() if name not in ("number", "unit")}
    # a name that repeats itself and stands under a word of its own is all that is known of persons
    assert {name: found.rules.columns.get(name) for name in ("tittel", "saksdato", "skjerming")} == {
        name: expected[name] for name in ("tittel", "saksdato", "skjerming")
    }
    assert found.rules.columns.get("saksansvarlig") == expected["saksansvarlig"]
    assert found.rules.columns.get("part") == expected["part"]
    assert found.codes == {
        word: code
        for word, code in (("§ 13", "UO13"), ("Offl. § 23", "UO23"))
        if any(one["skjerming"] == word for one in rows)
    }


def found_in(tmp_path: Path, text: str, *, folders: list[str], files: set[str] | None = None) -> FoundRegister | None:
    path = tmp_path / "tabell.csv"
    path.write_text(text, "utf-8")
    return find_register(tmp_path, [path], Places([Folder(name) for name in folders], FORM, files or set()))


FOLDERS = [f"{year}-{number:04} Sak" for year in (2014, 2015) for number in range(1, 30)]


def test_a_row_without_a_folder_is_named_by_a_name_only_where_nothing_screens_it(tmp_path: Path) -> None:
    names = [f"Sak om {word}" for word in ("veg", "bru", "skole", "kai", "park", "vann")]
    rows = [f"{name};{'§ 13' if number % 2 else ''}" for number, name in enumerate(names)]
    lost = ["Barnevernssak Ola;§ 13", "Sak om fjell;"]
    found = found_in(tmp_path, "\n".join(("Mappe;Unntatt", *rows, *lost, "")), folders=names)
    assert found is not None and found.rules.joins == "folder.name"
    assert found.rules.columns["skjerming"] == "Unntatt"
    assert found.rows_left == ("*****", "Sak om fjell")


@pytest.mark.parametrize(
    "text",
    [
        "Vare;Pris\nSpade;100\nRake;200\nBor;300\n",
        "År;Antall\n2014;7\n2015;8\n2016;9\n",
        "Dato;Beløp\n2014-01-01;100\n2014-02-01;200\n2014-03-01;300\n",
        "Nr\n1\n2\n3\n4\n5\n",
        "Saksnummer;Tittel\n1999/7;Veg\n1999/8;Bru\n1999/9;Skole\n",
        "Saksnummer;Tittel\n2014/1;To rader\n2014/2;er for få\n",
        "",
        "\n\n",
        "\x00\x01\x02",
    ],
)
def test_other_tables_are_no_register(text: str, tmp_path: Path) -> None:
    assert found_in(tmp_path, text, folders=FOLDERS) is None


def test_a_register_of_names_joins_folders_without_numbers(tmp_path: Path) -> None:
    names = ["Veg over fjellet", "Bru ved Nes", "Skolen i bygda", "Nytt kapell", "Damanlegg"]
    text = "Mappe;Dato\n" + "".join(f"{name.upper()};01.02.2015\n" for name in names)
    found = found_in(tmp_path, text, folders=names)
    assert found is not None
    assert (found.rules.joins, found.rules.column, found.joined) == ("folder.name", "Mappe", 5)


def test_a_register_of_documents_names_files(tmp_path: Path) -> None:
    files = {f"brev {number}.docx" for number in range(8)}
    text = "Fil;Emne;Brevdato\n" + "".join(f"Arkiv\\Brev {n}.docx;Brev om sak {n};0{n + 1}.02.2015\n" for n in range(8))
    found = found_in(tmp_path, text, folders=["A", "B"], files=files)
    assert found is not None
    assert (found.rules.is_of, found.rules.joins, found.rules.column) == ("document", "path", "Fil")
    assert found.rules.columns == {"tittel": "Emne", "dokumentetsDato": "Brevdato"}


def test_a_word_of_screening_without_a_paragraph_is_left_to_a_person(tmp_path: Path) -> None:
    text = "Saksnr;Unntatt\n2014/1;Unntatt off.\n2014/2;§ 13\n2014/3;\n2014/4;§ 13\n"
    found = found_in(tmp_path, text, folders=FOLDERS)
    assert found is not None
    assert found.codes == {"Unntatt off.": "", "§ 13": "UO13"}


def test_what_may_be_a_register_is_told_by_name_and_size(tmp_path: Path) -> None:
    for name in ("a.csv", "b.ODS", "c.xlsx", "metadata.csv", "d.txt", "e.docx"):
        (tmp_path / name).write_text("x")
    (tmp_path / "tom.csv").touch()
    (tmp_path / "lenke.csv").symlink_to("borte.csv")
    assert sorted(path.name for path in tmp_path.iterdir() if is_candidate(path)) == ["a.csv", "b.ODS", "c.xlsx"]
