"""Saves: new objects and changes, what comes back, what is filled in, what is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from noarkit.server.settings import Settings
from tests.server.transaction.desk import Action, Desk, link, save
from tests.server.transaction.world import UNIT, World, fonds, klasse

NOW = "2024-03-05T12:00:00.000Z"


def test_nothing_asked_is_nothing_saved(desk: Desk) -> None:
    assert desk.answer() == {"saved": {}}


def test_a_created_object_comes_back_under_its_temporary_id(desk: Desk) -> None:
    told = desk.run(*fonds())["skaper"]
    fields = told["fields"]
    assert set(told) == {"type", "id", "version", "fields", "links"}
    assert told["type"] == "Arkivskaper"
    assert isinstance(told["id"], str)
    assert told["version"] == "1"
    uuid = str(fields.pop("uuid"))
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", uuid)
    assert fields == {
        "opprettetDato": NOW,
        "opprettetAv": "name of integration",
        "opprettetAvBrukerIdent": "integration",
        "arkivskaperIdent": "1",
        "arkivskaperNavn": "A creator",
    }
    assert list(told["links"]) == ["refArkiv"]
    assert isinstance(told["links"]["refArkiv"], int)


def test_an_object_without_links_still_tells_them(desk: Desk) -> None:
    assert desk.run(save("Klassifikasjonssystem", "x", tittel="x"))["x"]["links"] == {}


def test_a_changed_object_comes_back_under_its_permanent_id_with_the_next_version(desk: Desk) -> None:
    key = desk.ids(save("Klassifikasjonssystem", "x", tittel="before", beskrivelse="b"))["x"]
    told = desk.run(save("Klassifikasjonssystem", key, tittel="after", beskrivelse=None))
    assert set(told) == {key}
    assert told[key]["version"] == "2"
    assert told[key]["fields"]["tittel"] == "after"
    assert "beskrivelse" not in told[key]["fields"]


def test_a_save_that_changes_nothing_keeps_the_version(desk: Desk) -> None:
    key = desk.ids(save("Klassifikasjonssystem", "x", tittel="same"))["x"]
    assert desk.run(save("Klassifikasjonssystem", key, tittel="same"))[key]["version"] == "1"
    assert desk.run({"action": "save", "type": "Klassifikasjonssystem", "id": key})[key]["version"] == "1"


def test_a_temporary_id_may_be_saved_again(world: World) -> None:
    saved = world.desk.run(*world.folder(), save("Mappe", "folder", tittel="Second", opprettetAv="Someone"))
    assert list(saved) == ["folder"]
    assert saved["folder"]["fields"]["tittel"] == "Second"
    assert saved["folder"]["fields"]["opprettetAv"] == "Someone"


def test_saved_shows_links_made_after_the_save(world: World) -> None:
    saved = world.desk.run(*world.case_file())
    assert saved["case"]["links"] == {"refArkivdel": int(world.series), "refPrimaerKlasse": int(world.leaf)}


def test_ids_as_numbers_and_single_strings_are_taken(world: World) -> None:
    actions: list[Action] = [
        save("Mappe", "m", tittel="t"),
        {"action": "link", "type": "Mappe", "id": "m", "ref": "refArkivdel", "linkToId": world.series},
        {"action": "save", "type": "Klassifikasjonssystem", "id": int(world.system), "fields": {"beskrivelse": "b"}},
    ]
    assert set(world.desk.run(*actions)) == {"m", world.system}


GENERATED: dict[str, dict[str, object]] = {
    "Arkiv": {"arkivstatus": "O", "dokumentmedium": "E"},
    "Arkivdel": {"arkivdelstatus": "A", "dokumentmedium": "E"},
    "Saksmappe": {
        "saksstatus": "B",
        "dokumentmedium": "E",
        "saksaar": 2024,
        "saksdato": "2024-03-05",
        "saksansvarlig": "name of integration",
        "saksansvarligBrukerIdent": "integration",
    },
    "Journalpost": {
        "journalstatus": "J",
        "journalaar": 2024,
        "registreringsDato": "2024-03-05",
        "journalansvarlig": "name of integration",
        "journalansvarligBrukerIdent": "integration",
        "publiseringsstatus": "NOT_PUBLISHED",
        "eInnsynStatus": "NOT_PUBLISHED",
        "skjermKorrespondanseParterEInnsyn": False,
        "journalpostnummer": 1,
    },
    "Basisregistrering": {"publiseringsstatus": "NOT_PUBLISHED", "dokumentmedium": "E"},
    "Korrespondansepart": {"skjermEInnsyn": False},
    "Dokument": {"dokumentstatus": "B", "dokumentmedium": "E", "dokumentnummer": 1},
    "Dokumentversjon": {
        "versjonsnummer": 1,
        "kryptertDokument": False,
        "sjekksum": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        "sjekksumAlgoritme": "SHA-256",
        "filstoerrelse": 5,
        "filnavn": "hello.txt",
        "innholdstype": "text/plain",
    },
    "Moetemappe": {"moetedato": "2024-03-05"},
    "Presedens": {
        "title": "A case",
        "tittel": "A case",
        "presedensDato": "2024-03-05",
        "presedensGodkjentDato": NOW,
        "presedensGodkjentAv": "name of integration",
        "presedensGodkjentAvBrukerIdent": "integration",
        "presedensStatus": "G",
    },
}


@pytest.fixture(scope="module")
def everything(world: World) -> dict[str, dict[str, object]]:
    """One new object of many types, by type."""
    desk = world.desk
    factor = str(desk.rows("SELECT code FROM code_value WHERE list = 'rettskildefaktor' LIMIT 1")[0][0])
    saved = desk.run(
        *fonds(),
        save("Arkivdel", "s", tittel="s"),
        link("Arkivdel", "s", "refArkiv", "arkiv"),
        *world.case_file(),
        *world.folder(),
        *world.post("case"),
        *world.record("folder"),
        *world.document("post"),
        *world.version("document", desk.upload()),
        save("Moetemappe", "meeting", tittel="m", moetenummer="1", utvalg="u"),
        link("Moetemappe", "meeting", "refArkivdel", world.series),
        save("Moetedeltaker", "member", navn="n"),
        link("Moetedeltaker", "member", "refMappe", "meeting"),
        save("Presedens", "precedent", rettskildefaktor=factor),
        link("Presedens", "precedent", "refSaksmappe", "case"),
    )
    return {told["type"]: told["fields"] for told in saved.values()}


@pytest.mark.parametrize("type_name", GENERATED)
def test_the_archive_fills_in(everything: dict[str, dict[str, object]], type_name: str) -> None:
    expected = GENERATED[type_name]
    assert {name: everything[type_name].get(name) for name in expected} == expected


def test_records_other_than_registry_entries_get_no_registration_date(
    everything: dict[str, dict[str, object]],
) -> None:
    assert "registreringsDato" not in everything["Basisregistrering"]


def test_null_for_a_default_is_the_default_where_a_value_must_be(world: World) -> None:
    fields = world.desk.fields("case", *world.case_file(saksdato=None, saksstatus=None, uuid=None))
    assert fields["saksdato"] == "2024-03-05"
    assert fields["saksstatus"] == "B"
    assert fields["uuid"]


REFUSED_FIELDS = [
    ("nonsense", 1, "A field with name nonsense was not found in Saksmappe or its hierarchy."),
    ("refArkivdel", "1", "A field with name refArkivdel was not found in Saksmappe or its hierarchy."),
    ("tittel", 5, "field tittel takes a string"),
    ("tittel", "", "field tittel must have a value"),
    ("tittel", None, "field tittel must have a value"),
    ("administrativEnhet", "nowhere", "field administrativEnhet: 'nowhere' is no code"),
    ("saksdato", "soon", "field saksdato takes a date"),
    ("bevaringstid", "ten", "field bevaringstid takes a whole number"),
    ("filnavn", "x", "A field with name filnavn was not found"),
    ("uuid", "not a uuid", "field uuid takes a UUID"),
]


@pytest.mark.parametrize(("name", "value", "sentence"), REFUSED_FIELDS)
def test_a_field_that_does_not_fit_a_new_object_is_named(world: World, name: str, value: object, sentence: str) -> None:
    given: dict[str, object] = {name: value}
    refusal = world.desk.refused(*world.folder(), *world.case_file("case", **given))
    assert refusal.status == 400
    assert refusal.description.startswith("actions[2] ")
    assert sentence in refusal.description


@pytest.mark.parametrize(("name", "value", "sentence"), REFUSED_FIELDS)
def test_a_field_that_does_not_fit_a_known_object_is_named(
    world: World, name: str, value: object, sentence: str
) -> None:
    key = world.desk.ids(*world.case_file())["case"]
    refusal = world.desk.refused(save("Saksmappe", key, None, **{name: value}))
    assert refusal.status == 400
    assert refusal.description.startswith("actions[0] ")
    assert sentence in refusal.description


def test_a_wrong_key_among_fields_never_breaks_the_answer(world: World) -> None:
    assert world.desk.refused(*world.folder("folder", **{"half \ud83d": 1})).status == 400


def test_system_managed_facts_pass_unchanged_and_are_refused_changed(world: World) -> None:
    desk = world.desk
    ids = desk.ids(
        *world.folder(), *world.record("folder"), *world.document("record"), *world.version("document", desk.upload())
    )
    key = ids["version"]
    echoed = desk.fields(key, save("Dokumentversjon", key, filnavn="hello.txt", filstoerrelse=5, formatDetaljer="x"))
    assert echoed["formatDetaljer"] == "x"
    refusal = desk.refused(save("Dokumentversjon", key, filnavn="other.txt"))
    assert (refusal.status, "field filnavn" in refusal.description) == (400, True)
    assert desk.refused(save("Dokument", ids["document"], kassertAv="me")).status == 400
    assert desk.run(save("Dokument", ids["document"], kassertAv=None))


def test_a_new_version_may_say_its_file_name_if_it_is_right(world: World) -> None:
    desk = world.desk
    document = desk.ids(*world.folder(), *world.record("folder"), *world.document("record"))["document"]
    right = world.version(document, desk.upload(), filnavn="hello.txt")
    assert desk.fields("version", *right)["filnavn"] == "hello.txt"
    assert desk.refused(*world.version(document, desk.upload(), filnavn="other.txt")).status == 400


def test_what_can_never_change_is_refused_changed_and_passes_unchanged(world: World) -> None:
    desk = world.desk
    assert desk.refused(save("Klasse", world.leaf, klasseIdent="77")).status == 400
    assert desk.run(save("Klasse", world.leaf, klasseIdent="1"))
    key = desk.ids(*world.case_file())["case"]
    assert desk.fields(key, save("Saksmappe", key, prefiks="A"))["prefiks"] == "A"
    assert desk.refused(save("Saksmappe", key, prefiks="B")).status == 400
    assert desk.refused(save("Saksmappe", key, prefiks=None)).status == 400
    assert desk.run(save("Saksmappe", key, prefiks="A"))


def test_an_echo_of_everything_read_changes_nothing(world: World) -> None:
    desk = world.desk.without("UpdateSystemManaged")
    told = desk.run(*world.case_file())["case"]
    fields = told["fields"]
    fields["opprettetDato"] = "2024-03-05T13:00:00.000+0100"
    again = desk.run(save("Saksmappe", told["id"], told["version"], **fields))
    assert again[told["id"]]["version"] == "1"


def test_versions_are_compared_where_they_are_honoured(desk: Desk) -> None:
    key = desk.ids(save("Klassifikasjonssystem", "x", tittel="1"))["x"]
    desk.run(save("Klassifikasjonssystem", key, "1", tittel="2"))
    assert desk.refused(save("Klassifikasjonssystem", key, "1", tittel="3")).status == 409
    assert desk.refused(save("Klassifikasjonssystem", key, 1, tittel="3")).status == 409
    assert desk.run(save("Klassifikasjonssystem", key, 2, tittel="3"))[key]["version"] == "3"
    assert desk.run(save("Klassifikasjonssystem", key, tittel="4"))[key]["version"] == "4"
    lenient = desk.under(Settings(honours_versions=False))
    assert lenient.run(save("Klassifikasjonssystem", key, "1", tittel="5"))[key]["version"] == "5"
    assert desk.refused(save("Klassifikasjonssystem", key, "x", tittel="6")).status == 400


def test_a_change_of_a_child_moves_its_parents_version(world: World) -> None:
    desk = world.desk
    case = desk.ids(*world.case_file())["case"]
    desk.run(*world.post(case))
    assert desk.run(save("Saksmappe", case))[case]["version"] == "2"
    desk.run(*world.post(case, "a"), *world.post(case, "b"))
    assert desk.run(save("Saksmappe", case))[case]["version"] == "3"
    assert desk.refused(save("Saksmappe", case, "1", tittel="late")).status == 409


def test_a_chosen_uuid_is_kept_and_cannot_be_taken_twice(world: World) -> None:
    desk = world.desk
    uuid = "0F8FAD5B-D9CB-469F-A165-70867728950E"
    key = desk.ids(*world.folder("first", uuid=uuid))["first"]
    assert desk.fields(key, save("Mappe", key, uuid=uuid))["uuid"] == uuid.lower()
    refusal = desk.refused(*world.folder("second", uuid=uuid))
    assert (refusal.status, "actions[0]" in refusal.description) == (400, True)
    fresh = "1f8fad5b-d9cb-469f-a165-70867728950e"
    assert desk.refused(*world.folder("a", uuid=fresh), *world.folder("b", uuid=fresh)).status == 400


def test_a_precedents_title_has_two_names(desk: Desk) -> None:
    factor = str(desk.rows("SELECT code FROM code_value WHERE list = 'rettskildefaktor' LIMIT 1")[0][0])
    for name in ("title", "tittel"):
        fields = desk.fields("p", save("Presedens", "p", rettskildefaktor=factor, **{name: "Fences"}))
        assert (fields["title"], fields["tittel"]) == ("Fences", "Fences")


def test_a_files_facts_follow_when_its_version_gets_another(world: World) -> None:
    desk = world.desk
    actions = [*world.folder(), *world.record("folder"), *world.document("record")]
    key = desk.ids(*actions, *world.version("document", desk.upload()))["version"]
    fields = desk.fields(key, save("Dokumentversjon", key, referanseDokumentfil=desk.upload(b"more", "more.txt")))
    assert (fields["filnavn"], fields["filstoerrelse"]) == ("more.txt", 4)


def test_a_file_must_be_there_and_be_ones_own(world: World) -> None:
    desk = world.desk
    document = desk.ids(*world.folder(), *world.record("folder"), *world.document("record"))["document"]
    unknown = desk.refused(*world.version(document, "999999999"))
    assert (unknown.status, unknown.description.startswith("actions[0] ")) == (400, True)
    assert desk.refused(*world.version(document, desk.upload(account="another"))).status == 400
    assert desk.refused(*world.version(document, "abc")).status == 400
    assert desk.without("Store documents").refused(*world.version(document, desk.upload())).status == 403


@pytest.mark.parametrize("stance", ["accept", "warn", "refuse"])
def test_identity_numbers_in_open_texts_meet_the_archives_stance(world: World, stance: str) -> None:
    number = "01010750160"
    desk = world.desk.under(replace(Settings(), identity_numbers=stance))  # type: ignore[arg-type]  # the stances
    actions = world.folder(tittel=f"About {number}")
    if stance == "refuse":
        refusal = desk.refused(*actions)
        assert (refusal.status, number in refusal.description) == (400, False)
        assert "field tittel" in refusal.description
        return
    answer = desk.answer(*actions)
    told = answer.get("warnings")
    assert told == (
        None if stance == "accept" else ["actions[0] (save Mappe): field tittel holds a national identity number."]
    )


def test_identity_numbers_may_stand_where_they_belong(world: World) -> None:
    desk = world.desk.under(Settings(identity_numbers="refuse"))
    case = desk.ids(*world.case_file())["case"]
    party = save("Sakspart", "p", sakspartNavn="n", sakspartRolle="r", foedselsnummer="01010750160")
    assert desk.run(party, link("Sakspart", "p", "refMappe", case))
    changed = desk.refused(save("Saksmappe", case, beskrivelse="010107 50160"))
    assert changed.status == 400


def test_newer_fields_are_taken_and_can_be_hidden(world: World) -> None:
    record = world.record("folder", mottattDato="2024-01-01T00:00:00Z")
    assert world.desk.fields("record", *world.folder(), *record)["mottattDato"] == "2024-01-01T00:00:00.000Z"
    hidden = world.desk.under(Settings(show_newer=False))
    assert "mottattDato" not in hidden.fields("record", *world.folder(), *record)


def test_every_abstract_or_unknown_type_is_refused(desk: Desk) -> None:
    for name in ("AbstraktMappe", "AbstraktRegistrering", "NasjonalIdentifikator", "Dings", "", None, 5, ["Mappe"]):
        assert desk.refused({"action": "save", "type": name, "id": "x", "fields": {}}).status == 400


def test_a_class_may_be_saved_with_its_parent_in_any_order(world: World) -> None:
    saved = world.desk.run(
        save("Klasse", "child", klasseIdent="c", tittel="c"),
        *klasse("parent", world.system, "p"),
        link("Klasse", "parent", "refBarnKlasse", "child"),
        link("Klassifikasjonssystem", world.system, "refKlasse", "child"),
    )
    assert saved["child"]["links"] == {
        "refKlassifikasjonssystem": int(world.system),
        "refForelderKlasse": int(saved["parent"]["id"]),
    }


def test_the_unit_of_the_small_archive_is_in_its_list(desk: Desk) -> None:
    assert desk.rows("SELECT 1 FROM code_value WHERE list = 'administrativEnhet' AND code = ?", UNIT)


def test_null_for_an_optional_default_stays_null(world: World) -> None:
    case = world.desk.ids(*world.case_file())["case"]
    actions = world.post(case)
    actions[2] = save(
        "Korrespondansepart", "post-party", korrespondanseparttype="EA", korrespondansepartNavn="n", skjermEInnsyn=None
    )
    assert "skjermEInnsyn" not in world.desk.fields("post-party", *actions)
