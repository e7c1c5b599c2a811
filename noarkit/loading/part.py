"""Parts of a run that machines load side by side without knowing each other: `spine`, `3/8`, `links`.

Each part has a journal of its own beside the plan (`run-spine.db`, `run-3-of-8.db`), so that neither a shared folder
nor copies of the plan have one that two processes write. The plan and k/n alone decide which shards belong to a part.
The other parts need what the spine's journal says: the mark of the run, its archive, the ids of fonds and series.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from noarkit.errors import JournalsClash, PartNotReady, PlanChanged, UsageFault
from noarkit.graph.store import GraphStore
from noarkit.loading.journal import Journal
from noarkit.safe.disk import translate_sqlite_errors

SPINE, LINKS = "spine", "links"
SPINE_JOURNAL = "run-spine.db"
JOURNALS = "run-*.db"
_KEPT_FACTS = ("mark", "archive", "sets_system_fields", "honours_versions")
_FRACTION = re.compile(r"(\d{1,4})/(\d{1,4})\Z")
_NAME = re.compile(r"run-(?:spine|(\d{1,4})-of-(\d{1,4}))\.db\Z")
_MOST_PARTS = 4096
_ENTITY_BYTES = 4096
"""What an entity weighs beside the bytes of its documents, in dividing shards: the cost of its requests."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a run. `number` and `count` are k and n of `k/n`; 0 for the spine and the links."""

    kind: str
    number: int = 0
    count: int = 0

    def __str__(self) -> str:
        return f"{self.number}/{self.count}" if self.count else self.kind

    @property
    def suffix(self) -> str:
        """What its files are called after: `-3-of-8`. The links are loaded with the journal of the whole run."""
        return f"-{self.number}-of-{self.count}" if self.count else "" if self.kind == LINKS else f"-{self.kind}"


def parse_part(text: str) -> Part:
    """The part that `--shard` names. Raises `UsageFault`."""
    word = text.strip().lower()
    if word in (SPINE, LINKS):
        return Part(word)
    match = _FRACTION.match(word)
    if match is None or not 1 <= int(match[1]) <= int(match[2]) <= _MOST_PARTS:
        raise UsageFault(what="bad-part", where=f"--shard {text}")
    return Part("unit", int(match[1]), int(match[2]))


def part_of_journal(path: Path) -> Part | None:
    """The part whose journal has this name; None for any other file."""
    match = _NAME.match(path.name)
    if match is None:
        return None
    return Part("unit", int(match[1]), int(match[2])) if match[1] else Part(SPINE)


def part_journals(folder: Path) -> list[Path]:
    """The journals of parts in a folder: the spine's, then the others by number."""
    pairs = [(part, path) for path in folder.glob(JOURNALS) if (part := part_of_journal(path)) is not None]
    return [path for part, path in sorted(pairs, key=lambda pair: (pair[0].count, pair[0].number))]


def shards_of(part: Part, graph: GraphStore) -> frozenset[int]:
    """The shards of a part, the spine's apart. The same plan and k/n always give the same."""
    if part.kind == SPINE:
        return frozenset()
    loads = [0] * part.count
    mine: set[int] = set()
    units = [(entities * _ENTITY_BYTES + size, n) for n, kind, entities, size in graph.shards() if kind == "unit"]
    # The heaviest first, each to the part that has least so far: no part has much more to do than another.
    for weight, n in sorted(units, key=lambda unit: (-unit[0], unit[1])):
        lightest = min(range(part.count), key=lambda place: (loads[place], place))
        loads[lightest] += max(weight, 1)
        if lightest == part.number - 1:
            mine.add(n)
    return frozenset(mine)


def begin_part(journal: Journal, graph: GraphStore, part: Part, spine: Path, plan_sha256: str) -> None:
    """Makes the journal of a part, and takes over into it what the journal `spine` says of the run.

    Raises `PartNotReady` where that is not there or not done, `PlanChanged` where it is of another plan, and
    `JournalsClash` where this part was begun beside another spine.
    """
    if part.kind == SPINE:
        journal.adopt(graph, shards_of(part, graph) | {0})
        return
    facts = spine_facts(spine, plan_sha256)
    mark = journal.meta("mark")
    if mark not in (None, facts["mark"]):
        raise JournalsClash(where=str(journal.path), why="clash-mark")
    journal.adopt(graph, shards_of(part, graph))
    journal.take_over(spine, {0})
    if mark is None:
        journal.remember(**facts)


