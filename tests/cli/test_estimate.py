"""`noarkit estimate` and `plan --estimate`: what they say, where the figures are from, and where it is shown."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from noarkit.cli.contract import events
from noarkit.cli.main import main
from noarkit.embedded import EmbeddedArchive, open_embedded
from noarkit.words.texts import LANGUAGES

pytestmark = pytest.mark.usefixtures("one_archive")

Run = Callable[..., int]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedArchive]:
    """One archive that all tests of this module join."""
    with open_embedded(tmp_path_factory.mktemp("archive")) as running:
        yield running


@pytest.fixture(scope="module")
def one_archive(archive: EmbeddedArchive) -> None:
    """Keeps the archive running while a module's commands come and go."""


@pytest.fixture(autouse=True)
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Each test works in a folder of its own, with a plan of three files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in [name for name in os.environ if name.startswith("NOARKIT_")]:
        monkeypatch.delenv(name)
    for number in range(3):
        path = tmp_path / "source" / "case" / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"letter {number}")
    assert run("plan", "source", "-o", "run") == 0
    capsys.readouterr()


def run(*arguments: str, **variables: str) -> int:
    """A command line in this process."""
    return main(arguments, {"HOME": os.environ["HOME"], **variables})


def line(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """The estimate that --json told; the line keeps to the contract."""
    lines = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
    found: dict[str, object] = next(entry for entry in lines if entry["event"] == "estimate")
    assert set(events()["estimate"]) <= found.keys()
    return found


def test_without_an_archive_nothing_is_sent_and_the_default_figures_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run("estimate", "run") == 0
    said = capsys.readouterr()
    assert "from default figures (nothing was measured)" in said.out
    assert "3 uploads" in said.out
    assert not (tmp_path / "noarkit-archive").exists()


def test_an_archive_that_is_named_is_measured(archive: EmbeddedArchive, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("estimate", "run", "--archive", f"embedded:{archive.data_dir}", "--json", "--workers", "3") == 0
    told = line(capsys)
    assert (told["origin"], told["workers"], told["uploads"]) == ("probe", 3, 3)
    assert int(str(told["probe_calls"])) > 50
    low, likely, high = (float(str(told[name])) for name in ("low_s", "likely_s", "high_s"))
    assert low <= likely <= high
    assert [entry["workers"] for entry in told["times"]] == [1, 2, 3, 4, 8, 16, 32, 64]  # type: ignore[attr-defined]


def test_an_archive_that_is_not_there_yet_is_measured_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("estimate", "run", "--archive", "embedded:new", "--json") == 0
    assert line(capsys)["origin"] == "probe"
    assert not (tmp_path / "new").exists()


def test_no_probe_sends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("estimate", "run", "--no-probe", "--archive", "http://127.0.0.1:9/rms/api/public", "--json") == 0
    assert line(capsys)["origin"] == "default"


def test_an_archive_that_does_not_let_us_in_is_told_and_nothing_is_estimated(
    archive: EmbeddedArchive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    account = {"NOARKIT_CLIENT_ID": "integration", "NOARKIT_CLIENT_SECRET": "wrong"}
    assert run("estimate", "run", "--archive", archive.url, **account) == 6
    assert not (tmp_path / "run" / "estimate.json").exists()


def test_a_limit_of_rate_and_prices_count(capsys: pytest.CaptureFixture[str]) -> None:
    prices = {"NOARKIT_PRICE_PER_THOUSAND_CALLS": "10", "NOARKIT_PRICE_PER_GB": "1"}
    assert run("estimate", "run", "--no-probe", "--max-rate", "0.01", "--json", **prices) == 0
    told = line(capsys)
    calls = sum(int(str(told[name])) for name in ("queries", "transactions", "uploads"))
    assert told["price"] == pytest.approx(calls / 100, abs=0.01)
    assert (told["limit"], float(str(told["likely_s"])) > 300) == ("rate", True)


def test_the_run_takes_about_the_disk_that_was_said(
    archive: EmbeddedArchive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("estimate", "run", "--no-probe", "--json") == 0
    told = int(str(line(capsys)["run_bytes"]))
    assert run("ingest", "run", "--archive", f"embedded:{archive.data_dir}", "--workers", "0") == 0
    taken = sum(path.stat().st_size for path in (tmp_path / "run").iterdir())
    assert told == pytest.approx(taken, rel=0.3)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_plan_tells_the_estimate_and_plan_html_shows_it(
    lang: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("plan", "source", "-o", "other", "--estimate", "--lang", lang) == 0
    said = capsys.readouterr().out
    page = (tmp_path / "other" / "plan.html").read_text("utf-8")
    title = {"en": "How long the load will take", "nb": "Hvor lang tid innlastingen tar"}[lang]
    assert title in page
    assert title not in (tmp_path / "run" / "plan.html").read_text("utf-8")
    assert {"en": "Time  ", "nb": "Tid  "}[lang] in said


def test_what_is_no_run_is_refused() -> None:
    assert run("estimate", "source") == 2
