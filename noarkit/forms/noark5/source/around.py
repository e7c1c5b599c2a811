"""The files of the package that an extract lies in: METS, PREMIS, EAD, manifests.

They are no part of the extract, whose structure is fixed, and are told by name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from noarkit.forms.bagit.spec import DECLARATION, PAYLOAD
from noarkit.forms.dias.spec import CONTENT
from noarkit.forms.dias.spec import METS as DIAS_METS
from noarkit.forms.eark.spec import METS_FILE, REPRESENTATIONS
from noarkit.graph.entity import Skipped

SKIPPED_AROUND = "it lies in the package around the extract, which alone is taken"
_HIGHEST = 6
_WRAPPERS = ((DIAS_METS, CONTENT), (METS_FILE, REPRESENTATIONS), (DECLARATION, PAYLOAD))
"""What lies at the top of a package, and the folder in which it holds what was sent."""


def skip_surrounding(names: Iterator[str]) -> Iterator[Skipped]:
    """These files, skipped by name."""
    for name in names:
        yield Skipped(f"/{name}".encode("utf-8", "backslashreplace").decode(), SKIPPED_AROUND)


def files_around(root: Path) -> Iterator[str]:
    """The files of the package in which an extract's folder lies, by their paths from its top, in order."""
    top = _top_of(root)
    if top is None:
        return
    for folder, folders, files in os.walk(top):
        folders.sort()
        folders[:] = [name for name in folders if Path(folder, name) != root]
        for name in sorted(files):
            yield Path(folder, name).relative_to(top).as_posix()


def _top_of(root: Path) -> Path | None:
    """The outermost package around a folder."""
    top = None
    for above in list(root.parents)[:_HIGHEST]:
        first = root.relative_to(above).parts[0]
        if any(first == inner and (above / mark).is_file() for mark, inner in _WRAPPERS):
            top = above
    return top
