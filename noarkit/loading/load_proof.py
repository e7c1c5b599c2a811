"""What a run says of the load behind a delivery: what became of the records, and how far it is proved that they are in
the archive."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from noarkit.loading.earlier_runs import meeting_of, run_before
from noarkit.loading.folder import RunFolder
from noarkit.loading.next_step import last_certificate
from noarkit.loading.numbers import loaded_objects
from noarkit.loading.source_columns import column_facts
from noarkit.loading.state import RunState, read_state
from noarkit.verdict import Load, LoadProof

_WHOLE = (None, 1, 1.0)


@dataclass(frozen=True, slots=True)
class LoadedRun:
    """A run that loaded into the archive that a package is made of."""

    folder: RunFolder
    load: Load

    @property
    def began_day(self) -> str:
        """The first day of the load; empty where it was loaded elsewhere."""
        if not self.folder.journal.exists():
            return ""
        with closing(self.folder.open_journal()) as journal:
            began_s = journal.first_note_at("ingest_")
        return "" if began_s is None else datetime.fromtimestamp(began_s, UTC).date().isoformat()

    def objects(self, types: Collection[str]) -> Iterator[tuple[str, str, str | None]]:
        """Each object of these types that it made: its type, its id, and the day of its oldest document."""
        return loaded_objects(self.folder, types)


def loaded_into(folder: RunFolder, identity: str) -> LoadedRun | None:
    """The run of a folder, where it loaded into the archive that is known by `identity`; None for one of another
    archive, for one that stopped before it sent anything, and for one whose records were all taken out again. Raises as
    `read_state`."""
    state = read_state(folder)
    if state.identity != identity or state.stage == "retracted" or not (state.is_loaded or state.has_sent):
        return None
    numbers = state.numbers
    with closing(folder.graph_store()) as graph:
        source = PurePosixPath(graph.meta("source_where") or "").name
        columns, meeting = column_facts(graph), meeting_of(graph)
    load = Load(
        str(folder.path.resolve()),
        str(folder.plan()["sha256"]),
        source,
        proof_of_run(folder, state),
        numbers.read,
        numbers.archived + numbers.already_there,
        numbers.set_aside + numbers.refused + numbers.skipped,
        unused=len(columns["unused"]),
        **{name: int(columns[name]) for name in ("unnumbered", "undated", "still_open")},
        differing=0 if meeting is None else meeting.differing,
        cases="" if meeting is None else meeting.cases_named,
    )
    return LoadedRun(folder, load)


def as_told_last(loads: Collection[LoadedRun]) -> tuple[LoadedRun, ...]:
    """The loads, where only the last of several that follow each other says which values the source has otherwise."""
    followed = {before.resolve() for behind in loads if (before := run_before(behind.folder)) is not None}
    return tuple(
        replace(behind, load=replace(behind.load, differing=0, cases=""))
        if behind.folder.path.resolve() in followed
        else behind
        for behind in loads
    )


def proof_now(load: Load) -> LoadProof:
    """How far the load is proved by now; as it was told before where its run is gone, or was planned anew."""
    folder = RunFolder(Path(load.run))
    if not folder.is_planned or folder.plan()["sha256"] != load.plan_sha256:
        return load.proof
    return proof_of_run(folder, read_state(folder))


def was_loaded_since(folder: RunFolder, at: str) -> bool:
    """True if a run was loaded on after the moment of its proof."""
    if not folder.journal.exists():
        return False
    with closing(folder.open_journal()) as journal:
        worked_s = journal.last_note_at("ingest_")
    # moments in a certificate are whole seconds
    return worked_s is not None and int(worked_s) > moment_s(at)


def moment_s(at: str) -> float:
    """A moment of a certificate, in seconds since 1970."""
    moment = datetime.fromisoformat(at)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def proof_of(verdict: object, depth: object, sample: object) -> LoadProof:
    """What a certificate proves: whole and every byte where it says so, in part where it looked less closely."""
    if verdict == "not_verified":
        return "none"
    return "bytes" if verdict == "verified" and depth == "bytes" and sample in _WHOLE else "part"


def proof_of_run(folder: RunFolder, state: RunState) -> LoadProof:
    """What the newest certificate of the plan proves, as long as nothing was found wrong or loaded since; a receipt is
    made of what was compared to the last byte."""
    if state.receipt is not None:
        return "bytes"
    certificate = last_certificate(folder, str(folder.plan()["sha256"]))
    if certificate is None or not state.is_loaded or state.retraction or state.differences:
        return "none"
    if was_loaded_since(folder, str(certificate["ended"])):
        return "none"
    return proof_of(certificate["verdict"], certificate["depth"], certificate["sample"])
