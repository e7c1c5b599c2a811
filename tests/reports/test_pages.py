"""Reports say what was counted, in words and tables; they run nothing, fetch nothing, and escape everything."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterator
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

import pytest

from noarkit import approve, ingest, plan
from noarkit.cli.main import main
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import Numbers
from noarkit.loading.verification import VerifyResult
from noarkit.reports import write_certificate, write_plan_report, write_reports, write_run_report
from noarkit.reports.page import moment
from noarkit.reports.plan_page import Context
from noarkit.reports.run_page import verdict
from noarkit.words.texts import LANGUAGES, texts

HOSTILE = "<script>alert(1)</script> & Søknad.txt"
PAGES = ("plan.html", "report.html")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunFolder]:
    """A run that archived files with hostile names, set one item aside and skipped another."""
    place = tmp_path_factory.mktemp("run")
    case = place / "src" / "<b>sak<\u2215b>"
    case.mkdir(parents=True)
    for name in (HOSTILE, "b.pdf", "c.csv", "tom.txt"):
        (case / name.replace("/", "\u2215")).write_bytes(b"%PDF-1.4\n%%EOF\n" if name.endswith("pdf") else b"a;b\n")
    (case / "tom.txt").write_bytes(b"")
    (case / "link").symlink_to("b.pdf")
    os.mkfifo(case / "pipe")
    folder = RunFolder(place / "run")
    plan(place / "src", folder.path)
    ingest(folder.path, archive=f"embedded:{place / 'archive'}", workers=0)
    yield folder


class Seen(HTMLParser):
    """What a browser would load or run."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.outside: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name in ("src", "href", "action") and not re.fullmatch(r"[\w.-]+\.csv", value or ""):
                self.outside.append(str(value))
            if name.startswith("on") or name == "style":
                self.handlers.append(name)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_runs_nothing_and_fetches_nothing(run: RunFolder, page: str, lang: str) -> None:
    write_reports(run, lang)
    text = (run.path / page).read_text("utf-8")
    seen = Seen()
    seen.feed(text)
    assert not seen.tags & {"script", "link", "img", "iframe", "object", "embed", "form", "b"}
    assert (seen.outside, seen.handlers) == ([], [])
    assert "default-src 'none'" in text
    assert f'<html lang="{lang}">' in text
    assert "&lt;script&gt;alert(1)" in (run.path / "plan.html").read_text("utf-8")


@pytest.mark.parametrize("page", [*PAGES, "plan-report.json", "report.json", "ids.csv", "faults.csv"])
def test_the_same_run_gives_the_same_bytes(run: RunFolder, page: str) -> None:
    write_reports(run, "en")
    first = (run.path / page).read_bytes()
    write_reports(run, "en")
    assert (run.path / page).read_bytes() == first


def test_no_sentence_of_a_page_lacks_its_data(run: RunFolder) -> None:
    for lang in LANGUAGES:
        write_reports(run, lang)
        for page in PAGES:
            visible = re.sub(
                r"<style>.*?</style>|<code>.*?</code>", "", (run.path / page).read_text("utf-8"), flags=re.S
            )
            assert "…" not in visible
            assert "{" not in visible


def test_the_equation_stands_with_a_list_behind_each_number(run: RunFolder) -> None:
    write_reports(run, "en")
    facts = json.loads((run.path / "report.json").read_text("utf-8"))
    assert facts["adds_up"]
    assert {name: facts["numbers"][name] for name in ("read", "archived", "set_aside", "skipped", "refused")} == {
        "read": 6,
        "archived": 4,
        "set_aside": 1,
        "skipped": 1,
        "refused": 0,
    }
    assert facts["lists"] == {"archived": "ids.csv", "set_aside": "set-aside.csv", "skipped": "skipped.csv"}
    for name, file in facts["lists"].items():
        lines = (run.path / file).read_text("utf-8-sig").splitlines()
        assert len(lines) - 1 == facts["numbers"][name], name
    by_type = {one["type"]: (one["planned"], one["archived"]) for one in facts["types"]}
    assert by_type["Basisregistrering"] == (4, 4)


