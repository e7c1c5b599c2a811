"""Where descriptions of the wire format disagree, and what other clients were seen to send: where the server stands.

Tokens, values, transactions, queries and files as scripts, forms and older clients send them; then point by point what
one description has and another lacks, and what only newer clients know.
"""

from __future__ import annotations

import base64
import http.client
import json
import socket
import tomllib
from collections.abc import Callable, Mapping
from urllib.parse import urlencode

import pytest

from tests.server.calls.scene import WRITER, Body, Scene, entry_actions, make_scene, refuses, version_actions
from tests.server.calls.shapes import DIGITS, NUMBER, STAMP, Like, answered, created, items, members, refused
from tests.server.conftest import Archive
from tests.server.wire import BASE, Reply, delete, link, save
from tests.waiting import PATIENCE_S

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
TOKEN = Like("[0-9a-f]{40}")


def secret(archive: Archive) -> str:
    clients = tomllib.loads((archive.data_dir / "clients.toml").read_text("utf-8"))["clients"]
    return str(clients["admin"]["secret"])


def ask_token(archive: Archive, form: Mapping[str, object], path: str = "/idp/oauth2/token", **headers: str) -> Reply:
    return archive.wire.call("POST", path, urlencode(form).encode(), token="", headers=FORM | headers)


# -- tokens


@pytest.mark.parametrize("path", ["/idp/oauth2/token", "/oauth2/token"])
@pytest.mark.parametrize("scope", [{"scope": "openid"}, {}])
def test_a_token_comes_for_credentials_in_the_body_with_or_without_a_scope(
    archive: Archive, path: str, scope: Body
) -> None:
    form = {"grant_type": "client_credentials", "client_id": "admin", "client_secret": secret(archive), **scope}
    told = {"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600, "scope": "openid"}
    assert answered(ask_token(archive, form, path)) == told


def test_a_token_comes_for_credentials_by_basic(archive: Archive) -> None:
    basic = "Basic " + base64.b64encode(f"admin:{secret(archive)}".encode()).decode()
    told = answered(ask_token(archive, {"grant_type": "client_credentials"}, Authorization=basic))
    assert members(told)["access_token"] == TOKEN


@pytest.mark.parametrize(
    ("form", "status", "error"),
    [
        ({"grant_type": "client_credentials", "client_id": "admin", "client_secret": "no"}, 401, "invalid_client"),
        ({"grant_type": "client_credentials", "client_id": "nobody", "client_secret": "no"}, 401, "invalid_client"),
        ({"grant_type": "client_credentials"}, 400, "invalid_request"),
        ({"client_id": "admin"}, 400, "invalid_request"),
        ({"grant_type": "magic", "client_id": "admin"}, 400, "unsupported_grant_type"),
    ],
)
def test_a_token_refused_is_told_in_the_words_of_oauth(archive: Archive, form: Body, status: int, error: str) -> None:
    told = members(answered(ask_token(archive, form), status))
    assert (told["error"], sorted(told)) == (error, ["error", "error_description"])


def test_a_password_gets_a_token_and_one_to_renew_it_where_a_setting_says_so(
    archive_with: Callable[..., Archive],
) -> None:
    archive = archive_with(refresh_tokens=True)
    with (archive.data_dir / "clients.toml").open("a", encoding="utf-8") as file:
        file.write('\n[users.kari]\npassword = "s"\ngroups = ["admin"]\n')
    client: Body = {"client_id": "admin", "client_secret": secret(archive)}
    form = {"grant_type": "password", "username": "kari", "password": "s", **client}
    told = members(answered(ask_token(archive, form)))
    assert (told["access_token"], told["refresh_token"]) == (TOKEN, TOKEN)
    renewed: Body = {"grant_type": "refresh_token", "refresh_token": told["refresh_token"], **client}
    assert members(answered(ask_token(archive, renewed)))["access_token"] == TOKEN
    me = archive.wire.bearing(str(told["access_token"]))
    assert answered(me.call("GET", "info/me")) == {"userId": "kari"}
    assert members(answered(me.call("POST", "/idp/oauth2/userinfo")))["sub"] == "kari"


def test_a_token_that_has_run_out_is_401_and_another_is_had(archive_with: Callable[..., Archive]) -> None:
    live = archive_with(token_ttl_s=0)
    reply = live.wire.call("GET", "info/me")
    assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")
    form = {"grant_type": "client_credentials", "client_id": "admin", "client_secret": secret(live)}
    assert members(answered(ask_token(live, form)))["expires_in"] == 0


# -- values


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ("2024-01-02T03:04:05.678+0100", "2024-01-02T02:04:05.678Z"),
        ("2024-01-02T03:04:05.678+01:00", "2024-01-02T02:04:05.678Z"),
        ("2024-01-02T03:04:05.678Z", "2024-01-02T03:04:05.678Z"),
        ("2022-05-25T00:00:00", "2022-05-24T22:00:00.000Z"),
        ("2022-05-25", "2022-05-24T22:00:00.000Z"),
        ("2024-01-02T03:04:05.678901Z", "2024-01-02T03:04:05.678Z"),
        ("1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.000Z"),
    ],
)
def test_times_come_in_every_form_of_iso_8601(scene: Scene, sent: str, told: str) -> None:
    entry = scene.entry(scene.ids["case"], mottattDato=sent)
    assert scene.fields("Journalpost", entry)["mottattDato"] == told


