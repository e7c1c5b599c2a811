"""The whole way from an archive to a package, resumable at any step: the same call goes on where the last one ended.

What is fetched and written lies in a work folder beside the package until all of it stands; then the package is synced
and gets its name in one step, and the work folder goes.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from noarkit.archive.administration import Administration
from noarkit.archive.port import Archive
from noarkit.errors import ConfigFault, NotDepositable, OtherArchive, RunLocked, UsageFault
from noarkit.events import Event, Listener, nobody
from noarkit.extract import account, not_in_form
from noarkit.extract.assemble import Assembled, Given, Places, assemble
from noarkit.extract.changes import CHANGED_MEANWHILE, NO_FLAWS, ChangeLog, fetch_changes, merge_kept
from noarkit.extract.codes import read_codes
from noarkit.extract.documents import fetch_documents
from noarkit.extract.facts import SYSTEM_NAME, PackageFacts
from noarkit.extract.fetch import fetch
from noarkit.extract.hands import Hands, Team
from noarkit.extract.links import fetch_links
from noarkit.extract.schema_files import schema_set
from noarkit.extract.selection import Selection, resolve
from noarkit.extract.store import FILE_NAME, ExtractStore
from noarkit.packages.noark5.packing import is_packed, pack
from noarkit.packages.noark5.schemas import VsmField, VsmGroup
from noarkit.safe.atomic import sweep, sync_folder, write_text

_PACKAGE = "package"
_NAMING = "naming.json"
_OPEN = (
    "SELECT type, count(*) FROM (SELECT type FROM unit WHERE open = 1 UNION ALL"
    " SELECT 'Dokument' FROM document WHERE open = 1) GROUP BY type ORDER BY type"
)


def _never() -> None:
    """Nobody asks for a pause."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How an extract is made. `pause` is called often and may raise to end the run in good order; `team` is who
    helps to write."""

    selection: Selection = field(default_factory=Selection)
    facts: PackageFacts = field(default_factory=PackageFacts)
    schemas: Path | None = None
    include_open: bool = False
    carry: bool = True
    kept_log: Path | None = None
    change_log: ChangeLog = "from-archive"
    zone: str = "Europe/Oslo"
    account: str = ""
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    pause: Callable[[], None] = _never
    team: Team = field(default_factory=Team)


@dataclass(frozen=True, slots=True)
class Extracted:
    """The package that was made. `flaws` say why it is not to be deposited as it is; none where it is. `errors` and
    `warnings` are what our own validator found in it, None where it was not asked. `carried` is how many
    values that the form has no element for stand in business-specific metadata, `beside` how many of them in the table
    beside the package alone."""

    package: Path
    report: Path
    units: dict[str, int]
    files: int
    bytes: int
    journal_entries: int
    changes: int
    defaults: int
    flaws: tuple[str, ...]
    errors: int | None = None
    warnings: int | None = None
    carried: int = 0
    beside: int = 0

    @property
    def depositable(self) -> bool:
        """True where nothing stands against depositing it; that nothing was ever changed does not."""
        return not set(self.flaws) - NO_FLAWS and not self.errors


def extract(archive: Archive, target: Path, terms: Terms, *, tell: Listener = nobody) -> Extracted:
    """Makes the package `target` from an archive.

    Raises `NotDepositable` for open units (unless included) and for schemas that are not the official ones,
    `ChecksumDiffers` for a file that is not what the archive says, `UsageFault` where `target` is there already.
    """
    work = work_folder(target)
    package = work / _PACKAGE
    last = work / target.name if is_packed(target) else package
    if os.path.lexists(target):
        return _tidied(target, last, terms)
    schemas = schema_set(terms.schemas)
    try:
        package.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigFault(where=str(work), why=error.strerror or "unreadable") from error
    with Hands(terms.team) as hands, _locked(work), ExtractStore(work / FILE_NAME) as store:
        (work / _NAMING).unlink(missing_ok=True)
        for folder in (work, package, *package.glob("*/*")):
            if folder.is_dir():
                sweep(folder)
        run = _Run(archive, store, terms, tell)
        begun = store.remember("begun", terms.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"))
        seen = run.fetched()
        run.check_open()
        business = _business(run.administration)
        given = Given(terms.facts, run.codes, schemas, terms.zone, begun, business, terms.carry, terms.change_log)
        tell(Event("files_wanted", {"count": store.number("SELECT count(*) FROM version")}))
        fetch_documents(archive, store, package, tell=tell, pause=terms.pause)
        tell(Event("assembling", {"where": str(target)}))
        places = Places(store.path, package, not_in_form.table_path(target))
        made = assemble(places, given, hands, terms.pause)
        flaws = _flaws(run, made, official=schemas.official)
        report = not_in_form.write_report(store, target, made, not_in_form.Said(seen, flaws, run.open_units()))
        beside = sum(made.lost.values()) - made.tally.carried
        extracted = replace(_extracted(store, target, report, made, flaws), carried=made.tally.carried, beside=beside)
    if is_packed(target):
        pack(package, last)
    told = {**asdict(extracted), "package": str(target), "report": str(report)}
    write_text(work / _NAMING, json.dumps({"selection": dict(terms.selection.told), "extracted": told}))
    tell(Event("naming", {"where": str(target)}))
    _give_name(last, target)
    shutil.rmtree(work, ignore_errors=True)
    tell(Event("package_made", {"where": str(target), "files": extracted.files, "units": dict(made.tally.units)}))
    return extracted


def _tidied(target: Path, last: Path, terms: Terms) -> Extracted:
    """The package of a call that was killed between its last step, the naming, and the tidying up.

    Raises `UsageFault` where `target` is anything else.
    """
    work = last.parent
    note = work / _NAMING
    if note.is_file() and not os.path.lexists(last):
        found = json.loads(note.read_text("utf-8"))
        if found["selection"] == json.loads(json.dumps(dict(terms.selection.told))):
            told = found["extracted"]
            shutil.rmtree(work, ignore_errors=True)
            paths = {"package": target, "report": Path(told["report"])}
            return Extracted(**{**told, **paths, "flaws": tuple(told["flaws"])})
    raise UsageFault(what="exists", where=str(target))


def work_folder(target: Path) -> Path:
    """Where an extract to `target` is under way."""
    return target.parent / f".{target.name}.noarkit-extract"


class _Run:
    """One extract at work."""

    def __init__(self, archive: Archive, store: ExtractStore, terms: Terms, tell: Listener) -> None:
        self.archive = archive
        self.store = store
        self.terms = terms
        self.tell = tell
        self.administration = Administration(archive)
        self.codes = read_codes(self.administration)

    def fetched(self) -> account.Seen:
        """Fetches all metadata, if it is not there. Raises `UsageFault` where the store is of another extract."""
        terms, store = self.terms, self.store
        chosen = resolve(self.archive, terms.selection)
        self._check_same("selection", json.dumps({**terms.selection.told, "whole": chosen.whole}, sort_keys=True))
        fonds = str(chosen.arkiv.fields.get("uuid"))
        if store.remember("fonds", fonds) != fonds:
            raise OtherArchive(where=str(store.path.parent), expected=store.fact("fonds"), found=fonds)
        self.tell(Event("fetching", {"whole": chosen.whole}))
        fetch(self.archive, store, chosen, tell=self.tell, pause=terms.pause)
        store.index()
        fetch_links(self.archive, store, terms.pause)
        fetch_changes(self.archive, store, self.codes, terms.pause)
        if terms.kept_log is not None:
            merge_kept(store, terms.kept_log, terms.zone)
        return account.seen(self.administration, terms.account)

    def open_units(self) -> dict[str, int]:
        """How many units of each type are open."""
        return {str(kind): int(str(count)) for kind, count in self.store.rows(_OPEN)}

    def check_open(self) -> None:
        """Raises `NotDepositable` for open units, unless they were asked for; what was fetched then is let go."""
        units = self.open_units()
        if units and not self.terms.include_open:
            self.store.close()
            shutil.rmtree(self.store.path.parent, ignore_errors=True)
            where = ", ".join(f"{count} {kind}" for kind, count in units.items())
            raise NotDepositable(why="open-units", where=where, count=sum(units.values()))

    def _check_same(self, name: str, value: str) -> None:
        if self.store.remember(name, value) != value:
            raise UsageFault(what="other-extract", where=str(self.store.path.parent))


def _business(administration: Administration) -> tuple[VsmGroup, ...]:
    groups = sorted(administration.business_groups(), key=lambda group: group.id)
    return tuple(
        VsmGroup(
            group.id,
            group.name,
            tuple(VsmField(one.id, one.name, one.kind) for one in sorted(group.fields, key=lambda one: one.id)),
        )
        for group in groups
    )


def _flaws(run: _Run, made: Assembled, *, official: bool) -> tuple[str, ...]:
    found = []
    if run.open_units():
        found.append("open-units")
    if not official:
        found.append("own-schemas")
    if run.store.fact(CHANGED_MEANWHILE) is not None:
        found.append("changed-meanwhile")
    if run.terms.facts.system_name == SYSTEM_NAME:
        found.append("system-unnamed")
    if not made.creators:
        found.append("creator-unknown")
    if made.journalled.outside_cases:
        found.append("posts-outside-cases")
    if made.log is not None:
        found.append(made.log)
    return tuple(found)


def _extracted(store: ExtractStore, target: Path, report: Path, made: Assembled, flaws: tuple[str, ...]) -> Extracted:
    return Extracted(
        package=target,
        report=report,
        units=dict(made.tally.units),
        files=store.number("SELECT count(*) FROM version WHERE done = 1"),
        bytes=store.number("SELECT sum(size) FROM version WHERE done = 1"),
        journal_entries=made.journalled.entries,
        changes=made.changes,
        defaults=sum(made.tally.defaults.values()),
        flaws=flaws,
    )


def _give_name(package: Path, target: Path) -> None:
    """The whole package on disk, then its name, in one step; nothing that exists is replaced."""
    os.sync()
    if os.path.lexists(target):
        raise UsageFault(what="exists", where=str(target))
    package.rename(target)
    sync_folder(target.parent)


@contextmanager
def _locked(work: Path) -> Iterator[None]:
    """Holds the work folder for this process; the lock dies with it."""
    handle = os.open(work / "extract.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as cause:
            owner = os.pread(handle, 200, 0).decode("utf-8", "replace").strip()
            raise RunLocked(where=str(work), owner=owner) from cause
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)
