"""Business-specific metadata in saves."""

from __future__ import annotations

import pytest

from tests.server.transaction.desk import Desk, save
from tests.server.transaction.world import World

FIELD = "virksomhetsspesifikkeMetadata"
KINDS = ("string", "long", "double", "timestamp", "encrypted", "uri", "boolean")


@pytest.fixture(scope="module", autouse=True)
def registry(desk: Desk) -> None:
    """A group with a field of each kind, and one with a closed set."""
    desk.execute("INSERT INTO bsm_group (group_id, name) VALUES ('g', 'G'), ('h', 'H')")
    for kind in KINDS:
        desk.execute("INSERT INTO bsm_field (group_id, field_id, name, kind) VALUES ('g', ?, 'x', ?)", kind, kind)
    desk.execute("INSERT INTO bsm_field VALUES ('h', 'closed', 'x', NULL, 'long', '[1,2]')")


def given(**fields: object) -> dict[str, object]:
    """Group g with these fields."""
    return {"g": {name: {"values": values} for name, values in fields.items()}}


@pytest.mark.parametrize(
    ("kind", "sent", "told"),
    [
        ("string", ["a", "b"], ["a", "b"]),
        ("long", [5, "6"], [5, 6]),
        ("double", [1.5, 2, "2.5"], [1.5, 2.0, 2.5]),
        ("timestamp", ["2024-01-02T03:04:05.678+0100"], ["2024-01-02T02:04:05.678Z"]),
        ("encrypted", ["secret"], ["secret"]),
        ("uri", ["https://example.org/a"], ["https://example.org/a"]),
        ("boolean", [True, "false"], [True, False]),
    ],
)
def test_values_of_each_kind_come_back_with_their_type(
    world: World, kind: str, sent: list[object], told: list[object]
) -> None:
    fields = world.desk.fields("folder", *world.folder("folder", **{FIELD: given(**{kind: sent})}))
    assert fields[FIELD] == {"g": {kind: {"type": kind, "values": told}}}


@pytest.mark.parametrize(
    "value",
    [
        "text",
        [],
        {"g": []},
        {"g": {"string": ["a"]}},
        {"g": {"string": {"values": "a"}}},
        {"g": {"string": {"values": [5]}}},
        {"g": {"string": {"values": [None]}}},
        {"g": {"string": {"values": ["nul\x00"]}}},
        {"g": {"long": {"values": [1.5]}}},
        {"g": {"long": {"values": [2**70]}}},
        {"g": {"double": {"values": ["x"]}}},
        {"g": {"double": {"values": [float("inf")]}}},
        {"g": {"double": {"values": [10**400]}}},
        {"g": {"timestamp": {"values": ["soon"]}}},
        {"g": {"boolean": {"values": [1]}}},
        {"g": {"unknown": {"values": ["a"]}}},
        {"unknown": {"string": {"values": ["a"]}}},
        {"half \ud83d": {"string": {"values": ["a"]}}},
        {"h": {"closed": {"values": [3]}}},
    ],
)
def test_what_the_registry_does_not_hold_is_refused(world: World, value: object) -> None:
    refusal = world.desk.refused(*world.folder("folder", **{FIELD: value}))
    assert refusal.status == 400
    assert refusal.description.startswith(f"actions[0] (save Mappe): field {FIELD}")
    refusal.description.encode()


def test_a_save_states_the_whole_of_it(world: World) -> None:
    desk = world.desk
    both = {**given(string=["a"], long=[1]), "h": {"closed": {"values": ["2"]}}}
    key = desk.ids(*world.folder("folder", **{FIELD: both}))["folder"]

    def after(**fields: object) -> object:
        return desk.fields(key, save("Mappe", key, None, **fields)).get(FIELD)

    assert after(tittel="no change") == {
        "g": {"string": {"type": "string", "values": ["a"]}, "long": {"type": "long", "values": [1]}},
        "h": {"closed": {"type": "long", "values": [2]}},
    }
    assert after(**{FIELD: given(string=["a"], long=[])}) == {"g": {"string": {"type": "string", "values": ["a"]}}}
    assert after(**{FIELD: {}}) is None
    assert after(**{FIELD: given(string=["b"])}) == {"g": {"string": {"type": "string", "values": ["b"]}}}
    assert after(**{FIELD: None}) is None


def test_an_echo_with_its_types_changes_nothing(world: World) -> None:
    desk = world.desk
    told = desk.run(*world.folder("folder", **{FIELD: given(string=["a"], timestamp=["2024-01-01"])}))["folder"]
    again = desk.run(save("Mappe", told["id"], None, **{FIELD: told["fields"][FIELD]}))[told["id"]]
    assert again["version"] == "1"


def test_a_type_without_it_refuses_it(world: World) -> None:
    refusal = world.desk.refused(save("Klassifikasjonssystem", "x", None, tittel="t", **{FIELD: {}}))
    assert "was not found" in refusal.description
