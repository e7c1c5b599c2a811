"""The choices of options that name a form of package: asked of the registry when the option is read, not before."""

from __future__ import annotations

from collections.abc import Callable

import click

from noarkit.forms.registry import known_forms


class FormChoice(click.Choice[str]):
    """A choice whose names the registry knows. Other packages may add to them, and are not loaded before."""

    def __init__(self, names: Callable[[], tuple[str, ...]]) -> None:
        self.case_sensitive = True
        self._names = names

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]  # click reads it, and sets it only in its __init__
        """The names, as they stand now."""
        return self._names()


SOURCE_KINDS = FormChoice(lambda: known_forms().source_kinds)
PRODUCTS = FormChoice(lambda: known_forms().product_names())
EXTRACT_PRODUCTS = FormChoice(lambda: known_forms().product_names("extract", "package"))
