"""What a verification of a CRM promises is what its next plan does: also of what becomes visible late."""

from __future__ import annotations

from pathlib import Path

import pytest

import noarkit
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import standing

LONG_AGO = "2020-01-01T00:00:00+00:00"


@pytest.mark.usefixtures("one_archive")
def test_what_becomes_visible_late_belongs_to_the_next_plan_and_that_plan_takes_it(tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing("crm", tmp_path, StandinSpec(6)) as held:
        site = held.site(archive)

        def load(run: str) -> noarkit.IngestResult:
            noarkit.plan("crm:standin", tmp_path / run, archive=archive, settings=site)
            return noarkit.ingest(tmp_path / run, archive=archive, workers=0, settings=site)

        def promised(run: str) -> tuple[int, int, int]:
            verified = noarkit.verify(tmp_path / run, archive=archive, settings=site)
            assert verified.differences == 0
            return verified.source_new, verified.source_late, verified.source_gone

        load("first")
        assert promised("first") == (0, 0, 0)
        row = {"Deal_Name": "Sent synlig", "Created_Time": LONG_AGO, "Modified_Time": LONG_AGO}
        held.control("change", module="Deals", put=[row])
        assert promised("first") == (1, 0, 0)
        assert load("second").numbers.archived == 1
        assert promised("first") == promised("second") == (0, 0, 0)
