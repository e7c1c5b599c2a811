"""Checks the structure of a package: required folders and documents, and files that do not belong there."""

from __future__ import annotations

from collections.abc import Iterator

from noarkit.forms.container.storage import Storage
from noarkit.forms.dias import spec
from noarkit.forms.dias.read.inventory import Inventory
from noarkit.forms.dias.read.located import LocatedPackage
from noarkit.forms.dias.read.tar_storage import TarStorage
from noarkit.forms.findings import Tally
from noarkit.forms.metadata.mets_facts import MetsHeader
from noarkit.safe.unpack import form_of

_SCHEMAS = (spec.METS_XSD, spec.PREMIS_XSD)
_DESCRIPTIONS = (spec.EAD, spec.EAD_XSD, spec.EAC, spec.EAC_XSD)


def judge_places(located: LocatedPackage, storage: Storage, inventory: Inventory, tally: Tally) -> None:
    """What holds for a package of any type."""
    if isinstance(storage, TarStorage):
        form = form_of(located.place)
        if form != "tar":
            tally.add("D101", located.place.name, form=form)
        if not storage.top:
            tally.add("D102", located.place.name)
        for name, odd in storage.odd:
            tally.add("D113", name, why=odd)
        for name in storage.strays():
            tally.add("D115", name)
    for name, kind in inventory.odd():
        tally.add("D114", name, kind=kind)
    if not inventory.files.has(spec.PREMIS):
        tally.add("D105", spec.PREMIS, name=spec.PREMIS)
    if not inventory.files.has(spec.LOG):
        tally.add("D106", spec.LOG)
    for name in _SCHEMAS:
        if not inventory.files.has(name):
            tally.add("D107", name, name=name)
    if not inventory.files.has_below(f"{spec.CONTENT}/"):
        tally.add("D111", spec.CONTENT)


def judge_type(header: MetsHeader, inventory: Inventory, tally: Tally) -> None:
    """What holds for a SIP or an AIP."""
    if header.type == "AIP":
        for name in _DESCRIPTIONS:
            if not inventory.files.has(name):
                tally.add("D107" if name.endswith(".xsd") else "D108", name, name=name)
        if inventory.files.has(f"{spec.CONTENT}/arkivuttrekk.xml"):
            _judge_copies(inventory, tally)
        if not inventory.files.has(spec.HANDBOOK):
            tally.add("D110", spec.HANDBOOK, name=spec.HANDBOOK)
        if not inventory.files.has_below(f"{spec.OPERATIONS}/"):
            tally.add("D110", spec.OPERATIONS, name=spec.OPERATIONS)
    elif header.type == "SIP":
        for name in _of_an_aip(inventory):
            tally.add("D112", name, name=name)


def judge_names(header: MetsHeader, located: LocatedPackage, storage: Storage, tally: Tally) -> None:
    """Tar, top folder and description are called as the package is."""
    uuid = spec.uuid_in(header.object_id)
    if not uuid:
        return
    if located.is_tar and located.place.stem.lower() != uuid:
        tally.add("D103", located.place.name, name=located.place.name, uuid=uuid)
    top = storage.top if isinstance(storage, TarStorage) else ""
    if not located.is_tar:
        top = located.place.absolute().name
    if top and top.lower() != uuid:
        tally.add("D103", top, name=top, uuid=uuid)
    if located.description is not None and located.description.stem.lower() != uuid:
        tally.add("D509", located.description.name, name=located.description.name, uuid=uuid)


def _judge_copies(inventory: Inventory, tally: Tally) -> None:
    if not inventory.files.has(spec.ADDML) and not inventory.files.has(spec.OLD_ADDML):
        tally.add("D109", spec.ADDML, name=spec.ADDML)
    if not inventory.files.has(spec.ADDML_XSD):
        tally.add("D109", spec.ADDML_XSD, name=spec.ADDML_XSD)


def _of_an_aip(inventory: Inventory) -> Iterator[str]:
    yield from (name for name in (spec.EAD, spec.EAC) if inventory.files.has(name))
    if inventory.files.has_below(f"{spec.OPERATIONS}/"):
        yield spec.OPERATIONS
