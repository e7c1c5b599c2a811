"""Bulk close, open and delete: accepted at once, done soon, and not lost by a restart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.server.areas import open_service
from noarkit.server.bulk import run_next
from noarkit.server.service import Service
from tests.server.conftest import Archive, serving
from tests.server.wire import Wire, small_archive
from tests.waiting import came

SOON_S = 20.0  # by itself it looks every 30 s


def told(wire: Wire, type_name: str, object_id: str) -> dict[str, object] | None:
    """An object as a query tells it; None where it is not there."""
    asked = {"type": type_name, "limit": 1, "query": "id=@i", "parameters": {"@i": object_id}, "publicUse": False}
    results = wire.call("POST", "query", asked).json()["results"]
    assert isinstance(results, list)
    return results[0] if results else None


def field(wire: Wire, type_name: str, object_id: str, name: str) -> object:
    """A field of an object that is there."""
    found = told(wire, type_name, object_id)
    assert found is not None
    fields = found["fields"]
    assert isinstance(fields, dict)
    return fields.get(name)


def bulk(wire: Wire, kind: str, type_name: str, object_id: object, **more: object) -> int:
    return wire.call("POST", f"bulk/{kind}", {"type": type_name, "id": object_id} | more).status


def with_document(wire: Wire) -> dict[str, str]:
    return small_archive(wire, str(wire.upload(b"content").json()["id"]))


def test_a_fonds_is_closed_and_opened_with_all_below(archive: Archive) -> None:
    wire = archive.wire
    ids = with_document(wire)
    finals = (
        ("Arkiv", "@fonds", "arkivstatus", "A", "O"),
        ("Arkivdel", "@series", "arkivdelstatus", "P", "A"),
        ("Dokument", "@document1", "dokumentstatus", "F", "B"),
    )
    assert bulk(wire, "close", "Arkiv", ids["@fonds"]) == 202
    assert came(lambda: field(wire, "Arkiv", ids["@fonds"], "arkivstatus") == "A", SOON_S)
    for type_name, name, status, closed, _ in finals:
        assert field(wire, type_name, ids[name], status) == closed
    for type_name, name in (("Mappe", "@folder"), ("Basisregistrering", "@record")):
        assert field(wire, type_name, ids[name], "avsluttetAv") == "admin"
    assert bulk(wire, "open", "Arkiv", ids["@fonds"]) == 202
    assert came(lambda: field(wire, "Arkiv", ids["@fonds"], "arkivstatus") == "O", SOON_S)
    for type_name, name, status, _, opened in finals:
        assert field(wire, type_name, ids[name], status) == opened
    assert field(wire, "Mappe", ids["@folder"], "avsluttetDato") is None


def test_a_document_is_closed_by_the_name_the_wire_format_has_for_it(archive: Archive) -> None:
    ids = with_document(archive.wire)
    assert bulk(archive.wire, "close", "DokumentBeskrivelse", ids["@document1"]) == 202
    assert came(lambda: field(archive.wire, "Dokument", ids["@document1"], "dokumentstatus") == "F")


def test_a_folder_is_deleted_with_all_below_and_its_files(archive: Archive) -> None:
    wire = archive.wire
    file_id = str(wire.upload(b"to go").json()["id"])
    ids = small_archive(wire, file_id)
    assert bulk(wire, "delete", "AbstraktMappe", int(ids["@folder"])) == 202
    assert came(lambda: told(wire, "Mappe", ids["@folder"]) is None, SOON_S)
    assert told(wire, "Dokument", ids["@document1"]) is None
    assert told(wire, "Arkivdel", ids["@series"]) is not None
    assert wire.call("GET", f"download?id={file_id}").status == 404


def test_a_stale_version_is_409_and_nothing_is_queued(archive: Archive) -> None:
    wire = archive.wire
    ids = small_archive(wire)
    wire.saved({"action": "save", "type": "Mappe", "id": ids["@folder"], "fields": {"tittel": "Newer"}})
    newest = str((told(wire, "Mappe", ids["@folder"]) or {})["version"])
    assert bulk(wire, "delete", "Mappe", ids["@folder"], version=str(int(newest) - 1)) == 409
    assert told(wire, "Mappe", ids["@folder"]) is not None
    assert bulk(wire, "delete", "Mappe", ids["@folder"], version=newest) == 202


@pytest.mark.parametrize(
    ("kind", "type_name", "named", "status"),
    [
        ("close", "Arkiv", "999999999", 404),
        ("close", "Arkivdel", "@fonds", 404),
        ("delete", "Saksmappe", "@folder", 404),
        ("close", "Mappe", "@folder", 400),
        ("delete", "Dokument", "@fonds", 400),
        ("delete", "Nope", "@fonds", 400),
        ("open", "Arkiv", "abc", 400),
        ("open", "Arkiv", None, 400),
        ("open", "Arkiv", True, 400),
        ("open", "Arkiv", ["1"], 400),
        ("open", None, "@fonds", 400),
    ],
)
def test_what_is_wrong_is_said_at_once(
    archive: Archive, kind: str, type_name: object, named: object, status: int
) -> None:
    ids = small_archive(archive.wire)
    object_id = ids.get(named, named) if isinstance(named, str) else named
    assert bulk(archive.wire, kind, type_name, object_id) == status  # type: ignore[arg-type]  # wrong on purpose
    assert bulk(archive.wire, "delete", "Mappe", ids["@folder"], deleteObjectsLinkedToPrecedents="perhaps") == 400
    assert bulk(archive.wire, "delete", "Mappe", ids["@folder"], version="new") == 400


def test_who_may_not_delete_is_told_so_at_once(archive: Archive) -> None:
    reader = archive.add_client("bulk-reader", "bulk-readers")
    ids = small_archive(archive.wire)
    assert bulk(reader, "delete", "Mappe", ids["@folder"]) == 404
    group = {
        "name": "Bulk readers",
        "description": "x",
        "claims": ["bulk-readers"],
        "globalPermissions": ["ReadThis", "Read"],
        "servicePermissions": [],
    }
    assert archive.wire.call("POST", "access-group", group).status == 201
    for kind in ("delete", "close", "open"):
        assert bulk(reader, kind, "Arkivdel", ids["@series"]) == 403


def test_a_job_that_was_accepted_is_done_after_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as archive:
        ids = with_document(archive.wire)
    service = open_service(tmp_path)
    with service.db.transaction() as db:
        db.execute(
            "INSERT INTO bulk_job (kind, type, object_id, version, with_precedents, account, attempts, asked_ms)"
            " VALUES ('close', 'Arkiv', ?, NULL, 0, 'admin', 0, 0)",
            (ids["@fonds"],),
        )
    service.close()
    with serving(tmp_path) as archive:
        assert came(lambda: field(archive.wire, "Arkiv", ids["@fonds"], "arkivstatus") == "A", SOON_S)


def queue(service: Service, *jobs: tuple[str, str, int]) -> None:
    """Puts jobs of (kind, account, Arkiv) into the queue, as if they had been accepted."""
    with service.db.transaction() as db:
        db.executemany(
            "INSERT INTO bulk_job (kind, account, object_id, type, version, with_precedents, attempts, asked_ms)"
            " VALUES (?, ?, ?, 'Arkiv', NULL, 0, 0, 0)",
            jobs,
        )


def outcomes(service: Service) -> list[str]:
    with service.db.snapshot() as db:
        return [row[0] for row in db.execute("SELECT outcome FROM bulk_job ORDER BY number")]


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[tuple[Service, int]]:
    """An archive that nothing works in, and the id of its one Arkiv."""
    with serving(tmp_path) as archive:
        archive.add_client("reader", "readers")
        group = {"name": "R", "claims": ["readers"], "globalPermissions": ["ReadThis", "Read"]}
        assert archive.wire.call("POST", "access-group", group).status == 201
        fonds = small_archive(archive.wire)["@fonds"]
    service = open_service(tmp_path)
    yield service, int(fonds)
    service.close()


def test_a_job_that_cannot_be_done_does_not_stop_the_next(stopped: tuple[Service, int]) -> None:
    service, _ = stopped
    queue(service, ("close", "nobody", 4711), ("close", "admin", 4711), ("delete", "admin", 4711))
    assert [run_next(service) for _ in range(4)] == [True, True, True, False]
    first, *others = outcomes(service)
    assert first.startswith("403")
    assert others == ["done", "done"]


def test_a_job_needs_its_rights_still_when_its_turn_comes(stopped: tuple[Service, int]) -> None:
    service, fonds = stopped
    queue(service, ("delete", "reader", fonds), ("open", "reader", fonds), ("close", "admin", fonds))
    assert [run_next(service) for _ in range(4)] == [True, True, True, False]
    first, second, third = outcomes(service)
    assert (first, second, third) == (
        f"403: the permission Delete is missing for Arkiv {fonds}",
        f"403: the permission Update is missing for Arkiv {fonds}",
        "done",
    )
    with service.db.snapshot() as db:
        assert db.execute("SELECT arkivstatus FROM o_arkiv WHERE id = ?", (fonds,)).fetchone() == ("A",)


def test_a_job_that_the_database_refuses_is_tried_three_times_then_left(stopped: tuple[Service, int]) -> None:
    service, fonds = stopped
    with service.db.transaction() as db:
        db.execute("CREATE TRIGGER no BEFORE UPDATE ON o_arkiv BEGIN SELECT RAISE(ABORT, 'no'); END")
    queue(service, ("close", "admin", fonds), ("close", "admin", 4711))
    assert [run_next(service) for _ in range(5)] == [True, True, True, True, False]
    assert outcomes(service) == ["IntegrityError", "done"]


def test_jobs_wait_while_the_clients_cannot_be_read(stopped: tuple[Service, int], tmp_path: Path) -> None:
    service, fonds = stopped
    queue(service, ("close", "admin", fonds))
    path = tmp_path / "clients.toml"
    good = path.read_text("utf-8")
    path.write_text("no clients at all", "utf-8")
    assert run_next(service) is False
    path.write_text(good + "\n", "utf-8")
    assert run_next(service) is True
    assert outcomes(service) == ["done"]
