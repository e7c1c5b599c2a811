"""Verifies a run: compares source, run and archive, and writes the certificate."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from noarkit.airgap.receipt import ReceiptOrder, is_fully_received, write_receipt
from noarkit.api.destination import destination, open_target
from noarkit.api.origins import reopen_source
from noarkit.archive.retry import RetryPolicy
from noarkit.events import Event, Listener, ignore_event
from noarkit.loading.engines import assembly
from noarkit.loading.engines.listing import compare_listing
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.loading.folder import RunFolder
from noarkit.loading.verification import Depth, Depths, VerifyResult
from noarkit.loading.verification import verify as verify_records
from noarkit.records import Source, released
from noarkit.reports import write_certificate
from noarkit.safe.event_log import log_run
from noarkit.settings import Place, Settings, imprint, resolve_settings

# a file that cannot be fetched is a finding; an archive that is away is waited for as long as ever
_FOR_ONE_FILE = RetryPolicy(patience_s=2.0)


def verify(
    run: Place,
    *,
    source: Source | None = None,
    depth: Depth = "fields",
    sample: float = 1.0,
    whole: bool = False,
    archive: str | None = None,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> VerifyResult:
    """Reads the source again, asks the archive, and compares. Changes nothing in the archive; writes the certificate
    into the run.

    A run that crosses an air gap: see `acknowledge` and `check_receipt`.

    Options:
        source: the source that was planned, where its reader has no registered name.
        depth: how much is compared: `counts`, `ids`, `fields` or `bytes`.
        sample: the share of files whose bytes are compared, from 0 to 1.
        whole: also asks the archive for the key of everything that a service lists now.
        archive: the address of the archive, or `embedded:DIR`; without it that of the run, or of the settings.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        listener: is called with each event.

    Raises `OtherArchive`, `SourceGone`, `SealBroken`, and faults of the archive.
    """
    order = VerifyOrder(RunFolder(Path(run)), Depths(depth, sample), source, whole=whole)
    return verify_run(order, resolve_settings(archive, settings), listener)


@dataclass(frozen=True, slots=True)
class VerifyOrder:
    """What is to be verified, how deep, and the receipt to be made where all of it is there."""

    folder: RunFolder
    depths: Depths
    source: Source | None = None
    whole: bool = False
    receipt: ReceiptOrder | None = None


def verify_run(order: VerifyOrder, settings: Settings, listener: Listener) -> VerifyResult:
    """Compares a run with its source and its archive; writes the certificate, and the receipt that was ordered."""
    folder = order.folder
    reopened = reopen_source(folder, settings, order.source)
    archive_place = destination(settings.config, settings.environment, folder.remembered_archive())
    with ExitStack() as stack:
        stack.enter_context(released(reopened))
        emit = stack.enter_context(log_run(folder.path, listener, settings.now_s, "verify"))
        target = stack.enter_context(open_target(archive_place))
        emit(Event("target", {"archive": target.name, "account": target.account}))
        assembly.check_reachable(target, emit)
        connection = stack.enter_context(closing(connect_archive(target.settings, emit=emit)))
        assembly.check_same_archive(folder, connection, target.name)
        began_s = settings.now_s()
        with closing(connect_archive(target.settings, policy=_FOR_ONE_FILE, emit=emit)) as downloads:
            result = verify_records(folder, reopened, connection, order.depths, emit, downloads=downloads)
        if order.whole:
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
        if order.receipt is not None and is_fully_received(result):
            receipt = replace(order.receipt, archive=target.name, account=target.account)
            write_receipt(receipt, result, connection, now_s=settings.now_s)
            result.receipt = receipt.target
        return result
