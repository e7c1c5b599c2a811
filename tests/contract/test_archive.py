"""What every archive must do for its callers, whatever it is made of: each implementation passes the same tests.

The counterpart is the embedded archive on a real socket.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from noarkit.archive.administration import Administration
from noarkit.archive.http import connect
from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.query import all_of, any_of, between, differs, equals, like, select
from noarkit.archive.registers import BusinessField, BusinessGroup, FullTextQuery, ListedCode
from noarkit.archive.retry import RetryingArchive
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.token import Credentials
from noarkit.archive.values import (
    Action,
    Delete,
    Json,
    Link,
    Query,
    Save,
    Unlink,
    bytes_to_upload,
    file_to_upload,
    stream_to_upload,
)
from noarkit.errors import (
    ArchiveConflict,
    ArchiveNotFound,
    ArchiveRefused,
    ChecksumDiffers,
    ItemChanged,
    NotLetIn,
)
from noarkit.secrets import Secret
from tests.server.conftest import serving

IMPLEMENTATIONS: dict[str, Callable[[ArchiveSettings], Archive]] = {
    "http": connect,
    "retrying": lambda settings: RetryingArchive(connect(settings)),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ArchiveSettings]:
    """How to reach a live archive as its administrator."""
    with serving(tmp_path_factory.mktemp("archive")) as live:
        yield ArchiveSettings(live.ready.url, _credentials(live.data_dir, "admin"), live.ready.token_url)


@pytest.fixture(scope="module", params=list(IMPLEMENTATIONS))
def archive(request: pytest.FixtureRequest, served: ArchiveSettings) -> Iterator[Archive]:
    """Each implementation in turn."""
    made = IMPLEMENTATIONS[request.param](served)
    yield made
    made.close()


@pytest.fixture(scope="module")
def series(archive: Archive) -> str:
    """The id of an arkivdel to put things in."""
    saved = archive.transaction(
        [
            Save("Arkivskaper", "a", {"arkivskaperIdent": "1", "arkivskaperNavn": "Kommunen"}),
            Save("Arkiv", "b", {"tittel": "Arkiv"}),
            Link("Arkiv", "b", "refArkivskaper", ("a",)),
            Save("Arkivdel", "c", {"tittel": "Del"}),
            Link("Arkivdel", "c", "refArkiv", ("b",)),
        ]
    )
    return saved["c"].id


def test_what_is_saved_is_found_with_its_links(archive: Archive, series: str) -> None:
    title = _new()
    saved = archive.transaction(_folder(series, title))["m"]
    (found,) = archive.query(select("Mappe", equals("tittel", title))).objects
    assert (found.id, found.version, found.fields["tittel"]) == (saved.id, saved.version, title)
    assert found.links["refArkivdel"] == saved.links["refArkivdel"] == series


def test_a_transaction_is_all_or_nothing_and_names_what_is_wrong(archive: Archive, series: str) -> None:
    title = _new()
    with pytest.raises(ArchiveRefused) as caught:
        archive.transaction([*_folder(series, title), Save("Mappe", "n", {"tittl": "x"})])
    assert (caught.value.data["action"], caught.value.data["field"]) == (2, "tittl")
    assert archive.query(select("Mappe", equals("tittel", title))).objects == ()


def test_what_is_missing_at_the_end_is_refused(archive: Archive) -> None:
    with pytest.raises(ArchiveRefused) as caught:
        archive.transaction([Save("Mappe", "m", {"tittel": "A"})])
    assert caught.value.data["status"] == 400


def test_an_update_steps_the_version_and_a_stale_one_is_a_conflict(archive: Archive, series: str) -> None:
    first = archive.transaction(_folder(series, _new()))["m"]
    second = archive.transaction([Save("Mappe", first.id, {"beskrivelse": "B"}, first.version)])[first.id]
    assert second.version != first.version
    with pytest.raises(ArchiveConflict):
        archive.transaction([Save("Mappe", first.id, {"beskrivelse": "C"}, first.version)])
    (found,) = archive.query(select("Mappe", equals("id", first.id))).objects
    assert found.fields["beskrivelse"] == "B"


def test_a_field_given_as_none_is_cleared(archive: Archive, series: str) -> None:
    made = archive.transaction(_folder(series, _new(), beskrivelse="B"))["m"]
    cleared = archive.transaction([Save("Mappe", made.id, {"beskrivelse": None})])[made.id]
    assert "beskrivelse" not in cleared.fields


def test_things_are_moved_and_deleted(archive: Archive, series: str) -> None:
    first = archive.transaction(_folder(series, _new()))["m"].id
    second = archive.transaction(_folder(series, _new()))["m"].id
    record = archive.transaction(
        [Save("Basisregistrering", "r", {"tittel": _new()}), Link("Basisregistrering", "r", "refMappe", (first,))]
    )["r"].id
    archive.transaction(
        [
            Unlink("Basisregistrering", record, "refMappe", (first,)),
            Link("Basisregistrering", record, "refMappe", (second,)),
        ]
    )
    (found,) = archive.query(select("Basisregistrering", equals("id", record))).objects
    assert found.links["refMappe"] == second
    archive.transaction([Delete("Mappe", second)])
    assert archive.query(select("Basisregistrering", equals("id", record))).objects == ()


def test_what_is_not_there_is_not_found(archive: Archive, tmp_path: Path) -> None:
    with pytest.raises(ArchiveNotFound):
        archive.transaction([Save("Mappe", "987654321", {"tittel": "x"})])
    with pytest.raises(ArchiveNotFound):
        archive.download("987654321", tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_a_query_the_archive_cannot_follow_is_refused(archive: Archive) -> None:
    with pytest.raises(ArchiveRefused):
        archive.query(Query("Mappe", "tittel = @missing"))


@pytest.mark.parametrize("size", [0, 1, 70_000, 3_000_000])
def test_bytes_come_back_as_they_went(archive: Archive, series: str, size: int, tmp_path: Path) -> None:
    content = os.urandom(size)
    place = tmp_path / "Søknad «vei».pdf"
    place.write_bytes(content)
    uploaded = archive.upload(file_to_upload(place))
    version = archive.transaction(_document(series, uploaded.id))["v"]
    assert version.fields["sjekksum"] == uploaded.sha256 == hashlib.sha256(content).hexdigest()
    assert version.fields["filnavn"] == place.name
    found = archive.download(uploaded.id, tmp_path / "back", expected_sha256=uploaded.sha256)
    assert (found.size_bytes, found.name) == (size, place.name)
    assert (tmp_path / "back").read_bytes() == content


def test_a_stream_of_unknown_length_is_taken(archive: Archive, tmp_path: Path) -> None:
    content = os.urandom(2_500_000)
    (tmp_path / "in").write_bytes(content)
    with (tmp_path / "in").open("rb") as file:
        uploaded = archive.upload(stream_to_upload(_Unsized(file.read), "x.bin"))
    archive.download(uploaded.id, tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == content


def test_an_upload_broken_off_leaves_a_session_that_works(archive: Archive) -> None:
    with pytest.raises(ItemChanged):
        archive.upload(replace(bytes_to_upload(bytes(200_000), "x"), size_bytes=300_000))
    assert archive.upload(bytes_to_upload(b"x", "x")).size_bytes == 1


def test_another_file_than_expected_is_not_kept(archive: Archive, tmp_path: Path) -> None:
    uploaded = archive.upload(bytes_to_upload(b"x", "x"))
    with pytest.raises(ChecksumDiffers):
        archive.download(uploaded.id, tmp_path / "a", expected_sha256="0" * 64)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("order", ["id", "tittel"])
@pytest.mark.parametrize("prefetch", [False, True])
def test_all_pages_of_a_query_hold_every_object_once(archive: Archive, series: str, order: str, prefetch: bool) -> None:
    mark = _new()
    actions: list[Action] = []
    for number in range(23):
        name = f"m{number}"
        actions += [
            Save("Mappe", name, {"tittel": f"{number:03d}", "beskrivelse": mark}),
            Link("Mappe", name, "refArkivdel", (series,)),
        ]
    archive.transaction(actions)
    query = select("Mappe", equals("beskrivelse", mark), order=order, limit=5)
    titles = [found.fields["tittel"] for found in objects(archive, query, prefetch=prefetch)]
    assert titles == [f"{number:03d}" for number in range(23)]


def test_every_condition_means_what_it_says(archive: Archive, series: str) -> None:
    mark = _new()
    folder = archive.transaction(
        [
            *_folder(series, f"{mark} Vei_100%"),
            Save("Noekkelord", "k", {"verdi": "vei"}),
            Link("Noekkelord", "k", "refMappe", ("m",)),
            Save("Noekkelord", "l", {"verdi": "vann"}),
            Link("Noekkelord", "l", "refMappe", ("m",)),
        ]
    )["m"].id
    now, ours = datetime.now(UTC), like("tittel", f"{mark}%")
    holds = [
        like("tittel", f"{mark} Vei%"),
        equals("beskrivelse", None),
        differs("tittel", None),
        between("opprettetDato", now - timedelta(hours=1), None),
        equals("refArkivdel", series),
        all_of(equals("#a.verdi", "vei"), equals("#b.verdi", "vann")),
        any_of(equals("id", "1"), equals("refNoekkelord.verdi", "vann")),
    ]
    fails = [
        like("tittel", f"{mark} Vei?1%"),
        differs("beskrivelse", "x"),
        between("opprettetDato", None, now - timedelta(hours=1)),
        all_of(equals("refNoekkelord.verdi", "vei"), equals("refNoekkelord.verdi", "vann")),
    ]
    joins = {"#a": "refNoekkelord", "#b": "refNoekkelord"}
    for condition, found in [*((one, [folder]) for one in holds), *((one, []) for one in fails)]:
        page = archive.query(select("Mappe", all_of(ours, condition), joins=joins))
        assert [one.id for one in page.objects] == found, condition


def test_screened_titles_are_read(archive: Archive, series: str) -> None:
    office = Administration(archive)
    office.put_code("skjerming", ListedCode("UO", "Unntatt", authority="§13"))
    title = _new()
    made = archive.transaction(_folder(series, title, skjerming="UO"))["m"].id
    (found,) = archive.query(select("Mappe", equals("id", made))).objects
    assert found.fields["tittel"] == title


def test_dates_are_taken_and_given_as_dates(archive: Archive, series: str) -> None:
    made = archive.transaction(
        [
            Save("Basisregistrering", "r", {"tittel": "A", "registreringsDato": date(2024, 1, 2)}),
            Link("Basisregistrering", "r", "refArkivdel", (series,)),
        ]
    )["r"].id
    (found,) = archive.query(select("Basisregistrering", equals("id", made))).objects
    assert found.fields["registreringsDato"] == "2024-01-02"


def test_code_lists_and_business_metadata_are_kept(archive: Archive, series: str) -> None:
    office, name = Administration(archive), f"g{uuid.uuid4().hex}z"
    office.put_code("mappetype", ListedCode(name, f"Navn {name}/+", "om"))
    (codes,) = [one for one in office.code_lists(field="mappetype") if one.type == "Mappe"]
    assert ListedCode(name, f"Navn {name}/+", "om") in codes.values
    office.delete_code("mappetype", name)
    office.put_business_group(BusinessGroup(name, "Gruppe", "om"))
    colour = BusinessField(f"f{name}", "Farge", "string", None, ("blå", "rød"))
    office.put_business_field(name, colour)
    assert office.business_groups(name) == (BusinessGroup(name, "Gruppe", "om", (colour,)),)
    own = {name: {colour.id: {"values": ["blå"]}}}
    made = archive.transaction(_folder(series, _new(), virksomhetsspesifikkeMetadata=own))["m"]
    assert made.fields["virksomhetsspesifikkeMetadata"] == {name: {colour.id: {"type": "string", "values": ["blå"]}}}


def test_logs_tell_and_take_changes(archive: Archive, series: str) -> None:
    office = Administration(archive)
    made = archive.transaction(_folder(series, _new()))["m"].id
    assert {one["revisionType"] for one in office.all_changes(made)} >= {"CREATE"}
    change: dict[str, Json] = {
        "id": made,
        "revisionType": "UPDATE",
        "modifiedDate": "2001-02-03T04:05:06.000Z",
        "modifiedBy": "Kari",
        "modifiedField": "tittel",
        "oldValue": {"value": "før"},
        "newValue": {"value": "nå"},
    }
    assert office.import_changes([change]) == 1
    assert "Kari" in {one["modifiedBy"] for one in office.all_changes(made)}


def test_text_is_set_and_searched(archive: Archive, series: str) -> None:
    word = f"ord{uuid.uuid4().hex}"
    uploaded = archive.upload(bytes_to_upload(b"x", "x.txt"))
    version = archive.transaction(_document(series, uploaded.id))["v"].id
    office = Administration(archive)
    office.set_text(version, f"en tekst med {word} i")
    found = office.search(FullTextQuery("Tekst", word))
    assert found.total == 1
    assert any(word in text for texts in found.hits[0].highlights.values() for text in texts)


def test_it_says_who_we_are(archive: Archive) -> None:
    assert Administration(archive).me() == "admin"


def test_a_wrong_secret_is_not_let_in(served: ArchiveSettings) -> None:
    for implementation in IMPLEMENTATIONS.values():
        made = implementation(replace(served, credentials=Credentials("admin", Secret("wrong"))))
        with pytest.raises(NotLetIn) as caught:
            made.query(Query("Mappe"))
        assert caught.value.data["call"] == "token"
        made.close()


def test_basic_credentials_are_let_in_too(served: ArchiveSettings) -> None:
    made = connect(replace(served, credentials=replace(served.credentials, style="basic")))
    assert Administration(made).me() == "admin"
    made.close()


def _credentials(data_dir: Path, client_id: str) -> Credentials:
    clients = tomllib.loads((data_dir / "clients.toml").read_text("utf-8"))["clients"]
    return Credentials(client_id, Secret(clients[client_id]["secret"]))


def _folder(series: str, title: str, **fields: object) -> list[Action]:
    told: dict[str, str | dict[str, object] | None] = {"tittel": title}
    for name, value in fields.items():
        assert value is None or isinstance(value, str | dict)
        told[name] = value
    return [Save("Mappe", "m", told), Link("Mappe", "m", "refArkivdel", (series,))]


def _document(series: str, file_id: str) -> list[Action]:
    return [
        Save("Basisregistrering", "r", {"tittel": "A"}),
        Link("Basisregistrering", "r", "refArkivdel", (series,)),
        Save("Dokument", "d", {"tittel": "A", "tilknyttetRegistreringSom": "H"}),
        Link("Dokument", "d", "refRegistrering", ("r",)),
        Save("Dokumentversjon", "v", {"variantformat": "P", "format": "pdf", "referanseDokumentfil": file_id}),
        Link("Dokumentversjon", "v", "refDokument", ("d",)),
    ]


def _new() -> str:
    return uuid.uuid4().hex


class _Unsized:
    """A stream that only reads, so that nobody can ask how long it is."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes."""
        return self._read(size)
