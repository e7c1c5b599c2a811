"""Every repair, in order: what is drawn anew comes before the fonts, so that its text is embedded too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any  # Any: objects of a PDF

from noarkit.copies.converters.pdf_repairs.actions import remove_actions
from noarkit.copies.converters.pdf_repairs.cid_widths import mend_widths
from noarkit.copies.converters.pdf_repairs.colours import name_profiles
from noarkit.copies.converters.pdf_repairs.fonts import embed_fonts
from noarkit.copies.converters.pdf_repairs.forms import flatten_forms
from noarkit.copies.converters.pdf_repairs.layers import mend_layers
from noarkit.copies.converters.pdf_repairs.ledger import Ledger
from noarkit.copies.converters.pdf_repairs.notes import mend_notes
from noarkit.copies.converters.pdf_repairs.resources import drop_unused
from noarkit.copies.converters.pdf_repairs.structure import mend_structure

REPAIRS: tuple[Callable[[Any, Ledger], None], ...] = (
    flatten_forms,
    remove_actions,
    mend_notes,
    mend_layers,
    mend_widths,
    embed_fonts,
    drop_unused,
    name_profiles,
    mend_structure,
)


def repair_pdf(pdf: Any) -> Ledger:
    """Repairs an open PDF in memory; what was done. Raises `RepairRefused`."""
    ledger = Ledger()
    for repair in REPAIRS:
        repair(pdf, ledger)
    return ledger
