"""Writes an export as the old case system left it.

python samples/migration/make.py FOLDER [CASES]
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from xml.sax.saxutils import quoteattr

HEADER = b"OLDCASES\x00\x00\x00\x00\x00\x00\x00\x02"
COLUMNS = ("LETTER", "CASE", "STATUS", "WAY", "WRITTEN", "PARTY", "DOC", "EXT", "TEXT")
SUBJECTS = ("Skjenkebevilling, Kafé Blåbær", "Nabovarsel, Storgata 3", "Tilskudd til skolekorps", "Klage på gebyr")
PARTIES = ("Kafé Blåbær AS", "Ola Nordmann", "Fjord skolekorps", "Åse Ødegård")


def make(folder: Path, cases: int = 5) -> int:
    """Writes everything below `folder`, which must not be there yet; says how many letters the journal has."""
    folder.mkdir(parents=True)
    lines = [f'<case no="{98000 + at}" title={quoteattr(SUBJECTS[at % 4])} unit="ADM"/>' for at in range(cases)]
    cases_xml = '<?xml version="1.0" encoding="ISO-8859-1"?>\n<cases>\n' + "\n".join(lines) + "\n</cases>\n"
    (folder / "cases.xml").write_bytes(cases_xml.encode("latin-1"))
    rows = [row for at in range(cases) for row in letters(at)]
    rows.append(("9001", "97999", "OK", "I", "04.05.97", "Ukjent", "90001", "TXT", "Brev i en sak som er borte"))
    with (folder / "journal.csv").open("w", encoding="cp1252", newline="") as file:
        journal = csv.writer(file, delimiter=";")
        journal.writerow(COLUMNS)
        journal.writerows(rows)
    for row in rows:
        if row[6] != "00103":  # one that nobody finds any more
            document(folder, row[6], f"{row[8]}\n".encode())
    return len({row[0] for row in rows})


def letters(at: int) -> list[tuple[str, ...]]:
    """The rows of a case: a letter in with an attachment, an answer, and one that was deleted."""
    case, party, number = str(98000 + at), PARTIES[at % 4], at * 100
    days = [f"{day:02}.{at % 12 + 1:02}.98" for day in (3, 17, 0)]
    days[2] = "00.00.00"
    return [
        (f"{number + 1:04}", case, "OK", "I", days[0], f"{party}   ", f"{number + 1:05}", "TXT", "Søknad"),
        (f"{number + 1:04}", case, "OK", "I", days[0], f"{party}   ", f"{number + 2:05}", "TXT", "Vedlegg"),
        (f"{number + 2:04}", case, "OK", "U", days[1], party, f"{number + 3:05}", "TXT", "Svar – med tankestrek"),
        (f"{number + 3:04}", case, "DELETED", "U", days[2], party, f"{number + 4:05}", "TXT", "Kladd"),
    ]


def document(folder: Path, number: str, content: bytes) -> None:
    """A document under its number, behind the header of the old system."""
    place = folder / "documents" / f"{int(number) // 100:03}"
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{number}.DAT").write_bytes(HEADER + content)


if __name__ == "__main__":
    print(make(Path(sys.argv[1]), *(int(count) for count in sys.argv[2:])))
