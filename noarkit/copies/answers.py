"""What a rule answers to what was found: a note, a copy that waits for a person, or no copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from noarkit.copies.port import Finding, Response, Rule, State
from noarkit.copies.reasons import Reason

UNLESS_SAID: Mapping[str, Response] = dict.fromkeys(
    (
        *("slides-missing", "pictures-missing", "drawings-missing", "equations-missing", "objects-missing"),
        *("pictures-unreadable", "parts-missing", "parts-unread", "values-differ", "letters-not-drawn"),
        *("comments-missing", "content-damaged", "encoding-doubtful", "encoded-twice"),
    ),
    "hold",
)
"""What waits for a person where a rule says nothing of it: a copy lacks what its original holds, or nobody can tell."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The state that findings lead to, with its reason."""

    state: State
    reason: Reason | None = None
    data: Mapping[str, object] = field(default_factory=dict)


def answer_findings(rule: Rule, findings: Sequence[Finding], good: State) -> Answer:
    """The state of a copy that passed its gates: `good`, unless the rule holds or refuses what was found."""
    refused = codes_answered(rule, findings, "refuse")
    if refused:
        return Answer("failed", Reason.CONTENT_REFUSED, {"findings": refused})
    held = codes_answered(rule, findings, "hold")
    return Answer("held", Reason.HELD, {"findings": held}) if held else Answer(good)


def codes_answered(rule: Rule, findings: Sequence[Finding], response: Response) -> list[str]:
    """The codes of the findings that a rule answers so, each once."""
    return sorted({finding.code for finding in findings if response_to(rule, finding) == response})


def response_to(rule: Rule, finding: Finding) -> Response:
    """What a rule does about a finding, said or not."""
    return rule.responses.get(finding.code) or UNLESS_SAID.get(finding.code, "note")
