"""The certificate: the result of a verification, as the facts of one page for the case file."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import asdict, replace

from noarkit.airgap.delivery import Receipt
from noarkit.graph.store import GraphStore
from noarkit.loading.folder import RunFolder
from noarkit.loading.verification import VerifyResult
from noarkit.records import SourceIdentity
from noarkit.reports.lists import NOT_IN_ARCHIVE
from noarkit.reports.page import MOST_PLACES, imprint_facts, iso
from noarkit.reports.plan_page import lost_facts
from noarkit.reports.run_page import LISTS
from noarkit.safe.digest import sha256_of
from noarkit.services.source import changes_since
from noarkit.settings import Imprint
from noarkit.version import __version__

CERTIFICATE_VERSION = 1


def certificate_facts(
    folder: RunFolder,
    verified: VerifyResult,
    *,
    archive: str,
    account: str,
    sample: float,
    began_s: float,
    ended_s: float,
    imprint: Imprint | None = None,
) -> dict[str, object]:
    """All that the certificate shows, as plain JSON values, with every difference that was kept."""
    with closing(GraphStore.open(folder.graph)) as graph, closing(folder.open_journal()) as journal:
        return {
            "report": "certificate",
            **_run_facts(folder, graph),
            "archive": archive,
            "archive_identity": journal.meta("archive"),
            "account": account,
            "imprint": imprint_facts(imprint and replace(imprint, at="")),
            "began": iso(began_s),
            "ended": iso(ended_s),
            "depth": verified.depth,
            "sample": sample,
            **_finding_facts(verified),
            "lists": {name: file for name, file in LISTS.items() if getattr(verified.numbers, name)},
            "bytes_compared": verified.bytes_compared,
            "source_new": verified.source_new,
            "source_gone": verified.source_gone,
            "source_changed": verified.source_changed,
        }


def delivery_facts(
    folder: RunFolder,
    verified: VerifyResult,
    receipt: Receipt,
    key: str,
    now_s: float,
    *,
    imprint: Imprint | None = None,
) -> dict[str, object]:
    """All that the page about a receipt shows, as plain JSON values."""
    with closing(GraphStore.open(folder.graph)) as graph:
        return {
            "report": "delivery",
            **_run_facts(folder, graph),
            "bundle": receipt.bundle,
            "receipt": receipt.id,
            "receipt_made": receipt.at,
            "receipt_key": key,
            "archive": receipt.archive,
            "archive_identity": receipt.identity,
            "ended": iso(now_s),
            "imprint": imprint_facts(imprint and replace(imprint, at="")),
            **_finding_facts(verified),
        }


def _run_facts(folder: RunFolder, graph: GraphStore) -> dict[str, object]:
    """The facts of the plan that a page is about."""
    settings = json.loads(graph.meta("source_settings") or "{}")
    source = SourceIdentity(graph.meta("source_kind") or "", graph.meta("source_where") or "", settings)
    return {
        "version": CERTIFICATE_VERSION,
        "noarkit": __version__,
        "run": folder.name,
        "plan_sha256": folder.plan()["sha256"],
        "zone": graph.meta("zone") or "UTC",
        "not_in_archive": lost_facts(graph.db) | {"sha256": _loss_list_sha256(folder)},
        "source": {"kind": source.kind, "where": source.where},
        "asked_since": changes_since(source),
    }


def _loss_list_sha256(folder: RunFolder) -> str | None:
    """The sha256 of the list of what is not in the archive, as it lies beside the run."""
    try:
        return sha256_of(folder.path / NOT_IN_ARCHIVE)
    except FileNotFoundError:
        return None


def _finding_facts(verified: VerifyResult) -> dict[str, object]:
    """Whether all is as it should be, and what is not."""
    return {
        "good": verified.good,
        "verdict": verified.verdict,
        "began_to_load": verified.began,
        "rows": [row.as_data() for row in verified.rows.values()],
        "missing": verified.missing,
        "left_by_choice": verified.left_by_choice,
        "changes": verified.changes,
        "notices": [asdict(notice) for notice in verified.notices],
        "adds_up": verified.numbers.add_up,
        "numbers": verified.numbers.as_data(),
        "compared": [
            {"name": name, "planned": planned_count, "there": archive_count}
            for name, (planned_count, archive_count) in verified.compared_counts.items()
        ],
        "differences": verified.differences,
        "findings": [asdict(notice) for notice in verified.findings],
        "shown": MOST_PLACES,
    }
