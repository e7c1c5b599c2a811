"""Case databases as offices have them: the same forty cases under other names of tables and columns, with numbers and
dates written in other ways."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

CASES = 40
STILL_OPEN = 17
"""The case that nobody closed."""
SCREENED_EVERY = 11
WAYS = ("I", "U", "N")


@dataclass(frozen=True)
class Way:
    """How one office writes it: names by what they are, and what a number, a day and a direction look like."""

    names: dict[str, str]
    number: Callable[[int, int], tuple[object, ...]]
    day: Callable[[date], object]
    directions: dict[str, str] = field(default_factory=lambda: {"I": "Inn", "U": "Ut", "N": "Notat"})
    screened: str = "§ 13"


def iso(day: date) -> str:
    """`2012-03-04`."""
    return day.isoformat()


def norwegian(day: date) -> str:
    """`04.03.2012`."""
    return day.strftime("%d.%m.%Y")


def seconds(day: date) -> int:
    """Seconds since 1970 at noon."""
    return int(datetime(day.year, day.month, day.day, 12, tzinfo=UTC).timestamp())


def moment(day: date) -> str:
    """`2012-03-04 12:00:00`."""
    return f"{day.isoformat()} 12:00:00"


_SNAKE = {
    **{"case": "sak", "number": "saksnr", "title": "tittel", "opened": "opprettet", "closed": "avsluttet"},
    **{"status": "status", "screened": "unntatt", "officer": "saksbehandler"},
    **{"letter": "brev", "of_case": "sak_id", "written": "brevdato", "direction": "retning", "sender": "avsender"},
    **{"receiver": "mottaker", "letter_title": "tittel", "file": "filnavn", "content": "innhold"},
}
_CAMEL = {
    **{"case": "Saker", "number": "saksAar saksNummer", "title": "sakstittel", "opened": "opprettetDato"},
    **{"closed": "avsluttetDato", "status": "saksStatus", "screened": "skjermingsKode", "officer": "saksAnsvarlig"},
    **{"letter": "Dokumenter", "of_case": "sakId", "written": "dokDato", "direction": "postType"},
    **{"sender": "avsenderNavn", "receiver": "mottakerNavn", "letter_title": "dokTittel", "file": "filNavn"},
    "content": "filInnhold",
}
_ENGLISH = {
    **{"case": "cases", "number": "case_no", "title": "subject", "opened": "opened_at", "closed": "closed_at"},
    **{"status": "state", "screened": "exempt", "officer": "case_officer"},
    **{"letter": "letters", "of_case": "case_id", "written": "letter_date", "direction": "direction"},
    **{"sender": "sender", "receiver": "recipient", "letter_title": "title", "file": "file_name", "content": "content"},
}
BASES = {
    "saksnr": Way(_SNAKE, lambda year, n: (f"{year}/{n}",), iso),
    "saknr": Way(
        {**_SNAKE, "number": "saknr"},
        lambda year, n: (f"{year % 100:02}/{n}",),
        norwegian,
        {"I": "I", "U": "U", "N": "N"},
        "Offl. § 13",
    ),
    "case_no": Way(
        _ENGLISH,
        lambda year, n: (year * 1_000_000 + n,),
        seconds,
        {"I": "incoming", "U": "outgoing", "N": "note"},
        "Offl § 13",
    ),
    "saksAar": Way(_CAMEL, lambda year, n: (year, n), moment, {"I": "Inngående", "U": "Utgående", "N": "Notat"}),
}
"""By what they call the number of a case."""


def opened(n: int) -> date:
    """The day that a case was opened; those of 2012 to 2016."""
    return date(2012 + (n - 1) * 5 // CASES, 1, 5) + timedelta(days=n * 37 % 250)


def make_case_base(path: Path, way: Way) -> None:
    """Writes the database: forty cases, one of them open and three screened, with three documents each."""
    names, numbers = way.names, way.names["number"].split()
    kind = "INTEGER" if isinstance(way.day(date(2012, 1, 1)), int) else "TEXT"
    of_number = "INTEGER" if isinstance(way.number(2012, 1)[0], int) else "TEXT"
    number_columns = ", ".join(f"{one} {of_number}" for one in numbers)
    with closing(sqlite3.connect(path)) as db:
        db.execute(
            f"CREATE TABLE {names['case']} (id INTEGER PRIMARY KEY, {number_columns},"
            f" {names['title']} TEXT, {names['opened']} {kind}, {names['closed']} {kind}, {names['status']} TEXT,"
            f" {names['screened']} TEXT, {names['officer']} TEXT)"
        )
        db.execute(
            f"CREATE TABLE {names['letter']} (id INTEGER PRIMARY KEY, {names['of_case']} INTEGER REFERENCES"
            f" {names['case']} (id), {names['letter_title']} TEXT, {names['written']} {kind},"
            f" {names['direction']} TEXT, {names['sender']} TEXT, {names['receiver']} TEXT, {names['file']} TEXT,"
            f" {names['content']} BLOB)"
        )
        for n in range(1, CASES + 1):
            _add_case(db, way, n)
        db.commit()


def _add_case(db: sqlite3.Connection, way: Way, n: int) -> None:
    day = opened(n)
    ended = None if n == STILL_OPEN else way.day(day + timedelta(days=60))
    screened = way.screened if n % SCREENED_EVERY == 0 else None
    officer = ("Berit Dal", "Arne Lie", "Siv Moen")[n % 3]
    state = "Åpen" if ended is None else "Avsluttet"
    title = f"{('Byggesak', 'Skjenkebevilling', 'Barnehageplass')[n % 3]} nr {n} Øvre Dal"
    row = (n, *way.number(day.year, 100 + n), title, way.day(day), ended, state, screened, officer)
    db.execute(f"INSERT INTO {way.names['case']} VALUES ({', '.join('?' * len(row))})", row)
    for place, kind in enumerate(WAYS):
        ours, theirs = "Sætre kommune", f"Kari Nes {n}"
        sender, receiver = {"I": (theirs, ours), "U": (ours, theirs), "N": (officer, None)}[kind]
        written = day + timedelta(days=place * 7)
        letter = (n * 3 + place, n, f"Brev {kind} {n}", way.day(written), way.directions[kind], sender, receiver)
        db.execute(
            f"INSERT INTO {way.names['letter']} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*letter, f"brev{n}-{place}.txt", f"Hei {n} {kind}.{' Tekst.' * n}".encode()),
        )