def unloaded_parts(folder: Path) -> tuple[str, ...]:
    """The parts that the journals in a run folder have not loaded to their end, the spine first.

    `K/N` stands for all parts but the spine where nothing tells how many there are.
    """
    paths = {part: path for path in part_journals(folder) if (part := part_of_journal(path)) is not None}
    count = max((part.count for part in paths), default=0)
    units = [Part("unit", n, count) for n in range(1, count + 1)]
    unloaded = [str(part) for part in (Part(SPINE), *units) if part not in paths or not is_part_loaded(paths[part])]
    return tuple(unloaded if count else [*unloaded, "K/N"])


def is_part_loaded(journal: Path) -> bool:
    """True if the journal of a part has loaded all of its own shards; of the spine there is always one."""
    if not journal.exists():
        return False
    part, (done, total) = part_of_journal(journal), shard_counts(journal)
    return done == total and (total > 0 or (part is not None and part.kind != SPINE))


def is_spine_loaded(folder: Path, plan_sha256: str) -> bool:
    """True if the spine's journal lies here and says what the other parts need."""
    try:
        spine_facts(folder / SPINE_JOURNAL, plan_sha256)
    except (PartNotReady, PlanChanged):
        return False
    return True


def has_open_units(path: Path) -> bool:
    """True if the journal of a run has shards open that the links wait for."""
    with closing(Journal(path)) as journal:
        return _units_are_open(journal)


def _units_are_open(journal: Journal) -> bool:
    return any(kind != "links" for _, kind in journal.open_shards())


def check_links(journal: Journal, where: Path) -> None:
    """Raises `PartNotReady` where links would lack an end: something before them is not loaded."""
    if _units_are_open(journal):
        parts = ", ".join(unloaded_parts(where))
        raise PartNotReady(where=str(where), why="units-open", parts=parts or None)


def check_whole_run(folder: Path) -> None:
    """Raises `UsageFault` where a run without a journal of its own is being loaded in parts."""
    if part_journals(folder) and not (folder / "run.db").exists():
        raise UsageFault(what="parts-first", where=str(folder), do=f"noarkit runs merge {quote(str(folder))}")


def shard_counts(path: Path) -> tuple[int, int]:
    """How many of a part's own shards are done, and how many there are."""
    part = part_of_journal(path)
    own = "kind = 'spine'" if part is not None and part.kind == SPINE else "kind != 'spine'"
    with translate_sqlite_errors(path), closing(open_to_read(path)) as db:
        if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return 0, 0
        done_count, total = db.execute(
            f"SELECT coalesce(sum(state = 'done'), 0), count(*) FROM shard WHERE {own}"  # noqa: S608  # our own words
        ).fetchone()
    return int(done_count), int(total)


def open_to_read(path: Path) -> sqlite3.Connection:
    """A journal of a part, to be read only."""
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=30)


def spine_facts(path: Path, plan_sha256: str) -> dict[str, str]:
    """The facts of the run that its spine's journal has. Raises `PartNotReady` before that is done, `PlanChanged`."""
    if not path.is_file():
        raise PartNotReady(where=str(path), why="spine-missing")
    with translate_sqlite_errors(path), closing(open_to_read(path)) as db:
        facts = dict(db.execute("SELECT name, value FROM meta"))
        states = [state for (state,) in db.execute("SELECT state FROM shard")]
    if facts.get("plan") not in (None, plan_sha256):
        raise PlanChanged(where=str(path), frozen=plan_sha256, found=facts["plan"])
    if states != ["done"] or "mark" not in facts:
        raise PartNotReady(where=str(path), why="spine-open")
    return {name: facts[name] for name in _KEPT_FACTS if name in facts}
