"""Makes a DIAS package: `<uuid>.tar`, and the submission description `<uuid>.xml` that seals it, in one folder.

    make_dias(files, Path("delivery"), read_order(Path("package.toml"), type="AIP"))

Files come in once, are copied into the tar and hashed in the same pass. The folder appears whole or not at all; the
same call after a kill goes on where the last stopped, with the uuid and the times of the first start.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from uuid import uuid4
from zoneinfo import ZoneInfo

from noarkit.errors import PackageFault, RunLocked, UnsafePath, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.forms.container.building import File, OnUnreadable
from noarkit.forms.container.packager import Build, MadePackage, OnWhole, Order, make_package
from noarkit.forms.container.progress import PackagedFile, Progress
from noarkit.forms.dias import spec
from noarkit.forms.dias.schemas import EAC_SCHEMA, EAD_SCHEMA, METS_SCHEMA, PREMIS_SCHEMA, XLINK_SCHEMA, schemas
from noarkit.forms.dias.spec import EAC, EAC_NAMESPACE, EAD, EAD_NAMESPACE
from noarkit.forms.dias.write.markup import HEAD, attributes, element
from noarkit.forms.dias.write.mets import Facts, SealedFile, dias_mets, submission_description
from noarkit.forms.dias.write.order import NOT_STATED, SOFTWARE, DiasOrder
from noarkit.forms.dias.write.premis import dias_premis, file_id, log
from noarkit.forms.metadata.derivations import Derivations
from noarkit.forms.metadata.model import FileFacts, Party
from noarkit.safe.atomic import is_temporary, no_room, sync_folder, write_bytes, write_text
from noarkit.safe.descriptors import open_descriptor
from noarkit.safe.digest import sha256_of
from noarkit.safe.locks import try_lock
from noarkit.safe.paths import checked_parts
from noarkit.version import __version__

_FORMAT = "dias 2"
_METADATA_FOLDERS = (f"{spec.ADMINISTRATIVE}/", f"{spec.DESCRIPTIVE}/")
_FAR_XLINK = b'"http://www.loc.gov/standards/xlink/xlink.xsd"'
_OFFICIAL: Mapping[str, str] = {METS_SCHEMA: "DIAS_METS.xsd", PREMIS_SCHEMA: "DIAS_PREMIS.xsd"}
TWICE: Mapping[str, str] = {"arkivuttrekk.xml": spec.ADDML, "addml.xsd": spec.ADDML_XSD}
"""Of an extract's description the package has a copy among its administrative metadata."""


FactsLookup = Callable[[str], FileFacts | None]
"""What is known of a file of the content, by its name there."""

_NO_FACTS = FileFacts()


def no_facts(_: str) -> FileFacts | None:
    """Of no file is anything known."""
    return None


@dataclass(frozen=True, slots=True)
class PackageContent:
    """What goes into a package: the content, metadata by whole names, what is known of single files, and which of them
    are copies of others."""

    content: Iterable[File]
    metadata: Iterable[File] = ()
    facts_of: FactsLookup = no_facts
    derivations: Derivations | None = None


def make_dias(
    content: Iterable[File] | PackageContent,
    target_folder: Path,
    order: DiasOrder | None = None,
    *,
    aside: OnUnreadable | None = None,
    before_named: OnWhole | None = None,
    emit: Listener = ignore_event,
) -> MadePackage:
    """Makes the package in `target_folder`, which must not be there. Names of `content` are below content/.

    `aside` is told of files that cannot be read, `before_named` of the tar before it gets its name; neither is called
    by a build that goes on after that. A Noark 5 extract is given with arkivuttrekk.xml and the others directly inside.
    The same content in the same order with the same `uuid` and `moment` gives the same bytes. Raises
    `UsageFault`, `RunLocked` where another process makes the same, a `SourceFault` for a file that cannot be taken
    (what was done is kept for the next call), `UnsafePath` and `UnsafeMember` for names that no tar should hold.
    """
    order = order or DiasOrder()
    payload = content if isinstance(content, PackageContent) else PackageContent(content)
    with no_room(target_folder):
        state = BuildState(target_folder, _job(order), lambda: _first(order))
        try:
            package = _resume(payload, target_folder, order, state, _Callbacks(aside, before_named, emit))
            state.clear()
        finally:
            state.close()
    return package


