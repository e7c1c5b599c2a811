"""Slips of form that no reader minds and the standard does: a trailer without its size, values of another type, keys
that draw nothing."""

from __future__ import annotations

from typing import Any  # Any: objects of a PDF

from noarkit.copies.converters.pdf_repairs.ledger import Ledger
from noarkit.copies.converters.pdf_repairs.objects import dictionaries, discard

# nothing on a page changes without them
_DRAWS_NOTHING = (
    *("/OPI", "/Alternates", "/TR", "/TR2", "/HTP", "/Interpolate", "/PresSteps", "/Trans", "/PieceInfo"),
    *("/JT", "/Thumb", "/HT", "/BG", "/BG2", "/UCR", "/UCR2", "/CharSet", "/CIDSet", "/LastModified"),
)
_OF_THE_ROOT = ("/Perms", "/DSS", "/Requirements", "/Collection", "/SpiderInfo", "/Legal", "/Threads")
_OF_TRAILER = ("/DocChecksum",)
_WRITTEN_DIRECT = {
    "/URI",
    "/Marked",
    "/Suspects",
    "/UserProperties",
    "/Count",
    "/F",
    "/Title",
    "/Nums",
    "/St",
    "/P",
    "/PageLabels",
}
_EMPTY_RESOURCES = ("/Pattern", "/Shading", "/XObject", "/ExtGState", "/ColorSpace", "/Properties", "/Font", "/ProcSet")


def mend_structure(pdf: Any, ledger: Ledger) -> None:
    """Mends the form of a document."""
    del ledger
    discard(pdf.trailer, *_OF_TRAILER)
    discard(pdf.Root, *_OF_THE_ROOT)
    name_tab_orders(pdf)
    for holder in dictionaries(pdf):
        _take_out(pdf, holder)
        _write_direct(holder)
    if "/PageLabels" in pdf.Root:
        _make_direct(pdf.Root, "/PageLabels")


def name_tab_orders(pdf: Any) -> None:
    """LibreOffice writes the order of the tabs of a page that has links as a text, where a name is meant: so on every
    page with a footnote."""
    import pikepdf

    for page in pdf.pages:
        if isinstance(order := page.obj.get("/Tabs"), pikepdf.String):
            page.obj.Tabs = pikepdf.Name("/" + str(order))


def _take_out(pdf: Any, holder: Any) -> None:
    import pikepdf

    kind = holder.get("/Type")
    if kind == "/OCG" or holder.get("/S") == "/Transparency":
        return
    discard(holder, *(key for key in _DRAWS_NOTHING if not (key == "/Trans" and kind not in ("/Page", None))))
    if holder != pdf.Root and "/Metadata" in holder and kind != "/Catalog":
        del holder["/Metadata"]
    resources = holder.get("/Resources")
    if isinstance(resources, pikepdf.Dictionary):
        for key in _EMPTY_RESOURCES:
            inner = resources.get(key)
            if isinstance(inner, pikepdf.Dictionary | pikepdf.Array) and not len(inner):
                del resources[key]


def _write_direct(holder: Any) -> None:
    """Scalars that stand in objects of their own come to where they are read."""
    import pikepdf

    for key, value in list(holder.items()):
        if key in _WRITTEN_DIRECT and getattr(value, "is_indirect", False) and not _is_container(value):
            holder[key] = _copied(pikepdf, value)


def _make_direct(holder: Any, key: str) -> None:
    import pikepdf

    tree = holder[key]
    if isinstance(tree, pikepdf.Dictionary) and tree.is_indirect and "/Kids" not in tree:
        holder[key] = pikepdf.Dictionary(dict(tree.items()))


def _is_container(value: Any) -> bool:
    import pikepdf

    return isinstance(value, pikepdf.Dictionary | pikepdf.Array | pikepdf.Stream)


def _copied(pikepdf: Any, value: Any) -> Any:
    return pikepdf.String(bytes(value)) if isinstance(value, pikepdf.String) else value
