"""The scale table: what an entity costs, how much memory and disk it takes, and whether it is so with many times more.

Each step is a process of its own, and measured from when its modules are loaded. Three roads are walked at each size:
files are planned; rows of a database are planned, ingested, closed, extracted, validated and read again; and beside
them as many random keys go into a bare database, to tell what an archive's keys alone come to cost. The first two are
journal posts with a party and a document in case files, without documents' bytes. The data of a size are removed before
the next. With `--results FILE` each step is noted there as it ends, and the same command again skips the sizes that
stand in it.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from hashlib import sha1
from itertools import pairwise
from pathlib import Path

from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree
from scripts.benchmarks.figures import machine
from scripts.benchmarks.measuring import Meter

_HERE = Path(__file__).parents[2]
_LEAST, _SMALL = 4, 2
_ENTITIES_EACH = 4
_IN_A_CASE = 20
_COST_MAY_GROW = 1.10
_MEMORY_MAY_GROW, _MEMORY_MAY_GROW_MB = 1.10, 16.0
_LOOK_EVERY_S = 0.5
_ROWS = """
[source]
kind = "database"
[target]
external_system = "bench"
model = 3
close = false
[[target.classification]]
name = "subject"
fields = { tittel = "subject" }
classes = [{ ident = "0", title = "none" }]
[defaults.Saksmappe]
administrativEnhet = "ADM"
[[map]]
for = "letter"
type = "Journalpost"
parents = [{ key = "= record.case_id", type = "Saksmappe", class = "0", fields = { tittel = "= record.case_title" } }]
[map.fields]
tittel = "= record.title"
journalposttype = "I"
dokumentetsDato = "= record.written"
beskrivelse = "= record.text"
[[map.parties]]
fields = { korrespondanseparttype = "EA", korrespondansepartNavn = "= record.sender" }
[[map.documents]]
each = "= [record.title]"
fields = { tittel = "= item", tilknyttetRegistreringSom = "H" }
versions = []
"""


@dataclass(frozen=True, slots=True)
class Step:
    """What one step at one size took. `power` is the size: ten to that many entities, about."""

    journey: str
    power: int
    entities: int
    elapsed_s: float
    ours_s: float
    children_s: float
    server_s: float
    peak_mb: float
    disk_mb: float
    others_per_core: float

    @property
    def each_us(self) -> float:
        """Processor time an entity."""
        return (self.ours_s + self.children_s + self.server_s) / self.entities * 1e6


def run(rounds: int, *, small: bool, only: str, upto: int = 6, results: Path | None = None) -> None:
    """One round of each size; `only` names a road: files, rows, keys."""
    del rounds
    least = _SMALL if small else _LEAST
    load = os.getloadavg()[0]
    print(f"\nscale: {machine()}, load {load:.1f} at the start, one round\n", flush=True)
    steps = measure(range(least, max(least, upto - 2 if small else upto) + 1), only=only, results=results)
    print("\n".join([*table(steps), "", *verdicts(steps)]), flush=True)


def measure(powers: Sequence[int], *, only: str = "", results: Path | None = None) -> list[Step]:
    """Walks the roads at each size that is not in `results` yet; tells each step on standard error."""
    steps = list(_read_results(results))
    for power in powers:
        for road, acts in _ROADS.items():
            journeys = list(acts)
            known = {step.journey for step in steps if step.power == power}
            if only not in road or known.issuperset(journeys):
                continue
            steps = [step for step in steps if (step.power, step.journey) not in {(power, name) for name in journeys}]
            for step in _walk(road, journeys, power):
                steps.append(step)
                _write_results(results, steps)
    return [step for step in steps if step.power in powers]


def table(steps: Sequence[Step]) -> Iterator[str]:
    """The lines of the table, a journey's sizes below each other."""
    yield (
        "| journey | entities | elapsed | processor µs an entity | ours | children | server | peak memory"
        " | disk | others a core |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for sizes in _by_journey(steps).values():
        for step in sizes:
            parts = [seconds / step.entities * 1e6 for seconds in (step.ours_s, step.children_s, step.server_s)]
            yield (
                f"| {step.journey} | {step.entities:,} | {step.elapsed_s:,.1f} s | {step.each_us:.1f} | "
                + " | ".join(f"{part:.1f}" for part in parts)
                + f" | {step.peak_mb:,.0f} MiB | {step.disk_mb:,.0f} MB | {step.others_per_core:.2f} |"
            )


def verdicts(steps: Sequence[Step]) -> Iterator[str]:
    """For each journey: whether an entity costs within a tenth of what it costs among ten times fewer, and whether
    memory is flat. What begins and ends a journey weighs on small sizes, so the cost of each further entity stands
    beside it."""
    yield "| journey | largest and next | cost an entity | each further entity | memory | verdict |"
    yield "|---|---|---|---|---|---|"
    for journey, sizes in _by_journey(steps).items():
        if len(sizes) < 2:
            yield f"| {journey} | {sizes[-1].entities:,} | | | | one size says nothing |"
            continue
        below, top = sizes[-2], sizes[-1]
        ratio = top.each_us / below.each_us
        cost = "even" if ratio <= _COST_MAY_GROW else "GROWS"
        most_mb = max(below.peak_mb * _MEMORY_MAY_GROW, below.peak_mb + _MEMORY_MAY_GROW_MB)
        memory = "flat" if top.peak_mb <= most_mb else "GROWS"
        yield (
            f"| {journey} | {top.entities:,}, {below.entities:,} | {below.each_us:.1f} → {top.each_us:.1f} µs,"
            f" × {ratio:.2f} | {_further(sizes)} | {below.peak_mb:,.0f} → {top.peak_mb:,.0f} MiB"
            f" | cost {cost}, memory {memory} |"
        )


def _further(sizes: Sequence[Step]) -> str:
    """What each entity beyond those of the size before took, for each size."""
    costs = [
        (larger.each_us * larger.entities - smaller.each_us * smaller.entities) / (larger.entities - smaller.entities)
        for smaller, larger in pairwise(sizes)
        if larger.entities > smaller.entities
    ]
    return " → ".join(f"{cost:.1f}" for cost in costs) + " µs"


def _by_journey(steps: Sequence[Step]) -> dict[str, list[Step]]:
    order = [journey for acts in _ROADS.values() for journey in acts]
    names = sorted({step.journey for step in steps}, key=order.index)
    return {name: sorted((s for s in steps if s.journey == name), key=lambda step: step.power) for name in names}


def _walk(road: str, journeys: Sequence[str], power: int) -> Iterator[Step]:
    """Each step in turn, with what the steps before left; all of it is removed at the end."""
    work = Path(tempfile.mkdtemp(prefix="noarkit-bench-"))
    try:
        _MAKERS[road](work, max(1, 10**power // _ENTITIES_EACH))
        for journey in journeys:
            before_mb = _disk_mb(work)
            step = _measure_step(journey, work)
            yield replace(step, power=power, disk_mb=_disk_mb(work) - before_mb)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _measure_step(journey: str, work: Path) -> Step:
    """One step in a process of its own: it waits until its modules are loaded and it is watched, and again when it is
    done, so that nothing that it used is out of sight."""
    with subprocess.Popen(
        [sys.executable, "-m", "scripts.benchmarks.scale", journey, str(work)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=work,
        env={**_neutral_environment(), "HOME": str(work), "PYTHONPATH": str(_HERE)},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        meter = Meter(process.pid, every_s=_LOOK_EVERY_S)
        process.stdin.write("go\n")
        process.stdin.flush()
        select.select([process.stdout], [], [])
        peak_mb, cost = meter.peak_mb(), meter.cost()
        entities = process.stdout.readline()
        meter.close()
    if process.returncode or not entities:
        raise SystemExit(f"{journey} failed in {work}")
    print(f"{journey}: {int(entities):,} entities, {cost.text()}, peak {peak_mb:,.0f} MiB", file=sys.stderr, flush=True)
    return Step(
        journey,
        0,
        int(entities),
        cost.elapsed_s,
        cost.ours_s,
        cost.children_s,
        cost.server_s,
        peak_mb,
        0.0,
        cost.others_per_core,
    )


def _neutral_environment() -> dict[str, str]:
    """Ours, without settings of noarkit; modules are compiled once, as those of an installed program are."""
    unwanted = ("NOARKIT_", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}


def _make_files(work: Path, count: int) -> None:
    """Files of ten bytes, a hundred to a folder, and the recipe that opens none of them."""
    for number in range(count):
        folder = work / "files" / f"case {number // 100:06}"
        if number % 100 == 0:
            folder.mkdir(parents=True)
        (folder / f"letter {number:07}.txt").write_bytes(b"0123456789")
    recipe = FileTree(work / "files", FilePolicy(look_inside=False)).default_recipe()
    (work / "files.toml").write_text(recipe.replace('kind = "files"', 'kind = "files"\nlook_inside = false'))


def _make_rows(work: Path, count: int) -> None:
    """Letters in cases, as rows of one table."""
    (work / "rows.toml").write_text(_ROWS)
    with closing(sqlite3.connect(work / "letters.db")) as db, db:
        db.execute(
            "CREATE TABLE letter (id integer PRIMARY KEY, case_id integer, case_title text, title text, written date,"
            " sender text, text text)"
        )
        db.executemany("INSERT INTO letter VALUES (?,?,?,?,?,?,?)", map(_letter, range(1, count + 1)))


def _make_count(work: Path, count: int) -> None:
    """How many there are; they are made on the way."""
    (work / "count").write_text(str(count * _ENTITIES_EACH))


def _letter(number: int) -> tuple[object, ...]:
    case = (number - 1) // _IN_A_CASE
    day = f"20{number % 14 + 10}-0{number % 9 + 1}-{number % 18 + 10}"
    title, text = f"Brev nummer {number} om noe", f"En beskrivelse av det som står i brev {number}"
    return number, case, f"Sak nummer {case} om en tomt", title, day, f"Avsender {number % 5_000}", text


def _disk_mb(work: Path) -> float:
    """What the steps left on disk, their sources not counted."""
    total = 0
    for name in ("run", "archive", "package"):
        for place, _, files in os.walk(work / name):
            total += sum(Path(place, file).stat().st_blocks for file in files) * 512
    return total / 1e6


def _read_results(results: Path | None) -> Iterator[Step]:
    if results is not None and results.exists():
        for line in results.read_text().splitlines():
            yield Step(**json.loads(line))


def _write_results(results: Path | None, steps: Sequence[Step]) -> None:
    if results is not None:
        beside = results.with_name(f"{results.name}.new")
        beside.write_text("".join(f"{json.dumps(asdict(step))}\n" for step in steps))
        beside.replace(results)


def _plan_files(work: Path) -> int:
    import noarkit

    return sum(noarkit.plan(work / "files", work / "run", recipe=work / "files.toml").entities.values())


def _plan_rows(work: Path) -> int:
    import noarkit

    return sum(noarkit.plan(f"sqlite:///{work}/letters.db", work / "run", recipe=work / "rows.toml").entities.values())


def _ingest(work: Path) -> int:
    import noarkit

    loaded = noarkit.ingest(work / "run", archive=_archive(work))
    assert loaded.numbers.archived == loaded.numbers.read, loaded
    return _entity_count(work)


def _close(work: Path) -> int:
    import noarkit

    assert not noarkit.close(work / "run", archive=_archive(work)).not_closed
    return _entity_count(work)


def _extract(work: Path) -> int:
    import noarkit

    noarkit.extract(work / "package", noarkit.ExtractOptions(allow_empty=True), archive=_archive(work))
    return _entity_count(work)


def _validate(work: Path) -> int:
    import noarkit

    assert noarkit.validate(work / "package").valid
    return _entity_count(work)


def _read(work: Path) -> int:
    from noarkit.events import ignore_event
    from noarkit.forms.noark5.source import find_extract
    from noarkit.graph.entity import MappedRecord
    from noarkit.records import SourceRecord

    source = find_extract(str(work / "package"))
    assert source is not None
    mapper = source.mapper()
    records = (item for item in source.records(ignore_event) if isinstance(item, SourceRecord))
    return sum(len(mapped.entities) for mapped in map(mapper.map, records) if isinstance(mapped, MappedRecord))


def _keys(work: Path) -> int:
    """The keys of an archive, and nothing else: its journal, its cache, a thousand to a transaction."""
    count = int((work / "count").read_text())
    with closing(sqlite3.connect(work / "keys.db", isolation_level=None)) as db:
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "cache_size = -32000"):
            db.execute(f"PRAGMA {pragma}")
        db.execute("CREATE TABLE object (id INTEGER PRIMARY KEY, uuid TEXT NOT NULL)")
        db.execute("CREATE UNIQUE INDEX object_uuid ON object (uuid)")
        for first in range(0, count, 1_000):
            rows = [
                (number, sha1(b"%d" % number, usedforsecurity=False).hexdigest()[:36])
                for number in range(first, min(first + 1_000, count))
            ]
            db.execute("BEGIN")
            db.executemany("INSERT INTO object VALUES (?, ?)", rows)
            db.execute("COMMIT")
    return count


def _archive(work: Path) -> str:
    return f"embedded:{work}/archive"


def _entity_count(work: Path) -> int:
    """How many entities the plan has: all steps are measured by them."""
    return sum(json.loads((work / "run" / "plan.json").read_bytes())["entities"].values())


Act = Callable[[Path], int]
_ROADS: Mapping[str, Mapping[str, Act]] = {
    "files": {"plan of files without MIME": _plan_files},
    "rows": {
        "plan of rows": _plan_rows,
        "ingest of metadata": _ingest,
        "close": _close,
        "extract of metadata, validated": _extract,
        "validate": _validate,
        "read an extract": _read,
    },
    "keys": {"random keys into a bare database": _keys},
}
_MAKERS: Mapping[str, Callable[[Path, int], None]] = {"files": _make_files, "rows": _make_rows, "keys": _make_count}


def _step(journey: str, work: Path) -> None:
    """A step, as the process of its own: ready, go, done, and gone once nobody listens any more."""
    import noarkit.api.closing
    import noarkit.api.extracting
    import noarkit.api.ingesting
    import noarkit.api.planning
    import noarkit.api.validating  # noqa: F401  # loaded before the measuring begins

    act = next(acts[journey] for acts in _ROADS.values() if journey in acts)
    print("ready", flush=True)
    sys.stdin.readline()
    print(act(work), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    _step(sys.argv[1], Path(sys.argv[2]))
