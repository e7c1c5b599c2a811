"""What is new since the mark: reviews that may be other than they were, own snapshots where the service keeps no
history, and definitions that a list leaves out: archived there and shown no more, or deleted."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from noarkit.services.features import write_calls
from noarkit.services.features.known_definitions import FIND, KnownDefinitions
from noarkit.services.features.service import Features
from noarkit.services.port import Deletion, FetchFailure, Item
from noarkit.services.standins.server import StandinSpec
from tests.services.features.asking import LATER, all_of, connected, items_of, keys_known, scripted
from tests.services.scripted import Asked, Told, serving, told
from tests.services.standing import Standing, standing

REVIEW = {"review_id": "r-1", "status": "pending", "author": {"email": "kari@etaten.example"}, "created_at": 1}


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Standing]:
    """A service that this test alone changes."""
    with standing("features", tmp_path, StandinSpec(30, limits=(), options={"audit": "0"})) as found:
        yield found


def asked_reviews(held: Standing) -> int:
    """How many definitions the service was asked the reviews of."""
    return int(str(held.control("counts")["reviews_read"]))


def read_all(service: Features, since: datetime | None, until: datetime) -> list[object]:
    """What a plan reads, stream by stream."""
    return [one for stream in service.streams() for one in all_of(service, stream.name, since, until)]


def open_ones(found: list[Item]) -> set[str]:
    """The reviews that have not come to their end."""
    return {item.key for item in found if item.fields["state"] not in ("rejected", "committed")}


def gone_of(found: list[object]) -> list[str]:
    """What is told to be deleted."""
    return [one.key for one in found if isinstance(one, Deletion)]


def test_reviews_are_read_and_a_changed_one_is_the_same_item_with_other_bytes(
    held: Standing, features: Features
) -> None:
    before = {item.key: item.generated[1].data for item in items_of(features, "reviews")}
    assert len(before) > 20
    gate = next(
        str(one["id"])
        for one in features.calls.definitions("gates")
        if list(features.calls.reviews("gates", str(one["id"])))
    )
    reviews = [dict(one) for one in features.calls.reviews("gates", gate)]
    reviews[0]["status"] = "committed-later"
    held.control("change", reviews=[{"kind": "gates", "id": gate, "reviews": reviews}])
    after = {item.key: item.generated[1].data for item in items_of(features, "reviews")}
    assert after.keys() == before.keys()
    changed = f"{features.tenant}:review:{reviews[0]['review_id']}"
    assert [key for key in after if after[key] != before[key]] == [changed]


def test_reviews_are_asked_for_again_only_where_something_tells_of_news(own: Standing, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    with connected(own, tmp_path) as service:
        read_all(service, None, now - timedelta(days=9))
        first = asked_reviews(own)
        assert first > 15
        # nine days on: what had open reviews when it was met is asked about again, no other
        items = [item for item in items_of(service, "reviews", now - timedelta(days=10))]
        again = asked_reviews(own) - first
        assert again < first
        open_ones = {item.key for item in items if str(item.fields["state"]) not in ("rejected", "committed")}
        whole = {
            item.key for item in items_of(service, "reviews") if item.fields["state"] not in ("rejected", "committed")
        }
        assert open_ones == whole != set()


@pytest.mark.parametrize("news", ["changed", "active", "was-open", "in the log"])
def test_a_review_that_is_new_or_ended_is_found_by_each_of_its_traces(
    held: Standing, tmp_path: Path, news: str
) -> None:
    now = datetime.now(UTC)
    old_ms, new_ms = (int((now - timedelta(days=days)).timestamp() * 1_000) for days in (300, 2))
    gate = {"id": "g1", "name": "G 1", "version": 1, "lastModifiedTime": new_ms if news == "changed" else old_ms}
    if news == "active":
        gate["activeReview"] = {"reviewID": "r-1"}
    day, hour = f"{now - timedelta(days=1):%a %b %d %Y}", "12:00:00 GMT+0000"
    entry = {"id": "a1", "name": "G 1", "actionType": "gate_review_committed", "date": day, "time": hour}
    shown: dict[str, object] = {"reviews": [REVIEW] if news == "was-open" else []}

    def answer(asked: Asked) -> Told:
        if asked.path.endswith("/reviews"):
            return told({"data": shown["reviews"]})
        if asked.path.endswith("/audit_logs"):
            return told({"data": [entry] if news == "in the log" else []})
        if asked.path.endswith("/gates"):
            return told({"data": [gate]})
        return told({"data": {"id": "p1"} if asked.path.endswith("/project") else []})

    since = now - timedelta(days=4)
    with serving(answer) as server, scripted(held, tmp_path, server.url) as service:
        list(all_of(service, "gates", None, now - timedelta(days=3)))
        list(all_of(service, "reviews", None, now - timedelta(days=3)))
        shown["reviews"] = [{**REVIEW, "status": "committed"}]
        (item,) = items_of(service, "reviews", since)
        assert (item.fields["state"], item.key) == ("committed", "p1:review:r-1")
        gate["lastModifiedTime"] = old_ms
        gate.pop("activeReview", None)
        entry["name"] = "another"
        # once it ended, and nothing tells of it any more, it is asked for no more
        assert items_of(service, "reviews", now - timedelta(days=1)) == []


def test_all_reviews_are_asked_for_each_time_where_that_is_set(own: Standing, tmp_path: Path) -> None:
    with connected(own, tmp_path, all_reviews=True) as service:
        whole = {item.key for item in items_of(service, "reviews")}
        assert {item.key for item in items_of(service, "reviews", LATER - timedelta(days=1))} == whole != set()


# own snapshots where the service keeps no history


@pytest.mark.parametrize("kind", ["layers", "segments", "autotunes", "holdouts", "metrics"])
def test_where_the_service_keeps_no_history_each_state_we_saw_is_a_record_of_its_own(
    held: Standing, features: Features, kind: str
) -> None:
    one = str(next(features.calls.definitions(kind))["id"])
    seen = []
    for text in ("Første", "Andre"):
        held.control("change", definitions=[{"kind": kind, "id": one, "members": {"description": text}}])
        (item,) = [each for each in items_of(features, kind) if f":{one}:" in each.key and each.kind == "version"]
        assert text.encode() in item.generated[1].data
        seen.append(item.key)
    assert len(set(seen)) == 2
    with_history = items_of(features, "gates")
    assert any(item.key.endswith(":v1") for item in with_history)  # and where it keeps one, all of it is read


# deleted and archived told apart


def test_a_definition_that_is_listed_no_more_is_deleted_or_archived_there(own: Standing, tmp_path: Path) -> None:
    begin = datetime.now(UTC) - timedelta(hours=9)
    with connected(own, tmp_path) as service:
        read_all(service, None, begin)
        hidden, deleted = (str(one["id"]) for one in list(service.calls.definitions("experiments"))[:2])
        own.control("change", definitions=[{"kind": "experiments", "id": hidden, "members": {"status": "archived"}}])
        gone = [{"kind": "experiments", "id": deleted}]
        own.control("change", unlisted=[{"kind": "experiments", "id": hidden}], gone=gone)
        since, until = begin - service.look_back, begin + timedelta(hours=8)
        found = read_all(service, since, until)
        project = service.tenant
        assert gone_of(found) == [f"{project}:experiment:{deleted}:deleted"]
        states = [one for one in found if isinstance(one, Item) and f":experiment:{hidden}:" in one.key]
        assert "archived" in [one.fields["state"] for one in states if one.kind == "version"]
        # the same span again tells the same; the next tells it no more
        assert gone_of(read_all(service, since, until)) == gone_of(found)
        assert gone_of(read_all(service, until - service.look_back, until + timedelta(hours=1))) == []
        # what is deleted after a span is not of it, also where the span is read again; the next tells it
        late_one = str(next(service.calls.definitions("gates"))["id"])
        own.control("change", gone=[{"kind": "gates", "id": late_one}])
        again = read_all(service, until - service.look_back, until + timedelta(hours=1))
        assert gone_of(again) == []
        after = until + timedelta(hours=1)
        assert gone_of(read_all(service, after - service.look_back, after + timedelta(hours=1))) == [
            f"{project}:gate:{late_one}:deleted"
        ]
        # another archive, read last before it was deleted, hears of it too
        told_late = gone_of(read_all(service, since, until + timedelta(days=2)))
        assert sorted(told_late) == sorted([*gone_of(found), f"{project}:gate:{late_one}:deleted"])


def test_one_that_is_listed_no_more_and_not_shown_either_is_set_aside_and_the_rest_goes_on(
    held: Standing, tmp_path: Path
) -> None:
    gates = [{"id": "g1", "lastModifiedTime": 1}, {"id": "g2", "lastModifiedTime": 1}]

    def answer(asked: Asked) -> Told:
        if asked.path.endswith("/gates/g2"):
            return told({"status": 400, "message": "g2 cannot be shown"}, 400)
        return told({"data": {"id": "p1"} if asked.path.endswith("/project") else gates})

    with serving(answer) as server, scripted(held, tmp_path, server.url, kinds=["gates"]) as service:
        both = items_of(service, "gates")
        assert len(both) == 2
        del gates[1]
        known_keys = keys_known(tmp_path, both)
        first, left = all_of(service, "gates", datetime.now(UTC), known_keys=known_keys)
        known_keys.close()
        assert isinstance(first, Item)
        assert isinstance(left, FetchFailure)
        assert (left.key, left.reason) == ("p1:gate:g2:listed-before", "g2 cannot be shown")


def test_what_was_deleted_is_told_and_what_came_back_is_not(own: Standing, tmp_path: Path) -> None:
    with connected(own, tmp_path) as service:
        for name in ("borte for godt", "kom igjen"):
            write_calls.create(service.calls, "gates", {"name": name})
        first = datetime.now(UTC)
        read_all(service, None, first)
        for name in ("borte_for_godt", "kom_igjen"):
            write_calls.delete(service.calls, "gates", name)
        write_calls.create(service.calls, "gates", {"name": "kom igjen"})
        write_calls.create(service.calls, "gates", {"name": "kom og gikk"})  # made and gone between two runs
        write_calls.delete(service.calls, "gates", "kom_og_gikk")
        until = first + timedelta(hours=1)
        found = gone_of(read_all(service, first - service.look_back, until))
        project = service.tenant
        assert sorted(found) == [f"{project}:gate:{one}:deleted" for one in ("borte_for_godt", "kom_og_gikk")]
        assert gone_of(read_all(service, until - service.look_back, until + timedelta(hours=1))) == []


def test_one_that_came_back_under_its_name_is_not_told_to_be_deleted(held: Standing, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    day, hour = f"{now - timedelta(days=1):%a %b %d %Y}", "12:00:00 GMT+0000"
    entry = {"id": "a1", "name": "Kom igjen", "actionType": "gate_deleted", "date": day, "time": hour}
    gate = {"id": "kom_igjen", "name": "Kom igjen", "lastModifiedTime": 1}

    def answer(asked: Asked) -> Told:
        if asked.path.endswith("/gates/Kom%20igjen"):
            return told({"status": 404, "message": "Not found"}, 404)  # the log knows names, the console ids
        rows = {"project": {"id": "p1"}, "gates": [gate], "kom_igjen": gate, "audit_logs": [entry]}
        return told({"data": rows.get(asked.path.rpartition("/")[2], [])})

    with serving(answer) as server, scripted(held, tmp_path, server.url) as service:
        found = read_all(service, now - timedelta(days=3), now)
        assert gone_of(found) == []
        assert len(found) == 2  # the gate as it is, and the entry


def test_what_is_known_is_known_by_project_and_may_be_deleted(tmp_path: Path) -> None:
    when = datetime(2026, 1, 1, tzinfo=UTC)
    known = KnownDefinitions(tmp_path / "known.db", "p1")
    with known.begin_listing("gates", when) as listing:
        for number in range(1_200):  # more than one batch
            listing.add(f"g{number}", f"G {number}")
        assert list(listing.missing()) == []
        listing.finish()
        assert listing.is_fresh
    with known.begin_listing("gates", when) as listing:
        assert not listing.is_fresh
        listing.add("g5", "G 5")
        missing = [one.id for one in listing.missing()]
    assert len(missing) == len(set(missing)) == 1_199
    assert list(KnownDefinitions(tmp_path / "known.db", "p2").all("gates")) == list(known.all("segments")) == []
    known.note_deleted("gates", "g7", when)
    known.note_deleted("gates", "g7", when + timedelta(days=1))
    found = known.find("gates", "G 7")
    assert found is not None
    assert (found.id, found.deleted_at) == ("g7", when)
    known.note_present("gates", [("g7", "G 7")])
    again = known.find("gates", "g7")
    assert again is not None
    assert again.deleted_at is None
    (tmp_path / "known.db").unlink()
    assert list(KnownDefinitions(tmp_path / "known.db", "p1").all("gates")) == []


def test_a_definition_is_found_by_id_or_name_without_looking_through_all_of_its_kind(tmp_path: Path) -> None:
    KnownDefinitions(tmp_path / "known.db", "p1").note_present("gates", [("g7", "G 7")])
    with closing(sqlite3.connect(tmp_path / "known.db")) as db:
        steps = [str(row[3]) for row in db.execute(f"EXPLAIN QUERY PLAN {FIND}", ("p1", "gates", "G 7"))]
    looks = [step for step in steps if step.startswith(("SCAN", "SEARCH"))]
    assert len(looks) == 2 and all(" id=?" in look or " name=?" in look for look in looks), steps
