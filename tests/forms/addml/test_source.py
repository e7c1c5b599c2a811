"""A delivery of flat files is a source of tables: every row, every file beside them, and nothing lost in silence."""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest
from lxml import etree

from noarkit.cli.main import main
from noarkit.errors import PackageFault, SourceGone
from noarkit.events import ignore_event
from noarkit.forms.addml import find_addml
from noarkit.forms.addml.source import AddmlSource
from noarkit.forms.finders import open_source, reopen
from noarkit.graph.entity import SetAside, Skipped
from noarkit.records import Source, SourceRecord, accept_damage
from tests.forms.addml.deliveries import (
    CASE_LINES,
    DELIMITED,
    Column,
    definition,
    delivery,
    description,
    flat_file,
    layout,
    primary,
    record,
)

pytestmark = pytest.mark.usefixtures("one_archive")


def records(source: Source) -> dict[str, SourceRecord]:
    return {item.key: item for item in source.records(ignore_event) if isinstance(item, SourceRecord)}


def aside(source: Source) -> dict[str, object]:
    return {item.record_key: item.data["why"] for item in source.records(ignore_event) if isinstance(item, SetAside)}


def skipped(source: Source) -> set[str]:
    return {item.record_key for item in source.records(ignore_event) if isinstance(item, Skipped)}


@pytest.mark.parametrize("version", ["v8.2", "v8.3"])
def test_the_description_of_these_tests_is_valid_addml(version: str, tmp_path: Path, reference: Path) -> None:
    schema = etree.XMLSchema(etree.parse(str(reference / f"xsd/noark5/addml/{version}/addml.xsd")))
    document = etree.parse(str(delivery(tmp_path / "d") / "addml.xml"))
    assert schema.validate(document), schema.error_log


def test_every_row_has_its_values_by_type(tmp_path: Path) -> None:
    source = open_source(str(delivery(tmp_path / "d")))
    assert source.identity.kind == "addml"
    found = records(source)
    first, second, third = (found[f"SAK:S{number}"].fields for number in (1, 2, 3))
    assert first["TITTEL"] == 'Søknad; om "tilskudd"' and first["BELOP"] == "1234.50"
    assert first["DATO"] == "2001-12-31" and first["AVSLUTTET"] is True
    assert (second["BELOP"], second["DATO"], second["AVSLUTTET"]) == ("12.5", None, False)
    assert third["TITTEL"] == "To\r\nlinjer" and third["BELOP"] is None
    assert third["DATO"] == "30.02.2001"  # no day that there is: it stays what it was
    letter = found["BREV:1"].fields
    assert letter["ID"] == 1 and letter["NAAR"] == "2001-01-02T03:04:05"
    assert found["BREV:3"].fields["NAAR"] is None and found["BREV:3"].fields["FIL"] is None
    assert aside(source) == {} and "SAK#DATO" in skipped(source)


def test_rows_reach_those_they_refer_to(tmp_path: Path) -> None:
    titles: dict[str, object] = {}
    for item in open_source(str(delivery(tmp_path / "d"))).records(ignore_event):
        if isinstance(item, SourceRecord) and item.kind == "BREV":
            case = item.fields["SAK_row"]
            titles[item.key] = case["TITTEL"] if isinstance(case, Mapping) else case
        elif isinstance(item, SourceRecord) and item.kind == "SAK":
            assert not titles  # what others refer to comes first
    assert titles == {"BREV:1": 'Søknad; om "tilskudd"', "BREV:2": 'Søknad; om "tilskudd"', "BREV:3": "Høring"}


def test_every_file_is_a_table_a_record_or_left_out_by_name(tmp_path: Path) -> None:
    place = delivery(tmp_path / "d")
    source = open_source(str(place))
    files = {str(path.relative_to(place)).replace(" ", " ") for path in place.rglob("*") if path.is_file()}
    found = records(source)
    told = {key for key, item in found.items() if item.kind == "file"} | skipped(source)
    assert files <= told
    assert {key for key in files if key not in found} == {"DATA/sak.dat", "DATA/brev.dat"}
    with source.open(found["les meg.txt"].contents[0]) as stream:
        assert stream.read() == b"om uttrekket"


def test_documents_that_a_field_names_are_taken_once(tmp_path: Path) -> None:
    place = delivery(tmp_path / "d")
    source = AddmlSource(place).fitted({"kind": "addml", "documents": {"BREV": [{"column": "FIL", "as": "file"}]}})
    found = records(source)
    with source.open(found["BREV:2"].contents[0]) as stream:
        assert stream.read() == b"to"
    assert found["BREV:3"].contents == ()
    assert {"DATA/brev/1.txt", "DATA/brev/2.txt"} <= skipped(source) and "DATA/brev/1.txt" not in found


