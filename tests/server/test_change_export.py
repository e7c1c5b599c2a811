"""The whole change log, along it."""

from __future__ import annotations

import pytest

from tests.server.conftest import Archive
from tests.server.wire import save

PATH = "logs/change-log/export"


def entries(archive: Archive, **members: object) -> list[dict[str, object]]:
    """What the call gives, checked for its form."""
    reply = archive.wire.call("POST", PATH, members)
    assert reply.status == 200, reply
    results = reply.json()["results"]
    assert isinstance(results, list)
    return results


def test_every_entry_comes_once_and_in_order_whatever_the_page(archive: Archive) -> None:
    archive.wire.saved(
        save("Klassifikasjonssystem", "a", tittel="one"), save("Klassifikasjonssystem", "b", tittel="two")
    )
    whole = entries(archive)
    numbers = [int(str(one["revisionId"])) for one in whole]
    assert numbers == sorted(numbers)
    paged: list[dict[str, object]] = []
    while some := entries(archive, limit=1, after=paged[-1]["revisionId"] if paged else 0):
        paged += some
    assert paged == whole


def test_kinds_and_accounts_are_left_out_where_asked(archive: Archive) -> None:
    saved = archive.wire.saved(save("Klassifikasjonssystem", "a", tittel="before"))
    archive.wire.saved(save("Klassifikasjonssystem", str(saved["a"]["id"]), tittel="after"))
    changed = [one for one in entries(archive, revisionTypes=["UPDATE"]) if one["id"] == saved["a"]["id"]]
    assert [one["newValue"] for one in changed] == [{"tittel": "after"}]
    ours = {str(one["modifiedByUserId"]) for one in changed}
    left = {str(one["modifiedByUserId"]) for one in entries(archive, notByUserIds=sorted(ours))}
    assert left.isdisjoint(ours)
    assert {str(one["modifiedByUserId"]) for one in entries(archive)} == left | ours


def test_who_may_not_see_everything_sees_nothing(archive: Archive) -> None:
    stranger = archive.add_client("stranger-to-the-log", "nobody")
    assert stranger.call("POST", PATH, {}).status == 403


@pytest.mark.parametrize("body", [{"limit": 0}, {"limit": 5001}, {"revisionTypes": "UPDATE"}, {"notByUserIds": [1]}])
def test_a_body_that_means_nothing_is_refused(archive: Archive, body: dict[str, object]) -> None:
    assert archive.wire.call("POST", PATH, body).status == 400