def test_a_plan_tells_types_formats_years_faults_and_ten_examples(run: RunFolder) -> None:
    write_reports(run, "en")
    facts = json.loads((run.path / "plan-report.json").read_text("utf-8"))
    assert {one["type"]: one["count"] for one in facts["entities"]}["Dokumentversjon"] == 4
    assert sum(facts["standings"].values()) == 4
    assert facts["standings"]["unclear"] == 1  # a PDF without PRONOM identifier
    assert sum(one["count"] for one in facts["years"]) == 4
    assert [(one["code"], one["count"]) for one in facts["faults"]] == [("F204", 1)]
    assert [one["code"] for one in facts["warnings"]] == ["W207"]
    assert len(facts["examples"]) == 4
    types = [entity["type"] for entity in facts["examples"][0]["entities"]]
    assert types == ["Mappe", "Basisregistrering", "EksternId", "Dokument", "Dokumentversjon"]


def test_a_plan_says_what_nobody_checked(run: RunFolder) -> None:
    told = texts("en")
    write_plan_report(run, "en", Context(archive="https://archive.example.org", asked=False, hashed=False))
    page = (run.path / "plan.html").read_text("utf-8")
    assert "https://archive.example.org" in page
    for key in ("report.unchecked-codes", "report.unchecked-rights", "report.unchecked-hash"):
        assert told.say(key) in page.replace("&#39;", "'")
    write_plan_report(run, "en", Context(asked=True, hashed=True))
    page = (run.path / "plan.html").read_text("utf-8").replace("&#39;", "'")
    assert told.say("report.checked-codes") in page
    assert told.say("report.checked-hash") in page


def test_the_report_of_a_broken_off_session_says_so(run: RunFolder) -> None:
    with closing(run.open_journal()) as journal:
        journal.add_note(1.0, "ingest_began", {"account": "somebody"})
    write_run_report(run, "en")
    assert texts("en").say("report.not-ended") in (run.path / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("numbers", "adds_up", "word"),
    [
        (Numbers(read=2, archived=2), True, "whole"),
        (Numbers(read=2, archived=1, set_aside=1), True, "partly"),
        (Numbers(read=2, archived=1, refused=1), True, "partly"),
        (Numbers(read=2, archived=1, open=1), True, "open"),
        (Numbers(read=2, archived=1, open=1, in_doubt=1), True, "doubt"),
        (Numbers(read=3, archived=1), False, "wrong"),
    ],
)
def test_the_verdict_is_the_gravest_thing_there_is_to_say(numbers: Numbers, adds_up: bool, word: str) -> None:
    assert numbers.add_up is adds_up
    assert verdict(numbers.as_data(), adds_up=numbers.add_up) == word


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_certificate_names_target_account_plan_and_times_and_is_signed(run: RunFolder, lang: str) -> None:
    verified = VerifyResult("bytes", Numbers(read=4, archived=4), sample=0.05)
    verified.agree("source records", 4)
    verified.leave("files", "sample", 95)
    facts = {"archive": "https://archive.example.org", "account": "migration", "sample": 0.05}
    page = write_certificate(run, verified, lang, began_s=1_700_000_000, ended_s=1_700_000_060, **facts)  # type: ignore[arg-type]  # each as it is wanted
    text = page.read_text("utf-8")
    assert page.name == "verify-20231114-221420.html"
    for wanted in (
        "https://archive.example.org",
        "migration",
        str(run.plan()["sha256"]),
        " 5 %",
        "2023-11-14 23:14:20 CET",
    ):
        assert wanted in text, wanted
    assert texts(lang).say("report.signature") in text
    assert texts(lang).say("verdict.in_part") in text
    assert texts(lang).say("left.sample") in text


def test_a_certificate_of_differences_names_a_hundred_and_keeps_all_in_its_json(run: RunFolder) -> None:
    verified = VerifyResult("ids", Numbers(read=4, archived=4))
    for number in range(150):
        verified.differ("keys", "V201", f"case/{number}", "<i>")
    page = write_certificate(run, verified, "en", archive="a", account="b", sample=1.0, began_s=0, ended_s=1)
    text = page.read_text("utf-8")
    assert "Not verified" in text
    assert text.count('<span class="key">case/') == 100
    assert "and 50 more" in text
    assert "<i>" not in text
    assert len(json.loads(page.with_suffix(".json").read_text("utf-8"))["findings"]) == 150


