"""Makes a frozen sample: `python -m tests.frozen.make_sample OUT.tar.xz`, once for each format of a run or an archive.

A run that stopped in the middle, and the archive that it loads into. The chunk that was sent last is in doubt: the
archive has it, and the journal knows nothing of an answer. It is found again by what noarkit wrote into the archive.
The name of a sample is the versions of the formats in it: `graph-1-journal-5-archive-1.tar.xz`.
"""

from __future__ import annotations

import sqlite3
import sys
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path

import noarkit
from noarkit.embedded import keep_services
from noarkit.events import Event
from noarkit.loading.stopping import StopRequest
from tests.frozen.letters import source

_CHUNKS_SENT = 2


def make_sample(target: Path) -> None:
    """A run and an archive, packed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archive = f"embedded:{folder / 'archive'}"
        noarkit.plan(source(), folder / "run", archive=archive)
        load_in_part(folder / "run", archive)
        lose_the_last_answer(folder / "run" / "run.db")
        with tarfile.open(target, "w:xz") as packed:
            for part in ("run", "archive"):
                packed.add(folder / part, part, filter=lambda member: None if member.name.endswith(".lock") else member)


def load_in_part(run: Path, archive: str) -> None:
    """Loads the run until some chunks are done."""
    stop, done = StopRequest(), []

    def count(event: Event, /) -> None:
        if event.name == "chunk_done":
            done.append(event)
            if len(done) == _CHUNKS_SENT:
                stop.ask("until")

    with keep_services():
        noarkit.ingest(run, source=source(), archive=archive, workers=0, stop_request=stop, listener=count)


def lose_the_last_answer(journal: Path) -> None:
    """The journal as it stands where a process was killed between the commit in the archive and the answer."""
    with closing(sqlite3.connect(journal)) as db, db:
        db.execute("ATTACH ? AS plan", (str(journal.with_name("graph.db")),))
        db.execute("DELETE FROM entity WHERE n IN (SELECT n FROM plan.entity WHERE unit != 0)")
        db.execute("UPDATE chunk SET state = 'intent' WHERE shard != 0")
        db.execute("UPDATE shard SET state = 'open' WHERE n != 0")


if __name__ == "__main__":
    make_sample(Path(sys.argv[1]))
