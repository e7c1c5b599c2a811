"""Makes archival copies of the documents of a source, accepts those that wait for a person, and checks them."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import ClassVar, Unpack

from noarkit.api.keys import signer, trusted_keys
from noarkit.api.source_reading import find_asked, read_as_asked
from noarkit.copies import composition
from noarkit.copies.acceptance import accept_copy, accepters, held_codes, held_copies, record_keys, whole_sha256
from noarkit.copies.checking import CheckCopiesResult, check_store
from noarkit.copies.coordinator import Derivation, DerivingOptions, DerivingTools
from noarkit.copies.coordinator import derive as derive_copies
from noarkit.copies.hand_copies import Maker, TakenFile, take
from noarkit.copies.numbers import FormatRow, access_counts, format_rows, signed_count, state_counts
from noarkit.copies.offers import offers_at
from noarkit.copies.policy import read_policy
from noarkit.copies.reading import ReadingOptions
from noarkit.copies.sealing import CopiesSeal, prove_seal, seal_store
from noarkit.copies.settings import CopySettings, copy_settings
from noarkit.copies.store import DATABASE, LOCK, SOURCE_DIGEST, CopyStore
from noarkit.copies.toolbox import Policy
from noarkit.errors import UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.loading.options import SourceKeywords, SourceOptions
from noarkit.loading.stopping import StopRequest
from noarkit.option_fields import option, options_from, takes_options
from noarkit.records import Source, digest_of, released
from noarkit.results import Result, json_field
from noarkit.safe.locks import claimed
from noarkit.settings import Place, Settings, resolve_settings


@dataclass(frozen=True, slots=True)
class DeriveResult(Result):
    """What became of the documents of a source: `read` is the sum of `made`, `kept`, `held`, `failed`, `left`, `open`.

    `open` are those that a stopped run, or one for some formats only, has not come to. `converted` counts what this
    call did; all else may have been there before.
    """

    EVENT: ClassVar = "derived"

    copies: str
    policy: str
    read: int
    made: int
    kept: int
    held: int
    failed: int
    left: int
    open: int
    bytes: int
    records: int
    set_aside: int
    skipped: int
    converted: int
    reasons: dict[str, int] = field(default_factory=dict)
    signed: int = field(default=0, metadata=json_field(optional=True))
    """Those of `kept` that are kept for their signature, in a format that is not accepted."""
    formats: tuple[FormatRow, ...] = ()
    doubtful: dict[str, int] = field(default_factory=dict)
    """Of a dry run's documents to convert, those whose first converter may refuse them, and the tool that would then be
    needed and is missing or too old here."""
    stopped_by: str = ""
    dry_run: bool = False
    access: dict[str, int] = field(default_factory=dict, metadata=json_field(optional=True))
    """How the documents stand that the policy wants access copies of, by state; empty where it wants none."""
    access_reasons: dict[str, int] = field(default_factory=dict, metadata=json_field(optional=True))
    """Why documents have no access copy. They are no part of `reasons`."""
    access_bytes: int = field(default=0, metadata=json_field(optional=True))
    """The size of the access copies that were made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeriveOptions:
    """How copies are made."""

    policy: Place | None = option(metavar="FILE")
    workers: int | None = option(kind="number", least=1, most=1000, metavar="N")
    only: Collection[str] = option((), metavar="PUID", is_multiple=True)
    retry: Collection[str] = option((), metavar="REASON", is_multiple=True)
    dry_run: bool = option(False, kind="flag")


class DeriveKeywords(SourceKeywords, total=False):
    """The keywords of `DeriveOptions`, and of how the source is read."""

    policy: Place | None
    workers: int | None
    only: Collection[str]
    retry: Collection[str]
    dry_run: bool


