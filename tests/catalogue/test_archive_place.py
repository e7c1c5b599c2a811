"""An archive over real sockets shows all that the account may read, as its own answers say."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import noarkit
from noarkit.api.browsing import open_catalogue
from noarkit.archive.administration import Administration
from noarkit.archive.paging import objects
from noarkit.archive.registers import ListedCode
from noarkit.archive.values import Page, Query, Save
from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.naming import find_item
from noarkit.catalogue.places.archive import ArchivePlace
from noarkit.catalogue.store import is_current, write_catalogue
from noarkit.errors import ChecksumDiffers, UsageFault
from noarkit.events import ignore_event
from tests.catalogue.looking import every_entry
from tests.extraction.rich import fill
from tests.extraction.world import World, session, uuid, world

ITEMS = {
    *("Arkiv", "Arkivdel", "Klassifikasjonssystem", "Klasse", "Mappe", "Saksmappe", "Moetemappe"),
    *("Basisregistrering", "Journalpost", "Moeteregistrering", "Arkivnotat"),
}
PARTS = {
    *("Arkivskaper", "Sakspart", "Korrespondansepart", "Avskrivning", "Dokumentflyt", "Noekkelord", "Merknad"),
    *("Moetedeltaker", "Presedens", "Bygning", "Eiendom", "Plan", "Adresse", "EksternId", "Foedselsnummer"),
}


def place_of(rich: World, now_s: Callable[[], float] = lambda: 0.0, archive: object = None) -> ArchivePlace:
    """The archive as a place; its connection is the test's own."""
    return ArchivePlace(archive or rich.archive, "http://archive", now_s, lambda: None)  # type: ignore[arg-type]  # any session


@contextmanager
def catalogued(place: ArchivePlace, path: Path) -> Iterator[Catalogue]:
    """The catalogue of an archive."""
    write_catalogue(path, place.identity, place.items(ignore_event))
    with Catalogue(path, place) as catalogue:
        yield catalogue


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """An archive with something of every kind."""
    with world(tmp_path_factory.mktemp("rich")) as made:
        fill(made.archive)
        yield made


@pytest.fixture(scope="module")
def catalogue(rich: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalogue]:
    """Its catalogue."""
    with catalogued(place_of(rich), tmp_path_factory.mktemp("catalogue") / "c.db") as opened:
        yield opened


def test_every_object_of_the_structure_is_an_item_with_its_uuid(rich: World, catalogue: Catalogue) -> None:
    shown = {entry.ref: entry.type for entry in every_entry(catalogue)}
    stored = {
        str(found.fields["uuid"]): found.type
        for kind in ITEMS
        for found in objects(rich.archive, Query(kind))
        if found.fields.get("tittel") != "noarkit: run guards (not part of any series)"
    }
    assert len(stored) > 15
    assert shown == stored


def test_every_document_version_is_a_document_of_its_record(rich: World, catalogue: Catalogue) -> None:
    shown = {document.ref for entry in every_entry(catalogue) for document in catalogue.card(entry.ref).documents}
    stored = {str(found.fields["uuid"]) for found in objects(rich.archive, Query("Dokumentversjon"))}
    assert stored <= shown


def test_what_is_no_item_is_nested_in_what_it_belongs_to(rich: World, catalogue: Catalogue) -> None:
    with closing(sqlite3.connect(catalogue.path)) as db:
        fields = "\n".join(
            row[0] for row in db.execute("SELECT fields FROM item UNION ALL SELECT fields FROM document")
        )
    parts = [found for kind in PARTS for found in objects(rich.archive, Query(kind))]
    assert len({found.type for found in parts}) > 8
    unshown = [found for found in parts if str(found.fields["uuid"]) not in fields]
    assert [found.fields["eksterntSystem"] for found in unshown] == ["noarkit:chunk"]  # a mark of a load of ours


def test_the_tree_goes_from_fonds_to_record_by_way_of_the_class(catalogue: Catalogue) -> None:
    above = [entry.type for entry in catalogue.ancestors(uuid(20))]
    assert above == ["Arkiv", "Arkivdel", "Klassifikasjonssystem", "Klasse", "Klasse", "Saksmappe"]
    assert catalogue.entry(uuid(10)).klass == "21"


