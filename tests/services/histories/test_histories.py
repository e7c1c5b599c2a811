"""Histories drawn from a few seeds: nothing is lost, doubled, invented or kept silent. `scripts/faults histories` plays
thousands."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.embedded import keep_services
from tests.services.histories.sweep import try_seed

SAMPLES = {"crm": (2, 3, 8, 230), "spend": (1, 3), "appsec": (1, 3), "features": (8, 25)}


@pytest.mark.parametrize("service", SAMPLES)
def test_nothing_is_lost_over_time(service: str, tmp_path: Path) -> None:
    with keep_services():
        for seed in SAMPLES[service]:
            folder = tmp_path / str(seed)
            folder.mkdir()
            assert try_seed(service, seed, folder, tmp_path / "archive") == [], f"seed {seed}"