class _Callbacks(NamedTuple):
    """What is told while a package grows."""

    aside: OnUnreadable | None
    before_named: OnWhole | None
    emit: Listener


def _resume(
    payload: PackageContent, target: Path, order: DiasOrder, state: BuildState, callbacks: _Callbacks
) -> MadePackage:
    start_facts = state.facts
    if state.is_placed():
        return MadePackage(target, int(start_facts["files"]), int(start_facts["bytes"]), True)
    if os.path.lexists(target):
        if "mets" not in start_facts:
            state.clear()
        raise UsageFault(what="exists", where=str(target))
    facts = Facts(
        start_facts["uuid"],
        datetime.fromisoformat(start_facts["moment"]),
        start_facts["version"],
        lambda name: (payload.facts_of(name) or _NO_FACTS).original_name,
    )
    tar = state.folder / f"{facts.uuid}.tar"
    twins: tuple[tuple[str, str], ...] = ()
    resumed = True
    if not state.has_file(tar.name) or "mets" not in start_facts:  # under its own name a tar is whole

        def describe(build: Build, progress: Progress) -> None:
            _describe(build, progress, order, facts, state, payload)

        package_order = Order(
            tar,
            f"{_FORMAT} {start_facts['job']}",
            folders=spec.FOLDERS,
            top=facts.uuid,
            aside=callbacks.aside,
            before_named=callbacks.before_named,
        )
        package = make_package(_files(payload), package_order, describe, emit=callbacks.emit)
        twins, resumed = package.twins, package.resumed
    sealed = SealedFile(tar.name, tar.stat().st_size, sha256_of(tar))
    mets = SealedFile(
        f"{facts.uuid}/{spec.METS}", int(start_facts["mets_bytes"]), start_facts["mets"], spec.mime_of(spec.METS)
    )
    write_bytes(state.folder / f"{facts.uuid}.xml", submission_description(order, facts, sealed, mets))
    state.place()
    return MadePackage(target, int(start_facts["files"]), int(start_facts["bytes"]), resumed, twins)


def _job(order: DiasOrder) -> str:
    """All that decides what the package becomes."""
    return hashlib.sha256(f"{_FORMAT} {__version__} {order!r}".encode()).hexdigest()


def _first(order: DiasOrder) -> dict[str, str]:
    moment = (order.moment or datetime.now(UTC)).replace(microsecond=0)
    return {
        "uuid": str(order.uuid or uuid4()),
        "moment": moment.astimezone(UTC).isoformat(),
        "version": __version__,
    }


def _files(payload: PackageContent) -> Iterator[File]:
    """Everything that is copied: the content, and what of it stands among the metadata too."""
    copies: list[File] = []
    for name, source, size, stamp in payload.content:
        parts = checked_parts(name)
        if "/".join(parts) != name:
            raise UnsafePath(where=name, why="not-plain")
        _refuse_unwritable(name)
        yield f"{spec.CONTENT}/{name}", source, size, stamp
        if name in TWICE:
            copies.append((TWICE[name], source, size, stamp))
    yield from copies
    for name, source, size, stamp in payload.metadata:
        if "/".join(checked_parts(name)) != name or not name.startswith(_METADATA_FOLDERS):
            raise UnsafePath(where=name, why="not-plain")
        yield name, source, size, stamp


def _refuse_unwritable(name: str) -> None:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UnsafePath(where=name, why="not-utf-8") from error


def _files_for_premis(progress: Progress, payload: PackageContent) -> Iterator[tuple[PackagedFile, FileFacts]]:
    """The files that METS has no type for, and those of which more is known than it can say."""
    derivations = payload.derivations
    for row in progress.rows("payload", by_name=True):
        file_facts = payload.facts_of(row.name.removeprefix(f"{spec.CONTENT}/")) or _NO_FACTS
        known = file_facts.puid or file_facts.format_name or file_facts.original_name
        if not spec.has_mime_type(row.name) or known or (derivations is not None and derivations.concerns(row.name)):
            yield row, file_facts


