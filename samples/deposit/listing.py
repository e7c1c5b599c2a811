"""What lies in the share, as whoever made it knows it: what every later count is compared with."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Case:
    """A case: its number as year and sequence, its title without the property, and the property (gnr, bnr)."""

    year: int
    number: int
    title: str
    land: tuple[int, int]

    @property
    def ident(self) -> str:
        """The number as the archive writes it: `2014/7`."""
        return f"{self.year}/{self.number}"

    @property
    def name(self) -> str:
        """The name of its folder: `2014-0007 Byggesak Vika gnr 60-116`."""
        return f"{self.year}-{self.number:04} {self.title} gnr {self.land[0]}-{self.land[1]}"

    @property
    def full_title(self) -> str:
        """The title with the property, as the register has it: `Byggesak Vika 60/116`."""
        return f"{self.title} {self.land[0]}/{self.land[1]}"


@dataclass(slots=True)
class Share:
    """The share at `root`.

    cases           by the name of their folders          register  titles by number, as the register has them
    without_folder  numbers that only the register has    without_row  numbers that only a folder has
    other_title     numbers whose two titles differ       screened  numbers of § 13
    files           what is to be archived, by path, each with the year that it is of
    left_out        what is not, by path, with the reason
    messages        the mails of the mailbox, in order: the number in the subject, and the year; attachments their PDFs
    mails           single mails: in (I), out (U), neither (X)
    """

    root: Path
    cases: dict[str, Case] = field(default_factory=dict)
    register: dict[str, str] = field(default_factory=dict)
    without_folder: list[str] = field(default_factory=list)
    without_row: list[str] = field(default_factory=list)
    other_title: list[str] = field(default_factory=list)
    screened: list[str] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    messages: list[tuple[str | None, int]] = field(default_factory=list)
    attachments: int = 0
    mails: Counter[str] = field(default_factory=Counter)
    message_ways: Counter[str] = field(default_factory=Counter)

    @property
    def entries(self) -> int:
        """How many entries lie in it, folders aside."""
        return len(self.files) + len(self.left_out)

    @property
    def records(self) -> int:
        """How many records it makes when its mailbox is taken apart."""
        return len(self.files) - 1 + len(self.messages)

    @property
    def documents(self) -> int:
        """How many documents those have: one each, and the attachments."""
        return self.records + self.attachments

    def records_by_year(self, mailbox: str) -> Counter[int]:
        """How many records are of which year."""
        return Counter(year for path, year in self.files.items() if path != mailbox) + Counter(
            year for _, year in self.messages
        )
