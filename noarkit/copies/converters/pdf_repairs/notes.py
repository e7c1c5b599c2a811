"""Annotations: those that play or hold something go and are told, those without an appearance get one."""

from __future__ import annotations

from typing import Any  # Any: objects of a PDF

from noarkit.copies.converters.pdf_repairs.forms import flatten, is_hidden
from noarkit.copies.converters.pdf_repairs.ledger import Ledger
from noarkit.copies.converters.pdf_repairs.lettering import Lettering
from noarkit.copies.converters.pdf_repairs.note_looks import note_look
from noarkit.copies.converters.pdf_repairs.objects import discard, is_dictionary, keep_notes, notes_of

_FORBIDDEN = frozenset(
    {"/3D", "/Sound", "/Movie", "/Screen", "/RichMedia", "/TrapNet", "/Projection", "/FileAttachment"}
)
_SHOWN_WITHOUT = frozenset({"/Link", "/Popup"})
_PRINTED = 4
_NOT_ALLOWED = 1 | 2 | 32 | 256
"""Invisible, hidden, never viewed, toggled by the pointer."""


def mend_notes(pdf: Any, ledger: Ledger) -> None:
    """Makes annotations such as PDF/A allows. Text that stands on the page itself becomes part of it."""
    lettering = Lettering(pdf)
    for page in pdf.pages:
        allowed = [note for note in notes_of(page) if _may_stay(note, ledger)]
        for note in allowed:
            _mend(pdf, note, lettering)
        keep_notes(page, allowed)
    flatten(pdf, "/FreeText")


def _may_stay(note: Any, ledger: Ledger) -> bool:
    kind = str(note.get("/Subtype", ""))
    if kind not in _FORBIDDEN and (kind == "/Popup" or not is_hidden(note)):
        return True
    ledger.removed[kind.lstrip("/")] += 1
    return False


def _mend(pdf: Any, note: Any, lettering: Lettering) -> None:
    import pikepdf

    if note.get("/Subtype") == "/Popup":
        discard(note, "/AP")
    note.F = (int(note.get("/F", 0)) | _PRINTED) & ~_NOT_ALLOWED

    look = _look_of(note)
    if look is None and note.get("/Subtype") not in _SHOWN_WITHOUT:
        look = note_look(pdf, note, lettering)
    if look is not None:
        note.AP = pikepdf.Dictionary(N=look)
        discard(note, "/AS")
    else:
        discard(note, "/AP")


def _look_of(note: Any) -> Any:
    """The appearance that an annotation has, in the state that it is in."""
    import pikepdf

    looks = note.get("/AP")
    look = looks.get("/N") if is_dictionary(looks) else None
    if isinstance(look, pikepdf.Dictionary) and not isinstance(look, pikepdf.Stream):
        look = look.get(str(note.get("/AS", "/Off")))
    return look if isinstance(look, pikepdf.Stream) else None
