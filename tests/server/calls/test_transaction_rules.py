"""POST transaction: the rules of the archive, one test a row of the table of failures, with the words that help."""

from __future__ import annotations

import pytest

from tests.server.calls.scene import Body, Scene, entry_actions, refuses, unlink, version_actions
from tests.server.calls.shapes import answered, empty
from tests.server.wire import delete, link, save

NOWHERE = "999999999"


def test_a_link_target_of_the_wrong_type_is_400(scene: Scene) -> None:
    folder, case = scene.folder(), scene.case()
    words = ("actions[1]", "refArkivdel", "Arkivdel")
    refuses(scene, 400, words, save("Mappe", "@x", tittel="T"), link("Mappe", "@x", "refArkivdel", scene.ids["class"]))
    refuses(scene, 400, ("actions[0]",), link("Mappe", folder, "refForelderMappe", scene.ids["series"]))
    refuses(scene, 400, ("actions[1]", "refMappe"), *entry_actions(folder)[:2])
    refuses(scene, 400, ("actions[0]", "refPrimaerKlasse"), link("Saksmappe", case, "refPrimaerKlasse", folder))


def a_class(scene: Scene, ident: str, system: str, *below: str) -> str:
    up = [link("Klasse", "@c", "refForelderKlasse", *below)] if below else []
    made = save("Klasse", "@c", klasseIdent=ident, tittel="Klasse")
    return scene.made(made, link("Klasse", "@c", "refKlassifikasjonssystem", system), *up)["@c"]


def test_a_primary_class_outside_the_primary_system_is_400(scene: Scene) -> None:
    other = scene.made(save("Klassifikasjonssystem", "@o", tittel="Et annet"))["@o"]
    foreign = a_class(scene, "1", other)
    actions = scene.case_actions()
    actions[2]["linkToId"] = foreign
    refuses(scene, 400, ("actions[0] (Saksmappe)", "refPrimaerKlasse", "primary"), *actions)


def test_only_classes_without_children_are_used(scene: Scene) -> None:
    branch = a_class(scene, "2", scene.ids["system"])
    a_class(scene, "2.1", scene.ids["system"], branch)
    actions = scene.case_actions()
    actions[2]["linkToId"] = branch
    refuses(scene, 400, ("actions[", "Klasse", branch), *actions)
    used = a_class(scene, "3", scene.ids["system"])
    actions[2]["linkToId"] = used
    answered(scene.wire.transaction(*actions))
    child = [
        save("Klasse", "@c", klasseIdent="3.1", tittel="Under"),
        link("Klasse", "@c", "refKlassifikasjonssystem", scene.ids["system"]),
        link("Klasse", "@c", "refForelderKlasse", used),
    ]
    refuses(scene, 400, ("actions[", "Klasse", used), *child)


@pytest.mark.parametrize(
    ("type_name", "fields", "missing"),
    [
        ("Arkiv", {}, "tittel"),
        ("Arkivskaper", {"arkivskaperIdent": "1"}, "arkivskaperNavn"),
        ("Arkivskaper", {"arkivskaperNavn": "N"}, "arkivskaperIdent"),
        ("Arkivdel", {}, "tittel"),
        ("Klassifikasjonssystem", {}, "tittel"),
        ("Klasse", {"tittel": "T"}, "klasseIdent"),
        ("Klasse", {"klasseIdent": "1"}, "tittel"),
        ("Mappe", {}, "tittel"),
        ("Mappe", {"tittel": ""}, "tittel"),
        ("Mappe", {"tittel": None}, "tittel"),
        ("Saksmappe", {"tittel": "T"}, "administrativEnhet"),
        ("Sakspart", {"sakspartNavn": "N"}, "sakspartRolle"),
        ("Sakspart", {"sakspartRolle": "KLI"}, "sakspartNavn"),
        ("Moetemappe", {"tittel": "T", "utvalg": "U"}, "moetenummer"),
        ("Moetemappe", {"tittel": "T", "moetenummer": "1"}, "utvalg"),
        ("Moetedeltaker", {}, "navn"),
        ("Basisregistrering", {}, "tittel"),
        ("Arkivnotat", {}, "tittel"),
        ("Moeteregistrering", {"tittel": "T", "administrativEnhet": "ADM"}, "saksbehandler"),
        ("Journalpost", {"tittel": "T"}, "journalposttype"),
        ("Korrespondansepart", {"korrespondanseparttype": "EA"}, "korrespondansepartNavn"),
        ("Korrespondansepart", {"korrespondansepartNavn": "N"}, "korrespondanseparttype"),
        ("Dokument", {"tittel": "T"}, "tilknyttetRegistreringSom"),
        ("Dokumentversjon", {"format": "pdf"}, "variantformat"),
        ("EksternId", {"eksternID": "1"}, "eksterntSystem"),
        ("EksternId", {"eksterntSystem": "S"}, "eksternID"),
        ("Noekkelord", {}, "verdi"),
        ("Merknad", {"merknadstype": "MER"}, "tekst"),
        ("Presedens", {}, "rettskildefaktor"),
        ("Eiendom", {"knr": "0301", "gnr": "1"}, "bnr"),
        ("Bygning", {"bygningsnummer": "1"}, "endringsloepenummer"),
        ("Adresse", {"adresseKnr": "0301"}, "adressenavn"),
    ],
)
def test_a_mandatory_field_that_is_missing_is_400(scene: Scene, type_name: str, fields: Body, missing: str) -> None:
    refuses(scene, 400, ("actions[0]", type_name, missing), save(type_name, "@x", **fields))


