"""Views of documents: their bytes laid out, read in a child, and put together with what is to be told of them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from noarkit.documents.detect import LONG_HEAD_BYTES
from noarkit.reading_room.viewers.content import RAW_FORMATS, ContentFile, Tickets
from noarkit.reading_room.viewers.detection import detect, detected_as, differences, formats
from noarkit.reading_room.viewers.job import Job
from noarkit.reading_room.viewers.port import (
    DEEPEST,
    Answer,
    Detected,
    DocumentSource,
    Note,
    Picture,
    Pictures,
    Plain,
    Rendering,
    View,
    ViewRequest,
)
from noarkit.reading_room.viewers.signs import line_of, text_of
from noarkit.reading_room.viewers.workroom import LaidOut, Result, Workroom, WorkroomLimits, open_plain
from noarkit.safe.sandbox import Sandbox

_DRAWN = re.compile(r"(?:page|frame)-\d{1,9}\.png")
_MOST_SIDE = 20_000
_MOST_PICTURES = 20
_LONGEST_PUID = 200


class Viewer:
    """Shows documents, and hands out their bytes by tokens. Serves many threads; `close` leaves nothing behind."""

    def __init__(
        self, tickets: Tickets, *, sandbox: Sandbox | None = None, limits: WorkroomLimits | None = None
    ) -> None:
        self.tickets = tickets
        self._room = Workroom(sandbox, limits)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Removes the documents that lie here."""
        self._room.close()

    @property
    def room(self) -> Workroom:
        """Where the documents lie."""
        return self._room

    def view(
        self,
        source: DocumentSource,
        request: ViewRequest | None = None,
        *,
        session: str = "",
        lifetime_s: float | None = None,
    ) -> View:
        """What is shown of a document, or of one within it; its tokens are good for `lifetime_s`, where that is given.

        Whatever the bytes are, there is a view: what cannot be shown is told as a note, and offered as a download.
        Raises only what opening the document in its place raises.
        """
        return view_document(self, source, request or ViewRequest(), session=session, lifetime_s=lifetime_s)


def view_document(
    viewer: Viewer,
    source: DocumentSource,
    request: ViewRequest,
    *,
    session: str = "",
    lifetime_s: float | None = None,
) -> View:
    """What `Viewer.view` returns."""
    document = viewer.room.lay_out(source)
    name, stated_type, puid = source.name, source.stated_type, source.puid
    refused: Note | None = None
    for depth, number in enumerate(request.part, start=1):
        if depth > DEEPEST:
            refused = Note("too-deep", {"limit": DEEPEST})
            break
        part = viewer.room.lay_out_part(document, (source.key, *request.part[:depth]), number)
        if isinstance(part, Note):
            refused = part
            break
        document, name, stated_type, puid = part, part.name, "", ""
    if refused is not None:
        result = Result(Answer(None, refused), document.folder)
    else:
        result = viewer.room.read(document, Job("show", "", "", request.page, request.sheet, request.way))
    detected = result.answer.detected
    if not puid and refused is None and detected is not None and detected.kind == "facts":
        puid = _puid_of(viewer, document)
    return _Assembly(viewer, document, request, session, lifetime_s).view(result, name, stated_type, puid)


def _puid_of(viewer: Viewer, document: LaidOut) -> str:
    """What PRONOM calls a format that is not shown; empty where nobody knows, or the library is not installed."""
    if find_spec("pygfried") is None:
        return ""
    return text_of(line_of(viewer.room.read(document, Job("puid", "", "")).answer.puid, _LONGEST_PUID))


@dataclass(frozen=True, slots=True)
class _Assembly:
    """Puts a view together of what the child answered, which is taken for no more than it may say."""

    viewer: Viewer
    document: LaidOut
    request: ViewRequest
    session: str
    lifetime_s: float | None

    def view(self, result: Result, name: str, stated_type: str, puid: str) -> View:
        """The view of a document that is called `name`."""
        answer = result.answer
        rendering = answer.rendering or Rendering(answer.detected or self._detected(), Plain())
        detected = self._checked(answer.rendering.detected if answer.rendering else answer.detected)
        notes = [
            *([answer.refused] if answer.refused else []),
            *differences(detected, name, stated_type),
            *rendering.notes,
        ]
        if not self.viewer.room.isolated:
            notes.append(Note("not-isolated"))
        pictures = self._pictures(result.folder, rendering)
        has_body = answer.rendering is not None and (not isinstance(rendering.body, Pictures) or bool(pictures))
        return View(
            kind=detected.kind if has_body else "facts",
            detected=detected,
            name=line_of(name, 300),
            size_bytes=self.document.size_bytes,
            sha256=self.document.sha256,
            puid=puid,
            request=self.request,
            page=rendering.page,
            pages=rendering.pages,
            more=rendering.more,
            body=rendering.body if has_body else Plain(),
            notes=tuple(notes),
            pictures=pictures,
            raw=self._raw_token(rendering, detected),
            download=self._download(name),
            ways=rendering.ways,
            differences=self.document.differences,
            is_as_stated=bool(self.document.statements) and not self.document.differences,
        )

    def _download(self, name: str) -> str:
        """A token to save a copy by; none for bytes that are not the document, unless they are asked for by name."""
        if self.document.differences and not self.request.saves_anyway:
            return ""
        return self._token(self.document.path, name, is_download=True)

    def _detected(self) -> Detected:
        with os.fdopen(open_plain(self.document.path), "rb") as file:
            return detect(file.read(LONG_HEAD_BYTES), self.document.name, self.document.stated_type)

    def _checked(self, detected: Detected | None) -> Detected:
        """What the child says that a document is, if our table has such a format; else what its first bytes say."""
        if detected is None or detected.format not in formats():
            return self._detected()
        return detected_as(detected.format)

    def _pictures(self, folder: Path, rendering: Rendering) -> tuple[Picture, ...]:
        if not isinstance(rendering.body, Pictures):
            return ()
        return tuple(
            Picture(self._token(folder / drawn.file, ""), drawn.width, drawn.height, drawn.lines)
            for drawn in rendering.body.pictures[:_MOST_PICTURES]
            if _DRAWN.fullmatch(drawn.file) and 0 < drawn.width < _MOST_SIDE and 0 < drawn.height < _MOST_SIDE
        )

    def _raw_token(self, rendering: Rendering, detected: Detected) -> str:
        """A token for bytes that the browser may draw or play: their first bytes must say so to us as well."""
        if not rendering.raw or detected.format not in RAW_FORMATS or self._detected().format != detected.format:
            return ""
        return self._token(self.document.path, "")

    def _token(self, path: Path, name: str, *, is_download: bool = False) -> str:
        return self.viewer.tickets.issue(ContentFile(path, name, is_download), self.session, self.lifetime_s)
