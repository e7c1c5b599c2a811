"""What an archivist reads of a project: titles with outcome and day, and pages with labels and days alone."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from noarkit.services.features.labels import (
    LABELS,
    STATES,
    change_title,
    decision_title,
    describe,
    group_name,
    review_title,
)
from noarkit.services.features.service import Features
from noarkit.services.standins.server import StandinSpec
from tests.services.features.asking import connected, items_of
from tests.services.standing import standing

MEMBERS = re.compile(r"\b(?!apiKey)[a-z]+[A-Z]\w*:|\b(?:status|name|id|size|review_id|created_at):")
MACHINE_TIMES = re.compile(r"\d\dT\d\d|\.\d{3}Z|\b1\d{12}\b|GMT")
AT = datetime(2026, 1, 5, 10, tzinfo=UTC)
PUBLISHED_STATES = (
    *("pending", "accepted", "rejected", "committed", "changes_requested", "pending_webhook_validation"),
    *("failed_webhook_validation", "approved_webhook_validation", "In Progress", "Launched", "Disabled", "Archived"),
    *("TEMPORARY", "PERMANENT", "STALE", "TEMPLATE", "setup", "active", "decision_made", "abandoned", "archived"),
    *("experiment_stopped", "assignment_stopped"),
)
PAGES = ("gates", "dynamic_configs", "experiments", "layers", "segments", "param_stores", "autotunes", "holdouts")


def test_a_review_is_named_by_its_day_and_not_by_what_may_still_become_of_it() -> None:
    assert review_title("ny_søk", AT) == "Gjennomgang av ny_søk 2026-01-05"


def test_other_titles_have_their_day_and_outcome() -> None:
    assert decision_title("kart", AT, "Prøve") == "Beslutning om kart 2026-01-05: Prøve innføres"
    assert decision_title("kart", None, "") == "Beslutning om kart: ingen gruppe innføres"
    assert group_name([{"id": "g2", "name": "Prøve"}], "g2") == "Prøve"
    assert (group_name([{"id": "g2"}], "g2"), group_name(None, "g3")) == ("g2", "g3")
    for action, word in (
        *(("gate_create", "opprettet"), ("config_deleted", "slettet"), ("delete_layer", "slettet")),
        ("gate_rollout_x", "gate_rollout_x"),
    ):
        assert change_title("kart", AT, action) == f"Endring av kart 2026-01-05: {word}"


def test_every_published_state_has_a_word_and_every_label_is_of_one_member() -> None:
    assert [state for state in PUBLISHED_STATES if state.casefold() not in STATES] == []
    assert len(set(LABELS.values())) == len(LABELS)


def test_a_name_with_control_and_reading_direction_shows_them_in_titles(tmp_path: Path) -> None:
    odd, shown = "kart\u202e\x07 \u2066søk", "kart\ufffe\ufffe \ufffesøk"
    members = {"name": odd, "decisionTime": 1_767_600_000_000}
    review = {"review_id": "odd", "status": "rejected", "created_at": 1_767_600_000_000}
    with standing("features", tmp_path, StandinSpec(5, limits=()), odd=True) as held:
        held.control("change", definitions=[{"kind": "experiments", "id": "odd", "members": members}])
        held.control("change", reviews=[{"kind": "experiments", "id": "odd", "reviews": [review]}])
        with connected(held, tmp_path) as service:
            listed = [item for stream in ("experiments", "reviews") for item in items_of(service, stream)]
    found = [item for item in listed if ":odd" in item.key]
    assert {item.kind for item in found} == {"version", "decision", "review"}
    for item in found:
        titles = [str(item.fields["title"]), str(item.fields["name"]), *(made.title for made in item.generated)]
        assert all(shown in title for title in titles), titles
        assert item.generated[0].data.decode().startswith(f"{item.fields['title']}\n")


@pytest.mark.parametrize("stream", [*PAGES, "metrics", "reviews", "audit"])
def test_pages_have_labels_and_days_and_no_member_names(features: Features, stream: str) -> None:
    found = items_of(features, stream)
    assert found
    for item in found:
        (page,) = (made.data.decode() for made in item.generated if made.media_type == "text/plain")
        lines = page.splitlines()
        assert len(lines) > 5
        for odd in (MEMBERS, MACHINE_TIMES):
            assert [line for line in lines if odd.search(line)] == []


def test_what_the_project_named_itself_stays_as_it_was_written() -> None:
    row = {"rules": [{"salt": "x", "returnValue": {"status": "Launched", "createdTime": 5}, "passPercentage": 50}]}
    told_rule = {"Slipper gjennom (prosent)": 50, "Gir verdien": {"status": "Launched", "createdTime": 5}}
    assert describe(row) == {"Regler": [told_rule]}
    change = {"changes": {"lastModifiedTime": {"old": 1_700_000_000_000, "new": None}, "egenfelt": {"new": "a"}}}
    told = {"Endret": {"Før": "2023-11-14 kl. 22.13 UTC"}, "egenfelt": {"Etter": "a"}}
    assert describe(change) == {"Endringer": told}
