"""What can keep a delivery back: a table of reasons. Their sentences and remedies are in the words, by code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Deposit = Literal["stops", "remark", "silent"]
"""What a broken rule means for a delivery: it is refused for it, it is told with it, or neither."""
Grade = Literal["stops", "remark"]
Origin = Literal["records", "making"]
"""Where the reason lies: in the records themselves, or in how the package was made."""
Owner = Literal["tool", "records-manager", "archive-administrator", "depot"]
"""Whose task it is: to be made again, mended in the records or in the archive, or agreed with the depot."""


@dataclass(frozen=True, slots=True)
class ReasonKind:
    """A kind of reason. `can_be_accepted` is False for what no depot can agree to; `needs_look` is True for what nobody
    accepts in one go with others, since a person must have looked at each."""

    code: str
    origin: Origin
    owner: Owner
    can_be_accepted: bool = True
    needs_look: bool = False


_KINDS = (
    # found by the rules of the form: `reason` in their data
    ReasonKind("empty", "making", "records-manager", can_be_accepted=False),
    ReasonKind("files", "making", "tool"),
    ReasonKind("checksums", "making", "tool", can_be_accepted=False),
    ReasonKind("schemas", "making", "tool", can_be_accepted=False),
    ReasonKind("description", "making", "tool"),
    ReasonKind("counts", "making", "tool", can_be_accepted=False),
    ReasonKind("flags", "making", "tool"),
    ReasonKind("ids", "making", "tool", can_be_accepted=False),
    ReasonKind("change-log", "making", "tool"),
    ReasonKind("leak", "making", "tool", can_be_accepted=False),
    ReasonKind("identity-numbers", "records", "records-manager", needs_look=True),
    ReasonKind("journals", "records", "archive-administrator"),
    ReasonKind("classes", "records", "archive-administrator"),
    ReasonKind("open", "records", "archive-administrator"),
    ReasonKind("period", "records", "records-manager"),
    ReasonKind("formats", "records", "records-manager"),
    ReasonKind("unusable", "records", "records-manager"),
    ReasonKind("form", "making", "tool"),
    # known of the making alone
    ReasonKind("creator", "making", "records-manager"),
    ReasonKind("system", "making", "records-manager"),
    ReasonKind("changed-meanwhile", "making", "archive-administrator"),
    # known of the loads behind it, and of the delivery
    ReasonKind("load", "making", "records-manager"),
    ReasonKind("source", "making", "archive-administrator"),
    ReasonKind("other-values", "making", "records-manager"),
    ReasonKind("load-dates", "making", "records-manager"),
    ReasonKind("case-numbers", "making", "records-manager"),
    ReasonKind("source-dates", "making", "records-manager"),
    ReasonKind("agreement", "making", "records-manager"),
    # to be told with the package
    ReasonKind("load-unknown", "making", "records-manager"),
    ReasonKind("load-in-part", "making", "records-manager"),
    ReasonKind("columns", "making", "records-manager"),
    ReasonKind("open-in-source", "records", "records-manager"),
    ReasonKind("origin", "making", "records-manager"),
    ReasonKind("unit", "records", "records-manager"),
    ReasonKind("changes-noted", "making", "tool"),
    ReasonKind("dates-restored", "making", "tool"),
    ReasonKind("warnings", "records", "records-manager"),
)
REASONS: Mapping[str, ReasonKind] = MappingProxyType({kind.code: kind for kind in _KINDS})
"""All of them, in the order in which they are told."""
ORDER: Mapping[str, int] = MappingProxyType({code: place for place, code in enumerate(REASONS)})
