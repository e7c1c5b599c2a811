"""What OpenDocuments hold beside their words: a frame draws one thing, in the first form of it that can be drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any  # Any: elements of lxml

from noarkit.documents.contents import ContentKind, Contents
from noarkit.documents.embedded_pictures import examine_picture
from noarkit.documents.odf_manifest import MANIFEST, manifest_elements
from noarkit.documents.opendocument import first_master
from noarkit.documents.parts import main_parts
from noarkit.documents.refusal import DocumentRefused
from noarkit.documents.zipped import Package, open_package

_NS = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
_TEXT, _OFFICE, _DRAW, _TABLE = (_NS % name for name in ("text", "office", "drawing", "table"))
_PRESENTATION = _NS % "presentation"
_HREF = "{http://www.w3.org/1999/xlink}href"
_FRAME = f"{_DRAW}frame"
_MATH = "{http://www.w3.org/1998/Math/MathML}"
_LETTERS = frozenset(f"{_MATH}{name}" for name in ("mi", "mn", "mtext", "ms"))
_LINKS = frozenset({f"{_TEXT}a", f"{_DRAW}a"})
_NOT_SHOWN = frozenset({f"{_OFFICE}annotation", f"{_TEXT}deletion", f"{_PRESENTATION}notes"})
_STYLE = _NS % "style"
_HEADS = frozenset({f"{_STYLE}header", f"{_STYLE}footer"})
_NEVER_DRAWN = ("settings.xml", "meta.xml", "manifest.rdf", "layout-cache", "Thumbnails/", "Configurations2/")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]+:|[/\\]|\.\./", re.IGNORECASE)


def odf_contents(path: Path) -> Contents:
    """What a text, presentation or drawing holds. Raises `DocumentRefused`."""
    with open_package(path) as package:
        parts = main_parts(package)
        has_sheets = parts.format == "ods"
        contents = Contents()
        contents.missing += _missing_members(package)
        _count(package, contents, has_sheets=has_sheets)
        if parts.format == "odt":
            _count_heads(package, contents)
        return contents


def _missing_members(package: Package) -> Iterator[str]:
    """Members that the manifest lists, and that are not there."""
    for element in manifest_elements(package):
        name = element.get(f"{MANIFEST}full-path", "") if element.tag == f"{MANIFEST}file-entry" else ""
        if name and not name.endswith("/") and not name.startswith(_NEVER_DRAWN) and not package.has(name):
            yield name


def _count(package: Package, contents: Contents, *, has_sheets: bool) -> None:
    unseen = pixels = 0
    for event, element in package.elements("content.xml", frozenset({_FRAME})):
        tag = element.tag
        if tag in _NOT_SHOWN:
            unseen += 1 if event == "start" else -1
        elif unseen:
            continue
        elif tag == f"{_DRAW}page":
            pixels = _mark_slide(event, pixels, contents)
        elif tag == _FRAME and event == "end":
            pixels += _frame(package, element, contents)
            if has_sheets and (text := " ".join(_words_of_box(element)).strip()):
                contents.add("objects", text)
        elif tag in _LINKS and event == "start" and _ELSEWHERE.match(element.get(_HREF, "")):
            contents.add("links", element.get(_HREF, ""))


def _count_heads(package: Package, contents: Contents) -> None:
    """Counts what the head and the foot of the first page draw."""
    master, is_first, is_shown = first_master(package), False, False
    for event, element in package.elements("styles.xml", frozenset({_FRAME})):
        tag = element.tag
        if tag == f"{_STYLE}master-page":
            is_first = event == "start" and element.get(f"{_STYLE}name") == master
        elif tag in _HEADS:
            is_shown = event == "start" and is_first and element.get(f"{_STYLE}display") != "false"
        elif tag == _FRAME and event == "end" and is_shown:
            _frame(package, element, contents)


def _mark_slide(event: str, pixels: int, contents: Contents) -> int:
    if event == "end":
        contents.add("slides")
        contents.slides.append(pixels)
    return 0


def _frame(package: Package, frame: Any, contents: Contents) -> bool:
    """Counts what a frame draws; True for a picture of pixels."""
    embedded = frame.find(f"{_DRAW}object")
    folder = "" if embedded is None else embedded.get(_HREF, "").removeprefix("./")
    if folder and package.has(f"{folder}/content.xml"):
        _object(package, folder, contents)
        return False
    if frame.find(f"{_TABLE}table") is not None:  # drawn itself, and not by the picture of it for older programs
        return False
    places = [image.get(_HREF, "").removeprefix("./") for image in frame.findall(f"{_DRAW}image")]
    forms = {place: _content(package, place) for place in places if place and not _ELSEWHERE.match(place)}
    place = next((place for place, content in forms.items() if examine_picture(content).kind), next(iter(forms), ""))
    if not place and folder and not _ELSEWHERE.match(folder) and folder not in contents.missing:
        contents.missing.append(folder)
    return bool(place) and contents.add_picture(place, forms[place])


def _words_of_box(frame: Any) -> Iterator[str]:
    """The text of a box that lies over the cells of a sheet, which are compared without it."""
    for box in frame.findall(f"{_DRAW}text-box"):
        yield from box.itertext()


def _object(package: Package, folder: str, contents: Contents) -> None:
    name = f"{folder}/content.xml"
    letters: list[str] = []
    words: list[str] = []
    is_equation = False
    for event, element in package.elements(name, frozenset({f"{_TEXT}p"})):
        is_equation |= element.tag == f"{_MATH}math"
        if event == "end" and element.tag in _LETTERS:
            letters.append(element.text or "")
        elif event == "end" and element.tag == f"{_TEXT}p":
            words.append("".join(element.itertext()))
    kind: ContentKind = "equations" if is_equation else "objects"
    contents.add(kind, "".join(letters) if is_equation else " ".join(words))


def _content(package: Package, name: str) -> bytes:
    try:
        return package.read(name) if package.has(name) else b""
    except DocumentRefused:
        return b""
