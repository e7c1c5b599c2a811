"""The page of a folder of runs: each with its state, figures that add up, its last certificate and its next step."""

from __future__ import annotations

import shlex
from html.parser import HTMLParser
from pathlib import Path

import pytest

from noarkit import ingest, plan, verify
from noarkit.cli.main import main
from noarkit.loading.folder import RunFolder
from noarkit.reports.dashboard import dashboard_facts
from noarkit.settings import Imprint
from noarkit.words.texts import LANGUAGES, texts

WHO = Imprint("2026-11-24T08:15:00+00:00", "Kari", "pc")


class Links(HTMLParser):
    """Where a page leads."""

    def __init__(self) -> None:
        super().__init__()
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hrefs += [str(value) for name, value in attrs if name in ("href", "src", "action")]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test works in a folder with two runs of two files: the first is loaded."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        Path("src").mkdir(exist_ok=True)
        Path("src", f"{name}.txt").write_text(name)
    for run in ("first", "second run"):
        plan("src", Path("runs", run))
    ingest("runs/first", archive="embedded:archive", workers=0)


def facts_of(*runs: str) -> dict[str, object]:
    paths = [Path("runs", name) for name in runs]
    return dashboard_facts(paths, Path("runs/page.html"), None, imprint=WHO)


def row_of(facts: dict[str, object], name: str) -> dict[str, object]:
    rows = facts["runs"]
    assert isinstance(rows, list)
    return dict(next(row for row in rows if row["name"] == name))


def test_the_figures_of_all_runs_add_up_and_each_has_its_next_step() -> None:
    facts = facts_of("first", "second run")
    assert facts["totals"] == {
        **{"read": 4, "archived": 2, "already_there": 0, "set_aside": 0, "refused": 0, "skipped": 0},
        **{"open": 2, "new_versions": 0},
    }
    assert facts["adds_up"] and facts["verdict"] == "doing"
    assert (row_of(facts, "first")["state"], row_of(facts, "first")["command"]) == (
        "done",
        f"noarkit verify runs/first --archive embedded:{Path('archive').absolute()}",
    )
    assert (row_of(facts, "second run")["state"], row_of(facts, "second run")["step"]) == ("planned", "begin")


def test_a_run_that_is_verified_has_nothing_left_to_do_and_leads_to_its_certificate() -> None:
    verify("runs/first", archive="embedded:archive", depth="bytes")
    facts = facts_of("first")
    verified = row_of(facts, "first")["verified"]
    assert isinstance(verified, dict)
    assert verified["verdict"] == "verified" and Path("runs", verified["page"]).is_file()
    assert facts["verdict"] == "done" and row_of(facts, "first")["step"] == ""


def test_a_certificate_of_another_plan_proves_nothing() -> None:
    verify("runs/first", archive="embedded:archive", depth="bytes")
    (certificate,) = Path("runs/first").glob("verify-*.json")
    certificate.write_text(
        certificate.read_text().replace(str(RunFolder(Path("runs/first")).plan()["sha256"]), "0" * 64)
    )
    assert row_of(facts_of("first"), "first")["step"] == "verify"


@pytest.mark.parametrize(("file", "content"), [("plan.json", "{"), ("plan.json", "{}"), ("graph.db", "no database")])
def test_a_run_that_cannot_be_read_is_told_and_spoils_no_other(file: str, content: str) -> None:
    Path("runs/second run", file).write_text(content)
    assert main(["runs"], {}) == 0
    facts = facts_of("first", "second run")
    assert facts["verdict"] == "wrong" and row_of(facts, "second run")["fault"]
    assert row_of(facts, "first")["state"] == "done"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_page_leads_to_files_that_are_there_and_its_commands_can_be_copied(lang: str) -> None:
    assert main(["runs", "--html", "page.html", "--lang", lang], {}) == 0
    text = Path("page.html").read_text("utf-8")
    links = Links()
    links.feed(text)
    assert links.hrefs and all(Path(href).is_file() for href in links.hrefs)
    assert texts(lang).say("runs_page.doing") in text
    command = text.partition("<code>noarkit ingest")[2].partition("</code>")[0].replace("&#39;", "'")
    assert shlex.split(command)[:1] == ["runs/second run"]
    assert Path("page.html").stat().st_mode & 0o777 == 0o600
