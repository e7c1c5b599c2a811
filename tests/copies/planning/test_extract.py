"""What an extract delivers of documents and copies, what it tells of each conversion, and that this comes back."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from lxml import etree

import noarkit
from noarkit.cli.main import main
from noarkit.model.conversions import checksums_in
from tests.copies.planning.made import BORN, LETTER, MINUTES, NOTE, SHEET, Copies, lay, picture, sha256

pytestmark = pytest.mark.usefixtures("one_archive")

NS = {"n": "http://www.arkivverket.no/standarder/noark5/arkivstruktur"}
_CHILDREN = ["konvertertDato", "konvertertAv", "konvertertFraFormat", "konvertertTilFormat"]


def loaded(place: Path, archive: str = "embedded:first") -> Copies:
    """Documents and copies in an archive, closed."""
    folder, copies = lay(place)
    noarkit.plan(folder, "run", copies="copies")
    noarkit.ingest("run", archive=archive, workers=0)
    noarkit.close("run", archive=archive)
    return copies


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with an archive, and an extract of it."""
    folder = tmp_path_factory.mktemp("extract")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        loaded(folder)
        noarkit.extract("package", archive="embedded:first")
        yield folder


def objects(package: Path) -> list[etree._Element]:
    found = etree.parse(package / "arkivstruktur.xml").findall(".//n:dokumentobjekt", NS)
    assert found
    return found


def text(element: etree._Element, name: str) -> str:
    return str(element.findtext(f"n:{name}", namespaces=NS))


def delivered(package: Path) -> set[str]:
    return {hashlib.sha256(path.read_bytes()).hexdigest() for path in (package / "dokumenter").rglob("*.*")}


def test_the_copy_is_delivered_and_its_original_is_not(place: Path) -> None:
    assert delivered(place / "package") == {*_made(place), *(sha256(one) for one in (BORN, SHEET, NOTE))}
    assert len(objects(place / "package")) == 5


def _made(place: Path) -> set[str]:
    """The checksums of the copies of the letter and the minutes."""
    with closing(sqlite3.connect(place / "copies" / "derive.db")) as db:
        return {str(row[0]) for row in db.execute("SELECT sha256 FROM copy WHERE state = 'made'")}


def test_each_copy_tells_its_conversion_and_nothing_else_does(place: Path) -> None:
    told = {text(one, "sjekksum"): one.findall("n:konvertering", NS) for one in objects(place / "package")}
    assert {checksum for checksum, found in told.items() if found} == _made(place)
    for checksum, found in told.items():
        for conversion in found:
            names = [etree.QName(child).localname for child in conversion]
            assert names == [*_CHILDREN, "konverteringsverktoey", "konverteringskommentar"]
            assert text(conversion, "konvertertDato") == "2026-01-22T10:12:03"  # in the zone of the archive
            assert text(conversion, "konvertertFraFormat") == "fmt/40"
            assert text(conversion, "konvertertTilFormat") == "fmt/477"
            assert text(conversion, "konverteringsverktoey") == "LibreOffice 7.4.7.2"
            sums = checksums_in(text(conversion, "konverteringskommentar"))
            assert sums is not None
            assert sums[0] in {sha256(LETTER), sha256(MINUTES)}
            assert sums[1] == checksum


def test_the_official_schema_takes_it(place: Path, reference: Path) -> None:
    schema = etree.XMLSchema(etree.parse(reference / "xsd" / "noark5" / "5.0" / "arkivstruktur.xsd"))
    assert schema.validate(etree.parse(place / "package" / "arkivstruktur.xml")), schema.error_log


