"""The pages of a reading room in a browser: what can be seen, clicked and typed, and that nobody is shut out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import noarkit
from noarkit.catalogue.catalogue import Card, Entry
from noarkit.catalogue.port import Fields
from noarkit.reading_room.cards import field_groups
from noarkit.reading_room.serve import OpenRoom
from noarkit.words.texts import LANGUAGES, texts
from tests.browser import SERIOUS, Browser, Page, looks_in
from tests.reading_room.conftest import open_room
from tests.reading_room.town import LETTER, Town

PAGES = {
    "place": "/",
    "place, second page": "/?after=1",
    "series": "/item/series",
    "series, one year": "/item/series?year=2011",
    "card": "/item/letter-1",
    "card with a fault": "/item/letter-2",
    "screened": "/item/secret",
    "hostile": "/item/hostile",
    "long": "/item/long",
    "empty": "/item/empty",
    "row": "/item/customer%2F1",
    "document": "/document/note",
    "document without a file": "/document/lost",
    "screened document": "/document/secret-doc",
    "search": "/search",
    "hits": "/search?q=bygg&year=1999",
    "context": "/search?q=gravemaskin",
    "no hits": "/search?q=zzzz",
    "journal": "/journal?day=2011-03-05",
    "public journal": "/journal?day=2011-05-07&public=1",
    "help": "/help",
    "no such item": "/item/nowhere",
}


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenRoom]:
    """A room for all tests of this module."""
    with open_room(Town(), tmp_path_factory.mktemp("town") / "town.noarkit-catalogue.db") as opened:
        yield opened


@pytest.fixture(scope="module")
def visitor(town: OpenRoom, browser: Browser) -> Iterator[Page]:
    """A browser that has used the link."""
    with browser.new_page() as page:
        page.goto(town.link)
        yield page
        assert page.outside_requests(town.url, town.content_url) == []
        assert [line for line in page.console if "404" not in line] == []
        assert page.dialogs == ()


@pytest.fixture
def look(visitor: Page, town: OpenRoom) -> Page:
    """The same, as it was at first: at the front page, in English, light and wide."""
    visitor.set_viewport(1280, 800)
    visitor.set_scheme("light")
    visitor.goto(town.url + "/")
    speak(visitor, "en")
    return visitor


def speak(page: Page, lang: str) -> None:
    """Switches the language, where it is another."""
    if page.evaluate("document.documentElement.lang") != lang:
        with page.navigation():
            page.click(f"button[name=lang][value={lang}]")


def test_the_link_leaves_no_token_in_the_address(look: Page, town: OpenRoom) -> None:
    assert look.url == town.url + "/"
    assert [cookie["httpOnly"] for cookie in look.cookies()] == [True] * len(look.cookies())


def test_a_place_says_what_it_is_and_whether_it_is_whole(look: Page) -> None:
    assert "253 case files" in look.text(".figures")
    assert look.text(".verdict h2") == "Something here is missing or damaged"
    assert "F206" in look.text(".verdict") and "1 document has no file" in look.text(".verdict")


def test_the_tree_opens_branch_by_branch_and_leads_to_a_card(look: Page) -> None:
    look.click(".tree .toggle")
    look.wait_for("document.querySelectorAll('.tree ul ul li').length === 2")
    look.click(".tree ul ul .toggle")
    look.wait_for("document.querySelectorAll('.tree ul ul ul > li').length === 41")
    assert look.text(".tree ul ul ul > li.more a") == "more …"
    look.evaluate("document.querySelector('.tree ul ul ul > li.more a').click()")
    look.wait_for("document.querySelectorAll('.tree ul ul ul > li').length === 81")
    with look.navigation():
        look.evaluate("document.querySelectorAll('.tree ul ul ul a.branch')[50].click()")
    assert look.text("h1") == "Byggesak 51"
    assert look.text(".tree [aria-current=page] .ident") == look.text(".kind .ident")


def test_the_tree_is_walked_by_keys(look: Page) -> None:
    look.press("j", "ArrowRight")
    look.wait_for("document.querySelectorAll('.tree ul ul li').length === 2")
    look.press("j", "k", "j")
    assert "branch" in look.focused()
    with look.navigation():
        look.press("Enter")
    assert look.text("h1") == "Sakarkiv 1998–2011"
    look.press("/")
    assert 'id="q"' in look.focused()
    look.type("#q", "j k ?")  # keys are letters where one writes
    assert look.evaluate("document.getElementById('q').value") == "j k ?"
    look.evaluate("document.activeElement.blur()")
    with look.navigation():
        look.press("?")
    assert look.url.endswith("/help")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_manual_tells_of_every_page_of_the_room(lang: str) -> None:
    say = texts(lang).say
    chapter = Path(noarkit.__file__).parent.joinpath("manual", lang, "browsing.md").read_text("utf-8")
    names = [say(f"browse.nav.{name}") for name in ("home", "journal", "search", "plan", "activity")]
    assert [name for name in names if f"\n| {name} |" not in chapter] == []


def test_business_specific_metadata_are_no_external_identifiers() -> None:
    entry = Entry(1, "r", "Mappe", "Sak", "", "", "", "", False, "", "", 0, 0)
    fields: Fields = {"eksternId": {"eksternID": "7"}, "virksomhetsspesifikkeMetadata": {"a": "b"}}
    groups = field_groups(Card(entry, (), fields, (), (), (), ()))
    assert [(name, [row.name for row in rows]) for name, rows in groups] == [
        ("external", ["eksternId"]),
        ("business", ["virksomhetsspesifikkeMetadata"]),
    ]


def test_everything_is_reached_without_a_script(look: Page, town: OpenRoom) -> None:
    look.call("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        look.goto(town.url + "/item/series")
        with look.navigation():
            look.click(".pager [rel=next]")
    finally:
        look.call("Emulation.setScriptExecutionDisabled", {"value": False})
    assert look.texts(".entries .ident")[0] == "2003/101"
    with look.navigation():
        look.click(".pager [rel=prev]")
    assert look.texts(".entries .ident")[0] == "1998/1"


def test_a_long_list_is_narrowed_to_a_year(look: Page, town: OpenRoom) -> None:
    look.goto(town.url + "/item/series")
    with look.navigation():
        look.click(".years a:nth-child(4)")
    assert {ident[:4] for ident in look.texts(".entries .ident")} == {"2000"}


def test_a_card_shows_fields_parties_links_both_ways_and_changes(look: Page, town: OpenRoom) -> None:
    look.goto(town.url + "/item/letter-1")
    # an identity number on it is masked, so it begins with the form that shows it
    assert look.count("form[action*=reveal]") == 1
    assert look.texts("h2")[1].startswith("Documents")
    assert look.texts("h2")[2:] == [
        *["About", "Parties", "Notes", "Disposal", "External identifiers", "System fields", "Links", "Changes"]
    ]
    assert "010180 *****" in look.text("main") and "01018000055" not in look.text("main")
    assert "Vei til vannet" in look.text("section[aria-labelledby=links]")
    assert "not here" in look.text("section[aria-labelledby=links]")
    look.goto(town.url + "/item/road")
    assert "From others" in look.texts("h3")


def test_a_row_of_a_database_shows_the_rows_that_belong_to_it(look: Page, town: OpenRoom) -> None:
    look.goto(town.url + "/item/customer%2F1")
    assert look.texts("section[aria-labelledby=links] a") == ["10 Order 10", "11 Order 11"]


def test_the_chain_of_custody_says_whether_a_file_is_unchanged(look: Page, town: OpenRoom) -> None:
    look.goto(town.url + "/document/letter")
    assert (
        look.text("p.custody")
        == "Unchanged since 1 March 2024, 08:00 UTC: the same checksum at all 4 steps that recorded one"
    )
    assert look.count(".chain .bad") == 0
    look.goto(town.url + "/document/note")
    assert look.text("p.custody") == "Not the same file: the checksum differs at “Verified”, 3 March 2024, 09:15 UTC"
    assert look.count(".chain li.bad") == 1


def test_a_document_is_shown_in_a_frame_of_another_origin_and_can_be_saved(
    look: Page, town: OpenRoom, browser: Browser, tmp_path: Path
) -> None:
    look.goto(town.url + "/document/letter")
    assert look.evaluate("document.querySelector('iframe').src").startswith(town.content_url + "/content/")
    look.wait_for("performance.getEntriesByType('resource').some(e => e.name.includes('/content/'))")
    assert [request.blocked for request in look.requests if "/content/" in request.url] != []
    assert all(request.blocked == "" for request in look.requests if "/content/" in request.url)
    look.allow_downloads(tmp_path)
    look.click(".viewer-download a")
    assert browser.take_download(tmp_path).read_bytes() == LETTER


def test_a_text_is_shown_as_text_with_its_signs_made_visible(look: Page, town: OpenRoom) -> None:
    look.goto(town.url + "/document/note")
    assert "Møtet ble utsatt." in look.text(".viewer")
    look.goto(town.url + "/document/..%2F..%2Fdoc")  # said to be a page
    assert "They were not run" in look.text(".viewer") and "U+202E" in look.text(".viewer")
    look.goto(look.evaluate("[...document.querySelectorAll('.viewer a')].find(a => a.textContent == 'Source').href"))
    assert "<script>alert(1)</script>" in look.text(".viewer") and "U+202E" in look.text(".viewer")


def test_a_screened_document_opens_for_a_while_to_who_says_why(look: Page, town: OpenRoom) -> None:
    look.goto(town.url + "/item/secret-letter")
    with look.navigation():
        look.click(".file-title a")
    assert "utsatt" not in look.text()
    look.click(".reveal summary")
    look.type("#reason", "Innsynskrav 13/2024")
    with look.navigation():
        look.click(".reveal button")
    assert "Møtet ble utsatt." in look.text(".viewer")


def test_what_is_screened_is_shown_once_to_who_says_why(look: Page, town: OpenRoom, tmp_path: Path) -> None:
    look.goto(town.url + "/item/secret-letter")
    assert "Nordmann" not in look.text()
    look.click(".reveal summary")
    look.type("#reason", "Innsynskrav 12/2024")
    with look.navigation():
        look.click(".reveal button")
    assert look.text("h1") == "Om Ola Nordmann"
    look.goto(town.url + "/item/secret-letter")
    assert "Nordmann" not in look.text()


def test_a_search_is_narrowed_and_taken_back(look: Page, town: OpenRoom) -> None:
    look.type("#q", "bygg")
    with look.navigation():
        look.press("Enter")
    assert look.text(".total strong") == "250 hits" and look.text(".hits mark") == "Byggesak"
    with look.navigation():
        look.click(".facets li a")
    assert look.text(".total strong") == "19 hits"
    with look.navigation():
        look.click(".chosen a")
    assert look.text(".total strong") == "250 hits"


def test_a_hit_shows_the_word_where_it_stands(look: Page, town: OpenRoom) -> None:
    look.goto(town.url + "/search?q=gravemaskin")
    assert look.text(".context mark") == "gravemaskin" and "på tomten" in look.text(".context")


def test_the_journal_is_leafed_through_by_day(look: Page, town: OpenRoom) -> None:
    look.goto(town.url + "/journal?day=2011-03-05")
    assert "Svar til naboen" in look.text(".posts")
    with look.navigation():
        look.click(".days [rel=next]")
    assert "9 March 2011" in look.text(".days strong") and "Klage fra naboen" in look.text(".posts")
    look.goto(town.url + "/journal?day=2011-05-07&public=1")
    assert "Nordmann" not in look.text() and "Om *****" in look.text(".posts")


def test_the_language_and_the_colours_stay_as_they_were_set(look: Page, town: OpenRoom) -> None:
    look.goto(town.url + "/item/letter-1")
    speak(look, "nb")
    assert look.url == town.url + "/item/letter-1"
    assert "5. mars 2011" in look.text(".marks")
    assert look.text("button[name=theme]") == "Bruk mørke farger"  # what a click does
    with look.navigation():
        look.click("button[name=theme]")
    assert look.text("button[name=theme]") == "Bruk lyse farger"
    look.goto(town.url + "/help")
    dark = look.evaluate("getComputedStyle(document.body).backgroundColor")
    for _ in range(2):
        with look.navigation():
            look.click("button[name=theme]")
    assert dark != look.evaluate("getComputedStyle(document.body).backgroundColor")


@pytest.mark.parametrize("lang", ["en", "nb"])
def test_no_page_shuts_anybody_out_or_scrolls_sideways(look: Page, town: OpenRoom, lang: str) -> None:
    speak(look, lang)
    faults = {}
    for name, path in PAGES.items():
        look.set_viewport(1280, 800)
        look.goto(town.url + path)
        for width, scheme in looks_in(lang):
            look.set_viewport(width, 800)
            look.set_scheme(scheme)
            found = [violation.rule for violation in look.axe(*SERIOUS)] + look.sideways()
            if found:
                faults[name, width, scheme] = found
    assert faults == {}


def test_a_page_prints_without_its_frame(look: Page, town: OpenRoom) -> None:
    look.goto(town.url + "/item/letter-1")
    look.set_media("print")
    assert "Contents" not in look.text() and "Svar til naboen" in look.text("h1")
    look.set_media("")


def test_a_page_of_another_origin_cannot_frame_the_room(browser: Browser, town: OpenRoom, tmp_path: Path) -> None:
    outer = tmp_path / "outer.html"
    outer.write_text(f"<title>outer</title><iframe src={json.dumps(town.url + '/')}></iframe>")
    with browser.new_page() as page:
        page.goto(outer)
        page.wait_for("document.title === 'outer'")
        assert not any("Lillevik" in str(page.evaluate("document.body?.innerText", frame)) for frame in page.frames())
