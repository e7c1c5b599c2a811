"""Checks `metadata.xml`: its schema, required and unique names, types, and the columns of keys."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from lxml import etree

from noarkit.forms.findings import Hit, Tally, place_data
from noarkit.forms.siard.cells import UserTypes
from noarkit.forms.siard.model import Archive, Attribute, Column, Key, MessageDigest, Schema, Table
from noarkit.forms.siard.read.places import ZipPlace
from noarkit.forms.siard.read.proof import wrong_digests
from noarkit.forms.siard.schemas import metadata_schema
from noarkit.forms.siard.spec import METADATA, NAMESPACE
from noarkit.forms.siard.types import sql_type


def check_schema(root: etree._Element, version: str, tally: Tally) -> None:
    """The document against the schema of its version; ours, which demands what the official one does."""
    if version == "1.0" or etree.QName(root).namespace != NAMESPACE:
        tally.add("SIARD-M_5.0-1-UNJUDGED", METADATA, version=version)
        return
    schema = _schema(version)
    if not schema.validate(root):
        for error in schema.error_log:  # type: ignore[attr-defined]  # the stubs do not know it can be gone through
            reason = error.message.replace(f"{{{NAMESPACE}}}", "")
            tally.add_hit(Hit("SIARD-M_5.0-1", METADATA, line=error.line, data=place_data({"why": reason})))


def check_digests(path: Path, place: ZipPlace, digests: Iterable[MessageDigest], tally: Tally) -> None:
    """The digests over everything before the header."""
    known_digests = tuple(digests)
    if not known_digests or place.header_at() is None:
        tally.add("SIARD-M_5.1-1-11-NONE", METADATA)
        return
    for digest, actual in wrong_digests(path, place, known_digests):
        tally.add("SIARD-M_5.1-1-11", METADATA, algorithm=digest.algorithm, expected=digest.digest, found=actual)


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
    location = f"{schema.name}.{table.name}"
    _unique((column.name for column in table.columns), "SIARD-M_5.6-1", "name", location, tally)
    for column in table.columns:
        _check_type(column, schema, types, f"{location}.{column.name}", tally)
    names = {column.name for column in table.columns}
    if table.primary_key is not None:
        _check_key(table.primary_key, names, "SIARD-M_5.8-1", location, tally)
    for key in table.candidate_keys:
        _check_key(key, names, "SIARD-M_5.11-1", location, tally)
    tables_by_name = {
        (owner.name, referenced_table.name): referenced_table for owner, referenced_table in archive.tables()
    }
    for foreign in table.foreign_keys:
        referenced_table = tables_by_name.get((foreign.referenced_schema or schema.name, foreign.referenced_table))
        if referenced_table is None:
            name = f"{foreign.referenced_schema}.{foreign.referenced_table}"
            tally.add("SIARD-M_5.9-1", METADATA, table=location, key=foreign.name, name=name)
            continue
        referenced_names = {column.name for column in referenced_table.columns}
        for pair in foreign.references:
            missing = pair.column if pair.column not in names else pair.referenced
            if pair.column not in names or pair.referenced not in referenced_names:
                tally.add("SIARD-M_5.10-1", METADATA, table=location, key=foreign.name, name=missing)


def _check_key(key: Key, names: set[str], code: str, location: str, tally: Tally) -> None:
    for name in key.columns:
        if name not in names:
            tally.add(code, METADATA, table=location, key=key.name, name=name)


def _check_type(column: Column | Attribute, schema: Schema, types: UserTypes, location: str, tally: Tally) -> None:
    if column.type_name:
        is_known = (column.type_schema or schema.name, column.type_name) in types
        type_name = column.type_name
    else:
        is_known = sql_type(column.type) is not None
        type_name = column.type
    if not is_known:
        tally.add("SIARD-M_5.6-1-TYPE", METADATA, column=location, type=type_name or "-")


def _unique(names: Iterable[str], code: str, member: str, location: str, tally: Tally) -> None:
    seen_names: set[str] = set()
    for name in names:
        if not name.strip() or name in seen_names:
            tally.add(code, METADATA, what=member, name=name or "-", within=location or "-")
        seen_names.add(name)


@cache
def _schema(version: str) -> etree.XMLSchema:
    return etree.XMLSchema(etree.fromstring(metadata_schema(version)))  # our own text, no one else's