def test_a_mandatory_field_cannot_be_emptied_later(scene: Scene) -> None:
    for value in (None, ""):
        refuses(scene, 400, ("actions[0]", "field tittel"), save("Mappe", scene.ids["folder"], tittel=value))


@pytest.mark.parametrize(
    ("type_name", "fields", "reference"),
    [
        ("Arkiv", {"tittel": "T"}, "refArkivskaper"),
        ("Arkivskaper", {"arkivskaperIdent": "1", "arkivskaperNavn": "N"}, "refArkiv"),
        ("Arkivdel", {"tittel": "T"}, "refArkiv"),
        ("Klasse", {"klasseIdent": "1", "tittel": "T"}, "refKlassifikasjonssystem"),
        ("Mappe", {"tittel": "T"}, "refArkivdel"),
        ("Mappe", {"tittel": "T"}, "refForelderMappe"),
        ("Saksmappe", {"tittel": "T", "administrativEnhet": "ADM"}, "refArkivdel"),
        ("Sakspart", {"sakspartNavn": "N", "sakspartRolle": "KLI"}, "refMappe"),
        ("Moetedeltaker", {"navn": "N"}, "refMappe"),
        ("Basisregistrering", {"tittel": "T"}, "refMappe"),
        ("Journalpost", {"tittel": "T", "journalposttype": "I"}, "refMappe"),
        (
            "Korrespondansepart",
            {"korrespondanseparttype": "EA", "korrespondansepartNavn": "N"},
            "refRegistrering",
        ),
        ("Avskrivning", {"avskrivningsmaate": "TE"}, "refJournalpost"),
        ("Dokument", {"tittel": "T", "tilknyttetRegistreringSom": "H"}, "refRegistrering"),
        ("EksternId", {"eksterntSystem": "S", "eksternID": "1"}, "refMappe"),
        ("Noekkelord", {"verdi": "V"}, "refRegistrering"),
        ("Merknad", {"tekst": "T", "merknadstype": "MER"}, "refDokument"),
        ("Eiendom", {"knr": "0301", "gnr": "1", "bnr": "2"}, "refMappe"),
    ],
)
def test_a_mandatory_link_that_is_missing_is_400(scene: Scene, type_name: str, fields: Body, reference: str) -> None:
    refuses(scene, 400, ("actions[0]", type_name, reference), save(type_name, "@x", **fields))


def test_a_mandatory_link_cannot_be_taken_away(scene: Scene) -> None:
    folder, series = scene.folder(), scene.ids["series"]
    refuses(scene, 400, ("actions[0]", "refArkivdel"), unlink("Mappe", folder, "refArkivdel", series))
    record = scene.record(folder)
    refuses(scene, 400, ("actions[0]", "refMappe"), unlink("Basisregistrering", record, "refMappe", folder))
    case = scene.case()
    words = ("actions[0]", "refPrimaerKlasse")
    refuses(scene, 400, words, unlink("Saksmappe", case, "refPrimaerKlasse", scene.ids["class"]))


def test_a_case_file_needs_a_primary_class(scene: Scene) -> None:
    refuses(scene, 400, ("actions[0] (Saksmappe)", "refPrimaerKlasse"), *scene.case_actions()[:2])


def test_a_registry_entry_needs_a_party(scene: Scene) -> None:
    words = ("actions[0] (Journalpost)", "refKorrespondansepart")
    refuses(scene, 400, words, *entry_actions(scene.case())[:2])


def test_a_meeting_needs_a_participant(scene: Scene) -> None:
    made = save("Moetemappe", "@m", tittel="T", moetenummer="1/24", utvalg="Bystyret")
    up = link("Moetemappe", "@m", "refArkivdel", scene.ids["series"])
    refuses(scene, 400, ("actions[0] (Moetemappe)", "refMoetedeltaker"), made, up)
    someone = [save("Moetedeltaker", "@d", navn="Ola"), link("Moetedeltaker", "@d", "refMappe", "@m")]
    answered(scene.wire.transaction(made, up, *someone))


