"""Finds the parts of a package: its tar or its folder, and the submission description beside it.

A package is named by the folder of tar and description, by the tar, by the description, or by the folder that holds
dias-mets.xml (or has that folder in it).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from noarkit.errors import PackageFault
from noarkit.forms.dias.read.info import is_info
from noarkit.forms.dias.spec import METS, METS_NAMESPACE
from noarkit.safe.paths import has_file
from noarkit.safe.unpack import form_of

_INFO = "info.xml"
_HEAD_BYTES = 4096
_DESCRIPTION_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class LocatedPackage:
    """A package: `place` is its tar or folder, `description` the document that seals it, where there is one."""

    place: Path
    description: Path | None

    @property
    def is_tar(self) -> bool:
        """True if it is not unpacked."""
        return not self.place.is_dir()


def locate(path: Path) -> LocatedPackage:
    """The package at a path. Raises `PackageFault` where there is none, or where there are several."""
    try:
        package = _package_in_folder(path) if path.is_dir() else _package_of_file(path)
    except FileNotFoundError as error:
        raise PackageFault(where=str(path), why="not-there", detail=error.strerror) from error
    except OSError as error:
        raise PackageFault(where=str(path), why="unreadable", detail=error.strerror) from error
    if package is None:
        raise PackageFault(where=str(path), why="no-dias")
    return package


def is_delivery(path: Path) -> bool:
    """True for a folder of tar and description, for such a description, and for an AIC; names alone may be odd.

    A description that lies alone in its folder and speaks of its tar is one, too: of a package whose tar is gone.
    """
    if path.is_dir():
        if _lacks_tar(path) or unpacked_beside(path) is not None:
            return True
        tars = [entry for entry in path.iterdir() if entry.suffix.lower() == ".tar" and entry.is_file()]
        return any(
            (_own_description(path, tar.stem) or _only_description(path)) is not None and _is_tar(tar) for tar in tars
        )
    if path.suffix.lower() != ".xml" or not path.is_file():
        return False
    tar = path.with_suffix(".tar")
    return is_aic(path) or (tar.is_file() and _is_tar(tar))


def unpacked_beside(folder: Path) -> Path | None:
    """The package that was unpacked beside the description that seals it, and nothing else in the folder."""
    entries = list(islice(folder.iterdir(), 3))
    inner = [entry for entry in entries if entry.is_dir() and not entry.is_symlink() and has_file(entry, METS)]
    return inner[0] if len(entries) == 2 and len(inner) == 1 and _own_description(folder, inner[0].name) else None


def damaged_tar(path: Path) -> str:
    """The tar that a description seals and that is no tar, or is gone; empty where nothing of that kind is wrong.

    `path` is the folder of both, the tar, or the description.
    """
    if path.is_dir():
        tars = [entry for entry in path.glob("*.tar") if entry.is_file() and not _is_tar(entry)]
        sealed = (tar for tar in tars if _own_description(path, tar.stem) or _only_description(path))
        return next((tar.name for tar in sealed), "")
    if not path.is_file() or _is_tar(path):
        return ""
    if path.suffix.lower() == ".tar":
        folder = path.absolute().parent
        return path.name if _own_description(folder, path.stem) or _only_description(folder) else ""
    tar = path.with_suffix(".tar")
    return tar.name if _names_tar(path) and not (tar.is_file() and _is_tar(tar)) else ""


def _names_tar(path: Path) -> bool:
    """True for a description that speaks of its tar."""
    if path.suffix.lower() != ".xml":
        return False
    with path.open("rb") as file:
        head = file.read(_DESCRIPTION_BYTES)
    return f"{path.stem}.tar".encode() in head and _is_mets(path)


def _lacks_tar(folder: Path) -> bool:
    entries = list(islice(folder.iterdir(), 2))
    if len(entries) != 1 or entries[0].suffix.lower() != ".xml" or not _is_plain(entries[0]):
        return False
    return _names_tar(entries[0])


def is_aic(path: Path) -> bool:
    """True for a document that is an AIC."""
    if path.suffix.lower() != ".xml" or not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    return b'TYPE="AIC"' in head and METS_NAMESPACE.encode() in head


def _is_plain(path: Path) -> bool:
    """True for a file; a description is never read through a link."""
    return path.is_file() and not path.is_symlink()


def _is_tar(path: Path) -> bool:
    return form_of(path) not in (None, "zip")


def _package_of_file(path: Path) -> LocatedPackage | None:
    if path.suffix.lower() == ".xml":
        tar = path.with_suffix(".tar")
        return LocatedPackage(tar, path) if tar.is_file() and _is_tar(tar) else None
    if form_of(path) in (None, "zip"):
        return None
    return LocatedPackage(path, _own_description(path.parent, path.stem) or _only_description(path.absolute().parent))


def _package_in_folder(folder: Path) -> LocatedPackage | None:
    if _lacks_tar(folder):
        raise PackageFault(where=str(folder), why="tar-gone")
    if (folder / METS).is_file():
        return LocatedPackage(folder, _own_description(folder.absolute().parent, folder.absolute().name, tar=False))
    inner = [entry for entry in folder.iterdir() if entry.is_dir() and (entry / METS).is_file()]
    tars = [
        entry for entry in folder.iterdir() if entry.suffix.lower() == ".tar" and entry.is_file() and form_of(entry)
    ]
    sealed = [tar for tar in tars if _own_description(folder, tar.stem) is not None]
    candidates = sealed or tars
    if len(candidates) == 1:
        return LocatedPackage(candidates[0], _own_description(folder, candidates[0].stem) or _only_description(folder))
    if len(inner) == 1 and not candidates:
        return LocatedPackage(inner[0], _own_description(folder, inner[0].name))
    if len(candidates) + len(inner) > 1:
        raise PackageFault(where=str(folder), why="several-packages", count=len(candidates) + len(inner))
    return None


def _own_description(folder: Path, stem: str, *, tar: bool = True) -> Path | None:
    """The description of a package that is called `stem`. By a tar its name alone makes it that, whatever it holds."""
    own = folder / f"{stem}.xml"
    if _is_plain(own) and (tar or _is_mets(own)):
        return own
    info = folder / _INFO
    return info if tar and _is_plain(info) and _is_mets(info) else None


def _only_description(folder: Path) -> Path | None:
    """The only description in a folder that holds a single tar, however one of them was renamed."""
    if len(list(folder.glob("*.tar"))) != 1:
        return None
    descriptions = [path for path in folder.glob("*.xml") if _is_plain(path) and _is_mets(path)]
    return descriptions[0] if len(descriptions) == 1 else None


def _is_mets(path: Path) -> bool:
    """True if the beginning of a file speaks of METS, or it is an older description; what it is worth is for a
    reader to tell."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    return b"mets" in head.lower() or is_info(head)
