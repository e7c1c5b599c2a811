"""One sample database of twelve related tables, the same on SQLite, PostgreSQL and MariaDB, with every kind of value.

Documents are held in three ways: bytes in a column, long text in a column (in PostgreSQL a large object, too), and
files on disk that a column names.
"""

from __future__ import annotations

import os
import random
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa

LETTERS = 12
CASES = 5
PDF = b"%PDF-1.7\n"
NUMBER = "13097248022"  # a national identity number of the synthetic kind


@dataclass
class Sample:
    """A database that was made: its URL, and what it holds."""

    url: str
    family: str
    place: Path
    documents: dict[str, bytes] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)

    def run(self, *statements: str) -> None:
        """Changes the database, as somebody else would."""
        with self.owner() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)

    def owner(self) -> Any:  # Any: a context of the library
        """A connection that may write."""
        return engine(self.url).connect()


def engine(url: str) -> sa.Engine:
    """An engine that writes at once."""
    made = sa.engine.make_url(url)
    drivers = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql"}
    made = made.set(drivername=drivers.get(made.drivername, made.drivername))
    return sa.create_engine(made, isolation_level="AUTOCOMMIT", poolclass=sa.pool.NullPool)


def quoted(family: str, name: str) -> str:
    """An identifier with odd signs in it."""
    return "`" + name.replace("`", "``") + "`" if family == "mysql" else '"' + name.replace('"', '""') + '"'


def tables(family: str) -> list[str]:
    """The twelve tables, in the words of each server."""
    blob = {"postgresql": "bytea", "mysql": "longblob", "sqlite": "blob"}[family]
    text = {"postgresql": "text", "mysql": "longtext", "sqlite": "text"}[family]
    tail = " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4" if family == "mysql" else ""
    odd = quoted(family, 'merk "elig` navn;--')
    made = [
        "CREATE TABLE avdeling (id integer PRIMARY KEY, navn varchar(80) NOT NULL)",
        "CREATE TABLE sakstype (kode varchar(8) PRIMARY KEY, betegnelse varchar(80) NOT NULL)",
        "CREATE TABLE emneord (id integer PRIMARY KEY, verdi varchar(80) NOT NULL)",
        "CREATE TABLE person (id integer PRIMARY KEY, navn varchar(80) NOT NULL, fodselsnummer varchar(11),"
        " epost varchar(120), postnummer varchar(4), poststed varchar(40))",
        "CREATE TABLE saksbehandler (id integer PRIMARY KEY, navn varchar(80) NOT NULL, epost varchar(120),"
        " avdeling_id integer REFERENCES avdeling (id))",
        "CREATE TABLE sak (aar integer NOT NULL, nr integer NOT NULL, tittel varchar(200) NOT NULL, opprettet date,"
        " type_kode varchar(8), saksbehandler_id integer, soker_id integer, PRIMARY KEY (aar, nr),"
        " FOREIGN KEY (type_kode) REFERENCES sakstype (kode),"
        " FOREIGN KEY (saksbehandler_id) REFERENCES saksbehandler (id), FOREIGN KEY (soker_id) REFERENCES person (id))",
        "CREATE TABLE sak_emneord (aar integer NOT NULL, nr integer NOT NULL, emneord_id integer NOT NULL,"
        " PRIMARY KEY (aar, nr, emneord_id), FOREIGN KEY (aar, nr) REFERENCES sak (aar, nr),"
        " FOREIGN KEY (emneord_id) REFERENCES emneord (id))",
        f"CREATE TABLE brev (id bigint PRIMARY KEY, sak_aar integer, sak_nr integer, emne varchar(200) NOT NULL,"
        f" dato date, mottatt {_moment(family)}, mottaker_id integer, filnavn varchar(200), innhold {blob},"
        f" brevtekst {text}, {'skann oid,' if family == 'postgresql' else ''}"
        " FOREIGN KEY (sak_aar, sak_nr) REFERENCES sak (aar, nr), FOREIGN KEY (mottaker_id) REFERENCES person (id))",
        "CREATE TABLE vedlegg (brev_id bigint NOT NULL, nr integer NOT NULL, navn varchar(80) NOT NULL,"
        " filsti varchar(250), PRIMARY KEY (brev_id, nr), FOREIGN KEY (brev_id) REFERENCES brev (id))",
        f"CREATE TABLE merknad (id integer PRIMARY KEY, sak_aar integer NOT NULL, sak_nr integer NOT NULL,"
        f" tekst {text}, FOREIGN KEY (sak_aar, sak_nr) REFERENCES sak (aar, nr))",
        f"CREATE TABLE logg (naar {_moment(family)}, hva varchar(200), {odd} varchar(40))",
        _types(family),
    ]
    return [f"{statement}{tail}" for statement in made]


