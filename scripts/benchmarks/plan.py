"""Plans, in processor time an entity: files without MIME, and rows of an SQLite database with little or more to map."""

from __future__ import annotations

import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from noarkit.events import ignore_event
from noarkit.forms.finders import open_source
from noarkit.loading.folder import RunFolder
from noarkit.loading.plan import PlanSpec, make_plan
from noarkit.recipes import compile_recipe, read_recipe
from noarkit.records import Source, fitted
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree
from scripts.benchmarks.database import ROWS
from scripts.benchmarks.figures import machine, measured, processor_spread, tell
from scripts.benchmarks.ingest import make_files

_MORE = ROWS.replace("[map.fields]", 'keywords = ["= record.hvem"]\n[map.fields]').replace(
    "[[skip]]",
    """[[map.notes]]
when = "= record.id % 10 == 0"
fields = { tekst = "= record.tekst" }
[[map.documents]]
each = "= [record.tittel]"
fields = { tittel = "= item", tilknyttetRegistreringSom = "H" }
versions = []
[[skip]]""",
)


def run(rounds: int, *, small: bool, only: str) -> None:
    """Every figure, as rows of one table."""
    print(f"\nplan: {machine()}, {rounds} rounds\n")
    print("| figure | median | least | most | |\n|---|---|---|---|---|")
    count = 2_000 if small else 20_000
    with tempfile.TemporaryDirectory(prefix="noarkit-bench-") as folder:
        place = Path(folder)
        if only in "files":
            files = FileTree(make_files(place / "files", count, 100), FilePolicy(look_inside=False))
            _tell(f"plan of {count:,} files, without MIME", lambda: (files, files.default_recipe()), place, rounds)
        if only in "rows":
            rows = count * 5 // 2
            url = f"sqlite:///{_database(place / 'rows.db', rows)}"
            _tell(f"plan of {rows:,} rows", lambda: (open_source(url), ROWS), place, rounds)
            _tell("the same with keyword, note and document", lambda: (open_source(url), _MORE), place, rounds)


def _tell(name: str, open_place: Callable[[], tuple[Source, str]], place: Path, rounds: int) -> None:
    speeds: list[float] = []
    entities = 0
    for number in range(rounds):
        source, text = open_place()
        recipe = read_recipe(text, "bench")
        source = fitted(source, recipe.data["source"])
        spec = PlanSpec(source, compile_recipe(recipe), text, recipe.target.external_system)
        folder = RunFolder(place / f"run-{number}")

        def plan(spec: PlanSpec = spec, folder: RunFolder = folder) -> float:
            nonlocal entities
            began = time.perf_counter()
            entities = sum(make_plan(spec, folder, ignore_event, time.time).entities.values())
            return entities / (time.perf_counter() - began)

        speeds.append(measured(plan))
        shutil.rmtree(folder.path)
    least, median, most = processor_spread(entities)
    print(f"| {name}, processor | {median:.1f} µs an entity | {least:.1f} | {most:.1f} | |", flush=True)
    tell(f"{name}, elapsed", statistics.median(speeds), "entities/s", what=f"{entities:,} entities")


def _database(path: Path, rows: int) -> Path:
    """Rows of ten columns, in groups of a hundred."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE gruppe (id integer PRIMARY KEY, navn varchar(80) NOT NULL)")
        db.execute(
            "CREATE TABLE rad (id bigint PRIMARY KEY, gruppe_id integer NOT NULL REFERENCES gruppe (id),"
            " tittel varchar(200), dato date, naar timestamp NULL, hvem varchar(80), tekst text, antall integer,"
            " belop decimal(12,2), flagg smallint)"
        )
        db.executemany("INSERT INTO gruppe VALUES (?,?)", ((n, f"Gruppe {n}") for n in range(rows // 100 + 1)))
        db.executemany("INSERT INTO rad VALUES (?,?,?,?,?,?,?,?,?,?)", map(_row, range(1, rows + 1)))
    return path


def _row(n: int) -> tuple[object, ...]:
    title, text = f"Rad nummer {n} i en tabell", f"En beskrivelse av det som står i rad {n}"
    day = f"20{n % 20 + 10}-0{n % 9 + 1}-{n % 20 + 10}"
    return n, n // 100, title, day, f"{day} 12:00:00", f"Person {n % 500}", text, n % 1000, round(n / 7, 2), n % 2
