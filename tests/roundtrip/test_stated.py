"""What a package says of itself survives conversion: in a circle over all forms, and from each form to each.

Everything is read by lxml and as plain text, not by the readers that the conversion itself uses.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import tarfile
import zipfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from lxml import etree

from noarkit.api.converting import convert
from noarkit.events import Event
from noarkit.forms.bagit.write import BagFile, BagOrder, make_bag
from noarkit.forms.validation import validate
from noarkit.manual.chapters import chapter_source
from tests.forms.dias.official import Official
from tests.forms.eark.oracles import mets_schemas, premis_schema
from tests.roundtrip.stated import TIME, VALUES, carried, documents, header, make_stated, own_documents

FORMS = ("eark-sip", "eark-aip", "eark-dip", "dias-sip", "dias-aip", "bagit")
COLUMNS = {"eark": 1, "dias": 2, "bagit": 3}


def errors(package: Path) -> list[str]:
    return [one.rule.code for one in validate(package).outcomes if one.rule.level == "error"]


def rows(lang: str) -> list[tuple[str, str, str, str]]:
    """The lines of the table in the manual, cell by cell."""
    found = []
    for line in chapter_source("metadata", lang).splitlines():
        cells = tuple(cell.strip() for cell in line.strip().strip("|").split("|"))
        if len(cells) == 4:
            found.append((cells[0], cells[1], cells[2], cells[3]))
    return found[2:]  # without the heading


STATED = {
    "title": "label",
    "status": "record status",
    "submission agreement": "agreement",
    "first day": "start",
    "last day": "end",
    "any other identifier": "unknown identifier",
    "contact's telephone, mail": "contact's phone",
    "source system": "system",
    "version of the source system": "system's version",
    "type of the source system": "system's type",
    "any other agent": "other agent",
    "event: type": "event",
    "event: time": "event's time",
    "event: outcome": "event's outcome",
    "format of a file (PRONOM)": "file's format",
    "time of a file": "file's time",
}
"""What the table calls otherwise than `VALUES`."""


def _tells(told: dict[str, list[str]], place: str, value: str) -> bool:
    """True where a value stands in its place; a type of event that DIAS does not know, in brackets."""
    texts = [text for one in place.split(", ") for text in told.get(one, [])]
    return value in texts or any(text.startswith(f"[{value}]") for text in texts)


def plain_bag(stated: Path, target: Path) -> Path:
    """A bag of two plain files whose bag-info.txt and PREMIS say what `stated`, a bag of a package, says."""
    lines = (stated / "bag-info.txt").read_text("utf-8").splitlines()
    own = ("Payload-Oxum", "Bagging-Date", "Bag-Software-Agent", "External-Identifier")
    info = tuple((label, value) for label, _, value in (line.partition(": ") for line in lines) if label not in own)
    source = target.parent / f"{target.name}-files"
    source.mkdir()
    files = []
    for name in ("a.pdf", "b.dat"):
        (source / name).write_bytes(name.encode())
        day = datetime(2011, 2, 3, tzinfo=UTC).timestamp()
        os.utime(source / name, (day, day))
        files.append(BagFile(name, source / name))
    order = BagOrder(info, tags=(("premis.xml", (stated / "premis.xml").read_bytes()),), identified=True)
    make_bag(files, target, order)
    return target


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A package of each form that says everything which its form has a place for."""
    place = tmp_path_factory.mktemp("stated")
    eark = make_stated(place / "files", place / "eark")
    dias = convert(eark, place / "dias", form="dias-aip").package
    bag = convert(eark, place / "bag", form="bagit").package
    return {"eark": eark, "dias": dias, "bagit": plain_bag(bag, place / "plain-bag")}


def test_the_first_package_says_everything(sources: dict[str, Path]) -> None:
    assert carried(sources["eark"]) == set(VALUES)
    assert errors(sources["eark"]) == []