def test_times_are_told_in_the_zone_of_the_page_with_its_name() -> None:
    assert moment("2026-11-20T23:30:00+00:00", "Europe/Oslo") == "2026-11-21 00:30:00 CET"
    assert moment("2026-07-20T23:30:00.123Z", "UTC") == "2026-07-20 23:30:00 UTC"
    assert moment("2026-11-20", "Europe/Oslo") == "2026-11-20"
    assert moment(None, "UTC") == "–"


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (3_101_220_334_112, "3.1 TB")]
)
def test_sizes_are_told_as_people_say_them(number: int, told: str) -> None:
    assert texts("en").size(number) == told
    assert texts("nb").size(number) == told.replace(".", ",")


def test_a_plan_names_the_values_that_only_some_accounts_may_write(tmp_path: Path) -> None:
    source = tmp_path / "src" / "case"
    source.mkdir(parents=True)
    (source / "a.txt").write_text("a")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        '[source]\nkind = "files"\n[target]\nexternal_system = "x"\nmodel = 1\n'
        '[target.arkivskaper]\nfields = { arkivskaperIdent = "1", arkivskaperNavn = "N" }\n'
        '[target.arkiv]\nfields = { tittel = "A" }\n[target.arkivdel]\nfields = { tittel = "D" }\n'
        '[[map]]\nfor = "file"\n[map.fields]\ntittel = "= record.name"\n'
        'opprettetDato = "= record.modified | timestamp"\n',
        "utf-8",
    )
    planned = plan(tmp_path / "src", tmp_path / "run", recipe=recipe)
    facts = json.loads((planned.folder.path / "plan-report.json").read_text("utf-8"))
    assert facts["todays"] == [{"type": "Basisregistrering", "field": "opprettetDato", "given": 1}]
    assert facts["context"]["recipe"] == str(recipe)
    assert texts("en").say("report.todays-title") in (planned.folder.path / "plan.html").read_text("utf-8")


@pytest.mark.parametrize("page", ["plan", "report"])
def test_the_pages_say_who_approved_the_plan_when_and_with_which_note(run: RunFolder, page: str) -> None:
    (run.path / "approvals.jsonl").unlink(missing_ok=True)
    write_reports(run, "en")
    html = run.path / f"{page}.html"
    assert "Not approved" in html.read_text("utf-8")
    approval = approve(run.path, by="Kari <b>", note="case 2026/118")
    text = html.read_text("utf-8")
    assert "Approved by Kari &lt;b&gt; (" in text and "<q>case 2026/118</q>" in text
    assert moment(approval.at, "Europe/Oslo") in text
    assert "Nobody has approved" not in text
    facts = json.loads((run.path / {"plan": "plan-report.json"}.get(page, "report.json")).read_text("utf-8"))
    assert facts["approval"]["state"] == "approved"
    assert [(line["by"], line["note"], line["withdrawn"]) for line in facts["approval"]["lines"]] == [
        ("Kari <b>", "case 2026/118", False)
    ]
    approve(run.path, by="Kari <b>", withdraw=True)
    text = html.read_text("utf-8")
    assert "Not approved" in text and "Withdrawn by Kari" in text


def test_approvals_that_cannot_be_read_are_told_in_the_report(run: RunFolder) -> None:
    (run.path / "approvals.jsonl").write_bytes(b"{cut off\n")
    write_run_report(run, "en")
    assert "cannot be read (approvals.jsonl:1)" in (run.path / "report.html").read_text("utf-8")
    (run.path / "approvals.jsonl").unlink()


@pytest.mark.parametrize(("name", "is_told"), [("Ukjent", True), ("Sætre kommune", False)])
def test_a_creator_that_nobody_named_is_told_with_where_the_package_gets_it(
    name: str, is_told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("files").mkdir()
    Path("files/letter.txt").write_text("letter")
    assert main(["recipe", "new", "files", "-o", "recipe.toml"], {}) == 0
    recipe = Path("recipe.toml").read_text("utf-8")
    assert 'arkivskaperNavn = "Ukjent"' in recipe
    Path("recipe.toml").write_text(recipe.replace('"Ukjent"', f'"{name}"'), "utf-8")
    assert main(["plan", "files", "--recipe", "recipe.toml", "-o", "run"], {}) == 0
    page = html.unescape(Path("run/plan.html").read_text("utf-8"))
    assert (texts("en").say("report.creator-unnamed") in page) is is_told
