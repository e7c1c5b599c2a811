"""One running archive: its settings, database, file store, clock, and the areas it is made of.

`open_service` makes the tables of every area in a new folder, or opens the folder as it was left.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from noarkit.server import schema
from noarkit.server.database import Database
from noarkit.server.settings import Settings
from noarkit.server.wire import Route

# Each area is a module with `statements()` (its own tables, may be none) and `routes()`.
AREAS: tuple[str, ...] = ("code_lists", "business_metadata", "query")


@dataclass(slots=True)
class Service:
    """What every call can reach."""

    data_dir: Path
    settings: Settings
    db: Database
    now_s: Callable[[], float]

    def now_ms(self) -> int:
        """Now, in milliseconds since 1970 UTC."""
        return int(self.now_s() * 1000)

    def close(self) -> None:
        """Ends the connections."""
        self.db.close()


def open_service(data_dir: Path, settings: Settings | None = None, now_s: Callable[[], float] = time.time) -> Service:
    """Opens the archive in `data_dir`, making it first where it is new."""
    data_dir.mkdir(parents=True, exist_ok=True)
    path = data_dir / "archive.db"
    fresh = not path.exists() or path.stat().st_size == 0
    db = Database(path)
    if fresh:
        db.make(_all_statements())
    return Service(data_dir, settings or Settings(), db, now_s)


def all_routes() -> list[Route]:
    """The routes of every area."""
    return [route for area in AREAS for route in _area(area).routes()]


def _all_statements() -> Iterator[str]:
    yield "CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID"
    yield "CREATE TABLE archive_schema (version INTEGER NOT NULL)"
    yield f"INSERT INTO archive_schema VALUES ({schema.SCHEMA_VERSION})"
    yield from schema.statements()
    for area in AREAS:
        yield from _area(area).statements()


def _area(name: str):  # type: ignore[no-untyped-def]  # replaced by imports below once every area stands
    return importlib.import_module(f"noarkit.server.{name}")
