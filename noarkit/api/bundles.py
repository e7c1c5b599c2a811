"""Bundles and receipts over an air gap: packs a run, receives a bundle, acknowledges it, checks the receipt.

The four steps in their order, the first and the last on the sending side:

    noarkit.pack("run", "bundle.zip", seal_key="ours.key")
    noarkit.receive("bundle.zip", "there", trust_key="ours.key.pub")          # then `ingest`
    noarkit.acknowledge("there", "receipt.zip", seal_key="theirs.key")
    noarkit.check_receipt("run", "receipt.zip", trust_key="theirs.key.pub")
"""

from __future__ import annotations

import os
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from noarkit.airgap import receiving, sealing
from noarkit.airgap.delivery import open_deliveries
from noarkit.airgap.receipt import ReceiptOrder, receipt_records
from noarkit.airgap.receipt import check_receipt as check_against_run
from noarkit.airgap.sealing import PackOrder
from noarkit.airgap.source.index import is_received
from noarkit.api.keys import Trust, signer, trusted_keys
from noarkit.api.origins import is_bundle, reopen_source, source_of
from noarkit.api.verifying import VerifyOrder, verify_run
from noarkit.errors import ConfigFault, UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.forms.sealed.read import open_sealed
from noarkit.loading.engines import watermarks
from noarkit.loading.engines.assembly import describe_caller
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import numbers
from noarkit.loading.plan import PackResult, PlanResult
from noarkit.loading.verification import Depths, VerifyResult
from noarkit.records import Source, released
from noarkit.reports import plan_report, write_delivery, write_plan_report
from noarkit.reports.lists import write_delivered_lists, write_lists
from noarkit.safe.event_log import log_run
from noarkit.services.registry import is_connection_name
from noarkit.settings import Place, Settings, imprint, resolve_settings