@pytest.mark.parametrize("tail", ["", ".zip", ".tar"])
def test_nothing_is_lost_in_a_circle_over_all_forms(tmp_path: Path, sources: dict[str, Path], tail: str) -> None:
    at = sources["eark"]
    known = set[str]()
    for number, form in enumerate((*FORMS[1:], *FORMS)):
        ending = "" if form.startswith("dias") or form == "bagit" else tail
        at = convert(at, tmp_path / f"{number}-{form}{ending}", form=form).package
        assert set(VALUES) - carried(at) == set(), form
        assert errors(at) == [], form
        own = header(at)
        identifier = (own.get("OBJID") or own["External-Identifier"])[0]
        assert UUID(identifier[-36:]) and identifier not in known
        known.add(identifier)


@pytest.mark.parametrize("target", FORMS)
@pytest.mark.parametrize("source", ["eark", "dias", "bagit"])
def test_each_form_gives_each_what_the_table_says(
    tmp_path: Path, sources: dict[str, Path], source: str, target: str
) -> None:
    made = convert(sources[source], tmp_path / "made", form=target).package
    before, after = header(sources[source]), header(made)
    form = target.partition("-")[0]
    assert rows("en"), "there is a table"
    for element, *cells in rows("en"):
        told, place = cells[COLUMNS[source] - 1], cells[COLUMNS[form] - 1]
        if told == "-" or element in ("identifier", "made from"):
            continue
        value = VALUES[STATED.get(element, element)]
        assert _tells(before, told, value), f"{element}: the source says it as {told}"
        if place == "-":
            assert value not in [text for texts in after.values() for text in texts], element
        else:
            assert _tells(after, place, value), f"{element}: {value} as {place}"
    assert errors(made) == []


def test_the_table_is_the_same_in_both_languages() -> None:
    assert [row[1:] for row in rows("en")] == [row[1:] for row in rows("nb")]


@pytest.mark.parametrize("target", FORMS)
def test_a_new_package_names_its_source_and_what_was_done(
    tmp_path: Path, sources: dict[str, Path], target: str
) -> None:
    made = convert(sources["eark"], tmp_path / "made", form=target).package
    source = header(sources["eark"])["OBJID"][0]
    own = header(made)
    assert own.get("altRecordID DERIVEDFROM", own.get("Derived-From")) is not None
    assert source in (own.get("altRecordID DERIVEDFROM") or own["Derived-From"])
    assert "has source" in own["relationshipSubType"]
    assert source in own["relatedObjectIdentifierValue"]
    details = " ".join(own.get("eventDetail", []))
    kinds = [*own["eventType"], details]
    assert any("migration" in text for text in kinds) and any("fixity check" in text for text in kinds)
    assert f"eark SIP to {target}" in details and "noarkit" in details
    assert "AIP17" not in validate(made).codes, "the migration is related to what it was made from"


@pytest.mark.parametrize("target", ["eark-sip", "dias-sip"])
def test_the_metadata_of_the_source_goes_along_as_it_was(tmp_path: Path, sources: dict[str, Path], target: str) -> None:
    made = convert(sources["eark"], tmp_path / "made", form=target).package
    held = [content for _, content in documents(made)]
    assert [name for name, _ in documents(sources["eark"]) if name.endswith("METS.xml")]
    for name, content in documents(sources["eark"]):
        if name.endswith("METS.xml") or name.startswith("metadata/") or "/metadata/" in name:
            assert content in held, name


def test_package_toml_counts_before_the_source(tmp_path: Path, sources: dict[str, Path]) -> None:
    (tmp_path / "package.toml").write_text('[agreement]\nnumber = "2030/1"\n[[creator]]\nname = "Hof"\n', "utf-8")
    made = convert(sources["eark"], tmp_path / "made", form="dias-sip", package=tmp_path / "package.toml").package
    own = header(made)
    assert own["altRecordID SUBMISSIONAGREEMENT"] == ["2030/1"]
    assert "Hof" in own["agent ARCHIVIST"] and VALUES["creator"] not in own["agent ARCHIVIST"]
    assert VALUES["submitter"] in own["agent SUBMITTER"]


