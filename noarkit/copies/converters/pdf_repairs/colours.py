"""Colours of print without a profile: read by a profile of this machine, or refused."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any  # Any: objects of a PDF

from noarkit.copies.converters.pdf_repairs.ledger import Ledger, RepairRefused
from noarkit.copies.converters.pdf_repairs.objects import content_of, contents_of, dictionaries, is_dictionary

_FOLDERS = (Path("/usr/share/color/icc"), Path("/usr/local/share/color/icc"), Path("/Library/ColorSync/Profiles"))
_PREFERRED = ("FOGRA39L_coated.icc", "SWOP2006_Coated3v2.icc", "default_cmyk.icc")
_MOST_BYTES = 4 * 1024 * 1024
_OPERATOR = re.compile(rb"(?:[-+.\d]+\s+){4}[kK](?=[\s\]/(<]|$)|/(?:Device)?CMYK\b")
_DEVICE = "/DeviceCMYK"


def name_profiles(pdf: Any, ledger: Ledger) -> None:
    """Gives every page and form a profile for colours of print where the document has such colours without one.

    Raises `RepairRefused` where this machine has no profile of print.
    """
    import pikepdf

    if not _has_device_colours(pdf):
        return
    profile = print_profile()
    if profile is None:
        raise RepairRefused("no-print-profile")
    stream = pdf.make_stream(profile.read_bytes())
    stream.N = 4
    stream.Alternate = pikepdf.Name.DeviceCMYK
    space = pdf.make_indirect(pikepdf.Array([pikepdf.Name.ICCBased, stream]))
    ledger.profile = profile.stem
    for page in pdf.pages:
        _inherit_resources(page)
    for holder in dictionaries(pdf):
        _name_in(holder, space)


@cache
def print_profile() -> Path | None:
    """A profile for colours of print that this machine has; None where there is none."""
    profiles = [path for folder in _FOLDERS if folder.is_dir() for path in sorted(folder.rglob("*.ic[cm]"))]
    rank = {name: number for number, name in enumerate(_PREFERRED)}
    profiles.sort(key=lambda path: rank.get(path.name, len(rank)))
    return next((path for path in profiles if _is_of_print(path)), None)


def _is_of_print(path: Path) -> bool:
    """An output profile of version 2 or 4 in CMYK."""
    try:
        with path.open("rb") as file:
            head = file.read(40)
        return head[12:20] == b"prtrCMYK" and head[36:40] == b"acsp" and path.stat().st_size < _MOST_BYTES
    except OSError:
        return False


def _has_device_colours(pdf: Any) -> bool:
    import pikepdf

    for item in pdf.objects:
        if _names_device(item):
            return True
        if isinstance(item, pikepdf.Stream) and _is_content(item) and _OPERATOR.search(content_of(item)):
            return True
    return any(_OPERATOR.search(contents_of(page)) for page in pdf.pages)


def _names_device(value: Any, depth: int = 0) -> bool:
    """True where an object names the colour space of a device; objects that it refers to are asked by themselves."""
    import pikepdf

    if isinstance(value, pikepdf.Name):
        return value == _DEVICE
    if isinstance(value, pikepdf.Dictionary | pikepdf.Stream):
        values = [entry for key, entry in value.items() if key != "/Alternate" or "/N" not in value]
    else:
        values = list(value) if isinstance(value, pikepdf.Array) else []
    return depth < 8 and any(_names_device(entry, depth + 1) for entry in values if not _is_elsewhere(entry))


def _is_elsewhere(value: Any) -> bool:
    return bool(getattr(value, "is_indirect", False))


def _is_content(stream: Any) -> bool:
    return stream.get("/Subtype") == "/Form" or "/PatternType" in stream


def _inherit_resources(page: Any) -> None:
    import pikepdf

    if not is_dictionary(page.obj.get("/Resources")):
        page.obj.Resources = page.resources if is_dictionary(page.resources) else pikepdf.Dictionary()


def _name_in(holder: Any, space: Any) -> None:
    import pikepdf

    is_place = holder.get("/Type") == "/Page" or holder.get("/Subtype") == "/Form" or "/PatternType" in holder
    if is_place and is_dictionary(holder.get("/Resources")):
        spaces = holder.Resources.get("/ColorSpace")
        if not isinstance(spaces, pikepdf.Dictionary):
            spaces = holder.Resources.ColorSpace = pikepdf.Dictionary()
        if "/DefaultCMYK" not in spaces:
            spaces.DefaultCMYK = space
    if holder.get("/S") == "/Transparency" and holder.get("/CS") == _DEVICE:
        holder.CS = space
    if "/OPM" in holder:
        holder.OPM = 0
    if "/Process" in holder and is_dictionary(holder.Process) and holder.Process.get("/ColorSpace") == _DEVICE:
        holder.Process.ColorSpace = space
