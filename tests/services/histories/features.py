"""What a feature service holds at a moment, read from the data of its stand-in: every version of each definition, its
reviews, and the audit log."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from noarkit.services.features.standin.data import REVIEWED_KINDS, SINGULAR, Store
from noarkit.services.features.standin.shapes import KINDS, VERSIONED_KINDS
from tests.services.histories.facts import Fact, Listing, Oracle, as_text

_NOT_VERSIONS = (":review:", ":audit:", ":decision:")


def listing(standin: Any) -> Listing:  # Any: the stand-in of this service
    """All that is to be archived; what is no longer listed can still be read."""
    store: Store = standin.store
    facts = [*_definitions(store), *_audit(store)]
    withheld = {f"{_key(store, kind, gone_id)}:v0" for kind, gone_id in store.unlisted - store.gone}
    return Listing({fact.key: fact for fact in facts}, frozenset(withheld))


def _key(store: Store, kind: str, definition_id: str) -> str:
    return f"{store.project_id}:{SINGULAR[kind]}:{definition_id}"


def _definitions(store: Store) -> Iterator[Fact]:
    for kind in KINDS:
        for definition_id in store.ids(kind):
            key = _key(store, kind, definition_id)
            for row in store.versions(kind, definition_id):
                tail = f"v{row['version']}" if kind in VERSIONED_KINDS else str(row.get("lastModifiedTime"))
                members = {name: row.get(name) for name in ("id", "description", "version", "lastModifiedTime")}
                if "lastModifiedTime" in row or kind in VERSIONED_KINDS:
                    yield Fact(f"{key}:{tail}", f"folder:definition:{key}", (), as_text(members))
            if kind in REVIEWED_KINDS:
                for review in store.reviews(kind, definition_id):
                    review_key = f"{store.project_id}:review:{review['review_id']}"
                    members = {"review_id": review["review_id"], "status": review["status"]}
                    yield Fact(review_key, f"folder:definition:{key}", (), as_text(members), is_slow=True)


def _audit(store: Store) -> Iterator[Fact]:
    for entry_id in store.audit_ids(date(2020, 1, 1), date(2100, 1, 1)):
        number = int(entry_id.removeprefix("audit-"))
        is_added = number >= store.audit_count
        logged_at = store.audit_added[number - store.audit_count][0] if is_added else store.audit_moment(number)
        folder = f"folder:audit:{store.project_id}:{logged_at.year}"
        yield Fact(f"{store.project_id}:audit:{entry_id}", folder, (), "", logged_at.replace(microsecond=0))


def deletion_key(key: str) -> str:
    """The key that the deletion of a definition bears; entries of the log and reviews bear none."""
    return "" if any(part in key for part in _NOT_VERSIONS) else key.rpartition(":")[0]


ORACLE = Oracle(
    listing,
    look_back_s=86_400,
    sweep_s=31 * 86_400,
    tenant=lambda standin: str(standin.store.project_id),  # type: ignore[attr-defined]  # as above
    records=10,
    options={"audit": "6"},
    deletion_key=deletion_key,
    is_whole=lambda key: True,
    is_followed=lambda key: ":decision:" not in key,
)
