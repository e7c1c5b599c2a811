"""What a PDF would do if a browser or a reader were to open it, told by the names in all of its objects.

Two libraries can look: pikepdf where it is installed, else pypdf. What neither can look through is said to be unclear.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any  # Any: objects of a PDF

from noarkit.documents.pdf_pages import PdfUnreadable

_MOST_OBJECTS = 500_000
_ACTS = "/AA"
_ACTIVE = {
    "/JavaScript": "pdf-scripts",
    "/JS": "pdf-scripts",
    "/Launch": "pdf-launch",
    "/SubmitForm": "pdf-forms",
    "/ImportData": "pdf-forms",
    "/XFA": "pdf-forms",
    "/AcroForm": "pdf-forms",
    "/EmbeddedFile": "pdf-files",
    "/EmbeddedFiles": "pdf-files",
    "/GoToE": "pdf-files",
    "/GoToR": "pdf-elsewhere",
    "/RichMedia": "pdf-media",
    "/Rendition": "pdf-media",
    "/Movie": "pdf-media",
    "/3D": "pdf-media",
    _ACTS: "pdf-actions",
    "/URI": "pdf-links",
}
"""What the names in a PDF tell of it."""


def what_it_would_do(path: Path) -> Iterator[str]:
    """The codes of what the names in a PDF speak of; `pdf-unclear` where it cannot be looked through."""
    names = names_by_pikepdf if find_spec("pikepdf") is not None else names_by_pypdf
    try:
        for name in names(path):
            if name in _ACTIVE:
                yield _ACTIVE[name]
    except PdfUnreadable as error:
        yield "pdf-locked" if error.locked else "pdf-unclear"


def names_by_pikepdf(path: Path) -> Iterator[str]:
    """The names in a PDF as pikepdf reads it. Raises `PdfUnreadable`."""
    import pikepdf

    try:
        with pikepdf.open(path) as pdf:
            yield from _names_in(pdf.trailer)
            opening: Any = pdf.Root.get("/OpenAction")
            if isinstance(opening, pikepdf.Dictionary) and opening.get("/S") != pikepdf.Name.GoTo:
                yield _ACTS
            for number, entry in enumerate(pdf.objects):
                if number > _MOST_OBJECTS:
                    raise PdfUnreadable
                yield from _names_in(entry)
    except pikepdf.PasswordError as error:
        raise PdfUnreadable(locked=True) from error
    except (pikepdf.PdfError, ValueError, TypeError, LookupError, AttributeError, RuntimeError) as error:
        raise PdfUnreadable from error


def _names_in(entry: Any) -> Iterator[str]:
    """The names in an object, as keys or values, down to other objects of their own."""
    import pikepdf

    waiting = [entry]
    while waiting:
        value = waiting.pop()
        if isinstance(value, pikepdf.Stream | pikepdf.Dictionary):
            for key in value.keys():  # noqa: SIM118  # the library's dictionaries are iterated by keys alone
                yield str(key)
                waiting.append(_direct(value.get(key)))
        elif isinstance(value, pikepdf.Array):
            waiting.extend(_direct(child) for child in value)
        elif isinstance(value, pikepdf.Name):
            yield str(value)


def _direct(value: Any) -> Any:
    """A value that stands here; those with a place of their own are met there."""
    return None if getattr(value, "is_indirect", False) else value


def names_by_pypdf(path: Path) -> Iterator[str]:
    """The names in a PDF as pypdf reads it. Raises `PdfUnreadable`."""
    import pypdf
    from pypdf.errors import PyPdfError
    from pypdf.generic import DictionaryObject, IndirectObject

    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise PdfUnreadable(locked=True)
        numbers = [number for numbers in reader.xref.values() for number in numbers]
        numbers += list(reader.xref_objStm)
        if len(numbers) > _MOST_OBJECTS:
            raise PdfUnreadable
        yield from _names_in_pypdf(reader.trailer)
        opening = reader.root_object.get("/OpenAction")
        opening = opening.get_object() if opening is not None else None
        if isinstance(opening, DictionaryObject) and opening.get("/S") != "/GoTo":
            yield _ACTS
        for number in numbers:
            yield from _names_in_pypdf(reader.get_object(IndirectObject(number, 0, reader)))
    except (PyPdfError, ValueError, TypeError, LookupError, AttributeError, RecursionError, OSError) as error:
        if isinstance(error, PdfUnreadable):
            raise
        raise PdfUnreadable from error


def _names_in_pypdf(entry: object) -> Iterator[str]:
    from pypdf.generic import ArrayObject, DictionaryObject, NameObject

    waiting = [entry]
    while waiting:
        value = waiting.pop()
        if isinstance(value, DictionaryObject):
            for key in value:
                yield str(key)
                waiting.append(value.raw_get(key))
        elif isinstance(value, ArrayObject):
            waiting.extend(list.__iter__(value))
        elif isinstance(value, NameObject):
            yield str(value)
