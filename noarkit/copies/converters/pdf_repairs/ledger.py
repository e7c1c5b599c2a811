"""What repairs tell of a document, and how one refuses it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from noarkit.copies.port import Finding


class RepairRefused(Exception):
    """A PDF that cannot be repaired without changing what its pages show. `why` is a value in `words/`."""

    def __init__(self, why: str, **data: object) -> None:
        super().__init__(why)
        self.data = {"why": why, **data}


@dataclass(slots=True)
class Ledger:
    """What was done to a document: what was taken out, and which fonts stand for which."""

    removed: Counter[str] = field(default_factory=Counter)
    """Annotations that PDF/A does not allow, by their kind."""
    twins: dict[str, str] = field(default_factory=dict)
    """Fonts that were not embedded, with those of the same widths that are now."""
    substitutes: dict[str, str] = field(default_factory=dict)
    """Fonts that were not embedded, with those of other shapes that are now."""
    profile: str = ""
    """The profile by which colours of print are read that named none."""

    def findings(self) -> tuple[Finding, ...]:
        """What a person should know."""
        findings: list[Finding] = []
        if self.twins:
            pairs = [f"{name} → {twin}" for name, twin in sorted(self.twins.items())]
            findings.append(Finding("fonts-embedded", {"fonts": pairs}))
        if self.substitutes:
            names, substitutes = sorted(self.substitutes), sorted(set(self.substitutes.values()))
            findings.append(Finding("fonts", {"asked": names, "used": substitutes}))
        if self.removed:
            kinds = sorted(self.removed)
            findings.append(Finding("annotations-removed", {"count": self.removed.total(), "kinds": kinds}))
        if self.profile:
            findings.append(Finding("colours-assumed", {"profile": self.profile}))
        return tuple(findings)
