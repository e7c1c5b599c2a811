"""Tasks for the converters that are libraries, with the identity that the bytes have; and what all gates say of a
product."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from noarkit.copies.gates.registry import all_gates, pass_gates
from noarkit.copies.identity import Identifier
from noarkit.copies.inspection import words_of
from noarkit.copies.port import Converter, Failure, Finding, Gate, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.documents.poppler import Poppler
from noarkit.safe.sandbox import Limits
from tests.waiting import PATIENCE_S

LIMITS = Limits(cpu_s=30, wall_s=PATIENCE_S, memory_bytes=2 * 1024**3, output_bytes=64 * 1024**2)


@dataclass(frozen=True, slots=True)
class Workbench:
    """Makes tasks, runs converters, and holds what they make against every gate."""

    identifier: Identifier

    def task(self, source: Path, target: str, *, limits: Limits = LIMITS, **options: object) -> Task:
        """A task for one document, with a folder of its own. `decode_as` is the option `decode-as`."""
        folder = source.parent / "tasks" / f"{source.name}-{target}"
        folder.mkdir(parents=True)
        identity = self.identifier.identify(source, source.name)
        named = {name.replace("_", "-"): value for name, value in options.items()}
        rule = Rule("rule", (), "derive", target=target, options=named)
        return Task(source, source.name, identity, rule, target, folder, limits)

    def make(self, converter: Converter, task: Task) -> Product | Failure:
        """What a converter makes of one document."""
        ((same, outcome),) = list(converter.convert([task]))
        assert same is task
        return outcome

    def copy(self, converter: Converter, task: Task) -> tuple[Product, tuple[Finding, ...]]:
        """A product that every gate let pass, with what they found."""
        outcome = self.make(converter, task)
        assert isinstance(outcome, Product), (task.name, outcome)
        verdict = pass_gates(self.gates(), task, outcome)
        assert not isinstance(verdict, Failure), (task.name, verdict)
        return outcome, verdict

    def gates(self) -> tuple[Gate, ...]:
        """Every gate, with poppler as the second reader where it is there."""
        poppler = Poppler()
        return all_gates(self.identifier, words_of, poppler=poppler if poppler.is_there else None)

    def refusal(self, converter: Converter, task: Task) -> Reason:
        """Why a converter made nothing."""
        outcome = self.make(converter, task)
        assert isinstance(outcome, Failure), (task.name, outcome)
        assert not list(task.folder.iterdir()), task.name
        return outcome.reason


def text_by_poppler(path: Path) -> str | None:
    """The text of a PDF as another program reads it; None where there is no poppler."""
    return _answer(["pdftotext", "-layout", str(path), "-"])


def facts_by_poppler(path: Path) -> dict[str, str] | None:
    """What another program says of a PDF: pages, sizes, scripts; None where there is no poppler."""
    answer = _answer(["pdfinfo", str(path)])
    if answer is None:
        return None
    pairs = (line.partition(":") for line in answer.splitlines())
    return {name: value.strip() for name, _, value in pairs}


def _answer(command: list[str]) -> str | None:
    program = shutil.which(command[0])
    if program is None:
        return None
    completed = subprocess.run([program, *command[1:]], capture_output=True, timeout=PATIENCE_S, check=True)
    return completed.stdout.decode("utf-8")
