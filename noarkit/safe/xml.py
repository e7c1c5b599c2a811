"""The one door for XML: no entities, no document type, no network, and limits on depth and size.

A document type is refused at its first letters, before a parser has read what it declares. Malformed XML is
`PackageFault` with its line; XML that tries something is `UnsafeXml`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol
from xml.parsers import expat

from lxml import etree

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.safe.digest import Readable
from noarkit.safe.paths import resolve_inside

_BLOCK_BYTES = 64 * 1024
MAX_DEPTH = 256  # the parser's own, kept because `huge_tree` is never on


@dataclass(frozen=True, slots=True)
class XmlLimits:
    """How much an honest document may hold."""

    max_bytes: int = 2**40
    max_depth: int = 100
    allows_external_doctype: bool = False
    """Whether a document may name a document type that lies elsewhere and is never fetched, as OpenOffice wrote them;
    one that declares anything is refused all the same."""


LIMITS = XmlLimits()
SMALL = XmlLimits(max_bytes=64 * 1024 * 1024)


def parse(source: Path | BinaryIO, *, limits: XmlLimits = SMALL) -> etree._Element:
    """The root of a small document, held whole."""
    events = stream(source, ("start",), limits=limits)
    _, root = next(events)  # a document without a root has raised by now
    deque(events, maxlen=0)
    return root


def stream(
    source: Path | BinaryIO,
    events: Sequence[str] = ("start", "end"),
    *,
    tags: Sequence[str] | None = None,
    limits: XmlLimits = LIMITS,
) -> Iterator[tuple[str, etree._Element]]:
    """Yields `start` and `end` of every element as they come; the caller clears what it is done with.

    With `tags` only those of elements so named are told (and counted for the depth), which is much quicker; the
    parser's own limit on depth holds for the others.
    """
    event_kinds = frozenset(events)
    with _open_source(source) as (file, where), _translate_faults(where):
        depth = 0
        judged = _JudgedReader(file, where, limits)
        for event, element in etree.iterparse(judged, ("start", "end"), tag=tags, **_SAFE):
            if event == "start":
                depth += 1
                if depth > limits.max_depth:
                    raise UnsafeXml(where=where, why="depth", line=element.sourceline)
                if depth == 1 and _declares(element.getroottree().docinfo.internalDTD, limits):
                    raise UnsafeXml(where=where, why="doctype")
            else:
                depth -= 1
            if event in event_kinds:
                yield event, element


def _declares(doctype: etree.DTD | None, limits: XmlLimits) -> bool:
    """Whether there is a document type that may not be there."""
    if doctype is None or not limits.allows_external_doctype:
        return doctype is not None
    declared = (*doctype.iterentities(), *doctype.iterelements())  # type: ignore[attr-defined]  # the stubs lack both
    return bool(declared)


class Handler(Protocol):
    """What is told of a document as it is read; names are `"namespace}local"`, or `"local"` alone."""

    def place(self, line: Callable[[], int], /) -> None:
        """How to ask for the line that is being read; said once, before all else."""
        ...

    @property
    def depth(self) -> int:
        """How many elements are open; judged after each block of bytes."""
        ...

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        """An element begins."""
        ...

    def end(self, name: str, /) -> None:
        """It ends."""
        ...

    def data(self, text: str, /) -> None:
        """Some of its text."""
        ...


def read(source: Path | Readable, handler: Handler, *, limits: XmlLimits = LIMITS) -> Iterator[None]:
    """Tells a document to a handler, quicker than a tree can be built; pauses after each block of bytes.

    Raises what `stream` raises, for the same documents.
    """
    with _open_source(source) as (file, where):
        parser = expat.ParserCreate(namespace_separator="}")
        parser.buffer_text = True

        def refuse(name: str, system: str | None, public: str | None, internal: bool) -> None:
            if internal or not limits.allows_external_doctype:
                raise UnsafeXml(where=where, why="doctype")

        handler.place(lambda: parser.CurrentLineNumber)
        parser.StartElementHandler, parser.EndElementHandler = handler.start, handler.end
        parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = handler.data, refuse
        remaining = limits.max_bytes
        while True:
            block = file.read(_BLOCK_BYTES)
            remaining -= len(block)
            if remaining < 0:
                raise UnsafeXml(where=where, why="size")
            try:
                parser.Parse(block, not block)
            except expat.ExpatError as error:
                message = expat.errors.messages.get(error.code, "")
                raise PackageFault(where=where, why="malformed-xml", line=error.lineno, detail=message) from error
            except (LookupError, ValueError) as error:
                if type(error) not in (LookupError, ValueError):  # the handler's own
                    raise
                raise PackageFault(where=where, why="malformed-xml", line=1, detail=str(error)) from error  # encoding
            if handler.depth > limits.max_depth:
                raise UnsafeXml(where=where, why="depth", line=parser.CurrentLineNumber)
            yield
            if not block:
                return


def elements(source: Path | BinaryIO, tag: str, *, limits: XmlLimits = LIMITS) -> Iterator[etree._Element]:
    """Yields each whole element named `tag` (`{namespace}local`), then forgets it and what stood before it.

    Elements inside another of the same name are part of it. Use the element before asking for the next.
    """
    nested = 0
    for event, element in stream(source, limits=limits):
        if element.tag == tag:
            nested += 1 if event == "start" else -1
            if event == "end" and nested == 0:
                yield element
        if event == "end" and nested == 0:
            free_element(element)


def free_element(element: etree._Element) -> None:
    """Frees an element that was read, and the ones before it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def load_schema(path: Path) -> etree.XMLSchema:
    """An XSD whose imports and includes are found in its own folder, and nowhere else."""
    root = path.parent
    with _translate_faults(str(path)):
        parser = _parser()
        parser.resolvers.add(_FolderResolver(root))
        try:
            return etree.XMLSchema(etree.parse(path, parser))
        except etree.XMLSchemaParseError as error:
            raise PackageFault(where=str(path), why="schema", detail=str(error)) from error


