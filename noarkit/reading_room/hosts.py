"""The names by which a browser may ask for the room of a served archive.

A name that somebody else owns may be pointed at this machine after its page was loaded, and that page would then be of
the room's own origin. So names are listed, and an address in figures is let in where it can be one of ours.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

_NAMES = frozenset({"localhost"})
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class RoomHosts:
    """Where an archive listens, and the further names that its room answers to; `*.` stands for one step."""

    bound: str
    names: tuple[str, ...] = ()

    def has(self, authority: str) -> bool:
        """True where the `Host` of a request names this room."""
        match = _AUTHORITY.fullmatch(authority)
        if match is None:
            return False
        name = match[1].strip("[]").lower().removesuffix(".")
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return name in _NAMES or name == self.bound.lower() or _is_among(name, self.names)
        return address.is_loopback or not self._is_this_machine_only()

    def _is_this_machine_only(self) -> bool:
        try:
            return self.bound == "localhost" or ipaddress.ip_address(self.bound).is_loopback
        except ValueError:
            return False


def _is_among(name: str, names: Iterable[str]) -> bool:
    wildcard = "*." + name.partition(".")[2]
    return any(pattern.lower() in (name, wildcard) for pattern in names)
