"""python -m samples.deposit.make FOLDER [--film BYTES] [--twice] [--tenth]: writes the share of a municipality, as a
depot gets to see it.

612 entries: case folders of 2014–2019, a mailbox, a register, and what else lies about on a disk. The same bytes each
time. `make` returns what is in it.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from samples.deposit import documents
from samples.deposit.listing import Case, Share
from samples.deposit.mails import CITIZENS, fill_mailbox, letter, outlook_letter

YEARS = range(2014, 2020)
CASES_A_YEAR = 10
FILES = 604
MAILBOX = "E-post/Postmottak.mbox"
REGISTER = "Saksregister.xlsx"
COLUMNS = ("Saksnummer", "Tittel", "Dato", "Part", "Mappe", "Ansvarlig", "Status", "Unntatt")
FILM_BYTES = 64 * 1024
IDENTITY_NUMBER = "17845010064"
COPIED = datetime(2026, 3, 2, 10, tzinfo=UTC)
_LAST = datetime(2019, 12, 20, 9, tzinfo=UTC)
TWICE = (2015, 7)
"""The number that two folders have, where that is asked for: 2015-0007 and 2015_7."""
_MISCELLANY = "Saksmapper/2016/Diverse"
_WHAT = ("Byggesak", "Klage", "Tilskudd", "Høring", "Reguleringsplan", "Skjenkebevilling", "Dispensasjon")
_WHERE = ("Vika", "Åsen", "Nes", "Sætre", "Myra", "Bjørkeli", "Øvre Dal", "Holmen")
_OFFICERS = ("Berit Dal", "Arne Lie", "Siv Moen")


def make(
    root: Path, seed: int = 1, film_bytes: int = FILM_BYTES, *, has_number_twice: bool = False, is_tenth: bool = False
) -> Share:
    """Writes everything below `root`, which must not be there yet, and says what is in it. A tenth has one case a year
    and a tenth of the mails."""
    share, chance = Share(root), random.Random(seed)  # noqa: S311  # the same share each time
    root.mkdir(parents=True)
    for year in YEARS:
        for number in sorted(chance.sample(range(13, 400), 1 if is_tenth else CASES_A_YEAR)):
            _make_case(share, year, number, chance)
    if has_number_twice:
        _make_case(share, *TWICE, chance)
        _add(share, "Saksmapper/2015/2015_7 Befaring/Notat.txt", b"Et notat.\n", datetime(2015, 6, 1, 9, tzinfo=UTC))
    _write_register(share)
    _add(share, MAILBOX, fill_mailbox(share, chance, 10 if is_tenth else 1), _LAST)
    _fill_miscellany(share, chance, film_bytes, FILES // 10 if is_tenth else FILES)
    _write_leftovers(share)
    _copy_wave(share)
    return share


def _make_case(share: Share, year: int, number: int, chance: random.Random) -> None:
    index = len(share.cases)
    title = f"{chance.choice(_WHAT)} {chance.choice(_WHERE)} {chr(ord('A') + index % 26)}{index}"
    case = Case(year, number, title, (chance.randrange(13, 200), chance.randrange(13, 400)))
    share.cases[case.name] = case
    folder = f"Saksmapper/{year}/{case.name}"
    days = sorted(datetime(year, chance.randrange(1, 12), chance.randrange(1, 28), 9, tzinfo=UTC) for _ in range(9))
    citizen, text = CITIZENS[index % len(CITIZENS)], f"Om {title}, på {number}. side."
    way = ("I", "X") if index % 2 == 0 else ("X", "U")
    share.mails.update(way)
    contents = (
        ("01 Søknad fra {name}.docx", documents.docx(text, days[0])),
        ("02 Brev fra {name}.pdf", documents.pdf(text, days[1])),
        ("03 Svar til {name}.odt", documents.odt(text, days[2])),
        ("04 Notat.txt", f"Notat. {text}\n".encode()),
        ("05 Gammelt notat.txt", f"Notat på eldre vis. {text}\n".encode("cp1252")),
        ("06 Utkast.rtf", documents.rtf(text)),
        ("07 E-post.eml", letter(title, citizen, days[6], way[0])),
        ("08 E-post.msg", outlook_letter(title, citizen, days[7], way[1])),
        ("09 Beregning.xlsx", documents.xlsx("Ark1", [["Post", "Beløp"], ["Gebyr", "1200"]], days[8])),
    )
    # in the first case, what a desktop left behind stands before everything else
    prefix = "Vedlegg " if index == 0 else ""
    for (name, content), day in zip(contents, days, strict=True):
        _add(share, f"{folder}/{prefix}{name.format(name=citizen[0])}", content, day)


def _add(share: Share, path: str, content: bytes, day: datetime) -> None:
    """A file that is to be archived, of a day."""
    share.files[path] = day.year
    _write(share.root, path, content, day)


def _write(root: Path, path: str, content: bytes, day: datetime) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    os.utime(file, (day.timestamp(), day.timestamp()))


def _write_register(share: Share) -> None:
    """The list of cases: two lines above it and a sum below; some rows and folders do not know each other."""
    rows = []
    for index, case in enumerate(share.cases.values()):
        if index in (17, 41):
            share.without_row.append(case.ident)
            continue
        title = case.full_title
        if index in (5, 23, 47):
            share.other_title.append(case.ident)
            title = f"{title}, endelig behandling"
        if index % 10 == 4:
            share.screened.append(case.ident)
        share.register[case.ident] = title
        status = "Utgår" if index == 30 else "Avsluttet"
        rows.append(_row(case.year, case.ident, title, index, status, "§ 13" if index % 10 == 4 else ""))
    for year, number in ((2015, 901), (2018, 902)):
        ident = f"{year}/{number}"
        share.without_folder.append(ident)
        share.register[ident] = f"Sak uten dokumenter {number}"
        rows.append(_row(year, ident, share.register[ident], number, "Avsluttet", ""))
    head = [["Saksregister for Sætre kommune"], ["Skrevet ut 20.12.2019"], [], list(COLUMNS)]
    content = documents.xlsx("Saksregister", [*head, *rows, [], ["Totalt", f"{len(rows)} saker"]], _LAST)
    _write(share.root, REGISTER, content, _LAST)
    share.left_out[REGISTER] = "register"


def _row(year: int, ident: str, title: str, index: int, status: str, screening: str) -> Sequence[str]:
    party, officer = CITIZENS[index % len(CITIZENS)][0], _OFFICERS[index % len(_OFFICERS)]
    return ident, title, f"02.01.{year}", party, f"Hylle {index % 9 + 1}", officer, status, screening


def _fill_miscellany(share: Share, chance: random.Random, film_bytes: int, files: int) -> None:
    """A folder without a number, where everything odd has come to lie, and plain notes until the share is full."""
    day = datetime(2016, 5, 9, 9, tzinfo=UTC)
    for name, content in (
        ("Tom fil.txt", b""),
        ("Tomt ark.xlsx", b""),
        ("Låst vedtak.docx", documents.locked_docx()),
        ("Låste vedlegg.zip", documents.locked_zip("vedlegg.txt", "hemmelig")),
        ("Avkuttet rapport.pdf", documents.pdf("En lang rapport. " * 40, day)[:-200]),
        ("ukjent.dat", chance.randbytes(2_000)),
        ("Notat\nover to linjer.txt", b"Et notat.\n"),
        (os.fsdecode("Møtebok.txt".encode("latin-1")), b"En protokoll.\n"),
    ):
        _add(share, f"{_MISCELLANY}/{name}", content, day)
    film = f"{_MISCELLANY}/Befaring.mp4"
    _add(share, film, b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom", day)
    os.truncate(share.root / film, film_bytes)
    os.utime(share.root / film, (day.timestamp(), day.timestamp()))
    for subject, way in (("Om veien", "X"), (f"Søknad {IDENTITY_NUMBER}", "I")):
        _add(share, f"{_MISCELLANY}/{subject}.eml", letter(subject, CITIZENS[0], day, way), day)
        share.mails[way] += 1
    for index, path in enumerate([path for path in share.files if path.endswith(".pdf") and "2017-" in path][:8]):
        first = share.root / path
        moment = datetime.fromtimestamp(first.stat().st_mtime, UTC)
        _add(share, f"{_MISCELLANY}/Kopi {index + 1} av {first.name}", first.read_bytes(), moment)
    while len(share.files) < files:
        year = YEARS[len(share.files) % len(YEARS)]
        moment = datetime(year, chance.randrange(1, 12), chance.randrange(1, 28), 9, tzinfo=UTC)
        _add(share, f"{_MISCELLANY}/Referat {len(share.files)} {moment:%d.%m.%Y}.txt", b"Et referat.\n", moment)


def _write_leftovers(share: Share) -> None:
    """What no archive takes: links, what desktop systems leave behind, and a file that cannot be read."""
    folder = f"Saksmapper/2014/{next(iter(share.cases))}"
    for path in (f"{folder}/Thumbs.db", "Saksmapper/2015/desktop.ini", ".DS_Store"):
        _write(share.root, path, b"\x00left behind", COPIED)
        share.left_out[path] = "system"
    file = next(path for path in share.files if path.endswith(".docx"))
    for name, target in (("Snarvei til sak", folder), ("Snarvei til søknad", file), ("Snarvei til ingenting", "nei")):
        (share.root / name).symlink_to(target)
        share.left_out[name] = "link"
    locked = f"{_MISCELLANY}/Personalsak.txt"
    share.left_out[locked] = "unreadable"
    if os.geteuid():
        _write(share.root, locked, b"ingen far lese dette\n", _LAST)
        (share.root / locked).chmod(0)
    else:
        os.mkfifo(share.root / locked)  # root may read every file, but nobody opens this one


def _copy_wave(share: Share) -> None:
    """Forty files of 2016 were copied ten years later; what they say inside themselves is still of 2016."""
    for path in share.files:
        if path.startswith("Saksmapper/2016/2016-") and path.endswith((".docx", ".pdf", ".odt", ".xlsx")):
            os.utime(share.root / path, (COPIED.timestamp(), COPIED.timestamp()))


def main() -> None:
    """Writes the share and says how many entries it has."""
    parser = argparse.ArgumentParser(prog="samples.deposit.make", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--film", type=int, default=FILM_BYTES, metavar="BYTES", help="the size of the film")
    parser.add_argument("--twice", action="store_true", help="two folders have one number: 2015-0007 and 2015_7")
    parser.add_argument("--tenth", action="store_true", help="a tenth of it")
    asked = parser.parse_args()
    share = make(asked.folder, film_bytes=asked.film, has_number_twice=asked.twice, is_tenth=asked.tenth)
    print(share.entries)


if __name__ == "__main__":
    main()
