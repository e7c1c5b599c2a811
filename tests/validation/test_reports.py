"""Reports tell what was found, in both languages, escaped, and the command ends with the exit code of what it found."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.forms.noark5.read.structure import Unit, units
from noarkit.forms.validation import ValidateResult, validate
from noarkit.reports.unit_names import unit_names
from noarkit.reports.validation_page import write_validation
from noarkit.words.texts import LANGUAGES, texts
from samples.packages.bad import BAD
from samples.packages.make import write_good

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test works in an empty folder."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    for name in [name for name in os.environ if name.startswith("NOARKIT_")]:
        monkeypatch.delenv(name)


def broken(folder: Path, code: str) -> Path:
    """The package that breaks a rule."""
    next(bad for bad in BAD if bad.code == code).draft().write(folder)
    return folder


def run(*arguments: str) -> int:
    """The exit code of a command line."""
    return main(arguments, {"HOME": "/nonexistent"})


class Text(HTMLParser):
    """The text of a page, and that nothing in it leads outside or runs."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: list[str] = []
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._style = tag == "style"
        assert tag not in ("script", "link", "img", "iframe")
        for name, value in attrs:
            assert not name.startswith("on")
            if name in ("href", "src"):
                assert value is not None and value.startswith("#")

    def handle_endtag(self, tag: str) -> None:
        self._style = False

    def handle_data(self, data: str) -> None:
        if data.strip() and not self._style:
            self.words.append(" ".join(data.split()))


def page_of(report: ValidateResult, folder: Path, lang: str) -> Text:
    """The page of a report, read."""
    write_validation(report, folder / "page.html", "html", lang)
    page = Text()
    page.feed((folder / "page.html").read_text("utf-8"))
    return page


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_page_tells_first_what_was_validated_then_rules_places_and_counts(lang: str, tmp_path: Path) -> None:
    report = validate(broken(tmp_path / "package", "N322"))
    words = page_of(report, tmp_path, lang).words
    told = texts(lang)
    order = [
        told.text("say", "validation.title"),
        "Prøve kommune",
        told.text("say", "validation.rules"),
        told.text("rules", "N322", "title"),
        told.text("say", "validation.counts"),
        told.text("rules", "N902", "title"),
    ]
    places = [words.index(word) for word in order]
    assert places == sorted(places)
    assert any("Under behandling" in word for word in words[places[2] :])
    assert any("2019-01-01 – 2019-12-31" in word for word in words)


def test_a_page_says_when_all_is_well(tmp_path: Path) -> None:
    write_good(tmp_path / "package", "5.0")
    words = page_of(validate(tmp_path / "package"), tmp_path, "en").words
    assert "The package is valid, with warnings." in words


def test_what_a_package_holds_is_escaped(tmp_path: Path) -> None:
    folder = broken(tmp_path / "package", "N350")
    path = folder / "arkivstruktur.xml"
    path.write_text(path.read_text("utf-8").replace(">4711<", f">{SCRIPT.replace('<', '&lt;')}<"), "utf-8")
    report = validate(folder)
    page = page_of(report, tmp_path, "en")
    assert any(SCRIPT in word for word in page.words)
    assert SCRIPT not in (tmp_path / "page.html").read_text("utf-8")


def test_json_holds_every_place_and_count(tmp_path: Path) -> None:
    report = validate(broken(tmp_path / "package", "N304"))
    write_validation(report, tmp_path / "report.json", "json", "en")
    data = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert data["report"] == "validation" and data["valid"] is False
    finding = next(one for one in data["findings"] if one["code"] == "N304")
    assert finding["cites"] == ["N5.48"] and finding["count"] == 1
    place = finding["places"][0]
    assert place["file"] == "arkivstruktur.xml" and place["line"] and place["system_id"]
    assert {one["code"] for one in data["counts"]} >= {"N901", "N912", "N923"}
    assert {one["code"] for one in data["rules"] if one["count"]} == report.codes


def test_rows_are_one_a_place_and_no_formula_gets_through(tmp_path: Path) -> None:
    folder = broken(tmp_path / "package", "N004")
    (folder / "=cmd.txt").write_text("?")
    write_validation(validate(folder), tmp_path / "rows.csv", "csv", "nb")
    text = (tmp_path / "rows.csv").read_text("utf-8-sig")
    rows = list(csv.reader(text.splitlines(), delimiter=";"))
    assert rows[0] == ["Kode", "Nivå", "Fil", "Linje", "systemID", "Hva"]
    assert {row[2] for row in rows if row[0] == "N004"} == {"notat.txt", "'=cmd.txt"}


