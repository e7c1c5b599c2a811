"""A catalogue holds what its place holds, whole, and answers from its own file."""

from __future__ import annotations

import io
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.port import Change, CustodyStep, Document, Item, PlaceIdentity
from noarkit.catalogue.store import catalogue_path, is_current, write_catalogue
from noarkit.catalogue.veil import holds_identity_number, veil_of
from noarkit.errors import JournalFault, UsageFault
from noarkit.events import Event, Listener, ignore_event
from noarkit.records import ContentStream


class _Bytes(io.BytesIO):
    def still_the_same(self) -> bool:
        return True


class Shelf:
    """A small place of a fonds, a case and a letter."""

    identity = PlaceIdentity("files", "shelf", "/shelf", "1")

    def items(self, emit: Listener) -> Iterator[Item]:
        yield Item("f", None, "Arkiv", "Municipality", fields={"merknad": [{"merknadstekst": "gravemaskin"}]})
        yield Item("c", "f", "Saksmappe", "Road to the lake", "2011/1042", "2011-03-04", "Avsluttet", screened=True)
        letter = Document(
            "l#1", "Letter", "letter.pdf", sha256="ab" * 32, locator="letter", custody=(CustodyStep("read", "2020"),)
        )
        yield Item(
            *("l", "c", "Journalpost", "Answer to the neighbour", "2011/1042-3", "2011-03-05"),
            fields={"tittel": "Answer to the neighbour", "merknad": [{"merknadstekst": "gravemaskin"}]},
            links=(("refKlasse", "gone"), ("refMappe", "c")),
            documents=(letter,),
            history=(Change("2012", "anne", "tittel", "Answer", "Answer to the neighbour"),),
        )

    @contextmanager
    def open(self, locator: str) -> Iterator[ContentStream]:
        yield _Bytes(locator.encode())

    def close(self) -> None: ...


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Catalogue]:
    """The catalogue of that place."""
    path = catalogue_path(tmp_path / "shelf")
    place = Shelf()
    write_catalogue(path, place.identity, place.items(ignore_event))
    with Catalogue(path, place) as catalogue:
        yield catalogue


def test_the_tree_is_walked_from_the_top(shelf: Catalogue) -> None:
    (fonds,) = shelf.children()
    (case,) = shelf.children(fonds.ref)
    assert (fonds.children, case.ident, case.documents) == (1, "2011/1042", 0)
    assert [entry.ref for entry in shelf.ancestors("l")] == ["f", "c"]


def test_siblings_are_paged_both_ways_and_by_year(tmp_path: Path) -> None:
    def items() -> Iterator[Item]:
        yield Item("s", None, "Arkivdel", "Series")
        for number in range(10):
            yield Item(f"c{number}", "s", "Saksmappe", "", f"{number}", f"{2000 + number // 4}-01-01")

    path = tmp_path / "c.db"
    write_catalogue(path, Shelf.identity, items())
    with Catalogue(path, Shelf()) as catalogue:
        first = catalogue.children("s", limit=4)
        after = catalogue.children("s", after=first[-1].n, limit=4)
        assert catalogue.children_before("s", after[0].n, limit=4) == first
        assert [entry.ref for entry in catalogue.children_before("s", after[0].n, limit=2)] == ["c2", "c3"]
        assert catalogue.years_in("s") == [2000, 2001, 2002]
        assert [entry.ref for entry in catalogue.children("s", year=2002)] == ["c8", "c9"]
        assert [entry.ref for entry in catalogue.children_before("s", 11, limit=1, year=2002)] == ["c8"]
        assert [entry.ref for entry in catalogue.find_ident("7")] == ["c7"]


def test_the_numbers_of_a_place_are_counted_while_it_is_read(shelf: Catalogue) -> None:
    summary = shelf.summary()
    assert (summary.documents, summary.without_file, summary.screened, summary.years) == (1, 0, 2, {"2011": 2})


