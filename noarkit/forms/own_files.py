"""What each form of package says of itself: files that another package replaces by what it says of itself."""

from __future__ import annotations

import re
from collections.abc import Mapping

from noarkit.forms.form_markers import Form

# from the root of a package; all below these names is the form's own
_OWN: Mapping[Form, re.Pattern[str]] = {
    "eark": re.compile(
        r"(?:representations/[^/]+/)?(?:mets\.xml|(?:metadata|schemas|documentation)/.+|[^/]+\.xsd)",
        re.IGNORECASE | re.DOTALL,
    ),
    "dias": re.compile(
        r"(?:dias-mets|dias-premis|log|info|mets|premis|eac|ead)\.(?:xml|xsd)|[^/]+\.xsd"
        r"|(?:administrative_metadata|descriptive_metadata)/.+",
        re.IGNORECASE | re.DOTALL,
    ),
    "bagit": re.compile(
        r"(?:bagit|bag-info|package-info|fetch|original-names)\.txt|(?:tag)?manifest-\w+\.txt", re.DOTALL
    ),
    "noark5": re.compile(r"$^"),
}


def has_own_files(form: Form) -> bool:
    """True for a form of package that is known here."""
    return form in _OWN


def is_own_file(form: Form, name: str) -> bool:
    """True for a file of which the form says something of itself, by its name from the root of the package."""
    return form in _OWN and _OWN[form].fullmatch(name) is not None
