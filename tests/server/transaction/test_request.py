"""Bodies of the wrong shape: each is refused with 400 by the place of the action, whatever stands in it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from noarkit.server.wire import Refusal
from tests.server.transaction.desk import Desk, delete, link, save
from tests.server.transaction.world import World

GOOD: dict[str, object] = {"action": "save", "type": "Klassifikasjonssystem", "id": "x", "fields": {"tittel": "t"}}
LINK: dict[str, object] = {"action": "link", "type": "Mappe", "id": "m", "ref": "refArkivdel", "linkToId": "1"}


@pytest.mark.parametrize("body", [None, [], {}, "x", {"actions": None}, {"actions": {}}, {"action": []}])
def test_a_body_without_a_list_of_actions_is_refused(desk: Desk, body: object) -> None:
    with pytest.raises(Refusal) as refused:
        desk.call("/transaction", body)
    assert refused.value.status == 400


@pytest.mark.parametrize(
    "action",
    [
        None,
        "save",
        [],
        {},
        {**GOOD, "action": "store"},
        {**GOOD, "action": None},
        {**GOOD, "action": ["save"]},
        {**GOOD, "type": None},
        {**GOOD, "type": {}},
        {**GOOD, "id": None},
        {**GOOD, "id": ""},
        {**GOOD, "id": -1},
        {**GOOD, "id": 1.5},
        {**GOOD, "id": True},
        {**GOOD, "id": {}},
        {**GOOD, "id": "half \ud83d"},
        {**GOOD, "fields": []},
        {**GOOD, "fields": "tittel"},
        {**GOOD, "version": "one"},
        {**GOOD, "version": -1},
        {**GOOD, "version": 1.5},
        {**GOOD, "version": "9" * 30},
        {**GOOD, "version": []},
        {**LINK, "ref": None},
        {**LINK, "ref": "refNothing"},
        {**LINK, "ref": ["refArkivdel"]},
        {**LINK, "linkToId": None},
        {**LINK, "linkToId": []},
        {**LINK, "linkToId": [None]},
        {**LINK, "linkToId": ["1", ""]},
        {**LINK, "linkToId": ["1", "2"]},
        {**LINK, "linkToId": {"id": "1"}},
        {"action": "link", "type": "Mappe", "id": "m", "ref": "refArkivdel"},
        {**LINK, "action": "unlink"},
        {"action": "delete", "type": "Mappe"},
        {"action": "delete", "type": "Mappe", "id": "a temporary id"},
        {"action": "delete", "type": "Mappe", "id": "1", "version": "x"},
    ],
)
def test_a_malformed_action_is_refused_by_its_place(desk: Desk, action: object) -> None:
    with pytest.raises(Refusal) as refused:
        desk.call("/transaction", {"actions": [GOOD, action]})
    assert refused.value.status == 400
    assert refused.value.description.startswith("actions[1]")
    refused.value.description.encode()


def test_a_temporary_id_must_have_been_saved_before(world: World) -> None:
    desk = world.desk
    folder = save("Mappe", "m", tittel="t")
    for action in (
        link("Mappe", "late", "refArkivdel", world.series),
        link("Mappe", "m", "refForelderMappe", "late"),
    ):
        refusal = desk.refused(folder, action, save("Mappe", "late", tittel="t"))
        assert (refusal.status, refusal.description.startswith("actions[1] ")) == (400, True)


def test_a_temporary_id_keeps_its_type(world: World) -> None:
    actions = [save("Mappe", "m", tittel="t"), save("Saksmappe", "m", tittel="t")]
    assert world.desk.refused(*actions).status == 400


def test_an_id_that_is_not_there_or_hidden_is_not_found(world: World) -> None:
    desk = world.desk
    ids = desk.ids(*world.folder())
    blind = desk.blind_to(ids["folder"])
    for who, key in ((desk, "123456789"), (desk, "9" * 40), (blind, ids["folder"])):
        assert who.refused(save("Mappe", key, tittel="t")).status == 404
        assert who.refused(link("Mappe", key, "refArkivdel", world.series)).status == 404
        assert who.refused({**link("Mappe", key, "refArkivdel"), "action": "unlink", "unlinkFromId": "1"}).status == 404
        assert who.refused(delete("Mappe", key)).status == 404
        assert who.refused(*world.record(key)).status == 404
    assert desk.refused(save("Saksmappe", ids["folder"], tittel="t")).status == 404
    assert desk.refused(save("Arkiv", ids["folder"], tittel="t")).status == 404


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
WORDS = st.sampled_from(
    [
        "save",
        "link",
        "unlink",
        "delete",
        "Mappe",
        "Saksmappe",
        "Journalpost",
        "Dokumentversjon",
        "EksternId",
        "x",
        "1",
        "2",
    ]
)
NAMES = st.sampled_from(["tittel", "saksdato", "saksaar", "uuid", "virksomhetsspesifikkeMetadata", "skjerming", "id"])
REFS = st.sampled_from(["refMappe", "refArkivdel", "refRegistrering", "refPrimaerKlasse", "refKryssreferanseTilMappe"])
FIELDS = st.dictionaries(NAMES, JSON, max_size=3)
ACTION = st.fixed_dictionaries(
    {},
    optional={
        "action": WORDS,
        "type": WORDS,
        "id": WORDS,
        "ref": REFS,
        "linkToId": JSON | WORDS,
        "unlinkFromId": JSON | WORDS,
        "fields": FIELDS | JSON,
        "version": JSON,
    },
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ACTION, max_size=5))
def test_whatever_is_sent_is_saved_or_refused(desk: Desk, actions: list[dict[str, object]]) -> None:
    try:
        desk.call("/transaction", {"actions": actions})
    except Refusal as refusal:
        assert refusal.status in (400, 403, 404, 409)
        refusal.description.encode()
