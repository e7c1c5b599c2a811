"""The text of the query language."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noarkit.server.query.language import MAX_NESTING, Between, Compare, Group, Path, parse
from noarkit.server.wire import Refusal

PIECES = [
    "a",
    "refB.c",
    "#x.a",
    "@p",
    "=",
    "!=",
    "%=",
    "[",
    "]",
    "{",
    "}",
    ":",
    "(",
    ")",
    "&&",
    "||",
    " ",
    ".",
    "#",
    "@",
]


def test_and_binds_tighter_than_or() -> None:
    a, b, c = (Compare(Path((name,)), "=", "@p") for name in "abc")
    assert parse("a=@p || b=@p && c = @p") == Group("||", (a, Group("&&", (b, c))))
    assert parse("(a=@p || b=@p) && c = @p") == Group("&&", (Group("||", (a, b)), c))


def test_brackets_say_whether_an_end_is_inside() -> None:
    assert parse("#x1.refA.b=[@a:@b}") == Between(Path(("refA", "b"), "#x1"), "@a", "@b", True, False)
    assert parse("b = { @a : @b ]") == Between(Path(("b",)), "@a", "@b", False, True)


def test_blank_text_asks_for_everything() -> None:
    assert parse("") is None
    assert parse(" \t\r\n ") is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a", 2),
        ("a=", 3),
        ("a=b", 3),
        ("a=@p &&", 8),
        ("a=@p b=@q", 6),
        ("(a=@p", 6),
        ("a=@p)", 5),
        ("a=[@p]", 6),
        ("a!=[@p:@q]", 4),
        ("#x=@p", 3),
        ("a..b=@p", 3),
        ("a='x'", 3),
        ("a=@p | b=@p", 6),
        ("!a=@p", 1),
        ("a_b=@p", 2),
        ("()", 2),
    ],
)
def test_a_refusal_says_where_reading_stopped(text: str, place: int) -> None:
    with pytest.raises(Refusal) as refused:
        parse(text)
    assert refused.value.status == 400
    assert f"position {place}:" in refused.value.description


def test_needless_parentheses_do_not_count_as_nesting() -> None:
    assert parse("(" * 900 + "a=@p" + ")" * 900) == parse("a=@p")


@pytest.mark.parametrize(
    "text", ["(" * 100_000, "(" * 400_000 + "a=@p" + ")" * 99_000, "a=@p && (" * 5_000, "a" * 600_000]
)
def test_deep_and_long_texts_are_refused_without_trouble(text: str) -> None:
    with pytest.raises(Refusal):
        parse(text)


def test_nesting_has_a_limit() -> None:
    def nested(depth: int) -> str:
        return "a=@p" if depth == 0 else f"a=@p {'&&' if depth % 2 else '||'} ({nested(depth - 1)})"

    assert parse(nested(MAX_NESTING)) is not None
    with pytest.raises(Refusal, match="levels deep"):
        parse(nested(MAX_NESTING + 1))


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=30).map("".join)))
def test_no_text_raises_anything_but_a_refusal(text: str) -> None:
    try:
        parse(text)
    except Refusal as refused:
        assert refused.status == 400
