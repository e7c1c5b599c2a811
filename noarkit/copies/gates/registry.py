"""The gates of a task, cheapest first. A new one is a line here."""

from __future__ import annotations

from noarkit.copies.gates.text import TextGate
from noarkit.copies.port import Gate, Task
from noarkit.copies.settings import CopySettings


def gates_for(task: Task, settings: CopySettings) -> tuple[Gate, ...]:
    """What the result of a task must pass; for a document that is kept (no target), what it must itself."""
    del settings
    if task.target == "utf-8":
        return (TextGate(),)
    return ()
