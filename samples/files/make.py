"""Writes the source of this sample: case folders as an office leaves them on a disk, with a register and oddities.

python samples/files/make.py FOLDER
"""

from __future__ import annotations

import csv
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

CASES = {
    "2019-0042 Skjenkebevilling, Kafé Blåbær": [
        ("01 Søknad.txt", "I", "2019-03-04", "Kafé Blåbær AS", "Søknad om skjenkebevilling for Kafé Blåbær.\n"),
        ("02 Foreløpig svar.txt", "U", "2019-03-11", "Kafé Blåbær AS", "Vi svarer innen tre uker.\n"),
        ("03 Vedtak.pdf", "U", "2019-04-01", "Kafé Blåbær AS", "%PDF-1.4\n% bevillingen innvilges\n"),
    ],
    "2019-0117 Byggesak, Storgata 3": [
        ("01 Nabovarsel.txt", "I", "2019-06-20", "Ola Nordmann", "Varsel til naboer om tilbygg.\n"),
        ("02 Tegning.tif", "I", "2019-06-20", "Ola Nordmann", "II*\x00\x08\x00\x00\x00"),
        ("03 Tillatelse.txt", "U", "2019-09-02", "Ola Nordmann", "Tillatelse gis.\n"),
    ],
    "2020-0003 Tilskudd, Fjord skolekorps": [
        ("01 Søknad om tilskudd.txt", "I", "2020-01-15", "Fjord skolekorps", "Vi søker om 20 000 kroner.\n"),
        ("02 Notat.txt", "X", "2020-02-03", "", "Rådmannen tilrår tilskudd.\n"),
    ],
}
COLUMNS = ("fil", "type", "dato", "part")


def make(folder: Path) -> int:
    """Writes everything below `folder`, which must not be there yet; says how many files there are to load."""
    count = 0
    for case, letters in CASES.items():
        place = folder / case
        place.mkdir(parents=True)
        with (place / "metadata.csv").open("w", encoding="utf-8", newline="") as file:
            register = csv.writer(file, delimiter=";")
            register.writerow(COLUMNS)
            register.writerows((name, kind, day, party) for name, kind, day, party, _ in letters)
        for name, _, day, _, text in letters:
            write(place / name, text.encode(), day)
            count += 1
    write(folder / "2019-0042 Skjenkebevilling, Kafé Blåbær" / "Thumbs.db", b"\xd0\xcf\x11\xe0", "2019-04-01")
    return count


def write(path: Path, content: bytes, day: str) -> None:
    """A file that was last changed on a day."""
    path.write_bytes(content)
    at = datetime.fromisoformat(f"{day}T12:00:00").replace(tzinfo=UTC).timestamp()
    os.utime(path, (at, at))


if __name__ == "__main__":
    print(make(Path(sys.argv[1])))
