"""Each number of a run is the same wherever it is shown: terminal, JSON, pages, reports, lists, certificate, room."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from noarkit.cli.main import main
from noarkit.reading_room.phrasing import phrases
from noarkit.words.texts import texts
from tests.journeys.faces import (
    OUTCOMES,
    Numbers,
    block_sums,
    json_lines,
    list_length,
    page_rows,
    page_sums,
    page_text,
    run_command,
    sums_of,
)

RECIPE = """\
[source]
kind = "files"
[target]
external_system = "files:share"
model = 2
close = true
[target.arkivskaper]
fields = { arkivskaperIdent = "k", arkivskaperNavn = "Kommunen" }
[target.arkiv]
fields = { tittel = "Filarkiv" }
[target.arkivdel]
fields = { tittel = "Filer" }
[[skip]]
when = "= record.name == 'rule.txt'"
reason = "made by the system"
[[map]]
for = "file"
type = "Basisregistrering"
[map.fields]
tittel = "= record.name"
dokumentmedium = "= 'ZZ' if record.name == 'code.txt' else none"
[[map.parents]]
each = "= record.folders[:2]"
key = "= record.folders[:index + 1] | join('/')"
type = "Mappe"
fields = { tittel = "= item" }
"""
NUMBER = "01010750160"
"""A national identity number by its check digits, of nobody; the archive of these tests refuses it in a title."""
NAMES = ("a.txt", "b.txt", "rule.txt", "code.txt", f"{NUMBER}.txt")


@dataclass(frozen=True)
class Case:
    """A run at one moment, and what is true of it."""

    run: Path
    expected: Numbers
    state: str


def plant(share: Path) -> None:
    """A share that has one record for each outcome that a first load can have."""
    for case in ("2014/one", "2015/two"):
        (share / case).mkdir(parents=True)
    for number, name in enumerate(NAMES):
        (share / "2014/one" / name).write_text("x" * (number + 1))
    (share / "2015/two/empty.txt").touch()
    (share / "2015/two/c.txt").write_text("seven by")
    os.mkfifo(share / "pipe")
    (share / "link").symlink_to("/nonexistent")


def noarkit(*words: str) -> int:
    return main([*words, "--progress", "none"], {})


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with four runs: planned, loaded with an omission of each kind, followed up, and verified to differ."""
    root = tmp_path_factory.mktemp("numbers")
    before = Path.cwd()
    os.chdir(root)
    try:
        plant(root / "share")
        (root / "recipe.toml").write_text(RECIPE)
        (root / "archive").mkdir()
        (root / "archive/server.toml").write_text('identity_numbers = "refuse"\n')
        archive = ["--archive", f"embedded:{root / 'archive'}"]
        asked = ["--recipe", "recipe.toml"]
        assert noarkit("plan", "share", *asked, "-o", "planned") == 3
        assert noarkit("plan", "share", *asked, "-o", "loaded") == 3
        assert noarkit("ingest", "loaded", *archive) == 3
        (root / "share/2015/two/late.txt").write_text("later")
        assert noarkit("plan", "share", *asked, "-o", "followed", "--since", "loaded", *archive) == 3
        assert noarkit("ingest", "followed", *archive) == 3
        yield root
    finally:
        os.chdir(before)


