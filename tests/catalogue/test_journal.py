"""The journal of a place: posts of a day by their numbers, and in public nothing of what is screened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lxml import etree

from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.journal import JournalEntry, JournalQuery
from noarkit.catalogue.places.extract import ExtractPlace
from noarkit.catalogue.port import Item, PlaceIdentity
from noarkit.events import Listener
from noarkit.reading_room.looks import Looks
from noarkit.records import ContentStream
from tests.catalogue.looking import catalogued

DAY = "2020-02-03"


def post(number: int, case: str, day: str = DAY, **more: object) -> Item:
    """A journal post from a neighbour."""
    fields = {
        "journalaar": "2020",
        "journalsekvensnummer": str(number),
        "journalpostnummer": "1",
        "journalposttype": "Inngående dokument",
        "dokumentetsDato": "2020-02-01",
        "korrespondansepart": {"korrespondanseparttype": "Avsender", "korrespondansepartNavn": "Kari Nordmann"},
        **more,
    }
    screened = bool(fields.pop("screened", False))
    return Item(f"p{number}", case, "journalpost", f"Secret {number}", day=day, screened=screened, fields=fields)  # type: ignore[arg-type]


class Office:
    """A place with an open case and a screened one."""

    identity = PlaceIdentity("files", "office", "/office", "1")

    def items(self, emit: Listener) -> Iterator[Item]:
        yield Item("open", None, "saksmappe", "A fence", "2020/1")
        yield Item("shut", None, "saksmappe", "A child", "2020/2", screened=True, fields={"offentligTittel": "A case"})
        yield post(10, "open")
        yield post(9, "open", screened=True)
        yield post(2, "shut", offentligTittel="A letter")
        yield post(1, "shut", day="2020-02-01")
        yield Item("note", "open", "registrering", "no post", day=DAY)

    @contextmanager
    def open(self, locator: str) -> Iterator[ContentStream]:
        raise NotImplementedError
        yield

    def close(self) -> None: ...


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Catalogue]:
    """The catalogue of that place."""
    with catalogued(Office(), tmp_path) as catalogue:
        yield catalogue


def pages(catalogue: Catalogue, day: str, limit: int = 2) -> Iterator[JournalEntry]:
    """Every post of a day, page by page."""
    after: int | None = 0
    while after is not None:
        page = catalogue.journal(JournalQuery(day, after=after, limit=limit))
        yield from page.entries
        after = page.after


def test_posts_of_a_day_come_by_their_numbers_page_by_page(office: Catalogue) -> None:
    assert [entry.number for entry in pages(office, DAY)] == ["2/2020", "9/2020", "10/2020"]


def test_the_last_day_is_shown_first_and_leads_to_the_days_around_it(office: Catalogue) -> None:
    page = office.journal()
    assert (page.day, page.posts, page.before, page.behind) == (DAY, 3, "2020-02-01", None)
    assert office.journal(JournalQuery("2020-02-01")).behind == DAY
    assert [(day.day, day.posts) for day in office.journal_days()] == [("2020-02-01", 1), (DAY, 3)]
    assert office.journal(JournalQuery("1999-01-01")).entries == ()


def test_the_running_journal_tells_everything(office: Catalogue) -> None:
    entry = next(entry for entry in pages(office, DAY) if entry.ref == "p9")
    assert entry.title == "Secret 9"
    assert entry.screened
    assert (entry.type, entry.document_number) == ("Inngående dokument", "2020/1-1")
    assert [correspondent.name for correspondent in entry.correspondents] == ["Kari Nordmann"]


def test_the_public_journal_tells_nothing_that_is_screened(office: Catalogue) -> None:
    entries = {entry.ref: entry for entry in office.journal(JournalQuery(DAY, public=True)).entries}
    assert entries["p10"].title == "Secret 10"
    assert entries["p9"].title is None
    assert entries["p2"].title == "A letter"
    assert entries["p2"].case is not None
    assert entries["p2"].case.title == "A case"
    for ref in ("p9", "p2"):
        assert [correspondent.name for correspondent in entries[ref].correspondents] == [None]
    assert "Kari" not in str([entries["p9"], entries["p2"]])


@pytest.mark.parametrize(
    "flags",
    [
        {"skjermKorrespondanseParterEInnsyn": "true"},
        {"skjermEInnsyn": "true"},
        {"korrespondansepart": [{"korrespondansepartNavn": "Kari Nordmann", "skjermEInnsyn": True}]},
        {"korrespondansepart": {"korrespondansepartNavn": "Kari Nordmann", "skjerming": {"tilgangsrestriksjon": "P"}}},
    ],
)
def test_the_public_journal_names_nobody_whom_the_card_masks(tmp_path: Path, flags: dict[str, object]) -> None:
    class Hiding(Office):
        def items(self, emit: Listener) -> Iterator[Item]:
            yield post(1, "open", **flags)  # type: ignore[arg-type]  # fields, no day

    with catalogued(Hiding(), tmp_path) as catalogue:
        (entry,) = catalogue.journal(JournalQuery(DAY, public=True)).entries
        assert [correspondent.name for correspondent in entry.correspondents] == [None]
        for public in (True, False):
            assert "Kari" not in str(Looks(catalogue).journal(JournalQuery(DAY, public=public)))


def test_a_post_that_is_hidden_from_the_public_has_no_title_in_the_public_journal(tmp_path: Path) -> None:
    class Hiding(Office):
        def items(self, emit: Listener) -> Iterator[Item]:
            yield post(1, "open", skjermEInnsyn="true")

    with catalogued(Hiding(), tmp_path) as catalogue:
        (entry,) = catalogue.journal(JournalQuery(DAY, public=True)).entries
        assert entry.title is None and entry.screened


def test_journals_of_published_extracts_have_as_many_posts_a_day_as_their_own(reference: Path, tmp_path: Path) -> None:
    judged = 0
    for journal in sorted((reference.parent / "samples" / "noark5").rglob("loependeJournal.xml")):
        structure = journal.with_name("arkivstruktur.xml")
        if not structure.is_file():
            continue
        kept = Counter(
            element.findtext("{*}journalpost/{*}journaldato")
            for element in etree.parse(journal).iter("{*}journalregistrering")
        )
        with catalogued(ExtractPlace(structure.parent), tmp_path) as catalogue:
            shown = {day.day: day.posts for day in catalogue.journal_days()}
        judged += shown == kept
        if shown != kept:
            print(journal, shown, kept)
    assert judged >= 3
