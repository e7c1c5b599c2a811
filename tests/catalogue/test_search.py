"""A search finds what its text means, in pages, with the words in context; no text is a fault, and nothing leaks."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.naming import find_item
from noarkit.catalogue.port import Document, Item, PlaceIdentity
from noarkit.catalogue.search import SearchPage, SearchQuery
from noarkit.catalogue.store import catalogue_path, write_catalogue
from noarkit.errors import UsageFault
from noarkit.events import Listener, ignore_event
from noarkit.records import ContentStream

SECRET = "Hemmelig adresse for vitnet"


class _Bytes(io.BytesIO):
    def still_the_same(self) -> bool:
        return True


class Office:
    """A place of a fonds with cases, letters and one that is screened."""

    identity = PlaceIdentity("extract", "office", "/office", "1")

    def items(self, emit: Listener) -> Iterator[Item]:
        yield Item("f", None, "Arkiv", "Lillevik kommune")
        yield Item("c1", "f", "Saksmappe", "Byggesak Åsen 4", "2011/1042", "2011-03-04", "Avsluttet", "L12")
        yield Item(
            *("j1", "c1", "Journalpost", "Svar til nabo om garasje", "2011/1042-3", "2011-03-05", "Journalført", "L12"),
            fields={"tittel": "Svar til nabo om garasje", "merknad": [{"merknadstekst": "Gravemaskin ved\nÅsen"}]},
            documents=(Document("j1#1", "Svar", "svar.pdf", media_type="application/pdf", puid="fmt/95"),),
        )
        yield Item("c2", "f", "Saksmappe", "Skolevei", "2003/7", "2003-09-01", "Utgår", "B4", fault="F201")
        yield Item(
            *("j2", "c2", "Journalpost", "Brev om bygging av skole", "2003/7-1", "2003-09-02", "Journalført", "B4"),
            documents=(Document("j2#1", "Brev", "brev.docx"),),
        )
        yield Item("c3", "f", "Saksmappe", SECRET, "2011/9", "2011-05-01", "Avsluttet", "X", screened=True)
        yield Item(
            *("j3", "c3", "Journalpost", "Svar fra politiet", "2011/9-1", "2011-05-02", "", "Vitneprogram Øst"),
            fields={
                "a": SECRET,
                "offentligTittel": "Offentlig tittel",
                "skjerming": {"tilgangsrestriksjon": "UO", "skjermingMetadata": "sperret"},
                "korrespondansepart": [{"korrespondansepartNavn": "Navngitt Person"}],
                "virksomhetsspesifikkeMetadata": {"tilgangsrestriksjon": "beskyttet"},
                "eksternId": [{"eksterntSystem": "x", "eksternID": "4711-H"}],
            },
            documents=(Document("j3#1", "Sikkerhetssak", "sikkerhetssak.pdf"),),
        )

    @contextmanager
    def open(self, locator: str) -> Iterator[ContentStream]:
        yield _Bytes(locator.encode())

    def close(self) -> None: ...


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalogue]:
    """The catalogue of that place."""
    path: Path = catalogue_path(tmp_path_factory.mktemp("search") / "office")
    place = Office()
    write_catalogue(path, place.identity, place.items(ignore_event))
    with Catalogue(path, place) as catalogue:
        yield catalogue


def refs(page: SearchPage) -> list[str]:
    return sorted(hit.entry.ref for hit in page.hits)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bygg", ["c1", "j2"]),
        ('"bygg"', []),
        ("svar nabo", ["j1"]),
        ('"svar til nabo"', ["j1"]),
        ('"nabo til svar"', []),
        ('"svar til', ["j1"]),
        ("svar -nabo", []),
        ("-svar type:Journalpost", ["j2", "j3"]),
        ("nabo OR skolevei", ["c2", "j1"]),
        ("nabo ELLER skolevei åsen", ["j1"]),
        ("type:journalpost år:2011", ["j1", "j3"]),
        ("year:2000..2010", ["c2", "j2"]),
        ("year:2011..", ["c1", "c3", "j1", "j3"]),
        ("klasse:L12 bygg", ["c1"]),
        ("class:L*", ["c1", "j1"]),
        ("format:pdf", ["j1", "j3"]),
        ("format:fmt/95", ["j1"]),
        ("feil:F201", ["c2"]),
        ("screened:yes", ["c3", "j3"]),
        ("-skjermet:ja type:Saksmappe", ["c1", "c2"]),
        ("status:Utgår", ["c2"]),
        ("tittel:gravemaskin", []),
        ("gravemaskin", ["j1"]),
        ("2011/1042-3", ["j1"]),
        ("2011/1042", ["c1", "j1"]),
        ("year:oops", []),
        ("asen", []),
        ("ÅSEN", ["c1", "j1"]),
    ],
)
def test_a_text_finds_what_it_means(office: Catalogue, text: str, expected: list[str]) -> None:
    assert refs(office.search(SearchQuery(text))) == expected


def test_aa_is_taken_for_å_where_that_is_asked_for(office: Catalogue) -> None:
    assert refs(office.search(SearchQuery("aasen"))) == []
    assert refs(office.search(SearchQuery("aasen", fold=True))) == ["c1", "j1"]


def test_of_filters_with_one_name_one_is_enough(office: Catalogue) -> None:
    page = office.search(SearchQuery(filters=(("type", "Journalpost"), ("year", "2003"), ("year", "2011"))))
    assert refs(page) == ["j1", "j2", "j3"]


def test_a_word_in_the_title_weighs_more_than_one_elsewhere(office: Catalogue) -> None:
    assert [hit.entry.ref for hit in office.search(SearchQuery("åsen")).hits] == ["c1", "j1"]


def test_the_newest_stands_first_by_day(office: Catalogue) -> None:
    page = office.search(SearchQuery("type:Journalpost", order="day"))
    assert [hit.entry.ref for hit in page.hits] == ["j3", "j1", "j2"]


def test_words_stand_in_their_context_as_positions(office: Catalogue) -> None:
    (hit,) = office.search(SearchQuery("gravemaskin")).hits
    (context,) = hit.contexts
    assert (context.source, context.text) == ("merknadstekst", "Gravemaskin ved Åsen")
    assert [context.text[begin:end] for begin, end in context.marks] == ["Gravemaskin"]
    (hit,) = office.search(SearchQuery("byggesak")).hits
    assert [hit.entry.title[begin:end] for begin, end in hit.marks] == ["Byggesak"]


def test_hits_are_counted_by_every_filter(office: Catalogue) -> None:
    page = office.search(SearchQuery("type:Journalpost"))
    counts = {facet.name: {value.value: value.count for value in facet.values} for facet in page.facets}
    assert counts["type"] == {"Journalpost": 3}
    assert counts["year"] == {"2003": 1, "2011": 2}
    assert counts["format"] == {"pdf": 2, "docx": 1}
    assert counts["screened"] == {"no": 2, "yes": 1}
    assert [value.value for facet in page.facets for value in facet.values if value.is_chosen] == ["Journalpost"]


def test_pages_follow_each_other(office: Catalogue) -> None:
    pages = [office.search(SearchQuery(offset=offset, limit=3)) for offset in (0, 3, 6)]
    assert [len(page.hits) for page in pages] == [3, 3, 1]
    assert [page.has_more for page in pages] == [True, True, False]
    assert len({hit.entry.ref for page in pages for hit in page.hits}) == 7


@pytest.mark.parametrize(
    "text",
    [
        *("vitnet", "hemm*", '"adresse for vitnet"', "tittel:hemmelig", "politiet", "-svar politiet OR hemmelig"),
        *("sikkerhetssak", "navngitt", "sperret", "beskyttet", "4711-H", "class:Vitneprogram", "class:Vitne*"),
    ],
)
def test_no_word_of_what_is_screened_leads_to_it(office: Catalogue, text: str) -> None:
    page = office.search(SearchQuery(text))
    assert (refs(page), list(office.search_all(SearchQuery(text))), page.facets) == ([], [], ())


def test_what_a_masked_card_shows_leads_to_a_screened_item(office: Catalogue) -> None:
    for text in ("2011/9-1", "skjermet:ja 2011/9", "offentlig", "UO"):
        page = office.search(SearchQuery(text))
        assert "j3" in refs(page), text
        assert SECRET not in repr(page)
        assert all(not hit.contexts and not hit.marks for hit in page.hits)
    (classes,) = (facet for facet in office.search(SearchQuery("screened:yes")).facets if facet.name == "class")
    assert [value.value for value in classes.values] == ["X"]


def test_who_knows_the_whole_key_of_a_screened_item_is_led_to_it(office: Catalogue) -> None:
    assert find_item(office, "4711-H").ref == "j3"
    for name in ("4711", "4711-", "H"):
        with pytest.raises(UsageFault):
            find_item(office, name)


_TEXTS = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from(
            [
                *(
                    '"',
                    "-",
                    "OR",
                    "NOT",
                    "(",
                    ")",
                    "*",
                    ":",
                    "^",
                    "+",
                    "NEAR(",
                    "{title}",
                    "svar",
                    "a",
                    "vitnet",
                    "\0",
                    "𝟘",
                ),
                *(
                    "year:",
                    "year:2011",
                    "1..",
                    "type:",
                    "skjermet:ja",
                    "ⅷ",
                    "\ud800",
                    "å",
                    "AND",
                    "filters:zall",
                    "ñ",
                    "－",
                ),
            ]
        )
    ).map(" ".join),
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=_TEXTS, fold=st.booleans(), day=st.booleans())
@example(text='" OR filters : zall', fold=False, day=False)
@example(text="a" * 5000, fold=True, day=False)
@example(text="aa" * 400, fold=True, day=False)
@example(text=" ".join("ab" for _ in range(600)), fold=False, day=False)
@example(text="( " * 300, fold=False, day=False)
@example(text="x OR -y " * 30, fold=False, day=True)
def test_no_text_at_all_is_a_fault_or_shows_what_is_screened(
    office: Catalogue, text: str, fold: bool, day: bool
) -> None:
    query = SearchQuery(text, fold=fold, order="day" if day else "rank")
    page = office.search(query)
    shown = repr(page.hits) + repr(page.facets)
    assert not any(word in shown for word in ("Hemmelig", "vitnet", "politiet"))
    assert all(entry.title in ("*****", "Offentlig tittel") for entry in office.search_all(query) if entry.screened)
