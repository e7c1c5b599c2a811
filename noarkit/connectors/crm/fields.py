"""Which fields of a module are read, and whether they are the ones that were read before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from noarkit.connectors.paging import Row

A_CALL = 50
_ALWAYS = ("id", "Modified_Time", "Created_Time")


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a module that can be read, those that the service itself calls private, and the type of each."""

    names: tuple[str, ...]
    private: frozenset[str]
    shape: Mapping[str, str]

    def batches(self) -> list[tuple[str, ...]]:
        """Names for calls that take no more than fifty; each has the id and the time of change."""
        rest = [name for name in self.names if name not in _ALWAYS]
        room = A_CALL - len(_ALWAYS)
        return [(*_ALWAYS, *rest[begin : begin + room]) for begin in range(0, max(len(rest), 1), room)]


def readable(found: Sequence[Row]) -> Fields:
    """The fields that this user may read and that hold something of their own."""
    kept = [row for row in found if _is_readable(row)]
    names = tuple(str(row["api_name"]) for row in kept)
    private = frozenset(str(row["api_name"]) for row in kept if _is_private(row))
    shape = {str(row["api_name"]): str(row.get("data_type", "")) for row in kept}
    return Fields(names, private, shape)


def _is_readable(row: Row) -> bool:
    view = row.get("view_type")
    shown = view.get("view", True) if isinstance(view, Mapping) else True
    return bool(row.get("api_name") and row.get("visible", True) and shown and not row.get("virtual_field"))


def _is_private(row: Row) -> bool:
    health = row.get("hipaa_compliance")
    restricted = health.get("restricted_in_export") if isinstance(health, Mapping) else health
    return bool(row.get("private") or row.get("crypt") or restricted)
