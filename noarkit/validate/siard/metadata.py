"""The rules of `metadata.xml`: its schema, names that must be there and be one, and keys that lead somewhere."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from lxml import etree

from noarkit.packages.siard.cells import UserTypes
from noarkit.packages.siard.model import Archive, Attribute, Column, Key, MessageDigest, Schema, Table
from noarkit.packages.siard.places import ZipPlace
from noarkit.packages.siard.proof import wrong_digests
from noarkit.packages.siard.schemas import metadata_schema
from noarkit.packages.siard.spec import METADATA, NAMESPACE
from noarkit.packages.siard.types import sql_type
from noarkit.validate.findings import Hit, Tally, shown


def check_schema(root: etree._Element, version: str, tally: Tally) -> None:
    """The document against the schema of its version; ours, which demands what the official one does."""
    if version == "1.0" or etree.QName(root).namespace != NAMESPACE:
        tally.add("SIARD-M_5.0-1-UNJUDGED", METADATA, version=version)
        return
    schema = _schema(version)
    if not schema.validate(root):
        for error in schema.error_log:  # type: ignore[attr-defined]  # the stubs do not know it can be gone through
            why = error.message.replace(f"{{{NAMESPACE}}}", "")
            tally.take(Hit("SIARD-M_5.0-1", METADATA, line=error.line, data=shown({"why": why})))


def check_digests(path: Path, place: ZipPlace, digests: Iterable[MessageDigest], tally: Tally) -> None:
    """The digests over everything before the header."""
    known = tuple(digests)
    if not known or place.header_at() is None:
        tally.add("SIARD-M_5.1-1-11-NONE", METADATA)
        return
    for digest, found in wrong_digests(path, place, known):
        tally.add("SIARD-M_5.1-1-11", METADATA, algorithm=digest.algorithm, expected=digest.digest, found=found)


def check_names(archive: Archive, types: UserTypes, tally: Tally) -> None:
    """Names and folders of schemas, tables and columns; types; keys."""
    _unique((schema.name for schema in archive.schemas), "SIARD-M_5.2-1", "name", "", tally)
    _unique((schema.folder for schema in archive.schemas), "SIARD-M_5.2-1", "folder", "", tally)
    for schema in archive.schemas:
        _unique((table.name for table in schema.tables), "SIARD-M_5.5-1", "name", schema.name, tally)
        _unique((table.folder for table in schema.tables), "SIARD-M_5.5-1", "folder", schema.name, tally)
        for kind in schema.types:
            for attribute in kind.attributes:
                _check_type(attribute, schema, types, f"{schema.name}.{kind.name}.{attribute.name}", tally)
        for table in schema.tables:
            _check_table(archive, schema, table, types, tally)


def _check_table(archive: Archive, schema: Schema, table: Table, types: UserTypes, tally: Tally) -> None:
    where = f"{schema.name}.{table.name}"
    _unique((column.name for column in table.columns), "SIARD-M_5.6-1", "name", where, tally)
    for column in table.columns:
        _check_type(column, schema, types, f"{where}.{column.name}", tally)
    names = {column.name for column in table.columns}
    if table.primary_key is not None:
        _check_key(table.primary_key, names, "SIARD-M_5.8-1", where, tally)
    for key in table.candidate_keys:
        _check_key(key, names, "SIARD-M_5.11-1", where, tally)
    others = {(one.name, other.name): other for one, other in archive.tables()}
    for foreign in table.foreign_keys:
        other = others.get((foreign.referenced_schema or schema.name, foreign.referenced_table))
        if other is None:
            name = f"{foreign.referenced_schema}.{foreign.referenced_table}"
            tally.add("SIARD-M_5.9-1", METADATA, table=where, key=foreign.name, name=name)
            continue
        theirs = {column.name for column in other.columns}
        for pair in foreign.references:
            missing = pair.column if pair.column not in names else pair.referenced
            if pair.column not in names or pair.referenced not in theirs:
                tally.add("SIARD-M_5.10-1", METADATA, table=where, key=foreign.name, name=missing)


def _check_key(key: Key, names: set[str], code: str, where: str, tally: Tally) -> None:
    for name in key.columns:
        if name not in names:
            tally.add(code, METADATA, table=where, key=key.name, name=name)


def _check_type(column: Column | Attribute, schema: Schema, types: UserTypes, where: str, tally: Tally) -> None:
    if column.type_name:
        known = (column.type_schema or schema.name, column.type_name) in types
        told = column.type_name
    else:
        known = sql_type(column.type) is not None
        told = column.type
    if not known:
        tally.add("SIARD-M_5.6-1-TYPE", METADATA, column=where, type=told or "-")


def _unique(names: Iterable[str], code: str, what: str, where: str, tally: Tally) -> None:
    seen: set[str] = set()
    for name in names:
        if not name.strip() or name in seen:
            tally.add(code, METADATA, what=what, name=name or "-", within=where or "-")
        seen.add(name)


@cache
def _schema(version: str) -> etree.XMLSchema:
    return etree.XMLSchema(etree.fromstring(metadata_schema(version)))  # our own text, no one else's
