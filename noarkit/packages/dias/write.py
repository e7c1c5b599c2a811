"""Makes a DIAS package: `<uuid>.tar`, and the submission description `<uuid>.xml` that seals it, in one folder.

    make_dias(files, Path("delivery"), read_order(Path("package.toml"), type="AIP"))

Files come in once, are copied into the tar and hashed in the same pass. The folder appears whole or not at all; the
same call after a kill goes on where the last stopped, with the uuid and the times of the first start.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import noarkit
from noarkit.errors import UnsafePath, UsageFault
from noarkit.events import Listener, nobody
from noarkit.packages.dias import spec
from noarkit.packages.dias.described import descriptions
from noarkit.packages.dias.mets import Facts, Sealed, dias_mets, submission_description
from noarkit.packages.dias.order import DiasOrder
from noarkit.packages.dias.pair import Pair
from noarkit.packages.dias.premis import dias_premis, log
from noarkit.packages.dias.schemas import EAC_SCHEMA, EAD_SCHEMA, METS_SCHEMA, PREMIS_SCHEMA, XLINK_SCHEMA, schemas
from noarkit.packages.holding.building import Aside, File
from noarkit.packages.holding.making import Build, Made, Order, make_package
from noarkit.packages.holding.progress import Done, Progress
from noarkit.packages.metadata.model import FileFacts
from noarkit.safe.atomic import no_room, write_bytes
from noarkit.safe.digest import sha256_of
from noarkit.safe.paths import checked_parts

_FORMAT = "dias 2"
_METADATA_FOLDERS = (f"{spec.ADMINISTRATIVE}/", f"{spec.DESCRIPTIVE}/")
_FAR_XLINK = b'"http://www.loc.gov/standards/xlink/xlink.xsd"'
_OFFICIAL: Mapping[str, str] = {METS_SCHEMA: "DIAS_METS.xsd", PREMIS_SCHEMA: "DIAS_PREMIS.xsd"}
_TWICE: Mapping[str, str] = {"arkivuttrekk.xml": spec.ADDML, "addml.xsd": spec.ADDML_XSD}
"""Of an extract's description the package has a copy among its administrative metadata."""


Known = Callable[[str], FileFacts | None]
"""What is known of a file of the content, by its name there."""

_NOTHING = FileFacts()


def nothing_known(_: str) -> FileFacts | None:
    """Of no file is anything known."""
    return None


@dataclass(frozen=True, slots=True)
class Given:
    """What goes into a package: the content, metadata by whole names, and what is `known` of single files."""

    content: Iterable[File]
    metadata: Iterable[File] = ()
    known: Known = nothing_known


def make_dias(
    content: Iterable[File] | Given,
    target_folder: Path,
    order: DiasOrder | None = None,
    *,
    aside: Aside | None = None,
    tell: Listener = nobody,
) -> Made:
    """Makes the package in `target_folder`, which must not be there. Names of `content` are below content/.

    `aside` is told of files that cannot be read. A Noark 5 extract is given with arkivuttrekk.xml and the others
    directly inside. The same content in the same order with the same `uuid` and `moment` gives the same bytes. Raises
    `UsageFault`, `RunLocked` where another process makes the same, a `SourceFault` for a file that cannot be taken
    (what was done is kept for the next call), `UnsafePath` and `UnsafeMember` for names that no tar should hold.
    """
    order = order or DiasOrder()
    given = content if isinstance(content, Given) else Given(content)
    with no_room(target_folder):
        pair = Pair(target_folder, _job(order), lambda: _first(order))
        try:
            made = _resume(given, target_folder, order, pair, _Told(aside, tell))
            pair.clear()
        finally:
            pair.close()
    return made


class _Told(NamedTuple):
    """What is told while a package grows."""

    aside: Aside | None
    tell: Listener


def _resume(given: Given, target: Path, order: DiasOrder, pair: Pair, told: _Told) -> Made:
    known = pair.facts
    if pair.placed():
        return Made(target, int(known["files"]), int(known["bytes"]), True)
    if os.path.lexists(target):
        if "mets" not in known:
            pair.clear()
        raise UsageFault(what="exists", where=str(target))
    facts = Facts(
        known["uuid"],
        datetime.fromisoformat(known["moment"]),
        known["version"],
        lambda name: (given.known(name) or _NOTHING).original_name,
    )
    tar = pair.folder / f"{facts.uuid}.tar"
    twins: tuple[tuple[str, str], ...] = ()
    resumed = True
    if not pair.holds(tar.name) or "mets" not in known:  # under its own name a tar is whole

        def describe(build: Build, progress: Progress) -> None:
            _describe(build, progress, order, facts, pair, given.known)

        wanted = Order(tar, f"{_FORMAT} {known['job']}", folders=spec.FOLDERS, top=facts.uuid, aside=told.aside)
        made = make_package(_files(given), wanted, describe, tell=told.tell)
        twins, resumed = made.twins, made.resumed
    sealed = Sealed(tar.name, tar.stat().st_size, sha256_of(tar))
    mets = Sealed(f"{facts.uuid}/{spec.METS}", int(known["mets_bytes"]), known["mets"], spec.mime_of(spec.METS))
    write_bytes(pair.folder / f"{facts.uuid}.xml", submission_description(order, facts, sealed, mets))
    pair.place()
    return Made(target, int(known["files"]), int(known["bytes"]), resumed, twins)


