"""A plain folder becomes a case file, a basic record a registry entry."""

from __future__ import annotations

from tests.server.transaction.desk import Told, link, save
from tests.server.transaction.world import UNIT, World

FOLDER, RECORD = "/expand/folder", "/expand/record"
PARTY = {"korrespondansepartNavn": "Ola", "korrespondanseparttype": "EA"}


def expanded(world: World, path: str, body: dict[str, object]) -> Told:
    """The object that came of it."""
    saved: dict[str, Told] = world.desk.call(path, body)["saved"]  # type: ignore[assignment]  # as transactions tell it
    return saved[str(body["id"])]


def test_a_folder_becomes_a_case_file_and_keeps_what_it_has(world: World) -> None:
    desk = world.desk
    ids = desk.ids(*world.folder(), link("Mappe", "folder", "refPrimaerKlasse", world.leaf), *world.record("folder"))
    key = ids["folder"]
    before = desk.fields(key, save("Mappe", key))
    told = expanded(world, FOLDER, {"id": key, "saksmappe": {"administrativEnhet": UNIT, "saksaar": 1955}})
    assert (told["type"], told["version"]) == ("Saksmappe", "2")
    assert {**told["fields"], **before} == told["fields"]
    assert (told["fields"]["saksstatus"], told["fields"]["sakssekvensnummer"]) == ("B", 1)
    assert told["links"] == {"refArkivdel": int(world.series), "refPrimaerKlasse": int(world.leaf)}
    assert {entry["modified_field"] for entry in desk.log(key)[1:]} >= {"type", "saksaar", "administrativEnhet"}
    assert desk.run(*world.post(key))


def test_what_a_case_file_must_have_is_missed(world: World) -> None:
    desk = world.desk
    bare = desk.ids(*world.folder())["folder"]
    body: dict[str, object] = {"id": bare, "saksmappe": {"administrativEnhet": UNIT}}
    refusal = desk.refused(path=FOLDER, body=body)
    assert (refusal.status, "refPrimaerKlasse" in refusal.description) == (400, True)
    classed = desk.ids(*world.folder(), link("Mappe", "folder", "refPrimaerKlasse", world.leaf))["folder"]
    refusal = desk.refused(path=FOLDER, body={"id": classed})
    assert (refusal.status, "administrativEnhet" in refusal.description) == (400, True)


def test_a_folder_in_or_around_folders_cannot_become_a_case_file(world: World) -> None:
    desk = world.desk
    ids = desk.ids(
        *world.folder("outer"),
        link("Mappe", "outer", "refPrimaerKlasse", world.leaf),
        save("Mappe", "inner", tittel="m"),
        link("Mappe", "inner", "refForelderMappe", "outer"),
        link("Mappe", "inner", "refPrimaerKlasse", world.leaf),
    )
    for key, ref in (("outer", "refBarnMappe"), ("inner", "refForelderMappe")):
        refusal = desk.refused(path=FOLDER, body={"id": ids[key], "saksmappe": {"administrativEnhet": UNIT}})
        assert (refusal.status, ref in refusal.description) == (400, True)


def test_a_record_becomes_a_registry_entry_with_parties(world: World) -> None:
    desk = world.desk
    ids = desk.ids(*world.case_file(), *world.record("case"), *world.document("record"))
    key = ids["record"]
    body: dict[str, object] = {"id": key, "journalpost": {"journalposttype": "I"}, "korrespondansepart": [PARTY, PARTY]}
    told = expanded(world, RECORD, body)
    assert told["type"] == "Journalpost"
    assert (told["fields"]["journalstatus"], told["fields"]["journalpostnummer"]) == ("J", 1)
    assert len(desk.rows("SELECT 1 FROM o_korrespondansepart WHERE refRegistrering = ?", key)) == 2
    assert desk.run(save("Journalpost", key, tittel="new"))


def test_an_entry_needs_its_case_file_and_its_party(world: World) -> None:
    desk = world.desk
    ids = desk.ids(
        *world.case_file(), *world.record("case", "in-case"), *world.folder(), *world.record("folder", "in-folder")
    )
    fields = {"journalposttype": "I"}
    lonely = desk.refused(path=RECORD, body={"id": ids["in-case"], "journalpost": fields})
    assert (lonely.status, "refKorrespondansepart" in lonely.description) == (400, True)
    astray = desk.refused(
        path=RECORD, body={"id": ids["in-folder"], "journalpost": fields, "korrespondansepart": [PARTY]}
    )
    assert (astray.status, "refMappe" in astray.description) == (400, True)


def test_bodies_of_the_wrong_shape_are_refused(world: World) -> None:
    desk = world.desk
    key = desk.ids(*world.folder())["folder"]
    for status, body in (
        (400, {}),
        (400, {"id": "x"}),
        (404, {"id": "99999999"}),
        (404, {"id": world.series}),
        (400, {"id": key, "saksmappe": []}),
        (400, {"id": key, "saksmappe": {"tittel": "x"}}),
        (400, {"id": key, "saksmappe": {"half \ud83d": "x"}}),
        (400, {"id": key, "saksmappe": {"saksdato": "soon"}}),
    ):
        refusal = desk.refused(path=FOLDER, body=body)
        assert refusal.status == status
        refusal.description.encode()
    wrong: tuple[object, ...] = ({}, ["x"], [{"nonsense": 1}])
    for parties in wrong:
        record = desk.ids(*world.record(key))["record"]
        assert desk.refused(path=RECORD, body={"id": record, "korrespondansepart": parties}).status == 400
    assert desk.blind_to(key).refused(path=FOLDER, body={"id": key}).status == 404
    assert desk.without("Update").refused(path=FOLDER, body={"id": key}).status in (400, 403)
