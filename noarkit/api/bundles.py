"""Bundles and receipts over an air gap: packs a run, receives a bundle, acknowledges it, checks the receipt.

The four steps in their order, the first and the last on the sending side:

    noarkit.pack("run", "bundle.zip", seal_key="ours.key")
    noarkit.receive("bundle.zip", "there", trust_key="ours.key.pub")          # then `ingest`
    noarkit.acknowledge("there", "receipt.zip", seal_key="theirs.key")
    noarkit.check_receipt("run", "receipt.zip", trust_key="theirs.key.pub")

Where the archive was changed in between, `acknowledge` can ask the sender to accept what it found (`answer_request`).
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from noarkit.airgap import receiving, sealing
from noarkit.airgap.acceptance import SealedBy, read_request, write_acceptance
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
from noarkit.loading.delivery import open_deliveries
from noarkit.loading.engines import watermarks
from noarkit.loading.engines.assembly import describe_caller
from noarkit.loading.folder import RunFolder
from noarkit.loading.next_step import command_of
from noarkit.loading.plan import PackResult, PlanResult
from noarkit.loading.state import read_state
from noarkit.loading.verification import Depths, Finding, VerifyResult
from noarkit.records import Source, released
from noarkit.reports import has_plan_page, plan_report, write_delivery, write_plan_outcome, write_plan_report
from noarkit.reports.lists import write_delivered_lists, write_lists
from noarkit.safe.clocks import iso_seconds
from noarkit.safe.event_log import log_run
from noarkit.safe.signing import PublicKey
from noarkit.service_names import is_connection_name
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
    plan_result = receiving.receive(Path(bundle), folder, trusted_keys(final_settings, trust_key), listener)
    if not has_plan_page(folder):
        write_lists(folder, final_settings.config.lang)
        write_plan_report(folder, final_settings.config.lang)
    return plan_result


def acknowledge(
    run: Place,
    receipt: Place,
    *,
    seal_key: Place | None = None,
    request: Place | None = None,
    acceptance: Place | None = None,
    trust_key: Trust = None,
    whole: bool = False,
    archive: str | None = None,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> VerifyResult:
    """Verifies every byte of a run that came in a bundle, and makes the receipt where all of it is in the archive.

    The result's `receipt` is None if something is missing, or was changed since; its `request` is then the file that
    asks the sender to accept what was found, if that is all that stands in the way (see `answer_request`).

    Options:
        seal_key: the private key that signs the receipt; without it that of the settings.
        request: where to ask the sender to accept what was found, if no receipt can be made.
        acceptance: what the sender answered: findings that are just these do not keep the receipt back.
        trust_key: public keys, one of which must be that of the sender; without them those of the settings.
        whole: also asks the archive for the key of everything that a service lists now.
        archive: the address of the archive, or `embedded:DIR`; without it the one that the run remembers.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        listener: is called with each event.

    Raises `UsageFault` where the run came in no bundle or is not loaded to its end, `SealBroken`, `OtherArchive`, and
    faults of the archive.
    """
    final_settings, folder = resolve_settings(archive, settings), RunFolder(Path(run))
    order = _receipt_order(folder, receipt, seal_key, final_settings)
    if request is not None:
        order = replace(order, request=_free_target(request))
    if acceptance is not None:
        keys = trusted_keys(final_settings, trust_key)
        order = replace(order, acceptance=_existing(acceptance), trusted=keys)
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
    write_plan_outcome(folder, final_settings.config.lang)
    if result.good and is_connection_name(source_of(folder).where):
        with suppress(ConfigFault):  # a connection that is configured no more has no next plan
            keys = trusted_keys(final_settings, trust_key)
            _advance_watermarks(folder, reopen_source(folder, final_settings), Path(receipt), keys, final_settings)
    return result


def answer_request(
    run: Place,
    request: Place,
    acceptance: Place | None = None,
    *,
    accept: Sequence[str] = (),
    by: str = "",
    note: str = "",
    seal_key: Place | None = None,
    trust_key: Trust = None,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> tuple[Finding, ...]:
    """Reads what the receiver of a bundle asks the sender to accept; with `acceptance`, seals there what a person
    accepts of it, and returns that.

    It holds for just these findings: where there is one more, or another value in the same place, no receipt is made.

    Options:
        accept: keys of findings, those of a record with all that belongs to it.
        by: the name of the person who accepts.
        note: what they want to have written beside it.
        seal_key: the private key that sealed the bundle; without it that of the settings.
        trust_key: public keys, one of which must have sealed the request; without them those of the settings.
        settings: what `read_settings` returns; without it `noarkit.toml` and the environment, as for a command.
        listener: is called with each event.

    Raises `UsageFault` without keys or a name, or for a key that nothing was found of, `SealBroken`.
    """
    final_settings, folder = resolve_settings(None, settings), RunFolder(Path(run))
    if acceptance is not None and not (by.strip() and accept):
        fix, own = ("--by", "name") if accept else ("--accept", "finding")
        raise UsageFault(what="accept-wants-name", where="--accept", fix=fix, own=own)
    keys = trusted_keys(final_settings, trust_key)
    with (
        closing(open_deliveries(folder)) as deliveries_log,
        open_sealed(_existing(request), keys, "request") as request_file,
    ):
        request_content = read_request(request_file, folder, deliveries_log, listener)
        if acceptance is None:
            return request_content.findings
        at = iso_seconds(final_settings.now_s())
        order = SealedBy(_free_target(acceptance), signer(final_settings, seal_key), describe_caller(), at)
        return write_acceptance(
            order, folder, deliveries_log, request_content, keys=accept, by=by.strip(), note=note.strip()
        )


def _receipt_order(folder: RunFolder, target: Place, seal_key: Place | None, settings: Settings) -> ReceiptOrder:
    """What is judged before anything is compared: hours later is too late to learn that a key is missing."""
    if not is_received(folder.path):
        raise UsageFault(what="not-received", where=str(folder.path))
    if not read_state(folder).is_loaded:
        raise UsageFault(what="run-open", where=str(folder.path), do=shlex.join(command_of("again", folder)))
    return ReceiptOrder(folder, _free_target(target), signer(settings, seal_key), describe_caller(), "", "")


def _free_target(target: Place) -> Path:
    """The place of a file that is to be made. Raises `UsageFault` where something is there, or no folder is."""
    if os.path.lexists(target):
        raise UsageFault(what="exists", where=str(target))
    if not Path(target).absolute().parent.is_dir():
        raise UsageFault(what="not-there", where=str(Path(target).parent))
    return Path(target)


def _existing(path: Place) -> Path:
    if not os.path.lexists(path):
        raise UsageFault(what="not-there", where=str(path))
    return Path(path)


def _close_case(folder: RunFolder, receipt: Path, trust_key: Trust, settings: Settings, emit: Listener) -> VerifyResult:
    """Compares a receipt with the run whose bundle it is of, writes the certificate, and notes what was delivered."""
    folder.plan()
    _existing(receipt)
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


def _advance_watermarks(
    folder: RunFolder, source: Source, receipt: Path, keys: Sequence[PublicKey], settings: Settings
) -> None:
    """A connection's next plan begins where what was delivered ends. Does nothing where not all of it arrived."""
    with closing(open_deliveries(folder)) as deliveries_log:
        returned_receipt = deliveries_log.receipt()
    archive = plan_report(folder).get("context", {}).get("archive")
    if returned_receipt is not None and archive:
        with open_sealed(receipt, keys, "receipt") as receipt_file:
            watermarks.keep_delivered_watermarks(
                source,
                folder,
                str(archive),
                returned_receipt.identity,
                partial(receipt_records, receipt_file),
                settings.now_s(),
            )
