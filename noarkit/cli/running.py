"""What every command that works on a run shares: its listeners, its signals, and the block that ends it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from noarkit import origins
from noarkit.cli.options import Session
from noarkit.cli.progress import Progress, chosen
from noarkit.cli.signals import draining
from noarkit.errors import NoarkitError, UsageFault, gravest
from noarkit.events import Event, Listener, everybody
from noarkit.ingestion import Settings
from noarkit.load.coordinator import StopRequest
from noarkit.load.folder import RunFolder
from noarkit.load.numbers import Numbers, fault_counts, numbers
from noarkit.safe.disk import fault_of_disk
from noarkit.safe.paths import has_file
from noarkit.words.texts import grouped

_RULE = "─" * 74


@dataclass(frozen=True, slots=True)
class Work:
    """One command under way: who listens, and what may stop it."""

    session: Session
    stopping: StopRequest
    progress: Progress
    tell: Listener


@contextmanager
def working(session: Session, *, drains: bool = False) -> Iterator[Work]:
    """Listeners for as long as the block lasts. Where the work `drains`, a first signal stops it in good order; any
    other work changes nothing, and a signal ends it at once."""
    face = session.face
    progress = chosen(face, session.progress, terminal=sys.stderr.isatty())
    stopping = StopRequest()

    def first_signal() -> None:
        if not face.as_json and face.verbosity >= 0:
            _write_now(session.texts.say("run.stopping"))

    def asked() -> None:
        _write_now(progress.line())

    def target(event: Event, /) -> None:
        if event.name == "target":
            face.tell("run.target", archive=event.data["archive"], account=event.data.get("account"))

    tell = everybody(target, face.hear, progress.hear)
    try:
        with draining(stopping, first_signal if drains else None, asked):
            yield Work(session, stopping, progress, tell)
    finally:
        progress.close()


def _write_now(line: str) -> None:
    """A line on stderr from within a signal handler, which may have come in the middle of another line."""
    os.write(2, f"\n{line}\n".encode())


def no_run_named(session: Session, source: str, command: str) -> NoReturn:
    """Says that a source needs a run, once it is known that there is one: `SourceGone` or `UsageFault`."""
    origins.source_at(source, settings(session, None))
    raise UsageFault(what="run-wanted", where=source, do=f"noarkit {command} {source} -o RUN")


def settings(session: Session, archive: str | None) -> Settings:
    """The settings of this command line."""
    return Settings(session.config({"archive.url": archive}), session.environment)


@dataclass(frozen=True, slots=True)
class Ending:
    """What the last block says beside the numbers; `lists` is what the names of its lists begin with."""

    state: str
    exit_code: int
    archive: str | None = None
    why: str = ""
    lines: Mapping[str, str] | None = None
    dry_run: bool = False
    lists: str = ""


def tell_end(session: Session, folder: RunFolder, ending: Ending, counted: Numbers | None = None) -> None:
    """The block that ends a command on a run, worth pasting into a mail; also the numbers of the JSON summary."""
    face, told = session.face, session.texts
    known = counted
    if known is None:
        with suppress(NoarkitError, OSError):
            known = numbers(folder)
    lines = [_RULE, _row(told.say("end.run"), f"{folder.name}  {_state(session, ending)}")]
    if ending.archive:
        lines.append(_row(told.say("end.archive"), ending.archive))
    if known is not None:
        lines += _numbers(session, folder, known, ending)
        face.count(run=folder.name, **{name: value for name, value in known.as_data().items() if name != "open"})
        face.count(open=known.open)
    lines += [_row(name, line) for name, line in (ending.lines or {}).items()]
    lines.append(told.say("end.exit", code=ending.exit_code, meaning=told.text("exits", str(ending.exit_code))))
    if face.as_json:
        return
    if face.verbosity < 0:  # one line for a log or a mail, and nothing but what came of it
        counts = known.as_data() if known is not None else {}
        lines = [told.say("end.quiet", run=folder.name, state=_state(session, ending), code=ending.exit_code, **counts)]
    face.result("end", "\n".join(lines))


def failed(session: Session, folder: RunFolder, fault: NoarkitError, archive: str | None = None) -> int:
    """Tells a fault that ended a command, and the block all the same."""
    fault = fault_of_disk(fault) or fault
    session.face.fault(fault)
    if (folder.path / "plan.json").exists():
        state = "paused" if fault.exit_code in (5, 8, 9, 11) else "failed"
        again = {session.texts.say("end.next"): session.texts.say("end.again", run=folder.path)}
        tell_end(session, folder, Ending(state, fault.exit_code, archive, lines=again))
    return gravest(fault.exit_code)


def is_run(place: Path) -> bool:
    """True for a folder that holds a plan."""
    return has_file(place, "plan.json")


def require_run(place: Path) -> None:
    """`UsageFault` where there is nothing at all, or something that is no run."""
    if not os.path.lexists(place):
        raise UsageFault(what="nothing-there", where=str(place))
    if not is_run(place):
        raise UsageFault(what="not-a-run", where=str(place))


def _state(session: Session, ending: Ending) -> str:
    told = session.texts
    state = told.say(f"state.{ending.state}")
    why = told.say(f"stopped.{ending.why}") if ending.why else ""
    if ending.dry_run:
        why = told.say("stopped.dry-run")
    return f"{state} ({why})" if why else state


def _numbers(session: Session, folder: RunFolder, known: Numbers, ending: Ending) -> Iterator[str]:
    told, dry_run = session.texts, ending.dry_run
    codes = fault_counts(folder) if not dry_run and not ending.lists and known.set_aside + known.refused else {}
    by_code = " (" + ", ".join(f"{code} {grouped(count)}" for code, count in codes.items()) + ")" if codes else ""
    yield _row(told.say("end.read"), told.say("end.records", count=known.read))
    for name, file in _LISTS.items():
        count = getattr(known, name)
        if name == "open" and not count:
            continue
        place = folder.path / f"{ending.lists}{file}"
        lies = f"{place}" if count and not dry_run and place.exists() else ""
        more = by_code if name == "set_aside" else ""
        yield _row("  " + told.say(f"end.{name}"), f"{grouped(count):<10} {lies}{more}".rstrip())
        if name == "already_there" and known.new_versions:
            newer = f"{grouped(known.new_versions):<10} {told.say('end.of-there')}"
            yield _row("    " + told.say("end.new_versions"), newer)
    if known.in_doubt:
        yield _row(told.say("end.in_doubt"), told.say("end.chunks", count=known.in_doubt))
    if known.bytes:
        yield _row(told.say("end.bytes"), told.say("end.hashed", size=told.size(known.bytes)))


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