def test_numbers_and_booleans_come_as_strings_too(scene: Scene) -> None:
    case = scene.case(saksaar="2018", sakssekvensnummer="950001")
    told = scene.fields("Saksmappe", case)
    assert (told["saksaar"], told["sakssekvensnummer"]) == (2018, 950001)
    entry = scene.entry(case, skjermKorrespondanseParterEInnsyn="false")
    assert scene.fields("Journalpost", entry)["skjermKorrespondanseParterEInnsyn"] is False
    actions = version_actions(scene.ids["document"], int(scene.uploaded()))
    assert scene.fields("Dokumentversjon", scene.made(*actions)["@v"])["referanseDokumentfil"] == DIGITS
    page: Body = {"type": "Arkiv", "limit": "1", "offset": "0", "publicUse": "false"}
    assert answered(scene.wire.call("POST", "query", page))


def test_a_version_comes_as_a_number_or_a_string_or_not_at_all(scene: Scene) -> None:
    folder = scene.folder()
    for make in (str, int):
        told = scene.get("Mappe", folder)
        assert told is not None
        version = make(str(told["version"]))
        action = save("Mappe", folder, tittel=f"T{version}{make}") | {"version": version}
        assert scene.wire.transaction(action).status == 200
    assert scene.wire.transaction(save("Mappe", folder, tittel="U")).status == 200


def test_a_permanent_id_comes_as_a_number_too(scene: Scene) -> None:
    folder = int(scene.folder())
    action = {"action": "save", "type": "Mappe", "id": folder, "fields": {"tittel": "T"}}
    assert list(scene.wire.saved(action)) == [str(folder)]


# -- transactions


def test_a_link_goes_to_one_id_as_a_string(scene: Scene) -> None:
    up = {"action": "link", "type": "Mappe", "id": "@m", "ref": "refArkivdel", "linkToId": scene.ids["series"]}
    folder = scene.made(save("Mappe", "@m", tittel="T"), up)["@m"]
    other = scene.folder()
    ref = "refKryssreferanseTilMappe"
    scene.wire.saved({"action": "link", "type": "Mappe", "id": folder, "ref": ref, "linkToId": other})
    off = {"action": "unlink", "type": "Mappe", "id": folder, "ref": ref, "unlinkFromId": other}
    assert scene.wire.transaction(off).status == 200


def test_system_managed_fields_come_in_a_second_save_after_the_links(scene: Scene) -> None:
    member, group = scene.new_account((), ("ReadThis", "Read"))
    grant: Body = {"accessGroupId": group, "objectType": "Arkivdel", "objectId": scene.ids["series"]}
    words = ["Create", "Update", "UpdateSystemManaged"]
    granted = scene.wire.call("POST", "permission/entity", grant | {"explicitPermissions": words})
    assert granted.status == 201
    old = save("Mappe", "@m", opprettetDato="1999-01-02T03:04:05Z", opprettetAv="Ola")
    new = [save("Mappe", "@m", tittel="T"), link("Mappe", "@m", "refArkivdel", scene.ids["series"]), old]
    fields = members(member.saved(*new)["@m"]["fields"])
    assert (fields["opprettetDato"], fields["opprettetAv"]) == ("1999-01-02T03:04:05.000Z", "Ola")
    refuses(scene, 403, ("UpdateSystemManaged",), *new, by=scene.account((), WRITER))


