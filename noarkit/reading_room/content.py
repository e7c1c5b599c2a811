"""Documents as the room shows them: views for our pages, and the second origin, which gives out their bytes.

The second origin has a port of its own, so that whatever a browser makes of a document never stands in the origin of
our pages. No cookie counts there: a token is good for one document, one user of this machine and one hour.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol

from markupsafe import Markup

from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.port import Document
from noarkit.reading_room.viewers.content import ContentRequest, ContentResponse, content_response
from noarkit.reading_room.viewers.pages import ViewAddresses, read_request, render_view
from noarkit.reading_room.viewers.port import DocumentSource, Plain
from noarkit.reading_room.viewers.thumbnails import Thumbnails, thumbnails_folder
from noarkit.reading_room.viewers.viewer import Viewer
from noarkit.reading_room.web import Answer, Request, text_answer

_ADDRESS = b"/content/"


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A document as a piece of a page; `is_legible` is False where that says no more than what the document is.
    `reading` is what a comparison of its bytes with all that is stated of them came to, just now."""

    piece: Markup
    is_legible: bool
    reading: Literal["as-stated", "differs", ""]


class _Blocks(Protocol):
    def __iter__(self) -> Iterator[bytes]: ...


class Contents:
    """Shows documents, and gives out their bytes at `origin` to pages of `pages_origin`. What lies in the viewer is of
    one `owner`: an account that shares the viewer neither sees what another has laid out, nor uses its tokens."""

    def __init__(
        self, catalogue: Catalogue, viewer: Viewer, origin: str, pages_origin: str, *, owner: str = ""
    ) -> None:
        self._owner = owner
        self._catalogue = catalogue
        self._viewer = viewer
        self._thumbnails = Thumbnails(thumbnails_folder(catalogue.path), viewer.room)
        self._origin = origin
        self._pages_origin = pages_origin

    def view(
        self, document: Document, request: Request, address: str, lang: str, *, lifetime_s: float | None = None
    ) -> ShownDocument:
        """A document as a piece of a page at `address`; the query of the request says which page of it, and how. Its
        bytes can be had for `lifetime_s`, where that is given.

        Raises what opening the document raises.
        """
        view_request = read_request(request.query if request.method != "POST" else {})
        view = self._viewer.view(
            self._source(document), view_request, session=self._session(request), lifetime_s=lifetime_s
        )
        is_legible = bool(view.raw) or not isinstance(view.body, Plain) or view.detected.format == "empty"
        reading: Literal["as-stated", "differs", ""] = "as-stated" if view.is_as_stated else ""
        piece = render_view(view, lang, ViewAddresses(address, self._origin + _ADDRESS.decode()))
        return ShownDocument(piece, is_legible, "differs" if view.differences else reading)

    def thumbnail(self, document: Document) -> bytes | None:
        """A small picture of a document, None where it has none. Raises what opening the document raises."""
        return self._thumbnails.picture(self._source(document), document.sha256, document.size_bytes)

    def answer(self, request: Request) -> Answer:
        """The bytes that a token is good for."""
        if not request.path.startswith(_ADDRESS):
            return text_answer(404, "There is nothing here.")
        token = request.path.removeprefix(_ADDRESS).decode("ascii")
        content_request = ContentRequest(
            self._session(request), self._pages_origin, request.method, request.headers.get("range")
        )
        response = content_response(self._viewer.tickets, token, content_request)
        headers = {name.lower(): value for name, value in response.headers.items()}
        media_type = headers.pop("content-type", "text/plain; charset=utf-8")
        chunks = None if response.blocks is None else _opened(response, response.blocks)
        return Answer(response.status, b"", media_type, tuple(headers.items()), chunks)

    def headers(self) -> tuple[tuple[str, str], ...]:
        """The headers of what is refused here."""
        policy = f"sandbox; default-src 'none'; frame-ancestors {self._pages_origin}"
        return (("content-security-policy", policy), ("cross-origin-resource-policy", "same-site"))

    def _session(self, request: Request) -> str:
        """What a token is bound to: the account, and the user at the other end, as far as the system says."""
        uid = "" if request.uid is None else str(request.uid)
        return f"{self._owner}\0{uid}" if self._owner else uid

    def _source(self, document: Document) -> DocumentSource:
        key = f"{self._owner}\0{document.ref}" if self._owner else document.ref
        return DocumentSource(
            *(key, lambda: self._catalogue.open(document), document.name, document.media_type, document.puid)
        )


@contextmanager
def _opened(response: ContentResponse, blocks: _Blocks) -> Iterator[Iterator[bytes]]:
    try:
        yield iter(blocks)
    finally:
        response.close()
