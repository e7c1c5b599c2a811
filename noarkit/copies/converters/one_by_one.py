"""The ground of converters that take one document at a time, since a start costs them little or a page very much."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from noarkit.copies.port import Outcome, Task


class OneByOne(ABC):
    """Batches of one, and each task in its turn."""

    def batch_size(self, task: Task) -> int:
        """One: nothing is gained by more."""
        del task
        return 1

    def convert(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Outcome]]:
        """Each task in its turn."""
        for task in tasks:
            yield task, self.convert_one(task)

    @abstractmethod
    def convert_one(self, task: Task) -> Outcome:
        """What becomes of one document. Never raises for what it does."""
