"""`noarkit runs`: the runs in a folder, with what became of each."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from noarkit.cli.options import Session, command
from noarkit.errors import NoarkitError
from noarkit.load.delivery import delivery_state
from noarkit.load.folder import RunFolder
from noarkit.load.numbers import Numbers, numbers
from noarkit.words.texts import grouped


@command("runs")
@click.argument(
    "folder", metavar="[DIR]", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path()
)
def runs_command(session: Session, folder: Path) -> None:
    """A line a run, the oldest plan first."""
    found = runs_in(folder)
    if not found:
        session.face.tell("runs.none", where=folder)
    for path in found:
        try:
            _tell(session, path)
        except (NoarkitError, OSError) as error:
            session.face.result("run", f"{path}  {error}", run=path.name, path=str(path), fault=str(error))


def runs_in(folder: Path) -> list[Path]:
    """The run folders right here, or one level below, or below `runs`; the oldest plan first."""
    places = {
        plan.parent for pattern in ("plan.json", "*/plan.json", "runs/*/plan.json") for plan in folder.glob(pattern)
    }
    return sorted(places, key=lambda place: ((place / "plan.json").stat().st_mtime_ns, str(place)))


def _tell(session: Session, path: Path) -> None:
    run = RunFolder(path)
    state, counted = _standing(run)
    told = session.texts
    frozen = datetime.fromtimestamp(float(str(run.plan().get("frozen_at", 0))), UTC)
    parts = [
        f"{path!s:<32}",
        f"{told.say(f'state.{state}'):<14}",
        frozen.astimezone().strftime("%Y-%m-%d %H:%M"),
        told.say("end.records", count=counted.read),
    ]
    parts += [
        f"{told.say(f'end.{name}')} {grouped(count)}"
        for name in ("archived", "set_aside", "refused", "open")
        if (count := getattr(counted, name))
    ]
    session.face.result("run", "  ".join(parts), run=run.name, path=str(path), state=state, **counted.as_data())


def _standing(run: RunFolder) -> tuple[str, Numbers]:
    """What became of a run, here or beyond an air gap, and its sums."""
    counted = numbers(run)
    if run.journal.exists():
        return "open" if counted.open or counted.in_doubt else "done", counted
    beyond = delivery_state(run)
    if beyond is None:
        return "planned", counted
    state, receipt = beyond
    return state, counted if receipt is None else receipt.numbers
