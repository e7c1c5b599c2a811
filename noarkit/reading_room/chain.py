"""The custody chain of a file: each step with the checksum that was seen then, and what follows from them together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from noarkit.catalogue.entries import Entry
from noarkit.catalogue.port import CustodyStep, Document

Verdict = Literal["unchanged", "once", "differs", "unknown"]


@dataclass(frozen=True, slots=True)
class Step:
    """A step, and whether its checksum is that of the step before it (None where there is none to compare). `other` is
    the document that it was made of, or that was made of it, with its item, where that is in the place."""

    step: CustodyStep
    agrees: bool | None
    other: tuple[Document, Entry] | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """The steps in order, the verdict, when the file was first seen, and the step at which it differs."""

    steps: tuple[Step, ...]
    verdict: Verdict
    since: str = ""
    at: CustodyStep | None = None

    @property
    def evidence(self) -> int:
        """How many steps saw a checksum. Only these say that a file is unchanged; the others merely happened."""
        return sum(bool(step.step.sha256) for step in self.steps)


FindOther = Callable[[str], tuple[Document, Entry] | None]
"""The document with a checksum, and its item; None where there is none."""


def chain_of(document: Document, find_other: FindOther = lambda sha256: None) -> Chain:
    """The chain of a document: `unchanged` if every checksum is the same and there are at least two, counting the one
    that the place states; `once` if there is a single one; `unknown` without any."""
    steps: list[Step] = []
    known, since, at = "", "", None
    seen = 0
    for step in document.custody:
        agrees = None if not step.sha256 or not known else step.sha256.lower() == known
        other_sha256 = step.facts.get("source_sha256") or step.facts.get("copy_sha256")
        steps.append(Step(step, agrees, find_other(other_sha256) if other_sha256 else None))
        if agrees is False and at is None:
            at = step
        if step.sha256:
            seen += 1
            since = since or step.at
            known = step.sha256.lower()
    if at is not None:
        return Chain(tuple(steps), "differs", since, at)
    if document.sha256 and known and document.sha256.lower() != known:
        return Chain(tuple(steps), "differs", since, None)
    if seen > 1 or (seen and document.sha256 and len(document.custody) > 1):
        return Chain(tuple(steps), "unchanged", since)
    return Chain(tuple(steps), "once" if seen or document.sha256 else "unknown", since)
