"""A kind of document in the corpus: how one is written, and what must become of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scripts.copies_corpus.letters import Letter

EQUATIONS = "equations"
"""What is needed is LibreOffice with its part for equations."""
NO_FONT = "no font of "
"""What is needed is that no font has a character; its code follows."""
Write = Callable[[Letter], bytes]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of document, and what becomes of one where every tool is there: `made`, `kept`, `held` or `failed`.

    `held` are the findings that it waits for, `reason` is that of an outcome without a copy, `converter` makes the
    copy, where one is made. A kind that loses something names its good `twin`, `name.suffix` of the same without the
    loss.
    """

    name: str
    suffix: str
    write: Write
    state: str
    reason: str = ""
    converter: str = ""
    count: int = 8
    old: str = ""
    """What LibreOffice makes of what is written."""
    written_as: str = ""
    """The format that LibreOffice reads it in, where `old` alone does not say."""
    spoil: Callable[[bytes], bytes] | None = None
    """What is done to the bytes that LibreOffice made."""
    held: tuple[str, ...] = ()
    twin: str = ""
    is_ordinary: bool = False
    """Whether an office is full of such documents, so that they must get copies."""
    as_pages: bool = False
    """Whether a policy asks for pages of it that by the shipped one stays as it is."""
    needs: str = ""
    """A module that writes it, `EQUATIONS` or `NO_FONT`."""

    @property
    def title(self) -> str:
        """What the kind is called."""
        return f"{self.name}.{self.suffix}"