def test_exactly_one_of_several_parents(scene: Scene) -> None:
    folder, series = scene.folder(), scene.ids["series"]
    both = [link("Mappe", "@x", "refArkivdel", series), link("Mappe", "@x", "refForelderMappe", folder)]
    words = ("actions[0] (Mappe)", "refArkivdel", "refForelderMappe")
    refuses(scene, 400, words, save("Mappe", "@x", tittel="T"), *both)
    record = link("Basisregistrering", scene.record(folder), "refArkivdel", series)
    refuses(scene, 400, ("actions[0]", "exactly one", "refMappe"), record)


def test_a_second_parent_needs_an_unlink_first(scene: Scene) -> None:
    one, other = scene.folder(), scene.folder()
    record = scene.record(one)
    words = ("actions[0]", "refMappe", one, "unlink")
    refuses(scene, 400, words, link("Basisregistrering", record, "refMappe", other))
    refuses(scene, 400, words, link("Mappe", other, "refRegistrering", record))
    move = [unlink("Basisregistrering", record, "refMappe", one), link("Basisregistrering", record, "refMappe", other)]
    answered(scene.wire.transaction(*move))


def test_a_folder_holds_folders_or_records_never_both(scene: Scene) -> None:
    folder = scene.folder()
    scene.record(folder)
    inner = [save("Mappe", "@x", tittel="T"), link("Mappe", "@x", "refForelderMappe", folder)]
    refuses(scene, 400, ("actions[", folder, "cannot have both"), *inner)


def test_a_prefix_and_a_class_ident_never_change_once_set(scene: Scene) -> None:
    klass = scene.ids["class"]
    refuses(scene, 400, ("actions[0] (save Klasse)", "klasseIdent"), save("Klasse", klass, klasseIdent="615"))
    answered(scene.wire.transaction(save("Klasse", klass, klasseIdent="614")))
    for type_name, known in (("Saksmappe", scene.case(prefiks="BYG")), ("Journalpost", scene.entry(scene.case()))):
        answered(scene.wire.transaction(save(type_name, known, prefiks="BYG")))
        for other in ("BYGG", None):
            words = (f"actions[0] (save {type_name})", "prefiks")
            refuses(scene, 400, words, save(type_name, known, prefiks=other))


def test_a_stale_version_is_409(scene: Scene) -> None:
    folder = scene.folder()
    known = scene.get("Mappe", folder)
    assert known is not None
    stale = known["version"]
    answered(scene.wire.transaction(save("Mappe", folder, tittel="En annens endring")))
    for action in (save("Mappe", folder, tittel="Min endring"), delete("Mappe", folder)):
        refuses(scene, 409, ("actions[0]", folder, "version"), action | {"version": stale})
        refuses(scene, 409, ("actions[0]", folder, "version"), action | {"version": int(str(stale))})
    assert scene.fields("Mappe", folder)["tittel"] == "En annens endring"


def test_a_case_file_gets_its_closing_date_only_with_its_status(scene: Scene) -> None:
    case, closed = scene.case(), {"avsluttetDato": "2024-01-02T03:04:05Z"}
    refuses(scene, 400, ("actions[0] (Saksmappe)", "avsluttetDato", "saksstatus"), save("Saksmappe", case, **closed))
    answered(scene.wire.transaction(save("Saksmappe", case, saksstatus="A", **closed)))
    assert scene.fields("Saksmappe", case)["avsluttetDato"] == "2024-01-02T03:04:05.000Z"


OWNED: dict[str, tuple[str, Body]] = {
    "Sakspart": ("refMappe", {"sakspartNavn": "N", "sakspartRolle": "KLI"}),
    "Korrespondansepart": ("refRegistrering", {"korrespondanseparttype": "EM", "korrespondansepartNavn": "N"}),
    "Avskrivning": ("refJournalpost", {"avskrivningsmaate": "TE"}),
    "EksternId": ("refMappe", {"eksterntSystem": "S", "eksternID": "unlinked"}),
    "Noekkelord": ("refMappe", {"verdi": "V"}),
    "Merknad": ("refMappe", {"tekst": "T", "merknadstype": "MER"}),
    "Eiendom": ("refMappe", {"knr": "0301", "gnr": "1", "bnr": "2"}),
    "Bygning": ("refMappe", {"bygningsnummer": "1", "endringsloepenummer": "1"}),
    "Adresse": ("refMappe", {"adresseKnr": "0301", "adressenavn": "Storgata"}),
    "Plan": ("refMappe", {"planident": "P1", "planKommunenummer": "0301"}),
    "Dokumentflyt": (
        "refJournalpost",
        {
            "flytFra": "A",
            "flytFraBrukerIdent": "a",
            "flytTil": "B",
            "flytTilBrukerIdent": "b",
            "flytMottattDato": "2024-01-02T03:04:05Z",
            "flytSendtDato": "2024-01-02T03:04:05Z",
            "flytStatus": "G",
        },
    ),
}


