"""What the sender of a bundle accepts of what the receiver found: the receiver asks, sealed, and the sender answers,
sealed with the key of the bundle.

Both list findings with what the archive has in their place, told by a checksum. So an acceptance holds for just these:
one finding more, or another value in the same place, and no receipt is made.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

from noarkit.airgap.lines import lines_file, read_lines
from noarkit.airgap.source.index import INDEX, read_origin
from noarkit.errors import SealBroken, UsageFault
from noarkit.events import Listener
from noarkit.forms.sealed.read import SealedPackage
from noarkit.forms.sealed.spec import Kind
from noarkit.forms.sealed.write import SealOrder, seal_package
from noarkit.loading.delivery import Acceptance, Deliveries
from noarkit.loading.findings import covers
from noarkit.loading.folder import RunFolder
from noarkit.loading.verification import Finding, VerifyResult
from noarkit.loading.verification.outcome import ACCEPTED, MOST_FINDINGS, SenderAcceptance
from noarkit.safe.signing import Signer

FINDINGS = "noarkit-findings.jsonl"
_TO_ACCEPT = frozenset({"set_aside", "refused", "changed_since", "foreign", "code_gone", "source_changed", ACCEPTED})
"""Why something was not compared, where a finding says so that the sender can accept, or nobody need accept it."""
_NEVER = frozenset({"V100", "V102", "V303"})
"""Findings that are no word about the archive: sums of the run, a service, the bundle itself."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a receiver asks the sender to accept; `statement` says of which bundle, plan and archive."""

    id: str
    statement: Mapping[str, object]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class SealedBy:
    """Where a request or an acceptance is sealed, when, and with whose key."""

    target: Path
    signer: Signer
    by: Mapping[str, str]
    at: str


def may_be_accepted(verified: VerifyResult) -> bool:
    """True if findings alone stand between a verification of every byte and a receipt, and all of them are listed."""
    if verified.depth != "bytes" or verified.source != "read" or not verified.began or verified.left_by_choice:
        return False
    if verified.source_changed or not verified.missing.keys() <= _TO_ACCEPT:
        return False
    findings = verified.for_sender
    return 0 < len(findings) < MOST_FINDINGS and not any(finding.code in _NEVER for finding in findings)


# the receiving side


def write_request(order: SealedBy, statement: Mapping[str, object], verified: VerifyResult) -> None:
    """Seals the findings that the sender may accept."""
    findings = sorted(set(verified.for_sender), key=lambda finding: (finding.key, finding.code, finding.detail))
    _seal("request", str(uuid.uuid4()), order, {**statement, "count": len(findings)}, findings)


def read_acceptance(sealed: SealedPackage, folder: RunFolder, identity: str, emit: Listener) -> SenderAcceptance:
    """What the sender accepted for the run `folder`, which came in a bundle, in the archive with this identity.

    Raises `SealBroken` where it was sealed by another key than the bundle, or is of another bundle or archive.
    """
    sealed.prove(emit)
    origin = read_origin(folder.path / INDEX)
    if sealed.key.fingerprint != origin.key:
        raise SealBroken(where=sealed.where, why="seal-other-sender", fingerprint=sealed.key.fingerprint)
    statement = sealed.seal.statement
    if (statement.get("bundle"), statement.get("seal")) != (origin.id, origin.seal):
        raise SealBroken(where=sealed.where, why="seal-other-bundle")
    if statement.get("identity") != identity:
        raise SealBroken(where=sealed.where, why="seal-other-archive")
    by = str(statement.get("by") or "").strip()
    if not by:
        raise SealBroken(where=sealed.where, why="seal-unreadable", name="by")
    return SenderAcceptance(sealed.seal.id, by, frozenset(_read_findings(sealed)))


# the sending side


def read_request(sealed: SealedPackage, folder: RunFolder, deliveries_log: Deliveries, emit: Listener) -> Request:
    """What is asked of the run `folder`. Raises `SealBroken` where it is of another bundle or plan."""
    sealed.prove(emit)
    statement = sealed.seal.statement
    bundle = deliveries_log.bundle(str(statement.get("bundle")))
    with closing(folder.open_graph()):
        plan = folder.plan()["sha256"]
    if bundle is None or bundle.seal != statement.get("seal") or statement.get("plan") != plan:
        raise SealBroken(where=sealed.where, why="seal-other-bundle")
    return Request(sealed.seal.id, statement, tuple(_read_findings(sealed)))


def write_acceptance(
    order: SealedBy,
    folder: RunFolder,
    deliveries_log: Deliveries,
    request: Request,
    *,
    keys: Sequence[str],
    by: str,
    note: str,
) -> tuple[Finding, ...]:
    """Seals that `by` accepts the findings of a request with these keys, those of a record with all that belongs to it.

    Raises `UsageFault` for a key that nothing was found of.
    """
    findings = _select(folder, request, keys)
    statement, accepted = request.statement, tuple(astuple(finding) for finding in findings)
    acceptance = Acceptance(
        str(uuid.uuid4()), str(statement.get("bundle")), str(statement.get("identity")), order.at, by, note, accepted
    )
    names = ("bundle", "seal", "plan", "archive", "identity")
    answer = {name: statement.get(name) for name in names}
    answer |= {"request": request.id, "by": by, "note": note, "count": len(findings)}
    deliveries_log.keep_acceptance(acceptance)  # first: no receipt may name one that is not known here
    _seal("acceptance", acceptance.id, order, answer, findings)
    return tuple(findings)


def _select(folder: RunFolder, request: Request, keys: Sequence[str]) -> list[Finding]:
    with closing(folder.open_graph()) as graph:
        entities = [graph.number_of(finding.key) for finding in request.findings]
        places_to_accept = set[int]()
        for key in keys:
            places = {
                place
                for place, finding in enumerate(request.findings)
                if covers(graph, key, finding.key or finding.code, entities[place])
            }
            if not places:
                raise UsageFault(what="bad-value", where=f"--accept {key}")
            places_to_accept |= places
    return [finding for place, finding in enumerate(request.findings) if place in places_to_accept]


def _seal(kind: Kind, id_: str, order: SealedBy, statement: Mapping[str, object], findings: Iterable[Finding]) -> None:
    seal_order = SealOrder(order.target, kind, id_, order.at, order.signer, order.by)
    file = lines_file(FINDINGS, (asdict(finding) for finding in findings))
    seal_package(iter([file]), seal_order, lambda _listed: statement)


def _read_findings(sealed: SealedPackage) -> Iterator[Finding]:
    for line in read_lines(sealed, FINDINGS):
        yield Finding(*(str(line.get(name) or "") for name in ("code", "key", "detail", "actual")))
