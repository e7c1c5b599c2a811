"""What the pages of a PDF draw beside text: pictures and drawings by their operators, links by their annotations.

A picture counts where a page draws it, not where it only lies in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple  # Any: objects of pikepdf

from noarkit.documents.pdf_pages import PdfUnreadable

_PAINTS = frozenset({"f", "F", "f*", "S", "s", "B", "B*", "b", "b*", "sh"})
_PARTS = frozenset({"BT", "BDC", "BMC", "EMC", "Do", "INLINE IMAGE"})
"""Operators between which lines and areas are one drawing."""
_DEEPEST = 12
_MOST_FORMS = 2_000


class DrawnPicture(NamedTuple):
    """A picture of a PDF: which one it is, and its size in pixels."""

    name: str
    size: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class DrawnPage:
    """What a page draws: the pictures, each as often as it is drawn, and how many drawings."""

    pictures: list[DrawnPicture] = field(default_factory=list)
    drawings: int = 0


@dataclass(frozen=True, slots=True)
class PdfDrawings:
    """What an open PDF draws and links to."""

    _pdf: Any

    @property
    def page_count(self) -> int:
        """How many pages there are."""
        return len(self._pdf.pages)

    @property
    def layer_count(self) -> int:
        """How many layers a reader can show and hide."""
        layers = self._pdf.Root.get("/OCProperties", {}).get("/OCGs", ())
        return len(layers)

    def pages(self) -> Iterator[DrawnPage]:
        """What each page draws."""
        for page in self._pdf.pages:
            drawings = DrawnPage()
            _Walk(drawings).take(page.obj, page.obj.get("/Resources"), 0)
            yield drawings

    def addresses(self) -> Iterator[str]:
        """The addresses that a reader can follow."""
        for page in self._pdf.pages:
            for annotation in page.obj.get("/Annots", ()):
                action = annotation.get("/A")
                if action is not None and "/URI" in action:
                    yield str(action.URI)


@contextmanager
def open_drawings(path: Path) -> Iterator[PdfDrawings]:
    """Opens a PDF as long as a block lasts. Raises `PdfUnreadable`."""
    import pikepdf

    try:
        with pikepdf.open(path) as pdf:
            yield PdfDrawings(pdf)
    except (pikepdf.PdfError, pikepdf.PasswordError) as error:
        raise PdfUnreadable(locked=isinstance(error, pikepdf.PasswordError)) from error


class _Walk:
    """Goes through the operators of a page, and of the forms that it draws."""

    def __init__(self, page: DrawnPage) -> None:
        self._page = page
        self._forms = 0
        self._is_drawing = False

    def take(self, stream: Any, resources: Any, depth: int) -> None:
        """Counts what a page or form draws."""
        import pikepdf

        for instruction in pikepdf.parse_content_stream(stream):
            name, operands = str(instruction.operator), instruction.operands
            if name in _PAINTS:
                self._page.drawings += not self._is_drawing
                self._is_drawing = True
            elif name in _PARTS:
                self._is_drawing = False
                if name == "INLINE IMAGE":
                    self._page.pictures.append(DrawnPicture(f"inline {len(self._page.pictures)}"))
                elif name == "Do":
                    self._draw(_resource(resources, "/XObject", operands), resources, depth)
            elif name in ("scn", "SCN"):
                self._tile(_resource(resources, "/Pattern", operands), depth)

    def _draw(self, shape: Any, resources: Any, depth: int) -> None:
        if shape is None:
            return
        if shape.get("/Subtype") == "/Image":
            size = int(shape.get("/Width", 0)), int(shape.get("/Height", 0))
            self._page.pictures.append(DrawnPicture(str(shape.objgen), size))
        elif shape.get("/Subtype") == "/Form" and depth < _DEEPEST and self._forms < _MOST_FORMS:
            self._forms += 1
            self.take(shape, shape.get("/Resources", resources), depth + 1)

    def _tile(self, pattern: Any, depth: int) -> None:
        """A pattern that areas are filled with is drawn as a form is."""
        if pattern is not None and pattern.get("/PatternType") == 1 and depth < _DEEPEST and self._forms < _MOST_FORMS:
            self._forms += 1
            self.take(pattern, pattern.get("/Resources"), depth + 1)


def _resource(resources: Any, kind: str, operands: Any) -> Any:
    """What a page calls by the name in its last operand; None where there is none of that name."""
    name = str(operands[-1]) if len(operands) else ""
    if resources is None or not name.startswith("/"):
        return None
    return resources.get(kind, {}).get(name)