def _describe(
    build: Build, progress: Progress, order: DiasOrder, facts: Facts, state: BuildState, payload: PackageContent
) -> None:
    """Writes all metadata; dias-mets.xml comes last, for it lists the others."""
    own = dict(_schemas(order))
    if order.type == "AIP":
        own |= dict(descriptions(order, facts))
        own |= {f"{spec.OPERATIONS}/{name}": data for name, data in order.operations}
    for name in sorted(own):
        build.tag(name, [own[name]])
    size_bytes, files = progress.octets()
    if payload.derivations is not None:
        for number, (row, _) in enumerate(_files_for_premis(progress, payload), start=1):
            payload.derivations.identify(row.name, file_id(facts, number), row.digests[0])
    build.tag(spec.PREMIS, dias_premis(order, facts, _files_for_premis(progress, payload), payload.derivations))
    build.tag(spec.LOG, log(order, facts, files, size_bytes))
    build.tag(spec.METS, dias_mets(order, facts, _own(progress), progress.rows(by_name=True, below=spec.CONTENT)))
    match = progress.find(spec.METS)
    assert match is not None  # noqa: S101  # it was written a line ago
    mets = match[0]
    state.save(mets=mets.digests[0], mets_bytes=str(mets.size_bytes), files=str(files), bytes=str(size_bytes))


def _own(progress: Progress) -> Iterator[PackagedFile]:
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


def _schema(folder: Path | None, schema: str) -> bytes:
    for name in (_OFFICIAL.get(schema, schema), schema):
        if folder is not None and (folder / name).is_file():
            return (folder / name).read_bytes()
    return schemas()[schema].replace(f'"{XLINK_SCHEMA}"'.encode(), _FAR_XLINK)  # which no package brings along


def descriptions(order: DiasOrder, facts: Facts) -> Iterator[tuple[str, bytes]]:
    """ead.xml, and an eac-cpf.xml for each creator: the second is called eac-cpf-2.xml."""
    yield EAD, _ead(order, facts)
    for number, party in enumerate(order.archive_creators, start=1):
        yield EAC if number == 1 else EAC.replace(".xml", f"-{number}.xml"), _eac(order, facts, party)


def _ead(order: DiasOrder, facts: Facts) -> bytes:
    period = "/".join(day.isoformat() if day else "" for day in (order.start, order.end))
    origins = "".join(
        f"<origination><corpname>{element('part', party.name)}</corpname></origination>\n"
        for party in order.archive_creators
    )
    document = (
        f"{HEAD}<ead{attributes({'xmlns': EAD_NAMESPACE})}>\n<control>\n"
        + element("recordid", facts.uuid)
        + f"<filedesc><titlestmt>{element('titleproper', order.label)}</titlestmt></filedesc>\n"
        + '<maintenancestatus value="new"/>\n'
        + f"<maintenanceagency>{element('agencyname', _keeper(order))}</maintenanceagency>\n"
        + '<maintenancehistory><maintenanceevent>\n<eventtype value="created"/>\n'
        + element("eventdatetime", _moment(order, facts))
        + f'<agenttype value="machine"/>\n{element("agent", SOFTWARE)}'
        + "</maintenanceevent></maintenancehistory>\n</control>\n"
        + f'<archdesc level="collection">\n<did>\n{element("unittitle", order.description or order.label)}'
        + (element("unitdate", period) if period != "/" else "")
        + f"{origins}</did>\n</archdesc>\n</ead>\n"
    )
    return document.encode()


def _eac(order: DiasOrder, facts: Facts, party: Party) -> bytes:
    document = (
        f"{HEAD}<eac-cpf{attributes({'xmlns': EAC_NAMESPACE})}>\n<control>\n"
        + element("recordId", facts.uuid)
        + element("maintenanceStatus", "new")
        + f"<maintenanceAgency>{element('agencyName', _keeper(order))}</maintenanceAgency>\n"
        + f"<maintenanceHistory><maintenanceEvent>\n{element('eventType', 'created')}"
        + element("eventDateTime", _moment(order, facts))
        + element("agentType", "machine")
        + element("agent", SOFTWARE)
        + "</maintenanceEvent></maintenanceHistory>\n</control>\n<cpfDescription>\n<identity>\n"
        + (element("entityId", party.identification) if party.identification else "")
        + element("entityType", "corporateBody")
        + f"<nameEntry>{element('part', party.name)}</nameEntry>\n</identity>\n</cpfDescription>\n</eac-cpf>\n"
    )
    return document.encode()


