"""Choices of options that a registry knows: forms of package, formats of results. Asked when the option is read."""

from __future__ import annotations

from collections.abc import Callable

import click

from noarkit.forms.registry import known_forms
from noarkit.wings import has_wing


class RegistryChoice(click.Choice[str]):
    """A choice whose names the registry knows. Other packages may add to them, and are not loaded before."""

    def __init__(self, names: Callable[[], tuple[str, ...]]) -> None:
        self.case_sensitive = True
        self._names = names

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]  # click reads it, and sets it only in its __init__
        """The names, as they stand now."""
        return self._names()


def _report_formats() -> tuple[str, ...]:
    if not has_wing("services"):
        return ()
    from noarkit.services.registry import verbs_with_formats

    return tuple(dict.fromkeys(name for _, _, verb in verbs_with_formats() for name in verb.formats))


SOURCE_KINDS = RegistryChoice(lambda: known_forms().source_kinds)
PRODUCTS = RegistryChoice(lambda: known_forms().product_names())
EXTRACT_PRODUCTS = RegistryChoice(lambda: known_forms().product_names("extract", "package"))
REPORT_FORMATS = RegistryChoice(_report_formats)
