"""The state of the walk through arkivstruktur: the open elements, and where findings, ids and counts go."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from noarkit.forms.findings import Tally
from noarkit.forms.noark5 import spec
from noarkit.forms.noark5.rules.changed_units import ChangedUnits
from noarkit.forms.noark5.rules.store import Store, pack_id
from noarkit.model.xml_model import Version

FILE = f"{spec.STRUCTURE}.xml"
UNITS = (
    "arkiv",
    "arkivdel",
    "klassifikasjonssystem",
    "klasse",
    "mappe",
    "registrering",
    "dokumentbeskrivelse",
    "dokumentobjekt",
)
"""The units that have a systemID, from the top; their place here is their number in the store."""

_MAX_LABELS = 20_000
_MAX_BUNDLES = 20_000
_OTHERS = "…"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Between which days things may lie: the period of the package, as far as it says one, and today."""

    start: str | None
    end: str | None
    today: str


CountKey = tuple[str, ...]


class Bundle:
    """Keys that are counted together: what is told of all things of which the same facts are known."""

    __slots__ = ("count", "keys")

    def __init__(self, keys: tuple[CountKey, ...]) -> None:
        self.keys = keys
        self.count = 0


class Counts:
    """How many of what, by rule and labels. Labels beyond any honest number are counted together."""

    def __init__(self) -> None:
        self._numbers: dict[CountKey, int] = {}
        self._bundles: dict[CountKey, Bundle] = {}

    @property
    def numbers(self) -> dict[CountKey, int]:
        """The number of each key."""
        numbers = self._numbers
        for bundle in self._bundles.values():
            for key in bundle.keys:
                numbers[key] += bundle.count
            bundle.count = 0
        return numbers

    def add(self, *key: str) -> None:
        """One more under a rule and its labels."""
        numbers = self._numbers
        if key in numbers:
            numbers[key] += 1
        else:
            numbers[self._new_key(key)] += 1

    def add_each(self, facts: CountKey, keys: Callable[[], Iterable[CountKey]]) -> None:
        """One more under each of `keys`, which the same facts always give, so that they are asked for once."""
        bundle = self._bundles.get(facts)
        if bundle is not None:
            bundle.count += 1
        elif len(self._bundles) < _MAX_BUNDLES:
            self._bundles[facts] = bundle = Bundle(tuple(self._known_key(key) for key in keys()))
            bundle.count = 1
        else:
            for key in keys():
                self.add(*key)

    def _known_key(self, key: CountKey) -> CountKey:
        return key if key in self._numbers else self._new_key(key)

    def _new_key(self, key: CountKey) -> CountKey:
        """The key under which a label that was not met before is counted, which is there then."""
        if len(self._numbers) >= _MAX_LABELS:
            key = (key[0], *[_OTHERS] * (len(key) - 1))
        self._numbers.setdefault(key, 0)
        return key

    def add_number(self, number: int, *key: str) -> None:
        """A number that was counted elsewhere."""
        self._numbers[key] = self._numbers.get(key, 0) + number

    def numbers_of(self, code: str, last: str) -> int:
        """All of a rule under a last label."""
        return sum(number for key, number in self.numbers.items() if key[0] == code and key[-1] == last)

    def total(self, code: str) -> int:
        """All of a rule."""
        return sum(number for key, number in self.numbers.items() if key[0] == code)


class Frame:
    """One open element that holds others; `at` is its number. `inner` counts its groups, `values` keeps its leaves."""

    __slots__ = ("at", "inner", "kind", "level", "mixed", "parent", "type", "values")

    def __init__(self, kind: str, type_: str, at: int, parent: Frame | None) -> None:
        self.kind = kind
        self.type = type_
        self.at = at
        self.parent = parent
        self.level = 0
        self.mixed: tuple[str, int] | None = None
        self.values: dict[str, str] = {}
        self.inner: dict[str, int] = {}


class WalkState:
    """The state of one walk, read and filled by whoever closes a unit. `number` is that of the element being read."""

    def __init__(
        self, version: Version, bounds: Bounds, store: Store, tally: Tally, changed: ChangedUnits | None = None
    ) -> None:
        self.version = version
        self.bounds = bounds
        self.store = store
        self.tally = tally
        self.changed = changed
        self.counts = Counts()
        self.frame = Frame("", "", 0, None)
        self.number = 0
        self.bytes = 0
        self.registered = 0
        self.series = ""
        self.series_at = 0
        self.fonds_at = 0
        self.system_at = 0
        self.has_repeated_numbers = False
        self.creators: list[str] = []
        self.days: list[str] = []
        self.spans: dict[str, list[str]] = {}
        self.vsm: set[str] = set()
        self.strict_ids = version == "5.0"

    def hit(self, code: str, at: int | None = None, **data: object) -> None:
        """A finding here, or at another element."""
        if self.tally.has_room(code):
            self.tally.add(code, FILE, (self.number if at is None else at, self.owner()), **data)
        else:
            self.tally.count_hits(code, 1)

    def owner(self) -> str | None:
        """The systemID of the innermost open unit."""
        frame: Frame | None = self.frame
        while frame is not None and "systemID" not in frame.values:
            frame = frame.parent
        return frame.values["systemID"] if frame is not None else None

    def label(self, code: str, *labels: str) -> None:
        """Counts something, by the arkivdel it is in and by labels."""
        self.counts.add(code, *labels, self.series)

    def refer(self, kind: int, text: str) -> None:
        """A reference to another unit, resolved when all ids are known."""
        self.store.add("refs", (kind, pack_id(text), self.number, pack_id(self.owner() or "")))
