"""SIARD archives as a source, by the recipes of databases; and live databases as what SIARD archives are written from.

source    an archive as a source of records             live      a database as a `SiardSource`
types     what its columns are in SQL:2008              fetching  its rows, in constant memory
catalogue its routines, triggers and conditions
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from noarkit.forms.siard.source.source import SiardArchiveSource
    from noarkit.records import SourceIdentity

KIND = "siard"


def find_siard(where: str) -> SiardArchiveSource | None:
    """The SIARD archive at a path; None for what is none."""
    from noarkit.forms.siard.read.archive import looks_like_siard

    path = Path(where)
    if not path.exists() or not looks_like_siard(path):
        return None
    from noarkit.forms.siard.source.source import SiardArchiveSource

    return SiardArchiveSource(path)


def reopen_siard(identity: SourceIdentity) -> SiardArchiveSource:
    """The archive that a plan was made from, on the same terms. Raises `SourceGone` where it is another now."""
    from noarkit.forms.siard.source.source import reopen

    return reopen(identity)
