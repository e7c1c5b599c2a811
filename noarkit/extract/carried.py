"""What the form has no element for: found field by field, and on request carried in business-specific metadata."""

from __future__ import annotations

from functools import lru_cache

from noarkit.model.mapping import mapping
from noarkit.packages.noark5 import vsm
from noarkit.packages.noark5.content import Content, Thing

BOOKKEEPING = frozenset({"archive", "account", "identity", "history", "counted", "publishing"})
"""Reasons of fields that tell nothing of the record itself; they are counted, but not listed one by one."""


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
    fields = thing["f"]
    names = _lost_names(thing["t"], tuple(fields))
    told = [(name, fields[name]) for name in names]
    return [
        (name, str(value).lower() if isinstance(value, bool) else str(value))
        for name, value in told
        if value not in (None, "", False) and not isinstance(value, dict)
    ]


@lru_cache(maxsize=10_000)
def _lost_names(type_name: str, names: tuple[str, ...]) -> tuple[str, ...]:
    known = mapping().types[type_name].fields
    lost = [known[name] for name in sorted(names) if name in known and known[name].path is None]
    return tuple(field.name for field in lost if field.reason not in BOOKKEEPING)