def _moment(family: str) -> str:
    return "datetime(3)" if family == "mysql" else "timestamp"


def _types(family: str) -> str:
    if family == "postgresql":
        return (
            "CREATE TABLE typer (id bigint PRIMARY KEY, liten smallint, tall numeric(30,10), flyt double precision,"
            " flagg boolean, tekst text, fast char(5), dag date, tid time, tidsone timetz, naar timestamp,"
            " naarsone timestamptz, varighet interval, unik uuid, kort bytea, biter bit(5), json jsonb, xml xml,"
            " liste integer[], tekster text[][], punkt point, farge farge, belop money, adresse inet, spenn int4range)"
        )
    if family == "mysql":
        return (
            "CREATE TABLE typer (id bigint unsigned PRIMARY KEY, liten tinyint, tall decimal(30,10), flyt double,"
            " flagg boolean, tekst text, fast char(5), dag date, tid time(1), naar datetime(3),"
            " naarsone timestamp NULL, aar year, kort varbinary(20), biter bit(5), json json, punkt point,"
            " farge enum('rød','grønn'), sett set('a','b'))"
        )
    return (
        "CREATE TABLE typer (id integer PRIMARY KEY, liten smallint, tall decimal(30,10), flyt real, flagg boolean,"
        " tekst text, dag date, naar timestamp, kort varbinary(20), hva_som_helst)"
    )


def _type_rows(family: str) -> list[tuple[str, tuple[object, ...]]]:
    if family == "postgresql":
        return [
            (
                "INSERT INTO typer VALUES (1, 3, 12345678901234567890.0123456789, 'NaN', true, 'hei', 'ab',"
                " '2024-02-29',"
                " '13:37:00.5', '13:37+02', '2024-01-02 03:04:05.6', '2024-01-02 03:04:05+05:30',"
                " '1 year 2 days 3 hours', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '\\x00ff', '10101',"
                " '{\"a\": [1, 2.5, null]}', '<a/>', '{1,NULL,3}', '{{a,b},{c,d}}', '(1,2)', 'rød', '12.5',"
                " '10.0.0.1/8', '[1,5)')",
                (),
            ),
            ("INSERT INTO typer (id, dag, naar) VALUES (2, 'infinity', '0044-03-15 BC')", ()),
        ]
    if family == "mysql":
        return [
            (
                "INSERT INTO typer VALUES (18446744073709551615, 3, 12345678901234567890.0123456789, 1e300, 1,"
                " 'hei æøå',"
                " 'ab', '2024-02-29', '100:37:00.5', '2024-01-02 03:04:05.600', '2024-01-02 03:04:05', 2024, x'00ff',"
                " b'10101', '{\"a\": [1, 2.5, null]}', ST_GeomFromText('POINT(1 2)'), 'rød', 'a,b')",
                (),
            ),
            ("INSERT INTO typer (id) VALUES (2)", ()),
        ]
    return [
        (
            "INSERT INTO typer VALUES (1, 3, '12345678901234567890.0123456789', 1.5, 1, 'hei æøå', '2024-02-29',"
            " '2024-01-02 03:04:05.6', x'00ff', x'0102')",
            (),
        ),
        ("INSERT INTO typer (id, hva_som_helst) VALUES (2, 2.5)", ()),
    ]


def fill(sample: Sample, *, big: int = 300_000) -> None:
    """Makes the tables, their rows, and the files beside them."""
    family = sample.family
    mark = "?" if family == "sqlite" else "%s"
    files = sample.place / "filer"
    (files / "2024").mkdir(parents=True)
    with sample.owner() as db:

        def put(table: str, *rows: tuple[object, ...]) -> None:
            for row in rows:
                db.exec_driver_sql(f"INSERT INTO {table} VALUES ({', '.join([mark] * len(row))})", row)

        if family == "postgresql":
            db.exec_driver_sql("CREATE TYPE farge AS ENUM ('rød', 'grønn')")
        for statement in tables(family):
            db.exec_driver_sql(statement)
        put("avdeling", (1, "Plan"), (2, "Skole"), (3, "Nedlagt"))
        put("sakstype", ("BYG", "Byggesak"), ("SKJ", "Skjenkesak"))
        put("emneord", (1, "garasje"), (2, "nabovarsel"), (3, "ubrukt"))
        put("person", (1, "Kari Æ. Nordmann", NUMBER, "kari@example.no", "5003", "Bergen"))
        put(
            "person",
            (2, "Ola", None, "ola@example.no", None, None),
            (3, "Ingen Brukt", None, "x@example.no", None, None),
        )
        put("saksbehandler", (1, "Per Plan", "per@example.no", 1), (2, "Siv Skole", "siv@example.no", 2))
        for nr in range(1, CASES + 1):
            kind = None if nr == CASES else ("BYG", "SKJ")[nr % 2]
            put("sak", (2024, nr, f"Sak nr {nr}: garasje & «bod»", f"2024-01-0{nr}", kind, 1 + nr % 2, 1 + nr % 2))
            put("sak_emneord", (2024, nr, 1), (2024, nr, 2))
            put("merknad", (nr, 2024, nr, f"Merknad til sak {nr}\nmed to linjer"))
        for number in range(1, LETTERS + 1):
            _letter(sample, put, db, number, big)
        for number in (1, 2, 3):
            name = f"2024/vedlegg-{number}.txt"
            content = f"Vedlegg {number}: æøå\n".encode() * 50
            (files / name).write_bytes(content)
            path = name.replace("/", "\\") if number == 3 else name
            put("vedlegg", (number, 1, f"Vedlegg {number}", path))
            sample.documents[f"vedlegg:{number},1#filsti"] = content
        put("vedlegg", (4, 1, "Uten fil", None))
        put("logg", ("2024-01-02 03:04:05", "lik", "a"), ("2024-01-02 03:04:05", "lik", "a"), (None, None, None))
        for statement, values in _type_rows(family):
            db.exec_driver_sql(statement, values)
        for table in _NAMES:
            sample.rows[table] = db.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()


