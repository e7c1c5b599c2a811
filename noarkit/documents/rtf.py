"""The text of Rich Text Format: what stands on its pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from noarkit.documents.refusal import DocumentRefused, Refusal

_MOST_BYTES = 256 * 1024 * 1024
_MOST_DEPTH = 4_000
_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)", re.DOTALL
)
_BRACE = re.compile(rb"\\.|[{}]", re.DOTALL)
# groups whose text is not on the page
_UNSEEN = frozenset(
    {"fonttbl", "colortbl", "stylesheet", "info", "pict", "object", "fldinst", "annotation", "atnid", "atnauthor"}
    | {"atndate", "listtable", "xmlnstbl", "rsidtbl", "listoverridetable", "generator", "themedata", "datastore"}
    | {"colorschememapping", "latentstyles", "bkmkstart", "bkmkend", "deleted", "pntext", "pnseclvl", "listtext"}
    | {"template", "revtbl", "headerf", "footerf", "filetbl"}
)
_SPACES = {
    **dict.fromkeys(("par", "line", "row", "page", "sect", "column"), "\n"),
    **dict.fromkeys(("tab", "cell"), "\t"),
    **dict.fromkeys(("emspace", "enspace"), " "),
}
_SIGNS = {"emdash": "—", "endash": "-", "lquote": "'", "rquote": "'", "ldblquote": '"', "rdblquote": '"', "bullet": " "}


def refuse_deep(content: bytes) -> None:
    """Raises `DocumentRefused` where groups lie in one another as in no honest document."""
    depth = 0
    for match in _BRACE.finditer(content):
        depth += {b"{": 1, b"}": -1}.get(match[0], 0)
        if depth > _MOST_DEPTH:
            raise DocumentRefused(Refusal.BOMB, depth=depth)


def rtf_text(path: Path) -> str:
    """The text of an RTF document with its paragraphs on lines of their own. Raises `DocumentRefused`."""
    content = rtf_content(path)
    refuse_deep(content)
    return "".join(_text(content))


def rtf_content(path: Path) -> bytes:
    """The bytes of an RTF document, which is held whole. Raises `DocumentRefused`."""
    if path.stat().st_size > _MOST_BYTES:
        raise DocumentRefused(Refusal.TOO_LARGE, bytes=path.stat().st_size)
    return path.read_bytes()


def _text(content: bytes) -> Iterator[str]:
    """The text on the pages, in its order, with what stands for words that only make room."""
    codec, skipped_after_unicode = "cp1252", 1
    unseen: list[bool] = [False]
    hidden: list[bool] = [False]
    skip = 0
    starred = False
    for match in _TOKEN.finditer(content):
        word, number, byte, sign, brace, plain = match.groups()
        if brace == b"{":
            if len(unseen) > _MOST_DEPTH:
                raise DocumentRefused(Refusal.BOMB, depth=len(unseen))
            unseen.append(unseen[-1])
            hidden.append(hidden[-1])
        elif brace == b"}" and len(unseen) > 1:
            unseen.pop()
            hidden.pop()
        elif word is not None:
            name, value = word.decode(), int(number) if number else None
            if name in _UNSEEN or starred:
                unseen[-1] = True
            starred = False
            if name == "ansicpg" and value:
                codec = _codec(value)
            elif name == "uc" and value is not None:
                skipped_after_unicode = value
            elif name == "v" or name == "plain":
                hidden[-1] = name == "v" and value != 0
            elif unseen[-1] or hidden[-1]:
                continue
            elif name == "u" and value is not None:
                yield chr(value & 0xFFFF)
                skip = skipped_after_unicode
            elif name in _SPACES:
                yield _SPACES[name]
            elif name in _SIGNS:
                yield _SIGNS[name]
        elif sign == b"*":
            starred = True
        elif unseen[-1] or hidden[-1]:
            continue
        elif byte is not None:
            if skip:
                skip -= 1
            else:
                yield bytes([int(byte, 16)]).decode(codec, "replace")
        elif sign is not None:
            yield {b"~": " ", b"_": "-"}.get(sign, sign.decode("latin-1") if sign in b"\\{}" else "")
        elif plain is not None:
            yield plain[skip:].decode(codec, "replace")
            skip = max(0, skip - len(plain))


def _codec(number: int) -> str:
    try:
        "".encode(f"cp{number}")
    except LookupError:
        return "cp1252"
    return f"cp{number}"
