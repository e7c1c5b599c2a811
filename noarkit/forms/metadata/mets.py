"""Parses one METS document as a stream and calls a handler for each element, in constant memory.

All who read METS read it here, of every form and version: rules, and the readers of E-ARK and DIAS. Attributes come as
they stand, but for two spellings of namespaces that are brought to one. Of what is kept meanwhile there is a bound,
beyond which the document is refused, whoever reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from xml.parsers import expat

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.metadata.file_facts import MOST_KEPT
from noarkit.forms.metadata.mets_model import (
    CONTENT_TYPE,
    CSIP_SPELLINGS,
    METS,
    OTHER_CONTENT_TYPE,
    SIP_SPELLINGS,
    AgentElement,
    Attributes,
    Division,
    FileElement,
    Group,
    Header,
    MetsHandler,
    Section,
    StructMap,
)
from noarkit.safe.digest import Readable
from noarkit.safe.sax import SmallBlockReader, check_text, event_parser, feed
from noarkit.safe.xml import LIMITS, XmlLimits

_SPELLINGS = {f"{other} ": f"{own} " for own, other in (CSIP_SPELLINGS, SIP_SPELLINGS)}
_FOREIGN = tuple(_SPELLINGS)
_NOTE_TYPE = f"{CSIP_SPELLINGS[0]} NOTETYPE"
_SECTIONS = ("dmdSec", "digiprovMD", "rightsMD", "techMD", "sourceMD")
_MOST_TOPS = 10


def read_mets(
    source: Readable,
    where: str,
    handler: MetsHandler,
    *,
    namespaces: Sequence[str] = (METS,),
    limits: XmlLimits = LIMITS,
) -> Iterator[None]:
    """Parses a document and calls the handler; yields after each block. Raises `UnsafeXml`, and `PackageFault` for a
    document that is no METS of these namespaces."""
    parser = event_parser(where)
    reader = _Reader(parser, where, handler, namespaces, limits.max_depth)
    for _ in feed(parser, SmallBlockReader(source, parser), where, limits=limits):
        check_text(reader.text or (), parser, where)
        yield
    reader.send_header()


class _Reader:
    """The state of one reading. What to do is looked up by the name of the element."""

    def __init__(
        self,
        parser: expat.XMLParserType,
        where: str,
        handler: MetsHandler,
        namespaces: Sequence[str],
        max_depth: int,
    ) -> None:
        self.text: list[str] | None = None
        self._parser = parser
        self._where = where
        self._handler = handler
        self._roots = tuple(f"{space} mets" for space in namespaces)
        self._max_depth = max_depth
        self._depth = 0
        self._header = Header("", {}, 0)
        self._is_header_sent = False
        self._section: Section | None = None
        self._groups = [Group({}, 0)]
        self._files: list[FileElement] = []
        self._map: StructMap | None = None
        self._division: Division | None = None
        self._div_depth = 0
        self._text_attributes: Attributes = {}
        starts: dict[str, Callable[[dict[str, str]], None]] = {
            "file": self._file,
            "FLocat": self._locator,
            "fileGrp": self._group,
            "mdRef": self._reference,
            "fptr": self._pointer,
            "mptr": self._mets_pointer,
            "div": self._div,
            "structMap": self._struct_map,
            "metsHdr": self._hdr,
            "agent": self._agent,
            **dict.fromkeys(("name", "note", "altRecordID", "metsDocumentID"), self._begin_text),
            "amdSec": self._administrative,
            "fileSec": self._file_section,
            **{kind: self._beginner(kind) for kind in _SECTIONS},
        }
        ends: dict[str, Callable[[], None]] = {
            "file": self._file_end,
            "fileGrp": self._group_end,
            "div": self._div_end,
            "structMap": self._struct_map_end,
            "name": self._name_end,
            "note": self._note_end,
            "altRecordID": self._id_end,
            "metsDocumentID": self._document_id_end,
            **dict.fromkeys(_SECTIONS, self._section_end),
        }
        self._starts = {f"{space} {name}": start for space in namespaces for name, start in starts.items()}
        self._ends = {f"{space} {name}": end for space in namespaces for name, end in ends.items()}
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._data

    def send_header(self) -> None:
        """Tells of the header, if nobody has heard of it yet."""
        if not self._is_header_sent:
            self._is_header_sent = True
            self._handler.header(self._header)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth = depth = self._depth + 1
        if 1 < depth <= self._max_depth:
            begin = self._starts.get(name)
            if begin is not None:
                begin(attributes)
        elif depth == 1:
            self._root(name, attributes)
        else:
            raise UnsafeXml(where=self._where, why="depth", line=self._line)

    def _end(self, name: str) -> None:
        self._depth -= 1
        end = self._ends.get(name)
        if end is not None:
            end()

    def _data(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber

    def _check_count(self, entries: Sequence[object]) -> None:
        if len(entries) >= MOST_KEPT:
            raise UnsafeXml(where=self._where, why="limits", line=self._line)

    def _root(self, name: str, attributes: dict[str, str]) -> None:
        if name not in self._roots:
            raise PackageFault(where=self._where, why="no-mets", line=self._line)
        self._header = Header(name.partition(" ")[0], _one_spelling(attributes), self._line)

    def _hdr(self, attributes: dict[str, str]) -> None:
        if self._header.attributes is None:
            self._header.attributes, self._header.header_line = _one_spelling(attributes), self._line

    def _agent(self, attributes: dict[str, str]) -> None:
        self._check_count(self._header.agents)
        self._header.agents.append(AgentElement(attributes, self._line))

    def _begin_text(self, attributes: dict[str, str]) -> None:
        self.text, self._text_attributes = [], _one_spelling(attributes)

    def _take_text(self) -> str:
        text, self.text = "".join(self.text or ()).strip(), None
        return text

    def _name_end(self) -> None:
        text = self._take_text()
        for agent in self._header.agents[-1:]:
            self._check_count(agent.names)
            agent.names.append(text)

    def _note_end(self) -> None:
        text = self._take_text()
        for agent in self._header.agents[-1:]:
            self._check_count(agent.notes)
            agent.notes.append((self._text_attributes.get(_NOTE_TYPE, ""), text))

    def _id_end(self) -> None:
        self._check_count(self._header.ids)
        self._header.ids.append((self._text_attributes.get("TYPE", ""), self._take_text()))

    def _document_id_end(self) -> None:
        self._header.document_id = self._take_text()

    def _administrative(self, attributes: dict[str, str]) -> None:
        self.send_header()
        self._handler.administrative(attributes, self._line)

    def _beginner(self, kind: str) -> Callable[[dict[str, str]], None]:
        def begin(attributes: dict[str, str]) -> None:
            self.send_header()
            self._section = Section(kind, attributes, self._line)

        return begin

    def _reference(self, attributes: dict[str, str]) -> None:
        if self._section is None:
            self.send_header()
            self._handler.section(Section("", {}, self._line, [(attributes, self._line)]))
        else:
            self._check_count(self._section.references)
            self._section.references.append((attributes, self._line))

    def _section_end(self) -> None:
        if self._section is not None:
            self._handler.section(self._section)
            self._section = None

    def _file_section(self, attributes: dict[str, str]) -> None:
        self.send_header()
        self._handler.file_section(attributes, self._line)

    def _group(self, attributes: dict[str, str]) -> None:
        own, above = _one_spelling(attributes), self._groups[-1]
        group = Group(
            own,
            self._line,
            own.get("USE") or above.use,
            own.get(CONTENT_TYPE) or above.content_type,
            own.get(OTHER_CONTENT_TYPE) or above.other_content_type,
            above.files > 0,
        )
        self._groups.append(group)

    def _group_end(self) -> None:
        group = self._groups.pop()
        self._groups[-1].files_inside += group.files + group.files_inside
        self._handler.group(group)

    def _file(self, attributes: dict[str, str]) -> None:
        self._files.append(FileElement(attributes, self._parser.CurrentLineNumber))

    def _locator(self, attributes: dict[str, str]) -> None:
        if self._files:
            locators = self._files[-1].locators
            if locators:
                self._check_count(locators)
            locators.append(attributes)

    def _file_end(self) -> None:
        group = self._groups[-1]
        group.files += 1
        self._handler.file(self._files.pop(), group)

    def _struct_map(self, attributes: dict[str, str]) -> None:
        self.send_header()
        self._map, self._div_depth = StructMap(attributes, self._line), 0

    def _div(self, attributes: dict[str, str]) -> None:
        self._div_depth += 1
        if self._map is None:
            return
        if self._div_depth == 1 and len(self._map.tops) < _MOST_TOPS:
            self._map.tops.append((attributes, self._line))
        elif self._div_depth == 2:
            self._division = Division(attributes, self._line)

    def _pointer(self, attributes: dict[str, str]) -> None:
        if self._division is not None and self._div_depth == 2 and len(self._division.files) < MOST_KEPT:
            self._division.files.append(attributes.get("FILEID", ""))

    def _mets_pointer(self, attributes: dict[str, str]) -> None:
        if self._division is not None and len(self._division.pointers) < MOST_KEPT:
            self._division.pointers.append(attributes)
        self._handler.pointer(attributes)

    def _div_end(self) -> None:
        self._div_depth -= 1
        if self._div_depth == 1 and self._map is not None and self._division is not None:
            self._handler.division(self._map, self._division)
            self._division = None

    def _struct_map_end(self) -> None:
        if self._map is not None:
            self._handler.structure(self._map)
            self._map = None


def _one_spelling(attributes: dict[str, str]) -> Attributes:
    """The attributes with namespaces as the schemas spell them."""
    if not any(name.startswith(_FOREIGN) for name in attributes):
        return attributes
    renamed = {}
    for name, value in attributes.items():
        for foreign, own_spelling in _SPELLINGS.items():
            name = name.replace(foreign, own_spelling)
        renamed[name] = value
    return renamed
