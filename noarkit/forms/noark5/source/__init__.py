"""Packages as sources: an archive that was extracted once goes into another archive as it stands, without a recipe.

source          a Noark 5 extract: its archive units as records, its documents as contents
packed          an extract in a zip or tar
around          the files of the package that an extract lies in: METS, PREMIS, EAD, manifests
extract_recipe  what a recipe may say of an extract
files           the document files, as they are named and as they lie
"""

from noarkit.forms.noark5.source.extract_recipe import ExtractRecipe, read_extract_recipe
from noarkit.forms.noark5.source.source import (
    DEFAULT_ZONE,
    EXTERNAL_SYSTEM,
    KIND,
    ExtractMapper,
    ExtractSource,
    find_extract,
)

__all__ = [
    "DEFAULT_ZONE",
    "EXTERNAL_SYSTEM",
    "KIND",
    "ExtractMapper",
    "ExtractRecipe",
    "ExtractSource",
    "find_extract",
    "read_extract_recipe",
]
