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

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

from noarkit.loading.approval import approval_of
from noarkit.loading.folder import RunFolder
from noarkit.loading.next_step import free_name, last_certificate
from noarkit.loading.plan import MADE_FROM
from noarkit.loading.request import is_planned_by
from noarkit.loading.state import read_state
from noarkit.places import is_run
from noarkit.projects.project import Project
from noarkit.recipes import check, read_recipe
from noarkit.safe.toml import read_text
from noarkit.wings import require_wing

StepName = Literal["recipe", "copies", "plan", "approve", "ingest", "verify", "package"]
STEPS: tuple[StepName, ...] = get_args(StepName)
StepState = Literal["done", "next", "waiting", "later", "off"]
RUN, PACKAGE = "run", "package"
_NUMBERED = re.compile(r"(.+?)(?:-(\d+))?(\.tar|\.zip)?")


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
    run = newest(project.folder, RUN)
    look = _Look(project, source_digest(), RunFolder(run) if run is not None and is_run(run) else None)
    return tuple(_steps(look))


def _steps(look: _Look) -> Iterator[Step]:
    is_open = True
    for name, step_of in _STEPS:
        if not is_open:
            yield Step(name, "later")
            continue
        here = replace(look, notes=[])
        step = step_of(here)
        yield replace(step, notes=(*step.notes, *here.notes))
        is_open = step.state in ("done", "off")


def newest(folder: Path, stem: str) -> Path | None:
    """The one with the highest number among `run`, `run-2`, `run-3`."""
    numbered = ((path, _NUMBERED.fullmatch(path.name)) for path in folder.glob(f"{stem}*"))
    numbers = {int(match[2] or 1): path for path, match in numbered if match and match[1] == stem and not match[3]}
    return numbers[max(numbers)] if numbers else None


def _recipe(look: _Look) -> Step:
    project = look.project
    if not project.recipe.is_file():
        return Step("recipe", "next", ("recipe", "new", project.source, "-o", str(project.recipe)))
    recipe = read_recipe(read_text(project.recipe), str(project.recipe))
    problems = [problem for problem in check(recipe) if not problem.warning]
    for problem in problems:
        look.note("problem", where=str(project.recipe), line=problem.line, problem=problem.key, data=dict(problem.data))
    for name in project.questions:
        look.note("question", where=str(project.file), name=name)
    return Step("recipe", "waiting" if problems or project.questions else "done")


def _copies(look: _Look) -> Step:
    project = look.project
    if project.copies is None:
        return Step("copies", "off")
    require_wing("copies")
    from noarkit.copies.numbers import format_rows, state_counts
    from noarkit.copies.store import SOURCE_DIGEST, CopyStore

    words: tuple[str, ...] = ("derive", project.source, "-o", str(project.copies), "--recipe", str(project.recipe))
    words += () if project.copies_policy == "no-raf-2022" else ("--policy", project.copies_policy)
    if not project.copies.is_dir():
        return Step("copies", "next", words)
    with CopyStore.open(project.copies) as store:
        counts = state_counts(format_rows(store, max(store.latest_walks(), default=0)))
        is_of_now = store.meta(SOURCE_DIGEST) == look.source_digest
    look.note("copies", made=counts["made"], held=counts["held"], failed=counts["failed"])
    if counts["open"] or not is_of_now:
        return Step("copies", "next", words)
    if counts["held"]:
        look.note("held", count=counts["held"], copies=str(project.copies))
        return Step("copies", "waiting")
    return Step("copies", "done")


def _plan(look: _Look) -> Step:
    project, run = look.project, look.run
    if run is not None and run.is_planned and (reason := _why_old(look, run)) is None:
        return Step("plan", "done")
    if run is not None:
        look.note("old-plan", run=str(run.path), why=reason if run.is_planned else "unfinished")
    target = run.path if run is not None and not run.is_planned else Path(free_name(project.folder / RUN))
    words: tuple[str, ...] = (
        "plan",
        project.source,
        "--recipe",
        str(project.recipe),
        "--archive",
        project.archive,
        "-o",
        str(target),
    )
    words += () if project.copies is None else ("--copies", str(project.copies))
    words += ("--carry-dates",) if project.dates == "carry" else ()
    words += _since(look)
    return Step("plan", "next", words)


def _since(look: _Look) -> tuple[str, ...]:
    """The run before it, where that was loaded: what is in the archive is not loaded again."""
    run = look.run
    loaded = run is not None and run.is_planned and read_state(run).begun
    return ("--since", str(run.path)) if run is not None and loaded else ()


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


def _approve(look: _Look) -> Step:
    run = _run_of(look)
    if not look.project.approval:
        return Step("approve", "off")
    if read_state(run).begun or approval_of(run) is not None:
        return Step("approve", "done")
    look.note("approve", page=str(run.path / "plan.html"), folder=str(look.project.folder))
    return Step("approve", "waiting", ("approve", str(run.path), "--by"))


def _ingest(look: _Look) -> Step:
    run = _run_of(look)
    state = read_state(run)
    archived = state.numbers.archived + state.numbers.already_there
    look.note("loaded", archived=archived, left_out=state.left_out)
    if state.is_loaded and (state.closed or not state.closes):
        return Step("ingest", "done")
    todays = ("--todays-dates",) if look.project.dates == "todays" else ()
    return Step("ingest", "next", ("ingest", str(run.path), "--archive", look.project.archive, *todays))


def _verify(look: _Look) -> Step:
    run = _run_of(look)
    certificate = last_certificate(run, str(run.plan()["sha256"]))
    if certificate is not None and certificate["verdict"] != "not_verified":
        return Step("verify", "done")
    words = ("verify", str(run.path), "--archive", look.project.archive, "--depth", look.project.depth)
    return Step("verify", "next", words)


def _package(look: _Look) -> Step:
    project, run = look.project, _run_of(look)
    package = newest(project.folder, PACKAGE)
    certificates = [path for path, _ in run.certificates(str(run.plan()["sha256"]))]
    if package is not None:
        made_ns = package.stat().st_mtime_ns
        if all(path.stat().st_mtime_ns <= made_ns for path in (project.file, *certificates[:1])):
            return Step("package", "done")
        look.note("old-package", package=str(package))
    target = free_name(project.folder / PACKAGE)
    words: tuple[str, ...] = ("extract", "-o", target, "--as", project.form, "--archive", project.archive)
    words += ("--package", str(project.file), "--change-log", project.change_log)
    words += ("--schemas", project.schemas) if project.schemas else ()
    return Step("package", "next", words)


def _run_of(look: _Look) -> RunFolder:
    if look.run is None:
        raise AssertionError("a step behind the plan without one")
    return look.run


_STEPS: Sequence[tuple[StepName, Callable[[_Look], Step]]] = (
    ("recipe", _recipe),
    ("copies", _copies),
    ("plan", _plan),
    ("approve", _approve),
    ("ingest", _ingest),
    ("verify", _verify),
    ("package", _package),
)
