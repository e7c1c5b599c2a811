"""The records that notes, emails and attachments belong to, with the facts of each and when anything of it changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from urllib.parse import unquote

from noarkit.safe.scratch import scratch
from noarkit.services.crm.times import parse_time
from noarkit.services.paging import Row

_TABLE = (
    "CREATE TABLE case_record (id TEXT PRIMARY KEY, module TEXT, facts TEXT, is_due INTEGER, changed_s REAL)"
    " WITHOUT ROWID"
)


class Cases:
    """The cases that were listed, in a temporary file."""

    def __init__(self) -> None:
        self._db = scratch()
        self._db.execute(_TABLE)
        self._modules: dict[str, None] = {}
        self._unfinished_modules: set[str] = set()

    @property
    def is_complete(self) -> bool:
        """True if the list of every module was read to its end."""
        return not self._unfinished_modules

    def begin_listing(self, module: str) -> None:
        """Begins a listing of a module: none of its cases is known yet."""
        self._db.execute("DELETE FROM case_record WHERE module = ?", (module,))
        self._modules[module] = None
        self._unfinished_modules.add(module)

    def end_listing(self, module: str) -> None:
        """Ends a listing that was read to its end."""
        self._unfinished_modules.discard(module)

    def add(self, module: str, facts: Mapping[str, object], times: Sequence[object], *, is_due: bool) -> None:
        """Adds a case that changed at one of these times. With `is_due` its attachments and emails are looked through,
        as are those of a case that is open, or has no time."""
        moments = [moment for value in times if (moment := parse_time(value)) is not None]
        due = is_due or not facts["closed"] or not moments
        changed_s = max((moment.timestamp() for moment in moments), default=0.0)
        row = (facts["id"], module, json.dumps(facts), due, changed_s)
        self._db.execute("INSERT OR REPLACE INTO case_record VALUES (?, ?, ?, ?, ?)", row)

    def touch(self, record_id: str, changed_at: object) -> None:
        """Notes that something which belongs to a case changed at this time."""
        moment = parse_time(changed_at)
        if moment is not None:
            update = "UPDATE case_record SET changed_s = ? WHERE id = ? AND changed_s < ?"
            self._db.execute(update, (moment.timestamp(), record_id, moment.timestamp()))

    def facts(self, record_id: str) -> dict[str, object] | None:
        """Returns the facts of a case; None if it is unknown."""
        row = self._db.execute("SELECT facts FROM case_record WHERE id = ?", (record_id,)).fetchone()
        return json.loads(row[0]) if row else None

    def has_key(self, case_key: str) -> bool:
        """True if the case of this key is listed."""
        facts = self.facts(unquote(case_key.rpartition(":")[2]))
        return facts is not None and facts["key"] == case_key

    def modules(self) -> tuple[str, ...]:
        """Returns the modules whose cases were listed."""
        return tuple(self._modules)

    def parent_of(self, record: Row, field_names: Sequence[str]) -> dict[str, object] | None:
        """Returns the case that a record refers to by the first of these look-ups; None if there is none."""
        for name in field_names:
            value = record.get(name)
            if isinstance(value, Mapping) and (case := self.facts(str(value.get("id")))) is not None:
                return case
        return None

    def changed_cases(
        self, since: datetime | None, *, sweep: bool, again: Sequence[str] = ()
    ) -> Iterator[dict[str, object]]:
        """Yields the cases whose attachments and emails may have changed since a time: those that are due, those with a
        change, and those of which something is asked for again; all of them with `sweep`."""
        query = (
            "SELECT facts FROM case_record WHERE is_due OR changed_s >= ? OR ?"
            " OR id IN (SELECT value FROM json_each(?)) ORDER BY module, id"
        )
        since_s = 0.0 if since is None else since.timestamp()
        for (facts,) in self._db.execute(query, (since_s, sweep, json.dumps(list(again)))):
            yield json.loads(facts)

    def close(self) -> None:
        """Closes the temporary file."""
        self._db.close()