def _keeper(order: DiasOrder) -> str:
    return order.recipient.name if order.recipient else NOT_STATED


def _moment(order: DiasOrder, facts: Facts) -> str:
    return facts.moment.astimezone(ZoneInfo(order.zone)).isoformat(timespec="seconds")


def _home_of(target: Path) -> Path:
    key = hashlib.blake2b(b"dias " + os.fsencode(target.name), digest_size=8).hexdigest()
    return target.parent / f".noarkit-{key}.part"


def forget_build(target: Path) -> None:
    """Removes what a build left that was killed after its last step; nothing where another is at it."""
    if _home_of(target).is_dir():
        with suppress(RunLocked):
            state = BuildState(target, "", dict)
            try:
                state.clear()
            finally:
                state.close()


class BuildState:
    """The work on one target. Close it."""

    def __init__(self, target: Path, job: str, first: Callable[[], Mapping[str, str]]) -> None:
        self._target = target
        self._home = _home_of(target)
        self._begin()
        self._facts = self._read()
        if self._facts.get("job") != job:
            # what lies here is of another order: it cannot be gone on with
            shutil.rmtree(self.folder, ignore_errors=True)
            self._facts = {}
            self.save(job=job, **first())
        self.folder.mkdir(exist_ok=True)

    def _begin(self) -> None:
        self._home.mkdir(exist_ok=True)
        self._lock = open_descriptor(self._home / "lock", os.O_RDWR | os.O_CREAT)
        try:
            if not try_lock(self._lock) or os.fstat(self._lock).st_ino != (self._home / "lock").stat().st_ino:
                raise BlockingIOError  # another cleared up between our two steps
        except (BlockingIOError, FileNotFoundError) as error:
            os.close(self._lock)
            raise RunLocked(where=str(self._home)) from error

    @property
    def folder(self) -> Path:
        """Where both files grow."""
        return self._home / "pair"

    @property
    def facts(self) -> Mapping[str, str]:
        """What is known of the build since its first start."""
        return MappingProxyType(self._facts)

    def save(self, **facts: str) -> None:
        """Keeps facts, durably."""
        self._facts |= facts
        write_text(self._home / "start.json", json.dumps(self._facts))

    def has_file(self, name: str) -> bool:
        """True if a file stands in the pair; what was left of its making is taken away."""
        if not (self.folder / name).is_file():
            return False
        for entry in self.folder.iterdir():
            if is_temporary(entry.name):
                shutil.rmtree(entry, ignore_errors=True)
        return True

    def is_placed(self) -> bool:
        """True if a build before this gave the pair its folder, and was killed before it could clear up."""
        return self._facts.get("phase") == "whole" and os.path.lexists(self._target) and not any(self.folder.iterdir())

    def place(self) -> None:
        """The last step: until here nothing bears the target's name. Both files are on disk already."""
        sync_folder(self.folder)
        self.save(phase="whole")
        if os.path.lexists(self._target):
            raise UsageFault(what="exists", where=str(self._target))
        try:
            self.folder.rename(self._target)
        except OSError as error:
            raise PackageFault(where=str(self._target), why="not-placed", detail=error.strerror) from error
        sync_folder(self._target.parent)

    def clear(self) -> None:
        """Nothing of this is needed any more. What is known goes last: until then the build can be gone on with."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self._home, ignore_errors=True)

    def close(self) -> None:
        """Lets another process go on."""
        os.close(self._lock)

    def _read(self) -> dict[str, str]:
        try:
            return dict(json.loads((self._home / "start.json").read_text("utf-8")))
        except FileNotFoundError:
            return {}
