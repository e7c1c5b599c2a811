"""The command that comes next, as it can be copied, and the rows that say what it is for.

What comes next is decided in `loading.next_step`, from what the run remembers and what this command line was given.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from noarkit.cli.line_names import line_request
from noarkit.cli.options import Session
from noarkit.loading.folder import RunFolder
from noarkit.loading.next_step import Step, after_refusal, command_line
from noarkit.loading.next_step import next_steps as steps_of
from noarkit.loading.request import RunRequest
from noarkit.loading.state import read_state
from noarkit.safe.foreground import WITHIN
from noarkit.words.texts import Texts


def next_command(*words: object, run: RunFolder | None = None) -> str:
    """A command line of ours, quoted for a shell, with the options that it shares with this one and with `run`."""
    return shlex.join(command_line(str(words[0]), *words[1:], folder=run, line=line_request()))


def next_rows(
    session: Session,
    folder: RunFolder,
    *,
    is_rehearsal: bool = False,
    approved_only: bool = False,
    is_failed: bool = False,
) -> dict[str, str]:
    """The rows of the last block that say what comes next in a run as it is now; none where nothing is left to do."""
    steps = next_steps(session, folder, is_rehearsal=is_rehearsal, approved_only=approved_only, is_failed=is_failed)
    return step_rows(session.texts, steps)


def next_steps(
    session: Session,
    folder: RunFolder,
    *,
    is_rehearsal: bool = False,
    approved_only: bool = False,
    is_failed: bool = False,
) -> tuple[Step, ...]:
    """The steps that come next in a run, as this command says them; none where that is another's to say."""
    if is_within_project(session):
        return ()
    line = after_refusal(folder, line_request()) if is_failed else line_request()
    if approved_only:
        line = line.updated(RunRequest("", values={"approved-only": True}))
    has_key = session.config().seal.key is not None
    return steps_of(folder, read_state(folder), line, is_rehearsal=is_rehearsal, has_seal_key=has_key)


def is_within_project(session: Session) -> bool:
    """True for a command that a project runs: the next one is the project's."""
    return WITHIN in session.environment


def step_rows(texts: Texts, steps: Sequence[Step]) -> dict[str, str]:
    """Steps as rows: those that are done one after the other, and those that may be done instead."""
    rows: dict[str, list[str]] = {}
    title = "end.next"
    for number, step in enumerate(step for step in steps if step.command):
        if number and not step.is_further:
            title = "end.or"
        rows.setdefault(texts.say(title), []).append(say_step(texts, step))
    return {name: f"\n{'':18} ".join(lines) for name, lines in rows.items()}


def say_step(texts: Texts, step: Step) -> str:
    """A step, and what it is for."""
    forgotten = texts.say("end.forgotten") if step.lacks_options else None
    then = shlex.join(step.then) if step.then else None
    return texts.say(f"end.{step.name}", command=str(step), then=then, forgotten=forgotten)
