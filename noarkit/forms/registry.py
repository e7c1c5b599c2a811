"""The forms of package: ours in one line each, and those that other packages register.

    known_forms().form("eark").validate(…)

A form of another package is a `PackageForm` that its entry point in the group `noarkit.forms` names. It is imported
when somebody asks for the forms, which is when a place is looked at, and never at the start of the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from noarkit.errors import UsageFault
from noarkit.forms.package_form import PLAIN, FormName, PackageForm, Product, ProductKind
from noarkit.words.texts import LANGUAGES, add_words, texts

GROUP = "noarkit.forms"
FILES = "files"
"""What `--source-kind` calls what has no form."""
FLAT_FILES = "addml"
"""What `--source-kind` calls flat files that ADDML describes: read as tables, packed as files."""

# in the order in which people are told of them
OUR_FORMS = (
    "noarkit.forms.noark5.form:NOARK5",
    "noarkit.forms.eark.form:EARK",
    "noarkit.forms.dias.form:DIAS",
    "noarkit.forms.bagit.form:BAGIT",
    "noarkit.forms.siard.form:SIARD",
)

_NAME = re.compile(r"[a-z][a-z0-9-]{1,39}")
_NOT_FORMS = frozenset({PLAIN, FILES, "database", "embedded", "sqlite", FLAT_FILES})
_KIND_ORDER: tuple[ProductKind, ...] = ("package", "extract", "database")


class FormRegistry:
    """All forms, and what is asked of them together."""

    def __init__(self, forms: Iterable[PackageForm]) -> None:
        self.forms = tuple(forms)
        self._by_name = {form.name: form for form in self.forms}
        self._by_source_kind = {form.source_kind: form for form in self.forms}
        self._products = {product.name: product for form in self.forms for product in form.products}
        self.by_rank = tuple(sorted(self.forms, key=lambda form: form.rank))
        self.marker_files = frozenset(name for form in self.forms for name in form.marker_files)
        self.parts = tuple(dict.fromkeys(pattern for form in self.forms for pattern in form.parts))
        self.deepest = 2 + max(name.count("/") + 1 for name in self.marker_files)
        self.loss_rules = frozenset(code for form in self.forms for code in form.loss_rules)
        self.rule_ids = tuple(form.rule_ids for form in self.forms if form.rule_ids is not None)
        self.false_alarms = frozenset(code for form in self.forms for code in form.false_alarms)
        self.source_kinds = (FILES, *self._by_name, FLAT_FILES)

    def find(self, name: FormName) -> PackageForm | None:
        """The form of that name; None for `"plain"`, and for what is none."""
        return self._by_name.get(name)

    def form(self, name: FormName) -> PackageForm:
        """The form of that name. Raises `UsageFault` where there is none."""
        form = self._by_name.get(name)
        if form is None:
            raise UsageFault(what="unknown-form", where=name, do=", ".join(self._by_name))
        return form

    def form_of_source(self, kind: str) -> PackageForm | None:
        """The form whose sources are of that kind."""
        return self._by_source_kind.get(kind)

    def product_names(self, *kinds: ProductKind) -> tuple[str, ...]:
        """What `--as` takes, of these kinds (all of them where none is said): packages, the extract, databases."""
        return tuple(
            product.name for kind in kinds or _KIND_ORDER for product in self._products.values() if product.kind == kind
        )

    def product(self, name: str, *kinds: ProductKind) -> Product:
        """What `--as NAME` makes, where it is of these kinds. Raises `UsageFault` where there is no such thing."""
        names = self.product_names(*kinds)
        if name not in names:
            raise UsageFault(what="unknown-form", where=name, do=", ".join(names))
        return self._products[name]


@cache
def known_forms() -> FormRegistry:
    """The forms of this process, loaded once. Raises `UsageFault` for a registered one that is broken."""
    forms = [load_form(place) for place in OUR_FORMS]
    entries = {(entry.name, entry.value): entry for entry in entry_points(group=GROUP)}
    for entry in entries.values():
        forms.append(_registered(entry, forms))
    return FormRegistry(forms)


def load_form(place: str) -> PackageForm:
    """The form whose value lies at `module:NAME`."""
    value = resolve(place)
    assert isinstance(value, PackageForm)  # noqa: S101  # every line of OUR_FORMS names one
    return value


def resolve(place: object) -> object:
    """What lies at `module:name`; anything that is no text stands for itself."""
    if not isinstance(place, str):
        return place
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def _registered(entry: EntryPoint, forms: list[PackageForm]) -> PackageForm:
    """The form of another package, and its words. Raises `UsageFault` for one that cannot be used."""
    where = f"{entry.name} ({entry.value})"
    remedy = f"python -c 'import {entry.module}'"
    try:
        form = entry.load()
    except Exception as error:  # whatever somebody else's module does when it is imported
        raise UsageFault(what="form-broken", where=f"{where}: {type(error).__name__}", do=remedy) from error
    if not isinstance(form, PackageForm):
        raise UsageFault(what="form-no-form", where=f"{where}: {type(form).__name__}", do=remedy)
    if form.name != entry.name or _NAME.fullmatch(form.name) is None or form.name in _NOT_FORMS:
        raise UsageFault(what="form-name", where=f"{where}: {form.name}", do=remedy)
    products = {product.name for other in forms for product in other.products}
    kinds = {kind for other in forms for kind in (other.name, other.source_kind)}
    if kinds & {form.name, form.source_kind} or products & {product.name for product in form.products}:
        raise UsageFault(what="form-twice", where=where, do="pip uninstall")
    try:
        for language, tables in form.words.items():
            add_words(language, tables)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise UsageFault(what="form-words", where=f"{where}: {error}", do=remedy) from error
    for key in (f"form.{form.name}", f"validation.form-{form.name}"):
        missing = next((language for language in LANGUAGES if not texts(language).has("say", key)), None)
        if missing is not None:
            raise UsageFault(what="form-words", where=f"{where}: {missing}.say.{key}", do=remedy)
    return form
