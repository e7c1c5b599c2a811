"""What the browser plays, and what is only described and offered: nothing of it is read."""

from __future__ import annotations

from noarkit.reading_room.viewers.job import Reading
from noarkit.reading_room.viewers.port import Plain, Rendering


def show_media(reading: Reading) -> Rendering:
    """Sound or film, which the browser plays from the origin of contents."""
    return Rendering(reading.detected, Plain(), raw=True)


def show_facts(reading: Reading) -> Rendering:
    """A document that can only be taken out."""
    return Rendering(reading.detected, Plain())
