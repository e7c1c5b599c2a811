"""Every report page in a browser: no sideways scrolling, readable by everybody, nothing asked of anybody, and short."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.words.texts import LANGUAGES, texts
from tests.browser import Page, looks_in
from tests.reports.sample_pages import Samples

pytestmark = pytest.mark.browser_tools

PAGES = (
    *("plan", "report", "certificate-wrong", "certificate-partly", "delivered"),
    *("validation-bad", "validation-good", "comparison", "copies", "side-by-side", "dashboard"),
)
SCREENS = 3 * 800
# shows the first pages of two documents, one below the other where there is no room beside
PICTURES = ("side-by-side",)
Written = dict[str, dict[str, Path]]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Written]:
    """Every page in every language."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("NOARKIT_")]:
            patch.delenv(name)
        place = tmp_path_factory.mktemp("pages")
        patch.chdir(place)
        samples = Samples(place)
        yield {lang: samples.write(place / lang, lang) for lang in LANGUAGES}


def unfold(page: Page) -> None:
    """Opens everything that is folded."""
    page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true })")


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_nothing_on_a_page_keeps_anybody_out_and_nothing_is_asked_of_anybody(
    page: Page, written: Written, name: str, lang: str
) -> None:
    page.goto(written[lang][name])
    for width, scheme in looks_in(lang):
        page.set_viewport(width)
        page.set_scheme(scheme)
        assert page.sideways() == [], (width, scheme)
        unfold(page)
        assert page.sideways() == [], (width, scheme)
        assert page.axe() == [], (width, scheme)
    assert page.outside_requests() == []
    assert [request.url for request in page.requests if not request.is_inner] == [written[lang][name].as_uri()]
    assert page.console == ()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_tells_its_verdict_first_and_who_made_it_and_is_short_until_it_is_unfolded(
    page: Page, written: Written, name: str
) -> None:
    page.goto(written["en"][name])
    if name not in PICTURES:
        assert page.evaluate("document.documentElement.scrollHeight") <= SCREENS
    assert page.evaluate("document.querySelector('h1').getBoundingClientRect().top") < 120
    assert page.evaluate("[...document.querySelectorAll('h1, h2, h3, dt')][0].tagName") == "H1"
    assert texts("en").say("report.made-by") in page.texts("dt")
    assert any(", machine " in text for text in page.texts("dd"))


def test_a_table_is_put_in_another_order_by_the_keyboard_alone(page: Page, written: Written) -> None:
    page.goto(written["en"]["plan"])
    unfold(page)
    shown = ".sort:has(#formats-1) tbody tr th"

    def names() -> list[str]:
        visible = f"[...document.querySelectorAll('{shown}')].filter(e => e.checkVisibility())"
        return list(page.evaluate(f"{visible}.map(e => e.firstChild.textContent.trim())"))

    by_number = names()
    page.evaluate("document.getElementById('formats-1').focus()")
    page.press("ArrowRight", "ArrowRight")
    assert "formats-3" in page.focused()
    assert names() == sorted(by_number, key=str.lower) != by_number


def test_what_is_folded_is_printed(page: Page, written: Written, tmp_path: Path) -> None:
    import pypdfium2

    page.goto(written["en"]["validation-bad"])
    page.pdf(tmp_path / "printed.pdf")
    with pypdfium2.PdfDocument(tmp_path / "printed.pdf") as document:
        text = "".join(sheet.get_textpage().get_text_range() for sheet in document)
    assert texts("en").say("cited.requirement").partition(",")[0] in " ".join(text.split())
