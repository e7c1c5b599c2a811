"""Finds the extract in a folder: at its root, in its `content`, or one folder further down."""

from __future__ import annotations

from pathlib import Path

from noarkit.forms.noark5.spec import STRUCTURE
from noarkit.forms.recognition import is_extract
from noarkit.safe.paths import has_file

_STRUCTURE_FILE = f"{STRUCTURE}.xml"


def extract_root(folder: Path) -> Path | None:
    """The folder that holds arkivstruktur.xml; None where there is none, or where several would do."""
    for place in (folder, folder / "content"):
        if _is_extract(place):
            return place
    try:
        below = [entry for entry in folder.iterdir() if entry.is_dir()]
    except OSError:
        return None
    roots = [place for subfolder in below for place in (subfolder, subfolder / "content") if _is_extract(place)]
    return roots[0] if len(roots) == 1 else None


def _is_extract(place: Path) -> bool:
    return has_file(place, _STRUCTURE_FILE) and is_extract(place)
