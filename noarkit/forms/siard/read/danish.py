"""The Danish variant, as far as its tables: `Indices/tableIndex.xml` in a folder, and tables as in SIARD 1.0.

Documents (`docIndex.xml`) and context documentation are not read. A NULL stands as `xsi:nil`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from lxml import etree

from noarkit.errors import PackageFault
from noarkit.forms.siard.escapes import text_of
from noarkit.forms.siard.model import Archive, Column, ForeignKey, Key, Reference, Schema, Table, View
from noarkit.safe import xml

INDEX = "Indices/tableIndex.xml"
_LIMITS = xml.XmlLimits(max_bytes=512 * 1024 * 1024, max_depth=40)


def read_index(source: BinaryIO) -> Archive:
    """What the index of tables says. Raises `PackageFault` where it is none."""
    root = xml.parse(source, limits=_LIMITS)
    if _local(root) != "siardDiark":
        raise PackageFault(where=INDEX, why="no-siard-metadata", detail=_local(root))
    tables = tuple(_table(element) for element in _nested_children(root, "tables", "table"))
    views = tuple(_view(element) for element in _nested_children(root, "views", "view"))
    schema = Schema(_text(root, "dbName") or "schema1", "schema1", tables=tables, views=views)
    return Archive(
        version="1.0",
        dbname=_text(root, "dbName"),
        database_product=_text(root, "databaseProduct"),
        schemas=(schema,),
    )


def _table(element: etree._Element) -> Table:
    key = next(_children(element, "primaryKey"), None)
    rows = _text(element, "rows").strip()
    return Table(
        _text(element, "name"),
        _text(element, "folder").strip(),
        _text(element, "description"),
        tuple(_column(child) for child in _nested_children(element, "columns", "column")),
        None if key is None else Key(_text(key, "name"), tuple(_texts(key, "column"))),
        tuple(_foreign_key(child) for child in _nested_children(element, "foreignKeys", "foreignKey")),
        rows=int(rows) if rows.isdecimal() and len(rows) < 20 else 0,
    )


def _column(element: etree._Element) -> Column:
    return Column(
        _text(element, "name"),
        type=" ".join(_text(element, "type").split()).upper(),
        type_original=_text(element, "typeOriginal"),
        nullable=_text(element, "nullable").strip() in ("true", "1"),
        default=_text(element, "defaultValue"),
        description=_text(element, "description"),
    )


def _foreign_key(element: etree._Element) -> ForeignKey:
    pairs = tuple(
        Reference(_text(reference, "column"), _text(reference, "referenced"))
        for reference in _children(element, "reference")
    )
    return ForeignKey(_text(element, "name"), "", _text(element, "referencedTable"), pairs)


def _view(element: etree._Element) -> View:
    return View(
        _text(element, "name"),
        query_original=_text(element, "queryOriginal"),
        description=_text(element, "description"),
    )


def _nested_children(element: etree._Element, wrapper: str, tag: str) -> Iterator[etree._Element]:
    for outer in _children(element, wrapper):
        yield from _children(outer, tag)


def _children(element: etree._Element, tag: str) -> Iterator[etree._Element]:
    return (child for child in element if isinstance(child.tag, str) and _local(child) == tag)


def _texts(element: etree._Element, tag: str) -> Iterator[str]:
    return (text_of(child.text or "") for child in _children(element, tag))


def _text(element: etree._Element, tag: str) -> str:
    return next(_texts(element, tag), "")


def _local(element: etree._Element) -> str:
    return etree.QName(element).localname
