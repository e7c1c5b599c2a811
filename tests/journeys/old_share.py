"""A share of years ago, as records managers get it: case folders with numbers, letters, mails, copied all at once."""

from __future__ import annotations

import os
import random
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path

YEARS = range(2014, 2020)
OWN, CITIZEN = "saetre.kommune.no", "example.no"
COPIED_S = datetime(2026, 3, 2, 10, tzinfo=UTC).timestamp()
_CORE = '<c:coreProperties xmlns:c="c" xmlns:d="d"><d:modified>{when}</d:modified></c:coreProperties>'
_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Override PartName="/word/document.xml"'
    ' ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)


@dataclass
class Share:
    """What lies in it: the number and title of each case by its folder, how many files are of which year, and how many
    mails came in and went out."""

    root: Path
    cases: dict[str, tuple[str, str]] = field(default_factory=dict)
    files_by_year: Counter[int] = field(default_factory=Counter)
    mails: Counter[str] = field(default_factory=Counter)


def make_share(root: Path, seed: int = 1, cases_a_year: int = 4) -> Share:
    """Makes the share. Every file bears the time of the copying; what it is of stands in names, mails and documents."""
    chance, share = random.Random(seed), Share(root)
    for year in YEARS:
        for number in sorted(chance.sample(range(1, 400), cases_a_year)):
            title = (
                f"{chance.choice(('Byggesak', 'Klage', 'Tilskudd', 'Høring'))} {chance.choice(('Vika', 'Åsen', 'Nes'))}"
            )
            folder = root / "Saksmapper" / str(year) / f"{year}-{number:04} {title} {number}"
            folder.mkdir(parents=True)
            share.cases[folder.name] = (f"{year}/{number}", f"{title} {number}")
            _fill(share, folder, year, chance)
    for path in root.rglob("*"):
        if path.is_file():
            os.utime(path, (COPIED_S, COPIED_S))
    return share


def _fill(share: Share, folder: Path, year: int, chance: random.Random) -> None:
    """Two documents, a note, a mail that came in, one that went out, one file that tells nothing, a leftover."""
    days = sorted(datetime(year, chance.randrange(1, 12), chance.randrange(1, 28), 9, tzinfo=UTC) for _ in range(5))
    for name, day in (("01 Søknad.docx", days[0]), ("02 Vedtak.docx", days[4])):
        with zipfile.ZipFile(folder / name, "w") as archive:
            archive.writestr("[Content_Types].xml", _TYPES)
            archive.writestr("word/document.xml", f"<document>{folder.name}</document>")
            archive.writestr("docProps/core.xml", _CORE.format(when=day.isoformat().replace("+00:00", "Z")))
    (folder / f"03 Notat {days[1]:%d.%m.%Y}.txt").write_text(f"Notat om {folder.name}")
    for name, sender, receiver, day in (("04 inn.eml", CITIZEN, OWN, days[2]), ("05 ut.eml", OWN, CITIZEN, days[3])):
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = f"a@{sender}", f"b@{receiver}", f"Om {folder.name}"
        mail["Date"] = format_datetime(day)
        mail.set_content("Hei\n")
        (folder / name).write_bytes(bytes(mail))
        share.mails["I" if sender == CITIZEN else "U"] += 1
    (folder / "06 uten dato.txt").write_text(f"Uten dato, i {folder.name}")
    (folder / "Thumbs.db").write_bytes(b"\x00thumbs")
    share.files_by_year[year] += 7
