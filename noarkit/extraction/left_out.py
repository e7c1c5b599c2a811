"""What of a package is not carried into another: found = carried + replaced + left out, by name.

What a form says of itself (METS, manifests, schemas, tag files) is replaced by what the new form says of itself;
anything else that no part carries is left out, and told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from noarkit.forms.container.storage import Storage
from noarkit.forms.form_markers import Form
from noarkit.forms.own_files import has_own_files, is_own_file

Covers = Callable[[str], bool]
"""True for a name, from the root of the package, that a part carries."""


def left_out(form: Form, storage: Storage, predicates: Iterable[Covers]) -> Iterator[str]:
    """The names of plain files that nothing carries, and that are none of the form's own."""
    if not has_own_files(form):
        return
    covering = tuple(predicates)

    def carries(name: str) -> bool:
        return any(covers(name) for covers in covering)

    for file in storage.files():
        name = file.name
        if file.odd or is_own_file(form, name) or carries(name):
            continue
        sealed = name.removesuffix(".xml") + ".tar"  # a DIAS description lies beside the package that it seals
        if name.endswith(".xml") and carries(sealed):
            continue
        yield name