def test_a_structure_is_finalised_bottom_up_in_one_transaction(scene: Scene) -> None:
    case, folder = scene.case(), scene.folder()
    entry, record = scene.entry(case), scene.record(folder)
    document, now = scene.document(entry), "2024-01-02T03:04:05Z"
    saved = scene.wire.saved(
        save("Dokument", document, dokumentstatus="F"),
        save("Journalpost", entry, journalstatus="A"),
        save("Saksmappe", case, saksstatus="A"),
        save("Basisregistrering", record, avsluttetDato=now),
        save("Mappe", folder, avsluttetDato=now),
    )
    for object_id in (entry, case):
        fields = members(saved[object_id]["fields"])
        assert (fields["avsluttetDato"], fields["avsluttetAv"]) == (STAMP, "admin")
    for object_id in (record, folder):
        fields = members(saved[object_id]["fields"])
        assert (fields["avsluttetDato"], fields["avsluttetAvBrukerIdent"]) == ("2024-01-02T03:04:05.000Z", "admin")
    assert members(saved[document]["fields"])["dokumentstatus"] == "F"


def test_children_and_links_raise_the_version_of_what_they_come_to(scene: Scene) -> None:
    folder = scene.folder()

    def version() -> int:
        told = scene.get("Mappe", folder)
        assert told is not None
        return int(str(told["version"]))

    before = version()
    scene.record(folder)
    assert version() > before


# -- queries and files


def test_an_ambiguous_query_shows_by_has_more_with_a_limit_of_one(scene: Scene) -> None:
    folder = scene.folder()
    one = scene.record(folder, tittel="Tvetydig")
    asked: Body = {"type": "Basisregistrering", "limit": 1, "publicUse": False, "query": "refMappe.id=@m"}
    asked["parameters"] = {"@m": folder}
    told = members(answered(scene.wire.call("POST", "query", asked)))
    assert (told["hasMore"], [each["id"] for each in items(told["results"])]) == (False, [one])
    scene.record(folder, tittel="Tvetydig")
    assert members(answered(scene.wire.call("POST", "query", asked)))["hasMore"] is True


@pytest.mark.parametrize(
    ("type_name", "query", "given"),
    [
        ("Mappe", "id = @id1 || id = @id2", {"@id1": "FOLDER", "@id2": 1}),
        ("Saksmappe", "mappeIdent = @x", {"@x": "2017/960001"}),
        ("Journalpost", "registreringsIdent = @x", {"@x": "2017/960002"}),
        ("Saksmappe", "saksaar = @y && sakssekvensnummer = @n", {"@y": "2017", "@n": "960001"}),
        (
            "Saksmappe",
            "refEksternId.eksternID = @e && refEksternId.eksterntSystem = @s",
            {"@e": "960001", "@s": "Fagsystem"},
        ),
        (
            "Saksmappe",
            "mappeIdent=@x && (refEksternId=@null || refEksternId.eksterntSystem != @s)",
            {"@x": "2017/960001", "@null": None, "@s": "Annet"},
        ),
        ("Klassifikasjonssystem", "refArkivdelSomSekundaer.id = @a", {"@a": "SERIES"}),
        ("Klasse", "refMappeSomSekundaer.id = @m", {"@m": "FOLDER"}),
        (
            "Saksmappe",
            "opprettetDato=[@from:@to] && mappeIdent=@x",
            {"@from": "2000-01-01", "@to": "*", "@x": "2017/960001"},
        ),
        ("Dokument", "refRegistrering.refMappe.mappeIdent = @x", {"@x": "2017/960001"}),
        (
            "Journalpost",
            "refMappe.refPrimaerKlasse.tittel = @t && refMappe.mappeIdent=@x",
            {"@t": "Byggesaker", "@x": "2017/960001"},
        ),
    ],
)
def test_queries_seen_in_the_wild_find_what_they_ask_for(seen: Scene, type_name: str, query: str, given: Body) -> None:
    known = {"FOLDER": seen.ids["folder"], "SERIES": seen.ids["series"]}
    parameters = {name: known.get(str(value), value) for name, value in given.items()}
    asked = {"type": type_name, "limit": 10, "publicUse": False, "query": query, "parameters": parameters}
    assert len(items(members(answered(seen.wire.call("POST", "query", asked)))["results"])) >= 1


