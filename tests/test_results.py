"""What every result has in common: plain JSON values, and a table in which nothing is markup."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import noarkit
from noarkit.cli.main import main
from noarkit.extraction.convert import ConvertResult
from noarkit.results import Result

HOSTILE = "<script>alert('1') & \"2\"</script>"
EXPECTED = {name for name in noarkit.__all__ if name.endswith("Result")}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Result]]:
    """A result of every kind that a journey without a service gives."""
    place = tmp_path_factory.mktemp("results")
    archive, run = f"embedded:{place / 'archive'}", place / "run"
    (place / "src" / "case").mkdir(parents=True)
    (place / "src" / "case" / "a.txt").write_text("a")
    given: list[Result] = [noarkit.scan(place / "src"), noarkit.plan(place / "src", run)]
    given += [noarkit.ingest(run, archive=archive, workers=0), noarkit.close(run), noarkit.verify(run)]
    given += [noarkit.estimate(run, probe=False)]
    given += [noarkit.status(run), noarkit.extract(place / "extract", archive=archive)]
    given += [noarkit.validate(place / "extract"), noarkit.compare(place / "extract", archive)]
    given += [noarkit.convert(place / "extract", place / "sip", form="eark-sip")]
    given += noarkit.extract_each(place / "each", archive=archive)
    given += [noarkit.derive(place / "src", place / "copies", workers=1), noarkit.check_copies(place / "copies")]
    given += [noarkit.retract(run), noarkit.backup(place / "archive", place / "backup")]
    yield {type(result).__name__: result for result in given}


def test_every_result_is_plain_json_and_a_short_table(results: dict[str, Result]) -> None:
    assert EXPECTED - results.keys() == {"PackResult", "WriteBackResult"}  # made in the tests of their journeys
    for name, result in results.items():
        told = result.to_dict()
        assert json.loads(json.dumps(told)) == told, name
        assert len(told) >= 3, name
        table = result._repr_html_()
        assert table.startswith(f"<table><caption>{name}</caption><tr><th>"), name
        assert table.count("<tr>") == len(told), name


def test_every_name_that_is_a_result_is_one() -> None:
    assert len(EXPECTED) >= 12
    assert [name for name in EXPECTED if not issubclass(getattr(noarkit, name), Result)] == []


def test_nothing_in_a_table_is_markup() -> None:
    unread = tuple(f"<b>{number}</b>" for number in range(30))
    table = ConvertResult(Path(HOSTILE), "eark", 1, 2, False, False, unread=unread)._repr_html_()
    assert "<script" not in table and "<b>" not in table
    assert "&lt;script&gt;" in table and "… (+10)" in table


def test_its_keys_are_those_of_the_command(
    results: dict[str, Result], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.txt").write_text("a")
    run, archive = str(tmp_path / "run"), f"embedded:{tmp_path / 'archive'}"
    lines = {
        "scan": ["scan", str(tmp_path / "src")],
        "plan": ["plan", str(tmp_path / "src"), "-o", run],
        "summary": ["ingest", run, "--archive", archive, "--workers", "0"],
        "verified": ["verify", run],
        "status": ["status", run],
    }
    kinds = ("ScanResult", "PlanResult", "IngestResult", "VerifyResult", "StatusResult")
    for (event, line), kind in zip(lines.items(), kinds, strict=True):
        assert main([*line, "--json"], {"HOME": str(tmp_path)}) == 0, event
        told = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
        keys = next(entry.keys() for entry in reversed(told) if entry["event"] == event) - {"event", "exit"}
        theirs = set(results[kind].to_dict())
        beside = {"verified": {"run", "asked_since", "whole"}}.get(event, set())
        assert keys - beside <= theirs, (event, keys - theirs)
