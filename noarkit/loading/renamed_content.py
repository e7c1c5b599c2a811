"""Finds renamed content: content of a plan that an earlier run archived under other keys.

Only checksums can tell, so the plan must have been made with hashes. Nothing is changed by it: a new key stays new.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

from noarkit.loading.attached import attach_plan, attach_run, read_only_address
from noarkit.loading.folder import RunFolder

_QUERY = """
SELECT r.key, min(known.key) FROM content c JOIN entity e ON e.n = c.entity JOIN record r ON r.n = e.record
JOIN known ON known.sha256 = c.sha256
WHERE NOT EXISTS (SELECT 1 FROM was.record o WHERE o.key = r.key)
GROUP BY r.n ORDER BY r.n
"""


def find_renamed_content(folder: RunFolder, since: RunFolder) -> Iterator[tuple[str, str]]:
    """The new key and the one it was archived under, for every record whose content is known, in order."""
    if not since.journal.exists():
        return
    with closing(sqlite3.connect(read_only_address(folder.graph), uri=True)) as db:
        attach_plan(db, since, "was")
        attach_run(db, since)
        db.execute(
            "CREATE TEMP TABLE known AS SELECT d.sha256, o.key FROM run.entity d JOIN was.entity p ON p.n = d.n"
            " JOIN was.record o ON o.n = p.record WHERE d.sha256 IS NOT NULL AND d.state = 'done'"
        )
        db.execute("CREATE INDEX known_sha256 ON known (sha256, key)")
        yield from db.execute(_QUERY)