@pytest.fixture(scope="module")
def seen(scene: Scene) -> Scene:
    """The scene with what the queries of the wild ask for."""
    case = scene.case(saksaar=2017, sakssekvensnummer=960001, mappeIdent="2017/960001")
    fields: Body = {"journalaar": 2017, "journalsekvensnummer": 960002, "registreringsIdent": "2017/960002"}
    scene.document(scene.entry(case, **fields))
    scene.made(
        save("EksternId", "@e", eksterntSystem="Fagsystem", eksternID="960001"),
        link("EksternId", "@e", "refMappe", case),
        save("Klassifikasjonssystem", "@s", tittel="Sekundært"),
        link("Arkivdel", scene.ids["series"], "refSekundaerKlassifikasjonssystem", "@s"),
        save("Klasse", "@k", klasseIdent="S1", tittel="Sekundær"),
        link("Klasse", "@k", "refKlassifikasjonssystem", "@s"),
        link("Mappe", scene.ids["folder"], "refSekundaerKlasse", "@k"),
    )
    return scene


def test_an_upload_may_be_form_encoded_in_its_name_and_chunked(scene: Scene) -> None:
    connection = http.client.HTTPConnection(scene.wire.host, scene.wire.port, timeout=PATIENCE_S)
    about = {"Authorization": f"Bearer {scene.wire.token}", "Content-Type": "application/pdf"}
    about["Content-Disposition"] = "attachment; filename*=utf-8''S%C3%B8knad+om+st%C3%B8tte.pdf"
    connection.request("POST", f"{BASE}/upload", iter([b"%PDF", b"-1.7"]), about, encode_chunked=True)
    told = json.loads(connection.getresponse().read())
    connection.close()
    fields = scene.fields("Dokumentversjon", scene.version(scene.ids["document"], told["id"]))
    assert (fields["filnavn"], fields["innholdstype"]) == ("Søknad+om+støtte.pdf", "application/pdf")


def test_a_client_that_asks_before_it_sends_is_told_to_go_on_or_why_not(scene: Scene) -> None:
    good, bad = (scene.wire.token, b"HTTP/1.1 100 ", b"HTTP/1.1 200 "), ("0" * 40, b"HTTP/1.1 401 ", b"")
    for bearer, first, last in (good, bad):
        lines = (
            f"POST {BASE}/query HTTP/1.1",
            "Host: localhost",
            f"Authorization: Bearer {bearer}",
            "Content-Type: application/json",
            "Content-Length: 26",
            "Expect: 100-continue",
        )
        with socket.create_connection((scene.wire.host, scene.wire.port), timeout=PATIENCE_S) as connection:
            connection.sendall("\r\n".join((*lines, "", "")).encode())
            assert connection.recv(1000).startswith(first)
            if last:
                connection.sendall(b'{"type":"Arkiv","limit":1}')
                assert connection.recv(1000).startswith(last)


@pytest.mark.parametrize("spelled", ["pdf", ".pdf", "application/pdf"])
def test_a_format_is_free_text(scene: Scene, spelled: str) -> None:
    actions = version_actions(scene.ids["document"], scene.uploaded())
    members(actions[0]["fields"])
    actions.append(save("Dokumentversjon", "@v", format=spelled))
    assert scene.fields("Dokumentversjon", scene.made(*actions)["@v"])["format"] == spelled


# -- where descriptions disagree


def test_versions_are_strings_and_links_numbers(scene: Scene) -> None:
    saved = scene.wire.saved(save("Basisregistrering", scene.ids["record"]))[scene.ids["record"]]
    assert (saved["version"], saved["id"], saved["links"]) == (DIGITS, DIGITS, {"refMappe": NUMBER})


def test_a_precedent_has_its_title_under_both_names(scene: Scene) -> None:
    for name in ("title", "tittel"):
        told = scene.wire.saved(save("Presedens", "@p", rettskildefaktor="DOM", **{name: "Om gjerder"}))["@p"]
        fields = members(told["fields"])
        assert (fields["title"], fields["tittel"]) == ("Om gjerder", "Om gjerder")


def test_a_note_has_the_common_fields(scene: Scene) -> None:
    note = save("Merknad", "@n", tekst="T", merknadstype="MER")
    told = scene.wire.saved(note, link("Merknad", "@n", "refMappe", scene.ids["folder"]))["@n"]
    assert told == {
        "type": "Merknad",
        "id": DIGITS,
        "version": DIGITS,
        "fields": {**created(), "tekst": "T", "merknadstype": "MER"},
        "links": {"refMappe": int(scene.ids["folder"])},
    }


