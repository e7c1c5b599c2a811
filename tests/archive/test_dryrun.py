"""Dry run: nothing is sent that changes anything, everything is checked and read, and what only asks is asked."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest

from noarkit.archive.administration import Administration
from noarkit.archive.dryrun import DryRunArchive
from noarkit.archive.registers import AccessGroup, ListedCode, OnObject, Permission
from noarkit.archive.values import Action, Delete, Link, Query, Save, SavedObject, Unlink, Upload, bytes_to_upload
from noarkit.errors import ArchiveRefused, ItemChanged
from tests.archive.fakes import FakeArchive


def test_a_transaction_is_answered_as_if_it_were_done() -> None:
    archive = FakeArchive()
    saved = DryRunArchive(archive).transaction(
        [
            Save("Mappe", "m", {"tittel": "A", "beskrivelse": None}),
            Link("Mappe", "m", "refArkivdel", ("7",)),
            Save("Basisregistrering", "r", {"tittel": "B"}),
            Link("Mappe", "m", "refRegistrering", ("r",)),
            Save("Mappe", "m", {"beskrivelse": "C"}),
            Save("Arkivdel", "7", {"tittel": "D"}),
        ]
    )
    folder, record = saved["m"], saved["r"]
    assert folder.id.isdigit()
    assert folder.id != record.id
    assert folder == SavedObject("Mappe", folder.id, "1", {"tittel": "A", "beskrivelse": "C"}, {"refArkivdel": "7"})
    assert record.links == {"refMappe": folder.id}
    assert saved["7"].id == "7"
    assert archive.asked == []


def test_made_up_ids_are_never_the_same() -> None:
    dry = DryRunArchive(FakeArchive())
    made = [dry.transaction([Save("Mappe", "m")])["m"].id for _ in range(3)]
    made.append(dry.upload(bytes_to_upload(b"x", "x")).id)
    assert len(set(made)) == 4


@pytest.mark.parametrize(
    ("action", "why", "field"),
    [
        (Save("Sak", "m"), "type", "Sak"),
        (Save("AbstraktMappe", "m"), "type", "AbstraktMappe"),
        (Save("Mappe", "m", {"tittl": "x"}), "field", "tittl"),
        (Save("Mappe", "m", {"refArkivdel": "7"}), "field", "refArkivdel"),
        (Save("Dokumentversjon", "m", {"sjekksum": "x"}), "not-writable", "sjekksum"),
        (Link("Mappe", "n", "refArkivdel", ("7",)), "temporary-id", "n"),
        (Link("Mappe", "8", "refArkivdel", ("n",)), "temporary-id", "n"),
        (Link("Mappe", "8", "refArkvdel", ("7",)), "reference", "refArkvdel"),
        (Link("Mappe", "8", "refArkivdel", ()), "targets", "refArkivdel"),
        (Link("Mappe", "8", "refArkivdel", ("7", "9")), "targets", "refArkivdel"),
        (Link("Mappe", "8", "refArkivdel", ("first",)), "target-type", "refArkivdel"),
        (Unlink("Sakspart", "8", "refMappe", ("7",)), "not-linkable", "refMappe"),
        (Delete("Mappe", "n"), "temporary-id", "n"),
    ],
)
def test_a_transaction_that_has_no_shape_is_refused_with_the_action(action: Action, why: str, field: str) -> None:
    with pytest.raises(ArchiveRefused) as caught:
        DryRunArchive(FakeArchive()).transaction([Save("Mappe", "first"), action])
    assert caught.value.data == {"call": "transaction", "action": 1, "field": field, "why": why}


def test_an_upload_is_read_and_hashed_and_not_sent() -> None:
    archive = FakeArchive()
    content = bytes(range(256)) * 5000
    uploaded = DryRunArchive(archive).upload(bytes_to_upload(content, "x"))
    assert (uploaded.sha256, uploaded.size_bytes) == (hashlib.sha256(content).hexdigest(), len(content))
    assert archive.asked == []


def test_an_upload_that_changed_is_found_out() -> None:
    with pytest.raises(ItemChanged):
        DryRunArchive(FakeArchive()).upload(Upload("x", lambda: io.BytesIO(b"12345"), 4))


def test_what_only_asks_is_asked() -> None:
    archive = FakeArchive(answers=[{"userId": "kari"}])
    dry = DryRunArchive(archive)
    dry.query(Query("Mappe"))
    dry.download("1", Path("a"))
    assert Administration(dry).me() == "kari"
    assert archive.asked == ["query", "download", "me"]
    dry.close()
    assert archive.closed


def test_no_change_of_the_registers_is_sent() -> None:
    archive = FakeArchive()
    office = Administration(DryRunArchive(archive))
    assert office.put_code("skjerming", ListedCode("U", "Unntatt", authority="§13")) == ListedCode(
        "U", "Unntatt", None, "§13"
    )
    group = office.add_access_group(AccessGroup("leser", ("lesere",), global_permissions=("Read",)))
    assert (group.name, group.global_permissions) == ("leser", ("Read",))
    permission = Permission(1, OnObject("Arkiv", "1"), ("Read",))
    assert office.add_permission(permission) == permission
    office.delete_code("skjerming", "U")
    office.bulk_delete("Mappe", "1")
    office.set_text("1", "tekst")
    office.delete_permission(OnObject("Arkiv", "1"))
    assert archive.asked == []
