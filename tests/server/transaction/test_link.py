"""Links and unlinks, from either side."""

from __future__ import annotations

import pytest

from noarkit.server.settings import Settings
from tests.server.transaction.desk import Desk, link, save, unlink
from tests.server.transaction.world import World, fonds, klasse


def test_a_link_is_the_same_from_either_side(desk: Desk) -> None:
    creator = save("Arkivskaper", "s", arkivskaperIdent="1", arkivskaperNavn="n")
    for join in (link("Arkivskaper", "s", "refArkiv", "a"), link("Arkiv", "a", "refArkivskaper", "s")):
        saved = desk.run(save("Arkiv", "a", tittel="t"), creator, join)
        assert saved["s"]["links"] == {"refArkiv": int(saved["a"]["id"])}


def test_several_objects_are_linked_at_once(world: World) -> None:
    case = world.desk.ids(*world.case_file())["case"]
    saved = world.desk.run(
        save("Noekkelord", "a", verdi="a"),
        save("Noekkelord", "b", verdi="b"),
        link("Saksmappe", case, "refNoekkelord", "a", "b"),
    )
    assert {told["links"]["refMappe"] for told in saved.values()} == {int(case)}


def test_a_to_one_link_that_is_taken_must_be_unlinked_first(world: World) -> None:
    desk = world.desk
    series = desk.ids(save("Arkivdel", "s", tittel="s"), link("Arkivdel", "s", "refArkiv", world.arkiv))["s"]
    folder = desk.ids(*world.folder())["folder"]
    refusal = desk.refused(link("Mappe", folder, "refArkivdel", series))
    assert (refusal.status, "unlink it first" in refusal.description) == (400, True)
    assert desk.refused(link("Arkivdel", series, "refMappe", folder)).status == 400
    told = desk.run(
        unlink("Mappe", folder, "refArkivdel", world.series),
        link("Mappe", folder, "refArkivdel", series),
        save("Mappe", folder),
    )[folder]
    assert told["links"] == {"refArkivdel": int(series)}
    assert told["version"] == "2"


def test_a_link_that_is_there_already_is_no_change(world: World) -> None:
    desk = world.desk
    folder = desk.ids(*world.folder())["folder"]
    assert desk.run(link("Mappe", folder, "refArkivdel", world.series), save("Mappe", folder))[folder]["version"] == "1"


def test_a_link_leads_only_to_the_types_of_its_reference(world: World) -> None:
    desk = world.desk
    ids = desk.ids(*world.folder(), *world.case_file())
    for action in (
        link("Mappe", ids["folder"], "refForelderMappe", ids["case"]),
        link("Mappe", ids["folder"], "refPrimaerKlasse", world.series),
        link("Mappe", ids["folder"], "refBarnMappe", ids["case"]),
        link("Saksmappe", ids["case"], "refSekundaerKlasse", world.system),
    ):
        assert desk.refused(action).status == 400


def test_nothing_is_linked_to_itself_or_below_itself(world: World) -> None:
    desk = world.desk
    ids = desk.ids(*world.folder("a"), save("Mappe", "b", tittel="b"), link("Mappe", "b", "refForelderMappe", "a"))
    a, b = ids["a"], ids["b"]
    assert desk.refused(link("Mappe", a, "refKryssreferanseTilMappe", a)).status == 400
    circle = [unlink("Mappe", a, "refArkivdel", world.series), link("Mappe", a, "refForelderMappe", b)]
    refusal = desk.refused(*circle)
    assert (refusal.status, "below itself" in refusal.description) == (400, True)


@pytest.mark.parametrize(
    "child",
    ["Sakspart", "Noekkelord", "Merknad", "EksternId", "Bygning", "Moetedeltaker"],
)
def test_an_owned_child_is_deleted_and_never_unlinked(world: World, child: str) -> None:
    refusal = world.desk.refused(unlink(child, "1", "refMappe", "2"))
    assert (refusal.status, "may not be unlinked" in refusal.description) == (400, True)


def test_what_is_not_linked_cannot_be_unlinked(world: World) -> None:
    desk = world.desk
    ids = desk.ids(*world.folder("a"), *world.folder("b"))
    for ref in ("refForelderMappe", "refKryssreferanseTilMappe", "refBarnMappe"):
        assert desk.refused(unlink("Mappe", ids["a"], ref, ids["b"])).status == 400


def test_cross_references_are_made_and_unmade_from_both_sides(world: World) -> None:
    desk = world.desk
    ids = desk.ids(*world.folder("a"), *world.folder("b"))
    a, b = ids["a"], ids["b"]
    pairs = "SELECT a, b FROM p_abstraktmappe_refkryssreferanseframappe_abstraktmappe_refkryssreferansetilmappe"

    def held() -> list[tuple[object, ...]]:
        return [row for row in desk.rows(pairs) if {str(row[0]), str(row[1])} == {a, b}]

    desk.run(link("Mappe", a, "refKryssreferanseTilMappe", b))
    forward = held()
    assert len(forward) == 1
    desk.run(link("Mappe", b, "refKryssreferanseFraMappe", a))
    assert held() == forward
    desk.run(link("Mappe", b, "refKryssreferanseTilMappe", a))
    assert len(held()) == 2
    desk.run(unlink("Mappe", a, "refKryssreferanseFraMappe", b), unlink("Mappe", a, "refKryssreferanseTilMappe", b))
    assert held() == []


def test_a_link_made_and_taken_back_in_one_transaction_leaves_nothing(world: World) -> None:
    desk = world.desk
    ids = desk.ids(
        *world.folder("a"),
        *world.folder("b"),
        link("Mappe", "a", "refKryssreferanseTilMappe", "b"),
        unlink("Mappe", "a", "refKryssreferanseTilMappe", "b"),
        unlink("Mappe", "b", "refArkivdel", world.series),
        link("Mappe", "b", "refForelderMappe", "a"),
    )
    assert desk.refused(unlink("Mappe", ids["a"], "refKryssreferanseTilMappe", ids["b"])).status == 400


