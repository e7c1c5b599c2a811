"""Which form a place has, found by looking: at first bytes and at what lies inside, never at how it is called.

look(Path("delivery.bin"))     Found(form="eark", packed="zip", root=Path("delivery.bin"))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from noarkit.errors import NoarkitError
from noarkit.packages.dias.located import is_delivery
from noarkit.safe.unpack import LIMITS, UnpackLimits, form_of, members

Form = Literal["noark5", "eark", "dias", "bagit", "siard", "plain"]
FORMS: tuple[Form, ...] = get_args(Form)

# The gravest first: a bag may hold any of the others, and a DIAS or E-ARK package a Noark 5 extract.
_MARKS: tuple[tuple[Form, tuple[str, ...]], ...] = (
    ("bagit", ("bagit.txt",)),
    ("dias", ("dias-mets.xml",)),
    ("eark", ("METS.xml", "mets.xml", "Mets.xml")),
    ("siard", ("header/metadata.xml",)),
    ("noark5", ("arkivuttrekk.xml", "arkivstruktur.xml", "content/arkivuttrekk.xml", "content/arkivstruktur.xml")),
)
# a SIARD archive that is unpacked, and the Danish variant, which is a folder by nature
_SIARD_FOLDERS = (("header/metadata.xml", "content"), ("Indices/tableIndex.xml", "Tables"))
_DEEPEST = 1 + max(mark.count("/") + 1 for _, marks in _MARKS for mark in marks)
_SURE: frozenset[Form] = frozenset({"bagit", "dias", "eark"})


@dataclass(frozen=True, slots=True)
class Found:
    """A form, the kind of archive file it is packed in (None for a folder or a plain file), and its root: the folder
    that bears the marks, or the archive file."""

    form: Form
    packed: str | None
    root: Path


def look(path: Path, limits: UnpackLimits = LIMITS) -> Found:
    """What stands at `path`. Raises `FileNotFoundError`, and for a packed place whatever `safe` refuses."""
    if path.is_dir():
        return _look_in_folder(path)
    if path.exists() and not path.is_file():
        return Found("plain", None, path)  # a FIFO would keep whoever opens it waiting
    packed = form_of(path)
    if packed is None:
        return Found("dias" if is_delivery(path) else "plain", None, path)
    return Found(_form_of_names(_names(path, limits)), packed, path)


def _look_in_folder(folder: Path) -> Found:
    form = _marked(folder)
    if form is not None:
        return Found(form, None, folder)
    entries = sorted(folder.iterdir())
    inner = [entry for entry in entries if entry.is_dir() and not entry.is_symlink()]
    if len(inner) == 1:
        form = _marked(inner[0])
        if form == "noark5" or (form is not None and len(entries) == 1):
            return Found(form, None, inner[0])
    if is_delivery(folder) or _is_lone_dias(entries):
        return Found("dias", None, folder)
    if any((folder / mark).is_file() and (folder / beside).is_dir() for mark, beside in _SIARD_FOLDERS):
        return Found("siard", None, folder)
    return Found("plain", None, folder)


def _is_lone_dias(entries: list[Path]) -> bool:
    """True where a folder holds nothing but the tar of a DIAS package; it is not sealed, and still one."""
    if len(entries) != 1 or not entries[0].is_file() or entries[0].suffix.lower() != ".tar":
        return False
    try:
        return look(entries[0]).form == "dias"
    except NoarkitError:
        return False  # whatever it is, it is told when it is read


def _marked(folder: Path) -> Form | None:
    for form, marks in _MARKS:
        if form != "siard" and any((folder / mark).is_file() for mark in marks):
            return form
    return None


def _names(path: Path, limits: UnpackLimits) -> Iterator[tuple[str, ...]]:
    for member, _ in members(path, limits=limits):
        if len(member.parts) <= _DEEPEST:
            yield member.parts


def _form_of_names(names: Iterable[tuple[str, ...]]) -> Form:
    """The form that files of these names make: marks stand at the root, or in the one folder below it."""
    found: set[Form] = set()
    for parts in names:
        for form, marks in _MARKS:
            # a siard file has no folder around it
            places = {"/".join(parts)} if form == "siard" else {"/".join(parts), "/".join(parts[1:])}
            if not places.isdisjoint(marks):
                found.add(form)
                if form in _SURE:
                    return form
    return next((form for form, _ in _MARKS if form in found), "plain")
