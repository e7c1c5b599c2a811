"""What the form has no element for: found field by field, and on request carried in business-specific metadata."""

from __future__ import annotations

from noarkit.model.mapping import mapping
from noarkit.packages.noark5 import vsm
from noarkit.packages.noark5.content import Content, Thing

BOOKKEEPING = frozenset({"archive", "account", "identity", "history", "counted"})
"""Reasons that stand for what another archive makes anew; such fields are counted, but not listed one by one."""


def carried(content: Content) -> str:
    """What the form has no element for, of a unit and its parts, for its business-specific metadata."""
    thing = content["o"]
    if not mapping().may_carry(thing["t"]):
        return ""
    told = [vsm.carried_xml(thing["t"], lost_fields(thing))]
    told += sorted(
        vsm.carried_xml(one["t"], lost_fields(one)) for one in content.get("p", []) if not _carries_itself(one)
    )
    return "".join(told)


def _carries_itself(thing: Thing) -> bool:
    return mapping().may_carry(thing["t"])


def lost_fields(thing: Thing) -> list[tuple[str, str]]:
    """The fields of a thing that tell of the record and have no element; texts as they are."""
    fields = mapping().types[thing["t"]].fields
    found = []
    for name, value in sorted(thing["f"].items()):
        told = fields.get(name)
        if told is None or told.path is not None or told.reason in BOOKKEEPING or isinstance(value, dict):
            continue
        if value not in (None, "", False):
            found.append((name, str(value).lower() if isinstance(value, bool) else str(value)))
    return found
