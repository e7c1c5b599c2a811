"""Reads what the old case system left: cases.xml, journal.csv, and documents without names, a hundred in a folder."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import date, datetime
from itertools import groupby
from pathlib import Path
from typing import BinaryIO
from xml.etree.ElementTree import iterparse  # our own export, from our own disk

from noarkit import Content, Record, SetAside, Skipped

HEADER = b"OLDCASES"
HEADER_BYTES = 16


class OldCases:
    """The export below a folder. A letter is one or more rows of the journal: its main document, then attachments."""

    def __init__(self, place: str) -> None:
        self.root = Path(place)

    def records(self) -> Iterator[Record | SetAside | Skipped]:
        """Letters, in the order of the journal."""
        cases = {case.get("no"): dict(case.items()) for _, case in iterparse(self.root / "cases.xml")}  # noqa: S314
        with (self.root / "journal.csv").open(encoding="cp1252", newline="") as file:
            for number, rows in groupby(csv.DictReader(file, delimiter=";"), key=lambda row: row["LETTER"]):
                yield self._letter(number, list(rows), cases)

    def open(self, locator: str) -> BinaryIO:
        """A document without the sixteen bytes that the old system put before each."""
        file = (self.root / locator).open("rb")
        if not file.read(HEADER_BYTES).startswith(HEADER):
            file.close()
            raise ValueError("not a document of the old system")
        return file

    def _letter(
        self, number: str, rows: list[dict[str, str]], cases: dict[str | None, dict[str, str]]
    ) -> Record | SetAside | Skipped:
        first = rows[0]
        if first["STATUS"] == "DELETED":
            return Skipped(number, "deleted in the old system")
        if first["CASE"] not in cases:
            return SetAside(number, "F206", {"why": "there is no such case"})
        contents = []
        for row in rows:
            path = self.root / "documents" / f"{int(row['DOC']) // 100:03}" / f"{row['DOC']}.DAT"
            if not path.is_file():
                return SetAside(number, "F202")
            size_bytes = path.stat().st_size - HEADER_BYTES
            contents.append(
                Content(str(path.relative_to(self.root)), f"{row['TEXT']}.{row['EXT'].lower()}", size_bytes)
            )
        fields = {
            "case": cases[first["CASE"]],
            "text": first["TEXT"],
            "way": first["WAY"],
            "party": first["PARTY"].strip(),
            "written": _day(first["WRITTEN"]),
        }
        return Record("letter", number, fields, tuple(contents))


def _day(text: str) -> date | None:
    """A day as the old system wrote it: 31.12.98, and 00.00.00 for none."""
    return None if text == "00.00.00" else datetime.strptime(text, "%d.%m.%y").date()  # a day has no zone
