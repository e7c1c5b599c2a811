"""Every face of a run, read as numbers: terminal, JSON, pages, reports, lists, certificate and reading room."""

from __future__ import annotations

import csv
import html
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from noarkit.cli.main import main

OUTCOMES = ("read", "archived", "already_there", "set_aside", "refused", "skipped")
"""What became of source records, in the order in which every face tells it."""
SUMS = (*OUTCOMES, "open", "in_doubt", "bytes")
Numbers = Mapping[str, int]
Capture = Callable[[], str]
"""What a command wrote to stdout since it was last asked."""


def run_command(words: Sequence[str], stdout: Capture) -> tuple[int, str]:
    """The exit code of a command, and what it wrote to stdout."""
    stdout()
    code = main([*words, "--progress", "none"], {})
    return code, stdout()


def json_lines(words: Sequence[str], stdout: Capture) -> tuple[int, list[dict[str, object]]]:
    """The exit code of a command, and its JSON lines."""
    code, text = run_command([*words, "--json"], stdout)
    return code, [json.loads(line) for line in text.splitlines()]


def sums_of(members: Mapping[str, object]) -> dict[str, int]:
    """Those of the sums that an object of JSON tells."""
    return {name: value for name in SUMS if isinstance(value := members.get(name), int)}


def block_sums(text: str) -> dict[str, int]:
    """The sums of the last block on a terminal, in any language: its rows have one order."""
    rows = [line for line in text.splitlines() if re.match(r"\S.*\s\d[\d ]* (records|poster|registreringer)", line)]
    assert len(rows) == 1, text
    lines = text.splitlines()
    start = lines.index(rows[0])
    counts = [first_number(line) for line in lines[start : start + len(OUTCOMES)]]
    return dict(zip(OUTCOMES, counts, strict=True))


def first_number(line: str) -> int:
    """The first number of a line that stands alone."""
    match = re.search(r"(?<![\w-])\d[\d\u00a0 ]*(?![\w-])", re.sub(r"\x1b\[[0-9;]*m", "", line))
    assert match is not None, line
    return int(re.sub(r"\D", "", match[0]))


def page_rows(page: Path | str) -> Iterator[tuple[str, ...]]:
    """The cells of each row of each table of a page, as people see them."""
    text = page.read_text("utf-8") if isinstance(page, Path) else page
    text = re.sub(r"(?s)<(style|svg|script)\b.*?</\1>", "", text)
    for row in re.findall(r"(?s)<tr\b.*?</tr>", text):
        cells = re.findall(r"(?s)<t[dh]\b[^>]*>(.*?)</t[dh]>", row)
        yield tuple(" ".join(html.unescape(re.sub(r"<[^>]+>", " ", cell)).split()) for cell in cells)


PAGE_WORDS = {
    "will be loaded": "loadable",
    "archived": "archived",
    "already there": "already_there",
    "set aside": "set_aside",
    "refused": "refused",
    "skipped by rule": "skipped",
    "read": "read",
}


def page_sums(page: Path | str) -> dict[str, int]:
    """The sums that the table of outcomes on a page tells."""
    found: dict[str, int] = {}
    for cells in page_rows(page):
        name = PAGE_WORDS.get(cells[0]) if len(cells) == 3 else None
        if name is not None and name not in found and re.fullmatch(r"[\d\u00a0, ]+", cells[1]):
            found[name] = int(re.sub(r"\D", "", cells[1]))
    return found


def list_length(path: Path) -> int:
    """How many rows a list has below its head; 0 where there is no list."""
    if not path.exists():
        return 0
    with path.open(encoding="utf-8-sig", newline="") as file:
        return sum(1 for _ in csv.reader(file, delimiter=";")) - 1


def page_text(path: Path) -> str:
    """A page as a person reads it, on one line."""
    text = re.sub(r"(?s)<(style|svg|script)\b.*?</\1>", "", path.read_text("utf-8"))
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())