def test_codes_are_told_by_name(rich: World, catalogue: Catalogue) -> None:
    names = {
        code.code: code.name
        for listed in Administration(rich.archive).code_lists("Journalpost", "journalposttype")
        for code in listed.values
    }
    stored = next(iter(objects(rich.archive, Query("Journalpost", "uuid = @u", {"@u": uuid(21)}))))
    assert catalogue.card(uuid(21)).fields["journalposttype"] == names[str(stored.fields["journalposttype"])] != "U"


def test_what_is_screened_is_known_as_that_with_all_that_lies_in_it(catalogue: Catalogue) -> None:
    assert [catalogue.entry(uuid(number)).screened for number in (10, 20, 11, 22)] == [False, False, True, True]


def test_a_change_of_a_field_is_history_and_a_change_of_a_part_too(catalogue: Catalogue) -> None:
    changes = {(change.field, change.after) for change in catalogue.card(uuid(10)).history}
    assert ("saksansvarlig", "Ola & Per") in changes
    of_part = [change for change in catalogue.card(uuid(20)).history if change.field.startswith("Korrespondansepart.")]
    assert [change.after for change in of_part] == ["Fra p1, rettet"]


@pytest.mark.parametrize(
    ("source", "name", "target"),
    [
        (20, "refKryssreferanseTilRegistrering", 22),
        (20, "refKryssreferanseTilMappe", 11),
        (20, "refTilknyttetJournalpost", 21),
        (10, "refSekundaerKlasse", 6),
        (10, "refPrimaerKlasse", 5),
    ],
)
def test_links_lead_both_ways(catalogue: Catalogue, source: int, name: str, target: int) -> None:
    links = {(link.name, link.ref) for link in catalogue.card(uuid(source)).links if link.entry is not None}
    assert (name, uuid(target)) in links
    assert (name, uuid(source)) in {(link.name, link.ref) for link in catalogue.card(uuid(target)).links_here}


def test_a_precedent_is_told_by_the_case_and_by_the_entry_that_have_it(catalogue: Catalogue) -> None:
    for number in (10, 20):
        precedents = catalogue.card(uuid(number)).fields["presedens"]
        assert isinstance(precedents, list)
        assert [entry["title"] for entry in precedents if isinstance(entry, dict)] == ["Prinsipp"]


def test_what_belongs_to_nothing_stands_at_the_top(rich: World, tmp_path: Path) -> None:
    with catalogued(place_of(rich, archive=WithoutFolders(rich.archive)), tmp_path / "c.db") as opened:
        loose = {entry.type for entry in opened.children()}
    assert {"Journalpost", "Sakspart", "Noekkelord"} <= loose


