"""Deletes, and whole trees in bounded steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from noarkit.server.transaction.log import Actor
from noarkit.server.transaction.trees import close_tree, delete_tree, open_tree
from noarkit.server.wire import Refusal
from tests.server.transaction.desk import Desk, delete, link, save, unlink
from tests.server.transaction.world import World, fonds, klasse

ACTOR = Actor("Bulk", "bulk", 1_700_000_000_000)


def exists(desk: Desk, object_id: str) -> bool:
    """True where some table holds the object."""
    tables = [
        str(row[0])
        for row in desk.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'o\\_%' ESCAPE '\\'")
    ]
    return any(desk.rows(f"SELECT 1 FROM {table} WHERE id = ?", object_id) for table in tables)


@pytest.fixture
def tree(world: World) -> dict[str, str]:
    """A fonds with a series, folders, records, documents, versions and labels."""
    desk = world.desk
    return desk.ids(
        *fonds(),
        save("Arkivdel", "series", tittel="s"),
        link("Arkivdel", "series", "refArkiv", "arkiv"),
        save("Mappe", "outer", tittel="m"),
        link("Mappe", "outer", "refArkivdel", "series"),
        save("Mappe", "inner", tittel="m"),
        link("Mappe", "inner", "refForelderMappe", "outer"),
        *world.record("inner", "r1"),
        *world.record("inner", "r2"),
        *world.document("r1"),
        *world.version("document", desk.upload(b"only here")),
        save("Merknad", "note", tekst="t", merknadstype="MER"),
        link("Merknad", "note", "refDokument", "document"),
        save("EksternId", "external", eksterntSystem="s", eksternID="1"),
        link("EksternId", "external", "refDokumentversjon", "version"),
        link("Basisregistrering", "r1", "refKryssreferanseTilRegistrering", "r2"),
    )


def test_a_delete_takes_all_that_is_below(world: World, tree: dict[str, str]) -> None:
    desk = world.desk
    assert desk.run(delete("Mappe", tree["outer"])) == {}
    gone = ("outer", "inner", "r1", "r2", "document", "version", "note", "external")
    assert not [key for key in gone if exists(desk, tree[key])]
    assert exists(desk, tree["series"])
    pairs = (
        "p_abstraktregistrering_refkryssreferansefraregistrering_abstraktregistrering_refkryssreferansetilregistrering"
    )
    assert not desk.rows(f"SELECT 1 FROM {pairs} WHERE a IN (?, ?)", tree["r1"], tree["r2"])


def test_a_deleted_versions_file_is_let_go(world: World, tree: dict[str, str]) -> None:
    desk = world.desk
    (file_id,) = desk.rows("SELECT referanseDokumentfil FROM o_dokumentversjon WHERE id = ?", tree["version"])[0]
    assert desk.rows("SELECT 1 FROM stored_file WHERE file_id = ?", file_id)
    desk.run(delete("Dokument", tree["document"]))
    assert not desk.rows("SELECT 1 FROM stored_file WHERE file_id = ?", file_id)


def test_a_delete_compares_versions_and_moves_the_parents(world: World, tree: dict[str, str]) -> None:
    desk = world.desk
    desk.run(save("Basisregistrering", tree["r2"], tittel="new"))
    assert desk.refused(delete("Basisregistrering", tree["r2"], "1")).status == 409
    desk.run(delete("Basisregistrering", tree["r2"], "2"))
    assert desk.run(save("Mappe", tree["inner"]))[tree["inner"]]["version"] == "2"


def test_what_is_deleted_is_gone_for_later_actions(world: World, tree: dict[str, str]) -> None:
    desk = world.desk
    gone = delete("Mappe", tree["outer"])
    assert desk.refused(gone, save("Mappe", tree["outer"], tittel="x")).status == 404
    assert desk.refused(gone, gone).status == 404
    assert desk.refused(gone, *world.record(tree["inner"], "new")).status == 400
    assert desk.refused(*world.record(tree["inner"], "new"), gone).status == 400


def test_what_is_moved_out_first_survives(world: World, tree: dict[str, str]) -> None:
    desk = world.desk
    folder = desk.ids(*world.folder())["folder"]
    desk.run(
        unlink("Basisregistrering", tree["r1"], "refMappe", tree["inner"]),
        link("Basisregistrering", tree["r1"], "refMappe", folder),
        delete("Mappe", tree["outer"]),
    )
    assert exists(desk, tree["document"])
    assert not exists(desk, tree["r2"])


def test_what_is_moved_into_a_doomed_tree_is_not_lost(world: World, tree: dict[str, str]) -> None:
    desk = world.desk
    record = desk.ids(*world.folder(), *world.record("folder"))
    refusal = desk.refused(
        delete("Mappe", tree["outer"]),
        unlink("Basisregistrering", record["record"], "refMappe", record["folder"]),
        link("Basisregistrering", record["record"], "refMappe", tree["inner"]),
    )
    assert (refusal.status, "moves there" in refusal.description) == (400, True)


def test_what_went_with_its_parent_is_not_told_as_saved(world: World, tree: dict[str, str]) -> None:
    desk = world.desk
    actions = [save("Basisregistrering", tree["r1"], tittel="new"), delete("Mappe", tree["outer"])]
    assert desk.run(*actions) == {}


def test_the_last_of_what_must_be_there_stays(world: World) -> None:
    desk = world.desk
    ids = desk.ids(*fonds(), *world.case_file(), *world.post("case"))
    refusal = desk.refused(delete("Korrespondansepart", ids["post-party"]))
    assert (refusal.status, "refKorrespondansepart" in refusal.description) == (400, True)
    assert desk.refused(delete("Arkivskaper", ids["skaper"])).status == 400
    desk.run(
        save("Korrespondansepart", "next", korrespondanseparttype="EM", korrespondansepartNavn="n"),
        link("Korrespondansepart", "next", "refRegistrering", ids["post"]),
        delete("Korrespondansepart", ids["post-party"]),
    )
    desk.run(delete("Journalpost", ids["post"]))


def test_a_class_in_use_stays(world: World) -> None:
    desk = world.desk
    key = desk.ids(*klasse("k", world.system, "k"))["k"]
    case = world.case_file()
    case[2] = link("Saksmappe", "case", "refPrimaerKlasse", key)
    used = desk.ids(*case)["case"]
    refusal = desk.refused(delete("Klasse", key))
    assert (refusal.status, "refPrimaerKlasse" in refusal.description) == (400, True)
    assert desk.refused(delete("Klassifikasjonssystem", world.system)).status == 400
    desk.run(delete("Saksmappe", used), delete("Klasse", key))


def test_a_deleted_series_leaves_its_successor_without_one(world: World) -> None:
    desk = world.desk
    actions = [
        action
        for key in "ab"
        for action in (save("Arkivdel", key, tittel=key), link("Arkivdel", key, "refArkiv", world.arkiv))
    ]
    ids = desk.ids(*actions, link("Arkivdel", "a", "refArkivdelArvtaker", "b"))
    desk.run(delete("Arkivdel", ids["a"]))
    assert desk.rows("SELECT refArkivdelForloeper, version FROM o_arkivdel WHERE id = ?", ids["b"]) == [(None, 2)]
    assert desk.log(ids["b"])[-1]["revision_type"] == "UNLINK"


def steps(work: Iterator[int]) -> list[int]:
    """What each step of the work changed."""
    return list(work)


def test_a_tree_is_closed_and_opened_in_bounded_steps(world: World, tree: dict[str, str]) -> None:
    desk = world.desk
    database, root = desk.service.db, ("Arkiv", int(tree["arkiv"]))
    assert sum(steps(close_tree(database, root, ACTOR, batch=2))) == 7
    for type_name, key, name, value in (
        ("Arkiv", "arkiv", "arkivstatus", "A"),
        ("Arkivdel", "series", "arkivdelstatus", "P"),
        ("Mappe", "inner", "avsluttetAv", "Bulk"),
        ("Basisregistrering", "r2", "avsluttetAvBrukerIdent", "bulk"),
        ("Dokument", "document", "dokumentstatus", "F"),
    ):
        assert desk.fields(tree[key], save(type_name, tree[key]))[name] == value
    assert {entry["modified_by"] for entry in desk.log(tree["inner"])[1:]} == {"Bulk"}
    assert sum(steps(close_tree(database, root, ACTOR))) == 0
    assert steps(open_tree(database, root, ACTOR, batch=3)) == [3, 3, 1]
    assert "avsluttetDato" not in desk.fields(tree["inner"], save("Mappe", tree["inner"]))
    assert desk.fields(tree["series"], save("Arkivdel", tree["series"]))["arkivdelstatus"] == "A"


def test_a_class_tree_is_closed(world: World) -> None:
    desk = world.desk
    ids = desk.ids(
        save("Klassifikasjonssystem", "s", tittel="s"),
        *klasse("p", "s", "p"),
        *klasse("c", "s", "c"),
        link("Klasse", "c", "refForelderKlasse", "p"),
    )
    assert sum(close_tree(desk.service.db, ("Klassifikasjonssystem", int(ids["s"])), ACTOR, batch=1)) == 3


def test_a_delete_that_was_stopped_goes_on(world: World, tree: dict[str, str]) -> None:
    desk = world.desk
    root = ("Arkiv", int(tree["arkiv"]))
    with closing(delete_tree(desk.service.db, root, ACTOR, desk.service.files, batch=2)) as first:
        assert next(first) == 2
    assert exists(desk, tree["arkiv"])
    assert sum(delete_tree(desk.service.db, root, ACTOR, desk.service.files, batch=4)) == 9
    assert not [key for key, object_id in tree.items() if exists(desk, object_id)]


@pytest.mark.parametrize("keep", [True, False])
def test_what_a_precedent_is_linked_to_is_spared_unless_told(world: World, keep: bool) -> None:
    desk = world.desk
    factor = str(desk.rows("SELECT code FROM code_value WHERE list = 'rettskildefaktor' LIMIT 1")[0][0])
    ids = desk.ids(
        *fonds(),
        save("Arkivdel", "series", tittel="s"),
        link("Arkivdel", "series", "refArkiv", "arkiv"),
        link("Arkivdel", "series", "refPrimaerKlassifikasjonssystem", world.system),
        *world.case_file("tied"),
        unlink("Saksmappe", "tied", "refArkivdel", world.series),
        link("Saksmappe", "tied", "refArkivdel", "series"),
        *world.post("tied", "below"),
        save("Mappe", "loose", tittel="m"),
        link("Mappe", "loose", "refArkivdel", "series"),
        save("Presedens", "precedent", rettskildefaktor=factor),
        link("Presedens", "precedent", "refSaksmappe", "tied"),
    )
    root = ("Arkiv", int(ids["arkiv"]))
    list(delete_tree(desk.service.db, root, ACTOR, desk.service.files, keep_precedents=keep, batch=1))
    assert not exists(desk, ids["loose"])
    assert {key: exists(desk, ids[key]) for key in ("arkiv", "series", "tied", "below")} == dict.fromkeys(
        ("arkiv", "series", "tied", "below"), keep
    )
    assert exists(desk, ids["precedent"])
    assert exists(desk, ids["skaper"]) is False or keep


def test_a_tree_that_others_need_is_refused(world: World) -> None:
    desk = world.desk
    root = ("Klasse", int(world.leaf))
    desk.run(*world.case_file())
    with pytest.raises(Refusal):
        list(delete_tree(desk.service.db, root, ACTOR, desk.service.files))
    assert exists(desk, world.leaf)
