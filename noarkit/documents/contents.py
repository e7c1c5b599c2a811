"""What a document holds beside its words, counted: pictures, drawings, equations, objects, slides, links, attachments.

Nothing here draws a page: whoever holds a copy against its original counts both, and this is the count of either.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from noarkit.documents.embedded_pictures import examine_picture

ContentKind = Literal["slides", "pictures", "drawings", "equations", "objects", "links", "attachments"]
"""`"pictures"` are made of pixels, `"drawings"` of lines; `"objects"` are charts, diagrams and whole documents that are
drawn on a page."""


@dataclass(slots=True)
class Contents:
    """What a document holds, by kind: what tells one thing of a kind from another, and how often it is there. Of a
    picture that is a digest of its pixels, of an equation its letters, of an object its words, of a link its address.

    `slides` are the pictures on each slide of a presentation, `sizes` those of all pictures in pixels. `unreadable`
    names pictures that nobody can decode or that draw nothing, `missing` parts that are referred to and not there,
    `unread` parts with text that nobody here can read, `previewed` the words of objects that have a picture of
    themselves, which may be drawn in their place. `uncounted` are kinds of which there may be any number.
    """

    items: dict[ContentKind, Counter[str]] = field(default_factory=dict)
    slides: list[int] = field(default_factory=list)
    sizes: set[tuple[int, int]] = field(default_factory=set)
    unreadable: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    previewed: set[str] = field(default_factory=set)
    uncounted: tuple[ContentKind, ...] = ()

    def add(self, kind: ContentKind, item: str = "") -> None:
        """Counts one thing."""
        self.items.setdefault(kind, Counter())[item] += 1

    def count(self, kind: ContentKind) -> int:
        """How many things of a kind there are."""
        return self.items.get(kind, Counter()).total()

    def add_picture(self, name: str, content: bytes) -> bool:
        """Counts a picture by its bytes, or names it where nobody can decode it; True for one made of pixels."""
        picture = examine_picture(content)
        if picture.kind:
            self.add(picture.kind, picture.digest)
            self.sizes.add(picture.size)
        elif name not in self.unreadable:
            self.unreadable.append(name)
        return picture.kind == "pictures"
