"""Makes the sample: an SQLite database as a small case system leaves it, and the files that one of its columns names.

python make.py FOLDER
"""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

TABLES = """
CREATE TABLE avdeling (id INTEGER PRIMARY KEY, navn TEXT NOT NULL);
CREATE TABLE sakstype (kode TEXT PRIMARY KEY NOT NULL, betegnelse TEXT NOT NULL);
CREATE TABLE saksbehandler (id INTEGER PRIMARY KEY, navn TEXT NOT NULL, avdeling_id INTEGER REFERENCES avdeling (id));
CREATE TABLE soker (id INTEGER PRIMARY KEY, navn TEXT NOT NULL, epost TEXT, organisasjonsnummer TEXT);
CREATE TABLE sak (
    aar INTEGER NOT NULL, nr INTEGER NOT NULL, tittel TEXT NOT NULL, opprettet DATE NOT NULL,
    sakstype_kode TEXT REFERENCES sakstype (kode), saksbehandler_id INTEGER REFERENCES saksbehandler (id),
    soker_id INTEGER REFERENCES soker (id), PRIMARY KEY (aar, nr)
);
CREATE TABLE brev (
    id INTEGER PRIMARY KEY, sak_aar INTEGER, sak_nr INTEGER, emne TEXT NOT NULL, dato DATE, filnavn TEXT, innhold BLOB,
    FOREIGN KEY (sak_aar, sak_nr) REFERENCES sak (aar, nr)
);
CREATE TABLE vedlegg (
    brev_id INTEGER NOT NULL REFERENCES brev (id), nr INTEGER NOT NULL, tittel TEXT, filsti TEXT,
    PRIMARY KEY (brev_id, nr)
);
CREATE TABLE merknad (id INTEGER PRIMARY KEY, sak_aar INTEGER NOT NULL, sak_nr INTEGER NOT NULL, tekst TEXT,
    FOREIGN KEY (sak_aar, sak_nr) REFERENCES sak (aar, nr)
);
"""
CASES = (
    (2019, 42, "Skjenkebevilling, Kafé Fjord", "2019-03-01", "SKJ", 1, 1),
    (2019, 57, "Garasje, Strandgata 3", "2019-05-14", "BYG", 2, 2),
    (2020, 3, "Fradeling, gnr. 12 bnr. 4", "2020-01-09", "BYG", 2, 2),
)
LETTERS = (
    (1, 2019, 42, "Søknad om skjenkebevilling", "2019-03-01", "søknad.txt"),
    (2, 2019, 42, "Svar på søknad", "2019-04-02", "svar.txt"),
    (3, 2019, 57, "Søknad om garasje", "2019-05-14", "søknad.txt"),
    (4, 2019, 57, "Nabovarsel", "2019-05-20", None),
    (5, 2020, 3, "Rekvisisjon av oppmåling", "2020-01-09", "rekvisisjon.txt"),
    (6, None, None, "Takk for sist", "2020-02-01", "takk.txt"),
)
ATTACHED = ((1, 1, "Skjenkeareal", "2019/skjenkeareal.txt"), (3, 1, "Situasjonsplan", "2019/plan.txt"))


def main(folder: Path) -> None:
    """Writes `sak.db` and the folder `filer`."""
    folder.mkdir()
    with closing(sqlite3.connect(folder / "sak.db")) as db:
        db.executescript(TABLES)
        put(db, "avdeling", (1, "Næring"), (2, "Plan og bygg"))
        put(db, "sakstype", ("SKJ", "Skjenkesak"), ("BYG", "Byggesak"))
        put(db, "saksbehandler", (1, "Siv Sand", 1), (2, "Per Plan", 2))
        put(db, "soker", (1, "Kafé Fjord AS", "post@kafe.example", "987654325"))
        put(db, "soker", (2, "Kari Nordmann", "kari@example.no", None), (3, "Aldri Brukt", None, None))
        put(db, "sak", *CASES)
        for letter in LETTERS:
            content = None if letter[5] is None else f"{letter[3]}\n\nMed hilsen\n".encode()
            put(db, "brev", (*letter, content))
        put(db, "vedlegg", *ATTACHED)
        put(db, "merknad", (1, 2019, 42, "Ringte og purret."), (2, 2019, 57, "Befaring avtalt."))
        db.commit()
    for _, _, title, path in ATTACHED:
        file = folder / "filer" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{title}\n", "utf-8")


def put(db: sqlite3.Connection, table: str, *rows: tuple[object, ...]) -> None:
    """Rows into a table of ours."""
    for row in rows:
        db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608  # our own words


if __name__ == "__main__":
    main(Path(sys.argv[1]))