def pack(
    run: Place,
    bundle: Place,
    *,
    seal_key: Place | None = None,
    source: Source | None = None,
    strict: bool = False,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> PackResult:
    """Seals the plan of a run with its documents into a folder, zip or tar for the other side of an air gap. The same
    call again goes on.

    Options:
        seal_key: the private key that signs the bundle; without it that of the settings.
        source: the source that was planned, where its reader has no registered name.
        strict: raises the first fault of a document; it is left out and counted otherwise.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        listener: is called with each event.

    Raises `UsageFault` where `bundle` is something else already, `SealBroken`, `PlanChanged`, `RunLocked`, `DiskFull`,
    `SourceGone`.
    """
    final_settings, folder, target = resolve_settings(None, settings), RunFolder(Path(run)), Path(bundle)
    key = signer(final_settings, seal_key)
    folder.plan()
    existing = sealing.find_sealed_bundle(folder, target, key)
    if existing is not None:  # its source need not be there any more
        return existing
    with (
        released(reopen_source(folder, final_settings, source)) as reopened,
        log_run(folder.path, listener, final_settings.now_s, "pack") as emit,
    ):
        order = PackOrder(folder, reopened, target, key, describe_caller(), strict)
        return sealing.pack(order, emit=emit, now_s=final_settings.now_s)


def receive(
    bundle: Place,
    run: Place,
    *,
    trust_key: Trust = None,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> PlanResult:
    """Proves a sealed bundle and makes the run `run` of it, which `ingest` loads. The same call again changes nothing.

    Options:
        trust_key: public keys, one of which must have sealed the bundle; without them those of the settings.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        listener: is called with each event.

    Raises `UsageFault` where `bundle` is none, `SealBroken`.
    """
    if not is_bundle(bundle):
        raise UsageFault(what="not-a-bundle", where=str(bundle))
    final_settings, folder = resolve_settings(None, settings), RunFolder(Path(run))
    fresh = not (folder.path / "plan.json").exists()
    plan_result = receiving.receive(Path(bundle), folder, trusted_keys(final_settings, trust_key), listener)
    if fresh:
        write_plan_report(folder, final_settings.config.lang)
        write_lists(folder, final_settings.config.lang)
    return plan_result


def acknowledge(
    run: Place,
    receipt: Place,
    *,
    seal_key: Place | None = None,
    whole: bool = False,
    archive: str | None = None,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> VerifyResult:
    """Verifies every byte of a run that came in a bundle, and makes the receipt where all of it is in the archive.

    The result's `receipt` is None if something is missing.

    Options:
        seal_key: the private key that signs the receipt; without it that of the settings.
        whole: also asks the archive for the key of everything that a service lists now.
        archive: the address of the archive, or `embedded:DIR`; without it the one that the run remembers.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        listener: is called with each event.

    Raises `UsageFault` where the run came in no bundle or is not loaded to its end, `SealBroken`, `OtherArchive`, and
    faults of the archive.
    """
    final_settings, folder = resolve_settings(archive, settings), RunFolder(Path(run))
    order = _receipt_order(folder, receipt, seal_key, final_settings)
    return verify_run(
        VerifyOrder(folder, Depths("bytes"), whole=whole, receipt=order),
        final_settings,
        listener,
    )


def check_receipt(
    run: Place,
    receipt: Place,
    *,
    trust_key: Trust = None,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> VerifyResult:
    """Compares a receipt that came back with the run that was packed; writes the certificate. Asks no archive.

    Where all arrived, the next plan of a connection begins where this one ends.

    Options:
        trust_key: public keys, one of which must have sealed the receipt; without them those of the settings.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        listener: is called with each event.

    Raises `UsageFault` where there is no receipt, `SealBroken`.
    """
    final_settings, folder = resolve_settings(None, settings), RunFolder(Path(run))
    result = _close_case(folder, Path(receipt), trust_key, final_settings, listener)
    if result.good and is_connection_name(source_of(folder).where):
        with suppress(ConfigFault):  # a connection that is configured no more has no next plan
            _advance_watermarks(folder, reopen_source(folder, final_settings), final_settings)
    return result


def _receipt_order(folder: RunFolder, target: Place, seal_key: Place | None, settings: Settings) -> ReceiptOrder:
    """What is judged before anything is compared: hours later is too late to learn that a key is missing."""
    if not is_received(folder.path):
        raise UsageFault(what="not-received", where=str(folder.path))
    counts = numbers(folder)
    if counts.open or counts.in_doubt:
        raise UsageFault(what="run-open", where=str(folder.path), do=f"noarkit ingest {folder.path}")
    if os.path.lexists(target):
        raise UsageFault(what="exists", where=str(target))
    if not Path(target).absolute().parent.is_dir():
        raise UsageFault(what="not-there", where=str(Path(target).parent))
    return ReceiptOrder(folder, Path(target), signer(settings, seal_key), describe_caller(), "", "")


def _close_case(folder: RunFolder, receipt: Path, trust_key: Trust, settings: Settings, emit: Listener) -> VerifyResult:
    """Compares a receipt with the run whose bundle it is of, writes the certificate, and notes what was delivered."""
    folder.plan()
    if not os.path.lexists(receipt):
        raise UsageFault(what="not-there", where=str(receipt))
    keys = trusted_keys(settings, trust_key)
    with (
        log_run(folder.path, emit, settings.now_s, "verify") as emit_logged,
        folder.locked(),
        closing(open_deliveries(folder)) as deliveries_log,
        open_sealed(receipt, keys, "receipt") as receipt_file,
    ):
        result, returned_receipt = check_against_run(receipt_file, folder, deliveries_log, emit=emit_logged)
        result.certificate = write_delivery(
            folder,
            result,
            returned_receipt,
            receipt_file.key.fingerprint,
            settings.config.lang,
            now_s=settings.now_s(),
            imprint=imprint(settings),
        )
        if result.good:
            write_delivered_lists(folder, settings.config.lang, partial(receipt_records, receipt_file))
            deliveries_log.keep_receipt(returned_receipt)
    return result


def _advance_watermarks(folder: RunFolder, source: Source, settings: Settings) -> None:
    """A connection's next plan begins where what was delivered ends. Does nothing where not all of it arrived."""
    with closing(open_deliveries(folder)) as deliveries_log:
        receipt = deliveries_log.receipt()
    archive = plan_report(folder).get("context", {}).get("archive")
    if receipt is not None and archive:
        watermarks.keep_delivered_watermarks(
            source, folder, str(archive), receipt.identity, receipt.numbers, settings.now_s()
        )
