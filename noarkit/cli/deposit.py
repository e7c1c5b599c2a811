"""`noarkit deposit`: one folder and one file that carry a source to a package, by the ordinary commands."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import click

from noarkit.api import origins
from noarkit.api.source_reading import with_register
from noarkit.cli.line_names import line_request
from noarkit.cli.next_command import next_command
from noarkit.cli.options import FOLDER, Session, command, option
from noarkit.cli.running import settings, working
from noarkit.errors import NotApproved, UsageFault, VerifyMismatch
from noarkit.events import EventFields
from noarkit.forms.noark5.spec import WRITTEN_VERSION, addml_version, schema_files
from noarkit.loading.folder import RunFolder
from noarkit.loading.next_step import command_line, free_name
from noarkit.loading.request import GLOBALS, RunRequest
from noarkit.projects.answers import BadAnswer, checked
from noarkit.projects.lines import PACKAGE, line_of, newest
from noarkit.projects.project import NONE, PROJECT_FILE, RECIPE_FILE, USUAL_POLICY, Project, project_text, read_project
from noarkit.projects.questions import Question, answer, questions
from noarkit.projects.road import REPEATED, STEPS, Step, StepName, road
from noarkit.projects.successor import make_successor
from noarkit.records import digest_of
from noarkit.reports.deliveries import delivery_at
from noarkit.reports.meeting_words import meeting_lines
from noarkit.reports.verdict_words import verdict_sentence
from noarkit.safe.atomic import write_text
from noarkit.safe.foreground import run_in_front
from noarkit.verdict import NOT_READY_EXIT, Reason
from noarkit.wings import has_wing, require_wing

EVENTS: EventFields = {
    "step": {"step": STEPS, "state": ("done", "next", "waiting", "later", "off"), "command": "text?"},
    "project": {"path": "text", "questions": "count"},
    "question": {"key": "text", "where": "text", "choices": "list", "evidence": "text"},
}
_OF_DOCUMENTS = frozenset({"formats", "unusable"})
"""Reasons whose places are documents: the report of copies says of each what to do."""
_GOES_ON = (0, 3)
"""Exit codes after which the road goes on: done, or done but for what is listed."""
_WAITS = NotApproved.exit_code
_DIFFERS = VerifyMismatch.exit_code
_AGAIN = 5
"""The same command, later."""


@command("deposit", exits=(3, 4, 5, 6, 7, 8, 9, 10, 11, 130, 143))
@click.argument("action", metavar="[new|status] PROJECT|SOURCE")
@click.argument("place", metavar="", required=False)
@option("-o", "--output", type=FOLDER, metavar="PROJECT")
@option("--no-copies", is_flag=True)
@option("--register", metavar="DATABASE#TABLE")
@option("--like", type=FOLDER, metavar="PROJECT")
@option("--approve", is_flag=True)
@option("--by", metavar="NAME")
@option("--accept", multiple=True, metavar="REASON")
@option("--ask", is_flag=True)
@option("--from", "first", type=click.Choice(REPEATED))
@option("--to", "last", type=click.Choice(STEPS))
@option("--dry-run", is_flag=True)
def deposit_command(
    session: Session,
    *,
    action: str,
    place: str | None,
    output: Path | None,
    no_copies: bool,
    register: str | None,
    like: Path | None,
    approve: bool,
    by: str | None,
    accept: tuple[str, ...],
    ask: bool,
    first: StepName | None,
    last: StepName | None,
    dry_run: bool,
) -> int:
    """Makes a project, tells how far one is, or goes on with it."""
    if action == "new":
        if place is None or output is None:
            fix = "" if output is not None else f"-o {free_name(Path('project'))}"
            own = "source" if place is None else None
            raise UsageFault(what="missing-argument", where="noarkit deposit new", fix=fix, own=own)
        if like is not None:
            return _new_like(session, place, output, read_project(like))
        with_copies = not no_copies and has_wing("copies")
        return _new(session, place, output, with_copies=with_copies, register=register)
    if (approve or accept) and not by:
        raise UsageFault(what="no-approver", where=action, fix="--by", own="name")
    if action == "status":
        if place is None:
            raise UsageFault(what="missing-argument", where="noarkit deposit status", fix="", own="project")
        project = read_project(Path(place))
        _print_road(session, project, _look(session, project))
        return 0
    if place is not None:
        raise UsageFault(what="too-many-places", where=place, fix="", gone=place)
    project = read_project(Path(action))
    if ask:
        _ask(session, project)
        project = read_project(project.folder)
    accepted = [word for reason in accept for word in ("--accept", reason)] + (["--by", by or ""] if accept else [])
    options = _RoadOptions(by if approve else None, tuple(accepted), first, last, dry_run)
    return _go_on(session, project, options)


@dataclass(frozen=True, slots=True)
class _RoadOptions:
    """What a person asks for: by whom the plan is approved, which reasons are accepted, the steps to begin and end
    with, and whether the next command is only printed."""

    approver: str | None
    accepted: tuple[str, ...]
    first: StepName | None
    last: StepName | None
    dry_run: bool


def _new(session: Session, source: str, folder: Path, *, with_copies: bool, register: str | None) -> int:
    """Makes the folder, its file and its recipe; what is there already stays as it is."""
    place = _source_place(session, source, register)
    folder.mkdir(parents=True, exist_ok=True)
    text = project_text(place, USUAL_POLICY if with_copies else NONE, session.texts.lang)
    write_text(folder / PROJECT_FILE, text, replace=False)
    listed = ("--register", register) if register else ()
    code = _run(session, ("recipe", "new", place, *listed, "-o", str(folder / RECIPE_FILE)))
    if code not in _GOES_ON:
        return code
    return _print_project(session, read_project(folder))


def _new_like(session: Session, source: str, folder: Path, old: Project) -> int:
    """Makes a project with the answers, recipe and copies of another, and an archive of its own."""
    make_successor(old, folder, _source_place(session, source))
    package = newest(old.folder, PACKAGE)
    verdict = None if package is None else delivery_at(package).verdict
    accepted = [reason for reason in verdict.reasons if reason.accepted is not None] if verdict is not None else []
    code = _print_project(session, read_project(folder))
    if accepted:
        codes = ", ".join(reason.code for reason in accepted)
        session.console.notify("deposit.not-accepted-here", package=package, count=len(accepted), codes=codes)
    return code


def _source_place(session: Session, source: str, register: str | None = None) -> str:
    """The source as a project keeps it; an address with a secret in it is refused before it is written anywhere."""
    place = str(Path(source).absolute()) if Path(source).exists() else source
    with working(session) as work:
        with_register(origins.source_at(place, settings(session, None), emit=work.emit), register)
    return place


def _print_project(session: Session, project: Project) -> int:
    """What a new project asks, and the command that goes on with it."""
    notes = road(project, lambda: "")[0].notes
    lines = [session.texts.say("deposit.made" if notes else "deposit.made-whole", path=project.file, count=len(notes))]
    lines += [f"  {_note(session, key, data)}" for key, data in notes]
    session.console.result("project", "\n".join(lines), path=str(project.folder), questions=len(notes))
    if notes:
        session.console.notify("deposit.next", command=next_command("deposit", project.folder, "--ask"))
    else:
        session.console.notify("deposit.then", command=next_command("deposit", project.folder))
    return 0


def _look(session: Session, project: Project) -> tuple[Step, ...]:
    with working(session) as work:
        source = origins.source_at(project.source, settings(session, None), emit=work.emit)
        return road(project, lambda: digest_of(source, work.emit))


def _ask(session: Session, project: Project) -> None:
    """Puts each question to whoever sits at the terminal, and writes the answers into the files."""
    for question in questions(project):
        answer(question, _answer(session, project, question))


def _answer(session: Session, project: Project, question: Question) -> str:
    """What is typed below a question; asked again while it cannot be an answer, and explained where `?` is typed."""
    sentence = _note(session, "question", {"question": question})
    while True:
        typed = _typed(sentence)
        if typed == "?":
            session.console.notify("deposit.explained", told=_explanation(session, question))
            continue
        try:
            return checked(question, typed, project)
        except BadAnswer as bad:
            session.console.notify(f"deposit.answer-{bad.why}", **bad.data)


def _schema_facts() -> dict[str, str]:
    """Which schemas are meant where a question is about them."""
    files = ", ".join(schema_files(WRITTEN_VERSION))
    return {"version": WRITTEN_VERSION, "addml": addml_version(WRITTEN_VERSION), "files": files}


def _typed(sentence: str) -> str:
    return str(click.prompt(sentence, default="", show_default=False, prompt_suffix="\n> ", err=True)).strip()


def _explanation(session: Session, question: Question) -> str:
    """What a question is about; what the file says of it, where there are no words of our own."""
    texts, name = session.texts, f"deposit.explain-{question.key}"
    if texts.has("say", name):
        return texts.say(name, **_schema_facts())
    return question.evidence or texts.say("deposit.explain-any", where=question.where)


def _go_on(session: Session, project: Project, options: _RoadOptions) -> int:
    """Runs each next command until all is done or a person must decide."""
    gravest, command, finished = 0, "", set[StepName]()
    for turn in count():
        steps = _look(session, project)
        step = _again(steps, options) if not turn else None
        step = step or next((step for step in steps if step.state in ("next", "waiting")), None)
        if step is not None and options.last is not None and STEPS.index(step.name) > STEPS.index(options.last):
            step = None
        if step is None:
            return _judge(session, project, options) if options.last is None else gravest
        # only a plan that stood before this command can have been looked at
        is_approval = step.name == "approve" and options.approver is not None and not turn
        if step.state == "waiting" and not is_approval:
            _print_road(session, project, steps, after=command)
            _print_questions(session, project)
            if step.name == "verify":
                return _DIFFERS
            session.console.notify(f"deposit.waits-{_wait_reason(step)}", code=_WAITS)
            return _WAITS
        if step.name in finished:  # as where a source changes while it is read: that would never end
            _print_road(session, project, steps)
            session.console.notify("deposit.unsettled", step=session.texts.say(f"deposit.step-{step.name}"))
            return _AGAIN
        finished.add(step.name)
        words = (*step.command, *((options.approver or "",) if is_approval else ()))
        if options.dry_run:
            session.console.result("step", _command(words), step=step.name, state=step.state, command=_command(words))
            return 0
        code, command = _run(session, words), words[0]
        gravest = max(gravest, code)
        if code not in _GOES_ON:
            return code
    raise AssertionError("a road without an end")


def _wait_reason(step: Step) -> str:
    """What a step waits for: to be corrected, where something is wrong; else a person."""
    is_wrong = any(key == "problem" or key.startswith("answer-") for key, _ in step.notes)
    return "wrong" if is_wrong else step.name


def _again(steps: tuple[Step, ...], options: _RoadOptions) -> Step | None:
    """The step that is done, or found wrong, and asked for once more; None where the road is not that far."""
    may_be = ("done", "waiting") if options.first == "verify" else ("done",)
    step = next((step for step in steps if step.name == options.first and step.state in may_be), None)
    return step and replace(step, state="done")


def _judge(session: Session, project: Project, options: _RoadOptions) -> int:
    """Says whether the package is ready for deposit."""
    code = _run(session, ("validate", *line_of("validate", project), *options.accepted))
    if code == NOT_READY_EXIT:
        _print_acceptance(session, project)
        session.console.notify("deposit.facts", path=project.file, command=next_command("deposit", project.folder))
    return code


def _successor_command(project: object) -> str:
    """The command that begins anew what an archive that is loaded cannot take any more."""
    if not isinstance(project, Project):
        raise TypeError(project)
    new = free_name(project.folder)
    return next_command("deposit", "new", project.source, "-o", new, "--like", project.folder)


def _print_acceptance(session: Session, project: Project) -> None:
    """The command that accepts all that keeps the newest package back, where a depot may agree to it."""
    package = newest(project.folder, PACKAGE)
    verdict = None if package is None else delivery_at(package).verdict
    reasons = () if verdict is None else [reason for reason in verdict.reasons if reason.stops]
    if any(reason.code == "other-values" for reason in reasons):
        session.console.notify("deposit.anew", command=_successor_command(project))
    for reason in (reason for reason in reasons if reason.needs_look):
        _print_look(session, project, package, reason)
    if project.copies is not None and any(reason.code in _OF_DOCUMENTS for reason in reasons):
        require_wing("copies")
        from noarkit.cli.derived import report_command

        session.console.notify("derive.which", command=report_command(project.copies))
    accept = [word for reason in reasons if _is_bundled(reason) for word in ("--accept", reason.code)]
    if accept:
        command = next_command("deposit", project.folder, *accept, "--by")
        session.console.notify("deposit.may-accept", command=command)


def _is_bundled(reason: Reason) -> bool:
    """True for a reason that is accepted with others by one command."""
    return reason.can_be_accepted and not reason.needs_look


def _print_look(session: Session, project: Project, package: Path | None, reason: Reason) -> None:
    """Where each place of a reason is listed, how it is mended, and the command that accepts this reason alone."""
    session.console.notify(
        f"deposit.look-{reason.code}",
        count=reason.count,
        list=next_command("validate", package, "--report", "html", "-o", project.folder / f"{reason.code}.html"),
        recipe=project.recipe,
        anew=_successor_command(project),
        accept=next_command("deposit", project.folder, "--accept", reason.code, "--by"),
    )


def _run(session: Session, words: tuple[str, ...]) -> int:
    """Prints an ordinary command and runs it; its exit code."""
    line = _line(words)
    session.console.notify("deposit.command", command=shlex.join(line))
    return run_in_front([*line[1:], *(("--json",) if session.console.as_json else ())])


def _command(words: tuple[str, ...]) -> str:
    return shlex.join(_line(words))


def _line(words: tuple[str, ...]) -> list[str]:
    """An ordinary command with the config, profile and language of this one."""
    values = line_request().values
    values = {name: values[name] for name in GLOBALS if name in values}
    return command_line(words[0], *words[1:], line=RunRequest(words[0], values=values))


def _question(session: Session, question: object) -> str:
    """A question, where it stands, and what can be answered."""
    if not isinstance(question, Question):
        raise TypeError(question)
    texts, name = session.texts, f"deposit.ask-{question.key}"
    text = (
        texts.say(name, **_schema_facts())
        if texts.has("say", name)
        else f"{question.key}: {question.evidence}".rstrip(" :")
    )
    choices = f" ({', '.join(question.choices)})" if question.choices else ""
    return texts.say("deposit.asks", where=question.where, text=text + choices)


def _print_road(session: Session, project: Project, steps: tuple[Step, ...], after: str = "") -> None:
    """A line for each step, and beneath it what is to be said of it; then how copies that wait are accepted, unless the
    command `after` which this is printed has said so."""
    texts = session.texts
    for step in steps:
        line = f"{texts.say(f'deposit.is-{step.state}'):<9} {texts.say(f'deposit.step-{step.name}')}"
        command = _command(step.command) if step.command and step.state == "next" else None
        notes = [f"          {_note(session, key, {**data, 'project': project})}" for key, data in step.notes]
        if step.name == "package" and step.state == "done":
            notes.append(f"          {_verdict(session, project)}")
        session.console.result("step", "\n".join([line, *notes]), step=step.name, state=step.state, command=command)
        if step.name == "copies" and step.state == "waiting" and after != "derive" and project.copies is not None:
            require_wing("copies")
            from noarkit.cli.derived import print_held

            print_held(session, int(str(dict(step.notes)["copies"]["held"])), project.copies)


def _verdict(session: Session, project: Project) -> str:
    """Whether the newest package is ready, as it was judged last."""
    package = newest(project.folder, PACKAGE)
    verdict = None if package is None else delivery_at(package).verdict
    if verdict is None:
        return session.texts.say("runs.not-judged", command=next_command("validate", package))
    return verdict_sentence(verdict, session.texts)


def _print_questions(session: Session, project: Project) -> None:
    """A line of JSON for each question, for programs; people have read them among the steps."""
    for question in questions(project) if session.console.as_json else ():
        session.console.result(
            "question",
            "",
            key=question.key,
            where=question.where,
            choices=list(question.choices),
            evidence=question.evidence,
        )


def _note(session: Session, key: str, data: Mapping[str, object]) -> str:
    """What is to be said of a step, with the command that a person runs."""
    texts = session.texts
    if key == "question":
        return _question(session, data["question"])
    if key == "problem":
        problem = data["data"] if isinstance(data["data"], dict) else {}
        reason = texts.problem(str(data["problem"]), problem)
        return texts.say("deposit.problem", where=data["where"], line=data["line"], told=reason)
    if key == "other-values":
        text = "; ".join(meeting_lines(data["facts"], texts))  # type: ignore[arg-type]  # as the road notes it
        return texts.say("deposit.other-values", told=text, command=_successor_command(data["project"]))
    if key == "not-verified" and isinstance(data["run"], RunFolder):
        retry = next_command("retry", data["run"].path, run=data["run"])
        again = next_command("deposit", data["project"].folder, "--from", "verify")  # type: ignore[attr-defined]
        commands = {"retry": retry, "again": again, "anew": _successor_command(data["project"])}
        return texts.say("deposit.not-verified", run=data["run"].path, count=data["count"], **commands)
    if key == "old-plan":
        return texts.say(f"deposit.old-plan-{data['why']}", run=data["run"])
    if key == "unseen":
        return texts.say("deposit.unseen", command=next_command("deposit", data["folder"], "--from", "plan"))
    if key == "approve":
        command = next_command("deposit", data["folder"], "--approve", "--by")
        return texts.say("deposit.approve", page=data["page"], command=command)
    return texts.say(f"deposit.{key}", **data)
