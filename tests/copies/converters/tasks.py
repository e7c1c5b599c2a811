"""Tasks for converters, each with a folder of its own; and what a test asks of the machine before it starts one."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from noarkit.copies.port import Converter, Finding, Identity, Outcome, Rule, Task
from noarkit.safe.sandbox import Limits, Sandbox
from tests.waiting import PATIENCE_S

needs_office = [
    pytest.mark.copies_tools,
    pytest.mark.skipif(shutil.which("soffice") is None, reason="no LibreOffice here: scripts/copies-tools"),
]
needs_bubblewrap = [
    pytest.mark.copies_tools,
    pytest.mark.skipif(not Sandbox().isolated, reason="bubblewrap is missing or refused: scripts/copies-tools"),
]


def make_task(
    source: Path,
    puid: str | None,
    *,
    target: str = "pdfa-2b",
    limits: Limits | None = None,
    findings: Sequence[Finding] = (),
    name: str | None = None,
) -> Task:
    """A task for one document."""
    folder = source.parent / "tasks" / f"{source.name}-{target}"
    folder.mkdir(parents=True)
    return Task(
        source=source,
        name=name or source.name,
        identity=Identity(puid, None, source.suffix[1:], "signature"),
        rule=Rule(name="office", match=(), action="derive", converters=("office",), target=target),
        target=target,
        folder=folder,
        limits=limits or Limits(cpu_s=30, wall_s=PATIENCE_S),
        findings=tuple(findings),
    )


def outcomes_of(converter: Converter, tasks: Sequence[Task]) -> dict[str, Outcome]:
    """What became of each document, by its name and target."""
    pairs = [(f"{task.source.name} {task.target}", outcome) for task, outcome in converter.convert(tasks)]
    assert len(pairs) == len(tasks) == len(dict(pairs))  # each once
    return dict(pairs)
