"""What other runs of the same archive made, by the journals of those that lie beside the one at hand."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from noarkit.errors import NoarkitError
from noarkit.loading.attached import attach_run, read_only_address
from noarkit.loading.folder import RunFolder, runs_in
from noarkit.loading.state import read_state

_MADE = """
SELECT p.type, e.id FROM run.entity e JOIN entity p ON p.n = e.n
WHERE e.state = 'done' AND e.id IN (SELECT value FROM json_each(?))
"""


@dataclass(slots=True)
class OtherRuns:
    """The other runs in the folder of a run that loaded into its archive; looked for when the first object is asked
    for. One that cannot be read, or whose records were taken out again, proves nothing."""

    folder: RunFolder
    _found: list[Path] | None = field(default=None)

    def find_made(self, objects: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        """Those of some objects, by type and id, that one of them made."""
        sought = frozenset(objects)
        found_here: set[tuple[str, str]] = set()
        for path in self._runs() if sought else ():
            with suppress(NoarkitError, sqlite3.Error, OSError):
                found_here |= _made_by(RunFolder(path), sought)
        return frozenset(found_here & sought)

    def _runs(self) -> list[Path]:
        if self._found is None:
            own = self.folder.path.resolve()
            identity = read_state(self.folder).identity
            beside = (path for path in runs_in(own.parent) if path.resolve() != own)
            self._found = [path for path in beside if identity and _loaded_into(path) == identity]
        return self._found


def _loaded_into(path: Path) -> str | None:
    with suppress(NoarkitError, sqlite3.Error, OSError):
        state = read_state(RunFolder(path))
        return None if state.retraction else state.identity
    return None


def _made_by(run: RunFolder, sought: frozenset[tuple[str, str]]) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(read_only_address(run.graph), uri=True)) as db:
        attach_run(db, run)
        ids = orjson.dumps([object_id for _, object_id in sought]).decode()
        return {(str(kind), str(object_id)) for kind, object_id in db.execute(_MADE, (ids,))}
