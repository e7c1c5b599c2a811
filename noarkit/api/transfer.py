"""Bundles and receipts over an air gap: seals plans, takes in bundles, checks the receipts that come back.

Each step is one function; the journeys of plan, ingest and verify call them. Nothing here asks an archive.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from noarkit.airgap import receiving, sealing
from noarkit.airgap.delivery import open_deliveries
from noarkit.airgap.receipt import ReceiptOrder, check_receipt, receipt_records
from noarkit.airgap.sealing import PackOrder
from noarkit.airgap.source import SealedSource
from noarkit.airgap.source.index import INDEX
from noarkit.errors import ConfigFault, UsageFault
from noarkit.events import Listener
from noarkit.forms.sealed.read import is_sealed, open_sealed
from noarkit.loading.engines import watermarks
from noarkit.loading.engines.assembly import describe_caller
from noarkit.loading.engines.runlog import log_run
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import numbers
from noarkit.loading.plan import PlanResult
from noarkit.loading.verification import Depth, Depths, VerifyResult
from noarkit.records import Source, released
from noarkit.reports import plan_report, write_delivery, write_plan_report
from noarkit.reports.lists import write_delivered_lists, write_lists
from noarkit.safe.signing import PublicKey, Signer, read_public, read_signer
from noarkit.secrets import read_private_file
from noarkit.settings import Place, Settings

Trust = Place | Sequence[Place] | None
_MOST_KEY_BYTES = 64 * 1024


def signer(settings: Settings, key: Place | None) -> Signer:
    """The private key that seals, the one given or that of the settings.

    Raises `UsageFault` where nothing names one, `SecretFault` where others may read it, `ConfigFault`.
    """
    path = Path(key) if key is not None else settings.config.seal.key
    if path is None:
        raise UsageFault(what="seal-key-wanted", where="--seal-key", do="--seal-key FILE (noarkit key new -o FILE)")
    return read_signer(read_private_file(path, settings.environment), str(path))


def trusted_keys(settings: Settings, keys: Trust) -> tuple[PublicKey, ...]:
    """The trusted public keys: the given ones, else those of the settings. Raises `UsageFault`, `ConfigFault`."""
    key_places = [keys] if isinstance(keys, (str, Path)) else list(keys or ())
    paths = [Path(key_place) for key_place in key_places] or list(settings.config.seal.trusted)
    if not paths:
        raise UsageFault(what="trust-key-wanted", where="--trust-key", do="--trust-key FILE")
    return tuple(public_key(path) for path in paths)


def public_key(path: Path) -> PublicKey:
    """The public key in a file. Raises `ConfigFault`."""
    try:
        with path.open("rb") as file:
            return read_public(file.read(_MOST_KEY_BYTES), str(path))
    except OSError as error:
        raise ConfigFault(where=str(path), why="unreadable" if path.exists() else "not-there") from error


def is_bundle(place: object) -> bool:
    """True for a place where a sealed bundle lies, or what is left of one."""
    return isinstance(place, (str, Path)) and is_sealed(Path(place))


def pack(
    result: PlanResult,
    again: Callable[[], Source],
    target: Path,
    key: Signer,
    *,
    strict: bool,
    settings: Settings,
    emit: Listener,
) -> PlanResult:
    """Seals the plan of a run with its documents; what was planned, with the bundle. `again` opens the source, which
    need not be there any more where the bundle is."""
    folder = result.folder
    existing = sealing.find_sealed_bundle(folder, target, key)
    if existing is not None:
        return replace(result, packed=existing)
    with released(again()) as source, log_run(folder.path, emit, settings.now_s, "pack") as emit_logged:
        order = PackOrder(folder, source, target, key, describe_caller(), strict)
        return replace(result, packed=sealing.pack(order, emit=emit_logged, now_s=settings.now_s))


def receive(source: object, folder: RunFolder, trust_key: Trust, settings: Settings, emit: Listener) -> PlanResult:
    """The run of a sealed bundle, proven. Raises `UsageFault` for anything else: who names a key wants a seal."""
    if not isinstance(source, (str, Path)) or not is_bundle(source):
        label = str(source) if isinstance(source, (str, Path)) else type(source).__name__
        raise UsageFault(what="not-a-bundle", where=label)
    fresh = not (folder.path / "plan.json").exists()
    plan_result = receiving.receive(Path(source), folder, trusted_keys(settings, trust_key), emit)
    if fresh:
        write_plan_report(folder, settings.config.lang)
        write_lists(folder, settings.config.lang)
    return plan_result


def open_run(run: Place, output: Place | None, trust_key: Trust, settings: Settings, emit: Listener) -> RunFolder:
    """Opens a run: a run folder as it is, a bundle as the run that is made of it."""
    if output is None and trust_key is None and not is_bundle(run):
        return RunFolder(Path(run))
    if output is None:
        raise UsageFault(what="run-wanted", where=str(run), do=f"noarkit ingest {run} -o RUN")
    folder = RunFolder(Path(output))
    receive(run, folder, trust_key, settings, emit)
    return folder


def bundle_of(folder: RunFolder) -> SealedSource:
    """The bundle that a run came in, as its source."""
    folder.plan()
    return SealedSource(folder.graph, folder.path / INDEX)


def receipt_order(folder: RunFolder, target: Place, seal_key: Place | None, settings: Settings) -> ReceiptOrder:
    """What is judged before anything is compared: hours later is too late to be told of a key that is not there."""
    if not receiving.is_received(folder):
        raise UsageFault(what="not-received", where=str(folder.path))
    counts = numbers(folder)
    if counts.open or counts.in_doubt:
        raise UsageFault(what="run-open", where=str(folder.path), do=f"noarkit ingest {folder.path}")
    if os.path.lexists(target):
        raise UsageFault(what="exists", where=str(target))
    if not Path(target).absolute().parent.is_dir():
        raise UsageFault(what="not-there", where=str(Path(target).parent))
    return ReceiptOrder(folder, Path(target), signer(settings, seal_key), describe_caller(), "", "")


def receipt_depths(depth: Depth | None, sample: float) -> Depths:
    """The depth of a verification with a receipt: every byte. Raises `UsageFault` where less is asked for."""
    if depth not in (None, "bytes") or sample < 1:
        raise UsageFault(what="receipt-whole", where="--receipt-out", do="--depth bytes")
    return Depths("bytes")


def close_case(folder: RunFolder, receipt: Place, trust_key: Trust, settings: Settings, emit: Listener) -> VerifyResult:
    """Holds a receipt against the run whose bundle it is of, writes the certificate, and notes what was delivered."""
    folder.plan()
    if not os.path.lexists(receipt):
        raise UsageFault(what="not-there", where=str(receipt))
    keys = trusted_keys(settings, trust_key)
    with (
        log_run(folder.path, emit, settings.now_s, "verify") as emit_logged,
        folder.locked(),
        closing(open_deliveries(folder)) as deliveries_log,
        open_sealed(Path(receipt), keys, "receipt") as receipt_file,
    ):
        result, returned_receipt = check_receipt(receipt_file, folder, deliveries_log, emit=emit_logged)
        result.certificate = write_delivery(
            folder, result, returned_receipt, receipt_file.key.fingerprint, settings.config.lang, now_s=settings.now_s()
        )
        if result.good:
            write_delivered_lists(folder, settings.config.lang, partial(receipt_records, receipt_file))
            deliveries_log.keep_receipt(returned_receipt)
    return result


def advance_watermarks(folder: RunFolder, source: Source, settings: Settings) -> None:
    """A connection's next plan begins where what was delivered ends. Does nothing where not all of it arrived."""
    with closing(open_deliveries(folder)) as deliveries_log:
        receipt = deliveries_log.receipt()
    archive = plan_report(folder).get("context", {}).get("archive")
    if receipt is not None and archive:
        watermarks.keep_delivered_watermarks(
            source, folder, str(archive), receipt.identity, receipt.numbers, settings.now_s()
        )