def test_registry_entries_stand_in_case_files_alone_unless_a_setting_says_otherwise(
    archive_with: Callable[..., Archive], scene: Scene
) -> None:
    refuses(scene, 400, ("actions[1]", "refMappe", "Saksmappe"), *entry_actions(scene.ids["folder"]))
    lenient = make_scene(archive_with(journal_posts_in_case_files_only=False))
    assert lenient.entry(lenient.ids["folder"])


def test_a_party_stands_on_any_folder(scene: Scene) -> None:
    party = save("Sakspart", "@p", sakspartNavn="N", sakspartRolle="KLI")
    assert scene.made(party, link("Sakspart", "@p", "refMappe", scene.ids["folder"]))
    assert scene.made(party, link("Mappe", scene.ids["folder"], "refSakspart", "@p"))


def test_a_meeting_needs_participants_unless_a_setting_says_otherwise(
    archive_with: Callable[..., Archive], scene: Scene
) -> None:
    alone = save("Moetemappe", "@m", tittel="T", moetenummer="1", utvalg="U")
    words = ("actions[0] (Moetemappe)", "refMoetedeltaker")
    refuses(scene, 400, words, alone, link("Moetemappe", "@m", "refArkivdel", scene.ids["series"]))
    lenient = make_scene(archive_with(meetings_need_participants=False))
    made = lenient.made(alone, link("Moetemappe", "@m", "refArkivdel", lenient.ids["series"]))
    assert "refPrimaerKlasse" not in members(members(lenient.get("Moetemappe", made["@m"]))["links"])


def test_a_registry_entry_may_be_signed_off_more_than_once(scene: Scene) -> None:
    case = scene.case()
    entry, answer = scene.entry(case), scene.entry(case, journalposttype="U")
    for way in ("BU", "SA"):
        off = [save("Avskrivning", "@a", avskrivningsmaate=way), link("Avskrivning", "@a", "refJournalpost", entry)]
        assert scene.made(*off, link("Avskrivning", "@a", "refTilknyttetJournalpost", answer))
    asked = {"type": "Avskrivning", "limit": 9, "query": "refJournalpost.id=@j", "parameters": {"@j": entry}}
    assert len(items(members(answered(scene.wire.call("POST", "query", asked)))["results"])) == 2


def test_a_document_flow_is_linked_from_an_archive_note_too(scene: Scene) -> None:
    flow: Body = {
        "flytFra": "A",
        "flytFraBrukerIdent": "a",
        "flytTil": "B",
        "flytTilBrukerIdent": "b",
        "flytStatus": "G",
    }
    flow |= {"flytMottattDato": "2024-01-02T03:04:05Z", "flytSendtDato": "2024-01-02T03:04:05Z"}
    made = scene.made(
        save("Arkivnotat", "@n", tittel="T"),
        link("Arkivnotat", "@n", "refMappe", scene.ids["case"]),
        save("Dokumentflyt", "@f", **flow),
        link("Arkivnotat", "@n", "refArkivnotatDokumentflyt", "@f"),
    )
    told = scene.get("Dokumentflyt", made["@f"])
    assert told is not None
    assert told["links"] == {"refArkivnotat": int(made["@n"])}


def test_fields_that_only_one_description_has_are_taken_and_told(scene: Scene) -> None:
    when, day = "2024-01-02T03:04:05.000Z", "2024-01-02"
    record: Body = {"mottattDato": when, "sendtDato": when, "offentlighetsvurdertDato": day}
    record |= {"publisereSkjermedeOffentligeDokumenter": True}
    scene.wire.saved(save("Basisregistrering", scene.ids["record"], **record))
    told = scene.fields("Basisregistrering", scene.ids["record"])
    assert {name: told[name] for name in record} == record
    folder = scene.folder(mappestatus="B")
    assert scene.fields("Mappe", folder)["mappestatus"] == "B"
    made = scene.made(
        save("Arkivdel", "@d", tittel="D", overlappingsperiodeSluttdato=day, avsluttetDato=when, avsluttetAv="A"),
        link("Arkivdel", "@d", "refArkiv", scene.ids["fonds"]),
        link("Arkivdel", "@d", "refArkivdelForloeper", scene.ids["series"]),
    )
    told = scene.fields("Arkivdel", made["@d"])
    assert (told["overlappingsperiodeSluttdato"], told["avsluttetDato"], told["avsluttetAv"]) == (day, when, "A")
    party: Body = {"korrespondanseparttype": "EM", "korrespondansepartNavn": "N", "eksternReferanse": "R-1"}
    up = link("Korrespondansepart", "@k", "refRegistrering", scene.ids["record"])
    known = scene.made(save("Korrespondansepart", "@k", **party), up)["@k"]
    assert scene.fields("Korrespondansepart", known)["eksternReferanse"] == "R-1"
    party = {"sakspartNavn": "N", "sakspartRolle": "KLI", "sakspartRolleBeskrivelse": "B", "erSkjermet": True}
    known = scene.made(save("Sakspart", "@p", **party), link("Sakspart", "@p", "refMappe", folder))["@p"]
    assert {name: scene.fields("Sakspart", known)[name] for name in party} == party


