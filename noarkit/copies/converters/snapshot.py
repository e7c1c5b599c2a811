"""The converter of what a service answered: JSON as a page that a person can read, every key and value of it.

Lists of alike things become tables, things within things are set in, moments stand as people write them beside how they
were delivered. Nothing is left out and nothing added.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping

import orjson

from noarkit.copies.converters.library import LibraryConverter
from noarkit.copies.converters.page_writer import write_pages
from noarkit.copies.port import Failure, Outcome, Task
from noarkit.copies.reasons import Reason
from noarkit.words.texts import Texts, texts

_MOST_BYTES = 32 * 1024 * 1024
_MOST_DEPTH = 60
_WIDEST_TABLE = 6
_PARTS_OF_KEY = re.compile(r"(?<=[a-zæøå0-9])(?=[A-ZÆØÅ])|[_\-.]+")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?\Z")
_STYLE = """
body { font: 10pt sans-serif }
h1 { font-size: 15pt }
table { border-collapse: collapse; width: 100%; margin: 1mm 0 3mm 0 }
th, td { text-align: left; vertical-align: top; padding: 1pt 6pt 1pt 0; border-bottom: .4pt solid #bbb }
table table { margin: 0 }
.raw { color: #555; font-size: 8pt }
"""


def make_snapshot(task: Task) -> Outcome:
    """A PDF/A of one answer."""
    size = task.source.stat().st_size
    if size > _MOST_BYTES:
        return Failure(Reason.TOO_LARGE, {"bytes": size, "limit": _MOST_BYTES})
    try:
        value = orjson.loads(task.source.read_bytes())
    except orjson.JSONDecodeError as error:
        return Failure(Reason.DAMAGED, {"at": error.pos})
    language = str(task.rule.options.get("language", "nb"))
    words = texts(language)
    try:
        body = "".join(_render(value, words, 0))
    except _TooDeep:
        return Failure(Reason.CONTENT_REFUSED, {"why": "nested"})
    title = html.escape(words.text("copies_page", "snapshot"))
    page = (
        f'<!DOCTYPE html><html lang="{language}"><head><title>{title}</title></head>'
        f"<body><h1>{title}</h1>{body}</body></html>"
    )
    return write_pages(task, page, style=_STYLE)


class _TooDeep(ValueError):
    """Things within things beyond what any page can show."""


def heading_of(key: str) -> str:
    """A key as a heading: `"opprettetDato"` is `"Opprettet dato"`, and `"x"` is `"X"`."""
    parts = [part for part in _PARTS_OF_KEY.split(key) if part]
    words = [part if part.isupper() and len(part) > 1 else part.lower() for part in parts]
    text = " ".join(words) or key
    return text[:1].upper() + text[1:]


def _render(value: object, words: Texts, depth: int) -> Iterator[str]:
    if depth > _MOST_DEPTH:
        raise _TooDeep
    if isinstance(value, Mapping):
        yield from _render_pairs(value, words, depth)
    elif isinstance(value, list):
        yield from _render_list(value, words, depth)
    else:
        yield _cell(value, words)


def _render_pairs(value: Mapping[str, object], words: Texts, depth: int) -> Iterator[str]:
    if not value:
        yield _cell(None, words)
        return
    yield "<table>"
    for key, inner in value.items():
        yield f"<tr><th>{html.escape(heading_of(key))}</th><td>"
        yield from _render(inner, words, depth + 1)
        yield "</td></tr>"
    yield "</table>"


def _render_list(value: list[object], words: Texts, depth: int) -> Iterator[str]:
    if not value:
        yield _cell(None, words)
        return
    keys = _columns(value)
    if keys:
        heads = "".join(f"<th>{html.escape(heading_of(key))}</th>" for key in keys)
        yield f"<table><thead><tr>{heads}</tr></thead>"
        for row in value:
            cells = [row.get(key) if isinstance(row, Mapping) else None for key in keys]
            yield "<tr>" + "".join(f"<td>{_cell(cell, words)}</td>" for cell in cells) + "</tr>"
        yield "</table>"
        return
    yield "<ol>"
    for inner in value:
        yield "<li>"
        yield from _render(inner, words, depth + 1)
        yield "</li>"
    yield "</ol>"


def _columns(rows: list[object]) -> list[str]:
    """The columns of a table, where all rows are flat and few keys name everything; none otherwise."""
    keys: dict[str, None] = {}
    for row in rows:
        if not isinstance(row, Mapping) or any(isinstance(cell, Mapping | list) for cell in row.values()):
            return []
        keys.update(dict.fromkeys(row))
    return list(keys) if len(keys) <= _WIDEST_TABLE else []


def _cell(value: object, words: Texts) -> str:
    if value is None or value == "":
        return html.escape(words.text("copies_page", "empty"))
    if isinstance(value, bool):
        return html.escape(words.text("copies_page", "yes" if value else "no"))
    text = str(value)
    moment = _MOMENT.match(text)
    if moment is None:
        return html.escape(text).replace("\n", "<br>")
    year, month, day = moment[1].split("-")
    return f'{day}.{month}.{year} {moment[2]} <span class="raw">({html.escape(text)})</span>'


SNAPSHOT = LibraryConverter("snapshot", ("weasyprint", "pikepdf"), make_snapshot, options=("language",))
