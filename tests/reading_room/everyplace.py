"""Every kind of place that the reading room opens, made from one town by the commands that people use."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import noarkit
from tests.copies.corpus.images import encoded
from tests.copies.corpus.mail import mail
from tests.copies.corpus.office import docx, xlsx
from tests.copies.corpus.pdf import pdf

SAMPLE = Path(__file__).resolve().parents[2] / "samples/files"
WORD = "gravemaskin"
"""A word in the text of documents and in a title, that nothing else holds."""


def write_documents(folder: Path) -> None:
    """Documents of each kind that people know, in folders by year."""
    documents: Mapping[str, bytes] = {
        "2011/brev.pdf": pdf([f"Ad veien til vannet\nen {WORD} er bestilt"]),
        "2011/notat.docx": docx("Notat om veien", f"En {WORD} kommer i mai"),
        "2011/budsjett.xlsx": xlsx([["Post", "Sum"], ["Vei", "1200"]]),
        "2012/liste.csv": b"navn;antall\r\nbro;3\r\nvei;4\r\n",
        "2012/kart.png": encoded("png"),
        "2012/side.html": b"<!doctype html><title>Side</title><script>document.title='run'</script><p>Hei</p>",
        "2012/svar.eml": mail(
            "Svar om veien", "Takk for brevet", html="<p><img src='http://tracker.example/x'>Takk</p>"
        ),
        "2012/les meg.txt": "Blåbærsyltetøy og ærfugl\n".encode(),
        "2012/ukjent.bin": bytes(range(256)),
    }
    for name, content in documents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def write_cases(folder: Path) -> None:
    """The case folders of a sample, which become case files with journal posts."""
    subprocess.run([sys.executable, SAMPLE / "make.py", folder], check=True, capture_output=True)
    (folder / "2019-0117 Byggesak, Storgata 3" / "01 Nabovarsel.txt").write_text(f"Her kommer en {WORD}.\n")


def write_database(path: Path) -> None:
    """Two tables, one of which refers to the other."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "CREATE TABLE eier (id INTEGER PRIMARY KEY, navn TEXT NOT NULL);"
            "CREATE TABLE hund (id INTEGER PRIMARY KEY, navn TEXT NOT NULL, eier INTEGER REFERENCES eier (id));"
            f"INSERT INTO eier VALUES (1, 'Kari {WORD}'), (2, 'Ola');"
            "INSERT INTO hund VALUES (1, 'Passopp', 1), (2, 'Bamse', 2), (3, 'Truls', 1);"
        )
        db.commit()


def make_places(folder: Path) -> dict[str, str]:
    """Makes all of them in a folder; returns each by its kind."""
    files, cases, database = folder / "files", folder / "cases", folder / "register.db"
    write_documents(files)
    write_cases(cases)
    write_database(database)
    archive = f"embedded:{folder / 'archive'}"
    for name, source, by in (("run", files, None), ("run of cases", cases, SAMPLE / "recipe.toml")):
        noarkit.plan(source, folder / name, recipe=by)
        noarkit.ingest(folder / name, archive=archive if by else f"embedded:{folder / 'other'}", workers=0)
    options = noarkit.ExtractOptions()
    noarkit.extract(folder / "extract", options, archive=archive)
    for form, name in (("noark5", "extract.zip"), ("eark-aip", "aip.tar"), ("dias-sip", "dias")):
        noarkit.extract(folder / name, options, form=form, archive=archive)
    for form, name in (("bagit", "bag"), ("bagit", "bag.zip"), ("eark-sip", "sip")):
        noarkit.convert(files, folder / name, form=form)
    noarkit.convert(f"sqlite:///{database}", folder / "register.siard", form="siard")
    return {
        "files": str(files),
        "run": str(folder / "run"),
        "run of cases": str(folder / "run of cases"),
        "extract": str(folder / "extract"),
        "packed extract": str(folder / "extract.zip"),
        "packed E-ARK AIP": str(folder / "aip.tar"),
        "E-ARK SIP": str(folder / "sip"),
        "DIAS SIP": str(folder / "dias"),
        "bag": str(folder / "bag"),
        "packed bag": str(folder / "bag.zip"),
        "SIARD": str(folder / "register.siard"),
        "database": f"sqlite:///{database}",
        "embedded archive": archive,
    }
