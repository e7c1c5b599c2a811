"""The steps of a project, how far each is, and the command that does it: seen by looking at what lies in the folder.

    road(project, digest)   ->   (Step("recipe", "done"), Step("copies", "next", ("derive", …)), Step("plan", "later"))

    recipe   recipe.toml is there, has no fault and asks nothing; nor does deposit.toml
    copies   every document of the source as it is now has an outcome, and none of the copies waits for a person
    plan     the newest run was made from this source, this recipe and these copies
    approve  somebody approved this plan
    ingest   everything of it has an outcome, and what can be closed is closed
    verify   its newest certificate says so
    package  it was made after that, by what deposit.toml says now

What is not so any more is done again, in a new run or a new package beside the old one: nothing is ever overwritten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from noarkit.loading.approval import approval_of
from noarkit.loading.earlier_runs import meeting_in
from noarkit.loading.folder import RunFolder
from noarkit.loading.load_proof import was_loaded_since
from noarkit.loading.next_step import last_certificate
from noarkit.loading.plan import MADE_FROM
from noarkit.loading.request import is_planned_by
from noarkit.loading.state import read_state
from noarkit.loading.verification.outcome import is_as_deep
from noarkit.projects.answers import schemas_problem
from noarkit.projects.lines import PACKAGE, is_proved, line_of, newest, newest_run, run_to_verify
from noarkit.projects.project import Project
from noarkit.projects.questions import questions
from noarkit.recipes import check, read_recipe
from noarkit.recipes.toml_table import UNANSWERED
from noarkit.safe.toml import read_text
from noarkit.wings import require_wing

StepName = Literal["recipe", "copies", "plan", "approve", "ingest", "verify", "package"]
STEPS: tuple[StepName, ...] = get_args(StepName)
REPEATED: tuple[StepName, ...] = ("copies", "plan", "ingest", "verify", "package")
"""The steps that can be done once more although they are done; what a person decided is not asked again."""
StepState = Literal["done", "next", "waiting", "later", "off"]
_COMMANDS: Mapping[StepName, str] = {"recipe": "recipe new", "copies": "derive", "package": "extract"}
"""The command of a step, where it is called otherwise."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: how far it is, the words of the command that does it, and what is to be said of it, by keys of
    sentences with their data."""

    name: StepName
    state: StepState
    command: tuple[str, ...] = ()
    notes: tuple[tuple[str, dict[str, object]], ...] = ()


@dataclass(frozen=True, slots=True)
class _Look:
    """What is looked at: the project, a checksum of its source as it is now, and its newest run."""

    project: Project
    source_digest: str
    run: RunFolder | None = None
    notes: list[tuple[str, dict[str, object]]] = field(default_factory=list)

    def note(self, key: str, **data: object) -> None:
        """Something to be said of the step at hand."""
        self.notes.append((key, data))


def road(project: Project, source_digest: Callable[[], str]) -> tuple[Step, ...]:
    """All steps in their order. The first that is not done is next, or waits for a person."""
    return tuple(_steps(_Look(project, source_digest(), newest_run(project))))


def _steps(look: _Look) -> Iterator[Step]:
    is_open = True
    for name, state_of in _STEPS:
        if not is_open:
            yield Step(name, "later")
            continue
        here = replace(look, notes=[])
        state = state_of(here)
        command = () if state == "off" else command_of(name, look.project)
        yield Step(name, state, command, tuple(here.notes))
        is_open = state in ("done", "off")


def command_of(name: StepName, project: Project) -> tuple[str, ...]:
    """The words of the command that does a step. Who approves stands behind them."""
    command = _COMMANDS.get(name, name)
    return (*command.split(), *line_of(command, project), *(("--by",) if name == "approve" else ()))


def _recipe(look: _Look) -> StepState:
    project = look.project
    if not project.recipe.is_file():
        return "next"
    recipe = read_recipe(read_text(project.recipe), str(project.recipe))
    problems = [problem for problem in check(recipe) if not problem.warning and problem.key != UNANSWERED]
    for problem in problems:
        look.note("problem", where=str(project.recipe), line=problem.line, problem=problem.key, data=dict(problem.data))
    asked = questions(project)
    for question in asked:
        look.note("question", question=question)
    bad = schemas_problem(project)
    if bad is not None:
        look.note(f"answer-{bad.why}", **bad.data)
    return "waiting" if problems or asked or bad is not None else "done"


def _copies(look: _Look) -> StepState:
    project = look.project
    if project.copies is None:
        return "off"
    require_wing("copies")
    from noarkit.copies.numbers import format_rows, state_counts
    from noarkit.copies.store import SOURCE_DIGEST, CopyStore

    if not project.copies.is_dir():
        return "next"
    with CopyStore.open(project.copies) as store:
        counts = state_counts(format_rows(store, max(store.latest_walks(), default=0)))
        is_of_now = store.meta(SOURCE_DIGEST) == look.source_digest
    without = counts["failed"] + counts["left"]
    counts_told = {name: counts[name] for name in ("made", "kept", "held", "open")}
    look.note("copies", all=sum(counts.values()), without=without, **counts_told)
    if counts["open"] or not is_of_now:
        return "next"
    if counts["held"]:
        return "waiting"
    return "done"


def _plan(look: _Look) -> StepState:
    run = look.run
    if not look.source_digest:
        look.note("unseen", folder=str(look.project.folder))
    if run is not None and run.is_planned and (reason := _why_old(look, run)) is None:
        return "done"
    if run is not None:
        look.note("old-plan", run=str(run.path), why=reason if run.is_planned else "unfinished")
    return "next"


def _why_old(look: _Look, run: RunFolder) -> str | None:
    """Why a plan is one of before; None for one that was made from what is there now."""
    made_from = run.plan().get(MADE_FROM)
    digests = made_from if isinstance(made_from, dict) else {}
    if not is_planned_by(run, look.project.recipe):
        return "recipe"
    if digests.get("source", "") != look.source_digest:
        return "source"
    if look.project.copies is not None:
        require_wing("copies")
        from noarkit.copies.store import CopyStore

        with CopyStore.open(look.project.copies) as store:
            if digests.get("copies") != store.digest():
                return "copies"
    return None


def _approve(look: _Look) -> StepState:
    run = _run_of(look)
    if not look.project.approval:
        return "off"
    meeting = meeting_in(run)
    if meeting is not None and meeting.differing:
        look.note("other-values", facts=meeting.facts())
    if approval_of(run) is not None:
        return "done"
    if read_state(run).begun:
        look.note("not-approved", run=str(run.path))
        return "done"
    look.note("approve", page=str(run.path / "plan.html"), folder=str(look.project.folder))
    return "waiting"


def _ingest(look: _Look) -> StepState:
    run = _run_of(look)
    state = read_state(run)
    archived = state.numbers.archived + state.numbers.already_there
    look.note("loaded", archived=archived, left_out=state.left_out)
    if state.is_loaded and (state.closed or not state.closes):
        return "done"
    return "next"


def _verify(look: _Look) -> StepState:
    run = _run_of(look)
    state = read_state(run)
    if not state.numbers.archived + state.numbers.already_there:
        look.note("nothing-new", run=str(run.path))
    unproved = run_to_verify(look.project)
    if unproved is not None and not is_proved(unproved):
        wrong = read_state(unproved)
        if wrong.differences and _was_found_wrong(unproved):
            look.note("not-verified", run=unproved, count=len(wrong.differences))
            return "waiting"
        return "next"
    certificate = last_certificate(run, str(run.plan()["sha256"]))
    return "done" if certificate is None or is_as_deep(str(certificate["depth"]), look.project.depth) else "next"


def _was_found_wrong(run: RunFolder) -> bool:
    """True where the newest certificate says so, and nothing was loaded or mended since: another look says the same."""
    certificate = last_certificate(run, str(run.plan()["sha256"]))
    if certificate is None or certificate["verdict"] != "not_verified":
        return False
    return not was_loaded_since(run, str(certificate["ended"]))


def _package(look: _Look) -> StepState:
    project, run = look.project, _run_of(look)
    package = newest(project.folder, PACKAGE)
    certificates = [path for path, _ in run.certificates(str(run.plan()["sha256"]))]
    if package is not None:
        made_ns = package.stat().st_mtime_ns
        if all(path.stat().st_mtime_ns <= made_ns for path in (project.file, *certificates[:1])):
            return "done"
        look.note("old-package", package=str(package))
    return "next"


def _run_of(look: _Look) -> RunFolder:
    if look.run is None:
        raise AssertionError("a step behind the plan without one")
    return look.run


_STEPS: Sequence[tuple[StepName, Callable[[_Look], StepState]]] = (
    ("recipe", _recipe),
    ("copies", _copies),
    ("plan", _plan),
    ("approve", _approve),
    ("ingest", _ingest),
    ("verify", _verify),
    ("package", _package),
)
