"""Finds the extract in a folder: at its root, in its `content`, or one folder further down."""

from __future__ import annotations

from pathlib import Path

from noarkit.packages.noark5.spec import STRUCTURE

_STRUCTURE_FILE = f"{STRUCTURE}.xml"


def extract_root(folder: Path) -> Path | None:
    """The folder that holds arkivstruktur.xml; None where there is none, or where several would do."""
    for place in (folder, folder / "content"):
        if (place / _STRUCTURE_FILE).is_file():
            return place
    try:
        below = [entry for entry in folder.iterdir() if entry.is_dir()]
    except OSError:
        return None
    found = [place for one in below for place in (one, one / "content") if (place / _STRUCTURE_FILE).is_file()]
    return found[0] if len(found) == 1 else None
