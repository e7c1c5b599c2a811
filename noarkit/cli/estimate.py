"""`noarkit estimate`: how long the load of a plan takes, what it needs, what limits it, and what more workers bring."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from noarkit.api.estimating import estimate
from noarkit.cli.options import FOLDER, Session, command, option
from noarkit.cli.running import require_run, settings, working
from noarkit.loading.estimation.estimate import EstimateResult
from noarkit.words.texts import Texts, grouped


@command("estimate", exits=(4, 5, 6, 8, 9, 10))
@click.argument("run", metavar="RUN", type=FOLDER)
@option("--archive", metavar="URL", variable=None)
@option("--workers", type=click.IntRange(0, 256), metavar="N")
@option("--max-rate", metavar="RATE")
@option("--no-probe", is_flag=True)
def estimate_command(
    session: Session, run: Path, *, archive: str | None, workers: int | None, max_rate: str | None, no_probe: bool
) -> int:
    """Measures the archive where one is named, and tells the estimate."""
    require_run(run)
    with working(session) as work:
        result = estimate(
            run,
            workers=workers,
            max_rate=max_rate,
            probe=not no_probe,
            settings=settings(session, archive),
            listener=work.emit,
        )
    print_estimate(session, result)
    return 0


def print_estimate(session: Session, result: EstimateResult) -> None:
    """The estimate in a few lines."""
    lines = "\n".join(_lines(session.texts, result))
    session.console.show(result, lines)


def _lines(texts: Texts, result: EstimateResult) -> Iterator[str]:
    yield texts.say(
        f"estimate.by-{result.origin}",
        run=result.folder.name,
        archive=result.archive,
        calls=grouped(result.calls),
        measured_by=result.measured_by,
    )
    entry, work = result.time, result.work
    low, likely, high = (texts.duration(seconds) for seconds in (entry.low_s, entry.likely_s, entry.high_s))
    yield texts.say("estimate.time", likely=likely, low=low, high=high, workers=entry.workers)
    yield texts.say("estimate.limit", limit=texts.say(f"limit.{entry.limit}"))
    yield texts.say(
        "estimate.requests",
        queries=grouped(work.queries),
        transactions=grouped(work.transactions),
        uploads=grouped(work.uploads),
        size=texts.size(work.bytes),
    )
    yield texts.say("estimate.disk", size=texts.size(result.run_bytes), archive_size=texts.size(work.bytes))
    yield texts.say("estimate.memory", size=texts.size(result.memory_bytes))
    if result.credits:
        yield texts.say("estimate.credits", count=result.credits)
    if result.price:
        yield texts.say("estimate.price", price=f"{result.price:.2f}")
    yield texts.say("estimate.workers")
    for other in result.times:
        yield texts.say(
            "estimate.worker",
            workers=f"{other.workers:>4}",
            likely=f"{texts.duration(other.likely_s):>12}",
            low=texts.duration(other.low_s),
            high=texts.duration(other.high_s),
            limit=texts.say(f"limit.{other.limit}"),
        )
