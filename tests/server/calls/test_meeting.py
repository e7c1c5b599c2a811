"""Two calls that meet at one case file, where an archive answers that as real ones do."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import closing

from tests.server.calls.scene import entry_actions, make_scene
from tests.server.calls.shapes import JSON_ERRORS
from tests.server.conftest import Archive
from tests.waiting import PATIENCE_S


def test_two_new_registry_entries_at_once_are_409_and_can_be_sent_again(archive_with: Callable[..., Archive]) -> None:
    scene = make_scene(archive_with(concurrent_records_conflict=True))
    body = {"actions": entry_actions(scene.ids["case"])}

    def send() -> tuple[int, object]:
        reply = scene.wire.call("POST", "transaction", body, headers=JSON_ERRORS)
        return reply.status, reply.json().get("description")

    database = sqlite3.connect(scene.archive.data_dir / "archive.db", isolation_level=None, timeout=PATIENCE_S)
    with ThreadPoolExecutor(2) as pool, closing(database) as elsewhere:
        elsewhere.execute("BEGIN IMMEDIATE")  # so that the first call cannot be done before the second comes
        both = [pool.submit(send), pool.submit(send)]
        done, waiting = wait(both, PATIENCE_S, FIRST_COMPLETED)
        elsewhere.execute("ROLLBACK")
        ((status, description),) = [each.result() for each in done]
        assert (status, [each.result()[0] for each in waiting]) == (409, [200])
    assert scene.ids["case"] in str(description)
    assert send()[0] == 200
