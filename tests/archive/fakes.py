"""Archives of plain Python: one that does what a script says, one that holds pages, one that passes on to another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from noarkit.archive.port import Archive
from noarkit.archive.values import (
    Action,
    Call,
    Downloaded,
    Json,
    Page,
    Query,
    Rendition,
    SavedObject,
    Upload,
    Uploaded,
)
from noarkit.errors import ArchiveRefused

T = TypeVar("T")


@dataclass
class FakeArchive:
    """Does what `acts` says, call after call: an exception is raised, anything else is the moment to succeed.

    It keeps what it was asked, by name; `answers` says what other calls are answered.
    """

    acts: list[Exception | None] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    answers: list[Json] = field(default_factory=list)
    before: Callable[[], None] = lambda: None
    closed: bool = False

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        """Nothing is saved."""
        self._act("transaction")
        return {}

    def query(self, query: Query) -> Page:
        """Nothing is found."""
        self._act("query")
        return Page((), False)

    def upload(self, content: Upload) -> Uploaded:
        """Reads and forgets."""
        self._act("upload")
        return Uploaded("1", "", content.size_bytes or 0)

    def download(
        self,
        file_id: str,
        target: Path,
        *,
        rendition: Rendition = "original",
        expected_sha256: str | None = None,
        durable: bool = True,
    ) -> Downloaded:
        """Writes nothing."""
        self._act("download")
        return Downloaded(target, expected_sha256 or "", 0, rendition, str(durable))

    def call(self, call: Call) -> Json:
        """The next answer."""
        self.calls.append(call)
        self._act(call.name)
        return self.answers.pop(0) if self.answers else None

    def close(self) -> None:
        """Remembers it."""
        self.closed = True

    def _act(self, name: str) -> None:
        self.asked.append(name)
        self.before()
        act = self.acts.pop(0) if self.acts else None
        if act is not None:
            raise act


@dataclass
class Shelf(FakeArchive):
    """Answers queries from `ids`, in order; knows ranges of ids unless told otherwise."""

    ids: list[int] = field(default_factory=list)
    knows_ranges: bool = True
    queries: list[Query] = field(default_factory=list)

    def query(self, query: Query) -> Page:
        """A page of the ids after `@after`, or from the offset on."""
        self.queries.append(query)
        after = query.parameters.get("@after")
        if after is not None and not self.knows_ranges:
            raise ArchiveRefused(call="query", status=400)
        fitting = [one for one in self.ids if not isinstance(after, int) or one > after]
        page = fitting[query.offset : query.offset + query.limit]
        found = tuple(SavedObject("Mappe", str(one), "1", {}, {}) for one in page)
        return Page(found, query.offset + query.limit < len(fitting))


class PassingArchive:
    """Passes each call on to another archive; whoever derives from it says what happens on the way."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        """Passed on."""
        return self._step("transaction", lambda: self.archive.transaction(actions))

    def query(self, query: Query) -> Page:
        """Passed on."""
        return self._step("query", lambda: self.archive.query(query))

    def upload(self, content: Upload) -> Uploaded:
        """Passed on."""
        return self._step("upload", lambda: self.archive.upload(content))

    def download(
        self,
        file_id: str,
        target: Path,
        *,
        rendition: Rendition = "original",
        expected_sha256: str | None = None,
        durable: bool = True,
    ) -> Downloaded:
        """Passed on."""
        return self._step(
            "download",
            lambda: self.archive.download(
                file_id, target, rendition=rendition, expected_sha256=expected_sha256, durable=durable
            ),
        )

    def call(self, call: Call) -> Json:
        """Passed on."""
        return self._step("call", lambda: self.archive.call(call))

    def close(self) -> None:
        """Closes the other one."""
        self.archive.close()

    def _step(self, port: str, act: Callable[[], T]) -> T:
        return act()
