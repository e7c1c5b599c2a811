"""The converters of a site, by the names that policies call them. A new one is a line here."""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.copies.port import Converter
from noarkit.copies.settings import CopySettings


def converters(settings: CopySettings) -> Mapping[str, Converter]:
    """Every converter there is, whether its program is installed or not; its version says that."""
    from noarkit.copies.converters.text import TextConverter

    del settings
    every: tuple[Converter, ...] = (TextConverter(),)
    return {converter.name: converter for converter in every}
