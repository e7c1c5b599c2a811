"""What the ordinary commands are given in a project: what `noarkit deposit` prints and runs, and `--project` fills in.

    line_of("verify", project)   ->   ("saetre/run-2", "--archive", "embedded:saetre/archive", "--depth", "bytes")

Arguments come first, in their order. What is not there yet, as a run before the first plan, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from noarkit.loading.folder import RunFolder
from noarkit.loading.load_proof import proof_of_run
from noarkit.loading.next_step import free_name
from noarkit.loading.request import is_planned_by, request_of_plan
from noarkit.loading.state import read_state
from noarkit.projects.project import USUAL_POLICY, Project
from noarkit.safe.paths import numbered_name

RUN, PACKAGE = "run", "package"
Line = tuple[str, ...]


def line_of(command: str, project: Project) -> Line:
    """The words behind a command, for a project; none for a command that a project says nothing of."""
    return _LINES.get(command, _no_words)(project)


def newest(folder: Path, stem: str) -> Path | None:
    """The one with the highest number among `run`, `run-2`, `run-3`."""
    return next(_newest_first(folder, stem), None)


def _newest_first(folder: Path, stem: str) -> Iterator[Path]:
    numbered = ((path, numbered_name(path.name)) for path in folder.glob(f"{stem}*"))
    numbers = {number: path for path, (name, number, suffix) in numbered if name == stem and not suffix}
    return (numbers[number] for number in sorted(numbers, reverse=True))


def newest_run(project: Project) -> RunFolder | None:
    """The run of a project that was begun last, whether its plan was finished or not."""
    path = newest(project.folder, RUN)
    return None if path is None else RunFolder(path)


def newest_loaded_run(project: Project) -> RunFolder | None:
    """The newest run whose load was begun; plans that nobody approved are passed over."""
    return next(_loaded_runs(project), None)


def run_to_verify(project: Project) -> RunFolder | None:
    """The newest run that loaded into the archive of the newest one, and that no certificate proves; the newest itself
    where each is proved."""
    runs = list(_loaded_runs(project))
    identities = {run.path: read_state(run).identity for run in runs}
    unproved = (run for run in runs if identities[run.path] == identities[runs[0].path] and not is_proved(run))
    return next(unproved, runs[0] if runs else None)


def is_proved(run: RunFolder) -> bool:
    """True for a run that a certificate proves as it is now, and for one that put nothing into the archive."""
    state = read_state(run)
    is_empty = not state.numbers.archived + state.numbers.already_there
    return is_empty or bool(state.retraction) or proof_of_run(run, state) != "none"


def _loaded_runs(project: Project) -> Iterator[RunFolder]:
    runs = map(RunFolder, _newest_first(project.folder, RUN))
    return (run for run in runs if run.is_planned and read_state(run).begun)


def _no_words(project: Project) -> Line:
    return ()


def _scan(project: Project) -> Line:
    return (project.source, *_recipe(project))


def _recipe_check(project: Project) -> Line:
    return (str(project.recipe), project.source)


def _recipe_new(project: Project) -> Line:
    return (project.source, "-o", str(project.recipe))


def _derive(project: Project) -> Line:
    if project.copies is None:
        return (project.source, *_recipe(project))
    return (project.source, "-o", str(project.copies), *_recipe(project), *_policy(project))


def _plan(project: Project) -> Line:
    dates = ("--carry-dates",) if project.dates == "carry" else ()
    target = ("-o", str(_plan_target(project)))
    return (project.source, *_recipe(project), *_archive(project), *target, *_copies(project), *dates, *_since(project))


def _ingest(project: Project) -> Line:
    approved = ("--approved-only",) if project.approval else ()
    todays = ("--todays-dates",) if project.dates == "todays" else ()
    return (*_run(project), *approved, *_archive(project), *todays)


def _verify(project: Project) -> Line:
    run = run_to_verify(project) or newest_run(project)
    return (*(() if run is None else (str(run.path),)), *_archive(project), "--depth", project.depth)


def _extract(project: Project) -> Line:
    target = ("-o", free_name(project.folder / PACKAGE), "--as", project.form)
    facts = ("--package", str(project.file), "--change-log", project.change_log)
    return (*target, *_archive(project), *facts, *_schemas(project))


def _validate(project: Project) -> Line:
    return (*_package(project), *_schemas(project))


def _doctor(project: Project) -> Line:
    return (*_archive(project), *(() if project.copies is None else ("--copies", *_policy(project))))


def _run(project: Project) -> Line:
    run = newest_run(project)
    return () if run is None else (str(run.path),)


def _run_and_archive(project: Project) -> Line:
    return (*_run(project), *_archive(project))


def _package(project: Project) -> Line:
    package = newest(project.folder, PACKAGE)
    return () if package is None else (str(package),)


def _place(project: Project) -> Line:
    return (project.archive,)


def _recipe(project: Project) -> Line:
    return ("--recipe", str(project.recipe))


def _archive(project: Project) -> Line:
    return ("--archive", project.archive)


def _copies(project: Project) -> Line:
    return () if project.copies is None else ("--copies", str(project.copies))


def _policy(project: Project) -> Line:
    return () if project.copies_policy == USUAL_POLICY else ("--policy", project.copies_policy)


def _schemas(project: Project) -> Line:
    return () if project.schemas is None else ("--schemas", str(project.schemas))


def _plan_target(project: Project) -> Path:
    """A plan that was not finished is gone on with; beside one that stands a new one is made."""
    run = newest_run(project)
    return run.path if run is not None and not run.is_planned else Path(free_name(project.folder / RUN))


def _since(project: Project) -> Line:
    """The newest run that was loaded: what is in the archive is not loaded again. What it loaded from another place is
    known by its keys, and stays as the recipe of then made it."""
    run = newest_loaded_run(project)
    if run is None:
        return ()
    request = request_of_plan(run)
    if request is not None and request.source != project.source:
        return ("--same-as", str(run.path))
    is_other = project.recipe.is_file() and not is_planned_by(run, project.recipe)
    return ("--since", str(run.path), *(("--other-recipe",) if is_other else ()))


_LINES: Mapping[str, Callable[[Project], Line]] = {
    **{"scan": _scan, "recipe check": _recipe_check, "recipe new": _recipe_new, "derive": _derive, "plan": _plan},
    **dict.fromkeys(("estimate", "retry", "close", "retract"), _run_and_archive),
    **dict.fromkeys(("approve", "status", "report"), _run),
    **{"ingest": _ingest, "verify": _verify, "extract": _extract, "validate": _validate},
    **dict.fromkeys(("browse", "search", "find-person", "ls", "show", "get", "codes", "groups"), _place),
    "doctor": _doctor,
}
COMMANDS = frozenset(name.partition(" ")[0] for name in _LINES)
"""The commands that a project says something of."""
