"""What applications ask, as their official clients ask it, and what the service refuses; what tells of deletions."""

from __future__ import annotations

import httpx
import pytest

from noarkit.services.features.service import Features
from noarkit.services.features.streams import deleted_kinds
from noarkit.services.port import Item
from tests.services.standing import PLAIN, Standing, all_of
from tests.waiting import PATIENCE_S


def post(held: Standing, path: str, told: object) -> httpx.Response:
    """As an application does, with the key of a server."""
    key = held.connection().secret("server_key")
    assert key is not None
    headers = {"service-api-key": key.reveal()}
    return httpx.post(
        f"{held.url}/v1/{path}", json=told, headers=headers, trust_env=False, verify=PLAIN, timeout=PATIENCE_S
    )


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("check_gate", {}),
        ("check_gate", {"gateName": "a"}),
        ("check_gate", {"user": {"userID": "1"}}),
        ("get_config", {"user": {"userID": "1"}}),
        ("log_event", {}),
        ("log_event", {"events": []}),
        ("log_event", {"events": [{"user": {}}]}),
        ("webhooks/event_webhook", {"event": "a"}),
    ],
)
def test_what_lacks_a_member_is_refused(held: Standing, path: str, told: dict[str, object]) -> None:
    assert post(held, path, told).status_code == 400


def test_the_log_takes_a_batch_of_events_as_clients_send_it(held: Standing) -> None:
    before = held.control("counts")["events"]
    events = [
        {"eventName": name, "user": {"userID": "1"}, "value": None, "metadata": {}, "time": 1_700_000_000_000}
        for name in ("sendt", "lest")
    ]
    answer = post(held, "log_event", {"events": events, "serviceMetadata": {"sdkType": "py-server"}})
    assert (answer.status_code, answer.json()) == (202, {"success": True})
    assert held.control("counts")["events"] == before + 2  # type: ignore[operator]  # numbers


@pytest.mark.parametrize(
    ("action", "kinds"),
    [
        ("gate_delete", ("gates",)),
        ("config_delete", ("gates", "dynamic_configs", "segments")),
        ("autotune_experiment_delete", ("autotunes",)),
        ("delete_layer", ("layers",)),
        ("experiment_deleted", ("experiments",)),
        ("gate_create", ()),
        ("project_delete", ()),
        ("", ()),
    ],
)
def test_a_deletion_is_known_by_each_of_its_names(action: str, kinds: tuple[str, ...]) -> None:
    assert deleted_kinds(action) == kinds


def test_a_decision_keeps_what_the_groups_were_measured_to_be(features: Features) -> None:
    decisions = [one for one in all_of(features, "experiments") if isinstance(one, Item) and one.kind == "decision"]
    assert decisions
    assert all(any(made.name.startswith("resultat") for made in one.generated) for one in decisions)


def test_archived_gates_are_listed_only_where_they_are_asked_for(features: Features) -> None:
    listed = list(features.calls.definitions("gates"))
    assert any(one["status"] == "Archived" for one in listed)
