"""A copy that a person made: what its file must be, and what only makes it wait until somebody accepts it.

Its format is held to what the policy asks of documents that are kept in that format, and it is compared as every copy
is. Where a comparison fails, or cannot be made because only its own program opens the original, nothing is refused: a
person has seen both, and accepts the copy by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from noarkit.copies.gates.as_delivered import check_as_delivered
from noarkit.copies.gates.formats import TARGET_PUIDS
from noarkit.copies.gates.words import WORDS_NOT_COMPARED
from noarkit.copies.objects import OBJECTS
from noarkit.copies.port import Failure, Finding, Gate, Identity, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.copies.rows import StoredCopy, copy_of
from noarkit.copies.store import COPY_ROWS, CopyStore

BY_HAND = "by-hand"
"""Stands for a converter where a person made the copy, and is the finding that names the person."""
_OWN_FORMAT_GATE = "as-delivered"
NOT_COMPARED = "not-compared"
"""The finding that the original could not be read, so that nothing says whether the copy is like it."""

_OF_ITS_OWN_FORMAT = frozenset({"format", "pdfa", "second-opinion"})
"""Gates that ask whether a product is what the rule of the original wants: here the rule of its own format says it."""
_DIFFERENCES = frozenset({Reason.TEXT_MISSING, Reason.PAGES_DIFFER, Reason.IMAGE_DIFFERS, Reason.BLANK})
_OF_THIS_MACHINE = frozenset({Reason.DISK_FULL, Reason.MEMORY})
DOUBTS = frozenset({*map(str, _DIFFERENCES), NOT_COMPARED, WORDS_NOT_COMPARED})
"""The findings that a person decides on by looking at both files."""
_TARGETS = {puid: target for target, puids in TARGET_PUIDS.items() for puid in puids} | {
    **{"fmt/95": "pdfa-1b", "fmt/476": "pdfa-2b", "fmt/478": "pdfa-2b"},
}


def target_of(identity: Identity) -> str:
    """What a file is compared as: the target that a converter would have had, else the ending of its name."""
    return _TARGETS.get(identity.puid or "", identity.suffix)


def rule_by_hand(rule: Rule | None) -> Rule:
    """The rule of a document as it holds for a copy of it that a person made: doubts wait, and nothing is refused."""
    own = rule or Rule(BY_HAND, (), "manual")
    waiting = {code: "hold" if response == "refuse" else response for code, response in own.responses.items()}
    return replace(own, responses={**waiting, **dict.fromkeys(DOUBTS, "hold")})


def taken_copy(store: CopyStore, sha256: str, identity: Identity) -> StoredCopy | None:
    """The latest copy of a document that a person made; None where there is none."""
    rows = store.rows(
        f"{COPY_ROWS} WHERE source_sha256 = ? AND puid = ? AND converter = ? ORDER BY n DESC LIMIT 1",
        (sha256, identity.puid or "", BY_HAND),
    )
    return copy_of(rows[0], store.folder / OBJECTS) if rows else None


def maker_by_hand(copy: StoredCopy) -> str:
    """The name of the person who made a copy; empty where a converter did."""
    return next((str(finding.data.get("by")) for finding in copy.findings if finding.code == BY_HAND), "")


def doubt_of(task: Task, failure: Failure, gate: str = "") -> Finding | None:
    """What a person must accept where a step has failed; None where no person can say that it does not matter."""
    if task.offered is None or failure.reason in _OF_THIS_MACHINE or gate == _OWN_FORMAT_GATE:
        return None
    if failure.reason in _DIFFERENCES:
        return Finding(failure.reason.value, failure.data)
    return Finding(NOT_COMPARED, {"why": failure.reason.value})


def gates_by_hand(task: Task, gates: Sequence[Gate]) -> tuple[Gate, ...]:
    """The gates of a product: as a person made it, that of its own format, and those that compare."""
    if task.offered is None:
        return tuple(gates)
    return (OwnFormatGate(), *(gate for gate in gates if gate.name not in _OF_ITS_OWN_FORMAT))


@dataclass(frozen=True, slots=True)
class OwnFormatGate:
    """The file holds what the policy asks of documents in its format."""

    name: str = _OWN_FORMAT_GATE

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        """What a person should know, or why the file is no archival copy."""
        file = task.offered
        return check_as_delivered(product.path, file.check, file.puid) if file is not None and file.check else ()
