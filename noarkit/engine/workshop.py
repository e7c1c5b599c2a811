"""The tools of a worker on this machine, made anew in the process that uses them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from noarkit.archive.http import connect
from noarkit.archive.retry import Retrying
from noarkit.archive.settings import ArchiveSettings
from noarkit.graph.store import GraphStore
from noarkit.load.contents import Gate, OpenContent, no_gate
from noarkit.load.work import Bench


@dataclass(frozen=True, slots=True)
class LocalWorkshop:
    """Opens the archive, the plan and the source once for a worker's life."""

    graph: Path
    settings: ArchiveSettings
    open_content: OpenContent
    gate: Gate = no_gate

    @contextmanager
    def __call__(self) -> Iterator[Bench]:
        with closing(Retrying(connect(self.settings))) as archive, closing(GraphStore.open(self.graph)) as graph:
            yield Bench(archive, graph, self.open_content, self.gate)
