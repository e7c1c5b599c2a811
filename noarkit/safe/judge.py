"""Validates XML of any size against a schema, as a stream: no tree is built, and each error knows its line.

The schema is ours or one whose bytes are known, never the document's own idea of one. A document type is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

from lxml import etree

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.safe.digest import Readable
from noarkit.safe.sax import event_parser

BLOCK_BYTES = 1024 * 1024
_PIECE_BYTES = 4096
_QUOTED = re.compile(r"Element '(?:\{([^}']*)\})?([^']*)'")
_BRACES = re.compile(r"\{[a-z]+:[^}']*\}")


@dataclass(frozen=True, slots=True)
class SchemaError:
    """One place where a document is not what its schema says."""

    line: int
    namespace: str
    element: str
    kind: str
    message: str


def judge(source: Path, schema: etree.XMLSchema, *, most: int = 10_000, located: int = 100) -> Iterator[SchemaError]:
    """The errors of a document by a schema, in their order; only the first `located` ones have a line, others 0.

    Stops after about `most` errors. The document is read once more where there are any, for the parser tells no lines.
    """
    yield from judge_stream(lambda: source.open("rb"), str(source), schema, most=most, located=located)


def judge_stream(
    open_file: Callable[[], AbstractContextManager[Readable]],
    where: str,
    schema: etree.XMLSchema,
    *,
    most: int = 10_000,
    located: int = 100,
) -> Iterator[SchemaError]:
    """The same for a document that lies in an archive file: `open_file` opens it, each time from its beginning."""
    # Up to three passes: the prologue for a document type, which must never reach libxml2; the schema over all of it;
    # and, only where there are errors, once more for their lines. A valid document of gigabytes is validated once.
    with open_file() as file:
        _refuse_doctype(file, where)
    with open_file() as file:
        errors, suspects = _suspects(file, where, schema, most)
    if not errors:
        return
    with open_file() as file:
        lines = list(_lines(file, schema, suspects, min(located, len(errors))))
    for number, entry in enumerate(errors):
        yield _schema_error(entry, lines[number] if number < len(lines) else 0)


def refuse_doctype(file: BinaryIO, where: str) -> None:
    """Reads the prologue and goes back; `UnsafeXml` for a document type, `PackageFault` where it cannot be read."""
    _refuse_doctype(file, where)
    file.seek(0)


def _refuse_doctype(file: Readable, where: str) -> None:
    has_begun = False

    def begin(name: str, attributes: dict[str, str]) -> None:
        nonlocal has_begun
        has_begun = True

    parser = event_parser(where)
    parser.StartElementHandler = begin
    try:
        # Bytes behind the root's tag are not parsed here: a document type can only stand before it.
        size = _PIECE_BYTES  # most prologues are no longer
        while not has_begun and (block := file.read(size)):
            parser.Parse(block)
            size = BLOCK_BYTES
    except (expat.ExpatError, ValueError, LookupError) as error:
        # what this parser cannot read, it cannot vouch for: no other parser gets to see it
        raise PackageFault(where=where, why="malformed-xml", detail=str(error)) from error


def _suspects(file: Readable, where: str, schema: etree.XMLSchema, most: int) -> tuple[list[etree._LogEntry], set[int]]:
    """The errors, and the numbers of the blocks in which they came up."""
    parser = _schema_parser(schema)
    suspects: set[int] = set()
    error_count = 0
    try:
        for number, block in enumerate(iter(lambda: file.read(BLOCK_BYTES), b"")):
            parser.feed(block)
            # libxml2 reports errors of a pushed document without a usable line. Which block each came up in is kept, so
            # that the second pass feeds only those blocks in small pieces.
            new_count = len(parser.feed_error_log)
            if new_count > error_count:
                suspects.add(number)
                error_count = new_count
            if error_count >= most:
                break
        else:
            parser.close()
    except etree.XMLSyntaxError as error:
        raise _fault_of(error, where) from error
    return list(parser.feed_error_log), suspects


def _lines(file: Readable, schema: etree.XMLSchema, suspects: set[int], most: int) -> Iterator[int]:
    """The lines of the first errors: blocks in which some came up are read piece by piece."""
    parser = _schema_parser(schema)
    reported_count, line = 0, 1
    # what came up once comes up again, so the end of the document is never met
    for number, block in enumerate(iter(lambda: file.read(BLOCK_BYTES), b"")):  # pragma: no branch
        # Example: an error in block 7. Blocks 0 to 6 are fed whole, only to bring the parser to the same state; 7 and 8
        # are fed in small pieces, and where the count of errors grows after a piece, its line is the error's.
        near = number in suspects or number - 1 in suspects  # what a block began may come up in the next
        for piece in _pieces(block) if near else (block,):
            parser.feed(piece)
            error_count = len(parser.feed_error_log) if near else reported_count
            yield from [line] * (error_count - reported_count)
            reported_count = error_count
            line += piece.count(b"\n")
            if reported_count >= most:
                return


def _fault_of(error: etree.XMLSyntaxError, where: str) -> PackageFault | UnsafeXml:
    message = error.msg or ""
    # libxml2's own limits against entity bombs and deep nesting; with `huge_tree=False` they are on.
    if "XML_PARSE_HUGE" in message or "Excessive depth" in message or "entity" in message.lower():
        return UnsafeXml(where=where, why="limits", line=error.lineno)
    return PackageFault(where=where, why="malformed-xml", line=error.lineno, detail=message)


class _NullTarget:
    """A target that keeps nothing: with it a parser builds no tree."""

    def close(self) -> None:
        """The end."""


def _schema_parser(schema: etree.XMLSchema) -> etree.XMLParser:
    return etree.XMLParser(
        schema=schema,
        target=_NullTarget(),  # type: ignore[arg-type]  # the stubs ask for every method, the parser for `close` alone
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
    )


def _pieces(block: bytes) -> Iterator[bytes]:
    """Lines, and long lines once more at the end of each tag."""
    for line in block.splitlines(keepends=True):
        if len(line) <= _PIECE_BYTES:
            yield line
            continue
        # Documents without line ends (one line of gigabytes) would else be one piece.
        *parts, tail = line.split(b">")
        yield from (part + b">" for part in parts)
        yield tail


def _schema_error(entry: etree._LogEntry, line: int) -> SchemaError:
    message = str(entry.message)
    match = _QUOTED.match(message)
    namespace, element = (match.group(1) or "", match.group(2)) if match else ("", "")
    return SchemaError(line, namespace, element, str(entry.type_name), _BRACES.sub("", message))


def joined_schema(files: Mapping[str, Path], namespaces: Mapping[str, str]) -> etree.XMLSchema:
    """One schema of several files; whatever they import is found among `files` by its bare name, or nowhere.

    `namespaces` names the file of each namespace that is judged. `PackageFault` where they are no schema together.
    """
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False)
    parser.resolvers.add(_FixedResolver(files))
    driver = etree.Element(f"{{{_XS}}}schema", nsmap={"xs": _XS})
    for namespace, name in namespaces.items():
        etree.SubElement(driver, f"{{{_XS}}}import", namespace=namespace, schemaLocation=f"{_PLACE}{name}")
    for path in files.values():
        with path.open("rb") as file:
            refuse_doctype(file, str(path))
    try:
        return etree.XMLSchema(etree.fromstring(etree.tostring(driver), parser, base_url=f"{_PLACE}all.xsd"))
    except (etree.XMLSchemaParseError, etree.XMLSyntaxError) as error:
        raise PackageFault(where=", ".join(sorted(files)), why="schema", detail=str(error)) from error


_XS = "http://www.w3.org/2001/XMLSchema"
_PLACE = "schemas:///"


class _FixedResolver(etree.Resolver):
    """Answers for a name with the file that goes by it, and with an empty schema for every other."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = files

    def resolve(self, system_url: str, public_id: str, context: object) -> object:  # type: ignore[override]  # the stubs lack context
        """The file's bytes under the address asked for, so that what it imports comes here too."""
        path = self._files.get(system_url.rpartition("/")[2])
        # Never the network, never a path the schema names: an import we do not have becomes an invalid schema, and so a
        # fault.
        text = path.read_bytes() if path is not None else b"<nothing/>"
        return self.resolve_string(text, context, base_url=system_url)
