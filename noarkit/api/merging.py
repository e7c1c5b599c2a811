"""Joins the journals of parts of a run that were loaded on machines side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from noarkit.api.reporting import write_run_results
from noarkit.loading.folder import RunFolder
from noarkit.loading.merge import MergeResult, merge_journals
from noarkit.settings import Place, Settings, resolve_settings


def merge_runs(run: Place, journals: Sequence[Place] = (), *, settings: Settings | None = None) -> MergeResult:
    """Joins the journals of parts that `ingest(run, shard=...)` loaded into the journal of the run in the folder `run`.

    What is open then is loaded by `ingest(run)`: links between records, parts that are missing, doubts; and it closes
    what is complete. Parts can be joined again until the run has gone on.

    `journals` are journals of parts, or folders that hold some; without them those in the folder of the run.

    Options:
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.

    Raises `JournalsClash`, `PlanChanged`, `OtherArchive`, `PartNotReady`, `RunLocked`, `UsageFault`; then nothing is
    written.
    """
    resolved = resolve_settings(None, settings)
    folder = RunFolder(Path(run))
    result = merge_journals(folder, [Path(journal) for journal in journals], resolved.now_s())
    write_run_results(folder, resolved.config.lang)
    return result
