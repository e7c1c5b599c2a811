"""`noarkit retract`: lists what a run made in the archive; with --delete it is deleted, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

from noarkit.api.retracting import retract
from noarkit.catalogue.moments import spoken
from noarkit.cli.exit_codes import ITEMS
from noarkit.cli.next_command import next_command, next_rows
from noarkit.cli.options import FOLDER, Session, command, option
from noarkit.cli.running import require_run, settings, working
from noarkit.errors import Paused
from noarkit.events import EventFields
from noarkit.loading.folder import RunFolder
from noarkit.loading.retraction.run import RetractResult
from noarkit.words.texts import Texts, grouped

_MOST_SHOWN = 5
"""So many objects that stay are listed one by one; of more, the reasons are."""
EVENTS: EventFields = {"stays": dict.fromkeys(("key", "type", "id", "reason", "detail"), "text")}


@command("retract", exits=(3, 4, 5, 6, 9, 10, 130, 143))
@click.argument("run", metavar="RUN", type=FOLDER)
@option("--delete", is_flag=True, variable=None)
@option("--closed", is_flag=True, variable=None)
@option("--archive", metavar="URL", variable=None)
def retract_command(session: Session, run: Path, *, delete: bool, closed: bool, archive: str | None) -> int:
    """Lists, or deletes and says how much; names what stays."""
    require_run(run)
    with working(session, drains=True) as work:
        result = retract(
            run,
            delete=delete,
            closed=closed,
            settings=settings(session, archive),
            stop_request=work.stopping,
            listener=work.emit,
        )
    _print_result(session, run, result)
    if not result.is_complete:
        raise Paused(signal=work.stopping.reason)
    return ITEMS if result.kept_count else 0


def _reasons(texts: Texts, result: RetractResult) -> Iterator[str]:
    """Why objects stay, as far as they were named: a line for each reason."""
    for reason, count in Counter(entry.reason for entry in result.kept).items():
        yield texts.say("retract.kept_why", count=count, reason=texts.reason(f"kept-{reason}"))
    yield texts.say("retract.kept_list")


def _print_result(session: Session, run: Path, result: RetractResult) -> None:
    texts, console, zone = session.texts, session.console, session.config().zone
    is_listed = console.as_json or console.verbosity > 0 or len(result.kept) <= _MOST_SHOWN
    for entry in result.kept if is_listed else ():
        detail = spoken(entry.detail, zone)
        reason = texts.reason(f"kept-{entry.reason}")
        line = texts.say("retract.kept", name=entry.key, type=entry.type, id=entry.id, reason=reason, detail=detail)
        console.result(
            "stays", line, key=entry.key, type=entry.type, id=entry.id, reason=entry.reason, detail=entry.detail
        )
    counts = ", ".join(f"{name} {grouped(count)}" for name, count in result.objects.items())
    lines = [] if is_listed else list(_reasons(texts, result))
    lines += [
        texts.say(
            "retract.done" if result.deletes else "retract.would",
            archive=RunFolder(run).archive_name(),
            gone=result.gone,
            objects=sum(result.objects.values()),
            counts=counts or None,
        )
    ]
    if result.absent:
        lines.append(texts.say("retract.absent", absent=result.absent))
    if result.kept_count:
        lines.append(texts.say("retract.kept_count", kept=result.kept_count))
    if result.in_doubt and not result.deletes:
        lines.append(texts.say("retract.in_doubt", in_doubt=result.in_doubt))
    console.show(result, "\n".join(lines))
    if not result.deletes and result.objects:
        flags = ("--closed",) if click.get_current_context().params.get("closed") else ()
        console.notify("retract.next", command=next_command("retract", run, "--delete", *flags, run=RunFolder(run)))
    elif result.deletes and result.gone:
        for title, row in next_rows(session, RunFolder(run)).items():
            console.notify("retract.again", title=title, row=row)