def test_the_bytes_of_a_document_come_through_the_port_with_their_checksum(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    (document,) = [one for one in catalogue.card(uuid(20)).documents if one.size_bytes == len(b"one")]
    fetched = noarkit.get(catalogue, document.ref, tmp_path / "one")
    assert (tmp_path / "one").read_bytes() == b"one"
    assert fetched.sha256 == hashlib.sha256(b"one").hexdigest() == document.custody[0].sha256
    assert fetched.is_checked


def test_a_file_that_is_not_what_the_archive_says_is_not_handed_out(
    rich: World, catalogue: Catalogue, tmp_path: Path
) -> None:
    (document,) = [one for one in catalogue.card(uuid(20)).documents if one.size_bytes == len(b"two & three")]
    stored = next(
        path
        for path in (rich.live.data_dir / "files").rglob("*")
        if path.is_file() and path.read_bytes() == b"two & three"
    )
    stored.chmod(0o600)
    stored.write_bytes(b"two & thre!")
    try:
        with pytest.raises(ChecksumDiffers):
            noarkit.get(catalogue, document.ref, tmp_path / "two")
    finally:
        stored.write_bytes(b"two & three")
    assert list(tmp_path.iterdir()) == []


def test_a_name_of_several_items_is_told_with_their_refs(tmp_path: Path) -> None:
    (tmp_path / "source" / "Sak").mkdir(parents=True)
    (tmp_path / "source" / "Sak" / "brev.txt").write_text("brev", "utf-8")
    noarkit.plan(tmp_path / "source", tmp_path / "run")
    noarkit.ingest(tmp_path / "run", archive=f"embedded:{tmp_path / 'archive'}", workers=0)
    with open_catalogue(f"embedded:{tmp_path / 'archive'}") as opened:
        same = [entry for entry in every_entry(opened) if entry.ident.endswith("/1")]
        assert len(same) == 2
        with pytest.raises(UsageFault) as told:
            find_item(opened, same[0].ident)
        assert told.value.data["what"] == "ambiguous-item"
        assert all(entry.ref in str(told.value.data["do"]) for entry in same)
        assert find_item(opened, "Sak/brev.txt").title == "brev.txt"
        assert find_item(opened, same[0].ref).ref == same[0].ref


def test_a_journal_entry_is_found_by_the_number_of_its_case_and_its_own(rich: World, catalogue: Catalogue) -> None:
    case = catalogue.entry(uuid(10))
    stored = next(iter(objects(rich.archive, Query("Journalpost", "uuid = @u", {"@u": uuid(21)}))))
    assert find_item(catalogue, f"{case.ident}-{stored.fields['journalpostnummer']}").ref == uuid(21)
    assert find_item(catalogue, stored.id).ref == uuid(21)


def test_the_catalogue_is_old_once_something_was_changed_and_not_before(tmp_path: Path) -> None:
    with world(tmp_path / "archive") as made:
        fill(made.archive)
        place, path = place_of(made), tmp_path / "c.db"
        write_catalogue(path, place.identity, place.items(ignore_event))
        assert is_current(path, place_of(made, lambda: 1e9).identity)
        found = next(iter(objects(made.archive, Query("Arkivdel"))))
        made.archive.transaction([Save("Arkivdel", found.id, {"beskrivelse": "noe nytt"})])
        assert not is_current(path, place_of(made).identity)
        write_catalogue(path, place.identity, place_of(made).items(ignore_event))
        Administration(made.archive).put_code("administrativEnhet", ListedCode("NY", "Ny enhet"))
        assert not is_current(path, place_of(made).identity)


def test_an_account_that_may_not_read_the_log_sees_all_but_the_history(rich: World, tmp_path: Path) -> None:
    clients = rich.live.data_dir / "clients.toml"
    text = clients.read_text("utf-8")
    assert "[clients.integration]" in text
    with (
        session(rich.live, "integration") as archive,
        catalogued(place_of(rich, archive=archive), tmp_path / "c.db") as opened,
    ):
        assert opened.entry(uuid(20)).title


def test_an_archive_without_its_log_as_a_whole_is_read_again_after_an_hour(rich: World, tmp_path: Path) -> None:
    place = place_of(rich, archive=WithoutExport(rich.archive))
    with catalogued(place, tmp_path / "c.db") as opened:
        assert ("saksansvarlig", "Ola & Per") in {(c.field, c.after) for c in opened.card(uuid(10)).history}
    assert is_current(tmp_path / "c.db", place_of(rich, lambda: 3_599.0, WithoutExport(rich.archive)).identity)
    assert not is_current(tmp_path / "c.db", place_of(rich, lambda: 3_601.0, WithoutExport(rich.archive)).identity)


class WithoutExport:
    """An archive of others: the same port, without the call that is ours alone."""

    def __init__(self, inner: object) -> None:
        self._inner = inner

    def call(self, call: object) -> object:
        """Knows no export of the change log."""
        from noarkit.errors import ArchiveNotFound

        if "export" in call.path:  # type: ignore[attr-defined]  # a Call
            raise ArchiveNotFound(call="exported_changes")
        return self._inner.call(call)  # type: ignore[attr-defined]  # the port

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)


class WithoutFolders:
    """An archive whose folders the account may not read: it finds none."""

    def __init__(self, inner: object) -> None:
        self._inner = inner

    def query(self, query: Query) -> object:
        """The page, empty for folders."""
        page = self._inner.query(query)  # type: ignore[attr-defined]  # the port
        return Page((), has_more=False) if query.type == "AbstraktMappe" else page

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)
