"""What a comparison found, as a page and as JSON: every number, the differences, nothing unescaped."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from noarkit.forms.comparison import CompareResult, Difference
from noarkit.model.disclosure import Disclosure
from noarkit.reports.comparison_page import comparison_facts, write_comparison

SCREENED = Disclosure(True, "own")
SIDES = ("<delivery>", "again")


def compared(*differences: Difference) -> CompareResult:
    """Two sides of three units each."""
    found = CompareResult("id", {"klasse": 2, "mappe": 1}, {"klasse": 3})
    for one in differences:
        found.add(one)
    return found


SOME = compared(
    Difference("only-left", "mappe", "m1"),
    Difference("only-right", "klasse", "k3"),
    Difference("differs", "klasse", "k1", "tittel", ["<b>før</b>"], None),
    Difference("differs", "klasse", "k2", "tittel", "a", ["b", "c"]),
)


def page(found: CompareResult, folder: Path, lang: str) -> str:
    """The page, without its style."""
    write_comparison(found, SIDES, folder / "page.html", "html", lang)
    return (folder / "page.html").read_text("utf-8").partition("</style>")[2]


@pytest.mark.parametrize("lang", ["en", "nb"])
def test_the_page_tells_every_number_and_every_difference(lang: str, tmp_path: Path) -> None:
    told = page(SOME, tmp_path, lang)
    rows = [re.sub("<[^>]*>", " ", row).split() for row in re.findall("<tr>.*?</tr>", told)]
    assert ["klasse", "2", "3", "–", "1", "2"] in rows
    assert ["mappe", "1", "0", "1", "–", "–"] in rows
    assert ["klasse", "tittel", "2"] in rows
    assert all(key in told for key in ("m1", "k3", "k1", "k2"))
    assert "&lt;b&gt;før&lt;/b&gt;" in told and "<b>" not in told
    assert "&lt;delivery&gt;" in told
    assert "<script" not in told and "http" not in told


def test_the_page_of_two_that_are_alike_says_so_in_both_languages(tmp_path: Path) -> None:
    assert "There are no differences between A and B." in page(compared(), tmp_path, "en")
    assert "Det er ingen forskjeller mellom A og B." in page(compared(), tmp_path, "nb")


def test_differences_by_rule_are_told_with_their_numbers(tmp_path: Path) -> None:
    found = compared()
    found.declared["file-path"] = 4711
    assert "4711 files are in another place" in page(found, tmp_path, "en")


def test_json_holds_what_the_page_holds(tmp_path: Path) -> None:
    write_comparison(SOME, SIDES, tmp_path / "c.json", "json", "en")
    facts = json.loads((tmp_path / "c.json").read_text("utf-8"))
    assert facts["counts"] == {"only-left": 1, "only-right": 1, "differs": 2}
    assert facts["differences"]["differs"][0] == {
        "type": "klasse",
        "key": "k1",
        "field": "tittel",
        "left": ["<b>før</b>"],
        "right": None,
    }
    assert facts == json.loads(json.dumps(comparison_facts(SOME, SIDES)))


def test_a_page_shows_the_first_hundred_and_tells_how_many_more(tmp_path: Path) -> None:
    found = compared(*[Difference("only-left", "mappe", f"unit-{number}") for number in range(1250)])
    told = page(found, tmp_path, "en")
    assert len(re.findall("unit-", told)) == 100
    assert "Not shown: 1150." in told
    assert len(found.differences) == 1000 and found.counts["only-left"] == 1250


def test_units_are_named_and_a_screened_one_keeps_its_values(tmp_path: Path) -> None:
    found = compared(
        Difference("differs", "mappe", "m1", "tittel", "barnevern", "barnevern, Ola", SCREENED),
        Difference("differs", "mappe", "m2", "tittel", "vei", None),
        Difference("differs", "mappe", "m3", "part/partNavn", "Ola", "Kari", Disclosure(False, "part")),
        Difference("only-left", "mappe", "Arkiv:x/mappe:Om Ola", disclosure=SCREENED),
    )
    names = {"m1": "mappe 1/19 «*****»", "m2": "mappe 2/19 «vei»"}
    write_comparison(found, SIDES, tmp_path / "page.html", "html", "en", names=names)
    told = (tmp_path / "page.html").read_text("utf-8")
    assert "mappe 1/19 «*****»" in told and "mappe 2/19 «vei»" in told
    assert "barnevern" not in told and ">vei<" in told and "Ola" not in told and "Kari" not in told
