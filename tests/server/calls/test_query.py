"""POST query: pages of objects, the language of conditions, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.server.calls.scene import READER, Body, Scene
from tests.server.calls.shapes import DIGITS, answered, created, items, members, refused
from tests.server.conftest import Archive
from tests.server.wire import Wire, link, save

CALL = ("POST", "query")


def ids(wire: Wire, type_name: str, query: str, parameters: Body, **more: object) -> list[str]:
    """The ids of a page, in its order."""
    asked = {"type": type_name, "limit": 500, "query": query, "parameters": parameters, **more}
    return [str(each["id"]) for each in items(members(answered(wire.call(*CALL, asked)))["results"])]


def test_a_page_holds_objects_as_transactions_tell_them(scene: Scene) -> None:
    body = b"""{"type":"Mappe","limit":"1","offset":"0","publicUse":"false","query":"id = @id",
      "parameters":{"@id":"%b"},"joins":{},"sortOrder":[]}""" % scene.ids["folder"].encode()
    reply = scene.wire.call(*CALL, body, headers={"Content-Type": "application/json; charset=UTF-8"})
    told = answered(reply)
    ident = members(items(members(told)["results"])[0]["fields"])["mappeIdent"]
    assert told == {
        "hasMore": False,
        "results": [
            {
                "type": "Mappe",
                "id": scene.ids["folder"],
                "version": DIGITS,
                "fields": {**created(), "mappeIdent": ident, "tittel": "Mappen", "dokumentmedium": "E"},
                "links": {"refArkivdel": int(scene.ids["series"])},
            }
        ],
    }


def test_results_carry_their_concrete_type(scene: Scene) -> None:
    for asked, name, concrete in (
        ("AbstraktMappe", "case", "Saksmappe"),
        ("AbstraktMappe", "folder", "Mappe"),
        ("AbstraktRegistrering", "entry", "Journalpost"),
        ("AbstraktRegistrering", "record", "Basisregistrering"),
        ("Dokument", "document", "Dokument"),
        ("Dokumentversjon", "version", "Dokumentversjon"),
    ):
        told = scene.get(asked, scene.ids[name])
        assert told is not None
        assert (told["type"], told["id"]) == (concrete, scene.ids[name])
    assert scene.get("Mappe", scene.ids["case"]) is None


def test_a_national_identifier_is_found_by_its_abstract_type(scene: Scene) -> None:
    folder = scene.folder()
    actions = [save("Eiendom", "@e", knr="0301", gnr="1", bnr="2"), link("Eiendom", "@e", "refMappe", folder)]
    made = scene.made(*actions)["@e"]
    assert ids(scene.wire, "NasjonalIdentifikator", "refMappe.id = @m", {"@m": folder}) == [made]


def test_pages_follow_one_another_and_have_no_total(scene: Scene) -> None:
    folder = scene.folder()
    records = [scene.record(folder) for _ in range(5)]
    asked = {"type": "Basisregistrering", "query": "refMappe.id=@m", "parameters": {"@m": folder}}
    pages = [members(answered(scene.wire.call(*CALL, {**asked, "limit": 2, "offset": at}))) for at in (0, 2, 4, 6)]
    assert [sorted(page) for page in pages] == [["hasMore", "results"]] * 4
    assert [page["hasMore"] for page in pages] == [True, True, False, False]
    found = [str(each["id"]) for page in pages for each in items(page["results"])]
    assert found == sorted(records, key=int, reverse=True)


def test_sorting_is_by_id_descending_unless_asked_for(scene: Scene) -> None:
    folder = scene.folder()
    titles = ("b", "a", "c", "a")
    made = {scene.record(folder, tittel=title): title for title in titles}

    def ordered(*sorts: tuple[str, str]) -> list[str]:
        order = [{"field": name, "order": way} for name, way in sorts]
        return ids(scene.wire, "Basisregistrering", "refMappe.id=@m", {"@m": folder}, sortOrder=order)

    newest_first = sorted(made, key=int, reverse=True)
    assert ordered() == newest_first
    assert ordered(("id", "asc")) == sorted(made, key=int)
    assert ordered(("tittel", "asc")) == sorted(newest_first, key=lambda each: made[each])
    assert [made[each] for each in ordered(("tittel", "desc"), ("id", "asc"))] == ["c", "b", "a", "a"]


def test_comparisons_mean_what_the_format_says(scene: Scene) -> None:
    folder = scene.folder()
    one = scene.record(folder, tittel="Søknad 100% klar", beskrivelse="x", opprettetDato="2024-01-02T00:00:00Z")
    two = scene.record(folder, tittel="søknad", opprettetDato="2024-02-02T00:00:00Z")
    here: Body = {"@m": folder}

    def found(condition: str, **parameters: object) -> list[str]:
        given = here | {f"@{name}": value for name, value in parameters.items()}
        return ids(scene.wire, "Basisregistrering", f"refMappe.id=@m && ({condition})", given)

    assert found("tittel = @t", t="søknad") == [two]
    assert found("tittel = @t", t="SØKNAD") == []
    assert found("tittel != @t", t="søknad") == [one]
    assert found("beskrivelse != @t", t="y") == [one]
    assert found("beskrivelse = @n", n=None) == [two]
    assert found("beskrivelse != @n", n=None) == [one]
    assert found("tittel %= @t", t="%100%") == [one]
    assert found("tittel %= @t", t="s_knad") == []
    assert found("opprettetDato = [@a:@b]", a="2024-01-02T00:00:00Z", b="2024-02-02T00:00:00Z") == [two, one]
    assert found("opprettetDato = {@a:@b}", a="2024-01-02T00:00:00Z", b="2024-02-02T00:00:00Z") == []
    assert found("opprettetDato = [@a:@b}", a="2024-01-02T01:00:00.000+0100", b="2024-02-02T00:00:00Z") == [one]
    assert found("opprettetDato = [@a:@b]", a="*", b="2024-01-15") == [one]
    assert found("opprettetDato = [@a:@b]", a="2024-01-15", b="*") == [two]
    assert found("refEksternId = @n", n=None) == [two, one]
    assert found("refEksternId != @n", n=None) == []
    assert found("id = @a || id = @b && tittel = @t", a=one, b=two, t="none") == [one]
    assert found("( id=@a||id = @b )&&tittel=@t", a=one, b=int(two), t="søknad") == [two]
    assert found("refMappe = @m") == [two, one]


def test_chains_joins_and_abstract_steps_lead_to_other_objects(scene: Scene) -> None:
    case = scene.case()
    entry = scene.entry(case)
    document = scene.document(entry)
    assert ids(scene.wire, "Dokument", "refRegistrering.refMappe.id = @m", {"@m": case}) == [document]
    query = "refMappe.refPrimaerKlasse.klasseIdent = @k && refMappe.id = @m"
    assert ids(scene.wire, "Journalpost", query, {"@k": "614", "@m": case}) == [entry]
    joins = {"#r": "refRegistrering", "#m": "#r.refMappe"}
    assert ids(scene.wire, "Dokument", "#m.id = @m && #r.id = @r", {"@m": case, "@r": entry}, joins=joins) == [document]


def test_two_conditions_on_one_chain_must_hold_for_one_object(scene: Scene) -> None:
    folder = scene.folder()
    for system, key in (("A", "1"), ("B", "2")):
        fields = {"eksterntSystem": system, "eksternID": key}
        scene.made(save("EksternId", "@e", **fields), link("EksternId", "@e", "refMappe", folder))
    query = "id = @m && refEksternId.eksternID = @e && refEksternId.eksterntSystem = @s"
    assert ids(scene.wire, "Mappe", query, {"@m": folder, "@e": "1", "@s": "A"}) == [folder]
    assert ids(scene.wire, "Mappe", query, {"@m": folder, "@e": "1", "@s": "B"}) == []
    apart, joins = (
        "id = @m && #x.eksternID = @e && #y.eksterntSystem = @s",
        {"#x": "refEksternId", "#y": "refEksternId"},
    )
    assert ids(scene.wire, "Mappe", apart, {"@m": folder, "@e": "1", "@s": "B"}, joins=joins) == [folder]
    assert ids(scene.wire, "Mappe", "id = @m && refEksternId != @n", {"@m": folder, "@n": None}) == [folder]
    outer = "id = @m && (refEksternId = @n || refEksternId.eksterntSystem = @s)"
    assert ids(scene.wire, "Mappe", outer, {"@m": folder, "@n": None, "@s": "B"}) == [folder]
    assert ids(scene.wire, "Mappe", outer, {"@m": scene.ids["folder"], "@n": None, "@s": "B"}) == [scene.ids["folder"]]


def test_numbers_and_booleans_are_compared_as_such(scene: Scene) -> None:
    case = scene.case(saksaar=2021, sakssekvensnummer=900100)
    for year in (2021, "2021"):
        found = ids(scene.wire, "Saksmappe", "saksaar = @y && sakssekvensnummer = @n", {"@y": year, "@n": 900100})
        assert found == [case]
    assert ids(scene.wire, "Saksmappe", "id = @s && saksaar = [@a:@b}", {"@s": case, "@a": 2021, "@b": 2022}) == [case]
    file = scene.version(scene.document(scene.record(scene.folder())), scene.uploaded())
    for value in (False, "false"):
        given: Body = {"@v": file, "@b": value}
        assert ids(scene.wire, "Dokumentversjon", "id = @v && kryptertDokument = @b", given) == [file]


def test_public_use_is_the_default_and_withholds_what_is_screened(scene: Scene) -> None:
    folder = scene.folder(tittel="Hemmelig", offentligTittel="Sladdet", skjerming="UO13")
    asked = {"type": "Mappe", "limit": 1, "query": "id=@m", "parameters": {"@m": folder}}
    for public in ({}, {"publicUse": True}, {"publicUse": "true"}):
        told = items(members(answered(scene.wire.call(*CALL, asked | public)))["results"])[0]
        fields = members(told["fields"])
        assert "tittel" not in fields
        assert "opprettetAv" not in fields
        assert (fields["offentligTittel"], fields["skjerming"]) == ("Sladdet", "UO13")
        assert told["links"] == {"refArkivdel": int(scene.ids["series"])}
    assert scene.fields("Mappe", folder)["tittel"] == "Hemmelig"


def test_public_use_withholds_what_is_below_a_screened_object(scene: Scene) -> None:
    folder = scene.folder(skjerming="UO13")
    record = scene.record(folder, tittel="Under det skjermede", skjerming=None)
    document = scene.document(record, skjerming=None, tittel="Dypere")
    for type_name, object_id in (("Basisregistrering", record), ("Dokument", document)):
        asked = {"type": type_name, "limit": 1, "query": "id=@i", "parameters": {"@i": object_id}}
        fields = members(items(members(answered(scene.wire.call(*CALL, asked)))["results"])[0]["fields"])
        assert not {"tittel", "skjerming"} & set(fields)
        assert "skjerming" not in scene.fields(type_name, object_id)


def test_what_may_not_be_read_is_left_out(scene: Scene) -> None:
    blind = scene.account((), ())
    assert answered(blind.call(*CALL, {"type": "Mappe", "limit": 10})) == {"hasMore": False, "results": []}
    reader = scene.account((), READER)
    assert ids(reader, "Mappe", "id = @m", {"@m": scene.ids["folder"]}) == [scene.ids["folder"]]


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ({"limit": 1}, "type"),
        ({"type": "", "limit": 1}, "type"),
        ({"type": 1, "limit": 1}, "type"),
        ({"type": "Nope", "limit": 1}, "Nope"),
        ({"type": "Mappe"}, "limit"),
        ({"type": "Mappe", "limit": 0}, "limit"),
        ({"type": "Mappe", "limit": -1}, "limit"),
        ({"type": "Mappe", "limit": 501}, "limit must be between 1 and 500"),
        ({"type": "Mappe", "limit": "many"}, "limit"),
        ({"type": "Mappe", "limit": True}, "limit"),
        ({"type": "Mappe", "limit": 1, "offset": -1}, "offset"),
        ({"type": "Mappe", "limit": 1, "offset": "x"}, "offset"),
        ({"type": "Mappe", "limit": 1, "publicUse": "perhaps"}, "publicUse"),
        ({"type": "Mappe", "limit": 1, "query": 7}, "query"),
        ({"type": "Mappe", "limit": 1, "query": "tittel"}, "position 7"),
        ({"type": "Mappe", "limit": 1, "query": "tittel = 'x'"}, "position 10"),
        ({"type": "Mappe", "limit": 1, "query": "(tittel = @a"}, "position"),
        ({"type": "Mappe", "limit": 1, "query": "tittel = @a &&"}, "position"),
        ({"type": "Mappe", "limit": 1, "query": "!tittel = @a"}, "position 1"),
        ({"type": "Mappe", "limit": 1, "query": "tittel = @a"}, "@a"),
        ({"type": "Mappe", "limit": 1, "query": "nope = @a", "parameters": {"@a": 1}}, "nope"),
        ({"type": "Mappe", "limit": 1, "query": "saksaar = @a", "parameters": {"@a": 1}}, "saksaar"),
        ({"type": "Mappe", "limit": 1, "query": "refNope.id = @a", "parameters": {"@a": 1}}, "refNope"),
        ({"type": "Mappe", "limit": 1, "query": "refArkivdel.nope = @a", "parameters": {"@a": 1}}, "nope"),
        ({"type": "Mappe", "limit": 1, "query": "#x.id = @a", "parameters": {"@a": 1}}, "#x"),
        (
            {"type": "Mappe", "limit": 1, "query": "virksomhetsspesifikkeMetadata = @n", "parameters": {"@n": None}},
            "vi",
        ),
        ({"type": "Mappe", "limit": 1, "query": "tittel = @a", "parameters": {"@a": []}}, "@a"),
        ({"type": "Mappe", "limit": 1, "query": "tittel = @a", "parameters": {"@a": True}}, "tittel"),
        (
            {"type": "Mappe", "limit": 1, "query": "opprettetDato = [@a:@n]", "parameters": {"@a": "*", "@n": None}},
            "@n",
        ),
        ({"type": "Mappe", "limit": 1, "query": "tittel = [@a:@a]", "parameters": {"@a": "a"}}, "tittel"),
        ({"type": "Mappe", "limit": 1, "query": "opprettetDato %= @a", "parameters": {"@a": "2024%"}}, "opprettetDato"),
        ({"type": "Mappe", "limit": 1, "query": "id %= @a", "parameters": {"@a": None}}, "@a"),
        (
            {"type": "Mappe", "limit": 1, "query": "opprettetDato = [@a:@a]", "parameters": {"@a": "soon"}},
            "opprettetDato",
        ),
        ({"type": "Saksmappe", "limit": 1, "query": "saksaar = @a", "parameters": {"@a": "MMXXI"}}, "saksaar"),
        ({"type": "Mappe", "limit": 1, "parameters": {"a": 1}}, "parameters"),
        ({"type": "Mappe", "limit": 1, "parameters": []}, "parameters"),
        ({"type": "Mappe", "limit": 1, "joins": {"x": "refArkivdel"}}, "joins"),
        ({"type": "Mappe", "limit": 1, "joins": {"#x": "refNope"}}, "refNope"),
        ({"type": "Mappe", "limit": 1, "joins": {"#x": "#y.refArkiv", "#y": "#x.refArkivdel"}}, "#"),
        ({"type": "Mappe", "limit": 1, "sortOrder": {"field": "id"}}, "sortOrder"),
        ({"type": "Mappe", "limit": 1, "sortOrder": [{"field": "id"}]}, "order"),
        ({"type": "Mappe", "limit": 1, "sortOrder": [{"order": "asc"}]}, "field"),
        ({"type": "Mappe", "limit": 1, "sortOrder": [{"field": "id", "order": "up"}]}, "sortOrder[0]"),
        ({"type": "Mappe", "limit": 1, "sortOrder": [{"field": "refArkivdel", "order": "asc"}]}, "refArkivdel"),
        ({"type": "Mappe", "limit": 1, "sortOrder": [{"field": "version", "order": "asc"}]}, "version"),
        ({"type": "Mappe", "limit": 1, "sortOrder": [{"field": "skjerming", "order": "asc"}]}, "skjerming"),
        ({"type": "Saksmappe", "limit": 1, "sortOrder": [{"field": "saksstatus", "order": "asc"}]}, "saksstatus"),
        (
            {"type": "Saksmappe", "limit": 1, "sortOrder": [{"field": "sakssekvensnummer", "order": "asc"}]},
            "sakssekvensnummer",
        ),
        ({"type": "Dokumentversjon", "limit": 1, "sortOrder": [{"field": "sjekksum", "order": "asc"}]}, "sjekksum"),
    ],
)
def test_a_query_that_makes_no_sense_is_400(scene: Scene, asked: Body, word: str) -> None:
    refused(scene.wire, CALL, asked, 400, word)


def test_an_unused_parameter_does_no_harm(scene: Scene) -> None:
    given: Body = {"@m": scene.ids["folder"], "@unused": None, "@other": 7}
    assert ids(scene.wire, "Mappe", "id = @m", given) == [scene.ids["folder"]]


def test_the_largest_page_is_500_unless_a_setting_says_otherwise(archive_with: Callable[..., Archive]) -> None:
    wire = archive_with(query_limit=1000).wire
    assert answered(wire.call(*CALL, {"type": "Arkiv", "limit": 1000})) == {"hasMore": False, "results": []}
    refused(wire, CALL, {"type": "Arkiv", "limit": 1001}, 400, "limit must be between 1 and 1000")
