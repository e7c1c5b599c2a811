"""Parses one METS document as a stream and calls a handler for each piece, in constant memory.

Both spellings of namespaces are brought to one; only what a rule needs is kept, and only while it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from xml.parsers import expat

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.eark import spec
from noarkit.forms.eark.rules.mets_model import (
    Agent,
    Attributes,
    Division,
    FileElement,
    Group,
    Header,
    MetsHandler,
    Section,
    StructMap,
)
from noarkit.forms.metadata.file_facts import MOST_KEPT
from noarkit.safe.digest import Readable
from noarkit.safe.sax import SmallBlockReader, check_text, event_parser, feed
from noarkit.safe.xml import LIMITS, XmlLimits

_M = f"{spec.METS} "
_FOREIGN = tuple(f"{name} " for name in (spec.CSIP_SPELLINGS[1], spec.SIP_SPELLINGS[1]))
_OWN_SPELLINGS = {f"{spec.CSIP_SPELLINGS[1]} ": f"{spec.CSIP} ", f"{spec.SIP_SPELLINGS[1]} ": f"{spec.SIP} "}
_SECTIONS = ("dmdSec", "digiprovMD", "rightsMD", "techMD", "sourceMD")


def read_mets(source: Readable, location: str, watcher: MetsHandler, *, limits: XmlLimits = LIMITS) -> Iterator[None]:
    """Parses a document and calls the handler; yields after each block. Raises `UnsafeXml`, and `PackageFault` for a
    document that is no METS."""
    parser = event_parser(location)
    reader = _Reader(parser, location, watcher, limits)
    for _ in feed(parser, SmallBlockReader(source, parser), location, limits=limits):
        reader.check()
        yield
    reader.finish()


class _Reader:
    """The state of one reading. Handlers are looked up by the name of the element."""

    def __init__(self, parser: expat.XMLParserType, location: str, watcher: MetsHandler, limits: XmlLimits) -> None:
        self._parser = parser
        self._location = location
        self._watcher = watcher
        self._max_depth = limits.max_depth
        self._depth = 0
        self._header: Header | None = None
        self._is_header_sent = False
        self._section: Section | None = None
        self._groups: list[Group] = []
        self._files: list[FileElement] = []
        self._map: StructMap | None = None
        self._division: Division | None = None
        self._div_depth = 0
        self._text: list[str] | None = None
        self._note = ""
        self._starts: dict[str, Callable[[dict[str, str]], None]] = {
            f"{_M}file": self._file,
            f"{_M}FLocat": self._locator,
            f"{_M}fileGrp": self._group,
            f"{_M}mdRef": self._reference,
            f"{_M}fptr": self._pointer,
            f"{_M}mptr": self._mets_pointer,
            f"{_M}div": self._div,
            f"{_M}structMap": self._struct_map,
            f"{_M}mets": self._root,
            f"{_M}metsHdr": self._hdr,
            f"{_M}agent": self._agent,
            f"{_M}name": self._begin_text,
            f"{_M}note": self._begin_text,
            f"{_M}altRecordID": self._begin_text,
            f"{_M}amdSec": self._administrative,
            f"{_M}fileSec": self._file_section,
            **{f"{_M}{kind}": self._beginner(kind) for kind in _SECTIONS},
        }
        self._ends: dict[str, Callable[[], None]] = {
            f"{_M}file": self._file_end,
            f"{_M}fileGrp": self._group_end,
            f"{_M}div": self._div_end,
            f"{_M}structMap": self._struct_map_end,
            f"{_M}name": self._name_end,
            f"{_M}note": self._note_end,
            f"{_M}altRecordID": self._id_end,
            **{f"{_M}{kind}": self._section_end for kind in _SECTIONS},
        }
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._data

    def check(self) -> None:
        """What is asked after each block."""
        if self._text is not None:
            check_text(self._text, self._parser, self._location)

    def finish(self) -> None:
        """The end of the document."""
        self._send_header()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth == 1 and name != f"{_M}mets":
            raise PackageFault(where=self._location, why="no-mets", line=self._parser.CurrentLineNumber)
        if self._depth > self._max_depth:
            raise UnsafeXml(where=self._location, why="depth", line=self._parser.CurrentLineNumber)
        begin = self._starts.get(name)
        if begin is not None:
            begin(attributes)

    def _end(self, name: str) -> None:
        self._depth -= 1
        end = self._ends.get(name)
        if end is not None:
            end()

    def _data(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber

    def _send_header(self) -> None:
        if self._header is not None and not self._is_header_sent:
            self._is_header_sent = True
            self._watcher.header(self._header)

    def _check_count(self, count: int) -> None:
        if count >= MOST_KEPT:
            raise UnsafeXml(where=self._location, why="limits", line=self._line)

    def _root(self, attributes: dict[str, str]) -> None:
        if self._header is None:
            self._header = Header(_one_spelling(attributes), self._line)

    def _hdr(self, attributes: dict[str, str]) -> None:
        if self._header is not None and self._header.attributes is None:
            self._header.attributes, self._header.header_line = _one_spelling(attributes), self._line

    def _agent(self, attributes: dict[str, str]) -> None:
        if self._header is not None and not self._is_header_sent:
            self._check_count(len(self._header.agents))
            self._header.agents.append(Agent(attributes, self._line))

    def _begin_text(self, attributes: dict[str, str]) -> None:
        if self._header is not None and not self._is_header_sent:
            self._text = []
            own_attributes = _one_spelling(attributes)
            self._note = own_attributes.get(f"{spec.CSIP} NOTETYPE", own_attributes.get("TYPE", ""))

    def _take_text(self) -> str:
        text = "".join(self._text or ()).strip()
        self._text = None
        return text

    def _name_end(self) -> None:
        if self._text is not None and self._header is not None and self._header.agents:
            self._header.agents[-1].names.append(self._take_text())

    def _note_end(self) -> None:
        if self._text is not None and self._header is not None and self._header.agents:
            self._check_count(len(self._header.agents[-1].notes))
            self._header.agents[-1].notes.append((self._note, self._take_text()))

    def _id_end(self) -> None:
        if self._text is not None and self._header is not None:
            self._check_count(len(self._header.ids))
            self._header.ids.append((self._note, self._take_text()))

    def _administrative(self, attributes: dict[str, str]) -> None:
        self._send_header()
        self._watcher.administrative(attributes, self._line)

    def _beginner(self, kind: str) -> Callable[[dict[str, str]], None]:
        def begin(attributes: dict[str, str]) -> None:
            self._send_header()
            self._section = Section(kind, attributes, self._line)

        return begin

    def _reference(self, attributes: dict[str, str]) -> None:
        if self._section is not None:
            self._check_count(len(self._section.references))
            self._section.references.append((attributes, self._line))

    def _section_end(self) -> None:
        if self._section is not None:
            self._watcher.section(self._section)
            self._section = None

    def _file_section(self, attributes: dict[str, str]) -> None:
        self._send_header()
        self._watcher.file_section(attributes, self._line)

    def _group(self, attributes: dict[str, str]) -> None:
        self._groups.append(Group(_one_spelling(attributes), self._line))

    def _group_end(self) -> None:
        if self._groups:
            group = self._groups.pop()
            if self._groups:
                self._groups[-1].files += group.files
            self._watcher.group(group)

    def _file(self, attributes: dict[str, str]) -> None:
        self._files.append(FileElement(attributes, self._parser.CurrentLineNumber))

    def _locator(self, attributes: dict[str, str]) -> None:
        if self._files and len(self._files[-1].locators) < 10:
            self._files[-1].locators.append(attributes)

    def _file_end(self) -> None:
        if self._files:
            if self._groups:
                self._groups[-1].files += 1
            self._watcher.file(self._files.pop())

    def _struct_map(self, attributes: dict[str, str]) -> None:
        self._send_header()
        self._map, self._div_depth = StructMap(attributes, self._line), 0

    def _div(self, attributes: dict[str, str]) -> None:
        self._div_depth += 1
        if self._map is None:
            return
        if self._div_depth == 1 and len(self._map.tops) < 10:
            self._map.tops.append((attributes, self._line))
        elif self._div_depth == 2:
            self._map.divisions += 1
            self._division = Division(attributes, self._line)

    def _pointer(self, attributes: dict[str, str]) -> None:
        if self._division is not None and self._div_depth == 2 and len(self._division.files) < MOST_KEPT:
            self._division.files.append(attributes.get("FILEID", ""))

    def _mets_pointer(self, attributes: dict[str, str]) -> None:
        if self._division is not None and len(self._division.pointers) < MOST_KEPT:
            self._division.pointers.append(attributes)

    def _div_end(self) -> None:
        self._div_depth -= 1
        if self._div_depth == 1 and self._map is not None and self._division is not None:
            self._watcher.division(self._map, self._division)
            self._division = None

    def _struct_map_end(self) -> None:
        if self._map is not None:
            self._watcher.structure(self._map)
            self._map = None


def _one_spelling(attributes: dict[str, str]) -> Attributes:
    """The attributes with namespaces as the schemas spell them."""
    if not any(name.startswith(_FOREIGN) for name in attributes):
        return attributes
    renamed = {}
    for name, value in attributes.items():
        for foreign, own_spelling in _OWN_SPELLINGS.items():
            name = name.replace(foreign, own_spelling)
        renamed[name] = value
    return renamed
