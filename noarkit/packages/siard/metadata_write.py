"""Writes `header/metadata.xml` from what is known of the archive, element by element as `spec` has them."""

from __future__ import annotations

from collections.abc import Iterator

from noarkit.packages.siard.escapes import escaped
from noarkit.packages.siard.model import Archive
from noarkit.packages.siard.spec import ITEMS, NAMESPACE, XSI, Item


def metadata_xml(archive: Archive) -> bytes:
    """The whole document. What the specification demands and nobody said stands as «unspecified»."""
    root = (
        f'<siardArchive xmlns="{NAMESPACE}" xmlns:xsi="{XSI}"'
        f' xsi:schemaLocation="{NAMESPACE} metadata.xsd" version="{archive.version}">'
    )
    lines = ['<?xml version="1.0" encoding="utf-8"?>', root, *_parts(archive, 1), "</siardArchive>", ""]
    return "\n".join(lines).encode()


def _parts(value: object, depth: int) -> Iterator[str]:
    for item in ITEMS[type(value)]:
        yield from _element(item, getattr(value, item.field), depth, bool(getattr(value, "type_name", "")))


def _element(item: Item, held: object, depth: int, named: bool) -> Iterator[str]:
    if item.branch and (item.branch == 2) != named:
        return
    margin = " " * depth
    if item.kind == "list":
        assert isinstance(held, tuple)  # noqa: S101  # as the model has it
        if held or item.least:
            yield f"{margin}<{item.tag}>"
            for one in held:
                yield from _wrapped(item.each, one, depth + 1)
            yield f"{margin}</{item.tag}>"
    elif item.kind == "many":
        assert isinstance(held, tuple)  # noqa: S101  # as the model has it
        for one in held:
            yield from _wrapped(item.tag, one, depth)
    elif item.kind == "one":
        if held is not None:
            yield from _wrapped(item.tag, held, depth)
    else:
        told = _told(item, held)
        if told or (item.least and held is not None):
            yield f"{margin}<{item.tag}>{told}</{item.tag}>"


def _wrapped(tag: str, one: object, depth: int) -> Iterator[str]:
    margin = " " * depth
    if isinstance(one, str):
        yield f"{margin}<{tag}>{escaped(one)}</{tag}>"
        return
    yield f"{margin}<{tag}>"
    yield from _parts(one, depth + 1)
    yield f"{margin}</{tag}>"


def _told(item: Item, held: object) -> str:
    if isinstance(held, bool):
        return "true" if held else "false"
    told = "" if held is None else escaped(str(held))
    return told or ("unspecified" if item.kind == "mandatory" else "")
