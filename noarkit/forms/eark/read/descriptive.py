"""Reads what describes a package: Dublin Core and EAD (2002 and 3). Its title, its maker, titles of single files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote
from xml.parsers.expat import XMLParserType

from noarkit.forms.eark.read.xml_reader import XmlReader, read_items
from noarkit.safe.digest import Readable

_MAX_DEPTH = 200
_COMPONENT = re.compile(r"archdesc|c|c0[1-9]|c1[0-2]")
_EAD_TEXTS = frozenset({"unittitle", "titleproper", "origination", "unitid", "unitdate"})
_DC_TEXTS = frozenset({"title", "creator", "identifier", "description"})
_DC_ROOTS = ("simpledc", "metadata", "dc", "dublin_core", "qualifieddc")
_DC_SPACE = "http://purl.org/dc/"
_XLINK_HREF = "http://www.w3.org/1999/xlink href"


@dataclass(frozen=True, slots=True)
class DescriptiveField:
    """Something that is described: `of` is `package`, or the reference of a file. `field` is title, creator, …"""

    of: str
    field: str
    text: str


def read_descriptive(source: Readable, where: str) -> Iterator[DescriptiveField]:
    """What a file of descriptive metadata tells; nothing where it is neither. Raises `PackageFault`, `UnsafeXml`."""
    return read_items(source, where, lambda parser: _DescriptiveReader(parser, where))


def resolve_reference(href: str, folder: str) -> str:
    """The name in the package that a description in `folder` leads to; empty if that is outside.

    >>> resolve_reference("file:../../representations/rep1/data/a.txt", "metadata/descriptive/")
    'representations/rep1/data/a.txt'
    """
    path = re.sub(r"^file:(//)?", "", href)
    if path.startswith("/") or "\\" in path or ":" in path.split("/", 1)[0]:
        return ""
    name = posixpath.normpath(posixpath.join(folder, unquote(path)))
    return "" if name.startswith("..") or name == "." else name


class _DescriptiveReader(XmlReader[DescriptiveField]):
    """The state between two events."""

    def __init__(self, parser: XMLParserType, where: str) -> None:
        super().__init__(parser, where, _MAX_DEPTH)
        self._depth = 0
        self._ead = self._core = False
        self._titles: list[str] = []
        self._text_depth = 0
        self._reported_fields: set[str] = set()

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self._depth += 1
        self._check_depth(self._depth)
        space, _, local = name.rpartition(" ")
        if self._depth == 1:
            self._ead = local == "ead"
            self._core = local in _DC_ROOTS
        if self._ead and _COMPONENT.fullmatch(local):
            self._titles.append("")
        elif local == "dao" and self._titles:
            href = attributes.get("href") or attributes.get(_XLINK_HREF, "")
            title = self._titles[-1] or attributes.get("linktitle", "")
            if href and title:
                self._items.append(DescriptiveField(href, "title", title))
        elif self._text is None and self._is_wanted(space, local):
            self._text, self._text_depth = [], self._depth

    def _is_wanted(self, space: str, local: str) -> bool:
        if self._ead:
            return local in _EAD_TEXTS
        return local in _DC_TEXTS and (self._core or space.startswith(_DC_SPACE))

    def end(self, name: str) -> None:
        """It ends."""
        local = name.rpartition(" ")[2]
        if self._text is not None and self._depth == self._text_depth:
            text, self._text = " ".join("".join(self._text).split()), None
            if text:
                self._take(local, text)
        elif self._ead and _COMPONENT.fullmatch(local):
            self._titles.pop()
        self._depth -= 1

    def _take(self, local: str, text: str) -> None:
        field = {
            "unittitle": "title",
            "titleproper": "title_proper",
            "origination": "creator",
            "unitid": "identifier",
            "unitdate": "date",
        }
        if self._ead and local == "unittitle" and self._titles:
            self._titles[-1] = self._titles[-1] or text
        if len(self._titles) <= 1:
            field_name = field.get(local, local)
            if field_name not in self._reported_fields:
                self._reported_fields.add(field_name)
                self._items.append(DescriptiveField("package", field_name, text))