def test_another_checksum_is_damage_that_only_a_word_takes(tmp_path: Path) -> None:
    place = delivery(tmp_path / "d", wrong=True)
    with pytest.raises(PackageFault) as caught:
        list(open_source(str(place)).records(ignore_event))
    assert caught.value.data["why"] == "damaged-source" and "DATA/sak.dat" in str(caught.value.data["where"])
    source = accept_damage(open_source(str(place)), despite_damage=True)
    assert "SAK:S1" in records(source)
    reasons = {item.record_key: item.reason for item in source.records(ignore_event) if isinstance(item, Skipped)}
    assert "checksum" in reasons["DATA/sak.dat"] and "checksum" not in reasons["DATA/brev.dat"]
    assert "SAK:S1" in records(reopen(source.identity))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("S4;for få", "addml-field-count"),
        ("S4;a;1,0;01.01.2001;J;;for mange", "addml-field-count"),
        ('S4;"aldri lukket;1,0;01.01.2001;J;', "addml-quote"),
        ('S4;"lukket"her;1,0;01.01.2001;J;', "addml-quote"),
        ("S4;a;1,0;01.01.2001;1;", "addml-unfit"),
        ("", "addml-field-count"),
    ],
)
def test_a_broken_line_is_set_aside_alone(line: str, why: str, tmp_path: Path) -> None:
    cases = (CASE_LINES[0], line, *CASE_LINES[1:])
    source = open_source(str(delivery(tmp_path / "d", cases=cases)))
    assert aside(source) == {"DATA/sak.dat#2": why}
    assert {"SAK:S1", "SAK:S2", "SAK:S3"} <= records(source).keys()


def test_a_key_that_comes_twice_gives_way_to_the_number_of_the_row(tmp_path: Path) -> None:
    cases = (*CASE_LINES, "S1;igjen;;;J;")
    found = records(open_source(str(delivery(tmp_path / "d", cases=cases))))
    rows = {key: item.fields for key, item in found.items() if item.kind == "SAK"}
    assert set(rows) == {"SAK:1", "SAK:2", "SAK:3", "SAK:4"} and rows["SAK:4"]["TITTEL"] == "igjen"


def test_a_count_that_differs_and_a_file_that_is_missing_are_told(tmp_path: Path) -> None:
    place = delivery(tmp_path / "d")
    text = (place / "addml.xml").read_text()
    (place / "addml.xml").write_text(text.replace("<value>3</value>", "<value>5</value>", 1))
    (place / "DATA/brev.dat").unlink()
    assert aside(open_source(str(place))) == {
        "DATA/sak.dat#records": "addml-record-count",
        "DATA/brev.dat": "addml-not-there",
    }


def test_files_whose_letters_differ_in_case_are_found(tmp_path: Path) -> None:
    place = delivery(tmp_path / "d")
    (place / "DATA/sak.dat").rename(place / "DATA/SAK.DAT")
    assert "SAK:S1" in records(open_source(str(place)))


def test_a_definition_that_is_not_understood_leaves_its_file_as_it_lies(tmp_path: Path) -> None:
    place = delivery(tmp_path / "d")
    text = (place / "addml.xml").read_text()
    (place / "addml.xml").write_text(text.replace("ISO-8859-1", "EBCDIC-norsk"))
    source = open_source(str(place))
    assert aside(source) == {"SAK": "addml-unknown-charset"}
    assert records(source)["DATA/sak.dat"].kind == "file" and "BREV:1" in records(source)


def test_a_file_that_is_no_table_is_held_to_its_checksum_too(tmp_path: Path) -> None:
    place = delivery(tmp_path / "d", wrong=True)
    text = (place / "addml.xml").read_text()
    (place / "addml.xml").write_text(text.replace("ISO-8859-1", "EBCDIC-norsk"))
    with pytest.raises(PackageFault):
        list(open_source(str(place)).records(ignore_event))
    source = accept_damage(open_source(str(place)), despite_damage=True)
    assert "DATA/sak.dat#checksum" in skipped(source) and records(source)["DATA/sak.dat"].kind == "file"