def test_plain_files_are_of_no_system_that_nobody_named(tmp_path: Path) -> None:
    (tmp_path / "mapper").mkdir()
    (tmp_path / "mapper" / "a.txt").write_text("a")
    made = convert(tmp_path / "mapper", tmp_path / "dias", form="dias-sip").package
    assert b"Noark 5" not in dict(documents(made))["dias-mets.xml"]
    assert errors(made) == []


def test_empty_folders_are_told_and_listed(tmp_path: Path) -> None:
    (tmp_path / "mapper" / "tom" / "inni").mkdir(parents=True)
    (tmp_path / "mapper" / "a.txt").write_text("a")
    made = convert(tmp_path / "mapper", tmp_path / "bag", form="bagit")
    assert made.empty_folders == 1 and made.set_aside == 0
    assert '"tom/inni";"";"empty-folder"' in (tmp_path / "bag.set-aside.csv").read_text("utf-8-sig")


@pytest.mark.parametrize("tail", [".tar", ".tar.gz"])
def test_a_tar_keeps_the_times_of_files(tmp_path: Path, tail: str) -> None:
    (tmp_path / "mapper").mkdir()
    (tmp_path / "mapper" / "a.txt").write_text("a")
    os.utime(tmp_path / "mapper" / "a.txt", (1_234_567_890, 1_234_567_890))
    made = convert(tmp_path / "mapper", tmp_path / f"bag{tail}", form="bagit").package
    with tarfile.open(made) as archive:
        assert archive.getmember("bag/data/a.txt").mtime == 1_234_567_890
    eark = convert(made, tmp_path / "eark", form="eark-sip").package
    mets = etree.parse(str(eark / "representations" / "files" / "METS.xml"))
    assert [one.get("CREATED") for one in mets.iter("{*}file")] == ["2009-02-13T23:31:30Z"]
    assert (eark / "representations" / "files" / "data" / "a.txt").stat().st_mtime == 1_234_567_890


def test_events_keep_their_identifiers_and_are_told_once(tmp_path: Path, sources: dict[str, Path]) -> None:
    at = sources["eark"]
    for number, form in enumerate(("eark-aip", "dias-sip", "eark-dip", "eark-sip")):
        at = convert(at, tmp_path / str(number), form=form).package
    own = header(at)
    assert own["eventType"].count("virus check") == 1
    assert own["eventDateTime"].count(TIME) == 1
    assert own["eventType"].count("migration") == 4
    assert len(set(own["eventIdentifierValue"])) == len(own["eventIdentifierValue"])


def test_metadata_that_cannot_be_read_is_told_and_goes_along(tmp_path: Path, sources: dict[str, Path]) -> None:
    broken = convert(sources["eark"], tmp_path / "broken", form="eark-sip").package
    premis = broken / "metadata" / "preservation" / "premis.xml"
    premis.write_bytes(b"<premis")
    made = convert(broken, tmp_path / "made", form="eark-aip", despite_damage=True)
    assert made.unread == ("metadata/preservation/premis.xml",)
    assert b"<premis" in [content for _, content in documents(made.package)]
    assert "fixity check" not in header(made.package)["eventType"], "nobody checked it"


def test_a_zip_package_is_found_in_a_folder_of_its_uuid(tmp_path: Path, sources: dict[str, Path]) -> None:
    made = convert(sources["eark"], tmp_path / "made.zip", form="eark-sip").package
    with zipfile.ZipFile(made) as packed:
        tops = {name.partition("/")[0] for name in packed.namelist()}
    assert tops == set(header(made)["OBJID"])


def test_the_official_schemas_have_nothing_against_what_was_carried(
    tmp_path: Path, sources: dict[str, Path], reference: Path
) -> None:
    at = sources["eark"]
    dias = Official(reference / "xsd" / "dias")
    for number, form in enumerate(("eark-aip", "dias-sip", "dias-aip", "bagit", "eark-dip")):
        at = convert(at, tmp_path / str(number), form=form).package
        for name, content in own_documents(at):
            if form.startswith("dias"):
                last = name.rpartition("/")[2]
                kind = {"dias-mets.xml": "mets", "dias-premis.xml": "premis", "log.xml": "premis"}.get(last, "")
                assert not kind or dias.errors(kind, content) == [], (form, name)
            elif name.endswith("premis.xml"):
                assert premis_schema(reference).validate(etree.fromstring(content)), (form, name)
            elif name.endswith("METS.xml"):
                assert all(one.validate(etree.fromstring(content)) for one in mets_schemas(reference)), (form, name)
        if form.startswith("dias"):
            beside = next(at.glob("*.xml")).read_bytes()
            assert dias.errors("submission", beside) == []


