"""Why a document has no copy where every converter of its rule has failed: the reason that helps a person most.

The last converter knows what happened last, and seldom what to do: that a font is missing, as one before it said, or
that a program which may do it is not installed, is worth more than that the last resort spoiled the text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from noarkit.copies.reasons import Reason
from noarkit.copies.rows import StoredCopy
from noarkit.copies.store import CopyOutcome

Explained = tuple[Reason | None, Mapping[str, object]]
"""A reason with what is known of it."""

MISSING_TOOLS = "tools"
"""In the data of `tool-missing`: the converters of the rule that are not installed, which may do it."""
_NO_TOOL_HELPS = frozenset({"dynamic-form", "target"})
_BY_HELP: Sequence[Reason] = (
    Reason.CONTENT_REFUSED,  # it says what the document needs
    Reason.EXTERNAL_CONTENT,
    Reason.DAMAGED,
    Reason.TEXT_MISSING,
    Reason.PAGES_DIFFER,
    Reason.BLANK,
    Reason.IMAGE_DIFFERS,
    Reason.NOT_VALID,
    Reason.WRONG_FORMAT,
    Reason.TIMED_OUT,
    Reason.CRASHED,
    Reason.NO_RESULT,
)


def explained(last: CopyOutcome, earlier: Sequence[StoredCopy], missing: Sequence[str]) -> CopyOutcome:
    """The outcome of the last converter of a rule, with the reason that is told; `earlier` are the failures before."""
    reasons: list[Explained] = [(last.reason, last.data), *(_original(copy) for copy in reversed(earlier))]
    reason, data = min(reasons, key=_rank)
    if reason is not Reason.TOOL_TOO_OLD and missing and data.get("why") not in _NO_TOOL_HELPS:
        return replace(last, reason=Reason.TOOL_MISSING, data={**data, MISSING_TOOLS: list(missing)})
    return replace(last, reason=reason, data=data)


def _original(copy: StoredCopy) -> Explained:
    """What a converter said itself, also where another reason was told because a tool was missing then."""
    if copy.reason is not Reason.TOOL_MISSING or "why" not in copy.data:
        return copy.reason, copy.data
    return Reason.CONTENT_REFUSED, {name: value for name, value in copy.data.items() if name != MISSING_TOOLS}


def _rank(explained_reason: Explained) -> int:
    reason, data = explained_reason
    if reason is Reason.TOOL_TOO_OLD:
        return -1
    if reason is Reason.CONTENT_REFUSED and "why" not in data:
        reason = Reason.NOT_VALID  # rules that it breaks
    return _BY_HELP.index(reason) if reason in _BY_HELP else len(_BY_HELP)
