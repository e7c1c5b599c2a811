"""Workers that are really killed, at a chosen call about a chosen source key: a worker factory around another.

A strike is `MOMENT KEY`. Each strikes once, in the order given, whichever worker comes to it; the files `strike-N` in
the folder of the run say which have.

    looking    before the query that asks for the key        sending    0.1 s after its transaction was sent, unanswered
    uploading  in the middle of the upload of its content    answered   after the answer, before anybody was told of it
    composed   before its transaction is sent
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from noarkit.archive.port import Archive
from noarkit.archive.values import (
    Action,
    Page,
    Query,
    Save,
    SavedObject,
    Upload,
    Uploaded,
)
from noarkit.loading.work import WorkerContext, WorkerFactory
from noarkit.safe.digest import Readable
from tests.archive.fakes import PassingArchive

MOMENTS = ("looking", "uploading", "composed", "sending", "answered")


@dataclass(frozen=True)
class StrikingFactory:
    """The workers of another factory, mortal."""

    workers: WorkerFactory
    strikes: tuple[str, ...]
    folder: Path

    @contextmanager
    def __call__(self) -> Iterator[WorkerContext]:
        with self.workers() as context:
            yield replace(context, archive=_MortalArchive(context.archive, self._is_struck))

    def _is_struck(self, moment: str, is_about: Callable[[str], bool]) -> bool:
        """True if the next strike is meant; from then on it has struck."""
        for place, strike in enumerate(self.strikes):
            mark = self.folder / f"strike-{place}"
            if mark.exists():
                continue
            wanted_moment, _, key = strike.partition(" ")
            if wanted_moment == moment and is_about(key):
                mark.touch(exist_ok=False)
                return True
            return False
        return False


class _MortalArchive(PassingArchive):
    def __init__(self, archive: Archive, is_struck: Callable[[str, Callable[[str], bool]], bool]) -> None:
        super().__init__(archive)
        self.is_struck = is_struck

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        keys = {str(action.fields.get("eksternID")) for action in actions if isinstance(action, Save)}

        def is_about(key: str) -> bool:
            return key in keys

        if self.is_struck("composed", is_about):
            _die()
        if self.is_struck("sending", is_about):
            threading.Timer(0.1, _die).start()
        saved_objects = super().transaction(actions)
        if self.is_struck("answered", is_about):
            _die()
        return saved_objects

    def query(self, query: Query) -> Page:
        if self.is_struck("looking", lambda key: key in query.parameters.values()):
            _die()
        return super().query(query)

    def upload(self, content: Upload) -> Uploaded:
        if self.is_struck("uploading", lambda key: key.endswith(content.name)):
            content = replace(content, open=_dying(content.open))
        return super().upload(content)


@dataclass
class _DyingStream:
    stream: Readable
    blocks: int = 0

    def read(self, size: int = -1, /) -> bytes:
        if self.blocks:
            _die()
        self.blocks += 1
        return self.stream.read(min(size, 100) if size > 0 else 100)


def _dying(opened: Callable[[], AbstractContextManager[Readable]]) -> Callable[[], AbstractContextManager[Readable]]:
    @contextmanager
    def dying() -> Iterator[Readable]:
        with opened() as stream:
            yield _DyingStream(stream)

    return dying


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()
