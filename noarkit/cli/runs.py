"""`noarkit runs`: the runs in a folder, with what became of each."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from noarkit.airgap.delivery import delivery_state
from noarkit.cli.options import Session, command
from noarkit.errors import NoarkitError
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import Numbers, numbers
from noarkit.words.texts import grouped


@command("runs")
@click.argument(
    "folder", metavar="[DIR]", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path()
)
def runs_command(session: Session, folder: Path) -> None:
    """A line a run, the oldest plan first."""
    run_paths = runs_in(folder)
    if not run_paths:
        session.console.notify("runs.none", where=folder)
    for path in run_paths:
        try:
            _print_run(session, path)
        except (NoarkitError, OSError) as error:
            fault = error.describe() if isinstance(error, NoarkitError) else str(error)
            session.console.result("run", f"{path}  {fault}", run=path.name, path=str(path), fault=fault)


def runs_in(folder: Path) -> list[Path]:
    """The run folders right here, or one level below, or below `runs`; the oldest plan first."""
    places = {
        plan.parent for pattern in ("plan.json", "*/plan.json", "runs/*/plan.json") for plan in folder.glob(pattern)
    }
    return sorted(places, key=lambda place: ((place / "plan.json").stat().st_mtime_ns, str(place)))


def _print_run(session: Session, path: Path) -> None:
    run = RunFolder(path)
    state, totals = _state_of(run)
    texts = session.texts
    frozen = datetime.fromtimestamp(float(str(run.plan().get("frozen_at", 0))), UTC)
    parts = [
        f"{path!s:<32}",
        f"{texts.say(f'state.{state}'):<14}",
        frozen.astimezone().strftime("%Y-%m-%d %H:%M"),
        texts.say("end.records", count=totals.read),
    ]
    parts += [
        f"{texts.say(f'end.{name}')} {grouped(count)}"
        for name in ("archived", "set_aside", "refused", "open")
        if (count := getattr(totals, name))
    ]
    session.console.result("run", "  ".join(parts), run=run.name, path=str(path), state=state, **totals.as_data())


def _state_of(run: RunFolder) -> tuple[str, Numbers]:
    """What became of a run, here or beyond an air gap, and its sums."""
    totals = numbers(run)
    if run.journal.exists():
        return "open" if totals.open or totals.in_doubt else "done", totals
    beyond = delivery_state(run)
    if beyond is None:
        return "planned", totals
    state, receipt = beyond
    return state, totals if receipt is None else receipt.numbers
