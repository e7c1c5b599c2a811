"""What of a package is not carried into another: found = carried + replaced + left out, by name.

What a form says of itself (METS, manifests, schemas, tag files) is replaced by what the new form says of itself;
anything else that no part carries is left out, and told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from noarkit.forms.container.storage import Storage
from noarkit.forms.package_form import FormName
from noarkit.forms.registry import known_forms

Covers = Callable[[str], bool]
"""True for a name, from the root of the package, that a part carries."""


def left_out(form: FormName, storage: Storage, predicates: Iterable[Covers]) -> Iterator[str]:
    """The names of plain files that nothing carries, and that are none of the form's own."""
    package_form = known_forms().find(form)
    if package_form is None or package_form.own_files is None:
        return
    is_own = package_form.own_files.fullmatch
    covering = tuple(predicates)

    def carries(name: str) -> bool:
        return any(covers(name) for covers in covering)

    for file in storage.files():
        name = file.name
        if file.odd or is_own(name) or carries(name):
            continue
        sealed = name.removesuffix(".xml") + ".tar"  # a DIAS description lies beside the package that it seals
        if name.endswith(".xml") and carries(sealed):
            continue
        yield name