@takes_options(DeriveOptions, SourceOptions)
def derive(
    source: Place | Source,
    copies: Place,
    *,
    settings: Settings | None = None,
    stop_request: StopRequest | None = None,
    listener: Listener = ignore_event,
    **options: Unpack[DeriveKeywords],
) -> DeriveResult:
    """Makes copies in archive formats of the documents of a source, each proved before it counts; the same call again
    goes on, and makes nothing twice.

    `copies` is the folder that the copies lie in; it is made where there is none. The source is only read.

    Options:
        policy: a policy file, or the name of a shipped one; without it `no-raf-2022`.
        recipe: a file or a `Recipe`, which says what of the source are documents (the attachments of mail); the one
            that `plan` is given, and as for `plan` the source's own where there is none.
        workers: how many documents are converted at a time; without it one for each processor.
        only: PRONOM identifiers; documents of other formats are left for another time.
        retry: reasons whose documents are tried once more, or `"outdated"` for copies that other tools would make now.
        dry_run: says what would be done, and writes nothing.
        source_kind: what a path is read as, whatever it looks like (`"files"`, or a form of package).
        take_incomplete: reads records of an extract whose files are missing or damaged, as `plan` with the same does.
        despite_damage: reads a package whose own checksums do not hold; it is refused otherwise.
        encoding: how names in an archive file are read that are not UTF-8 (`"cp1252"`).
        include: patterns of names and paths; of a folder of files, those that none takes in are left out (`"*.pdf"`).
        exclude: patterns of what is left out (`"*.tmp"`, `"Kladd/"`).
        shallow_root: the folder below which files outside of an E-ARK package are read.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        stop_request: a `StopRequest`; asked from a listener or another thread, it stops the work in good order.
        listener: is called with each event.

    Raises `ConfigFault` for a policy that cannot be used, `PlanFault` for a recipe that cannot, `SourceGone`,
    `UsageFault`, `RunLocked` and `DiskFull`.
    """
    reading, choices = options_from(SourceOptions, options), options_from(DeriveOptions, options)
    with released(find_asked(source, reading, settings, emit=listener)) as place:
        return derive_source(
            read_as_asked(place, reading), Path(copies), choices, settings, stop_request=stop_request, listener=listener
        )


def derive_source(
    source: Source,
    copies: Path,
    options: DeriveOptions,
    settings: Settings | None = None,
    *,
    stop_request: StopRequest | None = None,
    listener: Listener = ignore_event,
) -> DeriveResult:
    """The same for a source that is read on its terms already."""
    resolved, stop = resolve_settings(None, settings), stop_request or StopRequest()
    own = copy_settings(resolved.config, options.workers)
    tools = _tools(resolved, own, options.policy, stop, listener)
    reading = ReadingOptions(frozenset(options.retry), frozenset(options.only))
    with _target(copies, dry_run=options.dry_run) as store:
        deriving_options = DerivingOptions(reading, 0 if options.dry_run else own.workers)
        derivation = derive_copies(source, store, tools, deriving_options)
        result = _result(store, derivation, tools.policy)
        if not options.dry_run and not stop.reason:
            store.remember(**{SOURCE_DIGEST: digest_of(source, listener)})
    doubtful = dict(derivation.totals.doubtful) if options.dry_run else {}
    return replace(result, copies=str(copies), stopped_by=stop.reason, dry_run=options.dry_run, doubtful=doubtful)


def _tools(
    settings: Settings, own: CopySettings, policy: Place | None, stop: StopRequest, listener: Listener
) -> DerivingTools:
    rules = read_policy(Path(policy) if policy is not None else None)
    return DerivingTools(
        rules,
        partial(composition.toolbox, own),
        listener,
        own.agent or rules.agent,
        is_stopped=lambda: bool(stop),
        now_s=settings.now_s,
    )


def _result(store: CopyStore, derivation: Derivation, policy: Policy) -> DeriveResult:
    rows, totals = format_rows(store, derivation.walk), derivation.totals
    access = format_rows(store, derivation.walk, "access")
    counts = state_counts(rows)
    return DeriveResult(
        copies=str(store.folder),
        policy=policy.name,
        read=totals.documents,
        made=counts["made"],
        kept=counts["kept"],
        held=counts["held"],
        failed=counts["failed"],
        left=counts["left"],
        open=counts["open"],
        bytes=totals.bytes,
        records=totals.records,
        set_aside=totals.set_aside,
        skipped=totals.skipped,
        converted=derivation.converted,
        reasons=_reasons(rows),
        signed=signed_count(rows),
        formats=tuple(rows),
        access=access_counts(access) if policy.has_access else {},
        access_reasons=_reasons(access),
        access_bytes=store.access_bytes(derivation.walk),
    )


