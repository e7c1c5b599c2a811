"""A form of package of somebody else: a folder with `toy.txt`, and files below `content/`.

tests/forms/test_registry.py installs this module as a package of its own.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import noarkit
from noarkit.extraction.packing import Delivery, placed_files
from noarkit.extraction.renamed import place_parts
from noarkit.forms.container.packager import MadePackage, Order, make_package
from noarkit.forms.container.storage import FolderStorage, Storage, open_storage
from noarkit.forms.findings import Rule, Tally, ValidateResult
from noarkit.forms.form_markers import FormEvidence
from noarkit.forms.package_form import DetectedForm, PackageForm, Product, SourcePlace, ValidateOptions
from noarkit.records import Source, SourceIdentity

MARK = "toy.txt"
CONTENT = "content/"
EMPTY, STRAY = Rule("TOY-1", "error", "content", ()), Rule("TOY-2", "warning", "content", ())


class Toys:
    """The files below `content/` as records."""

    def __init__(self, place: str) -> None:
        self.root = Path(place)

    def records(self) -> Iterator[noarkit.Record]:
        """One record for each file."""
        for path in sorted((self.root / CONTENT).rglob("*")):
            if path.is_file():
                key = path.relative_to(self.root).as_posix()
                yield noarkit.Record("toy", key, {"title": path.stem}, (noarkit.Content(key, path.name),))

    def open(self, locator: str) -> bytes:
        """The bytes of one file."""
        return (self.root / locator).read_bytes()


def looks_like_toy(evidence: FormEvidence) -> bool:
    """The mark says so in its first word."""
    return evidence.heads.get(MARK, b"").startswith(b"toy ")


def find_source(place: SourcePlace) -> Source | None:
    """The toys at a folder."""
    root = place.detected.root if place.detected is not None else Path(place.where)
    return noarkit.from_reader(Toys(str(root.absolute())), "toy", str(root.absolute())) if root.is_dir() else None


def reopen(identity: SourceIdentity) -> Source:
    """The toys of a plan."""
    place = identity.where.removeprefix("toy:")
    return noarkit.from_reader(Toys(place), "toy", place)


def validate(path: Path, detected: DetectedForm, options: ValidateOptions) -> ValidateResult:
    """There is content, and nothing but the mark beside it."""
    began = time.monotonic()
    rules = {rule.code: rule for rule in (EMPTY, STRAY)}
    tally = Tally(rules)
    packed = detected.packed is not None
    storage: Storage = open_storage(path, options.limits) if packed else FolderStorage(detected.root)
    with closing(storage):
        names = [file.name for file in storage.files()]
    if not any(name.startswith(CONTENT) for name in names):
        tally.add("TOY-1", MARK)
    for name in names:
        if name != MARK and not name.startswith(CONTENT):
            tally.add("TOY-2", name, name=name)
    seconds = time.monotonic() - began
    summary = {"files": (str(len(names)),)}
    return ValidateResult(str(path), "toy", "1", summary, tuple(rules.values()), tally.outcomes({}), (), seconds)


def make(delivery: Delivery, product: str) -> MadePackage:
    """The mark, and every file below `content/`."""
    payload = delivery.payload
    order = Order(delivery.target, f"{product} {payload.title}", first=(MARK, b"toy 1\n"), aside=payload.aside)
    files = ((CONTENT + file[0], *file[1:]) for file in placed_files(place_parts(payload, product)))
    return make_package(files, order, lambda *_: None, emit=delivery.emit)


FORM = PackageForm(
    name="toy",
    source_kind="toy",
    marker_files=frozenset({MARK}),
    looks_like=looks_like_toy,
    find_source=find_source,
    reopen=reopen,
    validate=validate,
    content=CONTENT,
    own_files=re.compile(r"toy\.txt"),
    loss_rules=frozenset({"TOY-1"}),
    products=(Product(name="toy", maker="toy_form:make", content=CONTENT),),
    words={
        "en": {
            "say": {"form.toy": "a toy package", "validation.form-toy": "Toy package, version"},
            "rules": {
                "TOY-1": {"title": "A toy has content", "told": "there is no content"},
                "TOY-2": {"title": "Nothing lies beside the content", "told": "{name} lies beside it"},
            },
        },
        "nb": {
            "say": {"form.toy": "en lekepakke", "validation.form-toy": "Lekepakke, versjon"},
            "rules": {
                "TOY-1": {"title": "En leke har innhold", "told": "det er ikke noe innhold"},
                "TOY-2": {"title": "Ingenting ligger ved siden av innholdet", "told": "{name} ligger ved siden av"},
            },
        },
    },
)
