"""What of a definition is archived: its versions, decisions, own snapshots; what is left out, and who is named."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from noarkit.services.features.definitions import audit_moment
from noarkit.services.features.service import Features
from noarkit.services.port import Item
from tests.services.features.asking import all_of, connected, items_of, keys_known
from tests.services.standing import Standing


def test_each_version_of_a_gate_is_an_item_with_a_key_of_the_services_own_ids(features: Features) -> None:
    items = items_of(features, "gates")
    gates = list(features.calls.definitions("gates"))
    assert len({item.key for item in items}) == len(items) == sum(int(str(gate["version"])) for gate in gates)
    project = features.tenant
    assert all(item.key.startswith(f"{project}:gate:") for item in items)
    assert {item.key.rsplit(":", 1)[1] for item in items} == {"v1", "v2", "v3", "v4"}


@pytest.mark.parametrize(
    "kind",
    ["dynamic_configs", "experiments", "layers", "segments", "param_stores", "autotunes", "holdouts", "metrics"],
)
def test_every_kind_of_definition_is_read_and_the_same_twice(features: Features, kind: str) -> None:
    first, second = items_of(features, kind), items_of(features, kind)
    assert len({item.key for item in first}) == len(first) > 5
    assert [(item.key, item.generated) for item in first] == [(item.key, item.generated) for item in second]


def test_what_changes_by_itself_is_no_change(features: Features) -> None:
    one = str(next(features.calls.definitions("gates"))["id"])
    looks = [features.calls.definition("gates", one) for _ in range(2)]
    assert looks[0] is not None
    assert looks[1] is not None
    assert looks[0]["checksPerHour"] != looks[1]["checksPerHour"]
    assert all(b"checksPerHour" not in item.generated[1].data for item in items_of(features, "gates"))


def test_a_parameter_store_without_times_is_known_by_its_bytes(held: Standing, features: Features) -> None:
    before = {item.key for item in items_of(features, "param_stores")}
    one = str(next(features.calls.definitions("param_stores"))["id"])
    held.control("change", definitions=[{"kind": "param_stores", "id": one, "members": {"displayName": "Nytt"}}])
    after = {item.key for item in items_of(features, "param_stores")}
    assert len(after - before) == len(before - after) == 1
    (new,) = after - before
    assert len(new.rsplit(":", 1)[1]) == 16


def test_a_decision_of_an_experiment_stands_with_what_it_found_out(features: Features) -> None:
    decisions = [item for item in items_of(features, "experiments") if item.kind == "decision"]
    assert decisions
    assert all(":decision:" in item.key and item.fields["reason"] for item in decisions)
    # the decision, the result it rests on, and the page that a person reads
    assert all(
        [b"absoluteChange" in made.data for made in item.generated] == [False, False, True] for item in decisions
    )
    assert all([made.name[-4:] for made in item.generated] == [".txt", "json", "json"] for item in decisions)


def test_a_decision_is_by_whoever_made_it_whoever_changes_the_experiment_after(
    held: Standing, features: Features
) -> None:
    def authors() -> dict[str, object]:
        items = items_of(features, "experiments")
        return {item.key: item.fields["author"] for item in items if item.kind == "decision"}

    before = authors()
    decided = [str(row["id"]) for row in features.calls.definitions("experiments") if row.get("decisionTime")]
    assert len(before) == len(decided) > 3 and all(before.values())
    changes = [{"kind": "experiments", "id": one, "members": {"description": "Endret"}} for one in decided]
    held.control("change", definitions=changes)
    changers = {row["lastModifierName"] for row in features.calls.definitions("experiments") if row["id"] in decided}
    assert len(changers) == 1 and not changers & set(before.values())
    assert authors() == before


def test_earlier_versions_are_walked_only_where_something_changed(
    held: Standing, features: Features, tmp_path: Path
) -> None:
    known_keys = keys_known(tmp_path, items_of(features, "gates"))
    lately = datetime.now(UTC) - timedelta(minutes=5)
    held.control("change", definitions=[{"kind": "gates", "id": "to_ganger", "members": {"isEnabled": True}}] * 3)
    tails = [item.key for item in items_of(features, "gates", lately, known_keys) if ":to_ganger:" in item.key]
    assert sorted(key.rsplit(":", 1)[1] for key in tails) == ["v1", "v2", "v3"]
    others = [item.key for item in items_of(features, "gates", lately, known_keys) if ":to_ganger:" not in item.key]
    assert len(others) == len({key.rsplit(":", 1)[0] for key in others})  # the current one of each
    known_keys.close()


def test_earlier_versions_of_what_is_listed_late_are_walked_although_nothing_changed(features: Features) -> None:
    lately = datetime.now(UTC) - timedelta(minutes=5)
    everything = {item.key for item in items_of(features, "gates")}
    assert {item.key for item in items_of(features, "gates", lately)} == everything, "the archive has none of them"


def test_the_audit_log_is_read_from_a_day_before_the_mark(features: Features) -> None:
    everything = items_of(features, "audit")
    assert len(everything) >= 100
    moments = sorted(item.modified for item in everything if item.modified is not None)
    assert len(moments) == len(everything)
    since = moments[len(moments) // 2]
    later = items_of(features, "audit", since)
    assert 0 < len(later) < len(everything)
    wanted = {item.key for item in everything if item.modified is not None and item.modified >= since}
    assert wanted <= {item.key for item in later}
    earlier = {item.key for item in all_of(features, "audit", until=since) if isinstance(item, Item)}
    assert earlier == {item.key for item in everything} - wanted


@pytest.mark.parametrize(
    ("date", "time", "told"),
    [
        ("Mon Sep 26 2022", "23:46:14 GMT+0000 (Coordinated Universal Time)", "2022-09-26T23:46:14+00:00"),
        ("Tue May 02 2023", "00:10:00 GMT+0200 (Central European Summer Time)", "2023-05-01T22:10:00+00:00"),
        ("Wed Dec 31 2025", "22:00:00 GMT-0330", "2026-01-01T01:30:00+00:00"),
        ("man. mai 02 2023", "00:10:00 GMT+0200", None),
        ("Mon Feb 31 2022", "00:00:00 GMT+0000", None),
        ("Mon Sep 26 2022", "23:46:14 GMT+9999", None),
        (None, None, None),
    ],
)
def test_the_odd_times_of_the_audit_log_are_understood_in_any_language(
    date: object, time: object, told: str | None
) -> None:
    found = audit_moment(date, time)
    assert (found.isoformat() if found is not None else None) == told


def test_secrets_in_definitions_are_left_out_wherever_they_stand(features: Features) -> None:
    items = items_of(features, "dynamic_configs")
    assert all(b"canary" not in item.generated[1].data and b"[REMOVED]" in item.generated[1].data for item in items)
    assert all("canary" not in str(item.fields) for item in items)
    assert all(b"properties" in item.generated[1].data for item in items)  # what is no secret stays as it was written
    logged = items_of(features, "audit")[-5:]
    assert all(
        b"canary" not in item.generated[1].data and b"kari@etaten.example" in item.generated[1].data for item in logged
    )
    assert all(b"12345678901234567890" in item.generated[1].data for item in items)  # numbers are exact


def test_people_in_rules_get_names_that_cannot_be_guessed_where_that_is_asked_for(
    held: Standing, tmp_path: Path
) -> None:
    secret = tmp_path / "pseudonyms"
    secret.write_text("en-hemmelig-nokkel\n")
    secret.chmod(0o600)
    with connected(held, tmp_path, pseudonym_key={"file": str(secret)}) as service:
        items = [item for item in items_of(service, "gates") if b"conditions" in item.generated[1].data]
        assert items
        items += items_of(service, "audit")[-5:]
        assert all(b"[REDACTED sha256:" in item.generated[1].data for item in items)
        assert all(b'@etaten.example"]' not in item.generated[1].data for item in items)
