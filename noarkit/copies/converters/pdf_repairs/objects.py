"""Walks over the objects of a PDF, with the types that repairs ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any  # Any: objects of a PDF

_DEEPEST = 60


def dictionaries(pdf: Any) -> Iterator[Any]:
    """Every dictionary of a PDF: objects of its own, and those within others; the dictionaries of streams too."""
    import pikepdf

    waiting = [(item, 0) for item in pdf.objects]
    waiting.append((pdf.trailer, 0))
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, pikepdf.Dictionary | pikepdf.Stream):
            yield item
            values = [value for _, value in item.items()]
        elif isinstance(item, pikepdf.Array):
            values = list(item)
        else:
            continue
        if depth < _DEEPEST:
            waiting.extend((value, depth + 1) for value in values if is_direct_container(value))


def is_direct_container(value: Any) -> bool:
    """True for a dictionary or an array that stands within another object."""
    import pikepdf

    return isinstance(value, pikepdf.Dictionary | pikepdf.Array) and not value.is_indirect


def is_dictionary(value: Any) -> bool:
    """True for a dictionary, or for a stream, which has one."""
    import pikepdf

    return isinstance(value, pikepdf.Dictionary | pikepdf.Stream)


def discard(holder: Any, *keys: str) -> int:
    """Takes keys out of a dictionary; how many were there."""
    there = [key for key in keys if key in holder]
    for key in there:
        del holder[key]
    return len(there)


def notes_of(page: Any) -> list[Any]:
    """The annotations of a page that are dictionaries."""
    import pikepdf

    notes = page.obj.get("/Annots")
    return [note for note in notes if is_dictionary(note)] if isinstance(notes, pikepdf.Array) else []


def keep_notes(page: Any, notes: list[Any]) -> None:
    """Sets the annotations of a page; a page without any has no such key."""
    import pikepdf

    if notes:
        page.obj.Annots = pikepdf.Array(notes)
    else:
        discard(page.obj, "/Annots")


def number_of(value: Any, default: float = 0.0) -> float:
    """A number of a PDF as one of ours."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return default


def numbers_of(value: Any) -> list[float]:
    """The numbers of an array; empty for anything else."""
    import pikepdf

    return [number_of(item) for item in value] if isinstance(value, pikepdf.Array) else []


def rectangle(note: Any) -> tuple[float, float, float, float]:
    """Left, bottom, right and top of an annotation."""
    numbers = (numbers_of(note.get("/Rect")) + [0.0] * 4)[:4]
    x0, right = sorted((numbers[0], numbers[2]))
    bottom, top = sorted((numbers[1], numbers[3]))
    return x0, bottom, right, top


def content_of(stream: Any) -> bytes:
    """The bytes of a stream of content; none where they cannot be unpacked."""
    import pikepdf

    try:
        return bytes(stream.read_bytes())
    except (pikepdf.PdfError, ValueError):
        return b""


def contents_of(page: Any) -> bytes:
    """The content of a page."""
    import pikepdf

    contents = page.obj.get("/Contents")
    streams = contents if isinstance(contents, pikepdf.Array) else [contents]
    return b"\n".join(content_of(stream) for stream in streams if isinstance(stream, pikepdf.Stream))
