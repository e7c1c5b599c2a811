"""The converter of office documents: LibreOffice in a sandbox, in batches, with fields as they were stored.

A start costs as much as forty letters, so up to two hundred documents share one. They share its fate as well: where a
document hangs or crashes it, what is whole is taken, the first one missing is tried once more alone with twice the
time, and the rest goes on in a new start. Exit codes say nothing; what counts is which files were made.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
import zipfile
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path

from noarkit.copies.converters.fonts import font_digest, missing_fonts
from noarkit.copies.converters.freezing import FREEZING_REVISION, FreezeReport, freeze_fields
from noarkit.copies.converters.office_fates import fates_of
from noarkit.copies.converters.office_filters import (
    INPUT_FILTERS,
    PDF_FLAVOURS,
    InputFilter,
    OutputFilter,
    export_options,
    output_filter,
)
from noarkit.copies.converters.office_profile import profile_settings, write_profile
from noarkit.copies.converters.pdfa_writer import finish_pdfa
from noarkit.copies.port import TRIED_ALONE, Failure, Outcome, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.errors import PackageFault, UnsafeXml
from noarkit.safe.sandbox import Completed, Limits, Progress, Sandbox, Stopped
from noarkit.safe.workplace import folder_for_owner, temporary_folder

MOST_IN_BATCH = 200
_EQUATION_LIBRARIES = ("libsmlo.so", "libsmlo.dylib", "smlo.dll")
_OFFICE_REVISION = 2
"""Counts when what this module does to a document or its copy changes."""

_SWITCHES = ("--headless", "--norestore", "--nolockcheck", "--nodefault", "--nologo", "--nofirststartwizard")
_RESTART_CODE = 81
"""A first start made the profile ready, and asks to be started again."""

_CONVERTED = re.compile(r"^convert .*?([^/]+) -> .* using filter : ", re.MULTILINE)
_NOT_LOADED = "source file could not be loaded"
_WRITE_FAILED = "failed: 0xc10"
_PLAIN_NAME = re.compile(r"[\w][\w .,()&+=@-]{0,100}")


@dataclass(frozen=True, slots=True)
class _Staged:
    """A document as LibreOffice is given it."""

    task: Task
    path: Path
    frozen: FreezeReport


@dataclass(frozen=True, slots=True)
class _Batch:
    """Documents of one filter for one target."""

    staged: Sequence[_Staged]
    source: InputFilter
    target: OutputFilter
    place: Path
    patience: int
    version: str

    @property
    def outputs(self) -> Path:
        return self.place / "outputs"

    def result_of(self, staged: _Staged) -> Path:
        return self.outputs / "made" / f"{staged.path.stem}.{self.target.suffix}"


class Office:
    """LibreOffice as a converter. `program` is `soffice` or where it lies."""

    name = "office"

    def __init__(self, sandbox: Sandbox | None = None, program: str = "soffice") -> None:
        self._sandbox = sandbox or Sandbox()
        self._program_name = program

    @cached_property
    def _program(self) -> Path | None:
        """The program itself; the script beside it only starts it, and would outlive its end."""
        path = shutil.which(self._program_name)
        if path is None:
            return None
        script = Path(path).resolve()
        program = script.with_name(f"{script.name}.bin")
        return program if program.is_file() else script

    @cached_property
    def _version(self) -> str | None:
        if self._program is None:
            return None
        with temporary_folder("office-version") as folder:
            completed = self._run(["--version"], inputs=folder, outputs=folder, limits=Limits(cpu_s=20, wall_s=60))
        match = re.search(r"^(\S+ \d[\d.]*)", completed.stdout, re.MULTILINE)
        return match.group(1) if match and completed.exit_code == 0 else None

    @property
    def draws_equations(self) -> bool:
        """True where the part that draws equations is installed, which Linux systems have as a package of its own."""
        if self._program is None:
            return False
        folders = (self._program.parent, self._program.parent.parent / "Frameworks")
        return any((folder / name).exists() for folder in folders for name in _EQUATION_LIBRARIES)

    def version(self) -> str | None:
        """`LibreOffice 7.4.7.2`; None where there is none. Asked of the program once."""
        return self._version

    def options_digest(self, rule: Rule, target: str) -> str:
        """A digest of the options, the profile, the fonts, and how fields are frozen."""
        options = {
            "revision": _OFFICE_REVISION,
            "freezing": FREEZING_REVISION if _freezes(rule) else None,
            "fonts": font_digest(),
            "profile": hashlib.sha256(profile_settings().encode()).hexdigest(),
            "options": [export_options(family, target) for family in ("writer", "calc", "impress", "draw")]
            if target in PDF_FLAVOURS
            else target,
        }
        return hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()

    def batch_size(self, task: Task) -> int:
        """Very many of a kind, where this converter knows the kind."""
        return MOST_IN_BATCH if _filters(task) is not None else 1

    def convert(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Outcome]]:
        """Makes a file of each document, small ones first; results lie in the folder of their task."""
        convertible: list[tuple[tuple[str, str], Task]] = []
        for task in tasks:
            filters = _filters(task)
            failure = self._refusal(task)
            if failure is not None or filters is None:
                yield task, failure or Failure(Reason.UNKNOWN_FORMAT, {"puid": task.identity.puid})
            else:
                convertible.append(((filters[0].name, task.target), task))
        convertible.sort(key=lambda pair: (pair[0], pair[1].source.stat().st_size))
        for _, group in groupby(convertible, key=lambda pair: pair[0]):
            waiting = deque(task for _, task in group)
            while waiting:
                batch = [waiting.popleft() for _ in range(min(MOST_IN_BATCH, len(waiting)))]
                yield from self._convert_batch(batch)

    def _refusal(self, task: Task) -> Failure | None:
        if self._program is None:
            return Failure(Reason.TOOL_MISSING, {"tool": self._program_name})
        if not self._sandbox.isolated and any(finding.code == "external-content" for finding in task.findings):
            return Failure(Reason.EXTERNAL_CONTENT, {"isolated": False})
        if task.source.stat().st_size == 0:  # it would become an empty page
            return Failure(Reason.DAMAGED)
        return None

    def _convert_batch(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Outcome]]:
        waiting = list(tasks)
        while waiting:
            settled, suspect, waiting = self._attempt(waiting, patience=1)
            yield from settled
            if suspect is not None:
                settled, _, _ = self._attempt([suspect], patience=2)
                yield from settled

    def _attempt(
        self, tasks: Sequence[Task], *, patience: int
    ) -> tuple[list[tuple[Task, Outcome]], Task | None, list[Task]]:
        """Starts LibreOffice once: what became of tasks, who is to be tried alone, and who has had no turn."""
        settled: list[tuple[Task, Outcome]] = []
        with tempfile.TemporaryDirectory(prefix=".office-", dir=tasks[0].folder, ignore_cleanup_errors=True) as name:
            place = Path(name)
            staged: list[_Staged] = []
            postponed: list[Task] = []
            for task in tasks:
                document = _stage(task, place / "inputs", {one.path.stem.casefold() for one in staged})
                if isinstance(document, Failure):
                    settled.append((task, document))
                elif document is None:
                    postponed.append(task)
                else:
                    staged.append(document)
            if not staged:
                return settled, None, postponed
            filters = _filters(staged[0].task)
            assert filters is not None  # noqa: S101  # `convert` has asked
            version = staged[0].task.version or self.version() or ""
            batch = _Batch(staged, *filters, place, patience, version)
            completed = self._start(batch)
            outcome, suspect, untried = _settle(batch, completed)
            return settled + outcome, suspect, untried + postponed

    def _start(self, batch: _Batch) -> Completed:
        (batch.outputs / "made").mkdir(parents=True)
        shutil.copytree(self._template, batch.outputs / "profile")
        limits = [staged.task.limits for staged in batch.staged]
        arguments = [
            f"-env:UserInstallation={(batch.outputs / 'profile').resolve().as_uri()}",
            *_SWITCHES,
            f"--infilter={batch.source.name}",
            "--convert-to",
            batch.target.argument,
            "--outdir",
            str((batch.outputs / "made").resolve()),
            *(str(staged.path.resolve()) for staged in batch.staged),
        ]
        return self._run(
            arguments,
            inputs=batch.place / "inputs",
            outputs=batch.outputs,
            limits=Limits(
                cpu_s=batch.patience * max(limit.cpu_s for limit in limits),
                wall_s=batch.patience * max(limit.wall_s for limit in limits),
                memory_bytes=max(limit.memory_bytes for limit in limits),
                output_bytes=max(limit.output_bytes for limit in limits),
            ),
            progress=Progress((batch.outputs / "made").resolve(), len(batch.staged)),
        )

    def _run(
        self, arguments: Sequence[str], *, inputs: Path, outputs: Path, limits: Limits, progress: Progress | None = None
    ) -> Completed:
        assert self._program is not None  # noqa: S101  # asked before
        command = [str(self._program), *arguments]
        home = self._program.parent.parent
        for _ in range(2):
            completed = self._sandbox.run(
                command,
                inputs=inputs,
                outputs=outputs,
                limits=limits,
                environment={"SAL_USE_VCLPLUGIN": "svp"},
                readable=() if home.is_relative_to("/usr") else (home,),
                progress=progress,
            )
            if completed.exit_code != _RESTART_CODE:
                break
        return completed

    @cached_property
    def _template(self) -> Path:
        """A profile that has been started once, so that no batch pays for a first start."""
        folder = folder_for_owner(self, "office-profile")
        inputs, profile = folder / "inputs", folder / "outputs" / "profile"
        inputs.mkdir()
        write_profile(profile)
        arguments = [f"-env:UserInstallation={profile.resolve().as_uri()}", *_SWITCHES, "--terminate_after_init"]
        self._run(arguments, inputs=inputs, outputs=profile.parent, limits=Limits(cpu_s=30, wall_s=120))
        return profile


def _filters(task: Task) -> tuple[InputFilter, OutputFilter] | None:
    source = INPUT_FILTERS.get(task.identity.puid or "")
    target = output_filter(source.family, task.target) if source else None
    return (source, target) if source and target else None


def _freezes(rule: Rule) -> bool:
    return bool(rule.options.get("freeze-fields", True))


def _stage(task: Task, inputs: Path, stems: set[str]) -> _Staged | Failure | None:
    """Copies a document to where LibreOffice may read it; None where its name is that of another and it prints it."""
    filters = _filters(task)
    assert filters is not None  # noqa: S101  # `convert` has asked
    folder = inputs / f"{len(stems) + 1:02d}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"document-{folder.name}.{filters[0].suffix}"
    try:
        frozen = FreezeReport()
        if _freezes(task.rule):
            frozen = freeze_fields(task.source, path, only_volatile=task.target not in PDF_FLAVOURS)
    except (PackageFault, UnsafeXml, zipfile.BadZipFile) as fault:
        return Failure(Reason.DAMAGED, {"why": getattr(fault, "why", "zip")})
    if not path.exists():
        shutil.copyfile(task.source, path)
    stem = Path(task.name).stem
    if frozen.prints_name and _PLAIN_NAME.fullmatch(stem):
        if stem.casefold() in stems:
            return None
        path = path.rename(folder / f"{stem}.{filters[0].suffix}")
    return _Staged(task, path, frozen)


def _settle(batch: _Batch, completed: Completed) -> tuple[list[tuple[Task, Outcome]], Task | None, list[Task]]:
    """What became of each document, by the files that are there and by what LibreOffice said while it made them."""
    output = completed.stdout + completed.stderr
    results = {one.path.name: batch.result_of(one) for one in batch.staged if _is_whole(batch.result_of(one))}
    fates = fates_of(
        [one.path.name for one in batch.staged],
        loaded=frozenset(_CONVERTED.findall(completed.stdout)),
        finished=frozenset(results),
        refusals=output.count(_NOT_LOADED),
        ended=completed.reason is None and completed.exit_code == 0,
    )
    share = replace(
        completed, cpu_s=completed.cpu_s / max(1, len(results)), wall_s=completed.wall_s / max(1, len(results))
    )
    outcomes: list[tuple[Task, Outcome]] = []
    suspect: Task | None = None
    waiting: list[Task] = []
    for one, fate in zip(batch.staged, fates, strict=True):
        if fate == "made":
            outcomes.append((one.task, _product(one, results[one.path.name], share, batch.version)))
        elif fate == "damaged":
            outcomes.append((one.task, Failure(Reason.DAMAGED)))
        elif fate == "no-result":
            outcomes.append((one.task, _no_result(batch.result_of(one), one.task.limits, output)))
        elif completed.reason is Stopped.DISK_FULL:
            outcomes.append((one.task, Failure(Reason.DISK_FULL)))
        elif fate == "waiting":
            waiting.append(one.task)
        elif batch.patience == 1:
            suspect = one.task
        else:
            outcomes.append((one.task, _failure(completed, one.task.limits, batch.patience)))
    return outcomes, suspect, waiting


def _no_result(path: Path, limits: Limits, output: str) -> Failure:
    """Nothing whole was written, though LibreOffice is content: also where what it wrote met the limit."""
    if _WRITE_FAILED in output or (path.is_file() and path.stat().st_size >= limits.output_bytes):
        return Failure(Reason.TOO_LARGE, {"limit_bytes": limits.output_bytes})
    return Failure(Reason.NO_RESULT)


def _failure(completed: Completed, limits: Limits, patience: int) -> Failure:
    """Why there is nothing, of a document that had a turn of its own."""
    if completed.reason is Stopped.TIMED_OUT:
        return Failure(Reason.TIMED_OUT, {"limit_s": patience * limits.cpu_s, TRIED_ALONE: True})
    if completed.reason is Stopped.MEMORY:
        return Failure(Reason.MEMORY, {"limit_bytes": limits.memory_bytes, TRIED_ALONE: True})
    if completed.reason is Stopped.TOO_LARGE:
        return Failure(Reason.TOO_LARGE, {"limit_bytes": limits.output_bytes})
    return Failure(Reason.CRASHED, {"exit": completed.exit_code, TRIED_ALONE: True})


def _is_whole(path: Path) -> bool:
    """True for a file that was written to its end."""
    if not path.is_file() or path.is_symlink() or not path.stat().st_size:
        return False
    if path.suffix != ".pdf":
        return zipfile.is_zipfile(path)
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 1024))
        return b"%%EOF" in file.read()


def _product(staged: _Staged, draft: Path, completed: Completed, version: str) -> Outcome:
    """The file in the folder of its task, with what a person should know of it."""
    task = staged.task
    result = task.folder / f"copy{draft.suffix}"
    findings = list(staged.frozen.findings)
    if task.target in PDF_FLAVOURS:
        if not finish_pdfa(draft, result, PDF_FLAVOURS[task.target]):
            return Failure(Reason.NO_RESULT)
        findings += missing_fonts(task.source, result)
    else:
        draft.replace(result)
    return Product(
        path=result,
        tool="LibreOffice",
        version=version.removeprefix("LibreOffice "),
        findings=tuple(findings),
        cpu_s=completed.cpu_s,
        wall_s=completed.wall_s,
        peak_bytes=completed.peak_bytes,
    )
