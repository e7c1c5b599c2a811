"""Which sections a place has, beside the pages that every place has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from noarkit.catalogue.port import PlaceIdentity
from noarkit.loading.folder import RunFolder
from noarkit.reading_room.activity_section import ActivitySection, watching
from noarkit.reading_room.plan_section import PlanSection
from noarkit.reading_room.sections import Section


@contextmanager
def open_sections(place: PlaceIdentity, lang: str, zone: str) -> Iterator[Sequence[Section]]:
    """The sections that a place has, for as long as the room is open: of a run its plan, and what happens to it; of a
    package what happens to it. `lang` is that of the reports that they write, moments are told in `zone`."""
    path = Path(place.where)
    if place.kind == "run":
        yield (PlanSection(RunFolder(path), lang), ActivitySection(path, zone))
    elif place.kind in ("extract", "package", "database") and path.exists():
        with watching(path) as is_watched:
            yield (ActivitySection(path, zone),) if is_watched else ()
    else:
        yield ()
