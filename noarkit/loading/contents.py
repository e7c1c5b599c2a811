"""Uploads the contents of a chunk: gate, read, hash, upload, check that the source did not change meanwhile.

An upload that is too old to be safe, or whose fate is unknown, is forgotten and made again: the archive sweeps what
nothing refers to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from noarkit.archive.port import Archive
from noarkit.archive.values import Upload
from noarkit.errors import ArchiveRefused, ItemChanged, SourceFault
from noarkit.graph.entity import Content
from noarkit.records import PLACE_FAULTS, ContentStream
from noarkit.safe.digest import Readable, sha256_of_stream
from noarkit.safe.fixity import BY_PLAN, SHA256, differences, sha256_stated

TOO_OLD_S = 50 * 60
LARGE_BYTES = 8 * 1024 * 1024


OpenContent = Callable[[Content], AbstractContextManager[ContentStream]]
Gate = Callable[[Content, OpenContent], None]
UploadFault = SourceFault | ArchiveRefused


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file of the archive that no object refers to yet."""

    id: str
    sha256: str
    size_bytes: int
    at: float


def no_gate(content: Content, open_content: OpenContent, /) -> None:
    """Lets every content pass."""


class ContentUploader:
    """Uploads contents for one worker; remembers what it uploaded until it is linked."""

    def __init__(self, archive: Archive, open_content: OpenContent, now_s: Callable[[], float], gate: Gate) -> None:
        self._archive = archive
        self._open = open_content
        self._now_s = now_s
        self._gate = gate
        self._uploaded: dict[int, UploadedFile] = {}

    def upload_all(self, contents: Mapping[int, Content]) -> tuple[dict[int, UploadedFile], dict[int, UploadFault]]:
        """Every content as a file of the archive, or why it is none: its source's fault, or refused by the archive for
        what it is. Other archive faults are raised."""
        missing = {n: content for n, content in contents.items() if not self._is_fresh(n)}
        faults: dict[int, UploadFault] = {}
        # Hashing and sending large files releases the interpreter's lock, so two threads keep the wire busy. Small
        # files would only wait for each other; for those the processes do the work.
        large = [n for n, content in missing.items() if (content.size_bytes or 0) > LARGE_BYTES]
        if len(large) > 1:
            with ThreadPoolExecutor(2) as pool:
                outcomes = list(pool.map(lambda n: (n, self._try_upload(missing[n])), missing))
        else:
            outcomes = [(n, self._try_upload(content)) for n, content in missing.items()]
        for n, outcome in outcomes:
            if isinstance(outcome, UploadFault):
                faults[n] = outcome
            else:
                self._uploaded[n] = outcome
        return {n: self._uploaded[n] for n in contents if n in self._uploaded}, faults

    def is_stale(self, numbers: Iterable[int]) -> bool:
        """True if one of these was uploaded so long ago that the archive may delete it before it is linked."""
        return not all(self._is_fresh(n) for n in numbers)

    def forget(self, numbers: Iterable[int]) -> None:
        """Forgets uploads that are linked now, or whose fate is unknown, so that they are never linked again."""
        for n in numbers:
            self._uploaded.pop(n, None)

    def sha256(self, content: Content) -> str:
        """The sha256 of a content as it is now, read once."""
        with self._open(content) as stream:
            sha256 = sha256_of_stream(stream)
            if not stream.still_the_same():
                raise ItemChanged(key=content.locator, why="while-reading")
        return sha256

    def _is_fresh(self, n: int) -> bool:
        upload = self._uploaded.get(n)
        return upload is not None and self._now_s() - upload.at < TOO_OLD_S

    def _try_upload(self, content: Content) -> UploadedFile | UploadFault:
        try:
            return self._upload(content)
        # Faults of the whole place (a share that is gone) stop the run; taken item by item they would set everything
        # aside.
        except PLACE_FAULTS:
            raise
        except (SourceFault, ArchiveRefused) as fault:
            return fault

    def _upload(self, content: Content) -> UploadedFile:
        self._gate(content, self._open)
        # Age counts from before the upload: the archive's hour may begin with its first byte.
        began = self._now_s()
        still: list[bool] = []

        @contextmanager
        # The archive's client opens the content, perhaps more than once when it retries; each opening is checked, and
        # the last one counts, for its bytes are those that arrived.
        def open_checked() -> Iterator[Readable]:
            with self._open(content) as stream:
                yield stream
                still.append(stream.still_the_same())

        media_type = content.media_type or "application/octet-stream"
        uploaded = self._archive.upload(Upload(content.name, open_checked, content.size_bytes, media_type=media_type))
        if not still or not still[-1]:
            raise ItemChanged(key=content.locator, why="while-reading")
        # Invariant 8: the sum is of the bytes as they were sent, so a file swapped since the plan is never linked. The
        # upload that nothing refers to is swept by the archive.
        if differences(sha256_stated(content.sha256, BY_PLAN), {SHA256: uploaded.sha256}, uploaded.size_bytes):
            raise ItemChanged(key=content.locator, why="other-content")
        return UploadedFile(uploaded.id, uploaded.sha256, uploaded.size_bytes, began)
