"""What runs: scripts and actions go, a link and a place to go to stay."""

from __future__ import annotations

from typing import Any  # Any: objects of a PDF

from noarkit.copies.converters.pdf_repairs.ledger import Ledger
from noarkit.copies.converters.pdf_repairs.objects import dictionaries, discard, is_dictionary

ALLOWED = frozenset({"/GoTo", "/GoToR", "/GoToE", "/Thread", "/URI", "/SubmitForm", "/Named"})
_NAMED = frozenset({"/NextPage", "/PrevPage", "/FirstPage", "/LastPage"})
_STARTED_BY_ITSELF = ("/AA", "/OpenAction")


def remove_actions(pdf: Any, ledger: Ledger) -> None:
    """Takes out whatever would run. A link to a place stays what it is."""
    del ledger
    names = pdf.Root.get("/Names")
    if is_dictionary(names):
        discard(names, "/JavaScript", "/AlternatePresentations", "/Renditions")
    for holder in dictionaries(pdf):
        discard(holder, "/AA")
        for key in ("/A", "/PA", "/Next"):
            _judge(holder, key)
    discard(pdf.Root, *_STARTED_BY_ITSELF)


def _judge(holder: Any, key: str) -> None:
    action = holder.get(key)
    if not is_dictionary(action) or "/S" not in action:
        return
    kind = str(action.get("/S"))
    if kind == "/SubmitForm" or kind not in ALLOWED or (kind == "/Named" and str(action.get("/N")) not in _NAMED):
        del holder[key]