@contextmanager
def _target(copies: Path, *, dry_run: bool) -> Iterator[CopyStore]:
    """The store of the copies; for a dry run one that knows the same, in a folder that goes again."""
    with ExitStack() as stack:
        target = copies
        if dry_run:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="noarkit-copies-"))
            target = _rehearsal(copies, Path(folder))
        yield stack.enter_context(CopyStore.open(target, create=True))


@dataclass(frozen=True, slots=True)
class TakeResult(Result):
    """What became of files that people made as copies: `files` is the sum of `made`, `held` and `refused`."""

    EVENT: ClassVar = "taken"

    copies: str
    by: str
    files: int
    made: int
    held: int
    refused: int
    outcomes: tuple[TakenFile, ...] = ()
    stopped_by: str = ""


@takes_options(SourceOptions)
def take_copies(
    source: Place | Source,
    copies: Place,
    files: Place,
    *,
    by: str,
    of: str = "",
    made_with: str = "",
    policy: Place | None = None,
    settings: Settings | None = None,
    stop_request: StopRequest | None = None,
    listener: Listener = ignore_event,
    **options: Unpack[SourceKeywords],
) -> TakeResult:
    """Takes files that a person made as the copies of documents, each held to the same checks as every copy.

    `files` is one file, a folder whose files are named as the documents are, or a table with a column for files and one
    for documents. A file must be in a format that the policy keeps. What differs from the original, or cannot be
    compared with it, waits until somebody accepts it.

    Options:
        by: the name of the person who made the files.
        of: the document of one file: the key of its record, its name, or its sha256 or the first digits of that.
        made_with: the program that they were made with.
        policy: a policy file, or the name of a shipped one; without it `no-raf-2022`.
        recipe: as for `derive`.
        source_kind: what a path is read as, whatever it looks like (`"files"`, or a form of package).
        take_incomplete: reads records of an extract whose files are missing or damaged, as `plan` with the same does.
        despite_damage: reads a package whose own checksums do not hold; it is refused otherwise.
        encoding: how names in an archive file are read that are not UTF-8 (`"cp1252"`).
        include: patterns of names and paths, as for `derive`.
        exclude: patterns of what is left out, as for `derive`.
        shallow_root: the folder below which files outside of an E-ARK package are read.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        stop_request: a `StopRequest`; asked from a listener or another thread, it stops the work in good order.
        listener: is called with each event.

    Raises `UsageFault` where there are no copies, where nobody is named, and where nothing is offered; `ConfigFault`,
    `SourceGone`, `RunLocked` and `DiskFull`.
    """
    reading = options_from(SourceOptions, options)
    maker = Maker(by, made_with)
    with released(find_asked(source, reading, settings, emit=listener)) as place:
        return take_from_source(
            *(read_as_asked(place, reading), Path(copies), Path(files), maker, settings),
            of=of,
            policy=policy,
            stop_request=stop_request,
            listener=listener,
        )


def take_from_source(
    source: Source,
    copies: Path,
    files: Path,
    maker: Maker,
    settings: Settings | None = None,
    *,
    of: str = "",
    policy: Place | None = None,
    stop_request: StopRequest | None = None,
    listener: Listener = ignore_event,
) -> TakeResult:
    """The same for a source that is read on its terms already."""
    if not maker.name.strip():
        raise UsageFault(what="taken-from-nobody")
    resolved, stop = resolve_settings(None, settings), stop_request or StopRequest()
    tools = _tools(resolved, copy_settings(resolved.config, 1), policy, stop, listener)
    with CopyStore.open(copies) as store:
        outcomes = tuple(take(source, store, tools, offers_at(files, of), maker))
    counts = Counter(outcome.state for outcome in outcomes)
    return TakeResult(
        *(str(copies), maker.name, len(outcomes), counts["made"], counts["held"], counts["failed"]),
        outcomes=outcomes,
        stopped_by=stop.reason,
    )


