"""What comes next in a run, and the command that does it, with all that the run was asked for.

Every «Next», remedy, page and JSON asks here. A step is named after its sentences (`end.NAME`, `runs_page.step-NAME`).
A command is printed only as it can be run. Where a person must add what nobody else can say, it ends with the option
that takes it (`--by`), and the sentence says what that is.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from noarkit.errors import NoarkitError
from noarkit.loading.approval import approval_of
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import count_needing_plan
from noarkit.loading.options import IngestOptions, PlanOptions, SourceOptions
from noarkit.loading.part import SPINE, has_open_units, is_part_loaded, is_spine_loaded, unloaded_parts
from noarkit.loading.request import GLOBALS, RunRequest, has_named_archive, request_of_load, request_of_plan
from noarkit.loading.state import RunState
from noarkit.option_fields import names_remembered
from noarkit.safe.paths import from_here

_OF_LOAD = names_remembered(IngestOptions)
_NOT_IN_RETRY = ("as-new", "max-errors")
TAKES: Mapping[str, tuple[str, ...]] = {
    "scan": names_remembered(SourceOptions),
    "plan": names_remembered(PlanOptions),
    "ingest": (*_OF_LOAD, "write-back"),
    "retry": tuple(name for name in _OF_LOAD if name not in _NOT_IN_RETRY),
    **dict.fromkeys(("close", "retract", "verify", "extract"), ("archive",)),
}
"""The options of a command that a later one repeats; those of `GLOBALS` are taken by all."""
NEEDS_PLAN = frozenset({"F203", "F206", "F310"})
"""Faults of the load that trying again cannot mend: the source is another, or the recipe must be."""
SEAL_KEY = "seal.key"
"""The key that a receipt is sealed with, where none is configured."""
READERS_OWN = frozenset({"--accept", "--by", "--call", "--trust-key"})
"""Options whose value nobody but the reader can say: they stand last, and the sentence goes on with what they take."""
_MOST_PARTS = 8
_VERBS: Mapping[str, tuple[str, ...]] = {
    **{name: ("verify",) for name in ("verify", "receipt", "read-receipt")},
    **{name: ("retry",) for name in ("retry", "mend")},
    "retract": ("retract", "--delete"),
    "approve": ("approve", "--by"),
}
"""The commands of steps that do not load."""
_PLANS = ("replan", "plan-again", "carry-dates")
_OPTIONS_OF_STEPS = {name: (f"--{name}",) for name in ("carry-dates", "todays-dates")}
_RETRY = re.compile(r"noarkit retry RUN(?: --fault F\d{3}| --accept)?")
_REPLAN = re.compile(r"noarkit plan SOURCE -o RUN2 --since RUN")


@dataclass(frozen=True, slots=True)
class Step:
    """One step, and its command line; `command` is empty where nobody can say it."""

    name: str
    command: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    """The command that follows at once."""
    is_further: bool = False
    """True for one that is done beside the step before it, and not in its place."""
    lacks_options: bool = False
    """True where the options of the plan belong to it, which a run of before does not remember."""

    def __str__(self) -> str:
        return shlex.join(self.command)


def next_steps(
    folder: RunFolder,
    state: RunState,
    line: RunRequest | None = None,
    *,
    is_rehearsal: bool = False,
    has_seal_key: bool = False,
) -> tuple[Step, ...]:
    """The steps that come next in a run or a part of it, the first first; none where nothing is left to do.

    `line` is what the command at hand was given, which goes before what the run remembers; a rehearsal is one that only
    tried. Without a key of one's own to seal with, a receipt needs one first.
    """
    if _needs_approval(folder, state, line):
        return (_step("approve", folder, line, then=command_of("begin", folder, line)),)
    if not is_rehearsal and (steps := tuple(_steps_of_parts(folder, state, line))):
        return steps
    if is_rehearsal or folder.part is not None:
        return (_step("for-real" if is_rehearsal else "again", folder, line),)
    plan = folder.plan()
    certificate = last_certificate(folder, str(plan.get("sha256")))
    names = step_names(
        state,
        needing_plan=count_needing_plan(folder, NEEDS_PLAN) if state.left_out and state.begun else 0,
        verdict=str(certificate["verdict"]) if certificate else "",
        is_received="bundle" in plan,
    )
    return tuple(
        _receipt_step(folder, line, has_seal_key=has_seal_key) if name == "receipt" else _step(name, folder, line)
        for name in names
    )


def step_names(state: RunState, *, needing_plan: int, verdict: str, is_received: bool) -> tuple[str, ...]:
    """The names of the steps, from how the run is, how many of its items only a new plan helps, the verdict of its last
    certificate (empty: none), and whether its plan was made on this side."""
    if state.stage == "sealed":
        return ("read-receipt",)
    if state.stage == "delivered":
        return ()
    if state.stage == "retracting":
        return ("retract",)
    if state.stage in ("retracted", "retracted_in_part"):
        return () if is_received else ("plan-again",)
    if not state.is_loaded and state.loses_values:
        return ("todays-dates",) if is_received else ("carry-dates", "todays-dates")
    if not state.is_loaded:
        return ("again",) if state.begun else ("begin",)
    if state.closes and not state.closed:
        return ("again",)
    steps = []
    if state.differences:
        steps.append("mend")
    elif state.left_out > needing_plan or state.not_closed:
        steps.append("retry")
    if verdict in ("", "not_verified") and not steps:
        steps.append("receipt" if is_received else "verify")
    if needing_plan and not is_received:
        steps.append("replan")
    return tuple(steps)


def steps_to_join(folder: RunFolder, missing: Sequence[str], line: RunRequest | None = None) -> Iterator[Step]:
    """How the parts `missing` get into the journal of a run: loaded first and joined, or, where the run has a journal
    already, loaded with it."""
    for number, part in enumerate(missing[:_MOST_PARTS]):
        is_any = part == "K/N"  # nothing tells how many there are to be
        step = _step("parts" if is_any else "missing-part", folder, line, "--shard", "1/2" if is_any else part)
        yield replace(step, is_further=number > 0)
    yield replace(_step("join", folder, line), is_further=bool(missing))
    if RunFolder(folder.path).journal.exists():
        yield _step("alone", RunFolder(folder.path), line)


def _steps_of_parts(folder: RunFolder, state: RunState, line: RunRequest | None) -> Iterator[Step]:
    """The steps of a part that is loaded or must wait for another, and of a run whose parts were not joined."""
    part = folder.part
    if part is not None and part.suffix:
        if is_part_loaded(folder.journal):
            name = "parts" if part.kind == SPINE else "merge"
            yield _step(name, folder, line, *(("--shard", "1/2") if part.kind == SPINE else ()))
        elif part.kind != SPINE and not is_spine_loaded(folder.path, str(folder.plan()["sha256"])):
            spine = _step("spine", folder, line, "--shard", SPINE)
            yield replace(spine, then=command_of("again", folder, line))
    elif (part is not None or state.has_parts) and _waits_for_parts(folder):
        yield from steps_to_join(folder, unloaded_parts(folder.path), line)


def _waits_for_parts(folder: RunFolder) -> bool:
    """True for a run that is loaded in parts and has no journal yet, and for its links where a part is open."""
    return not folder.journal.exists() or (folder.part is not None and has_open_units(folder.journal))


def _needs_approval(folder: RunFolder, state: RunState, line: RunRequest | None) -> bool:
    """True where the load waits for a person: it was asked to, and nobody approved the plan as it is."""
    requests = (remembered(folder, "ingest"), line)
    is_asked = any(request is not None and request.values.get("approved-only") for request in requests)
    return is_asked and state.stage in ("planned", "open") and approval_of(folder) is None


def replan_step(folder: RunFolder, line: RunRequest | None = None) -> Step:
    """The new plan of what a run left out."""
    return _step("replan", folder, line)


def _receipt_step(folder: RunFolder, line: RunRequest | None, *, has_seal_key: bool) -> Step:
    step = _step("receipt", folder, line)
    if has_seal_key or step.command == ():
        return step
    sealed = (*step.command, "--seal-key", SEAL_KEY)
    if Path(SEAL_KEY).exists():
        return replace(step, command=sealed)
    return replace(step, command=tuple(command_line("key", "new", "-o", SEAL_KEY, line=line)), then=sealed)


def _step(name: str, folder: RunFolder, line: RunRequest | None, *words: str, then: Sequence[str] = ()) -> Step:
    command = tuple(command_of(name, folder, line, *words))
    forgotten = name in _PLANS and bool(command) and request_of_plan(folder) is None
    return Step(name, command, tuple(then), lacks_options=forgotten)


def command_of(name: str, folder: RunFolder, line: RunRequest | None = None, *more: str) -> tuple[str, ...]:
    """The command line of a step; empty where the source has no name that a command takes."""
    run, words = str(folder.path), _VERBS.get(name, ("ingest",))
    more = (*more, *_OPTIONS_OF_STEPS.get(name, ()))
    if name in _PLANS:
        source = planned_source(folder)
        since = ("--since", run) if name == "replan" else ()
        words = (source, "-o", free_name(folder.path), *since, *more)
        return tuple(command_line("plan", *words, folder=folder, line=line)) if source else ()
    if name in ("join", "merge"):
        return tuple(command_line("runs", "merge", run, folder=folder, line=line))
    if name == "receipt":
        more = ("--receipt-out", f"{folder.name}-receipt.zip")
    elif name == "read-receipt":
        more = ("--receipt", f"{run}-receipt.zip")
    elif words == ("ingest",) and folder.part is not None and "--shard" not in more:
        more = ("--shard", str(folder.part), *more)
    return tuple(command_line(words[0], run, *words[1:], *more, folder=folder, line=line))


def commands_for_other_root(folder: RunFolder, request: RunRequest, loader: RunFolder | None) -> dict[str, str]:
    """The commands for what an archive holds from another root: `do` plans it with the keys of the run that loaded it,
    `again` loads it as new; neither where its words cannot be said. `request` is of the command at hand, whose plan is
    not frozen yet, or is to be loaded."""
    is_planned = folder.is_planned
    run = folder if is_planned else None
    source = planned_source(folder) if is_planned else request.source
    output = free_name(folder.path) if is_planned else str(folder.path)
    commands = {}
    if loader is not None and source:
        words = (source, "-o", output, "--same-as", loader.path)
        commands["do"] = shlex.join(command_line("plan", *words, folder=run, line=request))
    if is_planned:
        commands["again"] = shlex.join(command_line("ingest", folder.path, "--as-new", folder=run, line=request))
    elif source:
        commands["again"] = shlex.join(command_line("plan", source, "-o", output, "--as-new", line=request))
    return commands


def command_line(
    verb: str, *words: object, folder: RunFolder | None = None, line: RunRequest | None = None
) -> list[str]:
    """A command of ours with the options that it shares with how the run in `folder` was asked for, and with `line`."""
    positional = [str(word) for word in words]
    request = remembered(folder, verb) if folder is not None else RunRequest(verb)
    if line is not None:
        request = request.updated(line)
    if is_past(str(request.values.get("until", ""))):
        request = request.without("until")
    names = [name for name in (*TAKES.get(verb, ()), *GLOBALS) if f"--{name}" not in positional]
    options = [word for name in names for word in request.words(name)]
    own = positional[-1:] if positional[-1:] and positional[-1] in READERS_OWN else []
    return ["noarkit", verb, *positional[: len(positional) - len(own)], *map(_word_from_here, options), *own]


def after_refusal(folder: RunFolder, line: RunRequest) -> RunRequest:
    """What a command that failed was given, as far as the next one repeats it: an archive of a run that has its own
    does not count, for it may be the mistake."""
    return line if folder.archive_name() is None else line.without("archive")


def is_past(until: str) -> bool:
    """True for a moment that has gone by; a time of day comes again. One without a zone is read in that of here."""
    try:
        return datetime.fromisoformat(until).astimezone() <= datetime.now(UTC)
    except ValueError:
        return False


def remembered(folder: RunFolder, verb: str) -> RunRequest:
    """What a run remembers for a command: of its plan for another plan, else of its load; where none of it
    was written down, its archive."""
    try:
        plan, load = request_of_plan(folder) or RunRequest("plan"), request_of_load(folder) or RunRequest("ingest")
        planned_for = folder.planned_archive()
    except NoarkitError:
        return RunRequest(verb)
    archive = _archive_of(folder, load) or plan.values.get("archive") or planned_for
    shared = {name: plan.values[name] for name in GLOBALS if name in plan.values}
    values = {**shared, **load.values} if verb != "plan" else {**plan.values}
    values.pop("since", None)
    return RunRequest(verb, plan.source, {**values, **({"archive": archive} if archive else {})})


def _archive_of(folder: RunFolder, load: RunRequest) -> object:
    """The archive that loads of the run named: the one that was taken, whatever was named since; before there is one,
    none but the one that a question is open about."""
    if _asks_about_values(folder):
        return load.values.get("archive")
    return folder.archive_name() if has_named_archive(folder) else None


def _asks_about_values(folder: RunFolder) -> bool:
    """True where the last archive would replace dates and numbers of the plan: what comes next is to be done there."""
    if not folder.journal.exists():
        return False
    with closing(folder.open_journal()) as journal:
        return journal.meta("loses_values") == "yes"


def planned_source(folder: RunFolder) -> str:
    """The place that a run was planned from, as a command takes it; empty where it has no name, or cannot be said."""
    try:
        request = request_of_plan(folder)
        if "bundle" in folder.plan() or (request is not None and not request.source):
            return ""
        with closing(folder.graph_store()) as graph:
            return graph.meta("source_where") or ""
    except (NoarkitError, OSError, ValueError):
        return ""


def free_name(place: Path) -> str:
    """The name itself, or with the first number that makes it one of nothing that is there."""
    number, candidate = 1, place
    while candidate.exists():
        number += 1
        candidate = place.with_name(f"{place.name}-{number}")
    return str(candidate)


def propose_run(source: str) -> str:
    """A name for the run of a source: of its last part, and of no file that is there."""
    last = re.split(r"[/\\:]", source.rstrip("/\\").partition("?")[0])[-1]
    name = re.sub(r"[^\w.-]+", "-", last).strip("-.") or "run"
    return free_name(Path(f"{name}-run"))


def with_real_commands(
    text: str, folder: RunFolder, line: RunRequest | None = None, *, forgotten: str, only_plan: bool = False
) -> str:
    """A remedy whose commands name this run and repeat how it was asked for; `forgotten` is said of a new plan whose
    options the run does not remember. With `only_plan` a new plan is advised in place of another try, for what trying
    again cannot mend."""
    step = replan_step(folder, line)
    replan = f"{step} ({forgotten})" if step.lacks_options else str(step)

    def retry(match: re.Match[str]) -> str:
        options = match[0].partition("RUN")[2].split()
        if only_plan and "--accept" not in options:
            return replan or match[0]
        return shlex.join(command_line("retry", folder.path, *options, folder=folder, line=line))

    text = _RETRY.sub(retry, text)
    return _REPLAN.sub(lambda match: replan or match[0], text)


def last_certificate(folder: RunFolder, plan_sha256: str) -> dict[str, object] | None:
    """What the newest certificate of this plan says; one that cannot be read says nothing."""
    for path, facts in folder.certificates(plan_sha256):
        if facts.keys() >= {"verdict", "depth"}:
            certificate = {name: facts.get(name) for name in ("verdict", "ended", "depth", "sample")}
            return certificate | {"page": f"{path.stem}.html"}
    return None


def _word_from_here(word: str) -> str:
    """A word of a command; a path in it is written as a person here would."""
    path = Path(word)
    return str(from_here(path)) if path.is_absolute() else word
