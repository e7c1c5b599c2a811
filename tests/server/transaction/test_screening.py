"""Who inherits what screening, at creation."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from noarkit.server.settings import Settings
from tests.server.transaction.desk import Action, Desk, link, save
from tests.server.transaction.world import UNIT, World, klasse


@pytest.fixture(scope="module")
def codes(desk: Desk) -> list[str]:
    """Codes of the screening list."""
    for code in ("SC1", "SC2", "SC3"):
        desk.execute(
            "INSERT OR IGNORE INTO code_value (list, code, name) VALUES ('skjerming', ?, ?)", code, f"{code} name"
        )
    return ["SC1", "SC2", "SC3"]


@pytest.fixture(scope="module")
def places(world: World, codes: list[str]) -> Mapping[str, str]:
    """A series and classes with and without screening, all in the primary system."""
    return world.desk.ids(
        save("Arkivdel", "closed", tittel="s", skjerming="SC1"),
        link("Arkivdel", "closed", "refArkiv", world.arkiv),
        link("Arkivdel", "closed", "refPrimaerKlassifikasjonssystem", world.system),
        *klasse("two", world.system, "two", skjerming="SC2"),
        *klasse("three", world.system, "three", skjerming="SC3"),
        *klasse("also-three", world.system, "also", skjerming="SC3"),
    )


def case(world: World, series: str, primary: str, *secondary: str, **fields: object) -> list[Action]:
    """A case file somewhere."""
    return [
        save("Saksmappe", "x", None, tittel="t", administrativEnhet=UNIT, **fields),
        *(link("Saksmappe", "x", "refSekundaerKlasse", key) for key in secondary),
        link("Saksmappe", "x", "refPrimaerKlasse", primary),
        link("Saksmappe", "x", "refArkivdel", series),
    ]


@pytest.mark.parametrize(
    ("fields", "series", "primary", "secondary", "expected"),
    [
        ({"skjerming": "SC3"}, "closed", "two", (), "SC3"),
        ({"skjerming": None}, "closed", "two", (), None),
        ({}, "closed", "two", ("three",), "SC1"),
        ({}, "series", "two", ("three",), "SC2"),
        ({}, "series", "leaf", ("three",), "SC3"),
        ({}, "series", "leaf", ("three", "foreign"), "SC3"),
        ({}, "series", "leaf", ("three", "also-three"), None),
        ({}, "series", "leaf", (), None),
    ],
)
def test_the_first_that_is_screened_wins(
    world: World,
    places: Mapping[str, str],
    fields: dict[str, object],
    series: str,
    primary: str,
    secondary: tuple[str, ...],
    expected: str | None,
) -> None:
    known = {**places, "series": world.series, "leaf": world.leaf, "foreign": world.foreign}
    actions = case(world, known[series], known[primary], *(known[key] for key in secondary), **fields)
    assert world.desk.fields("x", *actions).get("skjerming") == expected


def test_screening_comes_down_through_new_objects(world: World, places: Mapping[str, str]) -> None:
    saved = world.desk.run(
        save("Dokument", "d", tittel="d", tilknyttetRegistreringSom="H"),
        save("Basisregistrering", "r", tittel="r"),
        save("Mappe", "inner", tittel="m"),
        save("Mappe", "outer", tittel="m"),
        link("Dokument", "d", "refRegistrering", "r"),
        link("Basisregistrering", "r", "refMappe", "inner"),
        link("Mappe", "inner", "refForelderMappe", "outer"),
        link("Mappe", "outer", "refArkivdel", places["closed"]),
    )
    assert {told["fields"].get("skjerming") for told in saved.values()} == {"SC1"}


def test_a_null_in_between_ends_the_inheritance(world: World, places: Mapping[str, str]) -> None:
    saved = world.desk.run(
        save("Mappe", "m", tittel="m"),
        link("Mappe", "m", "refArkivdel", places["closed"]),
        *world.record("m", skjerming=None),
        *world.document("record"),
    )
    assert [saved[key]["fields"].get("skjerming") for key in ("m", "record", "document")] == ["SC1", None, None]


def test_only_what_inherits_inherits(world: World, places: Mapping[str, str]) -> None:
    saved = world.desk.run(
        save("Mappe", "m", tittel="m"),
        link("Mappe", "m", "refArkivdel", places["closed"]),
        save("Noekkelord", "n", verdi="n"),
        link("Noekkelord", "n", "refMappe", "m"),
    )
    assert "skjerming" not in saved["n"]["fields"]


def test_later_changes_above_do_not_come_down(world: World, codes: list[str]) -> None:
    desk = world.desk
    ids = desk.ids(*world.folder(skjerming="SC2"), *world.record("folder"))
    desk.run(save("Mappe", ids["folder"], skjerming="SC1"))
    assert desk.fields(ids["record"], save("Basisregistrering", ids["record"]))["skjerming"] == "SC2"


def test_the_archives_default_comes_last(world: World, places: Mapping[str, str], codes: list[str]) -> None:
    desk = world.desk.under(Settings(default_screening="SC3"))
    assert desk.fields("folder", *world.folder())["skjerming"] == "SC3"
    assert "skjerming" not in desk.fields("folder", *world.folder(skjerming=None))
    inherited = case(world, places["closed"], world.leaf)
    assert desk.fields("x", *inherited)["skjerming"] == "SC1"
