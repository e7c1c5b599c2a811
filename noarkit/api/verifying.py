"""Verifies a run: compares source, run and archive, and writes the certificate."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from noarkit.airgap.acceptance import may_be_accepted
from noarkit.airgap.receipt import ReceiptOrder, accepted_by_sender, ask_sender, is_fully_received, write_receipt
from noarkit.api.destination import destination, open_target
from noarkit.api.origins import reopen_source
from noarkit.api.reporting import write_run_results
from noarkit.archive.port import Archive
from noarkit.archive.retry import RetryPolicy
from noarkit.errors import RunLocked, SourceGone
from noarkit.events import Event, EventFields, Listener, ignore_event
from noarkit.loading.differences import remember_differences
from noarkit.loading.engines import assembly, watermarks
from noarkit.loading.engines.listing import compare_listing
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.loading.folder import RunFolder
from noarkit.loading.verification import Depth, Depths, VerifyResult
from noarkit.loading.verification import verify as verify_records
from noarkit.records import Source, released
from noarkit.reports import write_certificate
from noarkit.safe.event_log import log_run
from noarkit.settings import Place, Settings, imprint, resolve_settings

EVENTS: EventFields = {"not_remembered": {"code": "text"}}

# a file that cannot be fetched is a finding; an archive that is away is waited for as long as ever
_FOR_ONE_FILE = RetryPolicy(patience_s=2.0)


def verify(
    run: Place,
    *,
    source: Source | None = None,
    depth: Depth = "fields",
    sample: float = 1.0,
    whole: bool = False,
    without_source: bool = False,
    archive: str | None = None,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> VerifyResult:
    """Reads the source again, asks the archive, and compares. Changes nothing in the archive; writes the certificate
    into the run.

    A run that crosses an air gap: see `acknowledge` and `check_receipt`.

    Options:
        source: the source that was planned, where its reader has no registered name.
        depth: how much is compared: `"counts"`, `"ids"`, `"fields"` or `"bytes"`.
        sample: the share of files whose bytes are compared, from 0 to 1.
        whole: also asks the archive for the key of everything that a service lists now.
        without_source: holds the archive against the plan, and files against the checksums of the plan, for a source
            that was taken out of use. Nothing is read there.
        archive: the address of the archive, or `embedded:DIR`; without it that of the run, or of the settings.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        listener: is called with each event.

    A source that is gone leaves a verification in part. Raises `OtherArchive`, `SealBroken`, and faults of the archive.
    """
    order = VerifyOrder(RunFolder(Path(run)), Depths(depth, sample), source, whole=whole, without_source=without_source)
    return verify_run(order, resolve_settings(archive, settings), listener)


@dataclass(frozen=True, slots=True)
class VerifyOrder:
    """What is to be verified, how deep, and the receipt to be made where all of it is there."""

    folder: RunFolder
    depths: Depths
    source: Source | None = None
    whole: bool = False
    without_source: bool = False
    receipt: ReceiptOrder | None = None


def verify_run(order: VerifyOrder, settings: Settings, listener: Listener) -> VerifyResult:
    """Compares a run with its source and its archive; writes the certificate, and the receipt that was ordered."""
    folder = order.folder
    reopened = _reopen(order, settings)
    archive_place = destination(settings.config, settings.environment, folder.remembered_archive())
    with ExitStack() as stack:
        if reopened is not None:
            stack.enter_context(released(reopened))
        emit = stack.enter_context(log_run(folder.path, listener, settings.now_s, "verify"))
        target = stack.enter_context(open_target(archive_place))
        emit(Event("target", {"archive": target.name, "account": target.account}))
        watermarks.name_successor(reopened, target.name, settings.now_s())
        assembly.check_reachable(target, emit)
        connection = stack.enter_context(closing(connect_archive(target.settings, emit=emit)))
        assembly.check_same_archive(folder, connection, target.name)
        sender = None if order.receipt is None else accepted_by_sender(order.receipt, emit)
        began_s = settings.now_s()
        with closing(connect_archive(target.settings, policy=_FOR_ONE_FILE, emit=emit)) as downloads:
            result = verify_records(
                folder,
                reopened,
                connection,
                order.depths,
                emit,
                downloads=downloads,
                without_source=order.without_source,
                sender=sender,
            )
        if order.whole and reopened is not None:
            compare_listing(folder, reopened, connection, result, emit)
        result.certificate = write_certificate(
            folder,
            result,
            settings.config.lang,
            archive=target.name,
            account=target.account,
            sample=order.depths.sample,
            began_s=began_s,
            ended_s=settings.now_s(),
            imprint=imprint(settings),
        )
        _remember(order, result, settings, emit)
        if order.receipt is not None:
            receipt = replace(order.receipt, archive=target.name, account=target.account)
            _answer_sender(receipt, result, connection, settings)
        return result


def _answer_sender(order: ReceiptOrder, result: VerifyResult, archive: Archive, settings: Settings) -> None:
    """Makes the receipt; or asks the sender to accept what stands in its way, where that was ordered."""
    if is_fully_received(result):
        write_receipt(order, result, archive, now_s=settings.now_s)
        result.receipt = order.target
    elif order.request is not None and may_be_accepted(result):
        ask_sender(order, order.request, result, settings.now_s())
        result.request = order.request


def _remember(order: VerifyOrder, result: VerifyResult, settings: Settings, emit: Listener) -> None:
    """Keeps in the run what was found, so that every command says it until it is mended or accepted."""
    folder = order.folder
    try:
        has_changed = remember_differences(folder, result, settings.now_s(), whole=order.whole)
    except RunLocked as fault:  # it is loaded meanwhile, and is to be verified once more when that has ended
        emit(Event("not_remembered", {"code": fault.code}))
        return
    if has_changed:
        write_run_results(folder, settings.config.lang)


def _reopen(order: VerifyOrder, settings: Settings) -> Source | None:
    """The source of a run; None where it is gone, or is not to be read."""
    if order.without_source:
        return None
    try:
        return reopen_source(order.folder, settings, order.source)
    except SourceGone:
        return None
