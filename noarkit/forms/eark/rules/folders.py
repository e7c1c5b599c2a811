"""The rules of folders (CSIPSTR), and of names: what lies where in a package."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from noarkit.forms.eark import spec
from noarkit.forms.eark.rules.finding_sink import FindingSink
from noarkit.forms.eark.rules.inventory import Inventory
from noarkit.forms.eark.rules.judge import same_name

HasFolder = Callable[[str], bool]
_KNOWN = frozenset((spec.METADATA, spec.REPRESENTATIONS, spec.SCHEMAS, spec.DOCUMENTATION, spec.SUBMISSION))
_MOST = 100_000
_OR_BELOW = frozenset(("CSIPSTR15", "CSIPSTR16"))


def representations_folder(inventory: Inventory) -> str:
    """The folder of representations, in whatever case; the name that is wanted where there is none."""
    names = [name for name in inventory.folders("") if name.lower() == spec.REPRESENTATIONS]
    return names[0] if names and spec.REPRESENTATIONS not in names else spec.REPRESENTATIONS


def representation_documents(inventory: Inventory) -> Iterator[str]:
    """The METS documents of representations that are there."""
    above = representations_folder(inventory)
    for name in inventory.folders(f"{above}/"):
        document = f"{above}/{name}/{spec.METS_FILE}"
        if inventory.size_of(document) is not None:
            yield document


def judge_folders(inventory: Inventory, sink: FindingSink, has: HasFolder, *, object_id: str, top: str) -> None:
    """What the folders of a package are held to. `has` knows folders, empty ones too where they are told apart."""
    if object_id and top and not same_name(object_id, top):
        sink.hit("CSIPSTR2", name=top, value=object_id)
    for folder, code in (
        (spec.METADATA, "CSIPSTR5"),
        (spec.REPRESENTATIONS, "CSIPSTR9"),
        (spec.SCHEMAS, "CSIPSTR15"),
        (spec.DOCUMENTATION, "CSIPSTR16"),
    ):
        if not has(folder) and not (code in _OR_BELOW and _in_representation(inventory, has, folder)):
            sink.hit(code, name=folder)
    if has(spec.METADATA):
        for folder, code in ((spec.PRESERVATION, "CSIPSTR6"), (spec.DESCRIPTIVE, "CSIPSTR7")):
            if not has(folder):
                sink.hit(code, name=folder)
        inner = set(inventory.folders(f"{spec.METADATA}/"))
        if not inner - {"preservation", "descriptive"}:
            sink.hit("CSIPSTR8", name=spec.OTHER_METADATA)
    for name in inventory.folders(""):
        if name not in _KNOWN:
            sink.hit("CSIPSTR14", name=name)
    _representations(inventory, sink, has)


def _in_representation(inventory: Inventory, has: HasFolder, folder: str) -> bool:
    """True if a representation has a folder that the package may have instead."""
    above = representations_folder(inventory)
    return any(has(f"{above}/{name}/{folder}") for name in islice(inventory.folders(f"{above}/"), _MOST))


def _representations(inventory: Inventory, sink: FindingSink, has: HasFolder) -> None:
    above = representations_folder(inventory)
    for name in inventory.files_in(f"{above}/"):
        sink.hit("CSIPSTR10", name=name)
    if has(above) and not inventory.has_below(f"{above}/"):
        sink.hit("CSIPSTR10")
    for number, name in enumerate(inventory.folders(f"{above}/")):
        if number >= _MOST:
            return
        folder = f"{above}/{name}"
        if not has(f"{folder}/{spec.DATA}"):
            sink.hit("CSIPSTR11", name=folder)
        if inventory.size_of(f"{folder}/{spec.METS_FILE}") is None:
            sink.hit("CSIPSTR12", name=folder)
        if not has(f"{folder}/{spec.METADATA}"):
            sink.hit("CSIPSTR13", name=folder)