def test_numbers_of_documents_and_versions_are_system_managed(scene: Scene) -> None:
    writer = scene.account(("Journal", "Edit journaled"), WRITER)
    document, version = scene.ids["document"], scene.ids["version"]
    refuses(scene, 403, ("dokumentnummer",), save("Dokument", document, dokumentnummer=7), by=writer)
    refuses(scene, 403, ("versjonsnummer",), save("Dokumentversjon", version, versjonsnummer=7), by=writer)


@pytest.mark.parametrize(("field", "code"), [("variantformat", "O"), ("avskrivningsmaate", "SA")])
def test_codes_that_older_descriptions_lack_are_there(scene: Scene, field: str, code: str) -> None:
    told = items(members(answered(scene.wire.call("GET", f"code-lists?field={field}")))["results"])
    assert code in {str(value["code"]) for value in items(told[0]["values"])}


@pytest.mark.parametrize(
    ("type_name", "fields"),
    [
        ("Posisjon", {"koordX": "59.9", "koordY": "10.7"}),
        ("Foedselsnummer", {"foedselsnummer": "01010112345"}),
        ("DNummer", {"dnummer": "41010112345"}),
    ],
)
@pytest.mark.parametrize("owner", ["folder", "record"])
def test_types_that_only_newer_clients_know_are_saved_and_found(
    scene: Scene, type_name: str, fields: Body, owner: str
) -> None:
    ref = "refMappe" if owner == "folder" else "refRegistrering"
    made = scene.made(save(type_name, "@x", **fields), link(type_name, "@x", ref, scene.ids[owner]))["@x"]
    told = scene.get(type_name, made)
    assert told is not None
    assert told["fields"] == {**created(), **fields}
    assert told["links"] == {ref: int(scene.ids[owner])}
    assert scene.wire.transaction(delete(type_name, made)).status == 200


@pytest.mark.parametrize("type_name", ["Sakspart", "Korrespondansepart", "Merknad", "Posisjon", "Dokumentversjon"])
def test_external_ids_stand_on_more_than_the_first_description_has(scene: Scene, type_name: str) -> None:
    ids = scene.ids
    owners: dict[str, tuple[Body, str, str]] = {
        "Sakspart": ({"sakspartNavn": "N", "sakspartRolle": "KLI"}, "refMappe", ids["case"]),
        "Merknad": ({"tekst": "T", "merknadstype": "MER"}, "refMappe", ids["case"]),
        "Posisjon": ({"koordX": "1", "koordY": "2"}, "refMappe", ids["case"]),
    }
    if type_name in owners:
        fields, ref, target = owners[type_name]
        owner = scene.made(save(type_name, "@o", **fields), link(type_name, "@o", ref, target))["@o"]
    else:
        owner = ids["party" if type_name == "Korrespondansepart" else "version"]
    made = scene.made(
        save("EksternId", "@e", eksterntSystem="S", eksternID="1"), link(type_name, owner, "refEksternId", "@e")
    )["@e"]
    told = scene.get("EksternId", made)
    assert told is not None
    assert list(members(told["links"]).values()) == [int(owner)]


def test_what_only_newer_clients_know_is_hidden_where_a_setting_says_so(archive_with: Callable[..., Archive]) -> None:
    old = make_scene(archive_with(show_newer=False))
    record = {"mottattDato": "2024-01-02T03:04:05.000Z"}
    saved = old.wire.saved(save("Basisregistrering", old.ids["record"], **record))[old.ids["record"]]
    assert "mottattDato" not in members(saved["fields"])
    assert "mottattDato" not in old.fields("Basisregistrering", old.ids["record"])
    refused(old.wire, ("GET", "download?id=0"), None, 404)