def test_a_file_that_is_named_twice_has_its_broken_lines_told_twice(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    columns = (Column("a"), Column("b"))
    text = description(
        [flat_file("en", "a.csv", "EN"), flat_file("to", "a.csv", "TO")],
        [definition(name, record("r", columns)) for name in ("EN", "TO")],
        [layout(DELIMITED, "UTF-8")],
    )
    (tmp_path / "d/addml.xml").write_bytes(text)
    (tmp_path / "d/a.csv").write_bytes(b"1;2\r\nkort\r\n")
    source = open_source(str(tmp_path / "d"))
    assert set(aside(source)) == {"a.csv#2", "a.csv#2-2"}
    assert {"EN:1", "TO:1"} <= records(source).keys()


def test_what_is_no_such_delivery_stays_what_it_was(tmp_path: Path) -> None:
    place = delivery(tmp_path / "d")
    (place / "content").mkdir()
    for name in ("content/arkivstruktur.xml", "arkivstruktur.xml"):
        (place / name).write_text("<arkiv/>")
        assert find_addml(str(place)) is None
        (place / name).unlink()
    (place / "arkivuttrekk.xml").write_text('<addml xmlns="http://www.arkivverket.no/standarder/addml"/>')
    assert open_source(str(place)).identity.kind == "addml"
    (place / "addml.xml").unlink()
    assert find_addml(str(place)) is None
    (place / "arkivuttrekk.xml").unlink()
    delivery(tmp_path / "again")
    (tmp_path / "again/addml.xml").rename(place / "addml.xml")
    (tmp_path / "other").mkdir()
    assert find_addml(str(tmp_path / "other")) is None
    (tmp_path / "other/addml.xml").write_text("<addml><dataset/></addml>")
    assert find_addml(str(tmp_path / "other")) is None and open_source(str(tmp_path / "other")).identity.kind == "files"
    assert find_addml(str(place / "addml.xml")) is None


def test_it_is_found_under_another_name_and_in_the_one_folder_there_is(tmp_path: Path) -> None:
    delivery(tmp_path / "ytre/indre", usual="uttrekk.xml")
    found = records(open_source(str(tmp_path / "ytre")))
    assert "SAK:S1" in found and "indre/les meg.txt" in found
    source = open_source(str(tmp_path / "ytre"), "addml")
    assert "indre/DATA/sak.dat" in skipped(source)


def test_it_is_found_behind_a_link_and_beside_documents_that_nobody_can_read(tmp_path: Path) -> None:
    place = delivery(tmp_path / "d")
    (place / "a.xml").symlink_to("/etc/hostname")
    (place / "b.xml").write_text("<addml><dataset><flat")
    (place / "c.xml").write_text('<!DOCTYPE addml [<!ENTITY e "e">]><addml><dataset><flatFiles/></dataset></addml>')
    (tmp_path / "lenke").symlink_to("d")
    assert "SAK:S1" in records(open_source(str(tmp_path / "lenke")))


def test_two_descriptions_are_no_delivery_but_the_usual_name_counts(tmp_path: Path) -> None:
    place = delivery(tmp_path / "d")
    (place / "annen.xml").write_bytes((place / "addml.xml").read_bytes())
    assert find_addml(str(place)) is not None
    (place / "addml.xml").rename(place / "enda en.xml")
    assert find_addml(str(place)) is None


def test_names_of_tables_that_mean_something_else_here_are_changed(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    names = ("file", "FILE", "sqlite_x")
    columns = (Column("a"), Column("A"), Column("row_number"))
    text = description(
        [flat_file(name, f"{at}.csv", name) for at, name in enumerate(names)],
        [definition(name, record("r", columns)) for name in names],
        [layout(DELIMITED, "UTF-8")],
    )
    (tmp_path / "d/addml.xml").write_bytes(text)
    for at in range(len(names)):
        (tmp_path / f"d/{at}.csv").write_text("1;2;3\r\n", newline="")
    source = open_source(str(tmp_path / "d"))
    found = {key: item for key, item in records(source).items() if item.kind != "file"}
    assert set(found) == {"file_:1", "FILE__:1", "_sqlite_x:1"}
    assert dict(found["file_:1"].fields) == {"row_number_": 1, "a": "1", "A_": "2", "row_number": "3"}


def test_a_delivery_that_was_replaced_is_not_what_was_planned(tmp_path: Path) -> None:
    place = delivery(tmp_path / "d")
    source = open_source(str(place))
    source_records = records(source)
    assert records(reopen(source.identity)).keys() == source_records.keys()
    assert records(pickle.loads(pickle.dumps(source))).keys() == source_records.keys()  # noqa: S301  # ours
    identity = source.identity
    with (place / "DATA/sak.dat").open("ab") as file:
        file.write(b"S9;;;;J;\r\n")
    with pytest.raises(SourceGone) as caught:
        reopen(identity)
    assert caught.value.data["why"] == "archive-replaced"


def test_several_files_of_one_definition_and_several_types_in_one_file(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    columns = (Column("TYPE"), Column("NR", "tall"), Column("NAVN"))
    types = (
        record("person", columns, primary("NR"), mark="P", tail="<headerLevel>1</headerLevel>"),
        record("firma", columns[:2], mark="F"),
    )
    text = description(
        [flat_file("a", "a.csv", "DELT"), flat_file("b", "b.csv", "DELT")],
        [definition("DELT", *types, identifier="TYPE")],
        [layout(DELIMITED, "UTF-8")],
    )
    (tmp_path / "d/addml.xml").write_bytes(text)
    (tmp_path / "d/a.csv").write_bytes("TYPE;NR;NAVN\r\nP;1;Åse\r\nF;7\r\nX;8\r\n".encode())
    (tmp_path / "d/b.csv").write_bytes("TYPE;NR;NAVN\r\nP;2;Ole\r\nF;9".encode("utf-8-sig"))
    source = open_source(str(tmp_path / "d"))
    found = {key: item.kind for key, item in records(source).items() if item.kind != "file"}
    assert found == {
        "DELT.person:1": "DELT.person",
        "DELT.person:2": "DELT.person",
        "DELT.firma:1": "DELT.firma",
        "DELT.firma:2": "DELT.firma",
    }
    assert aside(source) == {"a.csv#4": "addml-record-type"} and {"a.csv#1", "b.csv#1"} <= skipped(source)


def test_a_delivery_is_planned_ingested_and_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    delivery(tmp_path / "d")
    assert main(["scan", "d"], {}) == 0
    assert "BREV" in capsys.readouterr().out
    assert main(["recipe", "new", "d", "-o", "r.toml"], {}) == 0
    assert main(["recipe", "check", "r.toml", "d"], {}) == 0
    assert main(["plan", "d", "-o", "plan", "--source-kind", "addml"], {}) == 0
    assert main(["ingest", "d", "-o", "run", "--archive", "embedded:arkiv"], {}) == 0
    assert main(["verify", "run", "--depth", "bytes"], {}) == 0
    with closing(sqlite3.connect("run/graph.db")) as db:
        states = dict(db.execute("SELECT key, state FROM record"))
        types = dict(db.execute("SELECT type, count(*) FROM entity GROUP BY type"))
    rows = {key: state for key, state in states.items() if ":" in key}
    assert set(rows) == {"SAK:S1", "SAK:S2", "SAK:S3", "BREV:1", "BREV:2", "BREV:3"}
    assert set(rows.values()) <= {"mapped", "skipped"} and rows["BREV:1"] == "mapped"
    assert types["Saksmappe"] == 3 and types["Dokumentversjon"] == 4  # two letters, the paper, the description
    assert states["DATA/brev.dat"] == states["DATA/brev/1.txt"] == "skipped"


def test_a_recipe_of_the_database_plans_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    delivery(tmp_path / "d")
    text = open_source("d").default_recipe().replace('kind = "addml"', 'kind = "database"')
    Path("r.toml").write_text(text)
    assert main(["plan", "d", "--recipe", "r.toml", "-o", "plan"], {}) == 0
    without = text[: text.index("# What lies beside the tables")]
    Path("r.toml").write_text(without)
    assert main(["plan", "d", "--recipe", "r.toml", "-o", "rows"], {}) == 3
    assert "les meg.txt" in Path("rows/set-aside.csv").read_text("utf-8-sig")  # it has no rule, which is told


def test_damage_is_refused_on_the_command_line_and_taken_by_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    delivery(tmp_path / "d", wrong=True)
    assert main(["plan", "d", "-o", "plan"], {}) == 4
    assert main(["plan", "d", "-o", "taken", "--despite-damage"], {}) == 0
    assert "checksum" in Path("taken/skipped.csv").read_text("utf-8-sig")
    assert main(["ingest", "taken", "--archive", "embedded:arkiv"], {}) == 0


def test_in_a_bag_and_as_plain_files_it_stays_the_files_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    delivery(tmp_path / "d")
    assert main(["convert", "d", "--as", "bagit", "-o", "bag"], {}) == 0
    assert open_source("bag").identity.kind == "bag"
    assert "DATA/sak.dat" in records(open_source("d", "files"))


def test_a_broken_line_makes_a_plan_end_with_three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    delivery(tmp_path / "d", cases=(*CASE_LINES, "S4;kort"))
    assert main(["plan", "d", "-o", "plan"], {}) == 3
    told = Path("plan/set-aside.csv").read_text("utf-8-sig")
    assert '"DATA/sak.dat#5"' in told and "as many fields as the ADDML description says" in told
