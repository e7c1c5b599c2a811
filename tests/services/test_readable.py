"""A record as a page that a person reads: names, no empty members, the same bytes for the same record."""

from __future__ import annotations

from decimal import Decimal

from noarkit.services.readable import readable_page, shorten

RECORD = {
    "supplier": {"id": "17", "name": "Fjord AS"},
    "amount": Decimal("1234.50"),
    "note": "to linjer\nhører sammen",
    "tags": [{"id": "1", "name": "Drift"}, {"id": "2", "name": "Ål"}],
    "lines": [{"account": "4000", "minors": 5}, {"account": "4100", "minors": 7}],
    "personal": False,
    "empty": None,
    "none": [],
}


def test_a_page_names_each_thing_and_leaves_out_what_says_nothing() -> None:
    page = readable_page("bilag", "Bilag fra Fjord AS", RECORD, {"supplier": "Leverandør"})
    assert (page.name, page.media_type, page.title) == ("bilag.txt", "text/plain", "Bilag fra Fjord AS")
    assert page.data.decode().splitlines() == [
        "Bilag fra Fjord AS",
        "==================",
        "",
        "Leverandør: Fjord AS",
        "amount: 1234.50",
        "note: to linjer",
        "    hører sammen",
        "tags: Drift, Ål",
        "lines:",
        "    1:",
        "        account: 4000",
        "        minors: 5",
        "    2:",
        "        account: 4100",
        "        minors: 7",
        "personal: nei",
    ]


def test_the_same_record_gives_the_same_bytes() -> None:
    assert readable_page("a", "A", RECORD).data == readable_page("a", "A", dict(RECORD)).data


def test_what_lies_too_deep_is_cut_and_no_text_breaks_a_page() -> None:
    deep: dict[str, object] = {"end": 1}
    for _ in range(100):
        deep = {"in": deep}
    page = readable_page("a", "A", {"deep": deep, "half": "\ud800"})
    assert b"\xe2\x80\xa6" in page.data
    assert b"\\ud800" in page.data


def test_a_long_title_is_cut_between_two_words_and_shows_it() -> None:
    assert shorten("  Kort \n tittel ", 80) == "Kort tittel"
    words = " ".join(["arkivverdig"] * 9)
    cut = shorten(words, 80)
    assert cut == " ".join(["arkivverdig"] * 6) + "…"
    assert all(len(shorten(words, most)) <= most for most in range(12, 108))
    assert shorten("a" * 79 + " b", 80) == "a" * 79 + "…"
    assert shorten("a" * 200, 80) == "a" * 79 + "…"
    assert shorten("Møte om byggesak, og mer", 20) == "Møte om byggesak…"
