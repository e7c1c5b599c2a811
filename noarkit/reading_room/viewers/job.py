"""What the child is asked to do with one document, and how it says that it will not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from noarkit.reading_room.viewers.port import Detected, Note, Way

Task = Literal["show", "part", "thumbnail", "puid"]


class Refusal(Exception):
    """A document that is not shown: a code with its data, as a note."""

    def __init__(self, code: str, **data: str | int) -> None:
        super().__init__(code)
        self.note = Note(code, data)


@dataclass(frozen=True, slots=True)
class Job:
    """One document to be read. `number` is that of the document within it which is wanted."""

    task: Task
    path: str
    outputs: str
    page: int = 1
    sheet: int = 1
    way: Way = ""
    number: int = 0
    name: str = ""
    stated_type: str = ""

    @property
    def document(self) -> Path:
        """The document's bytes."""
        return Path(self.path)

    @property
    def folder(self) -> Path:
        """The folder that may be written."""
        return Path(self.outputs)


@dataclass(frozen=True, slots=True)
class Reading:
    """A job with what its document is."""

    job: Job
    detected: Detected
