"""What every command that works on a run shares: its listeners, its signals, and the block that ends it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

from noarkit.cli.exit_codes import ITEMS, STATES, state_of_exit
from noarkit.cli.next_command import next_command, next_rows
from noarkit.cli.options import Session
from noarkit.cli.progress import Progress, choose_progress
from noarkit.cli.terminal import Mood
from noarkit.errors import (
    LoadedBefore,
    NoarkitError,
    PartNotReady,
    Paused,
    UsageFault,
    gravest,
)
from noarkit.events import Event, Listener, combine_listeners
from noarkit.loading.folder import RunFolder
from noarkit.loading.next_step import propose_run
from noarkit.loading.numbers import Numbers, fault_counts, numbers
from noarkit.loading.stopping import StopRequest
from noarkit.places import is_run
from noarkit.safe.disk import fault_of_disk
from noarkit.safe.signals import end_by, status_signal, stop_signals
from noarkit.settings import Settings, explicit_settings
from noarkit.words.texts import Texts, grouped

_MILD = {ITEMS, *(code for code, state in STATES.items() if state == "paused")}
_RULE = "─" * 74


@dataclass(frozen=True, slots=True)
class CommandWork:
    """One command under way: who listens, and what may stop it."""

    session: Session
    stopping: StopRequest
    progress: Progress
    emit: Listener


@contextmanager
def working(session: Session, *, drains: bool = False) -> Iterator[CommandWork]:
    """Listeners for as long as the block lasts. Where the work `drains`, a first signal stops it in good order; any
    other work changes nothing, and a signal ends it at once."""
    console = session.console
    progress = choose_progress(console, session.progress, terminal=sys.stderr.isatty())
    stopping = StopRequest()

    def first_signal() -> None:
        if console.operations is not None:
            console.operations.stopping()
        if not console.as_json and console.verbosity >= 0:
            _write_now(session.texts.say("run.stopping"))

    def show_progress() -> None:
        _write_now(progress.line())

    def target(event: Event, /) -> None:
        if event.name == "target":
            console.notify("run.target", archive=event.data["archive"], account=event.data.get("account"))
        elif event.name == "not_remembered":
            console.notify("run.not-remembered")
        elif event.name == "acceptances_followed":
            console.notify("verdict.followed", **event.data)
        elif event.name == "other_archive":
            console.notify("run.other-archive" if "planned" in event.data else "run.not-configured", **event.data)

    emit = combine_listeners(target, console.on_event, progress.on_event)
    try:
        with draining(stopping, first_signal if drains else None, show_progress):
            yield CommandWork(session, stopping, progress, emit)
    finally:
        progress.close()


def _write_now(line: str) -> None:
    """A line on stderr from within a signal handler, which may have come in the middle of another line."""
    os.write(2, f"\n{line}\n".encode())


def refuse_missing_run(session: Session, source: str, command: str) -> NoReturn:
    """Says that a source needs a run, once it is known that there is one: `SourceGone` or `UsageFault`."""
    from noarkit.api.origins import source_at

    source_at(source, settings(session, None))
    raise UsageFault(what="run-wanted", where=source, do=next_command(command, source, "-o", propose_run(source)))


def settings(session: Session, archive: str | None) -> Settings:
    """The settings of this command line."""
    sources = session.sources
    explicit = explicit_settings(sources.file, sources.profile, sources.flags.get("lang"))
    return Settings(session.config({"archive.url": archive}), session.environment, explicit=explicit)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The final block of a command without its numbers; `lists` is the prefix of the names of its lists,
    `meaning` the sentence that says what the exit code means."""

    state: str
    exit_code: int
    archive: str | None = None
    why: str = ""
    lines: Mapping[str, str] | None = None
    dry_run: bool = False
    lists: str = ""
    meaning: str = "end.exit"


def print_summary(
    session: Session, folder: RunFolder, summary: RunSummary, known_numbers: Numbers | None = None
) -> None:
    """The block that ends a command on a run, worth pasting into a mail; also the numbers of the JSON summary."""
    console, texts = session.console, session.texts
    totals = known_numbers
    if totals is None:
        with suppress(NoarkitError, OSError):
            totals = numbers(folder)
    state = _state(session, summary)
    told_state = console.verdict(state, _mood(summary.exit_code))
    lines = [_RULE, _row(texts.say("end.run"), f"{folder.name}  {told_state}")]
    if summary.archive:
        lines.append(_row(texts.say("end.archive"), summary.archive))
    if totals is not None:
        lines += _number_lines(session, folder, totals, summary)
        console.count(run=folder.name, **{name: value for name, value in totals.as_data().items() if name != "open"})
        console.count(open=totals.open)
    lines += [_row(name, line) for name, line in (summary.lines or {}).items()]
    lines.append(
        texts.say(summary.meaning, code=summary.exit_code, meaning=texts.text("exits", str(summary.exit_code)))
    )
    if console.as_json:
        return
    if console.verbosity < 0:  # one line for a log or a mail, and nothing but what came of it
        counts = totals.as_data() if totals is not None else {}
        lines = [texts.say("end.quiet", run=folder.name, state=state, code=summary.exit_code, **counts)]
    console.result("end", "\n".join(lines))


