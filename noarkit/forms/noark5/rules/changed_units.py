"""The units that the change log names: what each holds is kept as the walk passes it, to be held against the log."""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.forms.noark5.rules.store import Store

_BITS = 1 << 23
_FIELDS = "SELECT DISTINCT field FROM changes WHERE target = ?"


class ChangedUnits:
    """Which units were changed, in constant memory: a bit says that an id may be one of them, the store knows."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._bits = bytearray(_BITS // 8)
        store.make_findable("changes")
        for (target,) in store.ask("SELECT DISTINCT target FROM changes"):
            if isinstance(target, bytes):
                at = _bit_of(target)
                self._bits[at >> 3] |= 1 << (at & 7)

    def note(self, key: bytes, values: Mapping[str, str]) -> None:
        """A unit that was read."""
        at = _bit_of(key)
        if not self._bits[at >> 3] & (1 << (at & 7)):
            return
        changed = [str(name) for (name,) in self._store.ask(_FIELDS, (key,))]
        for name in sorted({"opprettetDato", *changed} & values.keys()) if changed else ():
            self._store.add("standing", (key, name, values[name]))


def _bit_of(key: bytes) -> int:
    return hash(key) % _BITS
