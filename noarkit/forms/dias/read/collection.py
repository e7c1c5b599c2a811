"""An AIC: the METS document `<uuid>.xml` that gathers AIPs and seals each of their tars. It lies beside or above them.

    make_aic([Path("aips/one"), Path("aips/two")], Path("aips"))

An AIP says in its PREMIS which AIC it is included in (`DiasOrder.aic`); the AIC's own UUID is that one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from noarkit.errors import PackageFault, UnsafePath, UsageFault
from noarkit.forms.dias import spec
from noarkit.forms.dias.read.package import DiasPackage, is_tar_entry, open_dias, read_description
from noarkit.forms.dias.write.mets import Facts, SealedFile, aic_mets
from noarkit.forms.dias.write.order import DiasOrder
from noarkit.forms.metadata.mets_facts import MetsHeader, MetsItem
from noarkit.forms.metadata.premis_objects import read_objects
from noarkit.safe.atomic import write_bytes
from noarkit.safe.digest import hash_of
from noarkit.safe.paths import resolve_inside
from noarkit.version import __version__


@dataclass(frozen=True, slots=True)
class AicContents:
    """An AIC that was read: what it says, and the tars that it seals, with their places beside it."""

    header: MetsHeader
    tars: tuple[tuple[MetsItem, Path | None], ...]


def make_aic(packages: Iterable[Path], folder: Path, order: DiasOrder | None = None) -> Path:
    """Writes the AIC of AIPs that lie below `folder` into it, whole or not at all, and says where.

    Raises `UsageFault` where an AIP lies elsewhere or says that it is of another AIC, or where the AIC is there
    already; `PackageFault` for what is no AIP, or not the tar that its description seals.
    """
    order = order or DiasOrder()
    tars: list[SealedFile] = []
    aic_ids = {str(order.uuid)} if order.uuid else set()
    for path in packages:
        with open_dias(path) as package:
            package.prove_seal()
            if package.header.type != "AIP":
                raise PackageFault(where=str(path), why="no-aip")
            tars.append(_describe_tar(package, folder))
            aic_ids |= {uuid for uuid in (aic_id_of(package),) if uuid}
    if not tars or len(aic_ids) > 1:
        raise UsageFault(what="bad-value", where=", ".join(sorted(aic_ids)) or str(folder))
    moment = (order.moment or datetime.now(UTC)).replace(microsecond=0)
    facts = Facts(aic_ids.pop() if aic_ids else str(uuid4()), moment, __version__)
    target = folder / f"{facts.uuid}.xml"
    write_bytes(target, aic_mets(order, facts, sorted(tars, key=lambda one: one.path)), replace=False)
    return target


def read_aic(path: Path) -> AicContents:
    """The AIC in a document. Raises `PackageFault` where it is none, or cannot be read."""
    header, files = read_description(path)
    if header.type != "AIC":
        raise PackageFault(where=str(path), why="no-aic")
    return AicContents(header, tuple((mets_file, _find_tar(path.parent, mets_file)) for mets_file in files))


def aic_id_of(package: DiasPackage) -> str:
    """The AIC that a package says it is included in; empty if it says none."""
    try:
        with package.open(spec.PREMIS) as file:
            for premis_object in read_objects(file, spec.PREMIS):
                if premis_object.included_in:
                    return spec.uuid_in(premis_object.included_in)
    except PackageFault as fault:
        if fault.data.get("why") != "not-listed":
            raise
    return ""


def _describe_tar(package: DiasPackage, folder: Path) -> SealedFile:
    place = package.located.place.resolve()
    home = folder.resolve()
    if not place.is_relative_to(home):
        raise UsageFault(what="bad-value", where=str(package.located.place))
    return SealedFile(place.relative_to(home).as_posix(), place.stat().st_size, _sha256(package))


def _sha256(package: DiasPackage) -> str:
    """As its description tells, which was proven by now; made anew where that tells another checksum."""
    place, description = package.located.place, package.located.description
    files = read_description(description)[1] if description is not None else []
    sums = (
        file.checksum for file in files if is_tar_entry(file, place.name) and file.checksum_type.upper() == "SHA-256"
    )
    return next(sums, "") or hash_of(place, "sha256")


def _find_tar(folder: Path, mets_file: MetsItem) -> Path | None:
    for path in spec.paths_of(mets_file.href):
        try:
            place = resolve_inside(folder, path)
        except UnsafePath:
            continue
        if place.is_file():
            return place
    return None
