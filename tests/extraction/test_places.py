"""What the archive lets stand side by side and the form does not, and what it says of itself and of us."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from lxml import etree

import noarkit
from noarkit.archive.values import Action, Link, Save
from noarkit.cli.main import main
from noarkit.errors import ChecksumDiffers, ConfigFault, DiskFull, NotDepositable, PackageFault
from noarkit.extraction.run import ExtractSettings, extract
from noarkit.extraction.selection import Selection
from noarkit.extraction.store import FILE_NAME, ExtractStore, Progress
from noarkit.forms.metadata.facts import read_facts
from noarkit.forms.validation import validate
from tests.extraction.rich import fill
from tests.extraction.test_extract import contents, judged
from tests.extraction.test_resume import Stopped, stopping_at
from tests.extraction.world import case, closing, document, post, session, spine, uuid, world

pytestmark = pytest.mark.usefixtures("one_archive")

OPEN = ExtractSettings(include_open=True)


def titles(package: Path, path: str) -> list[str]:
    """The titles of the units that a path finds."""
    return [str(one.findtext("{*}tittel")) for one in etree.parse(package / "arkivstruktur.xml").iterfind(path)]


def test_a_system_of_two_series_is_repeated_under_ids_of_its_own(tmp_path: Path) -> None:
    more: list[Action] = [
        Save("Arkivdel", "s2", {"tittel": "Periode 2", "uuid": uuid(70)}),
        Link("Arkivdel", "s2", "refArkiv", ("fonds",)),
        Link("Arkivdel", "s2", "refPrimaerKlassifikasjonssystem", ("system",)),
    ]
    with world(tmp_path / "a") as live:
        live.archive.transaction([*spine(), *more])
        package = extract(live.archive, tmp_path / "package", OPEN).package
    assert judged(package, package, "arkivstruktur") == []
    ids = [str(one.text) for one in etree.parse(package / "arkivstruktur.xml").iter("{*}systemID")]
    assert len(ids) == len(set(ids))
    assert titles(package, ".//{*}klassifikasjonssystem") == ["K-koder", "K-koder"]


def test_folders_without_a_class_in_a_classified_series_are_put_under_one_made_for_them(tmp_path: Path) -> None:
    loose: list[Action] = [
        Save("Mappe", "m", {"tittel": "Uten", "uuid": uuid(71)}),
        Link("Mappe", "m", "refArkivdel", ("series",)),
    ]
    with world(tmp_path / "a") as live:
        live.archive.transaction([*spine(), *case("c1", 10), *loose])
        made = extract(live.archive, tmp_path / "package", OPEN)
    assert judged(made.package, made.package, "arkivstruktur") == []
    assert titles(made.package, ".//{*}klasse[{*}tittel='Uten klasse']/{*}mappe") == ["Uten"]
    assert json.loads(made.report.read_text("utf-8"))["placed_by_rule"]["made_classes"] == 1


def test_one_of_several_fonds_must_be_chosen(tmp_path: Path) -> None:
    second: list[Action] = [
        Save("Arkivskaper", "creator2", {"arkivskaperIdent": "1", "arkivskaperNavn": "Annen"}),
        Save("Arkiv", "fonds2", {"tittel": "Annet arkiv", "uuid": uuid(72)}),
        Link("Arkiv", "fonds2", "refArkivskaper", ("creator2",)),
        Save("Arkivdel", "d2", {"tittel": "Del", "uuid": uuid(73)}),
        Link("Arkivdel", "d2", "refArkiv", ("fonds2",)),
    ]
    with world(tmp_path / "a") as live:
        live.archive.transaction([*spine(), *second])
        with pytest.raises(PackageFault) as caught:
            extract(live.archive, tmp_path / "package", OPEN)
        assert caught.value.data["why"] == "several-fonds"
        told = str(caught.value.data["commands"]).split("; ")
        assert {line.partition(" (")[2] for line in told} == {"Arkiv <1>)", "Annet arkiv)"}
        assert all(line.startswith("noarkit extract -o PKG --arkiv ") for line in told)
        chosen = ExtractSettings(Selection(arkiv="Annet arkiv"), include_open=True)
        package = extract(live.archive, tmp_path / "package", chosen).package
    assert titles(package, "{*}arkivdel") == ["Del"]


def test_what_is_carried_is_valid_under_a_schema_of_its_own(tmp_path: Path) -> None:
    with world(tmp_path / "a") as live:
        fill(live.archive)
        package = extract(live.archive, tmp_path / "package", ExtractSettings()).package
    assert judged(package, package, "arkivstruktur") == []
    schema = etree.XMLSchema(etree.parse(package / "ikkeIFormen.xsd"))
    held = list(etree.parse(package / "arkivstruktur.xml").iter("{urn:noarkit:ikkeIFormen}ikkeIFormen"))
    assert all(schema.validate(etree.ElementTree(one)) for one in held)
    local = [(one.getparent(), etree.QName(one).localname, one.text) for root in held for one in root.iterfind("*/*")]
    told = {(etree.QName(above).localname, name, text) for above, name, text in local}
    assert ("Eiendom", "gnr", "1") in told
    assert ("Mappe", "mappetype", "Emnemappe") in told
    assert ("Sakspart", "organisasjonsnummer", "974760673") in told
    assert "ikkeIFormen.xsd" in (package / "arkivuttrekk.xml").read_text("utf-8")


def test_a_log_that_a_load_kept_is_merged(tmp_path: Path) -> None:
    kept = tmp_path / "kept-changelog.xml"
    with world(tmp_path / "a") as live:
        fill(live.archive)
        first = extract(live.archive, tmp_path / "first", ExtractSettings())
        kept.write_bytes((first.package / "endringslogg.xml").read_bytes())
        second = extract(live.archive, tmp_path / "second", ExtractSettings(kept_log=kept))
    assert second.changes == 2 * first.changes


def test_a_document_that_is_not_what_it_was_is_no_part_of_any_package(tmp_path: Path) -> None:
    with world(tmp_path / "a") as live:
        archive = live.archive
        parts = document(archive, "d1", "p1", 30, b"whole")
        archive.transaction([*spine(), *case("c1", 10), *post("p1", "c1", 20), *parts])
        (stored,) = [
            path for path in (tmp_path / "a" / "files").rglob("*") if path.is_file() and path.stat().st_size == 5
        ]
        stored.chmod(0o644)
        stored.write_bytes(b"other")
        with pytest.raises(ChecksumDiffers):
            extract(archive, tmp_path / "package", OPEN)
    assert not (tmp_path / "package").exists()


def test_disposed_and_lapsed_items_are_told_without_their_files(tmp_path: Path) -> None:
    with world(tmp_path / "a") as live:
        parts = document(live.archive, "d1", "p1", 30)
        actions = [*spine(), *case("c1", 10), *post("p1", "c1", 20, journalstatus="U"), *parts]
        live.archive.transaction(actions)
        made = extract(live.archive, tmp_path / "package", OPEN)
    assert made.files == 0
    assert "dokumentobjekt" not in made.units
    assert judged(made.package, made.package, "arkivstruktur") == []


def test_the_report_says_as_whom_the_archive_was_seen(tmp_path: Path) -> None:
    with world(tmp_path / "a") as live:
        live.archive.transaction([*spine(), *closing()])
        live.live.add_client("narrow", "nobody")
        with session(live.live, "narrow") as narrow, pytest.raises(PackageFault):
            extract(narrow, tmp_path / "nothing", ExtractSettings())
        seen = json.loads(extract(live.archive, tmp_path / "all", ExtractSettings()).report.read_text("utf-8"))[
            "as_seen_by"
        ]
    assert seen["account"] == "admin"
    assert seen["reads_everything"] is True


def test_facts_of_the_delivery_come_from_their_file(tmp_path: Path) -> None:
    file = tmp_path / "package.toml"
    system = '[system]\nname = "Arkiv X"\ntype = "Filområde"\n'
    file.write_text(f'{system}[period]\nstart = "2019-01-01"\nincoming = "mykt"\n', "utf-8")
    with world(tmp_path / "a") as live:
        live.archive.transaction([*spine(), *closing()])
        package = extract(live.archive, tmp_path / "package", ExtractSettings(facts=read_facts(file))).package
    text = (package / "arkivuttrekk.xml").read_text("utf-8")
    assert "<value>Arkiv X</value>" in text
    assert "<value>Filområde</value>" in text and "Sakarkiv" not in text
    assert "<value>2019-01-01</value>" in text
    assert "<value>mykt</value>" in text
    file.write_text('[period]\nstart = "spring"\n', "utf-8")
    with pytest.raises(ConfigFault):
        read_facts(file)


def test_a_folder_that_holds_no_official_schemas_is_refused(tmp_path: Path) -> None:
    (tmp_path / "schemas").mkdir()
    with world(tmp_path / "a") as live:
        live.archive.transaction([*spine(), *closing()])
        with pytest.raises(NotDepositable):
            extract(live.archive, tmp_path / "package", ExtractSettings(schemas=tmp_path / "schemas"))


def test_with_the_official_schemas_nothing_stands_against_depositing(tmp_path: Path, reference: Path) -> None:
    facts = tmp_path / "package.toml"
    facts.write_text('[creator]\nname = "Fjellvik kommune"\n[system]\nname = "Sakssystemet"\n')
    with world(tmp_path / "a") as live:
        records = [*case("c", 7), *post("p", "c", 8), *document(live.archive, "d", "p", 9)]
        live.archive.transaction([*spine(), *records, *closing(documents=("d",), posts=("p",), cases=("c",))])
    options = noarkit.ExtractOptions(package=facts, schemas=reference / "xsd" / "noark5")
    made = noarkit.extract(tmp_path / "package", options, archive=f"embedded:{tmp_path / 'a'}")
    assert made.verdict is not None
    assert made.depositable, made.verdict.to_dict()
    assert [reason.code for reason in made.verdict.reasons if reason.grade == "stops"] == []


def test_what_nobody_named_stands_against_depositing(tmp_path: Path, reference: Path) -> None:
    with world(tmp_path / "a") as live:
        live.archive.transaction([*spine(), *closing()])
        made = extract(live.archive, tmp_path / "package", ExtractSettings(schemas=reference / "xsd" / "noark5"))
    assert "system-unnamed" in made.flaws
    assert not made.depositable


def test_a_series_that_ends_before_it_begins_gives_the_package_no_period(tmp_path: Path) -> None:
    reversed_period = {
        "arkivperiodeStartDato": "2018-05-04T00:00:00.000Z",
        "arkivperiodeSluttDato": "2017-05-04T00:00:00.000Z",
    }
    with world(tmp_path / "a") as live:
        live.archive.transaction([*spine(**reversed_period), *closing()])
        made = extract(live.archive, tmp_path / "package", ExtractSettings())
    assert "N202" not in validate(made.package).codes


@pytest.mark.parametrize("decision", ["B", "K"])
def test_the_flag_for_disposal_is_the_one_that_a_receiver_expects(decision: str, tmp_path: Path) -> None:
    disposal = {"kassasjonsvedtak": decision, "bevaringstid": 10, "kassasjonshjemmel": "BKPLAN"}
    with world(tmp_path / "a") as live:
        live.archive.transaction([*spine(), *case("c", 7, **disposal), *closing(cases=("c",))])
        made = extract(live.archive, tmp_path / "package", ExtractSettings())
    assert "<kassasjonsvedtak>" in (made.package / "arkivstruktur.xml").read_text("utf-8")
    assert "N213" not in validate(made.package).codes


def test_errors_that_our_validator_finds_stand_against_depositing(
    tmp_path: Path, reference: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = tmp_path / "package.toml"
    told.write_text('[creator]\nname = "Fjellvik kommune"\n[system]\nname = "Sakssystemet"\n')
    with world(tmp_path / "a") as live:
        live.archive.transaction([*spine(), *closing()])
    schemas = str(reference / "xsd" / "noark5")
    line = ["extract", "-o", str(tmp_path / "package"), "--archive", f"embedded:{tmp_path / 'a'}", "--schemas", schemas]
    line.append("--allow-empty")
    code = main([*line, "--package", str(told), "--json"], {})
    made = next(json.loads(row) for row in capsys.readouterr().out.splitlines() if '"extracted"' in row)
    errors = validate(tmp_path / "package", schemas=Path(schemas)).number("error")
    assert made["errors"] == errors
    assert (code == 0) == (made["verdict"] != "not-ready") == made["depositable"]
    assert errors == 0 or not made["depositable"]


def test_the_store_of_a_stopped_extract_can_be_looked_into(tmp_path: Path) -> None:
    with world(tmp_path / "a") as live:
        live.archive.transaction(spine())
        with pytest.raises(Stopped):
            extract(live.archive, tmp_path / "package", ExtractSettings(include_open=True, pause=stopping_at(3)))
    assert (tmp_path / ".package.noarkit-extract" / FILE_NAME).is_file()


def test_the_command_says_what_was_made_and_what_stands_against_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with world(tmp_path / "a") as live:
        live.archive.transaction(spine())
    line = ["extract", "-o", str(tmp_path / "package"), "--archive", f"embedded:{tmp_path / 'a'}"]
    assert main(line, {}) == 4
    assert "F501" in capsys.readouterr().err
    assert main([*line, "--include-open"], {}) == 4, "there is nothing in it"
    assert main([*line, "--include-open", "--allow-empty"], {}) == 3
    told = capsys.readouterr().out
    assert str(tmp_path / "package") in told
    assert "Not ready for deposit" in told


@pytest.mark.parametrize("ending", [".zip", ".tar", ".tar.gz"])
def test_a_name_that_ends_so_packs_the_package_and_twice_gives_the_same_bytes(tmp_path: Path, ending: str) -> None:
    with world(tmp_path / "a") as live:
        live.archive.transaction([*spine(), *closing()])
        folder = extract(live.archive, tmp_path / "folder", ExtractSettings()).package
        first = extract(live.archive, tmp_path / f"first{ending}", ExtractSettings()).package
        second = extract(live.archive, tmp_path / f"second{ending}", ExtractSettings()).package
    assert first.read_bytes() == second.read_bytes()
    shutil.unpack_archive(first, tmp_path / "unpacked")
    assert contents(tmp_path / "unpacked") == contents(folder)


def test_a_full_store_is_told_as_no_room(tmp_path: Path) -> None:
    with ExtractStore(tmp_path / FILE_NAME) as store:
        store.db.execute("PRAGMA max_page_count = 40")
        row = ("F", 1, "Noekkelord", 1, "u", "x" * 300_000)
        with pytest.raises(DiskFull):
            store.add({"part": [row, row]}, "task", Progress("1", False))


def test_what_stands_beside_the_package_alone_is_counted(tmp_path: Path) -> None:
    with world(tmp_path / "a") as live:
        fill(live.archive)
        made = extract(live.archive, tmp_path / "package", ExtractSettings(carry=False))
        carried = extract(live.archive, tmp_path / "carried", ExtractSettings())
    table = (tmp_path / "package.not-in-form.csv").read_text("utf-8").splitlines()
    assert (made.carried, made.beside) == (0, len(table) - 1)
    assert (carried.carried, carried.beside) == (len(table) - 1, 0)
