"""Queries: what each condition is on the wire, that values never become text of a query, and what is refused."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.archive.query import (
    Condition,
    all_of,
    any_of,
    between,
    differs,
    equals,
    like,
    one_of,
    select,
)
from noarkit.archive.values import Parameter, Query
from noarkit.errors import UsageFault

_SAFE = re.compile(r"[\w.#]+ (=|!=|%=) @p\d+|[\w.#]+ = [\[{]@p\d+:@p\d+[\]}]|&&|\|\||[()]|\s")


@pytest.mark.parametrize(
    ("condition", "where", "parameters"),
    [
        (None, "", {}),
        (all_of(), "", {}),
        (equals("tittel", "A"), "tittel = @p1", {"@p1": "A"}),
        (equals("tittel", None), "tittel = @p1", {"@p1": None}),
        (differs("saksaar", 2024), "saksaar != @p1", {"@p1": 2024}),
        (like("tittel", "S%d"), "tittel %= @p1", {"@p1": "S%d"}),
        (between("saksaar", 2001, 2005), "saksaar = [@p1:@p2]", {"@p1": 2001, "@p2": 2005}),
        (
            between("saksdato", date(2024, 1, 2), None, low_included=False),
            "saksdato = {@p1:@p2]",
            {"@p1": date(2024, 1, 2), "@p2": "*"},
        ),
        (
            between("opprettetDato", None, datetime(2024, 1, 2, tzinfo=UTC), high_included=False),
            "opprettetDato = [@p1:@p2}",
            {"@p1": "*", "@p2": datetime(2024, 1, 2, tzinfo=UTC)},
        ),
        (
            all_of(equals("tittel", "A"), any_of(equals("refArkivdel", "1"), equals("refArkivdel.refArkiv.id", "2"))),
            "tittel = @p1 && (refArkivdel = @p2 || refArkivdel.refArkiv.id = @p3)",
            {"@p1": "A", "@p2": "1", "@p3": "2"},
        ),
        (
            any_of(all_of(equals("tittel", "A")), equals("tittel", "B")),
            "tittel = @p1 || tittel = @p2",
            {"@p1": "A", "@p2": "B"},
        ),
        (one_of("id", ["1", "2"]), "id = @p1 || id = @p2", {"@p1": "1", "@p2": "2"}),
        (equals("refRegistrering.refDokument.tittel", "x"), "refRegistrering.refDokument.tittel = @p1", {"@p1": "x"}),
    ],
)
def test_each_condition_is_written_in_the_query_language(
    condition: Condition | None, where: str, parameters: dict[str, Parameter]
) -> None:
    made = select("Saksmappe", condition)
    assert (made.where, made.parameters) == (where, parameters)


def test_two_aliases_over_one_reference_are_two_objects() -> None:
    made = select(
        "AbstraktRegistrering",
        all_of(equals("#a.verdi", "vei"), equals("#b.id", "2"), equals("#c.verdi", "x")),
        joins={"#a": "refNoekkelord", "#b": "refMappe", "#c": "#b.refNoekkelord"},
        order=[("tittel", "desc"), ("id", "asc")],
        limit=10,
    )
    assert made == Query(
        "AbstraktRegistrering",
        "#a.verdi = @p1 && #b.id = @p2 && #c.verdi = @p3",
        {"@p1": "vei", "@p2": "2", "@p3": "x"},
        {"#a": "refNoekkelord", "#b": "refMappe", "#c": "#b.refNoekkelord"},
        (("tittel", "desc"), ("id", "asc")),
        10,
    )


@given(st.lists(st.text(), min_size=1, max_size=5), st.booleans())
def test_no_value_ever_becomes_text_of_a_query(values: list[str], together: bool) -> None:
    conditions = [equals("tittel", value) for value in values] + [
        like("refNoekkelord.verdi", value) for value in values
    ]
    made = select("Mappe", all_of(*conditions) if together else any_of(*conditions))
    assert _SAFE.sub("", made.where) == ""
    assert sorted(str(value) for value in made.parameters.values()) == sorted(values * 2)


@given(st.text())
def test_no_unknown_name_ever_becomes_text_of_a_query(name: str) -> None:
    known = {"tittel", "id", "version", "refNoekkelord"}
    if name in known or re.fullmatch(r"[a-zA-Z.]+", name):
        return
    with pytest.raises(UsageFault):
        select("Mappe", equals(name, "x"))


@pytest.mark.parametrize(
    ("condition", "what"),
    [
        (equals("tittl", "x"), "path"),
        (equals("", "x"), "path"),
        (equals("tittel = @x || id", "x"), "path"),
        (equals("tittel.id", "x"), "path"),
        (equals("refMappe.", "x"), "path"),
        (equals("virksomhetsspesifikkeMetadata", "x"), "path"),
        (equals("#a.tittel", "x"), "alias"),
        (like("refArkivdel", "x"), "path"),
        (like("saksdato", "x"), "pattern"),
        (between("tittel", "a", "b"), "range"),
        (between("saksaar"), "range"),
        (between("saksaar", "*", 2), "range"),
        (all_of(all_of(), equals("tittel", "x")), "empty-choice"),
    ],
)
def test_what_cannot_be_asked_is_refused(condition: Condition, what: str) -> None:
    with pytest.raises(UsageFault) as caught:
        select("Saksmappe", condition)
    assert caught.value.data["what"] == what


@pytest.mark.parametrize(
    "joins",
    [
        {"a": "refNoekkelord"},
        {"#": "refNoekkelord"},
        {"#a b": "refNoekkelord"},
        {"#a": "refNoekkelord || id"},
        {"#a": "tittel"},
        {"#a": "#b.refMappe"},
        {"#a": "#a.refMappe"},
        {"#a": "#b.refForelderMappe", "#b": "#a.refForelderMappe"},
        {"#a": "refRegistrering.refDokument"},
    ],
)
def test_aliases_that_mean_nothing_are_refused(joins: dict[str, str]) -> None:
    with pytest.raises(UsageFault):
        select("Mappe", equals("tittel", "x"), joins=joins)


def test_nothing_is_sorted_by_what_cannot_be_sorted() -> None:
    for name in ("arkivdelstatus", "refArkiv", "nothing"):
        with pytest.raises(UsageFault, match="order"):
            select("Arkivdel", order=name)


def test_unknown_types_are_refused_and_abstract_ones_known() -> None:
    with pytest.raises(UsageFault, match="type"):
        select("Sak")
    assert select("AbstraktMappe", equals("saksaar", 2024)).type == "AbstraktMappe"


def test_a_choice_of_nothing_is_refused() -> None:
    with pytest.raises(UsageFault, match="empty-choice"):
        one_of("id", [])


def test_too_many_conditions_are_refused_before_the_archive_is_asked() -> None:
    with pytest.raises(UsageFault, match="conditions"):
        select("Mappe", one_of("id", [str(number) for number in range(2000)]))
