"""Puts the tools of a process together, as a site has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from noarkit.copies.converters.registry import converters, sandbox_of
from noarkit.copies.gates.as_delivered import check_as_delivered
from noarkit.copies.gates.registry import all_gates
from noarkit.copies.identity import Identifier
from noarkit.copies.inspection import inspect, words_of
from noarkit.copies.port import Failure, Finding, Gate, Product, Task
from noarkit.copies.settings import CopySettings
from noarkit.copies.toolbox import Toolbox
from noarkit.documents.poppler import Poppler


@contextmanager
def toolbox(settings: CopySettings) -> Iterator[Toolbox]:
    """The tools of one process. Raises `ConfigFault` where what identifies documents is not installed."""
    with Identifier() as identifier:
        gates = all_gates(identifier, words_of, verapdf=settings.program("verapdf"), poppler=second_reader(settings))

        def gates_for(task: Task) -> tuple[Gate, ...]:
            if task.target:
                return gates
            return (AsDeliveredGate(),) if "validate" in task.rule.options else ()

        yield Toolbox(identifier.identify, inspect, converters(settings), gates_for)


def second_reader(settings: CopySettings) -> Poppler | None:
    """Poppler, where it is there and may be run."""
    sandbox = sandbox_of(settings)
    poppler = Poppler(sandbox.bubblewrap)
    return poppler if poppler.is_there and (settings.isolation != "required" or sandbox.isolated) else None


class AsDeliveredGate:
    """What a rule asks of a document that is kept as it is."""

    name = "as-delivered"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """What a person should know, or why the document cannot be kept."""
        return check_as_delivered(product.path, str(task.rule.options["validate"]), task.identity.puid)
