"""The data of the feature-management service: definitions generated from the seed with versions, reviews and audit
entries, and the changes made since."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from noarkit.services.features.standin.shapes import KINDS, VERSIONED_KINDS, of_kind, only_its_own, slug
from noarkit.services.standins.fake_data import BEGIN, SeededRandom, mail_of

Record = dict[str, Any]  # what JSON holds
REVIEWED_KINDS = ("gates", "dynamic_configs", "experiments")
_KINDS_SHOWING_REVIEW = ("gates", "experiments")  # on the definition itself
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


def utc_now() -> datetime:
    """The clock of this machine."""
    return datetime.now(UTC)


def millis(moment: datetime) -> int:
    """Formats a time in milliseconds, as the service does."""
    return int(moment.timestamp() * 1_000)


def person(dice: SeededRandom, name: str) -> Record:
    """Returns a person of the organisation."""
    given_name, family_name = dice.person(name)
    number = dice.number(f"{name}.number", 40)
    return {
        "id": f"user-{number:03d}",
        "name": f"{given_name} {family_name}",
        "email": mail_of(given_name, family_name, "Etaten AS"),
    }


class Store:
    """The whole service, which lives by `clock`. Safe for threads."""

    def __init__(self, definitions: int, audit: int, seed: int, clock: Callable[[], datetime] = utc_now) -> None:
        self.clock = clock
        self.seed = seed
        self.audit_count = audit
        self.project_id = SeededRandom(seed, "project").uuid("id")[:13]
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
        """Returns the ids of a kind, in an arbitrary order."""
        seeded = self._seeded_ids(kind)
        with self.lock:
            added_ids = [
                definition_id
                for changed_kind, definition_id in self.changed
                if changed_kind == kind and definition_id not in seeded
            ]
            hidden_ids = self.gone | self.unlisted
            return [definition_id for definition_id in (*added_ids, *seeded) if (kind, definition_id) not in hidden_ids]

    def _seeded_ids(self, kind: str) -> dict[str, None]:
        """Returns the generated ids of a kind, in order; computed once."""
        if kind not in self._ids:
            self._ids[kind] = dict.fromkeys(slug(self.seed, kind, number) for number in range(self.counts[kind]))
        return self._ids[kind]

    def get(self, kind: str, definition_id: str) -> Record | None:
        """Returns the current definition, with figures that change on every read."""
        versions = self.versions(kind, definition_id)
        if not versions:
            return None
        self.reads += 1
        definition = {**versions[-1], **_volatile_members(kind, self.reads)}
        pending = [review for review in self.reviews(kind, definition_id) if review["status"] == "pending"]
        if pending and kind in _KINDS_SHOWING_REVIEW:
            pending_review = pending[0]
            definition["activeReview"] = {
                "reviewID": pending_review["review_id"],
                "reviewStatus": "pending",
                "description": "",
            }
        return definition

    def versions(self, kind: str, definition_id: str) -> list[Record]:
        """Returns all versions, oldest first; the last is the current one."""
        if (kind, definition_id) in self.gone:
            return []
        changed_versions = self.changed.get((kind, definition_id))
        if changed_versions is not None:
            return changed_versions
        number = _number(definition_id)
        if number is None or number >= self.counts[kind] or slug(self.seed, kind, number) != definition_id:
            return []
        dice = SeededRandom(self.seed, kind, number)
        count = 1 + dice.number("versions", 4) if kind in VERSIONED_KINDS else 1
        return [self._seeded_definition(kind, number, version) for version in range(1, count + 1)]

    def _seeded_definition(self, kind: str, number: int, version: int) -> Record:
        dice = SeededRandom(self.seed, kind, number)
        created_at = dice.moment("created", 900)
        changed_at = created_at + timedelta(days=7 * version, seconds=dice.number(f"second{version}", 3_600))
        return self._shape(kind, slug(self.seed, kind, number), dice, version, (millis(created_at), millis(changed_at)))

    def _shape(self, kind: str, definition_id: str, dice: SeededRandom, version: int, times: tuple[int, int]) -> Record:
        """Builds a definition with all members of its kind; `times` are those of creation and last change."""
        creator, modifier = person(dice, "creator"), person(dice, f"modifier{version}")
        common: Record = {
            "id": definition_id,
            "name": definition_id,
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
            "tags": [dice.choose("tag", ("kjerne", "forsøk", "drift"))],
            "targetApps": dice.choose("app", ("nettsted", ["nettsted", "mobil"], [])),
            "holdoutIDs": [],
            "team": dice.choose("team", ("Innlogging", "Skjema", "Betaling")),
            "version": version,
            "owner": {"ownerID": creator["id"], "ownerType": "USER", "ownerName": creator["name"],
                      "ownerEmail": creator["email"]},
        }  # fmt: skip
        if kind == "metrics":
            common["owner"]["name"] = creator["name"]
        return {
            **only_its_own(kind, common),
            **of_kind(kind, dice, version, times[1]),
            **_volatile_members(kind, version),
        }

    def save(
        self, kind: str, definition_id: str, values: Mapping[str, Any], author: str = "Konsollen"
    ) -> Record:  # Any: of JSON
        """Creates or changes a definition: a new version, and an entry in the audit log."""
        with self.lock:
            versions = list(self.versions(kind, definition_id))
            now = millis(self.clock())
            new = {
                **self._shape(kind, definition_id, SeededRandom(self.seed, kind, definition_id), 0, (now, now)),
                **_empty(kind),
            }
            last = versions[-1] if versions else new
            changes = only_its_own(kind, {**values, "lastModifiedTime": now, "lastModifierName": author})
            definition = {**last, **changes, "id": definition_id}
            if kind in VERSIONED_KINDS:
                definition["version"] = int(last.get("version") or 0) + 1
            self.changed[(kind, definition_id)] = [*versions, definition] if kind in VERSIONED_KINDS else [definition]
            self.gone.discard((kind, definition_id))
            self.note(kind, definition_id, "updated" if versions else "created", {"to": {"old": None, "new": "…"}})
            return definition

    def delete(self, kind: str, definition_id: str) -> bool:
        """Deletes a definition, with an entry in the audit log."""
        with self.lock:
            exists = bool(self.versions(kind, definition_id))
            self.gone.add((kind, definition_id))
            if exists:
                self.note(kind, definition_id, "deleted", {})
            return exists

    def reviews(self, kind: str, definition_id: str) -> list[Record]:
        """Returns the reviews of a definition, newest first."""
        changed_reviews = self.reviews_changed.get((kind, definition_id))
        if changed_reviews is not None:
            return changed_reviews
        number = _number(definition_id)
        if number is None or kind not in REVIEWED_KINDS or (kind, definition_id) in self.changed:
            return []
        dice = SeededRandom(self.seed, kind, number, "review")
        return [self._review(dice, place) for place in reversed(range(dice.number("count", 3)))]

    def _review(self, dice: SeededRandom, place: int) -> Record:
        author, reviewer = person(dice, f"author{place}"), person(dice, f"reviewer{place}")
        return {
            "review_id": dice.uuid(f"review{place}"),
            "status": dice.choose(f"status{place}", _STATES),
            "type": "update",
            "author": {"id": author["id"], "email": author["email"]},
            "reviewers": [{"id": reviewer["id"], "kind": "user"}],
            "description": dice.text(f"text{place}", 1),
            "created_at": millis(dice.moment("made", 900) + timedelta(days=place)),
        }

    def audit_ids(self, begin: date, end: date, action: str = "") -> list[str]:
        """Returns the audit entries between two days, inclusive, newest first."""
        count = self.audit_count
        first = bisect_left(range(count), begin, key=lambda number: self.audit_moment(number).date())
        after = bisect_right(range(count), end, key=lambda number: self.audit_moment(number).date())
        seeded = range(first, after)
        with self.lock:
            added_numbers = [
                count + place
                for place, (logged_at, _) in enumerate(self.audit_added)
                if begin <= logged_at.date() <= end
            ]
        ids = [_AUDIT.format(number) for number in reversed([*seeded, *added_numbers])]
        return [number for number in ids if not action or (self.entry(number) or {})["actionType"] == action]

    def entry(self, entry_id: str) -> Record | None:
        """Returns an entry of the audit log."""
        number = int(entry_id.removeprefix("audit-"))
        return self._entry(number) if number < self.audit_count else self.audit_added[number - self.audit_count][1]

    def audit_moment(self, number: int) -> datetime:
        """Returns the time of a generated entry; later ones have higher numbers."""
        return BEGIN + timedelta(seconds=number * _SPAN_S // max(1, self.audit_count))

    def _entry(self, number: int) -> Record:
        dice = SeededRandom(self.seed, "audit", number)
        kind = dice.choose(
            "kind", [definition_id for definition_id in KINDS if self.counts[definition_id]] or ["gates"]
        )
        definition_id = slug(self.seed, kind, dice.number("which", max(1, self.counts[kind])))
        passes = dice.number("passes", 100)
        changes = {
            "rules": {
                "old": [{"percentagePass": passes, "salt": dice.uuid("salt"), "conditionJSON": _CONDITION}],
                "new": [],
            }
        }
        action = dice.choose("action", ("updated", "updated", "created"))
        return _entry(number, (kind, definition_id, action), changes, person(dice, "who"), self.audit_moment(number))

    def note(self, kind: str, definition_id: str, action: str, changes: Mapping[str, object]) -> None:
        """Adds an entry to the audit log."""
        with self.lock:
            number = self.audit_count + len(self.audit_added)
            author = {"id": "user-000", "name": "Konsollen", "email": "konsollen@etaten.example"}
            now = self.clock()
            self.audit_added.append((now, _entry(number, (kind, definition_id, action), changes, author, now)))


def _entry(
    number: int, named_action: tuple[str, str, str], changes: Mapping[str, object], author: Record, logged_at: datetime
) -> Record:
    kind, name, action = named_action
    return {
        "id": _AUDIT.format(number),
        "name": name,
        "changeLog": f"{action} {name}",
        "actionType": _action(kind, action),
        "date": f"{_DAYS[logged_at.weekday()]} {_MONTHS[logged_at.month - 1]} {logged_at.day:02d} {logged_at.year}",
        "time": f"{logged_at:%H:%M:%S} GMT+0000 (Coordinated Universal Time)",
        "updatedBy": author["name"],
        "updatedByUserID": author["id"],
        "modifierEmail": author["email"],
        "changes": dict(changes),
        "tags": [],
        "targetAppIDs": [],
    }


def _action(kind: str, action: str) -> str:
    """Returns the audit log's name of an action: `"gate_create"`, `"config_delete"`, `"autotune_experiment_delete"`."""
    verb = {"created": "create", "updated": "update", "deleted": "delete"}[action]
    shared_names = {
        "gates": "config",
        "dynamic_configs": "config",
        "segments": "config",
        "autotunes": "autotune_experiment",
    }
    return f"{shared_names.get(kind, SINGULAR[kind]) if verb == 'delete' else SINGULAR[kind]}_{verb}"


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _shares(definitions: int) -> dict[str, int]:
    shares = {kind: definitions * percent // 100 for kind, percent in _PERCENT.items()}
    shares["gates"] += definitions - sum(shares.values())
    return shares


def _number(text: str) -> int | None:
    tail = text.rpartition("_")[2]
    return int(tail) if tail.isascii() and tail.isdigit() and len(tail) < 9 else None


def _volatile_members(kind: str, reads: int) -> Record:
    """Returns the members that change on every read."""
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
        no_decision = {"decisionTime": None, "decisionReason": None, "launchedGroupID": None}
        return {"status": "setup", "startTime": None, "endTime": None, **no_decision}
    return {"rules": []} if kind in ("dynamic_configs", "segments") else {}
