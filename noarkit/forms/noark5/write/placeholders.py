"""What is made up so that the form can hold what an archive lets stand: a class or folder for what has none,
and a change where there was none.

They are known again by their uuids, which are made of the uuid of what holds them, so that reading leaves them out.
"""

from __future__ import annotations

import uuid

CLASS_TITLE = "Uten klasse"
FOLDER_TITLE = "Registreringer uten mappe"
NO_CHANGES = "Ingen endringer er logget"
"""Who made the one change of a change log that says that there are none: it leaves the title as it was."""

_NAMESPACE = uuid.UUID("6f0d2c3a-6d4c-5a0e-9d55-7d1f2f5b8a10")


def placeholder_uuid(holder_uuid: str, what: str) -> str:
    """The uuid of a unit that is made up (`what` is its type), or of a further copy of one: the same each time."""
    return str(uuid.uuid5(_NAMESPACE, f"{holder_uuid}\n{what}"))
