"""Counts what became of every source record of a run, from the plan and the journal together.

read = archived + already there + set aside + refused + skipped (+ still open while the run is under way).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields

import orjson

from noarkit.loading.attached import open_plan_and_journal
from noarkit.loading.folder import RunFolder
from noarkit.results import JsonObject


@dataclass(frozen=True, slots=True)
class Numbers(JsonObject):
    """What became of every record that was read. `open` are those without an outcome yet, `new_versions`
    those of the already there that got new versions of their documents, or new documents.
    """

    read: int = 0
    archived: int = 0
    already_there: int = 0
    set_aside: int = 0
    refused: int = 0
    skipped: int = 0
    open: int = 0
    in_doubt: int = 0
    bytes: int = 0
    new_versions: int = 0

    @property
    def add_up(self) -> bool:
        """True if nothing is unaccounted for."""
        accounted = self.archived + self.already_there + self.set_aside + self.refused + self.skipped + self.open
        return self.read == accounted

    def as_data(self) -> dict[str, int]:
        """The numbers by name, in the order they are shown."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class RecordOutcome:
    """The outcome of one source record; `type` and `id` are those of its object in the archive, if it has one.
    `by_plan` says that the plan itself left it out."""

    key: str
    state: str
    code: str | None
    data: dict[str, object]
    type: str | None
    id: str | None
    by_plan: bool = False


# left out by the load, or its own entity's state, or still open; what the plan left out keeps the plan's state
_STATE = """
CASE WHEN r.state != 'mapped' THEN r.state
     WHEN l.state IS NOT NULL THEN l.state
     WHEN e.state = 'done' THEN 'archived'
     WHEN e.state IS NOT NULL THEN e.state
     WHEN r.root IS NULL THEN 'archived'
     ELSE 'open' END
"""

_OUTCOMES = frozenset({"archived", "already_there", "set_aside", "refused", "skipped", "open"})

_JOINED = """
FROM record r
LEFT JOIN entity p ON p.n = r.root
LEFT JOIN run.entity e ON e.n = r.root
LEFT JOIN run.left_out l ON l.bundle = p.bundle AND p.bundle != 0
"""

_NEW_VERSIONS = """
SELECT count(*) FROM run.entity e JOIN record r ON r.root = e.n WHERE e.state = 'already_there' AND EXISTS (
  SELECT 1 FROM entity p JOIN run.entity v ON v.n = p.n
  WHERE p.bundle = e.n AND p.type = 'Dokumentversjon' AND v.state = 'done')
"""


def numbers(folder: RunFolder) -> Numbers:
    """Counts the records of a run by outcome; safe to call while the run is under way."""
    with open_plan_and_journal(folder) as db:
        counts = dict(db.execute(f"SELECT {_STATE} AS state, count(*) {_JOINED} GROUP BY 1").fetchall())
        doubt = db.execute("SELECT count(*) FROM run.chunk WHERE state = 'in_doubt'").fetchone()[0]
        size = db.execute("SELECT coalesce(sum(bytes), 0) FROM run.entity WHERE state = 'done'").fetchone()[0]
        newer = db.execute(_NEW_VERSIONS).fetchone()[0] if counts.get("already_there") else 0
    # a state that there is not, in a journal that was damaged, is counted as nothing: then the numbers do not add up
    counts_by_state = {name: count for name, count in counts.items() if name in _OUTCOMES}
    return Numbers(read=sum(counts.values()), in_doubt=doubt, bytes=size, new_versions=newer, **counts_by_state)


def outcomes(folder: RunFolder, *states: str) -> Iterator[RecordOutcome]:
    """Every record with one of these states (or all), in the order read, one at a time."""
    condition = f"WHERE {_STATE} IN ({','.join('?' * len(states))})" if states else ""
    with open_plan_and_journal(folder) as db:
        rows = db.execute(
            f"SELECT r.key, {_STATE}, coalesce(l.code, r.code), coalesce(l.data, r.data), p.type, e.id,"
            " r.state = 'set_aside'"
            f" {_JOINED} {condition} ORDER BY r.n",
            states,
        )
        for key, state, code, data, kind, archive_id, by_plan in rows:
            details = orjson.loads(data) if data else {}
            yield RecordOutcome(key, state, code, details, kind, archive_id, by_plan=bool(by_plan))


def archive_ids(folder: RunFolder, *types: str) -> Iterator[tuple[str, str]]:
    """The keys of entities of these types and their ids in the archive, made by this run or found there."""
    with open_plan_and_journal(folder) as db:
        placeholders = ",".join("?" * len(types))
        yield from db.execute(
            f"SELECT p.key, e.id FROM entity p JOIN run.entity e ON e.n = p.n"  # noqa: S608  # our own words
            f" WHERE p.type IN ({placeholders}) AND e.id IS NOT NULL ORDER BY p.n",
            types,
        )


def loaded_objects(folder: RunFolder, types: Collection[str]) -> Iterator[tuple[str, str, str | None]]:
    """The type of each object of these types that this run made, its id in the archive, and the day of the oldest
    document that it holds, where the source tells it."""
    with open_plan_and_journal(folder) as db:
        yield from db.execute(
            "SELECT p.type, e.id, oldest.day FROM entity p JOIN run.entity e ON e.n = p.n"  # noqa: S608  # so many marks
            " LEFT JOIN (SELECT x.bundle, date(min(c.modified_ns) / 1000000000, 'unixepoch') AS day FROM content c"
            " JOIN entity x ON x.n = c.entity WHERE x.bundle != 0 GROUP BY x.bundle) oldest ON oldest.bundle = p.bundle"
            " WHERE e.state = 'done' AND e.id IS NOT NULL"
            f" AND p.type IN ({','.join('?' * len(types))}) ORDER BY p.n",
            sorted(types),
        )


def fault_counts(folder: RunFolder) -> dict[str, int]:
    """How many records were set aside or refused under each fault code."""
    with open_plan_and_journal(folder) as db:
        rows = db.execute(
            f"SELECT coalesce(l.code, r.code) AS why, count(*) {_JOINED}"  # our own words
            f" WHERE {_STATE} IN ('set_aside', 'refused') GROUP BY why ORDER BY why"
        )
        return {str(code): count for code, count in rows}


def count_needing_plan(folder: RunFolder, codes: Collection[str] = (), code: str | None = None) -> int:
    """How many left-out records another try cannot help: those that the plan itself set aside, and those with one of
    `codes`. With `code` only the records with that one."""
    with open_plan_and_journal(folder) as db:
        code_list = sorted(codes)
        only, values = (" AND coalesce(l.code, r.code) = ?", (code,)) if code else ("", ())
        row = db.execute(
            f"SELECT count(*) {_JOINED} WHERE {_STATE} IN ('set_aside', 'refused')"  # our own words
            f" AND (r.state = 'set_aside' OR l.code IN ({','.join('?' * len(code_list))})){only}",
            (*code_list, *values),
        )
        return int(row.fetchone()[0])
