"""An extract as a source: planned without a recipe, opened again later, loaded whole, closed as it was."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import noarkit
from noarkit.archive.administration import Administration
from noarkit.archive.paging import objects
from noarkit.archive.registers import ListedCode
from noarkit.archive.values import Query, SavedObject
from noarkit.errors import ItemChanged, ItemVanished, NotAllowed, PlanFault, SourceGone
from noarkit.events import ignore_event
from noarkit.forms.finders import open_source, reopen
from noarkit.forms.noark5.source import ExtractRecipe, ExtractSource, find_extract, read_extract_recipe
from noarkit.records import Groundwork, SourceIdentity
from noarkit.sources.scan import scan
from tests.loading.journey import add_plain_account
from tests.roundtrip.circle import WholeArchive, archive_in, extract_to, ingest, plan_extract
from tests.sources.package.made import (
    CASE,
    classified,
    document,
    folder,
    fonds,
    package,
    record,
    records,
    series,
    uuid,
    version,
)

CLOSED = "<avsluttetDato>2015-03-04T05:06:07</avsluttetDato><avsluttetAv>Ola</avsluttetAv>"


def whole(place: Path) -> ExtractSource:
    """A case file with a post and its document."""
    post = record(11, document(12, version(13, "dokumenter/a.pdf")), kind="journalpost").replace(
        "<dokumentbeskrivelse>",
        "<arkivertDato>2014-01-01T00:00:00</arkivertDato><arkivertAv>Per</arkivertAv><dokumentbeskrivelse>",
    )
    status = "<journalstatus>Arkivert</journalstatus></registrering>"
    case = folder(10, post.replace("</registrering>", status), kind="saksmappe", before=CLOSED, after=CASE)
    return package(place, fonds(series(classified(case))), ["dokumenter/a.pdf"])


def one(archive: WholeArchive, kind: str, number: int) -> SavedObject:
    """The object that has a systemID."""
    (found,) = objects(archive, Query(kind, "uuid = @u", {"@u": uuid(number)}))
    return found


def test_an_extract_is_found_at_its_root_in_its_content_and_one_folder_down(tmp_path: Path) -> None:
    for place in ("a", "b/content", "c/uuid/content"):
        package(tmp_path / place, fonds())
    for place, root in (("a", "a"), ("b", "b/content"), ("c", "c/uuid/content")):
        found = find_extract(str(tmp_path / place))
        assert found is not None
        assert found.root == tmp_path / root
    assert find_extract(str(tmp_path)) is None  # which of the three?


def test_opening_a_folder_that_holds_an_extract_gives_the_extract(tmp_path: Path) -> None:
    whole(tmp_path)
    source = open_source(str(tmp_path))
    assert isinstance(source, ExtractSource)
    again = reopen(source.identity)
    assert isinstance(again, ExtractSource)
    assert (again.identity, again.root) == (source.identity, source.root)


def test_an_extract_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(SourceGone):
        reopen(SourceIdentity("noark5", str(tmp_path / "borte"), {}))
    with pytest.raises(SourceGone):
        list(ExtractSource(tmp_path).records(ignore_event))


def test_a_scan_counts_folders_records_and_documents(tmp_path: Path) -> None:
    found = scan(whole(tmp_path), ignore_event)
    assert (found.records, found.contents) == (2, 1)
    assert found.kinds == {"saksmappe": 1, "journalpost": 1}


def test_a_file_that_changed_or_went_since_the_plan_is_not_taken(tmp_path: Path) -> None:
    source = whole(tmp_path)
    (content,) = records(source)[uuid(11)].contents
    (tmp_path / "dokumenter" / "a.pdf").write_bytes(b"noe annet og lengre")
    with pytest.raises(ItemChanged), source.open(content):
        pass
    (tmp_path / "dokumenter" / "a.pdf").unlink()
    with pytest.raises(ItemVanished), source.open(content):
        pass


def test_folders_and_records_are_counted_and_what_they_stand_in_is_not(tmp_path: Path) -> None:
    whole(tmp_path / "package")
    planned = plan_extract(tmp_path / "package", tmp_path / "run")
    assert planned.records == {"mapped": 2}
    assert planned.entities["Klasse"] == planned.entities["Arkivdel"] == 1


def test_two_plans_of_an_extract_are_one(tmp_path: Path) -> None:
    whole(tmp_path / "package")
    first = plan_extract(tmp_path / "package", tmp_path / "one")
    assert first.sha256 == plan_extract(tmp_path / "package", tmp_path / "two").sha256


def test_a_reference_to_what_is_not_in_the_extract_is_left_out_with_a_note(tmp_path: Path) -> None:
    refers = f"<kryssreferanse><referanseTilMappe>{uuid(99)}</referanseTilMappe></kryssreferanse>"
    package(tmp_path / "package", fonds(series(folder(10, record(11, refers)))))
    for run, carry, code in (("left-out", False, "W234"), ("carried", True, "W237")):
        planned = plan_extract(tmp_path / "package", tmp_path / run, carry=carry)
        assert planned.records == {"mapped": 2}
        with closing(sqlite3.connect(tmp_path / run / "graph.db")) as graph, graph:
            assert graph.execute("SELECT count(*) FROM note WHERE code = ?", (code,)).fetchone() == (1,)
            assert graph.execute("SELECT count(*) FROM link WHERE other IS NULL").fetchone() == (0,)
        graph.close()


def test_what_was_closed_is_closed_with_its_own_date_and_name(tmp_path: Path) -> None:
    whole(tmp_path / "package")
    with archive_in(tmp_path / "archive") as archive:
        way = ingest(tmp_path / "package", tmp_path / "run", archive)
        assert way.closed.refused_count == 0
        case, post = one(archive, "Saksmappe", 10), one(archive, "Journalpost", 11)
    assert (case.fields["avsluttetDato"], case.fields["avsluttetAv"]) == ("2015-03-04T04:06:07.000Z", "Ola")
    assert (post.fields["avsluttetDato"], post.fields["avsluttetAv"]) == ("2013-12-31T23:00:00.000Z", "Per")
    assert (case.fields["saksstatus"], post.fields["journalstatus"]) == ("A", "A")


def test_what_tells_no_closing_was_closed_with_what_it_stands_in(tmp_path: Path) -> None:
    closed = "<avsluttetDato>2018-05-06T07:08:09</avsluttetDato><avsluttetAv>Eva</avsluttetAv>"
    earlier = "<avsluttetDato>2017-05-06T07:08:09</avsluttetDato>"
    precedent = (
        "<presedens><presedensDato>2020-01-02</presedensDato><opprettetDato>2020-01-03T04:05:06</opprettetDato>"
        "<opprettetAv>Ola</opprettetAv><tittel>P</tittel><rettskildefaktor>Dom</rettskildefaktor></presedens>"
    )
    case = CASE.replace("<saksdato>2020-01-02</saksdato>", "")
    folders = (
        folder(10, record(11), before=earlier),
        folder(20, record(21), kind="saksmappe", after=case + precedent),
    )
    package(tmp_path / "package", fonds(series(closed, classified(*folders))))
    with archive_in(tmp_path / "archive") as archive:
        ingest(tmp_path / "package", tmp_path / "run", archive)
        own, inside = one(archive, "Mappe", 10), one(archive, "Basisregistrering", 11)
        others = [one(archive, "Saksmappe", 20), one(archive, "Basisregistrering", 21)]
        others += [one(archive, "Klasse", 4), one(archive, "Klassifikasjonssystem", 3)]
        (held,) = archive.query(Query("Presedens")).objects
    assert own.fields["avsluttetDato"] == inside.fields["avsluttetDato"] == "2017-05-06T05:08:09.000Z"
    assert {(each.fields["avsluttetDato"], each.fields["avsluttetAv"]) for each in others} == {
        ("2018-05-06T05:08:09.000Z", "Eva")
    }
    assert others[0].fields["saksdato"] == "2020-01-02"
    approved = (held.fields["presedensGodkjentDato"], held.fields["presedensGodkjentAv"])
    assert approved == ("2020-01-03T03:05:06.000Z", "Ola")
    with closing(sqlite3.connect(tmp_path / "run" / "graph.db")) as graph, graph:
        told = " ".join(str(row) for row in graph.execute("SELECT data FROM note WHERE code = 'W232'"))
    graph.close()
    for name in ("Klasse.avsluttetDato", "mappe.avsluttetDato", "registrering.arkivertDato", "Saksmappe.saksdato"):
        assert name in told
    assert "Presedens.presedensGodkjentDato" in told


def test_that_the_archive_closes_what_nobody_closed_on_the_day_of_the_load_is_told(tmp_path: Path) -> None:
    package(tmp_path / "package", fonds(series(folder(10, record(11)))))
    noarkit.plan(tmp_path / "package", tmp_path / "run")
    with closing(sqlite3.connect(tmp_path / "run" / "graph.db")) as graph:
        told = " ".join(str(row) for row in graph.execute("SELECT data FROM note WHERE code = 'W232'"))
    assert "mappe.avsluttetDato" in told
    assert "registrering.arkivertDato" in told


def test_what_is_no_field_of_the_archive_is_told_and_no_key_of_a_load_is_taken(tmp_path: Path) -> None:
    told = (
        "<Basisregistrering><dokumentetsDato>i går</dokumentetsDato><finnesIkke>x</finnesIkke></Basisregistrering>"
        "<Saksmappe><prefiks>x</prefiks></Saksmappe><Arkiv><tittel>x</tittel></Arkiv>"
        "<Dokumentversjon><gjelder>ukjent</gjelder><filnavn>../x</filnavn></Dokumentversjon>"
        "<EksternId><eksterntSystem>noarkit:chunk</eksterntSystem><eksternID>1</eksternID></EksternId>"
        "<EksternId><eksterntSystem>gammelt</eksterntSystem><eksternID>2</eksternID></EksternId>"
    )
    held = f'<n:ikkeIFormen xmlns:n="urn:noarkit:ikkeIFormen" xmlns="urn:noarkit:ikkeIFormen">{told}</n:ikkeIFormen>'
    other = '<ikkeIFormen xmlns="urn:andre"><verdi>y</verdi></ikkeIFormen>'
    metadata = f"<virksomhetsspesifikkeMetadata>{held}{other}</virksomhetsspesifikkeMetadata>"
    source = package(tmp_path / "package", fonds(series(folder(10, record(11, metadata)))))
    mapped = records(source)[uuid(11)]
    entities = mapped.fields["entities"]
    assert isinstance(entities, tuple)
    assert [one.fields["eksterntSystem"] for one in entities if one.type == "EksternId"] == ["gammelt"]
    assert {one.type for one in entities} == {"Basisregistrering", "EksternId"}
    assert "dokumentetsDato" not in entities[0].fields
    kept = entities[0].fields["virksomhetsspesifikkeMetadata"]
    assert isinstance(kept, dict)
    assert kept["ikkeiformen"] == {"verdi": {"values": ["y"]}}, "of that name, but not ours"
    assert "noarkit-original" in kept, "what has no place is kept, or told"


def test_a_second_load_of_an_extract_finds_all_of_it_there(tmp_path: Path) -> None:
    whole(tmp_path / "package")
    with archive_in(tmp_path / "archive") as archive:
        assert ingest(tmp_path / "package", tmp_path / "one", archive).numbers.archived == 2
        again = ingest(tmp_path / "package", tmp_path / "two", archive)
        assert (again.numbers.archived, again.numbers.already_there) == (0, 2)
        assert len(list(objects(archive, Query("Arkiv")))) == 1


def test_a_code_that_the_archive_has_under_another_code_is_used_as_it_has_it(tmp_path: Path) -> None:
    whole(tmp_path / "package")
    with archive_in(tmp_path / "archive") as archive:
        Administration(archive).put_code("administrativEnhet", ListedCode("AVD1", "Avdelingen"))
        ingest(tmp_path / "package", tmp_path / "run", archive)
        assert one(archive, "Saksmappe", 10).fields["administrativEnhet"] == "AVD1"


def test_an_account_that_may_not_edit_lists_is_told_which_value_is_missing(tmp_path: Path) -> None:
    whole(tmp_path / "package")
    with archive_in(tmp_path / "archive") as archive:
        add_plain_account(archive.service)
        with pytest.raises(NotAllowed) as caught:
            ingest(tmp_path / "package", tmp_path / "run", archive.acting("plain"))
        assert "administrativEnhet: Avdelingen" in str(caught.value.data["description"])
        assert list(objects(archive, Query("Arkiv"))) == []


def test_an_account_that_may_not_write_what_the_archive_fills_in_loads_all_the_rest(tmp_path: Path) -> None:
    whole(tmp_path / "package")
    with archive_in(tmp_path / "archive") as archive:
        add_plain_account(archive.service)
        Administration(archive).put_code("administrativEnhet", ListedCode("A", "Avdelingen"))
        way = ingest(tmp_path / "package", tmp_path / "run", archive.acting("plain"), todays_dates=True)
        assert way.numbers.archived == 2
        assert way.closed.refused_count == 2  # class and system are closed by a date, which the account may not write
        (case,) = objects(archive, Query("Saksmappe"))
        assert case.fields["uuid"] != uuid(10)
        assert case.fields["avsluttetAv"] != "Ola"
        assert (case.fields["tittel"], case.fields["saksdato"]) == ("Mappe", "2020-01-02")


def test_the_change_log_goes_with_the_extract(tmp_path: Path) -> None:
    place = tmp_path / "package"
    whole(place)
    (place / "endringslogg.xml").write_text(
        '<endringslogg xmlns="http://www.arkivverket.no/standarder/noark5/endringslogg"><endring>'
        f"<referanseArkivenhet>{uuid(10)}</referanseArkivenhet><referanseMetadata>tittel</referanseMetadata>"
        "<endretDato>2014-02-03T04:05:06</endretDato><endretAv>Nils</endretAv>"
        "<tidligereVerdi>Før</tidligereVerdi><nyVerdi>Mappe</nyVerdi></endring></endringslogg>",
        "utf-8",
    )
    with archive_in(tmp_path / "archive") as archive:
        way = ingest(place, tmp_path / "run", archive)
        extract_to(archive, tmp_path / "again")
    assert [event.data for event in way.events if event.name == "change_log_kept"] == [
        {"where": "archive", "entries": 1}
    ]
    log = (tmp_path / "again" / "endringslogg.xml").read_text("utf-8")
    for told in (uuid(10), "tittel", "2014-02-03T04:05:06", "Nils", "Før"):
        assert f">{told}<" in log
    assert log.count("<endring>") == 1


def test_a_recipe_may_set_names_and_zone_of_an_extract_and_nothing_else() -> None:
    text = '[target]\nexternal_system = "gammelt"\nzone = "UTC"\nclose = false\n'
    assert read_extract_recipe(text, "r") == ExtractRecipe("gammelt", "UTC", close=False)
    for wrong in ("[target", '[[map]]\nfor = "file"', "[target]\nmodel = 2", '[target]\nzone = "Månen/Sør"'):
        with pytest.raises(PlanFault):
            read_extract_recipe(wrong, "r")


def test_the_system_and_the_period_of_a_package_are_named_as_what_no_unit_can_hold(tmp_path: Path) -> None:
    source = package(tmp_path, fonds(series(folder(10))))
    (tmp_path / "arkivuttrekk.xml").write_text(
        '<addml xmlns="http://www.arkivverket.no/standarder/addml"><additionalElement name="systemName">'
        '<value>Sak</value></additionalElement><additionalElement name="archivalPeriod">'
        '<properties><property name="startDate">'
        "<value>2001-01-01</value></property></properties></additionalElement></addml>",
        "utf-8",
    )
    (note,) = [note for item in source.records(ignore_event) if isinstance(item, Groundwork) for note in item.notes]
    losses = note.data["losses"]
    assert isinstance(losses, list)
    assert [(element, value) for _, element, value, _ in losses] == [
        ("arkivuttrekk/systemName", "Sak"),
        ("arkivuttrekk/archivalPeriod/startDate", "2001-01-01"),
    ]
