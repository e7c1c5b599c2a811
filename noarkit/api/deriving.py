"""Makes archival copies of the documents of a source, accepts those that wait for a person, and checks them."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from noarkit.api.origins import source_at
from noarkit.copies import composition
from noarkit.copies.checking import CheckCopiesResult, check_store
from noarkit.copies.coordinator import Derivation, DerivingOptions, DerivingTools
from noarkit.copies.coordinator import derive as derive_copies
from noarkit.copies.numbers import FormatRow, format_rows, state_counts
from noarkit.copies.policy import read_policy
from noarkit.copies.reading import ReadingOptions
from noarkit.copies.settings import copy_settings
from noarkit.copies.store import DATABASE, LOCK, CopyStore
from noarkit.errors import PlanFault, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.loading.coordinator import StopRequest
from noarkit.recipes import Recipe, fits, read_recipe
from noarkit.records import Source, accept_damage, fitted, released
from noarkit.results import Result
from noarkit.safe.locks import claimed
from noarkit.safe.toml import read_text
from noarkit.settings import Place, Settings, resolve_settings


@dataclass(frozen=True, slots=True)
class DeriveResult(Result):
    """What became of the documents of a source: `read` is the sum of `made`, `kept`, `held`, `failed`, `left`, `open`.

    `open` are those that a stopped run, or one for some formats only, has not come to. `converted` counts what this
    call did; all else may have been there before.
    """

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
    formats: tuple[FormatRow, ...] = ()
    stopped_by: str = ""
    dry_run: bool = False

    def to_dict(self) -> dict[str, object]:
        """The keys of `noarkit derive --json`."""
        names = [name for name in self.__dataclass_fields__ if name not in ("formats",)]
        return {**{name: getattr(self, name) for name in names}, "formats": [row.to_dict() for row in self.formats]}


def derive(
    source: Place | Source,
    copies: Place,
    *,
    policy: Place | None = None,
    recipe: Place | Recipe | None = None,
    workers: int | None = None,
    only: Collection[str] = (),
    retry: Collection[str] = (),
    dry_run: bool = False,
    source_kind: str | None = None,
    despite_damage: bool = False,
    encoding: str | None = None,
    settings: Settings | None = None,
    stop_request: StopRequest | None = None,
    listener: Listener = ignore_event,
) -> DeriveResult:
    """Makes copies in archive formats of the documents of a source, each proved before it counts; the same call again
    goes on, and makes nothing twice.

    `copies` is the folder that the copies lie in; it is made where there is none. The source is only read.

    Options:
        policy: a policy file, or the name of a shipped one; without it `no-raf-2022`.
        recipe: a file or a `Recipe`, which says what of the source are documents (the attachments of mail); the one
            that `plan` is given.
        workers: how many documents are converted at a time; without it one for each processor.
        only: PRONOM identifiers; documents of other formats are left for another time.
        retry: reasons whose documents are tried once more, or `outdated` for copies that other tools would make now.
        dry_run: says what would be done, and writes nothing.
        source_kind: what a path is read as, whatever it looks like (`files`, or a form of package).
        despite_damage: reads a package whose own checksums do not hold; it is refused otherwise.
        encoding: how names in an archive file are read that are not UTF-8 (`cp1252`).
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        stop_request: a `StopRequest`; asked from a listener or another thread, it stops the work in good order.
        listener: is called with each event.

    Raises `ConfigFault` for a policy that cannot be used, `PlanFault` for a recipe that cannot, `SourceGone`,
    `UsageFault`, `RunLocked` and `DiskFull`.
    """
    resolved, stop = resolve_settings(None, settings), stop_request or StopRequest()
    own = copy_settings(resolved.config, workers)
    rules = read_policy(Path(policy) if policy is not None else None)
    tools = DerivingTools(
        rules,
        partial(composition.toolbox, own),
        listener,
        own.agent or rules.agent,
        is_stopped=lambda: bool(stop),
        now_s=resolved.now_s,
    )
    options = DerivingOptions(ReadingOptions(frozenset(retry), frozenset(only)), 0 if dry_run else own.workers)
    found_source = source_at(source, settings, kind=source_kind, emit=listener, encoding=encoding)
    with released(found_source) as place, _target(Path(copies), dry_run=dry_run) as store:
        whole_place = accept_damage(apply_recipe(place, recipe), despite_damage=despite_damage)
        derivation = derive_copies(whole_place, store, tools, options)
        result = _result(store, derivation, tools.policy.name)
    return replace(result, copies=str(copies), stopped_by=stop.reason, dry_run=dry_run)


def apply_recipe(source: Source, recipe: Place | Recipe | None) -> Source:
    """The source on the terms of a recipe. Raises `PlanFault` for terms that do not fit it."""
    if recipe is None:
        return source
    wanted = recipe if isinstance(recipe, Recipe) else read_recipe(read_text(Path(recipe)), str(recipe))
    if not fits(wanted, source.identity.kind):
        raise PlanFault(where=wanted.name, why="recipe-for-other-source")
    return fitted(source, wanted.data.get("source"))


def _result(store: CopyStore, derivation: Derivation, policy: str) -> DeriveResult:
    rows, totals = format_rows(store, derivation.walk), derivation.totals
    counts = state_counts(rows)
    return DeriveResult(
        copies=str(store.folder),
        policy=policy,
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
        formats=tuple(rows),
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


def accept_copies(copies: Place, what: Collection[str], *, by: str, settings: Settings | None = None) -> int:
    """Accepts copies that wait for a person, in that person's name, which is kept; returns how many.

    `what` names codes of findings, of which all that a copy is held for must be among them, or documents by the key of
    their record or their sha256.

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
        unknown = set(what)
        for copy in list(store.held_copies()):
            codes = [str(code) for code in _codes(copy.data)]
            names = {copy.source_sha256, *store.record_keys(copy.n)} & set(what)
            unknown -= names | set(codes)
            if names or (codes and set(codes) <= set(what)):
                store.accept(copy.n, ", ".join(sorted(names or set(codes))), by.strip(), at)
                accepted += 1
        if unknown and not accepted:
            raise UsageFault(what="nothing-held", where=", ".join(sorted(unknown)))
    return accepted


def check_copies(copies: Place) -> CheckCopiesResult:
    """Proves every copy against its checksum, and the store against the files that lie in it; changes nothing.

    Raises `UsageFault` where there are no copies, and `JournalFault` where the store itself cannot be read.
    """
    with CopyStore.open(Path(copies)) as store:
        return check_store(store)


def _codes(data: object) -> Sequence[object]:
    codes = data.get("findings") if isinstance(data, dict) else None
    return codes if isinstance(codes, list) else []


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
