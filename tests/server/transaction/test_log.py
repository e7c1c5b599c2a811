"""The change log: one row for each change, with what it takes to tell the change later."""

from __future__ import annotations

from tests.server.transaction.desk import delete, link, save, unlink
from tests.server.transaction.world import World

NOW_MS = 1709640000000


def test_a_new_object_is_one_row_that_holds_all_of_it(world: World) -> None:
    desk = world.desk
    told = desk.run(
        *world.case_file(),
        save("Saksmappe", "case", beskrivelse="late"),
        link("Saksmappe", "case", "refSekundaerKlasse", world.foreign),
    )["case"]
    (entry,) = desk.log(told["id"])
    assert isinstance(entry["revision_id"], int)
    assert entry["system_id"] == told["fields"]["uuid"]
    assert (entry["type"], entry["revision_type"], entry["modified_ms"]) == ("Saksmappe", "CREATE", NOW_MS)
    assert (entry["modified_by"], entry["modified_by_user_id"]) == ("name of integration", "integration")
    assert entry["parent_id"] == int(world.series)
    whole = {**told, "links": {**told["links"], "refSekundaerKlasse": [int(world.foreign)]}}
    assert entry["new_value"] == whole


def test_children_are_logged_with_their_parent(world: World) -> None:
    desk = world.desk
    ids = desk.ids(*world.case_file(), *world.post("case"))
    assert [entry["parent_id"] for entry in desk.log(ids["post-party"])] == [int(ids["post"])]
    assert [entry["revision_type"] for entry in desk.log(ids["case"])] == ["CREATE"]


def test_each_changed_field_is_a_row(world: World) -> None:
    desk = world.desk
    key = desk.ids(*world.case_file())["case"]
    desk.run(
        save("Saksmappe", key, tittel="new", saksdato="2020-01-02"),
        save("Saksmappe", key, opprettetDato="2020-01-02T00:00:00Z", beskrivelse=None),
    )
    rows = {str(entry["modified_field"]): entry for entry in desk.log(key)[1:]}
    assert {entry["revision_type"] for entry in rows.values()} == {"UPDATE"}
    assert {name: entry["modified_field_type"] for name, entry in rows.items()} == {
        "tittel": "string",
        "saksdato": "date",
        "opprettetDato": "timestamp",
    }
    assert rows["tittel"]["old_value"] == {"tittel": "A case"}
    assert rows["tittel"]["new_value"] == {"tittel": "new"}
    assert rows["opprettetDato"]["new_value"] == {"opprettetDato": "2020-01-02T00:00:00.000Z"}


def test_links_of_known_objects_are_rows_of_the_side_they_belong_to(world: World) -> None:
    desk = world.desk
    ids = desk.ids(*world.folder("a"), *world.folder("b"))
    a, b = ids["a"], ids["b"]
    desk.run(link("Mappe", b, "refKryssreferanseFraMappe", a), link("Mappe", a, "refPrimaerKlasse", world.leaf))
    desk.run(unlink("Mappe", b, "refKryssreferanseFraMappe", a), unlink("Klasse", world.leaf, "refMappeSomPrimaer", a))
    rows = [(entry["revision_type"], entry["modified_field"]) for entry in desk.log(a)[1:]]
    assert sorted(map(str, rows)) == sorted(
        map(
            str,
            [
                ("LINK", "refKryssreferanseTilMappe"),
                ("LINK", "refPrimaerKlasse"),
                ("UNLINK", "refKryssreferanseTilMappe"),
                ("UNLINK", "refPrimaerKlasse"),
            ],
        )
    )
    by_name = {(entry["revision_type"], entry["modified_field"]): entry for entry in desk.log(a)}
    linked = by_name["LINK", "refKryssreferanseTilMappe"]["new_value"]
    assert isinstance(linked, dict)
    assert (linked["type"], linked["id"]) == ("Mappe", b)
    removed = by_name["UNLINK", "refPrimaerKlasse"]["removed_value"]
    assert isinstance(removed, dict)
    assert (removed["type"], removed["id"]) == ("Klasse", world.leaf)
    assert len(desk.log(b)) == 1


def test_a_move_is_a_row_with_both_parents(world: World) -> None:
    desk = world.desk
    ids = desk.ids(*world.case_file("a"), *world.case_file("b"), *world.post("a"))
    desk.run(
        unlink("Journalpost", ids["post"], "refMappe", ids["a"]),
        link("Saksmappe", ids["b"], "refRegistrering", ids["post"]),
    )
    entry = desk.log(ids["post"])[-1]
    assert entry["revision_type"] == "MOVE"
    assert isinstance(entry["previous_parent"], dict)
    assert isinstance(entry["current_parent"], dict)
    assert (entry["previous_parent"]["id"], entry["current_parent"]["id"]) == (ids["a"], ids["b"])
    assert entry["current_parent"]["type"] == "Saksmappe"
    assert entry["parent_id"] == int(ids["b"])


def test_each_object_of_a_deleted_tree_is_a_row(world: World) -> None:
    desk = world.desk
    ids = desk.ids(*world.case_file(), *world.post("case"), *world.document("post"))
    desk.run(delete("Journalpost", ids["post"]))
    for key, parent in (("document", "post"), ("post-party", "post"), ("post", "case")):
        entry = desk.log(ids[key])[-1]
        assert entry["revision_type"] == "DELETE"
        assert entry["parent_id"] == int(ids[parent])
        assert isinstance(entry["old_value"], dict)
        assert entry["old_value"]["id"] == ids[key]
    order = [desk.log(ids[key])[-1]["revision_id"] for key in ("document", "post")]
    assert order == sorted(order, key=lambda number: int(str(number)))


def test_a_save_without_change_is_no_row(world: World) -> None:
    desk = world.desk
    key = desk.ids(*world.case_file())["case"]
    desk.run(save("Saksmappe", key, tittel="A case"))
    assert len(desk.log(key)) == 1


def test_revisions_rise_with_every_row(world: World) -> None:
    desk = world.desk
    desk.run(*world.case_file(), *world.post("case"))
    numbers = [int(str(row[0])) for row in desk.rows("SELECT revision_id FROM change_log ORDER BY rowid")]
    assert numbers == sorted(set(numbers))