def accept_copies(copies: Place, what: Collection[str], *, by: str, settings: Settings | None = None) -> int:
    """Accepts copies that wait for a person, in that person's name, which is kept; returns how many.

    `what` names codes of findings, of which all that a copy is held for must be among them, or documents by the key of
    their record or their sha256, of which six digits are enough where no other document begins so.

    Options:
        by: the name of the person who accepts them.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.

    Raises `UsageFault` where there are no copies, where nobody is named, and where nothing held has such a name.
    """
    if not by.strip():
        raise UsageFault(what="accept-by-nobody")
    at = datetime.fromtimestamp(resolve_settings(None, settings).now_s(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    accepted = 0
    with CopyStore.open(Path(copies)) as store, claimed(store.folder / LOCK, str(store.folder)):
        digests = {whole_sha256(store, name) for name in what}
        unknown = set(digests)
        for copy in list(held_copies(store)):
            codes = held_codes(copy)
            names = {copy.source_sha256, *record_keys(store, copy.n)} & digests
            unknown -= names | set(codes)
            if names or (codes and set(codes) <= digests):
                accept_copy(store, copy.n, ", ".join(sorted(names or set(codes))), by.strip(), at)
                accepted += 1
        if unknown and not accepted:
            where = ", ".join(sorted(unknown))
            people = list(dict.fromkeys(who for name in sorted(unknown) for who in accepters(store, name)))
            if people:
                raise UsageFault(what="already-accepted", where=where, by=", ".join(people))
            raise UsageFault(what="nothing-held", where=where)
    return accepted


def check_copies(
    copies: Place, *, trust_key: Place | Sequence[Place] | None = None, settings: Settings | None = None
) -> CheckCopiesResult:
    """Proves every copy against its checksum, and the store against the files that lie in it; changes nothing.

    Options:
        trust_key: the public keys of those whose seal is trusted; with one the seal of the folder is proven first.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.

    Raises `UsageFault` where there are no copies, `SealBroken` for a seal that does not hold, and `JournalFault` where
    the store itself cannot be read.
    """
    with CopyStore.open(Path(copies)) as store:
        if trust_key is None:
            return check_store(store)
        seal = prove_seal(store, trusted_keys(resolve_settings(None, settings), trust_key))
        return replace(check_store(store), sealed_by=seal.fingerprint)


def seal_copies(copies: Place, *, seal_key: Place | None = None, settings: Settings | None = None) -> CopiesSeal:
    """Seals a folder of copies with an Ed25519 key, so that another machine can prove that it is the same.

    Whatever changes the folder afterwards, an acceptance too, breaks the seal; the same call seals it again.

    Options:
        seal_key: the private key; without it that of the settings (`seal.key`).
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.

    Raises `UsageFault` where there are no copies or no key, `SecretFault` where others may read the key, `RunLocked`.
    """
    from noarkit.loading.engines.assembly import (
        describe_caller,
    )  # it brings all of a load, which nothing else here needs

    resolved = resolve_settings(None, settings)
    own = signer(resolved, seal_key)
    at = datetime.fromtimestamp(resolved.now_s(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    with CopyStore.open(Path(copies)) as store, claimed(store.folder / LOCK, str(store.folder)):
        return seal_store(store, own, describe_caller(), at)


def _reasons(rows: Sequence[FormatRow]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in rows:
        if row.reason:
            counts[row.reason] = counts.get(row.reason, 0) + row.documents
    return dict(sorted(counts.items()))


def _rehearsal(copies: Path, folder: Path) -> Path:
    """A store for a dry run: what is known already, in a folder that goes again."""
    target = folder / "copies"
    if (copies / DATABASE).exists():
        with CopyStore.open(copies) as store:
            store.copy_to(target)
    return target
