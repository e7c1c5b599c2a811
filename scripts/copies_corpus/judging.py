"""Derives a corpus as a user does, and holds what became of each document against what its kind says."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from noarkit.copies.converters.registry import converters
from noarkit.copies.settings import CopySettings
from scripts.copies_corpus.kind import Kind
from scripts.copies_corpus.writing import DOCUMENTS, PAGES, Expected

_AS_PAGES = """[policy]
name = "ark-som-sider"
base = "no-raf-2022"

[rules.xlsx]
action = "derive"
converters = ["office"]
target = "pdfa-2b"

[rules.ods]
action = "derive"
converters = ["office"]
target = "pdfa-2b"
"""
"""A policy that makes pages of spreadsheets."""
_DONE = (0, 3)
"""Exit codes of a run that came to its end."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a document: its state, the reason for one without a copy, the findings that hold it."""

    state: str
    reason: str | None = None
    held: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join((self.state, self.reason or "", ",".join(self.held))).strip()


def run_derive(command: Sequence[str]) -> int:
    """Runs a command as a user does; its exit code."""
    return subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode


def derive_corpus(folder: Path, run: Callable[[Sequence[str]], int] = run_derive) -> dict[str, Outcome]:
    """What becomes of every document of a corpus, by its path; of files within mails too."""
    policy = folder / "as-pages.toml"
    policy.write_text(_AS_PAGES, "utf-8")
    outcomes: dict[str, Outcome] = {}
    for place, options in ((DOCUMENTS, ()), (PAGES, ("--policy", str(policy)))):
        if (folder / place).is_dir():
            copies = folder / f"copies-of-{place}"
            command = [sys.executable, "-m", "noarkit", "derive", str(folder / place), "-o", str(copies), *options]
            if (code := run(command)) not in _DONE:
                raise SystemExit(f"derive of {place} ended with {code}")
            outcomes.update(read_outcomes(copies))
    return outcomes


def read_outcomes(copies: Path) -> Iterator[tuple[str, Outcome]]:
    """What became of each document, as a folder of copies has it."""
    with closing(sqlite3.connect(copies / "derive.db")) as db:
        rows = db.execute(
            "SELECT d.locator, c.state, c.reason, c.data FROM document d LEFT JOIN copy c ON c.n = d.copy"
        ).fetchall()
    for locator, state, reason, data in rows:
        held = json.loads(data or "{}").get("findings", ()) if reason == "held" else ()
        yield locator, Outcome(state, reason, tuple(held))


def wanted_outcomes(expected: Mapping[str, Expected]) -> dict[str, Outcome]:
    """What must become of each document on this machine: without the tool of its kind it has no copy for that."""
    there = converters(CopySettings())
    wanted: dict[str, Outcome] = {}
    for place, each in expected.items():
        name = each.converter
        has_tool = name is None or (name in there and there[name].version() is not None)
        held = each.held if has_tool else ()
        wanted[place] = Outcome(each.state, each.reason, held) if has_tool else Outcome("failed", "tool-missing")
    return wanted


def differences(wanted: Mapping[str, Outcome], outcomes: Mapping[str, Outcome]) -> dict[str, tuple[Outcome, Outcome]]:
    """The documents of which something else became, each with what was to become of it."""
    nothing = Outcome("not-seen")
    pairs = {place: (each, outcomes.get(place, nothing)) for place, each in wanted.items()}
    return {place: pair for place, pair in pairs.items() if pair[0] != pair[1]}


def judge(folder: Path, expected: Mapping[str, Expected], kinds: Iterable[Kind]) -> bool:
    """Prints a line for each kind, then each exception; True where there is none."""
    outcomes, wanted = derive_corpus(folder), wanted_outcomes(expected)
    wrong = differences(wanted, outcomes)
    by_kind: dict[str, list[str]] = defaultdict(list)
    for place, each in expected.items():
        by_kind[each.kind].append(place)
    for title, places in sorted(by_kind.items()):
        count = sum(place not in wrong for place in places)
        print(f"{title:32} {len(places):4} {count:4}  {wanted[places[0]]}")
    for place, (meant, outcome) in sorted(wrong.items()):
        print(f"NOT AS SAID {place}: {outcome}, not {meant}")
    ordinary, without = count_ordinary(expected, kinds, outcomes)
    good = ordinary - without.total()
    share = 100 * good / max(1, ordinary)
    print(f"ordinary documents: {good} of {ordinary} ({share:.1f} %) have a copy or are kept; without: {dict(without)}")
    print(f"{len(expected)} documents of {len(by_kind)} kinds, {len(wrong)} not as said")
    return not wrong


def count_ordinary(
    expected: Mapping[str, Expected], kinds: Iterable[Kind], outcomes: Mapping[str, Outcome]
) -> tuple[int, Counter[str]]:
    """How many documents are ordinary ones, and of which kinds how many of these have no copy and are not kept."""
    titles = {kind.title for kind in kinds if kind.is_ordinary}
    places = {place: each.kind for place, each in expected.items() if each.kind in titles}
    lacking = (
        title
        for place, title in places.items()
        if place not in outcomes or outcomes[place].state not in ("made", "kept")
    )
    return len(places), Counter(lacking)
