"""The text of one document, by what its bytes are; its name and stated type decide only between kinds of text.

Everything here runs in a child that may be killed (`child`). Why a document has no text is told by a reason.
"""

from __future__ import annotations

from pathlib import Path

from noarkit.catalogue.text.decoding import MOST_BYTES, DocumentText, TextStretch, tidy_text
from noarkit.documents.layers import MOST_CHARACTERS, PLAIN, Layer, TextLine
from noarkit.documents.reading import TextRequest, text_lines
from noarkit.documents.refusal import DocumentRefused, Refusal

_NO_TEXT = "no-text"


def read_document(path: Path, name: str = "", media_type: str = "") -> DocumentText:
    """The text of a document, at most `MOST_CHARACTERS`; a reason where there is none. What a library raises on a
    document that is not what it seems passes through."""
    if path.stat().st_size > MOST_BYTES:
        return DocumentText("", Refusal.TOO_LARGE)
    gathering = _Gathering()
    reason = ""
    request = TextRequest("persons", note_gap=gathering.note_gap)
    try:
        for line in text_lines(path, name, media_type, request):
            gathering.add(line)
            if gathering.is_full:
                break
    except DocumentRefused as refused:
        reason = str(refused.reason)
    text, stretches = gathering.tidied()
    return DocumentText(
        text,
        reason or ("" if text else _NO_TEXT),
        is_cut=gathering.is_full,
        has_gaps=gathering.has_gaps,
        stretches=stretches,
    )


class _Gathering:
    """Text as it comes together, in stretches of one layer."""

    def __init__(self) -> None:
        self._stretches: list[tuple[Layer, list[str]]] = []
        self._doubles: list[str] = []
        self._length = 0
        self.has_gaps = False

    def note_gap(self) -> None:
        """A part of the document could not be read."""
        self.has_gaps = True

    @property
    def is_full(self) -> bool:
        """True where there is more than is kept."""
        return self._length > MOST_CHARACTERS

    def add(self, line: TextLine) -> None:
        """Takes some text. What stands in a document a second time goes to the end."""
        layer: Layer = "body" if line.layer in PLAIN else line.layer
        if layer == "fallback":
            self._doubles.append(line.text[:MOST_CHARACTERS])
            return
        if not self._stretches or self._stretches[-1][0] != layer:
            self._stretches.append((layer, []))
        text = line.text[: max(0, MOST_CHARACTERS - self._length)]
        self._stretches[-1][1].append(text)
        self._length += len(line.text)

    def tidied(self) -> tuple[str, tuple[TextStretch, ...]]:
        """The text as it is kept, and where it is of other layers than the body."""
        layer: Layer
        texts: list[str] = []
        stretches: list[TextStretch] = []
        at = 0
        doubles = "".join(self._doubles)[: max(0, MOST_CHARACTERS - self._length)]
        for layer, pieces in (*self._stretches, ("fallback", [doubles])):
            text = tidy_text("".join(pieces))
            if text:
                if layer != "body":
                    stretches.append(TextStretch(at, at + len(text), layer))
                texts.append(text)
                at += len(text) + 1
        return "\n".join(texts), tuple(stretches)
