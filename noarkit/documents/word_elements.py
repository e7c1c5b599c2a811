"""The elements of Word's XML, whichever of its two names of the space they bear, as what reads a part sees them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

_W = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main}",
    "http://purl.oclc.org/ooxml/wordprocessingml/main}",
)
_FALLBACK = "http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_OF_OTHERS = {
    **dict.fromkeys(("/math}t", "/drawingml/2006/main}t", "/drawingml/main}t"), "otherText"),
    **dict.fromkeys(("/drawingml/2006/main}p", "/drawingml/main}p"), "otherParagraph"),
}
"""Text of formulas and drawings within the text."""
_OFF = frozenset({"0", "false", "off"})
Begin = Callable[[Mapping[str, str]], None]
End = Callable[[], None]


def _local(name: str) -> str:
    """The local name of an element of Word; of others what it is here, and empty where it is nothing."""
    space, _, local = name.rpartition("}")
    if f"{space}}}" in _W:
        return local
    if name == _FALLBACK:
        return "Fallback"
    return next((here for suffix, here in _OF_OTHERS.items() if name.endswith(suffix)), "")


def attribute(attributes: Mapping[str, str], local: str, default: str = "") -> str:
    """An attribute by its local name."""
    return next((attributes[space + local] for space in _W if space + local in attributes), default)


def is_on(attributes: Mapping[str, str]) -> bool:
    """Whether a property that is on or off is on: it is where it says nothing."""
    return attribute(attributes, "val", "1").lower() not in _OFF


class WordHandler:
    """What reads a part: knows which elements are open, and what is done where one begins or ends."""

    def __init__(self) -> None:
        self._open: list[tuple[str, Begin | None, End | None]] = []
        self._known: dict[str, tuple[str, Begin | None, End | None]] = {}
        """What an element is here, by its whole name: most are nothing, and are passed by quickly."""
        self._begins, self._ends = self._beginnings(), self._endings()

    @property
    def depth(self) -> int:
        """How many elements are open."""
        return len(self._open)

    def place(self, line: Callable[[], int], /) -> None:
        """Lines are of no interest."""

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        """An element begins."""
        entry = self._known.get(name)
        if entry is None:
            local = _local(name)
            entry = self._known[name] = local, self._begins.get(local), self._ends.get(local)
        if (begin := entry[1]) is not None:
            begin(attributes)
        self._open.append(entry)

    def end(self, name: str, /) -> None:
        """It ends."""
        if (end := self._open.pop()[2]) is not None:
            end()

    def data(self, text: str, /) -> None:
        """Some text."""

    def _beginnings(self) -> Mapping[str, Begin]:
        return {}

    def _endings(self) -> Mapping[str, End]:
        return {}
