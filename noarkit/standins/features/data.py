"""What the feature-management service holds: definitions rolled from the seed with their versions, reviews and audit
entries, and what was changed since."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from noarkit.standins.dice import BEGIN, Dice, mail_of
from noarkit.standins.features.shapes import KINDS, VERSIONED, of_kind, only_its_own, slug

Record = dict[str, Any]  # what JSON holds
REVIEWED = ("gates", "dynamic_configs", "experiments")
_REVIEW_SHOWN = ("gates", "experiments")  # on the definition itself
SINGULAR = {
    "gates": "gate", "dynamic_configs": "dynamic_config", "experiments": "experiment", "layers": "layer",
    "segments": "segment", "param_stores": "param_store", "autotunes": "autotune", "holdouts": "holdout",
    "metrics": "metric",
}  # fmt: skip
_PERCENT = {
    "gates": 36, "dynamic_configs": 14, "experiments": 16, "layers": 5, "segments": 9, "param_stores": 4,
    "autotunes": 4, "holdouts": 4, "metrics": 8,
}  # fmt: skip
_AUDIT = "audit-{:08d}"
_CONDITION = '[{"type": "email", "targetValue": ["kari@etaten.example"], "access_token": "canary-6"}]'
_SPAN_S = 1_000 * 86_400
_STATES = ("pending", "accepted", "rejected", "committed", "changes_requested")


def millis(moment: datetime) -> int:
    """A time as the service writes it."""
    return int(moment.timestamp() * 1_000)


def person(dice: Dice, name: str) -> Record:
    """Somebody of the organisation."""
    given, family = dice.person(name)
    number = dice.number(f"{name}.number", 40)
    return {"id": f"user-{number:03d}", "name": f"{given} {family}", "email": mail_of(given, family, "Etaten AS")}


class Store:
    """The whole service. Safe for threads."""

    def __init__(self, definitions: int, audit: int, seed: int) -> None:
        self.seed = seed
        self.audit_count = audit
        self.project_id = Dice(seed, "project").uuid("id")[:13]
        self.lock = threading.RLock()
        self.reads = 0
        self.counts = _shares(definitions)
        self.changed: dict[tuple[str, str], list[Record]] = {}
        self.gone: set[tuple[str, str]] = set()
        self.unlisted: set[tuple[str, str]] = set()
        self._ids: dict[str, dict[str, None]] = {}
        self.reviews_changed: dict[tuple[str, str], list[Record]] = {}
        self.audit_added: list[tuple[datetime, Record]] = []

    def ids(self, kind: str) -> list[str]:
        """What there is of a kind, in no order that means anything."""
        rolled = self._rolled_ids(kind)
        with self.lock:
            made = [one for changed, one in self.changed if changed == kind and one not in rolled]
            hidden = self.gone | self.unlisted
            return [one for one in (*made, *rolled) if (kind, one) not in hidden]

    def _rolled_ids(self, kind: str) -> dict[str, None]:
        """The ids that were rolled, in their order; once."""
        if kind not in self._ids:
            self._ids[kind] = dict.fromkeys(slug(self.seed, kind, number) for number in range(self.counts[kind]))
        return self._ids[kind]

    def get(self, kind: str, one: str) -> Record | None:
        """A definition as it is now, with figures that change at every look."""
        versions = self.versions(kind, one)
        if not versions:
            return None
        self.reads += 1
        found = {**versions[-1], **_restless(kind, self.reads)}
        waiting = [review for review in self.reviews(kind, one) if review["status"] == "pending"]
        if waiting and kind in _REVIEW_SHOWN:
            told = waiting[0]
            found["activeReview"] = {"reviewID": told["review_id"], "reviewStatus": "pending", "description": ""}
        return found

    def versions(self, kind: str, one: str) -> list[Record]:
        """All versions, oldest first; the last is what is."""
        if (kind, one) in self.gone:
            return []
        known = self.changed.get((kind, one))
        if known is not None:
            return known
        number = _number(one)
        if number is None or number >= self.counts[kind] or slug(self.seed, kind, number) != one:
            return []
        dice = Dice(self.seed, kind, number)
        count = 1 + dice.number("versions", 4) if kind in VERSIONED else 1
        return [self._rolled(kind, number, version) for version in range(1, count + 1)]

    def _rolled(self, kind: str, number: int, version: int) -> Record:
        dice = Dice(self.seed, kind, number)
        made = dice.moment("created", 900)
        changed = made + timedelta(days=7 * version, seconds=dice.number(f"second{version}", 3_600))
        return self._shaped(kind, slug(self.seed, kind, number), dice, version, (millis(made), millis(changed)))

    def _shaped(self, kind: str, one: str, dice: Dice, version: int, times: tuple[int, int]) -> Record:
        """A definition with all that its kind is told with; `times` are when it was made and last changed."""
        creator, modifier = person(dice, "creator"), person(dice, f"modifier{version}")
        shared: Record = {
            "id": one,
            "name": one,
            "description": dice.text("description", 2),
            "idType": "userID",
            "createdTime": times[0],
            "creatorID": creator["id"],
            "creatorName": creator["name"],
            "creatorEmail": creator["email"],
            "lastModifierID": modifier["id"],
            "lastModifiedTime": times[1],
            "lastModifierName": modifier["name"],
            "lastModifierEmail": modifier["email"],
            "tags": [dice.among("tag", ("kjerne", "forsøk", "drift"))],
            "targetApps": dice.among("app", ("nettsted", ["nettsted", "mobil"], [])),
            "holdoutIDs": [],
            "team": dice.among("team", ("Innlogging", "Skjema", "Betaling")),
            "version": version,
            "owner": {"ownerID": creator["id"], "ownerType": "USER", "ownerName": creator["name"],
                      "ownerEmail": creator["email"]},
        }  # fmt: skip
        if kind == "metrics":
            shared["owner"]["name"] = creator["name"]
        return {**only_its_own(kind, shared), **of_kind(kind, dice, version, times[1]), **_restless(kind, version)}

    def put(self, kind: str, one: str, told: Mapping[str, Any], who: str = "Konsollen") -> Record:  # Any: of JSON
        """Makes or changes a definition: a new version, and an entry of the audit log."""
        with self.lock:
            versions = list(self.versions(kind, one))
            now = millis(datetime.now(UTC))
            new = {**self._shaped(kind, one, Dice(self.seed, kind, one), 0, (now, now)), **_empty(kind)}
            last = versions[-1] if versions else new
            changed = only_its_own(kind, {**told, "lastModifiedTime": now, "lastModifierName": who})
            found = {**last, **changed, "id": one}
            if kind in VERSIONED:
                found["version"] = int(last.get("version") or 0) + 1
            self.changed[(kind, one)] = [*versions, found] if kind in VERSIONED else [found]
            self.gone.discard((kind, one))
            self.note(kind, one, "updated" if versions else "created", {"to": {"old": None, "new": "…"}})
            return found

    def delete(self, kind: str, one: str) -> bool:
        """Takes one away; the audit log tells it."""
        with self.lock:
            there = bool(self.versions(kind, one))
            self.gone.add((kind, one))
            if there:
                self.note(kind, one, "deleted", {})
            return there

    def reviews(self, kind: str, one: str) -> list[Record]:
        """The reviews of a definition, newest first."""
        known = self.reviews_changed.get((kind, one))
        if known is not None:
            return known
        number = _number(one)
        if number is None or kind not in REVIEWED or (kind, one) in self.changed:
            return []
        dice = Dice(self.seed, kind, number, "review")
        return [self._review(dice, place) for place in reversed(range(dice.number("count", 3)))]

    def _review(self, dice: Dice, place: int) -> Record:
        author, reviewer = person(dice, f"author{place}"), person(dice, f"reviewer{place}")
        return {
            "review_id": dice.uuid(f"review{place}"),
            "status": dice.among(f"status{place}", _STATES),
            "type": "update",
            "author": {"id": author["id"], "email": author["email"]},
            "reviewers": [{"id": reviewer["id"], "kind": "user"}],
            "description": dice.text(f"text{place}", 1),
            "created_at": millis(dice.moment("made", 900) + timedelta(days=place)),
        }

    def audit_ids(self, begin: date, end: date, action: str = "") -> list[str]:
        """The entries of the audit log between two days, both of them too, newest first."""
        count = self.audit_count
        first = bisect_left(range(count), begin, key=lambda one: self.audit_moment(one).date())
        after = bisect_right(range(count), end, key=lambda one: self.audit_moment(one).date())
        rolled = range(first, after)
        with self.lock:
            added = [count + place for place, (when, _) in enumerate(self.audit_added) if begin <= when.date() <= end]
        ids = [_AUDIT.format(one) for one in reversed([*rolled, *added])]
        return [one for one in ids if not action or (self.entry(one) or {})["actionType"] == action]

    def entry(self, one: str) -> Record | None:
        """An entry of the audit log."""
        number = int(one.removeprefix("audit-"))
        return self._entry(number) if number < self.audit_count else self.audit_added[number - self.audit_count][1]

    def audit_moment(self, number: int) -> datetime:
        """When an entry that was rolled was made; later ones have higher numbers."""
        return BEGIN + timedelta(seconds=number * _SPAN_S // max(1, self.audit_count))

    def _entry(self, number: int) -> Record:
        dice = Dice(self.seed, "audit", number)
        kind = dice.among("kind", [one for one in KINDS if self.counts[one]] or ["gates"])
        one = slug(self.seed, kind, dice.number("which", max(1, self.counts[kind])))
        passes = dice.number("passes", 100)
        changes = {
            "rules": {
                "old": [{"percentagePass": passes, "salt": dice.uuid("salt"), "conditionJSON": _CONDITION}],
                "new": [],
            }
        }
        action = dice.among("action", ("updated", "updated", "created"))
        return _entry(number, (kind, one, action), changes, person(dice, "who"), self.audit_moment(number))

    def note(self, kind: str, one: str, action: str, changes: Mapping[str, object]) -> None:
        """Adds an entry to the audit log."""
        with self.lock:
            number = self.audit_count + len(self.audit_added)
            who = {"id": "user-000", "name": "Konsollen", "email": "konsollen@etaten.example"}
            now = datetime.now(UTC)
            self.audit_added.append((now, _entry(number, (kind, one, action), changes, who, now)))


def _entry(
    number: int, what: tuple[str, str, str], changes: Mapping[str, object], who: Record, when: datetime
) -> Record:
    kind, name, action = what
    return {
        "id": _AUDIT.format(number),
        "name": name,
        "changeLog": f"{action} {name}",
        "actionType": _action(kind, action),
        "date": f"{_DAYS[when.weekday()]} {_MONTHS[when.month - 1]} {when.day:02d} {when.year}",
        "time": f"{when:%H:%M:%S} GMT+0000 (Coordinated Universal Time)",
        "updatedBy": who["name"],
        "updatedByUserID": who["id"],
        "modifierEmail": who["email"],
        "changes": dict(changes),
        "tags": [],
        "targetAppIDs": [],
    }


def _action(kind: str, action: str) -> str:
    """What the log calls an action: `gate_create`, `config_delete`, `autotune_experiment_delete`."""
    done = {"created": "create", "updated": "update", "deleted": "delete"}[action]
    shared = {"gates": "config", "dynamic_configs": "config", "segments": "config", "autotunes": "autotune_experiment"}
    return f"{shared.get(kind, SINGULAR[kind]) if done == 'delete' else SINGULAR[kind]}_{done}"


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _shares(definitions: int) -> dict[str, int]:
    found = {kind: definitions * percent // 100 for kind, percent in _PERCENT.items()}
    found["gates"] += definitions - sum(found.values())
    return found


def _number(one: str) -> int | None:
    tail = one.rpartition("_")[2]
    return int(tail) if tail.isascii() and tail.isdigit() and len(tail) < 9 else None


def _restless(kind: str, reads: int) -> Record:
    """What changes without anybody changing it."""
    if kind == "gates":
        return {"checksPerHour": 1_000 + reads, "typeReason": _REASONS[reads % len(_REASONS)]}
    if kind == "experiments":
        check = {"name": "exposures", "description": f"{reads} of them", "status": "PASSED"}
        return {"healthChecks": [check], "healthCheckStatus": "PASSED"}
    return {"count": 10 + reads} if kind == "segments" else {}


_REASONS = ("NONE", "STALE_PROBABLY_LAUNCHED", "STALE_ALL_TRUE")


def _empty(kind: str) -> Record:
    if kind == "gates":
        return {"isEnabled": True, "status": "In Progress", "rules": []}
    if kind == "experiments":
        undecided = {"decisionTime": None, "decisionReason": None, "launchedGroupID": None}
        return {"status": "setup", "startTime": None, "endTime": None, **undecided}
    return {"rules": []} if kind in ("dynamic_configs", "segments") else {}
