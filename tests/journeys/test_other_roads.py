"""The road of a share is that of a database and of a mailbox too: as few commands, and a package with the same verdict
as its parts, judged by the official schemas and by what the source holds."""

from __future__ import annotations

import json
import mailbox
import re
import shlex
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path

import pytest
from lxml import etree

from samples.database.make import CASES, LETTERS, main
from tests.copies.corpus.pdf import pdf

A = "{http://www.arkivverket.no/standarder/noark5/arkivstruktur}"
OURS = "saetre.kommune.no"
MESSAGES = 24


def run(words: list[str], cwd: Path, answers: str = "") -> tuple[int, str]:
    """One command, to its end."""
    command = [sys.executable, "-m", "noarkit", *words]
    done = subprocess.run(command, cwd=cwd, input=answers, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def printed(text: str, pattern: str) -> list[str]:
    """The command that a text advises last."""
    return shlex.split(re.findall(rf"noarkit ({pattern})", text)[-1])


def walk(source: str, place: Path, schemas: Path, *more_answers: str) -> tuple[list[int], Path, set[str]]:
    """From the source to the package by four commands: their exit codes, the package, and the reasons that stop it."""
    codes, told = [], ""
    code, told = run(["deposit", "new", source, "-o", "project", "--no-copies"], place)
    codes.append(code)
    answers = "\n".join((str(schemas), "Sætre kommune", "974760673", "Fagsystemet", "fagsystem", *more_answers, ""))
    code, told = run(printed(told, "deposit project --ask"), place, answers)
    codes.append(code)
    code, told = run([*printed(told, "deposit project --approve --by"), "Kari Nordmann"], place)
    codes.append(code)
    package = place / "project" / "package"
    _, told = run(["validate", "--project", "project", "--json"], place)
    reasons = [one for line in map(json.loads, told.splitlines()) for one in line.get("reasons", ())]
    return codes, package, {one["code"] for one in reasons if one["grade"] == "stops"}


def structure_of(package: Path, schemas: Path) -> etree._Element:
    """The structure, which the official schemas hold to be right, as they do the change log."""
    for name in ("arkivstruktur", "endringslogg", "loependeJournal", "offentligJournal"):
        if (file := package / f"{name}.xml").is_file():
            schema = etree.XMLSchema(etree.parse(schemas / f"{name}.xsd"))
            assert schema.validate(etree.parse(file)), (name, schema.error_log)
    return etree.parse(package / "arkivstruktur.xml").getroot()


@pytest.fixture
def schemas(reference: Path) -> Path:
    """The official schemas."""
    return reference / "xsd" / "noark5" / "5.0"


@pytest.fixture(scope="module")
def database_road(tmp_path_factory: pytest.TempPathFactory, reference: Path) -> tuple[list[int], Path, set[str]]:
    """The walk from a database to its package."""
    place = tmp_path_factory.mktemp("database")
    main(place / "kilde")
    return walk("sqlite:///kilde/sak.db", place, reference / "xsd" / "noark5" / "5.0")


def test_a_database_comes_to_a_package_that_is_ready(
    database_road: tuple[list[int], Path, set[str]], schemas: Path
) -> None:
    codes, package, stops = database_road
    assert (codes, stops) == ([0, 4, 0], set()), "ready, with remarks"
    root = structure_of(package, schemas)
    cases = {
        (case.findtext(f"{A}saksaar"), case.findtext(f"{A}sakssekvensnummer"), case.findtext(f"{A}tittel"))
        for case in root.iter(f"{A}mappe")
        if case.find(f"{A}saksaar") is not None
    }
    assert cases == {(str(year), str(number), title) for year, number, title, *_ in CASES}
    titles = Counter(str(record.findtext(f"{A}tittel")) for record in root.iter(f"{A}registrering"))
    assert all(titles[letter[3]] for letter in LETTERS)
    days = set(re.findall(r"<saksdato>(.*?)</saksdato>", (package / "arkivstruktur.xml").read_text("utf-8")))
    assert days == {day for _, _, _, day, *_ in CASES}


def make_mailbox(path: Path) -> None:
    """Mails in and out of a municipality, one a fortnight of 2016, every fifth with a paper."""
    box = mailbox.mbox(path)
    for number in range(MESSAGES):
        one, ours, theirs = EmailMessage(), f"Postmottak <post@{OURS}>", f"Ola {number} <ola{number}@example.no>"
        one["From"], one["To"] = (theirs, ours) if number % 2 else (ours, theirs)
        one["Subject"], one["Message-ID"] = f"Søknad {number}", f"<{number}@example.no>"
        one["Date"] = format_datetime(datetime(2016, 1 + number // 2, 3 + number % 2, 10, tzinfo=UTC))
        one.set_content("Hei\n")
        if number % 5 == 0:
            one.add_attachment(pdf(["Et vedlegg"]), maintype="application", subtype="pdf", filename=f"{number}.pdf")
        box.add(one)
    box.close()


def test_a_mailbox_comes_to_a_package_that_lacks_nothing_but_formats(tmp_path: Path, schemas: Path) -> None:
    make_mailbox(tmp_path / "post.mbox")
    codes, package, stops = walk("post.mbox", tmp_path, schemas)
    assert codes == [0, 4, 3]
    assert stops == {"formats"}, "letters as they stand, and a paper that says nothing of PDF/A"
    root = structure_of(package, schemas)
    records = list(root.iter(f"{A}registrering"))
    assert len(records) == MESSAGES
    assert sum(1 for _ in root.iter(f"{A}dokumentbeskrivelse")) == MESSAGES + len(range(0, MESSAGES, 5))
    days = sorted(str(record.findtext(f"{A}opprettetDato"))[:10] for record in records)
    assert days == sorted(f"2016-{1 + number // 2:02}-{3 + number % 2:02}" for number in range(MESSAGES))
    parties = Counter(str(party.text)[:5] for party in root.iter(f"{A}korrespondanseparttype"))
    assert sum(parties.values()) == 2 * MESSAGES