def _job(order: DiasOrder) -> str:
    """All that decides what the package becomes."""
    return hashlib.sha256(f"{_FORMAT} {noarkit.__version__} {order!r}".encode()).hexdigest()


def _first(order: DiasOrder) -> dict[str, str]:
    moment = (order.moment or datetime.now(UTC)).replace(microsecond=0)
    return {
        "uuid": str(order.uuid or uuid4()),
        "moment": moment.astimezone(UTC).isoformat(),
        "version": noarkit.__version__,
    }


def _files(given: Given) -> Iterator[File]:
    """Everything that is copied: the content, and what of it stands among the metadata too."""
    again: list[File] = []
    for name, source, size, stamp in given.content:
        parts = checked_parts(name)
        if "/".join(parts) != name:
            raise UnsafePath(where=name, why="not-plain")
        _refuse_unwritable(name)
        yield f"{spec.CONTENT}/{name}", source, size, stamp
        if name in _TWICE:
            again.append((_TWICE[name], source, size, stamp))
    yield from again
    for name, source, size, stamp in given.metadata:
        if "/".join(checked_parts(name)) != name or not name.startswith(_METADATA_FOLDERS):
            raise UnsafePath(where=name, why="not-plain")
        yield name, source, size, stamp


def _refuse_unwritable(name: str) -> None:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UnsafePath(where=name, why="not-utf-8") from error


def _untold(progress: Progress, known: Known) -> Iterator[tuple[Done, FileFacts]]:
    """The files that METS has no type for, and those of which more is known than it can say."""
    for row in progress.rows("payload", by_name=True):
        told = known(row.name.removeprefix(f"{spec.CONTENT}/")) or _NOTHING
        if not spec.can_tell(row.name) or told.puid or told.format_name or told.original_name:
            yield row, told


def _describe(build: Build, progress: Progress, order: DiasOrder, facts: Facts, pair: Pair, known: Known) -> None:
    """Writes all metadata; dias-mets.xml comes last, for it lists the others."""
    own = dict(_schemas(order))
    if order.type == "AIP":
        own |= dict(descriptions(order, facts))
        own |= {f"{spec.OPERATIONS}/{name}": whole for name, whole in order.operations}
    for name in sorted(own):
        build.tag(name, [own[name]])
    size_bytes, files = progress.octets()
    build.tag(spec.PREMIS, dias_premis(order, facts, _untold(progress, known)))
    build.tag(spec.LOG, log(order, facts, files, size_bytes))
    build.tag(spec.METS, dias_mets(order, facts, _own(progress), progress.rows(by_name=True, below=spec.CONTENT)))
    found = progress.find(spec.METS)
    assert found is not None  # noqa: S101  # it was written a line ago
    mets = found[0]
    pair.keep(mets=mets.digests[0], mets_bytes=str(mets.size_bytes), files=str(files), bytes=str(size_bytes))


def _own(progress: Progress) -> Iterator[Done]:
    """The files of the package itself."""
    yield from progress.rows("tag", by_name=True)
    for folder in (spec.ADMINISTRATIVE, spec.DESCRIPTIVE):
        yield from progress.rows("payload", by_name=True, below=folder)


def _schemas(order: DiasOrder) -> Iterator[tuple[str, bytes]]:
    names = {spec.METS_XSD: METS_SCHEMA, spec.PREMIS_XSD: PREMIS_SCHEMA}
    if order.type == "AIP":
        names |= {spec.EAD_XSD: EAD_SCHEMA, spec.EAC_XSD: EAC_SCHEMA}
    for name, schema in names.items():
        yield name, _schema(order.schemas, schema)


def _schema(given: Path | None, schema: str) -> bytes:
    for name in (_OFFICIAL.get(schema, schema), schema):
        if given is not None and (given / name).is_file():
            return (given / name).read_bytes()
    return schemas()[schema].replace(f'"{XLINK_SCHEMA}"'.encode(), _FAR_XLINK)  # which no package brings along
