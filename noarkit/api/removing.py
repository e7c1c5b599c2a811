"""Removes the local data of runs that are proven, with receipts: of one run, or of those that no rule keeps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from noarkit.api.browsing import cached_catalogue
from noarkit.catalogue.text.texts import texts_path
from noarkit.errors import UsageFault
from noarkit.retention.erasing import Erasure, ErasureOrder, erase_run
from noarkit.retention.forgetting import ForgottenRun
from noarkit.retention.forgetting import forget_runs as forget_in
from noarkit.retention.policy import KeepPolicy
from noarkit.settings import Place, Settings, resolve_settings


def erase_traces(
    run: Place, *, because: str = "", older_than_s: float = 0.0, dry_run: bool = False, settings: Settings | None = None
) -> Erasure:
    """Removes what noarkit keeps of a run on this machine: its folder, its catalogue, the texts of its documents.

    The receipt lies beside the run. The same call again finishes what was begun. Raises `RunNotProven` for a run that
    is not verified (`noarkit verify`) or delivered, or was so less than `older_than_s` ago; `RunLocked` while it is in
    use; `UsageFault` for what is no run.
    """
    resolved = resolve_settings(None, settings)
    path = Path(run).resolve()
    order = ErasureOrder(resolved.now_s(), because, older_than_s, dry_run, lambda place: _cached(place, resolved))
    return erase_run(path, order)


def forget_runs(
    folder: Place,
    policy: KeepPolicy,
    *,
    because: str = "",
    dry_run: bool = False,
    settings: Settings | None = None,
) -> Iterator[ForgottenRun]:
    """Removes the local data of the proven runs in a folder that no rule keeps, and yields what became of each run.

    The log of the folder, `noarkit-forgotten.jsonl`, tells what was removed. Raises `UsageFault` for a policy that
    keeps nothing, and for a folder that is none.
    """
    resolved = resolve_settings(None, settings)
    path = Path(folder).resolve()
    if policy.is_empty:
        raise UsageFault(what="keep-wanted", where="noarkit runs forget")
    if not path.is_dir():
        raise UsageFault(what="nothing-there", where=str(path))
    order = ErasureOrder(resolved.now_s(), because, 0.0, dry_run, lambda run: _cached(run, resolved))
    yield from forget_in(path, policy, order)


def _cached(run: Path, settings: Settings) -> tuple[Path, ...]:
    """The catalogue of a run with its texts, as they lie in the user's cache folder where the folder above the run was
    not to be written to."""
    catalogue = cached_catalogue(str(run), settings)
    return tuple(path for path in (catalogue, texts_path(catalogue)) if path.is_file())