def test_a_card_has_fields_documents_history_and_links_both_ways(shelf: Catalogue) -> None:
    card = shelf.card("l")
    assert card.fields["merknad"] == [{"merknadstekst": "gravemaskin"}]
    assert [(link.name, link.entry is None) for link in card.links] == [("refKlasse", True), ("refMappe", False)]
    assert [link.ref for link in shelf.card("c").links_here] == ["l"]
    assert card.documents[0].custody == (CustodyStep("read", "2020"),)
    assert card.history[0].actor == "anne"


def test_what_lies_below_a_screened_item_is_screened(shelf: Catalogue) -> None:
    assert [shelf.entry(ref).screened for ref in ("f", "c", "l")] == [False, True, True]


def test_words_deep_in_the_fields_are_found(shelf: Catalogue) -> None:
    assert [entry.ref for entry in shelf.find_words("grave*")] == ["f"]


def test_a_document_is_opened_in_its_place(shelf: Catalogue) -> None:
    document, item = shelf.document("l#1")
    with shelf.open(document) as stream:
        assert (stream.read(), item.ref) == (b"letter", "l")


def test_a_veil_leads_to_every_item_that_is_there_and_to_nothing_else(shelf: Catalogue) -> None:
    assert [shelf.unveil(veil_of(ref)) for ref in ("c", "l", "l#1", "f")] == ["c", "l", "l#1", "f"]
    with pytest.raises(UsageFault):
        shelf.unveil(veil_of("nowhere"))


@pytest.mark.parametrize("name", ["01010150074", "a 010101 50074.txt", "010101-50074", "x01010150074y", "010101.50074"])
def test_a_ref_with_an_identity_number_has_a_veil(name: str, tmp_path: Path) -> None:
    """What an address veils, the catalogue can unveil: both judge a ref alike."""
    assert holds_identity_number(name)
    write_catalogue(tmp_path / "c.db", Shelf.identity, [Item(name, None, "file", "x"), Item("b", None, "file", "y")])
    with Catalogue(tmp_path / "c.db", Shelf()) as catalogue:
        assert catalogue.unveil(veil_of(name)) == name


def test_an_unknown_ref_is_a_usage_fault(shelf: Catalogue) -> None:
    with pytest.raises(UsageFault):
        shelf.card("../../etc/passwd")


def test_a_catalogue_is_its_owners_alone_and_knows_when_it_is_old(shelf: Catalogue) -> None:
    assert stat.S_IMODE(shelf.path.stat().st_mode) == 0o600
    assert is_current(shelf.path, Shelf.identity)
    assert not is_current(shelf.path, PlaceIdentity("files", "shelf", "/shelf", "2"))


def test_a_reading_that_breaks_off_leaves_no_catalogue(tmp_path: Path) -> None:
    def broken() -> Iterator[Item]:
        yield Item("a", None, "Arkiv", "")
        raise UsageFault(what="bad-value")

    with pytest.raises(UsageFault):
        write_catalogue(tmp_path / "c.db", Shelf.identity, broken())
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(JournalFault):
        Catalogue(tmp_path / "c.db", Shelf())


def test_progress_is_told(tmp_path: Path) -> None:
    events: list[Event] = []
    write_catalogue(tmp_path / "c.db", Shelf.identity, Shelf().items(ignore_event), events.append)
    assert [event.data for event in events] == [{"items": 3}]


def test_an_item_that_everything_links_to_is_shown_at_once(tmp_path: Path) -> None:
    def items() -> Iterator[Item]:
        yield Item("hub", None, "arkivdel", "Series")
        for number in range(30_000):
            yield Item(f"r{number}", "hub", "registrering", "", links=(("referanseArkivdel", "hub"),))

    path = tmp_path / "c.db"
    write_catalogue(path, Shelf.identity, items())
    with Catalogue(path, Shelf()) as catalogue:
        assert [link.ref for link in catalogue.card("hub").links_here[:2]] == ["r0", "r1"]
        with closing(sqlite3.connect(path)) as db:
            plan = db.execute(
                "EXPLAIN QUERY PLAN SELECT name, item FROM link WHERE ref = ? ORDER BY item LIMIT 1", ("hub",)
            ).fetchall()
    assert [row[3] for row in plan] == ["SEARCH link USING INDEX link_ref (ref=?)"]
