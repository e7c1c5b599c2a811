"""A proposed recipe says what was seen, has no faults, and runs."""

from __future__ import annotations

from noarkit.graph.entity import MappedRecord
from noarkit.recipes import check, compile_recipe, observe, propose, read_recipe
from tests.sources.recipe.recipes import holding, record

RECORDS = [
    record(
        str(number),
        "f.pdf",
        kind="letter",
        title=f"Brev {number}",
        case=f"2020/{number % 3}",
        status=("open", "closed")[number % 2],
        tags=["a"],
        author="Kari",
        mail={"date": "2020-01-02T03:04:05Z"},
        day="2.1.2020",
        note="13097248022" if number == 7 else "",
    )
    for number in range(40)
] + [holding({"odd name": "n", "flag": True, "n": 3}, "x", kind="odd")]


def test_a_proposal_fits_what_was_seen() -> None:
    text = propose(observe(RECORDS), source_kind="crm", external_system="sak")
    recipe = read_recipe(text, "proposed.toml")
    assert check(recipe, RECORDS) == []
    mapper = compile_recipe(recipe)
    results = [mapper.map(one) for one in RECORDS]
    assert all(isinstance(result, MappedRecord) for result in results)
    assert isinstance(results[0], MappedRecord)
    made = {one.key: one for one in results[0].entities}
    assert made["folder:2020/0"].type == "Mappe"
    assert made["0"].fields == {"tittel": "Brev 0", "dokumentetsDato": "2020-01-02", "forfatter": "Kari"}
    assert made["0#k1"].fields == {"verdi": "a"}


def test_a_proposal_tells_what_it_saw_but_no_titles() -> None:
    text = propose(observe(RECORDS), source_kind="crm", external_system="sak")
    assert "letter: 40 records, 40 with contents (at most 1 each)" in text
    assert "of those seen: 1." in text
    assert "closed" in text
    assert "Brev 1" not in text
    assert "13097248022" not in text


def test_nothing_seen_still_gives_a_recipe_that_works() -> None:
    recipe = read_recipe(propose({}, source_kind="files", external_system="f"), "r")
    assert check(recipe) == []


def test_counting_holds_no_more_than_it_may() -> None:
    seen = observe(holding({f"field{i}": f"value{i}", "same": f"v{i}"}, str(i)) for i in range(500))
    assert len(seen["thing"].fields) == 200
    assert seen["thing"].fields["same"].codes is None
