"""A person is found wherever a number or a name may hide, and what could not be searched is never silent."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import noarkit
from noarkit.api.finding_persons import PersonReport, PersonSearchOptions, find_person
from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.persons.local_files import search_local_files
from noarkit.catalogue.persons.matching import person_of
from noarkit.catalogue.persons.occurrences import Occurrences
from noarkit.catalogue.text.collecting import ReadingOptions, collect_texts
from noarkit.errors import UsageFault
from noarkit.settings import Settings, read_settings
from tests.catalogue.shelves import Shelf, catalogue_of
from tests.copies.corpus.mail import mail
from tests.copies.corpus.office import docx, xlsx
from tests.copies.corpus.pdf import pdf, with_form
from tests.rights import held_to_file_rights

NUMBER = "01010750160"
SPACED, HYPHENED = "010107 50160", "010107-50160"


@pytest.fixture
def caller(tmp_path: Path) -> Settings:
    return read_settings(environment={"HOME": str(tmp_path / "home")})


def kinds(text: str, *, ids: tuple[str, ...] = (), names: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """How a text shows a person."""
    return [(match.kind, match.certainty) for match in person_of(ids, names).matches(text)]


@pytest.mark.parametrize(
    ("text", "certainty"),
    [
        (NUMBER, "certain"),
        (f"fnr {SPACED}.", "certain"),
        (HYPHENED, "certain"),
        ("010107.50160", "certain"),
        ("010107\u00a050160", "certain"),
        ("010107\u201350160", "certain"),
        ("\uff10\uff11\uff10\uff11\uff10\uff17\uff15\uff10\uff11\uff16\uff10", "certain"),
        ("0 1 0 1 0 7 5 0 1 6 0", "possible"),
        ("01.01.07 501 60", "possible"),
        ("010107\n50160", "possible"),
        (f"9{NUMBER}1", "possible"),
        ("1010750160", "possible"),
        ("01010750161", ""),
        ("0101075016", ""),
        ("", ""),
    ],
)
def test_a_number_is_found_however_it_is_written(text: str, certainty: str) -> None:
    assert kinds(text, ids=(SPACED,)) == ([("id", certainty)] if certainty else [])


@pytest.mark.parametrize(
    ("text", "certainty"),
    [
        ("Klage fra Åse Nordmann", "certain"),
        ("NORDMANN, ÅSE", "certain"),
        ("ase.nordmann@kommune.example", "certain"),
        ("A\u030ase Nordmanns advokat", "certain"),
        ("Nordmann_Åse.pdf", "certain"),
        ("Aase Nordmann", "possible"),
        ("Åse Nordmannsen", ""),
        ("Nordmann", ""),
    ],
)
def test_a_name_is_found_in_any_order_and_spelling(text: str, certainty: str) -> None:
    assert kinds(text, names=("Åse Nordmann",)) == ([("name", certainty)] if certainty else [])


def test_a_name_of_one_word_is_never_certain() -> None:
    assert kinds("Nordmann", names=("Nordmann",)) == [("name", "possible")]


def test_in_a_long_text_the_words_of_a_name_must_stand_together_to_be_certain() -> None:
    person = person_of(names=["Kari Nordmann"])
    apart = "Kari skrev. " + "ord " * 40 + "Ola Nordmann svarte."
    assert [match.certainty for match in person.matches_in_document(apart)] == ["possible"]
    near = "ord " * 40 + "Nordmann, Kari Anne. " + "ord " * 40
    assert [match.certainty for match in person.matches_in_document(near)] == ["certain"]


@pytest.mark.parametrize("number", ["1234", "0101075016x", "010107501600", ""])
def test_a_number_that_is_none_is_refused_without_being_told(number: str) -> None:
    with pytest.raises(UsageFault) as fault:
        person_of([number])
    assert not number or number not in str(fault.value) + repr(fault.value.data)


def test_a_person_prints_neither_number_nor_name() -> None:
    assert repr(person_of([NUMBER], ["Kari Nordmann"])) == "Person()"


def hide_everywhere(folder: Path) -> None:
    """A folder with the number in one place of each kind."""
    (folder / "saker").mkdir(parents=True)
    text = f"Vedtak for {SPACED}"
    files: dict[str, bytes] = {
        "brev.docx": docx(text),
        "brev.pdf": pdf(["Side en", text]),
        "post.eml": mail("Søknad", "Se vedlegg", attachments=(("s.docx", "application/octet-stream", docx(text)),)),
        "liste.csv": f"navn;nummer\nKari;{HYPHENED}\n".encode(),
        "ark.xlsx": xlsx([["Navn", "Nummer"], ["Kari", NUMBER]]),
        "notat.txt": f"Født {NUMBER} i Lillevik".encode("utf-16"),
        "uten.txt": b"Ingenting her",
        "annen.txt": b"01010150074",
    }
    for name, content in files.items():
        (folder / "saker" / name).write_bytes(content)
    (folder / "saker" / f"soknad {SPACED}.txt").write_bytes(b"Navnet sier det")


def found_refs(report: PersonReport, layer: str) -> set[str]:
    return {hit.ref for hit in report.hits() if hit.layer == layer}


def test_a_number_is_found_in_every_kind_of_file(tmp_path: Path, caller: Settings) -> None:
    folder = tmp_path / "arkiv"
    hide_everywhere(folder)
    report = find_person([folder], ids=[NUMBER], settings=caller)
    in_texts = {f"saker/{n}" for n in ("brev.docx", "brev.pdf", "post.eml", "liste.csv", "ark.xlsx", "notat.txt")}
    assert found_refs(report, "document") == in_texts
    (named,) = [hit for hit in report.hits() if hit.layer == "metadata"]
    assert named.certainty == "certain" and {"title", "document.name"} <= set(named.fields)
    assert named.ref.startswith("~") and "50160" not in json.dumps([hit.to_dict() for hit in report.hits()])
    assert report.is_complete and report.places[0].documents == 9


def test_what_could_not_be_searched_is_listed_with_its_reason(tmp_path: Path, caller: Settings) -> None:
    folder = tmp_path / "arkiv"
    folder.mkdir()
    unknown = ("bilde.bin", "application/octet-stream", bytes(range(256)) * 4)
    files = {
        "laast.pdf": pdf(["hemmelig"], lock="passord"),
        "skannet.pdf": pdf([""]),
        "delvis.pdf": pdf(["tekst", ""]),
        "skjema.pdf": pdf(["Skjema"], with_form),
        "bilde.bin": bytes(range(256)) * 4,
        "post.eml": mail("Se vedlegg", "Vedlagt", attachments=(unknown,)),
        "lang.txt": b"ord " * 600_000,
        "skadet.docx": docx("Vedtak")[:300],
        "god.txt": b"Helt lest",
        "tom.txt": b"",
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / "lenke").symlink_to("/etc/passwd")
    report = find_person([folder], ids=[NUMBER], settings=caller)
    listed = {gap.ref: (gap.reason, gap.in_part) for gap in report.unsearched()}
    assert listed == {
        "laast.pdf": ("password", False),
        "skannet.pdf": ("no-text", False),
        "delvis.pdf": ("in-part", True),
        "skjema.pdf": ("in-part", True),
        "bilde.bin": ("unknown-format", False),
        "post.eml": ("in-part", True),
        "lang.txt": ("in-part", True),
        "skadet.docx": ("damaged", False),
        "lenke": (listed["lenke"][0], False),
    }
    assert not report.is_complete and not list(report.hits())
    sums = report.to_dict()
    assert (sums["unsearched"], sums["searched_in_part"], sums["documents"]) == (5, 4, 6)


def test_the_cells_of_a_database_and_of_siard_are_searched_as_sqlite_counts_them(
    tmp_path: Path, caller: Settings
) -> None:
    source = tmp_path / "register.db"
    with closing(sqlite3.connect(source)) as db, db:
        db.execute(
            "CREATE TABLE person (id INTEGER PRIMARY KEY, nr TEXT, tall INTEGER, fornavn TEXT, etternavn TEXT, b BLOB)"
        )
        rows = [(NUMBER, 1, "Kari", "Berg"), ("x", int(NUMBER), "Kari", "Nordmann"), (SPACED, 2, "Ola", "Nordmann")]
        rows += [("12345678901", n, "Per", "Hansen") for n in range(40)]
        db.executemany("INSERT INTO person (nr, tall, fornavn, etternavn) VALUES (?,?,?,?)", rows)
        db.execute("INSERT INTO person (nr, b) VALUES ('z', ?)", (docx(f"Om {HYPHENED}"),))
        by_sqlite = db.execute(
            "SELECT count(*) FROM person WHERE replace(nr, ' ', '') = ?1 OR tall = CAST(?1 AS INTEGER)", (NUMBER,)
        ).fetchone()[0]
    noarkit.convert(f"sqlite:///{source}", tmp_path / "register.siard", form="siard", settings=caller)
    for place in (source, tmp_path / "register.siard"):
        report = find_person([place], ids=[NUMBER], settings=caller)
        cells = [hit for hit in report.hits() if hit.layer == "metadata"]
        assert len(cells) == by_sqlite == 3, place
        assert {field for hit in cells for field in hit.fields} >= {"nr", "tall"}
        assert len([hit for hit in report.hits() if hit.layer == "document"]) == 1
        named = find_person([place], names=["Kari Nordmann"], settings=caller)
        assert [(hit.certainty, set(hit.fields) >= {"fornavn", "etternavn"}) for hit in named.hits()][:1] != []
        assert len([hit for hit in named.hits() if {"fornavn", "etternavn"} <= set(hit.fields)]) == 1


def sqlite_cells_with(path: Path, number: str) -> int:
    """How many cells of a database hold the number, by SQLite alone."""
    count = 0
    with closing(sqlite3.connect(path)) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            for column in columns:
                query = f'SELECT count(*) FROM "{table}" WHERE instr(CAST("{column}" AS TEXT), ?)'
                count += db.execute(query, (number,)).fetchone()[0]
    return count


def test_a_run_its_archive_and_its_own_files_agree_with_a_search_by_sqlite_and_by_bytes(
    tmp_path: Path, caller: Settings
) -> None:
    source = tmp_path / "saker"
    (source / "Sak").mkdir(parents=True)
    (source / "Sak" / f"{NUMBER} klage.txt").write_text("klage", "utf-8")
    (source / "Sak" / "vedtak.txt").write_text(f"Vedtak om {NUMBER}", "utf-8")
    (source / "Sak" / "annet.txt").write_text("annet", "utf-8")
    run, archive = tmp_path / "run", f"embedded:{tmp_path / 'archive'}"
    noarkit.plan(source, run, settings=caller)
    noarkit.ingest(run, archive=archive, workers=0, settings=caller)
    report = find_person([run, archive, source], ids=[NUMBER], settings=caller)
    assert [place.fault for place in report.places] == [None, None, None]
    run_hits, archive_hits, folder_hits = (
        [hit for hit in report.hits() if hit.place == place.where] for place in report.places
    )
    for hits in (run_hits, archive_hits, folder_hits):
        assert len([hit for hit in hits if hit.layer == "metadata"]) == 1
        assert len([hit for hit in hits if hit.layer == "document"]) == 1
    with closing(sqlite3.connect(run / "graph.db")) as db:
        query = "SELECT count(*) FROM entity WHERE type = 'Basisregistrering' AND instr(fields, ?)"
        assert db.execute(query, (NUMBER,)).fetchone()[0] == 1
    local = {Path(hit.ref).name: 0 for hit in run_hits if hit.layer == "local"}
    for hit in run_hits:
        if hit.layer == "local":
            local[Path(hit.ref).name] += hit.count
    for path in run.iterdir():
        if path.suffix == ".db":
            expected = sqlite_cells_with(path, NUMBER)
        else:
            expected = sum(NUMBER.encode() in line for line in path.read_bytes().splitlines())
        assert local.get(path.name, 0) == expected, path.name
    assert local["graph.db"] > 0


def test_what_is_screened_is_told_by_its_veil_alone(tmp_path: Path, caller: Settings) -> None:
    with write_screened(tmp_path) as catalogue:
        occurrences = Occurrences()
        collect_texts(catalogue.path, catalogue.place, options=ReadingOptions(children=1))
        assert catalogue.find_person(person_of([NUMBER], ["Kari Nordmann"]), occurrences) == (3, 2)
        hits = [hit.to_dict() for hit in occurrences.hits()]
    assert len(hits) == 2 and all(hit["screened"] for hit in hits)
    assert {hit["layer"] for hit in hits} == {"metadata", "document"}
    assert all(str(hit["ref"]).startswith("~") for hit in hits)
    assert "Barnevern" not in json.dumps(hits) and "Kari" not in json.dumps(hits)


@contextmanager
def write_screened(folder: Path) -> Iterator[Catalogue]:
    """A record that is screened, with the number in its document and in its note, and an open one."""
    shelf = Shelf(
        {"Barnevern Kari Nordmann": f"Om {NUMBER}".encode(), "open": b"x"}, frozenset({"Barnevern Kari Nordmann"})
    )
    with catalogue_of(shelf, folder) as catalogue:
        yield catalogue


@contextmanager
def closed_to_all(*folders: Path) -> Iterator[None]:
    """Folders that nobody may read, within the block."""
    for folder in folders:
        folder.chmod(0)
    try:
        yield
    finally:
        for folder in folders:
            folder.chmod(0o700)


def test_what_no_file_search_can_read_is_listed_and_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, closed = tmp_path / "state", tmp_path / "closed"
    (root / "deep").mkdir(parents=True)
    (root / "z.log").write_text(f"Om {NUMBER}\n", "utf-8")
    (root / "link").symlink_to(root / "z.log")
    os.mkfifo(root / "pipe")
    monkeypatch.chdir(root)  # the path of a socket must be short
    with closing(socket.socket(socket.AF_UNIX)) as heard:
        heard.bind("socket")
    # a path that is longer than the system opens
    folder = os.open(root / "deep", os.O_RDONLY)
    for _ in range(20):
        os.mkdir("x" * 250, dir_fd=folder)
        below = os.open("x" * 250, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(os.open("far.log", os.O_WRONLY | os.O_CREAT, dir_fd=folder))
    os.close(folder)
    (root / "shut").mkdir()
    closed.mkdir()
    occurrences = Occurrences()
    roots = [root, closed, tmp_path / ("y" * 300), tmp_path / "nothing"]
    with held_to_file_rights(), closed_to_all(root / "shut", closed):
        assert search_local_files("local", roots, person_of([NUMBER]), occurrences) == 1
    assert [Path(hit.ref).name for hit in occurrences.hits()] == ["z.log"]
    listed = [(Path(gap.ref).name[:10], gap.reason) for gap in occurrences.unsearched()]
    assert listed == [
        ("far.log", "unreadable"), ("link", "link"), ("pipe", "unreadable"), ("shut", "unreadable"),
        ("socket", "unreadable"), ("closed", "unreadable"), ("y" * 10, "unreadable"),
    ]  # fmt: skip


def test_the_local_state_is_searched_when_asked_for(tmp_path: Path, caller: Settings) -> None:
    folder = tmp_path / "arkiv"
    folder.mkdir()
    (folder / "a.txt").write_text(f"Om {NUMBER}", "utf-8")
    state = tmp_path / "home" / ".local" / "state" / "noarkit" / "connections"
    state.mkdir(parents=True)
    (state / "marks.json").write_text(json.dumps({"navn": f"Åse {NUMBER}"}), "utf-8")
    (state / "lenke").symlink_to(folder / "a.txt")
    options = PersonSearchOptions("krav", local_state=True)
    report = find_person([folder], ids=[NUMBER], settings=caller, options=options)
    local = {Path(hit.ref).name: hit.count for hit in report.hits() if hit.layer == "local"}
    assert local == {"marks.json": 1, "arkiv.noarkit-text.db": 1}
    by_name = find_person([], names=["Åse"], settings=caller, options=options)
    assert [Path(hit.ref).name for hit in by_name.hits()] == ["marks.json"]
    assert [(Path(gap.ref).name, gap.reason) for gap in by_name.unsearched()] == [("lenke", "link")]
    log = tmp_path / "home" / ".local" / "state" / "noarkit" / "person-searches.noarkit-access.jsonl"
    assert [json.loads(line)["why"] for line in log.read_text("utf-8").splitlines()] == ["krav", "krav"]
    assert NUMBER not in log.read_text("utf-8")
