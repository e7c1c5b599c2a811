"""`noarkit standin SERVICE --records N` holds at least so many records that can be archived."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from noarkit.events import ignore_event
from noarkit.service_names import BUILT_IN
from noarkit.services.connections import open_service
from noarkit.services.port import Item, Window
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import LATER, standing

# What a service keeps of its own accord, whatever was asked for; it does not count.
BESIDE = {"spend": ("jobs", "registers"), "appsec": ("projects", "audit"), "features": ("audit", "reviews"), "crm": ()}


@pytest.mark.parametrize("records", [1, 30])
@pytest.mark.parametrize("service", tuple(BUILT_IN))
def test_a_stand_in_holds_as_many_archivable_records_as_were_asked_for(
    service: str, records: int, tmp_path: Path
) -> None:
    wish = StandinSpec(records, limits=((1_000_000, 60.0),), archivable=True)
    with standing(service, tmp_path, wish) as there, closing(open_service(there.connection())) as opened:
        found = 0
        for stream in opened.streams():
            for item in opened.items(stream, Window(None, LATER), ignore_event):
                found += isinstance(item, Item) and stream.name not in BESIDE[service]
    assert found >= records