@pytest.mark.parametrize(("code", "exit_code"), [("N304", 4), ("N309", 3)])
def test_the_exit_code_tells_errors_from_warnings(
    code: str, exit_code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = broken(tmp_path / "package", code)
    assert run("validate", str(folder), "--lang", "nb") == exit_code
    out, err = capsys.readouterr()
    assert re.search(rf"^{code}  (feil|advarsel)  1 ", out, re.MULTILINE)
    assert ("Ikke gyldig: 1 feil" in err) == (exit_code == 4)
    assert sorted(path.name for path in Path.cwd().iterdir()) == []


@pytest.mark.parametrize("kind", ["html", "json", "csv"])
def test_a_report_is_written_where_we_are_or_where_it_is_asked_for(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = broken(tmp_path / "delivery", "N309")
    assert run("validate", str(folder), "--report", kind) == 3
    assert (Path.cwd() / f"delivery-validation.{kind}").stat().st_size > 100
    assert run("validate", str(folder), "--report", kind, "-o", "mine") == 3
    assert (Path.cwd() / "mine").is_file()
    assert "mine" in capsys.readouterr().out


def test_a_report_never_goes_into_the_package(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = broken(tmp_path / "package", "N309")
    before = sorted(folder.rglob("*"))
    assert run("validate", str(folder), "--report", "html", "-o", str(folder / "report.html")) == 2
    assert "the report must not be inside the package" in capsys.readouterr().err.lower()
    assert run("validate", str(folder), "-o", "report.html") == 2
    assert sorted(folder.rglob("*")) == before


def test_lines_for_scripts_end_with_a_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = broken(tmp_path / "package", "N301")
    assert run("validate", str(folder), "--json") == 4
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {line["event"] for line in lines} == {"validating", "finding", "verdict", "summary"}
    assert {line["code"] for line in lines if line["event"] == "finding"} == {"N102", "N301"}
    assert lines[-1]["errors"] == 1 and lines[-1]["warnings"] == 6 and lines[-1]["exit"] == 4


def test_what_is_no_package_is_told_as_that(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("validate", str(tmp_path / "work")) == 4
    assert "F500" in capsys.readouterr().err


def test_units_are_named_by_title_and_screened_ones_without_it(tmp_path: Path) -> None:
    folder = broken(tmp_path / "package", "N322")
    (place,) = next(one for one in validate(folder).outcomes if one.rule.code == "N322").places
    path, unit = folder / "arkivstruktur.xml", str(place.system_id)
    screened = path.read_text("utf-8")
    title = re.findall("<tittel>(.*?)</tittel>", screened[screened.index(f"<systemID>{unit}<") :])[0]
    assert unit_names(folder, {unit}) == {unit: "mappe mappe 1 «Et offentligTittel»"}
    path.write_text(re.sub(r"<offentligTittel>.*?</offentligTittel>", "", screened), "utf-8")
    assert unit_names(folder, {unit}) == {unit: "mappe mappe 1 «*****»"}
    path.write_text(re.sub(r"<(skjerming|gradering)>.*?</\1>", "", screened, flags=re.DOTALL), "utf-8")
    assert unit_names(folder, {unit}) == {unit: f"mappe mappe 1 «{title}»"}
    assert run("validate", str(folder), "--report", "html", "-o", "page.html") == 4
    assert f"«{title}»" in Path("page.html").read_text("utf-8")


@pytest.mark.parametrize("is_screened", [True, False])
def test_a_finding_tells_no_file_title_or_value_of_a_screened_unit(tmp_path: Path, is_screened: bool) -> None:
    folder = tmp_path / "package"
    write_good(folder, "5.0")
    path = folder / "arkivstruktur.xml"
    text = re.sub("dokumenter/[0-9a-f-]+.pdf", "dokumenter/Ragnhild Moe.pdf", path.read_text("utf-8"), count=1)
    text = re.sub("<slettingstype>.*?<", "<slettingstype>hos Ragnhild<", text)
    if not is_screened:
        text = re.sub(r"<(skjerming|gradering)>.*?</\1>", "", text, flags=re.DOTALL)
    path.write_text(text, "utf-8")
    told = []
    for kind in ("json", "csv", "html"):
        assert run("validate", str(folder), "--report", kind, "-o", f"report.{kind}") == 4
        told.append(Path(f"report.{kind}").read_text("utf-8"))
    assert [("Ragnhild Moe.pdf" in text, "hos Ragnhild" in text) for text in told] == [(not is_screened,) * 2] * 3
    report = validate(folder)
    assert any("Ragnhild" in str(place.data) for outcome in report.outcomes for place in outcome.places)


@pytest.mark.parametrize("is_screened", [True, False])
def test_what_differs_in_a_screened_unit_is_masked_wherever_it_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], is_screened: bool
) -> None:
    for side, name in (("a", "Ragnhild"), ("b", "Sigvardine")):
        write_good(tmp_path / side, "5.0")
        path = tmp_path / side / "arkivstruktur.xml"
        text = path.read_text("utf-8").replace("<tittel>Et tittel<", f"<tittel>Om {name}<")
        if not is_screened:
            text = re.sub(r"<(skjerming|gradering)>.*?</\1>", "", text, flags=re.DOTALL)
        path.write_text(text, "utf-8")
    sides = (str(tmp_path / "a"), str(tmp_path / "b"))
    assert run("compare", *sides, "--report", "html", "-o", "c.html") == 7
    assert run("compare", *sides, "--json") == 7
    told = capsys.readouterr().out
    lines = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    titles = {str(one["left"]) for one in lines if one.get("field") == "tittel" and one["type"] != "arkiv"}
    assert titles == {"['*****']" if is_screened else "['Om Ragnhild']"}
    of_fonds = 1  # which is open
    assert (Path("c.html").read_text("utf-8").count("Om Sigvardine") == of_fonds) is is_screened


@pytest.mark.parametrize("options", [(), ("--report", "html")])
def test_terminal_and_report_get_the_names_of_units_from_one_reading(
    options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = broken(tmp_path / "package", "N322")
    readings: list[Path] = []

    def counted(structure: Path, first: Callable[[str], bool]) -> Iterator[Unit]:
        readings.append(structure)
        return units(structure, first)

    monkeypatch.setattr("noarkit.reports.unit_names.units", counted)
    assert run("validate", str(folder), *options) == 4
    assert readings == [folder / "arkivstruktur.xml"]


def test_a_structure_that_breaks_off_names_what_stands_before(tmp_path: Path) -> None:
    write_good(tmp_path / "package", "5.0")
    path = tmp_path / "package" / "arkivstruktur.xml"
    text = path.read_text("utf-8")
    first = re.findall("<systemID>(.*?)</systemID>", text)[0]
    path.write_text(text[: int(len(text) * 0.9)], "utf-8")
    assert unit_names(tmp_path / "package", {first, "nothing"}).keys() <= {first}


def test_the_terminal_names_the_first_places_and_how_many_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = broken(tmp_path / "package", "N402")
    structure = package / "arkivstruktur.xml"
    content = re.sub(r"<(skjerming|gradering)>.*?</\1>", "", structure.read_text("utf-8"), flags=re.DOTALL)
    structure.write_text(re.sub("<sjekksum>.{4}", "<sjekksum>0000", content), "utf-8")
    report = next(outcome for outcome in validate(package).outcomes if outcome.rule.code == "N402")
    assert run("validate", str(package)) == 4
    shown = capsys.readouterr().out.splitlines()
    at = next(number for number, line in enumerate(shown) if line.startswith("N402"))
    for place, line in zip(report.places[:3], shown[at + 1 :], strict=False):
        assert line.startswith(f"      {place.file}, line {place.line}: dokumentobjekt")
    assert "dokumenter/" in "".join(shown[at + 1 : at + 4])
    assert (shown[at + 4] == f"      and {report.count - 3} more") == (report.count > 3)
    assert run("validate", str(package), "--json") == 4
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (told,) = [line for line in lines if line.get("code") == "N402"]
    assert [(place["file"], place["line"]) for place in told["places"]] == [
        (place.file, place.line) for place in report.places[:3]
    ]


def test_the_terminal_masks_the_titles_of_what_is_screened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    package = broken(tmp_path / "package", "N402")
    structure = package / "arkivstruktur.xml"
    content = structure.read_text("utf-8")
    content = re.sub("<sjekksum>.{4}", "<sjekksum>0000", content)
    screened = "<skjerming><tilgangsrestriksjon>U</tilgangsrestriksjon></skjerming>"
    structure.write_text(content.replace("<dokumentobjekt>", f"{screened}<dokumentobjekt>"), "utf-8")
    run("validate", str(package))
    shown = capsys.readouterr().out.splitlines()
    at = next(number for number, line in enumerate(shown) if line.startswith("N402"))
    assert shown[at + 1].endswith(": dokumentobjekt")
    assert "dokumenter/" not in "".join(shown[at + 1 : at + 4])
