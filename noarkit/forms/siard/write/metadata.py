"""Writes `header/metadata.xml` from what is known of the archive, element by element as `siard.spec` has them."""

from __future__ import annotations

from collections.abc import Iterator

from noarkit.forms.siard.escapes import escaped
from noarkit.forms.siard.model import Archive
from noarkit.forms.siard.spec import ITEMS, NAMESPACE, XSI, Item


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


def _element(item: Item, value: object, depth: int, has_type_name: bool) -> Iterator[str]:
    if item.branch and (item.branch == 2) != has_type_name:
        return
    margin = " " * depth
    if item.kind == "list":
        assert isinstance(value, tuple)  # noqa: S101  # as the model has it
        if value or item.least:
            yield f"{margin}<{item.tag}>"
            for part in value:
                yield from _wrapped_element(item.entry_tag, part, depth + 1)
            yield f"{margin}</{item.tag}>"
    elif item.kind == "many":
        assert isinstance(value, tuple)  # noqa: S101  # as the model has it
        for part in value:
            yield from _wrapped_element(item.tag, part, depth)
    elif item.kind == "one":
        if value is not None:
            yield from _wrapped_element(item.tag, value, depth)
    else:
        text = _item_text(item, value)
        if text or (item.least and value is not None):
            yield f"{margin}<{item.tag}>{text}</{item.tag}>"


def _wrapped_element(tag: str, value: object, depth: int) -> Iterator[str]:
    margin = " " * depth
    if isinstance(value, str):
        yield f"{margin}<{tag}>{escaped(value)}</{tag}>"
        return
    yield f"{margin}<{tag}>"
    yield from _parts(value, depth + 1)
    yield f"{margin}</{tag}>"


def _item_text(item: Item, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = "" if value is None else escaped(str(value))
    return text or ("unspecified" if item.kind == "mandatory" else "")
