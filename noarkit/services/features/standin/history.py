"""What a history may do to the data of the service: each change, and how often it is drawn.

`which` names a kind of definition and one of it: `gates/3`, `experiments/0`, or an id.
"""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.services.features.standin.data import REVIEWED_KINDS, Store, millis
from noarkit.services.standins.fake_data import SeededRandom
from noarkit.services.standins.histories.chance import ChanceChange, Chances
from noarkit.services.standins.histories.player import Apply, pick
from noarkit.services.standins.histories.script import Change

_LISTED = ("gates", "dynamic_configs", "experiments", "segments")
_REVIEW_STATES = ("pending", "accepted", "rejected", "committed", "changes_requested")


def features_changes(store: Store) -> Mapping[str, Apply]:
    """Returns what each change does to a feature service, by its name."""
    changes = FeaturesChanges(store)
    return {
        "create": changes.create,
        "edit": changes.edit,
        "delete": changes.delete,
        "restore": changes.restore,
        "hide": changes.hide,
        "show": changes.show,
        "review": changes.review,
    }


class FeaturesChanges:
    """Applies changes to the data of a feature service; each returns the id of the definition that it met."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._count = 0

    def create(self, change: Change) -> str:
        """Makes a definition."""
        self._count += 1
        definition_id = f"{change.values.get('name', 'ny')}_{self._count}_ny"
        self._store.save(_kind(change), definition_id, {"description": "Ny."})
        return definition_id

    def edit(self, change: Change) -> str:
        """Changes a definition: its next version."""
        definition_id = self._pick(change)
        if definition_id:
            self._store.save(_kind(change), definition_id, dict(change.values))
        return definition_id

    def delete(self, change: Change) -> str:
        """Deletes a definition."""
        definition_id = self._pick(change)
        return definition_id if definition_id and self._store.delete(_kind(change), definition_id) else ""

    def restore(self, change: Change) -> str:
        """Takes a deletion back; no time tells of it."""
        kind = _kind(change)
        ids = sorted(gone_id for gone_kind, gone_id in self._store.gone if gone_kind == kind)
        definition_id = pick(change.which, ids)
        self._store.gone.discard((kind, definition_id))
        return definition_id

    def hide(self, change: Change) -> str:
        """Takes a definition out of the lists; it can still be read by its id."""
        definition_id = self._pick(change)
        if definition_id:
            self._store.unlisted.add((_kind(change), definition_id))
        return definition_id

    def show(self, change: Change) -> str:
        """Lists a definition again."""
        kind = _kind(change)
        ids = sorted(hidden_id for hidden_kind, hidden_id in self._store.unlisted if hidden_kind == kind)
        definition_id = pick(change.which, ids)
        self._store.unlisted.discard((kind, definition_id))
        return definition_id

    def review(self, change: Change) -> str:
        """Adds a review of a definition, or with `last` gives its newest one another state."""
        kind, definition_id = _kind(change), self._pick(change)
        if not definition_id:
            return ""
        reviews = list(self._store.reviews(kind, definition_id))
        status = str(change.values.get("status", "pending"))
        if reviews and change.values.get("last"):
            reviews[0] = {**reviews[0], "status": status}
        else:
            self._count += 1
            review = {
                "review_id": SeededRandom(self._store.seed, "review", self._count).uuid("id"),
                "status": status,
                "type": "update",
                "author": {"id": "user-001", "email": "kari@etaten.example"},
                "reviewers": [{"id": "user-002", "kind": "user"}],
                "description": str(change.values.get("description", "Se på dette.")),
                "created_at": millis(self._store.clock()),
            }
            reviews.insert(0, review)
        self._store.reviews_changed[(kind, definition_id)] = reviews
        return str(reviews[0]["review_id"])

    def _pick(self, change: Change) -> str:
        return pick(change.which, self._store.ids(_kind(change)))


def _kind(change: Change) -> str:
    return change.which.partition("/")[0]


def _review(dice: SeededRandom) -> dict[str, object]:
    return {"status": dice.choose("status", _REVIEW_STATES), **({"last": True} if dice.is_hit("last", 60) else {})}


CHANCES = Chances(
    (
        ChanceChange("create", _LISTED, 3),
        ChanceChange("edit", _LISTED, 8, lambda dice: {"description": f"Endret {dice.number('n', 10_000)}."}),
        ChanceChange("delete", _LISTED, 4),
        ChanceChange("restore", _LISTED, 2),
        ChanceChange("hide", _LISTED, 3),
        ChanceChange("show", _LISTED, 3),
        ChanceChange("review", REVIEWED_KINDS, 5, _review),
    ),
    ("/gates", "/dynamic_configs", "/experiments", "/segments", "/versions", "/reviews", "/audit_logs"),
    {"hide": "show", "delete": "restore"},
)