@pytest.mark.parametrize("type_name", OWNED)
def test_what_an_object_owns_is_deleted_never_unlinked(scene: Scene, type_name: str) -> None:
    ref, fields = OWNED[type_name]
    case = scene.case()
    owner = case if ref == "refMappe" else scene.entry(case)
    owned = scene.made(save(type_name, "@o", **fields), link(type_name, "@o", ref, owner))["@o"]
    refuses(scene, 400, ("actions[0]", ref), unlink(type_name, owned, ref, owner))
    answered(scene.wire.transaction(delete(type_name, owned)))
    assert scene.get(type_name, owned) is None


def test_a_creator_a_participant_and_a_party_cannot_be_unlinked_from_above(scene: Scene) -> None:
    ids = scene.ids
    for action in (
        unlink("Arkiv", ids["fonds"], "refArkivskaper", ids["creator"]),
        unlink("Arkivskaper", ids["creator"], "refArkiv", ids["fonds"]),
        unlink("Journalpost", ids["entry"], "refKorrespondansepart", ids["party"]),
    ):
        refuses(scene, 400, ("actions[0]", str(action["ref"])), action)


def test_an_unlink_of_what_is_not_linked_is_400(scene: Scene) -> None:
    one, other = scene.folder(), scene.folder()
    record = scene.record(one)
    for action in (
        unlink("Basisregistrering", record, "refMappe", other),
        unlink("Mappe", one, "refKryssreferanseTilMappe", other),
    ):
        refuses(scene, 400, ("actions[0]", str(action["ref"]), "not linked"), action)


def test_the_last_party_or_creator_cannot_be_deleted(scene: Scene) -> None:
    refuses(scene, 400, ("actions[0]", "refKorrespondansepart"), delete("Korrespondansepart", scene.ids["party"]))
    refuses(scene, 400, ("actions[0]", "refArkivskaper"), delete("Arkivskaper", scene.ids["creator"]))


def test_a_file_that_nobody_uploaded_is_400(scene: Scene) -> None:
    for file in (NOWHERE, "no-file", "9" * 30):
        words = ("actions[0]", "Dokumentversjon", "referanseDokumentfil")
        refuses(scene, 400, words, *version_actions(scene.ids["document"], file))
    nothings: tuple[object, ...] = ({}, [], None, "", 1.5, True)
    for nothing in nothings:
        refuses(scene, 400, ("actions[0]", "referanseDokumentfil"), *version_actions(scene.ids["document"], nothing))


def test_a_file_may_be_that_of_several_versions_and_stays_until_the_last_is_gone(scene: Scene) -> None:
    file, document = scene.uploaded(b"shared"), scene.document(scene.record(scene.folder()))
    first, second = scene.version(document, file), scene.version(document, file)
    answered(scene.wire.transaction(delete("Dokumentversjon", first)))
    assert scene.wire.call("GET", f"download?id={file}").body == b"shared"
    answered(scene.wire.transaction(delete("Dokumentversjon", second)))
    assert scene.wire.call("GET", f"download?id={file}").status == 404
    refuses(scene, 400, ("referanseDokumentfil",), *version_actions(document, file))


def test_an_uploaded_file_stays_where_its_transaction_was_refused(scene: Scene) -> None:
    file = scene.uploaded(b"stays")
    bad = [*version_actions(scene.ids["document"], file), save("Mappe", "@x", tittel="T")]
    refuses(scene, 400, ("actions[2]",), *bad)
    assert scene.wire.call("GET", f"download?id={file}").body == b"stays"
    answered(scene.wire.transaction(*version_actions(scene.ids["document"], file)))


def test_a_refused_write_leaves_no_trace_in_the_change_log(scene: Scene) -> None:
    folder = scene.folder()
    refuses(scene, 400, ("actions[1]",), save("Mappe", folder, tittel="T"), save("Mappe", "@x", nope=1))
    told = answered(scene.wire.call("POST", "logs/change-log", {"id": folder}))
    assert isinstance(told, dict)
    assert told["total"] == 1
    empty(scene.wire.call("POST", "bulk/delete", {"type": "Mappe", "id": folder}), 202)
