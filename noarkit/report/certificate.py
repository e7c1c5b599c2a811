"""What a verification found, as the facts of one page for the case file."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict

from noarkit import __version__
from noarkit.graph.store import GraphStore
from noarkit.load.delivery import Receipt
from noarkit.load.folder import RunFolder
from noarkit.load.verify import Verified
from noarkit.report.loaded import LISTS
from noarkit.report.page import MOST_PLACES, iso

CERTIFICATE_VERSION = 1


def certificate_facts(
    folder: RunFolder, verified: Verified, *, archive: str, account: str, sample: float, began_s: float, ended_s: float
) -> dict[str, object]:
    """All that the certificate shows, as plain JSON values, with every difference that was kept."""
    with closing(GraphStore.open(folder.graph)) as graph, closing(folder.open_journal()) as journal:
        return {
            "report": "certificate",
            **_of_run(folder, graph),
            "archive": archive,
            "archive_identity": journal.meta("archive"),
            "account": account,
            "began": iso(began_s),
            "ended": iso(ended_s),
            "depth": verified.depth,
            "sample": sample,
            **_found(verified),
            "lists": {name: file for name, file in LISTS.items() if getattr(verified.numbers, name)},
            "bytes_compared": verified.bytes_compared,
            "source_new": verified.source_new,
            "source_gone": verified.source_gone,
            "source_changed": verified.source_changed,
        }


def delivery_facts(
    folder: RunFolder, verified: Verified, receipt: Receipt, key: str, now_s: float
) -> dict[str, object]:
    """All that the page about a receipt shows, as plain JSON values."""
    with closing(GraphStore.open(folder.graph)) as graph:
        return {
            "report": "delivery",
            **_of_run(folder, graph),
            "bundle": receipt.bundle,
            "receipt": receipt.id,
            "receipt_made": receipt.at,
            "receipt_key": key,
            "archive": receipt.archive,
            "archive_identity": receipt.identity,
            "ended": iso(now_s),
            **_found(verified),
        }


def _of_run(folder: RunFolder, graph: GraphStore) -> dict[str, object]:
    """Which plan a page is about."""
    return {
        "version": CERTIFICATE_VERSION,
        "noarkit": __version__,
        "run": folder.name,
        "plan_sha256": folder.plan()["sha256"],
        "zone": graph.meta("zone") or "UTC",
        "source": {"kind": graph.meta("source_kind"), "where": graph.meta("source_where")},
    }


def _found(verified: Verified) -> dict[str, object]:
    """Whether all is as it should be, and what is not."""
    return {
        "good": verified.good,
        "adds_up": verified.numbers.add_up,
        "numbers": verified.numbers.as_data(),
        "compared": [
            {"name": name, "planned": planned, "there": there} for name, (planned, there) in verified.compared.items()
        ],
        "differences": verified.differences,
        "findings": [asdict(one) for one in verified.findings],
        "shown": MOST_PLACES,
    }
