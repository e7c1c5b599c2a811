"""Which members of a zipped office document hold what: found from its main part, whatever that is called.

The main part is the one that the package's own relationships name (`officeDocument`): Word for the web calls it
`word/document2.xml`. Its headers, notes, comments, sheets and slides are those that it and they refer to, and beside
them what lies where its program usually puts such a part: what nobody refers to may hold words all the same.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from noarkit.documents.refusal import DocumentRefused, Refusal
from noarkit.documents.zipped import Package

OfficeFormat = Literal["docx", "xlsx", "xlsb", "pptx", "odt", "ods", "odp", "odf"]
"""What a document is, whether it has macros or not, is a template or not; `"odf"` for any other OpenDocument."""
PartKind = Literal[
    "header", "footer", "footnotes", "endnotes", "comments", "styles", "settings", "theme", "numbering",
    "worksheet", "sharedStrings", "threadedComment", "drawing", "slide", "notesSlide", "slideLayout", "slideMaster",
    "notesMaster", "handoutMaster", "externalLink",
]  # fmt: skip
"""The last word of the type of a relationship, as the standard has it."""

_R_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_MOST_RELATION_BYTES = 64 * 1024 * 1024
_PACKAGE_RELATIONS = "_rels/.rels"
USUAL_MAIN: Mapping[str, OfficeFormat] = {
    "word/document.xml": "docx",
    "xl/workbook.xml": "xlsx",
    "xl/workbook.bin": "xlsb",
    "ppt/presentation.xml": "pptx",
}
"""What most programs call the main part."""
_BY_ROOT: Mapping[str, OfficeFormat] = {"document": "docx", "workbook": "xlsx", "presentation": "pptx"}
_FOLDERS: Mapping[OfficeFormat, str] = {"docx": "word/", "xlsx": "xl/", "xlsb": "xl/", "pptx": "ppt/"}
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_BY_MIMETYPE: Mapping[str, OfficeFormat] = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}
_CONTENT, _MIMETYPE = "content.xml", "mimetype"
_MOST_TYPE_BYTES = 200
_USUAL: Mapping[PartKind, str] = {
    "header": r"word/header\d*\.xml",
    "footer": r"word/footer\d*\.xml",
    "footnotes": r"word/footnotes\.xml",
    "endnotes": r"word/endnotes\.xml",
    "comments": r"(?:word/comments|xl/comments\d*|ppt/comments/[^/]+)\.xml",
    "styles": r"(?:word|xl)/styles\.xml",
    "settings": r"word/settings\.xml",
    "theme": r"(?:word|xl|ppt)/theme/theme\d*\.xml",
    "worksheet": r"xl/worksheets/[^/]+\.xml",
    "sharedStrings": r"xl/sharedStrings\.xml",
    "threadedComment": r"xl/threadedComments/[^/]+\.xml",
    "drawing": r"xl/drawings/drawing\d+\.xml",
    "slide": r"ppt/slides/slide[^/]*\.xml",
    "notesSlide": r"ppt/notesSlides/notesSlide[^/]*\.xml",
    "slideLayout": r"ppt/slideLayouts/[^/]+\.xml",
    "slideMaster": r"ppt/slideMasters/[^/]+\.xml",
    "notesMaster": r"ppt/notesMasters/[^/]+\.xml",
    "handoutMaster": r"ppt/handoutMasters/[^/]+\.xml",
    "externalLink": r"xl/externalLinks/externalLink[^/]*\.xml",
}
"""Where the programs that everybody has put their parts."""
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Relation:
    """What a part refers to: the last word of the type, and a member of the package or, from outside, an address."""

    id: str
    kind: str
    target: str
    is_external: bool = False


@dataclass(frozen=True)
class OfficeParts:
    """The parts of a zipped office document, by what they are."""

    package: Package
    format: OfficeFormat
    main: str

    def of(self, *kinds: PartKind) -> tuple[str, ...]:
        """The parts of some kinds, kind by kind, each in the order in which they are referred to."""
        return tuple(dict.fromkeys(name for kind in kinds for name in self._by_kind.get(kind, ())))

    def relations(self, part: str) -> tuple[Relation, ...]:
        """What a part refers to."""
        return relations_of(self.package, part)

    def targets(self, part: str, kind: PartKind) -> dict[str, str]:
        """The members of a kind that a part refers to, by their identifiers."""
        return {each.id: each.target for each in self.relations(part) if each.kind == kind and not each.is_external}

    @cached_property
    def _by_kind(self) -> Mapping[str, list[str]]:
        kinds: dict[str, list[str]] = {}
        visited = {self.main}
        queue = deque([self.main])
        while queue:
            for relation in self.relations(queue.popleft()):
                if not relation.is_external and self.package.has(relation.target) and relation.target not in visited:
                    visited.add(relation.target)
                    queue.append(relation.target)
                    kinds.setdefault(relation.kind, []).append(relation.target)
        beside = [name for name in self.package.beginning(_FOLDERS.get(self.format, "/")) if name not in visited]
        for kind, pattern in _USUAL.items():
            usual = (name for name in beside if re.fullmatch(pattern, name))
            kinds.setdefault(kind, []).extend(sorted(usual, key=_by_number))
        return kinds


def office_parts(package: Package) -> OfficeParts | None:
    """The parts of an office document; None for any other zip. Raises `DocumentRefused`."""
    main = _main_part(package)
    if main is not None and (format_name := _format_of(package, main)) is not None:
        return OfficeParts(package, format_name, main)
    if package.has(_CONTENT):
        return OfficeParts(package, _open_document_format(package), _CONTENT)
    return None


def slides_of(parts: OfficeParts) -> tuple[str, ...]:
    """The slides of a presentation in the order in which they are shown; what nobody shows in a row is the last."""
    targets = parts.targets(parts.main, "slide")
    shown = [
        targets.get(element.get(_R_ID, ""), "")
        for event, element in parts.package.elements(parts.main)
        if event == "start" and element.tag.endswith("}sldId")
    ]
    return tuple(dict.fromkeys(name for name in (*shown, *parts.of("slide")) if parts.package.has(name)))


def main_parts(package: Package) -> OfficeParts:
    """The parts of what must be an office document. Raises `DocumentRefused`, also for any other zip."""
    parts = office_parts(package)
    if parts is None:
        raise DocumentRefused(Refusal.UNKNOWN_FORMAT)
    return parts


def office_format(archive: zipfile.ZipFile) -> OfficeFormat | None:
    """What an office document in a zip is; None for any other zip, and for one that nobody can look into."""
    try:
        package = Package(archive, tuple(archive.namelist()))
        if not package.has("[Content_Types].xml") and package.has(_MIMETYPE):
            return _open_document_format(package) if _mimetype(package).startswith(_OPEN_DOCUMENT) else None
        parts = office_parts(package)
    except DocumentRefused:
        return None
    return None if parts is None or parts.main == _CONTENT else parts.format


def relations_of(package: Package, part: str) -> tuple[Relation, ...]:
    """What a part refers to, or the package itself where `part` is empty. Raises `DocumentRefused`."""
    folder, name = posixpath.split(part)
    place = posixpath.join(folder, "_rels", f"{name}.rels")
    if not package.has(place):
        return ()
    if package.archive.getinfo(place).file_size > _MOST_RELATION_BYTES:
        raise DocumentRefused(Refusal.TOO_LARGE, member=place)
    return tuple(_relations(package, place, folder))


def _relations(package: Package, place: str, folder: str) -> Iterator[Relation]:
    for event, element in package.elements(place):
        if event == "start" and element.tag.endswith("}Relationship"):
            kind, target = element.get("Type", "").rpartition("/")[2], element.get("Target", "")
            if element.get("TargetMode") == "External":
                yield Relation(element.get("Id", ""), kind, target, is_external=True)
                continue
            name = posixpath.normpath(posixpath.join("/", folder, target.replace("\\", "/"))).lstrip("/")
            yield Relation(element.get("Id", ""), kind, package.member(name))


def _main_part(package: Package) -> str | None:
    """The main part by its relationship, else by its usual name; where nobody can read the first, the second."""
    try:
        related = relations_of(package, "")
    except DocumentRefused:
        related = ()
    for relation in related:
        if relation.kind == "officeDocument" and package.has(relation.target):
            return relation.target
    return next((name for name in USUAL_MAIN if package.has(name)), None)


def _format_of(package: Package, main: str) -> OfficeFormat | None:
    if main.endswith(".bin"):
        return "xlsb"
    for format_name, folder in _FOLDERS.items():
        if main.startswith(folder):
            return format_name
    _, root = next(package.elements(main))
    return _BY_ROOT.get(root.tag.rpartition("}")[2])


def _open_document_format(package: Package) -> OfficeFormat:
    noun = _mimetype(package).removeprefix(_OPEN_DOCUMENT).partition("-")[0].strip()
    return _BY_MIMETYPE.get(noun, "odf")


def _mimetype(package: Package) -> str:
    """What an OpenDocument says that it is; empty where it does not. Raises `DocumentRefused`."""
    if not package.has(_MIMETYPE) or package.archive.getinfo(_MIMETYPE).file_size > _MOST_TYPE_BYTES:
        return ""
    return package.read(_MIMETYPE).decode("latin-1")


def _by_number(name: str) -> tuple[str, int]:
    number = _NUMBER.search(name)
    return (name[: number.start()], int(number[0][:18])) if number else (name, 0)
