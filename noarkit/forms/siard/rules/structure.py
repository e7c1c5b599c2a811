"""Checks the files of an archive: folders, names and compression."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from noarkit.forms.findings import Tally
from noarkit.forms.siard.model import Archive
from noarkit.forms.siard.read.places import Place, ZipPlace
from noarkit.forms.siard.spec import METADATA, METADATA_SCHEMA

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)?")
_ADVISED = 20
_MARK = "header/siardversion/"


def check_packing(path: Path, place: Place, tally: Tally) -> None:
    """The ZIP itself, and what it is called."""
    if isinstance(place, ZipPlace):
        for name, method in place.methods():
            tally.add("SIARD-G_4.1-2", name, method=method)
    if path.suffix.lower() != ".siard" and not path.is_dir():
        tally.add("SIARD-G_4.1-5", path.name)


def check_files(place: Place, tally: Tally) -> None:
    """What may stand where."""
    if isinstance(place, ZipPlace) and place.wrapped_in:
        tally.add("SIARD-P_4.2-1", f"{place.wrapped_in}/")
    for name in _all_names(place):
        parts = name.split("/")
        if parts[0] not in ("header", "content"):
            tally.add("SIARD-P_4.2-1", name)
        elif parts[0] == "content":
            _check_content(name, parts, tally)
        if parts[:2] != ["header", "siardversion"]:
            _check_name(name, parts[-1], tally)
    for required in (METADATA, METADATA_SCHEMA):
        if place.size_of(required) is None:
            tally.add("SIARD-P_4.2-5", required)


def check_version(place: Place, archive: Archive, tally: Tally) -> None:
    """The empty folder that tells the version, and tells the same as the metadata."""
    version_marks = {name.strip("/").removeprefix(_MARK) for name in place.folders() if name.startswith(_MARK)}
    version_marks = {mark for mark in version_marks if mark}
    if archive.version in ("1.0", "2.0") and not version_marks:
        return  # older than the mark
    known_versions = {archive.version, "2.1"} if archive.version == "2.0" else {archive.version}
    if len(version_marks) != 1 or not version_marks <= known_versions:
        tally.add("SIARD-P_4.2-4", _MARK, found=", ".join(sorted(version_marks)) or "-", expected=archive.version)


def check_correspondence(place: Place, archive: Archive, tally: Tally) -> None:
    """The folders of the content are those that the metadata names, no more and no fewer."""
    known_bases = {f"content/{schema.folder}/{table.folder}" for schema, table in archive.tables()}
    for base in sorted(known_bases):
        short = base.rpartition("/")[2]
        for tail in ("xml", "xsd"):
            if place.size_of(f"{base}/{short}.{tail}") is None:
                tally.add("SIARD-P_4.3-1", f"{base}/{short}.{tail}")
    seen_bases: set[str] = set()
    for name in place.names():
        base = "/".join(name.split("/")[:3])
        if name.startswith("content/") and name.count("/") >= 3 and base not in known_bases and base not in seen_bases:
            seen_bases.add(base)
            tally.add("SIARD-P_4.3-1-MORE", base)


def _all_names(place: Place) -> Iterator[str]:
    yield from place.names()
    for name in place.folders():
        yield name.strip("/")


def _check_content(name: str, parts: list[str], tally: Tally) -> None:
    if len(parts) in (2, 3):
        if "." in parts[-1]:
            tally.add("SIARD-P_4.2-2", name)
    elif len(parts) == 4:
        table = parts[2]
        if parts[3] not in (f"{table}.xml", f"{table}.xsd") and "." in parts[3]:
            tally.add("SIARD-P_4.2-3", name)
    elif len(parts) > 5:
        tally.add("SIARD-P_4.2-3", name)


def _check_name(name: str, last: str, tally: Tally) -> None:
    if not _NAME.fullmatch(last):
        tally.add("SIARD-P_4.2-6", name)
    elif len(last) > _ADVISED:
        tally.add("SIARD-P_4.2-6-LENGTH", name)
