"""The place of whatever package stands at a path, found by looking: an extract, a package, a SIARD archive."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from noarkit.catalogue.places.extract import ExtractPlace
from noarkit.catalogue.places.package import PackagePlace
from noarkit.catalogue.places.siard import SiardPlace
from noarkit.catalogue.port import Place
from noarkit.forms.noark5.source.source import extract_root
from noarkit.forms.package_form import DetectedForm
from noarkit.forms.recognition import detect_form

PACKAGES = ("eark", "dias", "bagit")
_DEEPEST = 3
"""So many packages may lie within each other; what lies deeper is shown as a file."""


def find_package_place(path: Path, detected: DetectedForm | None = None, *, depth: int = 1) -> Place | None:
    """The place of the package at a path; None if it is none of the forms that have one.

    `detected` is what a look at the path told, where somebody looked before; `depth` says in how many packages it lies.
    Raises `FileNotFoundError`, and what `safe` refuses.
    """
    detected = detected or detect_form(path)
    if detected.form in PACKAGES:
        find_inner = partial(find_package_place, depth=depth + 1) if depth < _DEEPEST else None
        return PackagePlace(detected.root, detected.form, find_inner)
    if detected.form == "siard":
        return SiardPlace(detected.root)
    if detected.form == "noark5":
        root = path if path.is_file() else extract_root(path)
        return ExtractPlace(root or detected.root)
    return None
