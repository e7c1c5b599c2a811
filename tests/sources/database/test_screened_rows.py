"""What a row screens is told by no text, list or page: not by its description, and not by who is a party of it."""

from __future__ import annotations

import json
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path

import pytest

import noarkit
from noarkit.events import ignore_event
from noarkit.sources.database.source import find_database

SECRET = "Hemmeline"


def make_base(path: Path, *, numbers: str = "{k}") -> None:
    """Twelve cases with three letters each and a person each; case 4 is screened, and the second letter of case 7."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "CREATE TABLE part (id INTEGER PRIMARY KEY, navn TEXT, epost TEXT, kallenavn TEXT);"
            "CREATE TABLE sak (id INTEGER PRIMARY KEY, saksnr TEXT, tittel TEXT, opprettet DATE, avsluttet DATE,"
            " unntatt TEXT, ansvarlig_id INTEGER REFERENCES part (id));"
            "CREATE TABLE sakspart (sak_id INTEGER REFERENCES sak (id), part_id INTEGER REFERENCES part (id),"
            " PRIMARY KEY (sak_id, part_id));"
            "CREATE TABLE brev (id INTEGER PRIMARY KEY, sak_id INTEGER REFERENCES sak (id), dokumentnr TEXT,"
            " tittel TEXT, brevdato DATE, retning TEXT, part_id INTEGER REFERENCES part (id), unntatt TEXT,"
            " filnavn TEXT, innhold BLOB);"
        )
        for n in range(1, 13):
            screened = "Offl. § 13" if n == 4 else "Nei"
            name = f"{SECRET} {n}" if n in (4, 7) else f"Ola Berg {n}"
            title = f"Barnevern {name}" if n == 4 else f"Byggesak {n}"
            db.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (n, name, f"p{n}@example.org", "Kall"))
            day = f"2012-0{n % 9 + 1}-05"
            db.execute(
                "INSERT INTO sak VALUES (?, ?, ?, ?, ?, ?, 12)",
                (n, f"2012/{n + 100}", title, day, "2012-12-01", screened),
            )
            if n == 4:
                db.execute("INSERT INTO sakspart VALUES (?, ?)", (n, n))
            for k, way in enumerate(("Inn", "Ut", "Notat"), 1):
                is_secret = n == 4 or (n == 7 and k == 2)
                who = name if is_secret else f"sak {n}"
                part = n if k == 2 and n != 4 else None
                number = numbers.format(k=k, n=n, all=n * 3 + k)
                letter = (
                    n * 3 + k,
                    n,
                    number,
                    f"Brev om {who}",
                    day,
                    way,
                    part,
                    "Offl. § 13" if (n, k) == (7, 2) else None,
                )
                db.execute(
                    "INSERT INTO brev VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (*letter, f"{who}.txt", f"Hei {n} {k}".encode()),
                )
        db.commit()


def recipe_of(path: Path) -> str:
    database = find_database(f"sqlite:///{path}")
    assert database is not None
    return database.proposal(ignore_event, lang="en", here=path.parent)


def rules_of(text: str, table: str) -> list[dict[str, object]]:
    return [rule for rule in tomllib.loads(text)["map"] if rule["for"] == table]


def test_descriptions_lists_and_pages_of_a_plan_repeat_nothing_that_is_screened(tmp_path: Path) -> None:
    make_base(tmp_path / "base.db")
    text = recipe_of(tmp_path / "base.db")
    assert tomllib.loads(text)["source"]["text_without"] == {
        **{"sak": ["tittel"], "brev": ["tittel", "filnavn"], "part": ["navn"]}
    }
    (tmp_path / "r.toml").write_text(text, "utf-8")
    noarkit.plan(f"sqlite:///{tmp_path / 'base.db'}", recipe=tmp_path / "r.toml", run=tmp_path / "run")
    with closing(sqlite3.connect(tmp_path / "run" / "graph.db")) as db:
        rows = [(kind, json.loads(fields)) for kind, fields in db.execute("SELECT type, fields FROM entity")]
    descriptions = [fields["beskrivelse"] for _, fields in rows if "beskrivelse" in fields]
    assert len(descriptions) == 1 + 12 + 36 + 12, "of the series, cases, letters and persons"
    assert not [one for one in descriptions if SECRET in one]
    assert any("kallenavn: Kall" in one for one in descriptions), "all else of a row stands there"
    persons = {fields["tittel"]: fields.get("skjerming") for kind, fields in rows if kind == "Basisregistrering"}
    screened = {name for name, code in persons.items() if code}
    assert screened == {f"{SECRET} 4", f"{SECRET} 7"}, "as the case, and the letter, that they are parties of"
    assert persons["Ola Berg 12"] is None, "who handled a screened case is no secret"
    told = [path for path in (tmp_path / "run").iterdir() if path.suffix in (".html", ".csv", ".json", ".log")]
    assert len(told) > 3
    assert not [path.name for path in told if SECRET in path.read_text("utf-8")]


def test_the_one_person_of_a_letter_is_who_it_is_from_or_to(tmp_path: Path) -> None:
    make_base(tmp_path / "base.db")
    post = rules_of(recipe_of(tmp_path / "base.db"), "brev")[0]
    assert post["type"] == "Journalpost"
    role = post["parties"][0]["fields"]["korrespondanseparttype"]  # type: ignore[index]  # plain TOML
    assert "'EA' if" in role
    assert "'EM' if" in role


@pytest.mark.parametrize(
    ("numbers", "field"),
    [
        ("{k}", "= record.dokumentnr | default(none) | match('([0-9]+) *$') | part(0) | int"),
        ("2012/{n}-{k}", "= record.dokumentnr | default(none) | match('([0-9]+) *$') | part(0) | int"),
        ("{all}", None),
        ("7", None),
        ("1", None),
    ],
)
def test_a_document_number_counts_within_its_case_or_is_told(tmp_path: Path, numbers: str, field: str | None) -> None:
    make_base(tmp_path / "base.db", numbers=numbers)
    text = recipe_of(tmp_path / "base.db")
    post, *others = rules_of(text, "brev")
    assert post["fields"].get("journalpostnummer") == field  # type: ignore[attr-defined]  # plain TOML
    assert all("journalpostnummer" not in rule["fields"] for rule in others)  # type: ignore[operator]
    assert ("brev.dokumentnr looks like a document number" in text) is (field is None)