FIRST = {"read": 9, "archived": 4, "already_there": 0, "set_aside": 2, "refused": 1, "skipped": 2}
CASES = {
    "planned": Case(
        Path("planned"),
        {**FIRST, "archived": 0, "refused": 0, "open": 5, "in_doubt": 0, "bytes": 0},
        "planned",
    ),
    "loaded": Case(Path("loaded"), {**FIRST, "open": 0, "in_doubt": 0, "bytes": 11}, "done"),
    "followed": Case(
        Path("followed"),
        {**FIRST, "read": 10, "archived": 1, "already_there": 4, "open": 0, "in_doubt": 0, "bytes": 5},
        "done",
    ),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, shared: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    monkeypatch.chdir(shared)
    return CASES[str(request.param)]


@pytest.fixture
def stdout(capsys: pytest.CaptureFixture[str]) -> Callable[[], str]:
    return lambda: capsys.readouterr().out


def agree(face: str, shown: Numbers, case: Case) -> None:
    """What a face shows is what is true, as far as it shows it, and it shows what became of the records."""
    assert shown and {name: case.expected[name] for name in shown} == shown, face


@pytest.mark.parametrize("lang", ["en", "nb"])
def test_the_terminal(case: Case, lang: str, stdout: Callable[[], str]) -> None:
    for words in (["status", str(case.run)],):
        _, text = run_command([*words, "--lang", lang], stdout)
        agree(" ".join(words), block_sums(text), case)


def test_json_of_every_command_that_tells_a_run(case: Case, stdout: Callable[[], str]) -> None:
    _, lines = json_lines(["status", str(case.run)], stdout)
    for line in lines:
        agree(f"status {line['event']}", sums_of(line), case)
        assert line["state"] == case.state or line["event"] == "summary"
    _, lines = json_lines(["runs"], stdout)
    (row,) = [line for line in lines if line.get("run") == str(case.run)]
    agree("runs", sums_of(row), case)
    assert row["state"] == case.state
    assert set(sums_of(lines[0])) >= set(OUTCOMES)


def test_pages_and_their_json(case: Case, stdout: Callable[[], str]) -> None:
    assert noarkit("report", str(case.run)) == 0
    plan = page_sums(case.run / "plan.html")
    written = json.loads((case.run / "plan-report.json").read_text("utf-8"))
    assert plan["read"] == written["read"] == case.expected["read"]
    records = {"loadable" if name == "mapped" else name: count for name, count in written["records"].items()}
    assert {name: count for name, count in plan.items() if name != "read"} == records
    assert plan["loadable"] == sum(case.expected[name] for name in ("archived", "refused", "open"))
    assert (case.run / "report.html").exists() == (case.state != "planned")
    if case.state == "planned":
        return
    agree("report.html", page_sums(case.run / "report.html"), case)
    assert set(page_sums(case.run / "report.html")) == set(OUTCOMES)
    agree("report.json", sums_of(json.loads((case.run / "report.json").read_text("utf-8"))["numbers"]), case)


def test_lists_have_as_many_rows_as_the_numbers_say(case: Case) -> None:
    assert noarkit("report", str(case.run)) == 0
    expected = case.expected
    assert list_length(case.run / "ids.csv") == expected["archived"] + expected["already_there"]
    assert list_length(case.run / "set-aside.csv") == expected["set_aside"] + expected["refused"]
    assert list_length(case.run / "skipped.csv") == expected["skipped"]


def test_the_certificate(case: Case, stdout: Callable[[], str]) -> None:
    archive = ["--archive", "embedded:archive"]
    code, lines = json_lines(["verify", str(case.run), *archive], stdout)
    verified = next(line for line in lines if line["event"] == "verified")
    page = Path(str(verified["certificate"]))
    written = json.loads(page.with_suffix(".json").read_text("utf-8"))
    agree("certificate", page_sums(page), case)
    agree("verify's summary", sums_of(lines[-1]), case)
    assert written["verdict"] == verified["verdict"]
    assert lines[-1]["exit"] == code
    if case.state == "done":
        assert verified["verdict"] == "in_part" and code == 3
        assert "Verified in part" in page_text(page)
    rows = {row["name"]: row for row in written["rows"]}
    told = dict((cells[0], cells[1:]) for cells in page_rows(page) if len(cells) == 6)
    assert len([name for name in told if name != "What"]) == len(rows)


@pytest.mark.parametrize("lang", ["en", "nb"])
def test_the_reading_room(case: Case, lang: str, tmp_path: Path) -> None:
    said = {texts(lang).say(f"end.{name}"): name for name in (*OUTCOMES[1:], "open")}
    copy = tmp_path / "copy"
    assert noarkit("browse", str(case.run), "--static", str(copy), "--lang", lang) == 0
    text = page_text(copy / "index.html")
    opening = texts(lang).say("browse.place.read.many", count=case.expected["read"]) + ": "
    assert opening in text
    counts = re.findall(rf"(\d+) ({'|'.join(said)})", text.partition(opening)[2])[: len(said)]
    shown = {said[words]: int(count) for count, words in counts}
    agree("room", shown, case)
    assert sum(shown.values()) == case.expected["read"], shown


@pytest.mark.parametrize("lang", ["en", "nb"])
def test_what_became_of_a_record_has_one_word(lang: str) -> None:
    """Terminal, reports, certificate and room call it the same."""
    say = texts(lang).say
    for name in ("set_aside", "refused", "skipped", "open"):
        assert say(f"left.{name}") == say(f"end.{name}")
    summed = " + ".join(say(f"end.{name}") for name in OUTCOMES[1:])
    assert say("report.equation-caption") == f"{say('end.read').lower()} = {summed}"
    assert [phrases(lang).state(name) for name in OUTCOMES[1:]] == [say(f"end.{name}") for name in OUTCOMES[1:]]


def test_what_an_ingest_and_a_second_ingest_say(shared: Path, stdout: Callable[[], str], tmp_path: Path) -> None:
    """The first load, the same command again, and the state afterwards tell one set of numbers, in every form."""
    run = tmp_path / "run"
    archive = tmp_path / "archive"
    shutil.copytree(shared / "planned", run)
    archive.mkdir()
    (archive / "server.toml").write_text('identity_numbers = "refuse"\n')
    words = ["ingest", str(run), "--archive", f"embedded:{archive}"]
    code, lines = json_lines(words, stdout)
    case = Case(run, CASES["loaded"].expected, "done")
    agree("ingest", sums_of(lines[-1]), case)
    assert (code, lines[-1]["state"]) == (3, "done")
    for lang in ("en", "nb"):
        again, text = run_command([*words, "--lang", lang], stdout)
        assert again == 3
        agree(f"ingest again, {lang}", block_sums(text), case)


def test_objects_by_type(shared: Path, stdout: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Plan, plan page, report and certificate count the same objects of each type."""
    monkeypatch.chdir(shared)
    run = Path("loaded")
    assert noarkit("report", str(run)) == 0
    planned = {row["type"]: row["count"] for row in read_json(run / "plan-report.json")["entities"]}
    reported = {row["type"]: row for row in read_json(run / "report.json")["types"]}
    assert {name: row["planned"] for name, row in reported.items()} == planned
    assert {
        cells[0]: int(cells[1]) for cells in page_rows(run / "plan.html") if cells[0] in planned and len(cells) == 2
    } == planned
    archived = {name: row["archived"] + row["already_there"] for name, row in reported.items()}
    _, lines = json_lines(["verify", str(run), "--archive", "embedded:archive"], stdout)
    verified = next(line for line in lines if line["event"] == "verified")
    rows = {row["name"]: row["compared"] for row in verified["rows"]}  # type: ignore[attr-defined]  # JSON
    certified = {name: rows[name] for name in archived if name in rows}
    assert certified == {name: archived[name] for name in certified} and len(certified) >= 6


def test_identity_of_plan_and_archive(shared: Path, stdout: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each report and page of a run names one plan, one archive and one moment of freezing."""
    monkeypatch.chdir(shared)
    run = Path("loaded")
    assert noarkit("report", str(run)) == 0
    _, lines = json_lines(["verify", str(run), "--archive", "embedded:archive"], stdout)
    verified = next(line for line in lines if line["event"] == "verified")
    certificate = Path(str(verified["certificate"]))
    sha256 = read_json(run / "plan.json")["sha256"]
    for name in ("plan-report.json", "report.json", str(certificate.with_suffix(".json").name)):
        assert read_json(run / name)["plan_sha256"] == sha256, name
    for page in (run / "plan.html", run / "report.html", certificate):
        assert sha256 in page_text(page), page
    identity = read_json(run / "report.json")["archive_identity"]
    assert read_json(certificate.with_suffix(".json"))["archive_identity"] == identity
    where = f"embedded:{(shared / 'archive').resolve()}"
    for name in ("report.json", str(certificate.with_suffix(".json").name)):
        assert read_json(run / name)["archive"] == where, name
    _, lines = json_lines(["status", str(run)], stdout)
    assert lines[0]["archive"] == where


def read_json(path: Path) -> dict[str, Any]:  # Any: reports are read as their readers would
    return dict(json.loads(path.read_text("utf-8")))