def test_series_follow_each_other_one_to_one(world: World) -> None:
    desk = world.desk
    actions = [
        action
        for key in "abc"
        for action in (save("Arkivdel", key, tittel=key), link("Arkivdel", key, "refArkiv", world.arkiv))
    ]
    ids = desk.ids(*actions, link("Arkivdel", "a", "refArkivdelArvtaker", "b"))
    a, b, c = (ids[key] for key in "abc")
    assert desk.rows("SELECT refArkivdelForloeper FROM o_arkivdel WHERE id = ?", b) == [(int(a),)]
    assert desk.refused(link("Arkivdel", c, "refArkivdelForloeper", a)).status == 400
    assert desk.refused(link("Arkivdel", c, "refArkivdelArvtaker", b)).status == 400
    desk.run(unlink("Arkivdel", a, "refArkivdelArvtaker", b), link("Arkivdel", c, "refArkivdelForloeper", a))


def test_registry_entries_stand_in_case_files_unless_the_settings_are_loose(world: World) -> None:
    desk = world.desk
    folder = desk.ids(*world.folder())["folder"]
    assert desk.refused(*world.post(folder)).status == 400
    from_above = world.post(folder)
    from_above[1] = link("Mappe", folder, "refRegistrering", "post")
    assert desk.refused(*from_above).status == 400
    loose = desk.under(Settings(journal_posts_in_case_files_only=False))
    assert loose.run(*world.post(folder))
    assert loose.run(*from_above)


def test_a_registry_entry_may_stand_in_a_series_from_either_side(world: World) -> None:
    for join in (
        link("Journalpost", "post", "refArkivdel", world.series),
        link("Arkivdel", world.series, "refRegistrering", "post"),
    ):
        actions = world.post("")
        actions[1] = join
        assert world.desk.run(*actions)["post"]["links"] == {"refArkivdel": int(world.series)}


def test_an_archive_note_has_its_own_document_flow(world: World) -> None:
    saved = world.desk.run(
        *world.folder(),
        save("Arkivnotat", "note", tittel="n"),
        link("Arkivnotat", "note", "refMappe", "folder"),
        save(
            "Dokumentflyt",
            "flow",
            flytFra="a",
            flytFraBrukerIdent="a",
            flytTil="b",
            flytTilBrukerIdent="b",
            flytMottattDato="2024-01-01",
            flytSendtDato="2024-01-01",
            flytStatus="G",
        ),
        link("Arkivnotat", "note", "refArkivnotatDokumentflyt", "flow"),
    )
    assert saved["flow"]["links"] == {"refArkivnotat": int(saved["note"]["id"])}


def test_newer_labels_are_linked_like_any(world: World) -> None:
    saved = world.desk.run(
        *world.case_file(),
        save("Foedselsnummer", "n", foedselsnummer="01010750160"),
        link("Saksmappe", "case", "refPersonIdentifikator", "n"),
        save("Posisjon", "p", koordX="1", koordY="2"),
        link("Posisjon", "p", "refMappe", "case"),
        save("Sakspart", "s", sakspartNavn="n", sakspartRolle="r"),
        link("Sakspart", "s", "refMappe", "case"),
        save("EksternId", "e", eksterntSystem="x", eksternID="1"),
        link("EksternId", "e", "refSakspart", "s"),
    )
    assert saved["n"]["type"] == "Foedselsnummer"
    assert saved["e"]["links"] == {"refSakspart": int(saved["s"]["id"])}


def test_a_case_file_has_secondary_classes(world: World) -> None:
    ids = world.desk.ids(
        *fonds(),
        *klasse("k", world.foreign_system, "s"),
        *world.case_file(),
        link("Saksmappe", "case", "refSekundaerKlasse", "k"),
    )
    table = "p_abstraktmappe_refsekundaerklasse_klasse_refmappesomsekundaer"
    assert world.desk.rows(f"SELECT a, b FROM {table} WHERE a = ?", ids["case"]) == [(int(ids["case"]), int(ids["k"]))]


def test_a_pair_that_is_turned_twice_is_no_change(world: World) -> None:
    desk = world.desk
    ids = desk.ids(*world.folder("a"), *world.folder("b"))
    to = ("Mappe", ids["a"], "refKryssreferanseTilMappe", ids["b"])
    desk.run(link(*to), unlink(*to))
    desk.run(link(*to))
    desk.run(unlink(*to), link(*to))
    assert [entry["revision_type"] for entry in desk.log(ids["a"])] == ["CREATE", "LINK"]
    desk.run(unlink(*to))
    assert desk.refused(unlink(*to)).status == 400


def test_a_secondary_class_taken_back_screens_nothing(world: World) -> None:
    desk = world.desk
    desk.execute("INSERT OR IGNORE INTO code_value (list, code, name) VALUES ('skjerming', 'SC9', 'SC9')")
    closed = desk.ids(*klasse("k", world.foreign_system, "s9", skjerming="SC9"))["k"]
    for join, part in (
        (
            link("Klasse", closed, "refMappeSomSekundaer", "case"),
            unlink("Klasse", closed, "refMappeSomSekundaer", "case"),
        ),
        (
            link("Saksmappe", "case", "refSekundaerKlasse", closed),
            unlink("Saksmappe", "case", "refSekundaerKlasse", closed),
        ),
    ):
        assert desk.fields("case", *world.case_file(), join)["skjerming"] == "SC9"
        assert "skjerming" not in desk.fields("case", *world.case_file(), join, part)
