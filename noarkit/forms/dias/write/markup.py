"""Small pieces of XML of a DIAS package, written as text."""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.safe.xml_text import escape_attribute, escape_text

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def attributes(values: Mapping[str, str]) -> str:
    """Attributes that have a value, each after a blank."""
    return "".join(f' {name}="{escape_attribute(value)}"' for name, value in values.items() if value)


def element(name: str, value: str, **values: str) -> str:
    """An element that holds a text."""
    return f"<{name}{attributes(values)}>{escape_text(value)}</{name}>\n"
