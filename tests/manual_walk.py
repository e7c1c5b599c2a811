"""Takes the commands of a block of the manual, in a folder laid out with the sources that the manual speaks of."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sqlite3
from pathlib import Path

from noarkit.cli.main import main
from tests.forms.addml.deliveries import delivery

MAIL = """From: Kari <kari@example.org>
To: Arkivet <post@fjord.kommune.no>
Subject: Spørsmål om veien
Date: Tue, 05 Mar 2019 10:00:00 +0100
Message-ID: <1@example.org>
Content-Type: text/plain; charset=utf-8

Når blir den brøytet?
"""


def lay_out(place: Path) -> None:
    """The folder `case-files`, `cases.db`, `flat-files` with their description, and the name of a person."""
    (place / "name.txt").touch(mode=0o600)
    (place / "name.txt").write_text("Kari Nordmann\n", "utf-8")
    delivery(place / "flat-files")
    for case, letter in (("2019-0001 Vei", "a letter"), ("2019-0002 Skole", "another letter")):
        (place / "case-files" / case).mkdir(parents=True)
        (place / "case-files" / case / f"{letter}.txt").write_text(f"{letter} of {case}", "utf-8")
    (place / "case-files" / "2019-0001 Vei" / "question.eml").write_text(MAIL, "utf-8")
    with contextlib.closing(sqlite3.connect(place / "cases.db")) as database:
        database.executescript(
            "CREATE TABLE sak (id INTEGER PRIMARY KEY, tittel TEXT NOT NULL);"
            "CREATE TABLE brev (id INTEGER PRIMARY KEY, sak INTEGER NOT NULL REFERENCES sak (id), "
            "tittel TEXT NOT NULL, innhold BLOB NOT NULL);"
            "INSERT INTO sak VALUES (1, 'Vei');"
            "INSERT INTO brev VALUES (1, 1, 'Et brev', x'255044462d312e37');"
        )


def follow(commands: str, place: Path) -> None:
    """Runs each line in `place`; it ends with 0, or with the exit code that its comment says."""
    if not (place / "case-files").exists():
        lay_out(place)
    home = {"HOME": str(place), "PATH": os.environ["PATH"]}
    with contextlib.chdir(place):
        for line in commands.splitlines():
            program, *arguments = shlex.split(line, comments=True)
            assert program == "noarkit", line
            said = re.search(r"# .*exit code (\d+)", line)
            assert main([*arguments, "--progress", "none"], home) == (int(said[1]) if said else 0), line