def test_what_no_depot_takes_is_listed_by_folder_and_record(place: Path) -> None:
    with (place / "package.formats-not-taken.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    assert {row["format"] for row in rows} == {"xls", "rtf"}
    assert all(row["folder"] and row["record"] and (place / "package" / row["file"]).is_file() for row in rows)
    report = json.loads((place / "package.not-in-form.json").read_text("utf-8"))
    assert report["formats_not_taken"] == 2
    assert report["copies"] == {"originals_left_out": 2, "numbered_as_original": 0, "access_left_out": 0}


def test_the_archive_still_holds_every_original(place: Path) -> None:
    with noarkit.Archive("embedded:first") as archive:
        held = {str(one.fields["sjekksum"]) for one in archive.find("Dokumentversjon")}
    assert {sha256(one) for one in (LETTER, MINUTES, SHEET, NOTE, BORN)} <= held


def test_a_second_archive_gives_the_same_conversions(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    planned = noarkit.plan("package", "back")
    assert noarkit.ingest("back", archive="embedded:second", workers=0).state == "done"
    facts = json.loads((place / "back" / "plan-report.json").read_text("utf-8"))
    lost = [one["element"] for one in facts["not_in_archive"]["elements"]]
    assert not [name for name in lost if "konvert" in name]
    assert not [one for one in facts["not_in_archive"]["carried"]["elements"] if "konvert" in one["element"]]
    with noarkit.Archive("embedded:second") as archive:
        names = [one for one in archive.find("EksternId") if one.fields["eksterntSystem"] == "noarkit:derived-from"]
        assert {one.fields["eksternID"] for one in names} == {f"sha256:{sha256(one)}" for one in (LETTER, MINUTES)}
    noarkit.close("back", archive="embedded:second")
    noarkit.extract("again", archive="embedded:second")
    assert planned.entities["Dokumentversjon"] == 5
    first, second = (_conversions(place / name) for name in ("package", "again"))
    assert first == second


def _conversions(package: Path) -> dict[str, list[bytes]]:
    return {
        text(one, "sjekksum"): [etree.tostring(found) for found in one.findall("n:konvertering", NS)]
        for one in objects(package)
    }


def test_a_conversion_that_others_tell_stays_as_it_is(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second conversion beside ours is none of ours, and comes back as it stood."""
    monkeypatch.chdir(place)
    shutil.copytree("package", "theirs")
    path = place / "theirs" / "arkivstruktur.xml"
    other = (
        "<konvertering><konvertertDato>2011-02-03T04:05:06</konvertertDato><konvertertAv>Kari</konvertertAv>"
        "<konvertertFraFormat>fmt/39</konvertertFraFormat><konvertertTilFormat>fmt/40</konvertertTilFormat>"
        "</konvertering>"
    )
    content = path.read_text("utf-8")
    path.write_text(content.replace("<konvertering>", f"{other}<konvertering>", 1), "utf-8")
    noarkit.plan("theirs", "run-theirs")
    noarkit.ingest("run-theirs", archive="embedded:third", workers=0)
    noarkit.close("run-theirs", archive="embedded:third")
    noarkit.extract("theirs-again", archive="embedded:third")
    makers = [
        sorted(text(found, "konvertertAv") for found in one.findall("n:konvertering", NS))
        for one in objects(place / "theirs-again")
    ]
    assert sorted(makers) == [[], [], [], ["Kari", "noarkit"], ["noarkit"]]


def test_originals_that_depots_take_go_along_where_that_is_wished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder, copies = lay(tmp_path)
    (folder / "sak" / "bilde.png").write_bytes(picture(9))
    copies.of(picture(9), "made", b"II*\0 a picture as TIFF", puid="fmt/11", target="tiff", result_puid="fmt/353")
    noarkit.plan(folder, "run", copies="copies")
    noarkit.ingest("run", workers=0)
    noarkit.close("run")
    options = noarkit.ExtractOptions(with_originals=True)
    noarkit.extract("both", options)
    held = delivered(tmp_path / "both")
    assert {sha256(picture(9)), sha256(b"II*\0 a picture as TIFF")} <= held
    assert sha256(LETTER) not in held


def test_without_the_right_the_extract_has_the_number_of_the_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive that counts the copy as a version of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("noarkit.loading.chunk_loader.numbers_with_copies", lambda *_: {})
    loaded(tmp_path)
    with noarkit.Archive("embedded:first") as archive:
        numbers = sorted(int(str(one.fields["versjonsnummer"])) for one in archive.find("Dokumentversjon"))
    assert numbers == [1, 1, 1, 1, 1, 2, 2]
    noarkit.extract("package", archive="embedded:first")
    assert [text(one, "versjonsnummer") for one in objects(tmp_path / "package")] == ["1"] * 5
    report = json.loads((tmp_path / "package.not-in-form.json").read_text("utf-8"))
    assert report["copies"] == {"originals_left_out": 2, "numbered_as_original": 2, "access_left_out": 0}


def test_the_validator_names_only_what_has_no_copy(place: Path) -> None:
    """The whole journey: files, copies, plan, load, close, extract, validate."""
    report = noarkit.validate(place / "package")
    found = {one.rule.code: one for one in report.outcomes}
    assert {str(one.data["path"]).rpartition(".")[2] for one in found["N410"].places} == {"xls", "rtf"}
    assert found["N410"].count == 2
    assert not {"N402", "N407", "N408", "N409", "N415", "N419", "N420", "N421", "N422"} & found.keys()


def test_a_delivery_without_originals_is_no_other_than_its_archive(place: Path) -> None:
    comparison = noarkit.compare(place / "package", "embedded:first")
    assert (comparison.equal, dict(comparison.declared)) == (True, {"original": 2})
    assert not comparison.counts


def test_a_copy_that_is_lost_is_a_difference_and_so_is_its_original(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = shutil.copytree(place / "package", tmp_path / "package")
    structure = etree.parse(package / "arkivstruktur.xml")
    lost = next(
        found
        for found in structure.iter(f"{{{NS['n']}}}dokumentobjekt")
        if found.find("n:konvertering", NS) is not None
    )
    document = lost.getparent()
    assert document is not None
    document.remove(lost)
    structure.write(package / "arkivstruktur.xml", xml_declaration=True, encoding="UTF-8")
    comparison = noarkit.compare(package, "embedded:first")
    assert (comparison.equal, dict(comparison.declared)) == (False, {"original": 1})
    assert comparison.counts["only-right"] == 2
    assert main(["compare", "embedded:first", str(package)], {}) == 7
    told = capsys.readouterr().out
    assert f"A is {package}, B is embedded:first." in told
