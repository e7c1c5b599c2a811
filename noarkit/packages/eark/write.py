"""Makes an E-ARK package (SIP, AIP, DIP; 2.1.0, 2.2.0): every file is copied and hashed in one pass, and described by
one METS for the package and one for each representation, with PREMIS beside them.

    files = files_below(Path("case-files"))
    make_eark([Representation("rep1", files)], Path("delivery.zip"), EarkOrder(kind="sip", agreement="2026/1042"))

The target's name says what it becomes: a folder, `.zip`, `.tar` or `.tar.gz`. It appears whole or not at all; the same
call after a kill goes on where the last stopped, and ends in the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from noarkit.events import Listener, nobody
from noarkit.packages.eark.order import Agent, EarkFile, EarkOrder, MetadataFile, PackageEvent, Representation
from noarkit.packages.holding.making import Made

__all__ = ["Agent", "EarkFile", "EarkOrder", "Made", "MetadataFile", "PackageEvent", "Representation", "make_eark"]


def make_eark(
    representations: Iterable[Representation], target: Path, order: EarkOrder | None = None, *, tell: Listener = nobody
) -> Made:
    """Makes the package at `target`, which must not be there.

    Raises `UsageFault`, `RunLocked` where another process makes the same, a `SourceFault` for a file that cannot be
    taken (what was done is kept for the next call), `UnsafePath` and `UnsafeMember` for names no package can hold.
    """
    raise NotImplementedError


def files_below(root: Path) -> Iterator[EarkFile]:
    """Every file below a folder, in a stable order. Raises `UnsafeMember` for a link or device."""
    raise NotImplementedError
