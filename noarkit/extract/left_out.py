"""Lists the files of a package that are not carried into another: found = carried + replaced + left out.

What a form says of itself (METS, manifests, schemas, tag files) is replaced by what the new form says of itself;
anything else that no part carries is left out, and told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from noarkit.packages.holding.storage import Storage
from noarkit.packages.marks import Form

Covers = Callable[[str], bool]
"""True for a name, from the root of the package, that a part carries."""

# what each form says of itself, from its root; all below these names is the form's own
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
    "bagit": re.compile(r"(?:bagit|bag-info|package-info|fetch)\.txt|(?:tag)?manifest-\w+\.txt", re.DOTALL),
    "noark5": re.compile(r"$^"),
}


def names_left_out(form: Form, storage: Storage, covers_: Iterable[Covers]) -> Iterator[str]:
    """The names of plain files that nothing carries, and that are none of the form's own."""
    own_names = _OWN.get(form)
    if own_names is None:
        return
    covering = tuple(covers_)

    def carries(name: str) -> bool:
        return any(covers(name) for covers in covering)

    for stored in storage.files():
        name = stored.name
        if stored.odd or own_names.fullmatch(name) or carries(name):
            continue
        sealed_tar = name.removesuffix(".xml") + ".tar"  # a DIAS description lies beside the package that it seals
        if name.endswith(".xml") and carries(sealed_tar):
            continue
        yield name