_SAFE: dict[str, bool] = {
    "resolve_entities": False,
    "load_dtd": False,
    "no_network": True,
    "dtd_validation": False,
    "attribute_defaults": False,
    "huge_tree": False,
}


def _parser() -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        dtd_validation=False,
        attribute_defaults=False,
        huge_tree=False,
    )


class _FolderResolver(etree.Resolver):
    """Answers for every address a schema names: a file of its folder, or nothing."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def resolve(self, system_url: str, public_id: str, context: object) -> object:  # type: ignore[override]  # the stubs lack context
        """The file, or `UnsafePath`."""
        name = Path(system_url).name if Path(system_url).is_absolute() else system_url
        place = str(resolve_inside(self._root, name))
        return self.resolve_filename(place, context)  # type: ignore[attr-defined]  # the stubs lack it


class _JudgedReader:
    """Counts the bytes a parser takes, and reads the prologue beside it to stop a document type before it is read."""

    def __init__(self, file: Readable, where: str, limits: XmlLimits) -> None:
        self._file = file
        self._where = where
        self._limits = limits
        self._left = limits.max_bytes
        self._prologue: expat.XMLParserType | None = self._watch()

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, judged."""
        block = self._file.read(size)
        self._left -= len(block)
        if self._left < 0:
            raise UnsafeXml(where=self._where, why="size")
        if self._prologue is not None:
            self._feed_watcher(self._prologue, block)
        return block

    def _watch(self) -> expat.XMLParserType:
        watcher = expat.ParserCreate()
        watcher.StartDoctypeDeclHandler = self._refuse
        watcher.StartElementHandler = self._end_prologue
        return watcher

    def _feed_watcher(self, watcher: expat.XMLParserType, block: bytes) -> None:
        try:
            watcher.Parse(block, not block)
        except (expat.ExpatError, ValueError, LookupError):
            self._prologue = None  # the parser proper will say what is wrong; it is judged again when it is done

    def _refuse(self, name: str, system: str | None, public: str | None, internal: bool) -> None:
        if internal or not self._limits.allows_external_doctype:
            raise UnsafeXml(where=self._where, why="doctype")

    def _end_prologue(self, name: str, attributes: dict[str, str]) -> None:
        self._prologue = None


@contextmanager
def _open_source(source: Path | Readable) -> Iterator[tuple[Readable, str]]:
    if isinstance(source, Path):
        with source.open("rb") as file:
            yield file, str(source)
    else:
        yield source, str(getattr(source, "name", "XML"))


@contextmanager
def _translate_faults(where: str) -> Iterator[None]:
    try:
        yield
    except etree.XMLSyntaxError as error:
        message = error.msg or ""
        if "XML_PARSE_HUGE" in message or "Excessive depth" in message or "entity" in message.lower():
            raise UnsafeXml(where=where, why="limits", line=error.lineno) from error
        raise PackageFault(where=where, why="malformed-xml", line=error.lineno, detail=message) from error
