"""The checksum that a report names a package by: of the file, or of the document in a folder that fixes all others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from noarkit.results import JsonObject
from noarkit.safe.digest import sha256_of
from noarkit.safe.paths import has_file

# each holds the checksums of the other files, or of those that hold them; a bag's tag manifest goes before its manifest
_FIXING = (
    "METS.xml",
    "arkivuttrekk.xml",
    *(f"{kind}-{algorithm}.txt" for kind in ("tagmanifest", "manifest") for algorithm in ("sha512", "sha256", "md5")),
)


@dataclass(frozen=True, slots=True)
class Fixity(JsonObject):
    """A sha256. `of` is the name of the document it was taken of, empty for a package that is one file."""

    sha256: str
    of: str = ""


def package_fixity(place: Path) -> Fixity | None:
    """The checksum of a package as it lies there now; None for a folder that no document in it fixes."""
    if place.is_file():
        return Fixity(sha256_of(place))
    name = next((name for name in _FIXING if _is_own_file(place, name)), None)
    if name is None and place.is_dir():
        name = next((path.name for path in sorted(place.glob("*.xml")) if _is_own_file(place, path.name)), None)
    return Fixity(sha256_of(place / name), name) if name is not None else None


def _is_own_file(place: Path, name: str) -> bool:
    """True for a file that lies there itself: a link may lead out of the package."""
    return has_file(place, name) and not (place / name).is_symlink()
