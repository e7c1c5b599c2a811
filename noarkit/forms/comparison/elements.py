"""Reads an extract as rows of its XML elements, with the sha256 of each file."""

from __future__ import annotations

from collections.abc import Iterator

from noarkit.errors import SourceFault, UnsafePath
from noarkit.forms.comparison.editions import Names
from noarkit.forms.comparison.ledger import Row
from noarkit.forms.comparison.rules import EARLIER_KEY
from noarkit.forms.noark5.nodes import Node, nodes, text
from noarkit.forms.noark5.read.structure import UUID, units
from noarkit.forms.noark5.source import ExtractSource
from noarkit.forms.noark5.spec import STRUCTURE
from noarkit.forms.noark5.write import unmapped
from noarkit.graph.entity import Content
from noarkit.model.disclosure import of_fields, of_whole
from noarkit.safe.digest import sha256_of_stream
from noarkit.safe.spill import IDS_AT_HAND, KeySet

_KEYED = unmapped.OWN_SYSTEM
_WITHIN = ("dokumentbeskrivelse", "dokumentobjekt")
_IDENTS = ("mappeID", "registreringsID", "klasseID", "arkivskaperID", "dokumentnummer", "versjonsnummer", "tittel")


def element_rows(source: ExtractSource, names: Names) -> Iterator[Row]:
    """Every unit, document and version. Raises PackageFault, UnsafeXml."""
    with KeySet(IDS_AT_HAND) as seen_ids:
        for unit in units(source.root / f"{STRUCTURE}.xml", seen_ids.add):
            kind = names.kind(unit.type or unit.kind)
            yield _row(names, (kind, unit.key, unit.above), unit.node)
            yield from _documents(source, names, unit.key, unit.node)


def _documents(source: ExtractSource, names: Names, above: str, node: Node) -> Iterator[Row]:
    for place, document in enumerate(nodes(node, "dokumentbeskrivelse"), 1):
        key = f"{above}#{place}"
        yield _row(names, ("dokumentbeskrivelse", key, above), document)
        yield from _versions(source, names, key, document)
    yield from _versions(source, names, above, node)


def _versions(source: ExtractSource, names: Names, above: str, node: Node) -> Iterator[Row]:
    for place, version in enumerate(nodes(node, "dokumentobjekt"), 1):
        row = _row(names, ("dokumentobjekt", f"{above}v{place}", above), version)
        other_fields = {name: value for name, value in row.fields.items() if name != "in"}
        yield row._replace(fields={**other_fields, "sha256": sha256_in(source, text(version, "referanseDokumentfil"))})


def sha256_in(source: ExtractSource, path: str | None) -> str:
    """The sha256 of a file of a package; a word where it cannot be had."""
    if path is None:
        return "none"
    try:
        with source.file(path.replace("\\", "/")) as file:
            return sha256_of_stream(file)
    except (OSError, UnsafePath, SourceFault):
        return "missing"


def sha256_of(source: ExtractSource, content: Content) -> str:
    """The sha256 of a document of a package; a word where it cannot be had."""
    try:
        with source.open(content) as stream:
            return sha256_of_stream(stream)
    except SourceFault:
        return "missing"


def _row(names: Names, place: tuple[str, str, str], node: Node) -> Row:
    """The row of a unit; its place is its kind, its key and that of what it stands in."""
    kind, key, above = place
    system_id = names.own_id(kind, text(node, "systemID") or "")
    ident = next((ident_text for name in _IDENTS if (ident_text := text(node, name))), "")
    fields: dict[str, list[str]] = {}
    _flatten(node, "", fields, names)
    if not system_id:
        fields.pop("systemID", None)
    return Row(
        *(key, kind, above, system_id.lower() if UUID.fullmatch(system_id) else system_id, ident),
        {**fields, "in": above},
        disclosure=of_whole(of_fields(node), [_without_documents(node)]),
    )


def _without_documents(node: Node) -> Node:
    """What stands in a unit but for its documents, which are rows of their own."""
    return {name: values for name, values in node.items() if name not in _WITHIN}


def _flatten(node: Node, above: str, fields: dict[str, list[str]], names: Names) -> None:
    for name, children in node.items():
        if name in _WITHIN:
            continue
        path = names.path(above, name)
        for value in children:
            if isinstance(value, dict) and name == unmapped.EXTERNAL_ID and text(value, "eksterntSystem") == _KEYED:
                fields.setdefault(f"{path}/{EARLIER_KEY}", []).append(text(value, "eksternID") or "")
            elif isinstance(value, dict):
                _flatten(value, path, fields, names)
            elif value is not None:
                fields.setdefault(path, []).append(names.text(name, value.strip()))
    if not above:
        for values in fields.values():
            values.sort()
