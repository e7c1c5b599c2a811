"""Contents of one source are opened by several threads at once, as uploads and the coordinator of a cluster do."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import chain, repeat

import pytest

import noarkit
from noarkit.api.origins import source_at
from noarkit.events import ignore_event
from noarkit.graph.entity import Content
from noarkit.records import SourceRecord, released
from tests.reading_room.everyplace import make_places

KINDS = ("files", "extract", "packed extract", "packed E-ARK AIP", "E-ARK SIP", "DIAS SIP", "bag", "packed bag")


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The places by their kinds."""
    return make_places(tmp_path_factory.mktemp("places"))


@pytest.mark.parametrize("kind", KINDS)
def test_each_thread_gets_the_bytes_that_it_asked_for(kind: str, places: dict[str, str]) -> None:
    source = source_at(places[kind], noarkit.read_settings(environment={}))

    def read(content: Content) -> bytes:
        with source.open(content) as stream:
            return b"".join(iter(lambda: stream.read(65_536), b""))

    with released(source):
        records = [item for item in source.records(ignore_event) if isinstance(item, SourceRecord)]
        contents = list(chain.from_iterable(record.contents for record in records))
        alone = [read(content) for content in contents]
        assert len(set(alone)) > 1
        with ThreadPoolExecutor(8) as threads:
            for answers in repeat(alone, 20):
                assert list(threads.map(read, contents)) == answers
