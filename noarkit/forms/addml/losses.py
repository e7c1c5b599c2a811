"""What became of the files of a delivery when its tables were made, beside the rows: kept with the copy, line by line.

`file`    a file whose records are rows       `aside`  what could not be read, with its fault code
`damage`  a file with another checksum        `skip`   what was left out on purpose, or is kept as it stands
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TextIO

Outcome = Literal["file", "aside", "damage", "skip"]


@dataclass(frozen=True, slots=True)
class Loss:
    """One of them: its key, and the fault code or the reason."""

    outcome: Outcome
    key: str
    code: str = ""
    data: Mapping[str, object] = field(default_factory=dict)


class LossWriter:
    """Writes them to an open file; what was written since a mark can be taken back."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, loss: Loss) -> None:
        """One more."""
        self._file.write(json.dumps([loss.outcome, loss.key, loss.code, dict(loss.data)], ensure_ascii=True) + "\n")

    def mark(self) -> int:
        """Where the next will stand."""
        self._file.flush()
        return self._file.tell()

    def take_back(self, mark: int) -> None:
        """Forgets those behind a mark."""
        self._file.flush()
        self._file.seek(mark)
        self._file.truncate()


def losses_of(copy: Path) -> Path:
    """Where those of a copy are kept."""
    return copy.with_name(f"{copy.name}.losses")


def read_losses(copy: Path) -> Iterator[Loss]:
    """Those that were written with a copy."""
    with losses_of(copy).open(encoding="utf-8") as file:
        for line in file:
            outcome, key, code, data = json.loads(line)
            yield Loss(outcome, key, code, data)
