"""What must hold at the end of a transaction, whatever the order of its actions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from noarkit.server.settings import Settings
from tests.server.transaction.desk import Action, Desk, link, save, unlink
from tests.server.transaction.world import UNIT, World, fonds, klasse

FLOW: dict[str, object] = {
    "flytFra": "a",
    "flytFraBrukerIdent": "a",
    "flytTil": "b",
    "flytTilBrukerIdent": "b",
    "flytMottattDato": "2024-01-01",
    "flytSendtDato": "2024-01-01",
    "flytStatus": "G",
}

# What each type must be given, and one action less than enough: (what is missing, the actions).
LACKING: list[tuple[str, Callable[[World], list[Action]]]] = [
    ("tittel", lambda w: [save("Arkiv", "arkiv"), *fonds()[1:]]),
    ("refArkivskaper", lambda w: fonds()[:1]),
    ("refArkiv", lambda w: fonds()[1:2]),
    ("arkivskaperIdent", lambda w: [fonds()[0], save("Arkivskaper", "skaper", arkivskaperNavn="n"), fonds()[2]]),
    ("refArkiv", lambda w: [save("Arkivdel", "x", tittel="t")]),
    ("tittel", lambda w: [save("Klassifikasjonssystem", "x")]),
    ("klasseIdent", lambda w: [save("Klasse", "k", tittel="t"), *klasse("k", w.system)[1:]]),
    ("refKlassifikasjonssystem", lambda w: klasse("k", w.system)[:1]),
    (
        "refKlassifikasjonssystem",
        lambda w: [*klasse("k", w.system)[:1], link("Klasse", "k", "refForelderKlasse", w.branch)],
    ),
    ("refArkivdel, refForelderMappe", lambda w: w.folder()[:1]),
    ("refArkivdel", lambda w: [w.case_file()[0], w.case_file()[2]]),
    ("refPrimaerKlasse", lambda w: w.case_file()[:2]),
    ("administrativEnhet", lambda w: [save("Saksmappe", "case", tittel="t"), *w.case_file()[1:]]),
    ("refMappe", lambda w: [save("Sakspart", "x", sakspartNavn="n", sakspartRolle="r")]),
    (
        "sakspartRolle",
        lambda w: [*w.folder(), save("Sakspart", "x", sakspartNavn="n"), link("Sakspart", "x", "refMappe", "folder")],
    ),
    (
        "refMoetedeltaker",
        lambda w: [
            save("Moetemappe", "m", tittel="t", moetenummer="1", utvalg="u"),
            link("Moetemappe", "m", "refArkivdel", w.series),
        ],
    ),
    ("refArkivdel, refMappe", lambda w: w.record("folder")[:1]),
    ("refKorrespondansepart", lambda w: [*w.case_file(), *w.post("case")[:2]]),
    ("journalposttype", lambda w: [*w.case_file(), *w.post("case", journalposttype=None)]),
    ("refRegistrering", lambda w: w.post("case")[2:3]),
    (
        "saksbehandler",
        lambda w: [save("Moeteregistrering", "x", tittel="t", administrativEnhet=UNIT, moeteregistreringstype="D")],
    ),
    ("refArkivnotat, refJournalpost", lambda w: [save("Dokumentflyt", "x", None, **FLOW)]),
    ("refJournalpost", lambda w: [save("Avskrivning", "x", avskrivningsmaate="TE")]),
    ("refRegistrering", lambda w: w.document("x")[:1]),
    (
        "tilknyttetRegistreringSom",
        lambda w: [*w.folder(), *w.record("folder"), *w.document("record", tilknyttetRegistreringSom=None)],
    ),
    ("refDokument", lambda w: w.version("x", w.desk.upload())[:1]),
    (
        "referanseDokumentfil",
        lambda w: [
            *w.folder(),
            *w.record("folder"),
            *w.document("record"),
            *w.version("document", "", referanseDokumentfil=None),
        ],
    ),
    ("refMappe, refRegistrering", lambda w: [save("Adresse", "x", adresseKnr="1", adressenavn="a")]),
    (
        "bygningsnummer",
        lambda w: [
            *w.folder(),
            save("Bygning", "x", endringsloepenummer="1"),
            link("Bygning", "x", "refMappe", "folder"),
        ],
    ),
    (
        "gnr",
        lambda w: [*w.folder(), save("Eiendom", "x", knr="1", bnr="1"), link("Eiendom", "x", "refMappe", "folder")],
    ),
    (
        "planKommunenummer",
        lambda w: [*w.folder(), save("Plan", "x", planident="1"), link("Plan", "x", "refMappe", "folder")],
    ),
    (
        "planKommunenummer",
        lambda w: [
            *w.folder(),
            save("Plan", "x", planident="1", planKommunenummer="1", planLandskode="no"),
            link("Plan", "x", "refMappe", "folder"),
        ],
    ),
    ("rettskildefaktor", lambda w: [save("Presedens", "x", title="t")]),
    ("refMappe", lambda w: [save("EksternId", "x", eksterntSystem="s", eksternID="1")]),
    (
        "eksternID",
        lambda w: [
            *w.folder(),
            save("EksternId", "x", eksterntSystem="s"),
            link("EksternId", "x", "refMappe", "folder"),
        ],
    ),
    ("refMappe, refRegistrering", lambda w: [save("Noekkelord", "x", verdi="v")]),
    ("refMappe", lambda w: [save("Merknad", "x", tekst="t", merknadstype="MER")]),
    (
        "merknadstype",
        lambda w: [*w.folder(), save("Merknad", "x", tekst="t"), link("Merknad", "x", "refMappe", "folder")],
    ),
]


@pytest.mark.parametrize(
    ("missing", "actions"), LACKING, ids=[f"{number}-{name}" for number, (name, _) in enumerate(LACKING)]
)
def test_what_a_type_must_have_is_missed(world: World, missing: str, actions: Callable[[World], list[Action]]) -> None:
    refusal = world.desk.refused(*actions(world))
    assert refusal.status == 400
    assert missing in refusal.description
    assert refusal.description.startswith("actions[")


def test_exactly_one_parent_is_neither_none_nor_two(world: World) -> None:
    desk = world.desk
    both = [*world.folder("a"), *world.folder("b"), link("Mappe", "a", "refForelderMappe", "b")]
    refusal = desk.refused(*both)
    assert (refusal.status, "exactly one of" in refusal.description) == (400, True)
    label = [
        *world.folder(),
        *world.record("folder"),
        save("EksternId", "e", eksterntSystem="s", eksternID="1"),
        link("EksternId", "e", "refMappe", "folder"),
        link("EksternId", "e", "refRegistrering", "record"),
    ]
    assert desk.refused(*label).status == 400


def test_a_mandatory_link_cannot_be_taken_from_a_known_object(world: World) -> None:
    desk = world.desk
    case = desk.ids(*world.case_file())["case"]
    assert desk.refused(unlink("Saksmappe", case, "refPrimaerKlasse", world.leaf)).status == 400
    assert desk.refused(unlink("Klasse", world.leaf, "refMappeSomPrimaer", case)).status == 400
    folder = desk.ids(*world.folder())["folder"]
    assert desk.refused(unlink("Mappe", folder, "refArkivdel", world.series)).status == 400


def test_a_folder_has_folders_or_records_and_never_both(world: World) -> None:
    desk = world.desk
    child = [save("Mappe", "child", tittel="c"), link("Mappe", "child", "refForelderMappe", "folder")]
    assert desk.refused(*world.folder(), *child, *world.record("folder")).status == 400
    ids = desk.ids(*world.folder(), *child)
    refusal = desk.refused(*world.record(ids["folder"]))
    assert (refusal.status, "cannot have both" in refusal.description) == (400, True)
    other = desk.ids(*world.folder(), *world.record("folder"))["folder"]
    assert desk.refused(child[0], link("Mappe", other, "refBarnMappe", "child")).status == 400


def test_a_folder_that_lost_its_records_may_have_folders(world: World) -> None:
    desk = world.desk
    ids = desk.ids(*world.folder("a"), *world.folder("b"), *world.record("a"))
    child = [save("Mappe", "child", tittel="c"), link("Mappe", "child", "refForelderMappe", ids["a"])]
    assert desk.refused(*child).status == 400
    made = desk.ids(
        unlink("Basisregistrering", ids["record"], "refMappe", ids["a"]),
        link("Basisregistrering", ids["record"], "refMappe", ids["b"]),
        *child,
    )
    assert desk.rows("SELECT refForelderMappe FROM o_abstraktmappe WHERE id = ?", made["child"]) == [(int(ids["a"]),)]
    assert desk.rows("SELECT refMappe FROM o_abstraktregistrering WHERE id = ?", ids["record"]) == [(int(ids["b"]),)]


def test_only_leaf_classes_are_used(world: World) -> None:
    desk = world.desk
    on_branch = world.case_file()
    on_branch[2] = link("Saksmappe", "case", "refPrimaerKlasse", world.branch)
    refusal = desk.refused(*on_branch)
    assert (refusal.status, "refBarnKlasse" in refusal.description) == (400, True)
    secondary = link("Saksmappe", "case", "refSekundaerKlasse", world.branch)
    assert desk.refused(*world.case_file(), secondary).status == 400
    new_branch = [
        *klasse("p", world.system, "p"),
        *klasse("c", world.system, "c"),
        link("Klasse", "c", "refForelderKlasse", "p"),
    ]
    used = world.case_file()
    used[2] = link("Saksmappe", "case", "refPrimaerKlasse", "p")
    assert desk.refused(*new_branch, *used).status == 400


def test_a_class_in_use_gets_no_children(world: World) -> None:
    desk = world.desk
    leaves = desk.ids(*klasse("a", world.system, "a"), *klasse("b", world.system, "b"))
    desk.run(*world.case_file("x"), link("Saksmappe", "x", "refSekundaerKlasse", leaves["a"]))
    desk.run(*world.folder("y"), link("Mappe", "y", "refPrimaerKlasse", leaves["b"]))
    assert len(leaves) == 2
    for parent in leaves.values():
        child = [*klasse("c", world.system, "c"), link("Klasse", "c", "refForelderKlasse", parent)]
        assert desk.refused(*child).status == 400


def test_a_primary_class_is_in_the_primary_system_of_the_series(world: World) -> None:
    desk = world.desk
    astray = world.case_file()
    astray[2] = link("Saksmappe", "case", "refPrimaerKlasse", world.foreign)
    refusal = desk.refused(*astray)
    assert (refusal.status, "primary classification system" in refusal.description) == (400, True)
    deep = [
        *world.folder("top"),
        save("Mappe", "mid", tittel="m"),
        link("Mappe", "mid", "refForelderMappe", "top"),
        *world.record("mid"),
    ]
    assert desk.refused(*deep, link("Basisregistrering", "record", "refPrimaerKlasse", world.foreign)).status == 400
    ids = desk.ids(*deep)
    late = link("Basisregistrering", ids["record"], "refPrimaerKlasse", world.foreign)
    assert desk.refused(late).status == 400
    desk.run(link("Basisregistrering", ids["record"], "refPrimaerKlasse", world.leaf))


@pytest.fixture
def elsewhere(world: World) -> str:
    """A series with another primary system."""
    return world.desk.ids(
        save("Arkivdel", "s", tittel="s"),
        link("Arkivdel", "s", "refArkiv", world.arkiv),
        link("Arkivdel", "s", "refPrimaerKlassifikasjonssystem", world.foreign_system),
    )["s"]


def test_a_move_keeps_classes_in_the_primary_system(world: World, elsewhere: str) -> None:
    desk = world.desk
    ids = desk.ids(
        *world.folder(), *world.record("folder"), link("Basisregistrering", "record", "refPrimaerKlasse", world.leaf)
    )
    away = [
        unlink("Mappe", ids["folder"], "refArkivdel", world.series),
        link("Mappe", ids["folder"], "refArkivdel", elsewhere),
    ]
    assert desk.refused(*away).status == 400
    reclassed = [
        unlink("Basisregistrering", ids["record"], "refPrimaerKlasse", world.leaf),
        link("Basisregistrering", ids["record"], "refPrimaerKlasse", world.foreign),
    ]
    assert desk.refused(*reclassed).status == 400
    desk.run(*away, *reclassed)


def test_a_series_in_use_keeps_its_primary_system(world: World, elsewhere: str) -> None:
    desk = world.desk
    swap = [
        unlink("Arkivdel", elsewhere, "refPrimaerKlassifikasjonssystem", world.foreign_system),
        link("Arkivdel", elsewhere, "refPrimaerKlassifikasjonssystem", world.system),
    ]
    case = world.case_file()
    case[1:] = [
        link("Saksmappe", "case", "refArkivdel", elsewhere),
        link("Saksmappe", "case", "refPrimaerKlasse", world.foreign),
    ]
    desk.run(*case)
    assert desk.refused(*swap).status == 400


def test_a_class_in_use_stays_in_its_system(world: World) -> None:
    desk = world.desk
    key = desk.ids(*klasse("k", world.system, "k"))["k"]
    case = world.case_file()
    case[2] = link("Saksmappe", "case", "refPrimaerKlasse", key)
    move = [
        unlink("Klasse", key, "refKlassifikasjonssystem", world.system),
        link("Klasse", key, "refKlassifikasjonssystem", world.foreign_system),
    ]
    desk.run(*case)
    assert desk.refused(*move).status == 400


def test_a_child_class_is_in_the_system_of_its_parent(world: World) -> None:
    actions = [*klasse("k", world.foreign_system, "k"), link("Klasse", "k", "refForelderKlasse", world.branch)]
    assert world.desk.refused(*actions).status == 400


def test_meetings_need_participants_unless_the_settings_are_loose(world: World) -> None:
    meeting = [
        save("Moetemappe", "m", tittel="t", moetenummer="1", utvalg="u"),
        link("Moetemappe", "m", "refArkivdel", world.series),
    ]
    assert world.desk.refused(*meeting).status == 400
    loose: Desk = world.desk.under(Settings(meetings_need_participants=False))
    assert loose.run(*meeting)


def test_objects_may_be_saved_before_anything_they_need(world: World) -> None:
    actions = [*world.case_file(), *world.post("case"), *world.document("post")]
    saves = [action for action in actions if action["action"] == "save"]
    links = [action for action in actions if action["action"] == "link"]
    assert len(world.desk.run(*saves, *reversed(links))) == len(saves)


def test_a_thousand_folders_deep_is_as_good_as_one(world: World) -> None:
    actions = world.folder("m0")
    for depth in range(1, 1000):
        actions += [
            save("Mappe", f"m{depth}", tittel="t"),
            link("Mappe", f"m{depth}", "refForelderMappe", f"m{depth - 1}"),
        ]
    assert len(world.desk.run(*actions)) == 1000
