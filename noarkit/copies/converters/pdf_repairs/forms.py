"""Fields of a form become part of the page: what they show stays, and nobody can fill them in any more."""

from __future__ import annotations

from typing import Any  # Any: objects of a PDF

from noarkit.copies.converters.pdf_repairs.field_looks import field_look, inherited
from noarkit.copies.converters.pdf_repairs.ledger import Ledger
from noarkit.copies.converters.pdf_repairs.lettering import Lettering
from noarkit.copies.converters.pdf_repairs.objects import discard, is_dictionary, keep_notes, notes_of

_HIDDEN = 1 | 2 | 32
"""Flags of what no reader shows: invisible, hidden, never viewed."""


def flatten_forms(pdf: Any, ledger: Ledger) -> None:
    """Draws every field into its page, and drops the form."""
    del ledger
    form = pdf.Root.get("/AcroForm")
    if is_dictionary(form):
        lettering = Lettering(pdf)
        anew = bool(form.get("/NeedAppearances", False))
        for page in pdf.pages:
            for field in notes_of(page):
                if field.get("/Subtype") == "/Widget" and not is_hidden(field):
                    _show(pdf, field, form, lettering, anew=anew)
    flatten(pdf, "/Widget")
    discard(pdf.Root, "/AcroForm", "/NeedsRendering")


def is_hidden(note: Any) -> bool:
    """True for an annotation that no reader shows."""
    return bool(int(note.get("/F", 0)) & _HIDDEN)


def flatten(pdf: Any, kind: str) -> None:
    """Draws the annotations of a kind into their pages, each with its appearance; those that are hidden go."""
    if not any(note.get("/Subtype") == kind for page in pdf.pages for note in notes_of(page)):
        return
    if is_dictionary(form := pdf.Root.get("/AcroForm")):
        discard(form, "/NeedAppearances")
    other_notes = []
    for page in pdf.pages:
        notes = notes_of(page)
        other_notes.append([note for note in notes if note.get("/Subtype") != kind])
        visible = [note for note in notes if note.get("/Subtype") == kind and not is_hidden(note) and _has_look(note)]
        keep_notes(page, visible)
    pdf.flatten_annotations("all")
    for page, notes in zip(pdf.pages, other_notes, strict=True):
        keep_notes(page, notes)


def _show(pdf: Any, field: Any, form: Any, lettering: Lettering, *, anew: bool) -> None:
    import pikepdf

    is_text = str(inherited(field, "/FT")) in ("/Tx", "/Ch")
    if not _has_look(field) or (anew and is_text):
        field.AP = pikepdf.Dictionary(N=field_look(pdf, field, form, lettering))


def _has_look(note: Any) -> bool:
    """True where an annotation has an appearance for the state that it is in."""
    import pikepdf

    looks = note.get("/AP")
    look = looks.get("/N") if is_dictionary(looks) else None
    if isinstance(look, pikepdf.Stream):
        return True
    return isinstance(look, pikepdf.Dictionary) and str(note.get("/AS", "/Off")) in look
