"""The text of a recipe, its lines, and its faults."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.errors import PlanFault
from noarkit.graph.entity import CreationMode
from noarkit.recipes import read_recipe, render
from noarkit.recipes.lines import Path, lines_of, nearest_line

TEXT = '''# a comment with = and [
first = 1
"odd.key" = """
two lines "" # no comment
"""
inner.deep = [1,
  "# text",
  { a = 1, b.c = 'x' },
]

[table.sub] # comment
x = 2020-01-01 # end
[[many]]
y = { z = 1 }
[[many]]
[many.below]
[[many.below.list]]
w = "\\"]"
'''


def test_every_key_and_item_has_its_line() -> None:
    lines = lines_of(TEXT)
    expected: dict[Path, int] = {
        ("first",): 2,
        ("odd.key",): 3,
        ("inner",): 6,
        ("inner", "deep", 1): 7,
        ("inner", "deep", 2, "b", "c"): 8,
        ("table", "sub"): 11,
        ("table", "sub", "x"): 12,
        ("many", 0): 13,
        ("many", 0, "y", "z"): 14,
        ("many", 1): 15,
        ("many", 1, "below"): 16,
        ("many", 1, "below", "list", 0, "w"): 18,
    }
    assert {path: lines[path] for path in expected} == expected
    assert nearest_line(lines, ("many", 1, "nothing", "here")) == 15
    assert nearest_line(lines, ("nowhere",)) == 1


_plain = st.one_of(
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12),
    st.dates(),
    st.lists(st.integers(0, 9), max_size=3),
)
_names = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
_tables = st.recursive(
    st.dictionaries(_names, _plain, max_size=3),
    lambda inner: st.dictionaries(_names, st.one_of(_plain, inner, st.lists(inner, max_size=2)), max_size=3),
    max_leaves=8,
)


@given(_tables)
def test_what_is_written_reads_back_as_it_was_with_a_line_for_every_key(data: dict[str, object]) -> None:
    text = render(data, {(): "head\x01\nsecond", **{(name,): "told" for name in data}})
    assert tomllib.loads(text) == data
    lines = lines_of(text)
    rows = text.split("\n")
    for name in data:
        row = rows[lines[name,] - 1]
        assert tomllib.loads(text)[name] == data[name]
        assert row.strip()
        assert not row.startswith("#")


@pytest.mark.parametrize("text", ["a = ", "[x", "a = 1\na = 2", "x = \x01", "\ud800"])
def test_a_text_that_is_no_toml_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(PlanFault) as fault:
        read_recipe(text, "r.toml")
    assert fault.value.data["where"] == "r.toml"
    assert isinstance(fault.value.data["line"], int)


def test_a_text_nested_without_end_is_refused() -> None:
    with pytest.raises(PlanFault):
        read_recipe("a = " + "[" * 100_000, "r.toml")
    with pytest.raises(PlanFault):
        read_recipe("#" * 3_000_000, "r.toml")


def test_declared_classes_are_written_one_a_line() -> None:
    data = {"target": {"classification": {"classes": [{"ident": "1", "title": "Fisk"}, {"ident": "2"}]}}}
    text = render(data)
    assert '  { ident = "1", title = "Fisk" },\n  { ident = "2" },' in text
    assert tomllib.loads(text) == data
    assert render(read_recipe(text, "r")) == text
    with pytest.raises(TypeError):
        render({"a": object()})


def test_a_recipe_is_read_into_its_shape() -> None:
    recipe = read_recipe(
        """
        [source]
        kind = ["files", "crm"]
        [target]
        external_system = "x"
        model = 3
        zone = "UTC"
        close = false
        [target.arkiv]
        mode = "find"
        fields = { tittel = "A" }
        [personal_data]
        identity_numbers = "screen"
        screening = "UO"
        [formats]
        locale = "en"
        [codes.t]
        a = "b"
        [[map]]
        for = "file"
        when = "= true"
        screening = "= record.s"
        [[map.parents]]
        key = "k"
        """,
        "r",
    )
    assert recipe.problems == ()
    assert recipe.kinds == ("files", "crm")
    assert (recipe.target.model, recipe.target.zone, recipe.target.close) == (3, "UTC", False)
    assert recipe.target.arkiv is not None
    assert recipe.target.arkiv.mode is CreationMode.FIND
    assert (recipe.personal_data.identity_numbers, recipe.personal_data.screening) == ("screen", "UO")
    assert recipe.codes == {"t": {"a": "b"}}
    (rule,) = recipe.maps
    assert (rule.line, rule.kinds, rule.fields["skjerming"].line) == (19, ("file",), 22)
    assert rule.parents is not None
    assert rule.parents[0].line == 23