@pytest.mark.parametrize(
    ("form", "tail"), [("eark-sip", ".zip"), ("eark-aip", ""), ("dias-sip", ""), ("bagit", ".tar")]
)
def test_a_conversion_that_goes_on_keeps_the_identifier_of_its_start(tmp_path: Path, form: str, tail: str) -> None:
    class Stopped(Exception):
        """The process ended here."""

    told: list[str] = []

    def stop(event: Event, /) -> None:
        if event.name == "package_files":
            raise Stopped

    (tmp_path / "mapper").mkdir()
    for number in range(2_000):
        (tmp_path / "mapper" / f"{number:05}.txt").write_text(str(number))
    target = tmp_path / f"ut{tail}"
    with pytest.raises(Stopped):
        convert(tmp_path / "mapper", target, form=form, listener=stop)
    for state in tmp_path.glob(".noarkit-*/**/state.db"):
        with closing(sqlite3.connect(state)) as db:
            told += [
                value for (value,) in db.execute("SELECT value FROM job WHERE key IN ('eark-object-id', 'bag-id')")
            ]
    for start in tmp_path.glob(".noarkit-*/start.json"):
        told.append("UUID:" + json.loads(start.read_text())["uuid"])
    made = convert(tmp_path / "mapper", target, form=form)
    own = header(made.package)
    assert (own.get("OBJID") or own["External-Identifier"])[0] == told[0]


def test_what_an_inner_package_says_of_itself_is_not_called_lost(tmp_path: Path, sources: dict[str, Path]) -> None:
    bag = convert(sources["eark"], tmp_path / "bag", form="bagit").package
    assert convert(bag, tmp_path / "out", form="eark-dip").set_aside == 0
    assert not list(tmp_path.glob("*.csv"))


TOML = """
[agreement]
number = "2026/1042"
delivery_type = "avlevering"
project = "Vik-avlevering"
package_number = "3 av 7"
reference_code = "SFFk-9"
[delivery]
label = "Sakarkiv"
description = "Saksmapper fra teknisk etat"
[creator]
name = "Vik kommune"
identification = "964968241"
[submitter]
name = "Vik teknisk etat"
[recipient]
name = "Fylkesarkivet"
[[contacts]]
role = "submitter"
name = "Kari Nordmann"
address = "Boks 1, Vik"
phone = "57695000"
email = "kari@vik.example"
[period]
start = "2001-01-01"
end = "2010-12-31"
[system]
name = "ESA"
version = "8.1"
type = "Koark"
type_version = "1"
"""


def test_what_package_toml_said_of_files_comes_back_from_the_whole_circle(tmp_path: Path) -> None:
    (tmp_path / "package.toml").write_text(TOML, "utf-8")
    (tmp_path / "mapper" / "sak").mkdir(parents=True)
    (tmp_path / "mapper" / "sak" / "brev.txt").write_text("hei")
    at = convert(tmp_path / "mapper", tmp_path / "first", form="bagit", package=tmp_path / "package.toml").package
    first = header(at)
    told = {value for value in re.findall(r'"(.+)"', TOML) if value != "submitter"}
    assert told <= {text for texts in first.values() for text in texts}
    for number, form in enumerate((*FORMS, "bagit")):
        at = convert(at, tmp_path / f"{number}-{form}", form=form).package
        assert errors(at) == []
    last = header(at)
    own = ("External-Identifier", "Derived-From", "Payload-Oxum", "Package-Type")
    labels = [label for label in first if label[0].isupper() and label not in own]
    assert {label: last.get(label) for label in labels} == {label: first[label] for label in labels}
    assert [content for name, content in documents(at) if name.endswith("brev.txt")] == [b"hei"]
