"""What noarkit itself leaves in an archive, by name: what others find again, years later, by these very texts.

Each stands in archives already. One that is changed is found no more: a run then sends again what it sent, takes the
archive for another, or delivers our own marks as if they were somebody's records. `tests/frozen` has a run and an
archive as they were written, which must be resumed, verified and taken back by every later version.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import NAMESPACE_URL, uuid5

from noarkit.model.conversions import Purpose

OWN_SYSTEMS = "noarkit:"
"""How the external systems begin that are our own: no archivist's keys, and no part of a delivery; a package may not
bring such."""
CHUNK_ANCHORS = f"{OWN_SYSTEMS}chunk"
"""The external system of chunk anchors: `eksternID` names the plan and the chunk."""
COPIES = f"{OWN_SYSTEMS}copies"
"""The external system of archival copies that were added to what was archived before."""
DERIVED_FROM = f"{OWN_SYSTEMS}derived-from"
"""The external system that names what a copy was made of: the id is `sha256:` and the checksum of that."""
ACCESS_COPY_OF = f"{OWN_SYSTEMS}access-copy-of"
"""The same of a copy for reading, which never stands for its original."""
ORIGIN_MARKS: Mapping[Purpose, str] = {"archive": DERIVED_FROM, "access": ACCESS_COPY_OF}
"""The external systems of copies by their purpose: the only marks of ours that tell of documents."""
MARKER_TITLE = "noarkit: run guards (not part of any series)"
"""The classification system whose uuid is the archive's identity; the guards of shards are classes below it."""
PROBE_TITLE = "noarkit: probe (not part of any series)"
"""What a probe writes and finds again."""
ESTIMATE_CLASS = "noarkit: estimate"
"""How the classes begin that an estimate is measured with."""

USUAL_UNIT = "ADM"
"""The unit that is responsible for case files of which nobody named one: a code that every archive of ours has."""

USUAL_SCREENING = ("UO13", "UO14", "UO15", "UO20", "UO21", "UO23", "UO24", "UO25", "UO26")
"""The codes of screening that every archive of ours has, each by its paragraph of offentleglova."""


def uuid_of_mark(name: str) -> str:
    """The uuid of a probe or guard: made from its name, like every other."""
    return str(uuid5(NAMESPACE_URL, f"{OWN_SYSTEMS}{name}"))
