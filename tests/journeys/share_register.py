"""The register of the cases of an old share, as such lists are: a title above the table, a sum below it, and here and
there a row and a folder that do not know each other."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.journeys.old_share import Share

COLUMNS = ("Saksnummer", "Tittel", "Dato", "Part", "Mappe", "Ansvarlig", "Status", "Unntatt")
PARTIES = ("Ola Nordmann", "Kari Ås", "Fjord AS", "Nils Holm", "Åse Vik", "Tor Berg", "Eva Li", "Jon Moe")


@dataclass
class ShareRegister:
    """The rows by case number; which of them have no folder, which folders no row; whose title is another; which are
    screened."""

    rows: dict[str, dict[str, str]] = field(default_factory=dict)
    without_folder: list[str] = field(default_factory=list)
    without_row: list[str] = field(default_factory=list)
    other_title: list[str] = field(default_factory=list)
    screened: list[str] = field(default_factory=list)


def make_register(share: Share, extension: str = "xlsx") -> ShareRegister:
    """Writes `Saksregister` into the share, by another program, and says what is in it."""
    register = ShareRegister()
    for index, (number, title) in enumerate(share.cases.values()):
        if index in (5, 11):
            register.without_row.append(number)
            continue
        if index in (3, 9, 17):
            register.other_title.append(number)
            title = f"{title}, endelig behandling"
        if index % 8 == 0:
            register.screened.append(number)
        _add(register, number, title, "§ 13" if index % 8 == 0 else "")
    for number in ("2014/900", "2016/901"):
        register.without_folder.append(number)
        _add(register, number, f"Sak uten dokumenter {number[-3:]}", "")
    lines = [["Saksregister for Sætre kommune"], [], list(COLUMNS)]
    lines += [list(row.values()) for row in register.rows.values()]
    lines += [[], ["Totalt", f"{len(register.rows)} saker"]]
    _write(share.root / f"Saksregister.{extension}", lines)
    return register


def _add(register: ShareRegister, number: str, title: str, screening: str) -> None:
    year, index = number.split("/")[0], len(register.rows)
    officers = ("Berit Dal", "Arne Lie")
    values = (
        number,
        title,
        f"02.01.{year}",
        PARTIES[index % len(PARTIES)],
        "",
        officers[index % 2],
        "Avsluttet",
        screening,
    )
    register.rows[number] = dict(zip(COLUMNS, values, strict=True))


def _write(path: Path, lines: Sequence[Sequence[str]]) -> None:
    table = path.with_suffix(".csv")
    table.write_text("".join(";".join(f'"{cell}"' for cell in line) + "\n" for line in lines), "utf-8")
    if path.suffix == ".csv":
        return
    # semicolons, quotes, UTF-8, texts as they stand
    how = f"--infilter=CSV:59,34,76,1,{'/'.join(f'{column}/2' for column in range(1, len(COLUMNS) + 1))}"
    command = ["soffice", "--headless", "--convert-to", path.suffix[1:], how, "--outdir", str(path.parent), str(table)]
    subprocess.run(command, check=True, capture_output=True)
    table.unlink()
