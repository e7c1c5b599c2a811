"""Every request beyond the published interface is optional: whatever an archive answers to it, each journey goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import cycle
from pathlib import Path

import pytest

from noarkit.archive.administration import Administration
from noarkit.archive.http import connect
from noarkit.archive.optional import answer_or, has_any, has_field, is_newer
from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.retry import RetryClock, RetryingArchive
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.token import Credentials
from noarkit.archive.values import Query
from noarkit.catalogue.places.archive_fetch import last_revision
from noarkit.errors import ArchiveFault
from noarkit.extraction.account import read_account_rights
from noarkit.model import metamodel
from noarkit.secrets import Secret
from tests.strict_archive.conftest import ACCOUNT, Strict
from tests.strict_archive.test_journey import load, share

__all__ = ["share"]
STATUSES = (400, 403, 404, 405, 500)
ADDRESSES = {"GET info/me", "POST logs/change-log/export", "POST logs/change-log/import"}
NEWER_TYPES = {"query Posisjon", "query PersonIdentifikator"}


def _import(archive: Archive) -> int | None:
    return answer_or(None, lambda: Administration(archive).import_changes([{"id": "1"}]), own_address=True)


ASK: dict[str, tuple[Callable[[Archive], object], object]] = {
    "the account": (lambda archive: read_account_rights(Administration(archive), "me").account, "me"),
    "all changes": (
        lambda archive: list(Administration(archive).changes_of_all(lambda: ["1"], kinds=("UPDATE",), not_by=())),
        [],
    ),
    "the last change": (last_revision, None),
    "changes to keep": (_import, None),
    "positions": (lambda archive: list(objects(archive, Query("Posisjon", order=(("id", "asc"),)))), []),
    "persons": (lambda archive: list(objects(archive, Query("PersonIdentifikator"))), []),
    "any position": (lambda archive: has_any(archive, [Query("Posisjon", limit=1)], "refMappe"), False),
    "parts of parties": (lambda archive: has_any(archive, [Query("EksternId", limit=1)], "refSakspart"), False),
    "the end of a series": (lambda archive: has_field(archive, "Arkivdel", "avsluttetDato"), False),
}


@pytest.fixture
def client(strict: Strict) -> Iterator[Archive]:
    """A session with the strict archive that waits for nothing."""
    settings = ArchiveSettings(strict.url, Credentials(ACCOUNT.id, Secret(ACCOUNT.secret)))
    with closing(RetryingArchive(connect(settings), outside=RetryClock(sleep=lambda _: None))) as archive:
        yield archive


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("asked", ASK)
def test_whatever_is_answered_to_an_optional_request_it_is_not_offered(
    asked: str, status: int, strict: Strict, client: Archive
) -> None:
    ask, expected = ASK[asked]
    is_of_all = asked in ("all changes", "the account")
    strict.archive.refuse = lambda method, name, body: (
        None if is_of_all and f"{method} {name}" not in ADDRESSES else status
    )
    assert ask(client) == expected
    assert len(strict.archive.requests) <= 6  # a token, and no question more often than twice


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("asked", ["the account", "all changes", "the last change", "changes to keep"])
def test_a_server_may_have_its_own_page_for_an_address_that_it_does_not_know(
    asked: str, status: int, strict: Strict, client: Archive
) -> None:
    ask, expected = ASK[asked]
    strict.archive.refuses_with_page = True
    strict.archive.refuse = lambda method, name, body: status if f"{method} {name}" in ADDRESSES else None
    assert ask(client) == expected


def test_a_published_request_is_not_optional(strict: Strict, client: Archive) -> None:
    for status in (403, 500):
        strict.archive.refuse = lambda method, name, body, status=status: status  # type: ignore[misc]  # of this turn
        for kind in ("Merknad", "EksternId"):
            with pytest.raises(ArchiveFault):
                has_any(client, [Query(kind, limit=1)], "refMappe")
    assert has_field(client, "Arkiv", "avsluttetDato")


def _is_beyond(method: str, name: str, body: object) -> str | None:
    if name != "query" or not isinstance(body, dict):
        return f"{method} {name}" if f"{method} {name}" in ADDRESSES else None
    kind, text = str(body["type"]), json.dumps([body.get("query"), body.get("sortOrder")])
    fields = [field for each in metamodel().concrete(kind) for field in metamodel().types[each].fields.values()]
    has_newer = any(field.newer and f"{field.name} " in text for field in fields)
    return f"query {kind}" if is_newer(kind) or has_newer else None


@pytest.mark.usefixtures("share")
def test_the_journeys_need_nothing_that_is_not_published(strict: Strict) -> None:
    statuses, met = cycle(STATUSES), set[str]()

    def refuse(method: str, name: str, body: object) -> int | None:
        asked = _is_beyond(method, name, body)
        if asked is None:
            return None
        met.add(asked)
        return next(statuses)

    strict.archive.refuse = refuse
    load(strict)
    assert strict.noarkit("verify", "run", "--depth", "bytes") == 0, strict.out + strict.err
    assert strict.noarkit("extract", "-o", "package", "--as", "noark5") in (0, 3), strict.err
    assert strict.noarkit("ls", strict.url) == 0, strict.err
    assert strict.noarkit("ingest", "package", "-o", "second", "--workers", 0) in (0, 3), strict.err
    assert Path("second").is_dir()
    assert met >= {"GET info/me", "POST logs/change-log/export", "query Arkivdel"} | NEWER_TYPES
