"""The feature service from the first connection to the last verification, and what changes between runs."""

from __future__ import annotations

import pytest

from tests.strict_services.conftest import Desk, features_settings, send
from tests.strict_services.features import BEGIN, WEBHOOK_SECRET, Features, change_event, now
from tests.strict_services.features_ledger import FeaturesLedger
from tests.strict_services.serving import Rate, trouble_once

FEATURES = "features:strict"


@pytest.fixture
def ledger(features: Features) -> FeaturesLedger:
    """A definition of each kind; what of them must be in the archive."""
    data = features.data
    gate = data.add("gates", "new_layout", description="Ny forside")
    data.edit(gate, at=BEGIN, isEnabled=True)
    data.review(gate)
    data.add("gates", "old_layout", status="Archived")
    data.add("experiments", "button_colour", status="active")
    data.add("dynamic_configs", "limits", isEnabled=True)
    data.add("layers", "front")
    data.add("segments", "staff", type="rule_based")
    data.add("param_stores", "texts", description="Tekster")
    data.add("holdouts", "nobody")
    data.add("autotunes", "tuned")
    return FeaturesLedger(features)


def test_a_first_run_archives_every_version_review_and_line_of_the_log(desk: Desk, ledger: FeaturesLedger) -> None:
    desk.noarkit("connect", FEATURES)
    desk.verify(desk.load_and_compare(ledger))


def test_a_second_run_takes_each_version_between_and_nothing_else(
    desk: Desk, features: Features, ledger: FeaturesLedger
) -> None:
    desk.load_and_compare(ledger)
    data = features.data
    for number in (1, 2):
        data.edit(data.definitions["gates"]["new_layout"], description=f"Endret {number} ganger")
    data.edit(data.definitions["layers"]["front"], description="Et annet lag")
    data.edit(data.definitions["param_stores"]["texts"], description="Andre tekster")
    data.review(data.definitions["experiments"]["button_colour"])
    late = data.add("dynamic_configs", "late", at=BEGIN, logged_at=now())
    assert late.shown["lastModifiedTime"] == int(BEGIN.timestamp() * 1000)
    desk.verify(desk.load_and_compare(ledger))
    desk.load_and_compare(ledger)
    desk.noarkit("status", desk.runs[-1], "--json")
    assert desk.summary()["archived"] == 0, "nothing changed"


def test_what_is_deleted_is_reported_once_and_stays(desk: Desk, features: Features, ledger: FeaturesLedger) -> None:
    desk.load_and_compare(ledger)
    for kind, id in (("gates", "new_layout"), ("layers", "front")):
        features.data.delete(features.data.definitions[kind][id])
    run = desk.load_and_compare(ledger)
    told = {key for key, reason in desk.skipped(run) if reason == "deleted in the service"}
    assert len(told) == 2 and {key.split(":")[2] for key in told} == {"new_layout", "front"}
    assert not {key for key, _ in desk.skipped(desk.load_and_compare(ledger))} & told


def test_lists_of_many_pages_are_read_to_the_end_and_no_other_host_is_followed(
    desk: Desk, features: Features, ledger: FeaturesLedger
) -> None:
    features.per_page = 3
    for number in range(10):
        features.data.add("gates", f"gate_{number}")
    desk.load_and_compare(ledger)


def test_a_busy_service_is_waited_for_and_one_that_breaks_is_asked_again(
    desk: Desk, features: Features, ledger: FeaturesLedger
) -> None:
    features.rate = Rate(20, 1.5)
    features.troubles += [trouble_once(end, features.refuse(503, "", "busy")) for end in ("/gates", "/audit_logs")]
    desk.load_and_compare(ledger)
    assert features.rate.refused > 0


def test_a_key_that_is_refused_is_not_repeated_to_anybody(desk: Desk, features: Features) -> None:
    wrong = "console-somebody-elses-key"
    desk.connect(FEATURES, {**features_settings(desk, features), "api_key": desk.secret("key", wrong)})
    desk.noarkit("connect", FEATURES, code=6)
    desk.noarkit("plan", FEATURES, "-o", "run", code=6)
    assert wrong not in desk.out + desk.err
    assert not [place for place in desk.home.rglob("*.*") if place.is_file() and place.name != "key.secret"
                and wrong.encode() in place.read_bytes()]  # fmt: skip


def test_a_signed_message_is_a_hint_that_the_next_plan_follows(
    desk: Desk, features: Features, ledger: FeaturesLedger
) -> None:
    settings = {**features_settings(desk, features), "webhook_secret": desk.secret("hook", WEBHOOK_SECRET)}
    desk.connect(FEATURES, settings)
    desk.load_and_compare(ledger)
    gate = features.data.definitions["gates"]["new_layout"]
    with desk.listening(FEATURES) as address:
        features.data.edit(gate, isEnabled=False)
        body, headers = features.message([change_event(gate, "updated", now())], now())
        url = f"{address}/features/strict"
        assert send(url, body + b" ", headers) in (400, 401, 403)
        assert send(url, body, headers) // 100 == 2
    desk.verify(desk.load_and_compare(ledger))
