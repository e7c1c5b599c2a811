"""What each permission opens in a transaction, and that its absence closes exactly that."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.server.transaction.desk import ALL, Action, Desk, delete, link, save, unlink
from tests.server.transaction.world import World, fonds


@pytest.fixture(scope="module")
def ids(world: World) -> dict[str, str]:
    """Known objects to work on."""
    return world.desk.ids(
        *world.case_file("from"),
        *world.case_file("to"),
        *world.post("from"),
        *world.document("post"),
        save("Noekkelord", "word", verdi="w"),
        link("Noekkelord", "word", "refMappe", "from"),
    )


def move(ids: dict[str, str]) -> list[Action]:
    """Moves the entry to the other case file, and back."""
    return [
        unlink("Journalpost", ids["post"], "refMappe", ids["from"]),
        link("Journalpost", ids["post"], "refMappe", ids["to"]),
    ]


Work = Callable[[World, dict[str, str]], list[Action]]
WORK: dict[str, tuple[set[str], Work]] = {
    "a root is made": ({"Create"}, lambda w, i: fonds()),
    "a classification system is made": ({"Create"}, lambda w, i: [save("Klassifikasjonssystem", "x", tittel="x")]),
    "a child is made below a known object": ({"Create"}, lambda w, i: w.document(i["post"], "x")),
    "a label is made": (
        {"Create"},
        lambda w, i: [save("Noekkelord", "x", verdi="v"), link("Noekkelord", "x", "refMappe", i["from"])],
    ),
    "a field is changed": ({"Update"}, lambda w, i: [save("Saksmappe", i["from"], beskrivelse="b")]),
    "a class is changed": (
        {"Update"},
        lambda w, i: [link("Saksmappe", i["from"], "refSekundaerKlasse", w.foreign)],
    ),
    "a cross reference is made": (
        {"Update"},
        lambda w, i: [link("Saksmappe", i["from"], "refKryssreferanseTilMappe", i["to"])],
    ),
    "an object is deleted": ({"Delete"}, lambda w, i: [delete("Dokument", i["document"])]),
    "a label is deleted": ({"Delete"}, lambda w, i: [delete("Noekkelord", i["word"])]),
    "an object is moved": ({"Move", "Create"}, lambda w, i: move(i)),
    "a managed field is chosen at creation": (
        {"Create", "UpdateSystemManaged"},
        lambda w, i: w.case_file("x", opprettetAv="Kari"),
    ),
    "a managed field is changed": (
        {"Update", "UpdateSystemManaged"},
        lambda w, i: [save("Saksmappe", i["from"], opprettetAv="Kari")],
    ),
    "nothing is changed": (set(), lambda w, i: [save("Saksmappe", i["from"], tittel="A case")]),
}


@pytest.mark.parametrize("permission", ALL)
@pytest.mark.parametrize("what", WORK)
def test_a_permission_opens_its_work_and_no_other(
    world: World, ids: dict[str, str], what: str, permission: str
) -> None:
    needed, work = WORK[what]
    without = world.desk.without(permission)
    actions = [*work(world, ids), save("Arkiv", world.arkiv, None, tittel=None)]
    refusal = without.refused(*actions)
    # the last action is wrong by itself, so that nothing is stored and the order of the checks shows
    assert refusal.status == 400
    if permission in needed:
        refusal = without.refused(*work(world, ids))
        assert (refusal.status, f'"{permission}"' in refusal.description) == (403, True)


@pytest.mark.parametrize("what", WORK)
def test_exactly_the_permissions_of_a_work_are_enough(world: World, what: str) -> None:
    desk = world.desk
    fresh = desk.ids(
        *world.case_file("from"),
        *world.case_file("to"),
        *world.post("from"),
        *world.document("post"),
        save("Noekkelord", "word", verdi="w"),
        link("Noekkelord", "word", "refMappe", "from"),
    )
    needed, work = WORK[what]
    before = desk.trace()
    desk.without(*({*ALL} - needed)).run(*work(world, fresh))
    assert (desk.trace() != before) is bool(needed)


def test_create_counts_at_the_nearest_object_that_was_there(world: World) -> None:
    desk = world.desk.without("Create")
    case = world.desk.ids(*world.case_file())["case"]
    granted = desk.with_on("Create", case)
    actions = [*world.post(case), *world.document("post"), *world.version("document", desk.upload())]
    assert granted.run(*actions)
    assert granted.refused(*world.case_file("other")).status == 403
    assert desk.with_on("Create", world.series).refused(*actions).status == 403


def test_managed_fields_count_where_the_object_sits_in_the_end(world: World) -> None:
    desk = world.desk.without("UpdateSystemManaged")
    ids = world.desk.ids(*world.case_file("from"), *world.case_file("to"), *world.post("from"))
    at_target = desk.with_on("UpdateSystemManaged", ids["to"])
    written_first = [save("Journalpost", ids["post"], opprettetAv="Kari"), *move(ids)]
    assert desk.refused(*written_first).status == 403
    assert at_target.refused(save("Journalpost", ids["post"], opprettetAv="Kari")).status == 403
    assert at_target.run(*written_first)
    assert at_target.refused(*world.post(ids["from"], "x", opprettetAv="Kari")).status == 403
    assert at_target.run(*world.post(ids["to"], "x", opprettetAv="Kari"))


def test_a_move_asks_for_create_at_its_new_place(world: World) -> None:
    ids = world.desk.ids(*world.case_file("from"), *world.case_file("to"), *world.post("from"))
    desk: Desk = world.desk.without("Create")
    assert desk.with_on("Create", ids["from"]).refused(*move(ids)).status == 403
    assert desk.with_on("Create", ids["to"]).run(*move(ids)) == {}


def test_a_managed_field_that_keeps_its_value_asks_for_nothing(world: World) -> None:
    desk = world.desk.without("UpdateSystemManaged")
    told = desk.run(*world.case_file(uuid=None, opprettetDato=None))["case"]
    fields = {
        name: told["fields"][name] for name in ("uuid", "opprettetDato", "saksaar", "sakssekvensnummer", "mappeIdent")
    }
    fields["saksaar"] = str(fields["saksaar"])
    assert desk.run(save("Saksmappe", told["id"], None, **fields))
    assert desk.refused(save("Saksmappe", told["id"], mappeIdent="x")).status == 403


def test_every_refusal_of_a_managed_field_names_it(world: World) -> None:
    refusal = world.desk.without("UpdateSystemManaged").refused(*world.case_file(mappeIdent="x"))
    assert "field mappeIdent" in refusal.description