_NAMES = (
    *("avdeling", "sakstype", "emneord", "person", "saksbehandler", "sak", "sak_emneord", "brev", "vedlegg"),
    *("merknad", "logg", "typer"),
)


def _letter(sample: Sample, put: Any, db: Any, number: int, big: int) -> None:  # Any: see `fill`
    """A letter: every third without bytes, one with none at all, one large, one that belongs to no case."""
    content: bytes | None = PDF + random.Random(number).randbytes(2000 + number)
    if number % 3 == 0:
        content = None
    if number == 4:
        content = b""
    if number == 5:
        content = PDF + random.Random(number).randbytes(big)
    text = f"<p>Brev {number}: blåbær €, \U0001f600</p>\n" * (400 if number % 2 else 0) or None
    case: tuple[int | None, int | None] = (None, None) if number == LETTERS else (2024, 1 + number % CASES)
    row: list[object] = [number, *case, f"Brev nr {number}", f"2024-02-{number:02}", "2024-02-03 04:05:06.789"]
    row += [
        None if number % 2 else 1 + number % 4 // 2,
        f"brev {number}.pdf" if content is not None else None,
        content,
        text,
    ]
    if content is not None:
        sample.documents[f"brev:{number}#innhold"] = content
    if text is not None:
        sample.documents[f"brev:{number}#brevtekst"] = text.encode()
    if sample.family == "postgresql":
        scan = random.Random(-number).randbytes(5_000) if number in (1, 6) else None
        oid = db.exec_driver_sql("SELECT lo_from_bytea(0, %s)", (scan,)).scalar() if scan else None
        if scan:
            sample.documents[f"brev:{number}#skann"] = scan
        row.append(oid)
    put("brev", tuple(row))


def sqlite_sample(place: Path) -> Sample:
    """An SQLite file."""
    place.mkdir(parents=True, exist_ok=True)
    path = place / "arkivet vårt.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA foreign_keys=ON")
    db.close()
    sample = Sample(f"sqlite:///{path}", "sqlite", place)
    fill(sample)
    return sample


def server_sample(url: str, name: str, place: Path) -> Sample:
    """A database of that name on a server."""
    place.mkdir(parents=True, exist_ok=True)
    family = "postgresql" if url.startswith("postgres") else "mysql"
    drop(url, name)
    with engine(url).connect() as db:
        more = " CHARACTER SET utf8mb4" if family == "mysql" else " ENCODING 'UTF8' TEMPLATE template0"
        db.exec_driver_sql(f"CREATE DATABASE {name}{more}")
    made = sa.engine.make_url(url).set(database=name)
    sample = Sample(made.render_as_string(hide_password=False), family, place)
    fill(sample)
    return sample


def drop(url: str, name: str) -> None:
    """Drops a database of ours, whoever is still there."""
    with engine(url).connect() as db:
        more = " WITH (FORCE)" if url.startswith("postgres") else ""
        if not more:
            db.exec_driver_sql("SET lock_wait_timeout = 20")  # who holds a lock that long is a fault of ours
        db.exec_driver_sql(f"DROP DATABASE IF EXISTS {name}{more}")


def server_urls() -> dict[str, str]:
    """Where the servers are."""
    return {
        "postgresql": os.environ.get("NOARKIT_TEST_POSTGRESQL") or "postgresql://127.0.0.1:5432/postgres",
        "mysql": os.environ.get("NOARKIT_TEST_MARIADB") or "mysql://root@127.0.0.1:3306/test",
    }


def as_path(path: Path) -> str:
    """A path in a URL."""
    return quote(str(path))
