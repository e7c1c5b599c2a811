"""What is new since the mark: reviews that may have changed, and definitions that are not listed any more."""

from __future__ import annotations

from noarkit.connectors.features import Features, writing
from noarkit.connectors.port import Deleted
from tests.connectors.features.asking import all_of, items_of
from tests.connectors.standing import Standing


def test_reviews_are_read_and_a_changed_one_is_the_same_item_with_other_bytes(
    held: Standing, features: Features
) -> None:
    before = {item.key: item.made[0].data for item in items_of(features, "reviews")}
    assert len(before) > 20
    gate = next(one for one in features.calls.definitions("gates") if list(features.calls.reviews("gates", one["id"])))  # type: ignore[arg-type]  # its id is a text
    reviews = [dict(one) for one in features.calls.reviews("gates", str(gate["id"]))]
    reviews[0]["status"] = "committed-later"
    held.control("change", reviews=[{"kind": "gates", "id": gate["id"], "reviews": reviews}])
    after = {item.key: item.made[0].data for item in items_of(features, "reviews")}
    assert after.keys() == before.keys()
    changed = f"{features.tenant}:review:{reviews[0]['review_id']}"
    assert [key for key in after if after[key] != before[key]] == [changed]


def test_what_was_deleted_is_told_and_what_came_back_is_not(held: Standing, features: Features) -> None:
    for name in ("borte_for_godt", "kom_igjen"):
        writing.create(features.calls, "gates", {"name": name})
        writing.delete(features.calls, "gates", name)
    writing.create(features.calls, "gates", {"name": "kom_igjen"})
    gone = {one.key for one in all_of(features, "audit") if isinstance(one, Deleted)}
    assert f"{features.tenant}:gate:borte_for_godt:deleted" in gone
    assert f"{features.tenant}:gate:kom_igjen:deleted" not in gone
