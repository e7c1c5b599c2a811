"""The view of a document as HTML: a piece of a page that the room sets in its own, escaped, with no script or style.

Addresses of pages, sheets and documents within are the address of the document's own page with a query, which
`read_request` reads again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import get_args
from urllib.parse import urlencode

import jinja2
from markupsafe import Markup

from noarkit.reading_room.viewers.detection import formats
from noarkit.reading_room.viewers.port import (
    DEEPEST,
    Letter,
    Line,
    Lines,
    Members,
    Note,
    Pictures,
    Plain,
    Prose,
    Sheet,
    View,
    ViewRequest,
    Way,
)
from noarkit.words.texts import Texts, grouped, plain, texts

_BODIES = {
    Lines: "lines",
    Sheet: "sheet",
    Prose: "writing",
    Letter: "letter",
    Members: "members",
    Pictures: "pictures",
}
_WARNINGS = frozenset(
    {
        "type-differs",
        "name-differs",
        "not-isolated",
        "no-sandbox",
        "pdf-scripts",
        "pdf-launch",
        "pdf-forms",
        "pdf-files",
        "pdf-media",
    }
    | {"pdf-actions", "pdf-elsewhere", "pdf-unclear", "pdf-locked", "macros", "external-content", "scripts", "fault"}
    | {"damaged", "bomb", "password", "too-large", "too-many-pixels", "timed-out", "memory", "crashed", "output"}
    | {"no-answer", "nested", "too-deep", "mail-defective", "mail-not-taken-apart", "embedded-objects", "too-complex"}
)
_QUIET = frozenset({"size", "set-out", "drawn-anew"})
"""Notes that stand among the facts, or say what is no surprise."""
_LARGEST_NUMBER = 10**9
_ANYWAY = "anyway"


@dataclass(frozen=True, slots=True)
class ViewAddresses:
    """Where the page of a document is, and where the bytes of documents are had: the content origin's address up to
    the token (`http://127.0.0.1:8081/content/`)."""

    document: str
    content: str


@dataclass(frozen=True, slots=True)
class _NoteText:
    text: str
    is_warning: bool


def render_view(view: View, lang: str, addresses: ViewAddresses) -> Markup:
    """The piece of HTML that shows a document."""
    page = _Page(view, texts(lang), addresses)
    return Markup(_environment(lang).get_template("viewers/view.html").render(page.facts()))  # noqa: S704  # our template, which escapes


def read_request(query: Mapping[str, str]) -> ViewRequest:
    """What the query of an address asks for; what makes no sense is left out."""
    way = query.get("as", "")
    parts = [_number(word, 0) for word in query.get("part", "").split(".") if word][: DEEPEST + 1]
    ways: tuple[Way, ...] = get_args(Way)
    return ViewRequest(
        page=_number(query.get("page", ""), 1),
        sheet=_number(query.get("sheet", ""), 1),
        part=tuple(number for number in parts if number),
        way=ways[ways.index(way)] if way in ways else "",
        saves_anyway=query.get("save") == _ANYWAY,
    )


def query_of(request: ViewRequest) -> str:
    """The query of the address that asks for this, with its question mark; empty for the usual view."""
    pairs = {
        "part": ".".join(map(str, request.part)),
        "sheet": str(request.sheet) if request.sheet > 1 else "",
        "page": str(request.page) if request.page > 1 else "",
        "as": request.way,
        "save": _ANYWAY if request.saves_anyway else "",
    }
    words = urlencode({name: value for name, value in pairs.items() if value})
    return f"?{words}" if words else ""


def _number(word: str, otherwise: int) -> int:
    is_number = word.isascii() and word.isdigit() and len(word) < 10
    return int(word) if is_number and 0 < int(word) < _LARGEST_NUMBER else otherwise


@dataclass(frozen=True, slots=True)
class _Page:
    """What the template asks for of one view."""

    view: View
    texts: Texts
    addresses: ViewAddresses

    def facts(self) -> dict[str, object]:
        view = self.view
        attachments = len(view.body.attachments) if isinstance(view.body, Letter) else 0
        return {
            "view": view,
            "body": self._body(),
            "notes": list(self._notes()),
            "sizes": [self._sentence(note) for note in view.notes if note.code == "size"],
            "ways": list(self._ways()),
            "sheets": list(self._sheets()),
            "pager": self._pager(),
            "trail": self._address(ViewRequest(part=view.request.part[:-1])) if view.request.part else "",
            "differences": [
                {"by": self.texts.reason(each.statement.by), "stated": each.expected, "measured": each.measured}
                for each in view.differences
            ],
            "anyway": self._address(replace(view.request, saves_anyway=True)),
            "too_deep": len(view.request.part) >= DEEPEST,
            "is_long": isinstance(view.body, Lines | Sheet | Prose | Members) and view.pages != 1,
            "has_days": isinstance(view.body, Members) and any(member.day for member in view.body.members),
            "is_film": view.detected.media_type.startswith("video/"),
            "counted_attachments": self.texts.say("viewers.attachments", count=attachments),
            "content": lambda token: self.addresses.content + token,
            "part": lambda number: self._address(ViewRequest(part=(*view.request.part, number))),
        }

    def _address(self, request: ViewRequest) -> str:
        document, query = self.addresses.document, query_of(request)
        return document + (query.replace("?", "&", 1) if "?" in document else query)  # a veil is a query of its own

    def _body(self) -> str:
        if isinstance(self.view.body, Plain):
            return "raw" if self.view.raw else "nothing"
        return _BODIES[type(self.view.body)]

    def _notes(self) -> Iterator[_NoteText]:
        for note in self.view.notes:
            if note.code not in _QUIET:
                yield _NoteText(self._sentence(note), note.code in _WARNINGS)

    def _sentence(self, note: Note) -> str:
        data: dict[str, object] = {name: _shown_value(value) for name, value in note.data.items()}
        if note.code == "name-differs":
            data["detected"] = self.texts.say(f"viewers.format-{note.data.get('detected')}")
        for table in ("viewers_notes", "copies.finding"):
            keys = (*table.split("."), note.code)
            if self.texts.has(*keys):
                return self.texts.fill(self.texts.forms(*keys), data)
        return self.texts.fill(self.texts.forms("viewers_notes", "other"), {"code": note.code})

    def _ways(self) -> Iterator[dict[str, str]]:
        request = self.view.request
        others = [way for way in self.view.ways if way != request.way]
        if not others and not request.way:
            return
        usual = self._address(replace(request, way="", page=1))
        yield {"label": self.texts.say(f"viewers.way-{self.view.kind}"), "href": usual if request.way else ""}
        for way in dict.fromkeys((*others, request.way)):
            if way:
                href = "" if way == request.way else self._address(replace(request, way=way, page=1))
                yield {"label": self.texts.say(f"viewers.way-{way}"), "href": href}

    def _sheets(self) -> Iterator[dict[str, object]]:
        body = self.view.body
        names: tuple[Line, ...] = body.names if isinstance(body, Sheet) else ()
        for number, name in enumerate(names, start=1):
            href = self._address(ViewRequest(sheet=number, part=self.view.request.part))
            yield {"name": name, "href": href, "is_current": number == self.view.request.sheet}

    def _pager(self) -> dict[str, str]:
        view = self.view
        request = view.request
        keys = {"page": view.page, "pages": view.pages or None}
        return {
            "previous": self._address(replace(request, page=view.page - 1)) if view.page > 1 else "",
            "next": self._address(replace(request, page=view.page + 1)) if view.more else "",
            "place": self.texts.say("viewers.place", **keys),
        }


def _shown_value(value: str | int) -> object:
    return plain(value) if isinstance(value, str) else value


@cache
def _environment(lang: str) -> jinja2.Environment:
    words = texts(lang)
    types = {row.types[0]: name for name, row in formats().items()}

    def format_name(name: str) -> str:
        return words.say(f"viewers.format-{name}")

    def type_name(media_type: str) -> str:
        return format_name(types[media_type]) if media_type in types else media_type

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("noarkit.reading_room", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": lambda value: grouped(int(value)),
        "size": lambda value: words.size(int(value)).replace(" ", "\u00a0"),
    }
    globals_: Mapping[str, Callable[..., str]] = {"say": words.say, "format_name": format_name, "type_name": type_name}
    environment.globals |= globals_
    return environment
