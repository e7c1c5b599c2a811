"""The certificate: the result of a verification, as the facts of one page for the case file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace

from noarkit.catalogue.screening import PlanDisclosures
from noarkit.graph.store import GraphStore
from noarkit.loading.delivery import Receipt
from noarkit.loading.folder import RunFolder
from noarkit.loading.load_proof import proof_of
from noarkit.loading.verification import Finding, VerifyResult
from noarkit.model.disclosure import MASK, mask_key
from noarkit.records import SourceIdentity, changes_since
from noarkit.reports.deliveries import deliveries_in, delivery_facts
from noarkit.reports.lists import NOT_IN_ARCHIVE
from noarkit.reports.page import MOST_PLACES, imprint_facts, iso
from noarkit.reports.plan_page import lost_facts
from noarkit.reports.run_page import LISTS
from noarkit.safe.digest import sha256_of
from noarkit.settings import Imprint
from noarkit.version import __version__
from noarkit.words.texts import Texts, texts

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
    lang: str,
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
            "source_state": verified.source,
            "source_new": verified.source_new,
            "source_late": verified.source_late,
            "source_gone": verified.source_gone,
            "source_changed": verified.source_changed,
            "deliveries": _deliveries(folder, verified, sample, texts(lang)),
        }


def _deliveries(folder: RunFolder, verified: VerifyResult, sample: float, words: Texts) -> list[dict[str, object]]:
    """The packages beside the run that were made of what it loaded, judged with what is proved now."""
    plan_sha256 = str(folder.plan()["sha256"])
    proofs = {plan_sha256: proof_of(verified.verdict, verified.depth, sample)}
    return [
        delivery_facts(delivery, words)
        for delivery in deliveries_in(folder.path.resolve().parent, proofs)
        if any(load.plan_sha256 == plan_sha256 for load in delivery.loads)
    ]


def receipt_facts(
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
            "accepted": receipt.accepted,
            "accepted_by": receipt.accepted_by,
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
        "not_in_archive": lost_facts(graph.db, PlanDisclosures(graph.db)) | {"sha256": _loss_list_sha256(folder)},
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
        "rows": [row.to_dict() for row in verified.rows.values()],
        "missing": verified.missing,
        "left_by_choice": verified.left_by_choice,
        "changes": verified.changes,
        "notices": [_plain(notice) for notice in verified.notices],
        "adds_up": verified.numbers.add_up,
        "numbers": verified.numbers.as_data(),
        "compared": [
            {"name": name, "planned": planned_count, "there": archive_count}
            for name, (planned_count, archive_count) in verified.compared_counts.items()
        ],
        "differences": verified.differences,
        "findings": [_plain(finding) for finding in verified.findings],
        "shown": MOST_PLACES,
    }


def page_of(folder: RunFolder, facts: Mapping[str, object]) -> dict[str, object]:
    """The same facts as people see them on the page: of what is screened, the code of a finding, and no key. The JSON
    beside it is for who runs the load, and keeps all."""
    with closing(GraphStore.open(folder.graph)) as graph:
        disclosures = PlanDisclosures(graph.db)
        return {**facts, **{name: _shown_findings(facts[name], disclosures) for name in ("findings", "notices")}}


def _plain(finding: Finding) -> dict[str, str]:
    return {"code": finding.code, "key": finding.key, "detail": finding.detail}


def _shown_findings(findings: object, disclosures: PlanDisclosures) -> list[dict[str, str]]:
    shown = []
    for finding in findings if isinstance(findings, list) else ():
        disclosure = disclosures.of_key(finding["key"])
        detail = MASK if disclosure.hides_key and finding["detail"] else finding["detail"]
        shown.append({**finding, "key": mask_key(finding["key"], disclosure), "detail": detail})
    return shown
