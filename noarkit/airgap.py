"""What crosses an air gap, with the keys of whoever calls: bundles leave and are taken in, receipts come back.

Each step is one function; the journeys of plan, ingest and verify call them. Nothing here asks an archive.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from noarkit.engine import continuity
from noarkit.engine.assembly import describe_caller
from noarkit.engine.runlog import log_run
from noarkit.errors import ConfigFault, UsageFault
from noarkit.events import Listener
from noarkit.load import receiving, sealing
from noarkit.load.delivery import open_deliveries
from noarkit.load.folder import RunFolder
from noarkit.load.numbers import numbers
from noarkit.load.plan import PlanResult
from noarkit.load.receipt import ReceiptOrder, check_receipt, receipt_records
from noarkit.load.sealing import PackOrder
from noarkit.load.verification import Depth, Depths, Verified
from noarkit.packages.sealed.read import is_sealed, open_sealed
from noarkit.report import plan_report, write_delivery, write_plan_report
from noarkit.report.lists import write_delivered_lists, write_lists
from noarkit.safe.signing import PublicKey, Signer, read_public, read_signer
from noarkit.secrets import read_private_file
from noarkit.site import Place, Site
from noarkit.sources.port import Source, released
from noarkit.sources.sealed import SealedSource
from noarkit.sources.sealed.index import INDEX

Trust = Place | Sequence[Place] | None
_MOST_KEY_BYTES = 64 * 1024


def signer(here: Site, given: Place | None) -> Signer:
    """The private key that seals, the one given or that of the settings.

    Raises `UsageFault` where nothing names one, `SecretFault` where others may read it, `ConfigFault`.
    """
    path = Path(given) if given is not None else here.config.seal.key
    if path is None:
        raise UsageFault(what="seal-key-wanted", where="--seal-key", do="--seal-key FILE (noarkit key new -o FILE)")
    return read_signer(read_private_file(path, here.environment), str(path))


def trusted(here: Site, given: Trust) -> tuple[PublicKey, ...]:
    """The public keys that are trusted, those given or those of the settings. Raises `UsageFault`, `ConfigFault`."""
    named = [given] if isinstance(given, (str, Path)) else list(given or ())
    paths = [Path(one) for one in named] or list(here.config.seal.trusted)
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
    planned: PlanResult,
    again: Callable[[], Source],
    target: Path,
    key: Signer,
    *,
    strict: bool,
    here: Site,
    tell: Listener,
) -> PlanResult:
    """Seals the plan of a run with its documents; what was planned, with the bundle. `again` opens the source, which
    need not be there any more where the bundle is."""
    folder = planned.folder
    stood = sealing.find_sealed_bundle(folder, target, key)
    if stood is not None:
        return replace(planned, packed=stood)
    with released(again()) as source, log_run(folder.path, tell, here.now_s, "pack") as told:
        order = PackOrder(folder, source, target, key, describe_caller(), strict)
        return replace(planned, packed=sealing.pack(order, emit=told, now_s=here.now_s))


def received(source: object, folder: RunFolder, trust_key: Trust, here: Site, tell: Listener) -> PlanResult:
    """The run of a sealed bundle, proven. Raises `UsageFault` for anything else: who names a key wants a seal."""
    if not isinstance(source, (str, Path)) or not is_bundle(source):
        shown = str(source) if isinstance(source, (str, Path)) else type(source).__name__
        raise UsageFault(what="not-a-bundle", where=shown)
    fresh = not (folder.path / "plan.json").exists()
    found = receiving.receive(Path(source), folder, trusted(here, trust_key), tell)
    if fresh:
        write_plan_report(folder, here.config.lang)
        write_lists(folder, here.config.lang)
    return found


def run_of(run: Place, output: Place | None, trust_key: Trust, here: Site, tell: Listener) -> RunFolder:
    """The run that is meant: a folder, or what becomes of a bundle."""
    if output is None and trust_key is None and not is_bundle(run):
        return RunFolder(Path(run))
    if output is None:
        raise UsageFault(what="run-wanted", where=str(run), do=f"noarkit ingest {run} -o RUN")
    folder = RunFolder(Path(output))
    received(run, folder, trust_key, here, tell)
    return folder


def bundle_of(folder: RunFolder) -> SealedSource:
    """The bundle that a run came in, as its source."""
    folder.plan()
    return SealedSource(folder.graph, folder.path / INDEX)


def receipt_order(folder: RunFolder, target: Place, seal_key: Place | None, here: Site) -> ReceiptOrder:
    """What is judged before anything is compared: hours later is too late to be told of a key that is not there."""
    if not receiving.is_received(folder):
        raise UsageFault(what="not-received", where=str(folder.path))
    counted = numbers(folder)
    if counted.open or counted.in_doubt:
        raise UsageFault(what="run-open", where=str(folder.path), do=f"noarkit ingest {folder.path}")
    if os.path.lexists(target):
        raise UsageFault(what="exists", where=str(target))
    if not Path(target).absolute().parent.is_dir():
        raise UsageFault(what="not-there", where=str(Path(target).parent))
    return ReceiptOrder(folder, Path(target), signer(here, seal_key), describe_caller(), "", "")


def receipt_depths(depth: Depth | None, sample: float) -> Depths:
    """A receipt answers for every byte of a bundle. Raises `UsageFault` where less is asked for."""
    if depth not in (None, "bytes") or sample < 1:
        raise UsageFault(what="receipt-whole", where="--receipt-out", do="--depth bytes")
    return Depths("bytes")


def close_case(folder: RunFolder, receipt: Place, trust_key: Trust, here: Site, tell: Listener) -> Verified:
    """Holds a receipt against the run whose bundle it is of, writes the certificate, and notes what was delivered."""
    folder.plan()
    if not os.path.lexists(receipt):
        raise UsageFault(what="not-there", where=str(receipt))
    keys = trusted(here, trust_key)
    with (
        log_run(folder.path, tell, here.now_s, "verify") as told,
        folder.locked(),
        closing(open_deliveries(folder)) as known,
        open_sealed(Path(receipt), keys, "receipt") as sealed,
    ):
        result, found = check_receipt(sealed, folder, known, emit=told)
        result.certificate = write_delivery(
            folder, result, found, sealed.key.fingerprint, here.config.lang, now_s=here.now_s()
        )
        if result.good:
            write_delivered_lists(folder, here.config.lang, partial(receipt_records, sealed))
            known.keep_receipt(found)
    return result


def move_marks(folder: RunFolder, source: Source, here: Site) -> None:
    """A connection's next plan begins where what was delivered ends. Does nothing where not all of it arrived."""
    with closing(open_deliveries(folder)) as known:
        receipt = known.receipt()
    archive = plan_report(folder).get("context", {}).get("archive")
    if receipt is not None and archive:
        continuity.keep_delivered_watermarks(
            source, folder, str(archive), receipt.identity, receipt.numbers, here.now_s()
        )
