"""What an archive must hold of a feature service: every version, review and line of the log, under its definition."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.strict_services.content import ArchivedRecord
from tests.strict_services.features import VERSIONED, Definition, Features
from tests.strict_services.spend_ledger import holds

_VOLATILE = ("checksPerHour", "typeReason")


@dataclass
class FeaturesLedger:
    """What runs could see, kept from run to run."""

    features: Features
    states: dict[str, tuple[str, Mapping[str, object]]] = field(default_factory=dict)
    unnumbered: dict[str, list[Mapping[str, object]]] = field(default_factory=dict)
    reviews: dict[str, tuple[str, Mapping[str, object]]] = field(default_factory=dict)
    log: set[str] = field(default_factory=set)

    @property
    def connection(self) -> str:
        """The connection that is loaded from."""
        return "features:strict"

    def observe(self) -> None:
        """Takes down every version that the service keeps, and each state that is seen where it keeps none."""
        project = self.features.project_id
        for kind, definitions in self.features.data.definitions.items():
            for each in definitions.values():
                if not each.is_deleted:
                    self._observe(f"{project}:{kind.removesuffix('s')}:{each.id}", each)
        self.log |= {f"{project}:audit:{entry['id']}" for _, entry in self.features.data.audit}

    def _observe(self, place: str, definition: Definition) -> None:
        seen = definition.states if definition.kind in VERSIONED else definition.states[-1:]
        for state in seen:
            if "version" in state:
                self.states[f"{place}:v{state['version']}"] = place, state
            elif state not in self.unnumbered.setdefault(place, []):
                self.unnumbered[place].append(state)
        for review in definition.reviews:
            self.reviews[f"{self.features.project_id}:review:{review['review_id']}"] = place, dict(review)

    def differences(self, archive: Mapping[str, Sequence[ArchivedRecord]]) -> list[str]:
        """All that the archive lacks, holds twice, holds in the wrong place, or holds although it never was there."""
        project = self.features.project_id
        held = {key: each for key, each in archive.items() if key.startswith(f"{project}:") and ":decision:" not in key}
        placed = {**self.states, **self.reviews}
        expected = placed.keys() | self.log
        loose = {key for key in held if any(key.startswith(f"{place}:") for place in self.unnumbered)}
        found = [f"missing: {key}" for key in sorted(expected - held.keys())]
        found += [f"never there: {key}" for key in sorted(held.keys() - expected - loose)]
        found += [f"{len(each)} times: {key}" for key, each in held.items() if len(each) != 1]
        for key in sorted(placed.keys() & held.keys()):
            place, state = placed[key]
            if f"folder:definition:{place}" not in held[key][0].folder_keys:
                found.append(f"under {held[key][0].folder_keys}: {key}")
            if not _tells(held[key][0], state):
                found.append(f"the newest state is not there: {key}")
        for place, states in self.unnumbered.items():
            records = [held[key][0] for key in held if key.startswith(f"{place}:")]
            told = [sum(_tells(record, state) for record in records) for state in states]
            if told != [1] * len(states) or len(records) != len(states):
                found.append(f"{len(records)} records of {len(states)} states: {place}")
        return found


def _tells(record: ArchivedRecord, state: Mapping[str, object]) -> bool:
    """Whether the data of a record is this state, without what changes by itself."""
    wanted = {name: value for name, value in state.items() if name not in _VOLATILE}
    return any(holds(json.loads(each), wanted) for each in record.contents if each.startswith(b"{"))