def _mood(exit_code: int) -> Mood:
    return "good" if exit_code == 0 else "warn" if exit_code in _MILD else "bad"


def report_failure(
    session: Session,
    folder: RunFolder,
    fault: NoarkitError,
    archive: str | None = None,
    *,
    approved_only: bool = False,
) -> int:
    """Tells a fault that ended a command, and the block all the same.

    With `approved_only` no command that comes next loads without approval.
    """
    fault = fault_of_disk(fault) or fault
    session.console.fault(fault)
    if isinstance(fault, LoadedBefore) or (isinstance(fault, UsageFault) and fault.data.get("what") != "parts-first"):
        return fault.exit_code  # nothing was begun, so nothing is said of the run
    if folder.is_planned:
        why = "" if folder.journal.exists() else "not-begun"
        lines: dict[str, str] = {}
        with suppress(NoarkitError, OSError):  # a journal that cannot be read has been told of
            lines = next_rows(session, folder, approved_only=approved_only, is_failed=True)
        meaning = "end.exit-parts" if isinstance(fault, PartNotReady) else "end.exit"
        state = state_of_exit(fault.exit_code)
        print_summary(session, folder, RunSummary(state, fault.exit_code, archive, why, lines, meaning=meaning))
    return gravest(fault.exit_code)


def require_run(place: Path) -> None:
    """`UsageFault` where there is nothing at all, or something that is no run."""
    if not os.path.lexists(place):
        raise UsageFault(what="nothing-there", where=str(place))
    if not is_run(place):
        raise UsageFault(what="not-a-run", where=str(place))


def _state(session: Session, summary: RunSummary) -> str:
    texts = session.texts
    state = texts.say(f"state.{summary.state}")
    why = texts.say(f"stopped.{summary.why}") if summary.why else ""
    if summary.dry_run:
        why = texts.say("stopped.dry-run")
    return f"{state} ({why})" if why else state


def _number_lines(session: Session, folder: RunFolder, totals: Numbers, summary: RunSummary) -> Iterator[str]:
    texts, dry_run = session.texts, summary.dry_run
    codes = fault_counts(folder) if not dry_run and not summary.lists and totals.set_aside + totals.refused else {}
    by_code = " (" + ", ".join(f"{code}: {grouped(count)}" for code, count in codes.items()) + ")" if codes else ""
    yield _row(texts.say("end.read"), texts.say("end.records", count=totals.read))
    for name, file in _LISTS.items():
        count = getattr(totals, name)
        if name == "open" and not count:
            continue
        place = folder.path / f"{summary.lists}{file}"
        list_path = f"{place}" if count and not dry_run and folder.part is None and place.exists() else ""
        more = by_code if name == "set_aside" else ""
        yield _row("  " + texts.say(f"end.{name}"), f"{grouped(count):<10} {list_path}{more}".rstrip())
        if name == "already_there" and totals.new_versions:
            newer = f"{grouped(totals.new_versions):<10} {texts.say('end.of-there')}"
            yield _row("    " + texts.say("end.new_versions"), newer)
        if name == "already_there" and not dry_run:
            yield from (_row("    " + texts.say("end.other_values"), line) for line in _other_values(folder, texts))
    if totals.in_doubt:
        yield _row(texts.say("end.in_doubt"), texts.say("end.chunks", count=totals.in_doubt))
    if totals.bytes:
        yield _row(texts.say("end.bytes"), texts.say("end.hashed", size=texts.size(totals.bytes)))


def _other_values(folder: RunFolder, texts: Texts) -> Iterator[str]:
    # only where a run is told of: these read plans
    from noarkit.loading.earlier_runs import meeting_in
    from noarkit.reports.meeting_words import meeting_lines

    meeting = None
    with suppress(NoarkitError, OSError):
        meeting = meeting_in(folder)
    yield from meeting_lines(None if meeting is None else meeting.facts(), texts)


_LISTS = {
    "archived": "ids.csv",
    "already_there": "ids.csv",
    "set_aside": "set-aside.csv",
    "refused": "set-aside.csv",
    "skipped": "skipped.csv",
    "open": "open.csv",
}


def _row(name: str, line: str) -> str:
    return f"{name:<18} {line}"


@contextmanager
def draining(
    stop_request: StopRequest, on_first: Callable[[], None] | None, on_status: Callable[[], None]
) -> Iterator[None]:
    """While the block lasts signals go to `stop_request`; `on_first` is called at the first one, `on_status` at each
    USR1.

    Without `on_first` nothing is to be finished, and the first signal raises `Paused`.
    """

    def stop(number: int, _: FrameType | None) -> None:
        if stop_request.reason.startswith("SIG"):
            end_by(number)
            return
        name = signal.Signals(number).name
        stop_request.ask(name)
        if on_first is None:
            raise Paused(signal=name)
        on_first()

    before = {number: signal.signal(number, stop) for number in stop_signals()}
    asks = status_signal()
    if asks is not None:
        before[asks] = signal.signal(asks, lambda *_: on_status())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
