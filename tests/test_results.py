"""What every result has in common: plain JSON values, and a table in which nothing is markup."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

import noarkit
from noarkit.cli.contract import events
from noarkit.cli.main import main
from noarkit.extraction.convert import ConvertResult
from noarkit.results import HIDDEN, SPREAD, JsonKind, JsonObject, Result, json_field, json_value, kinds_of

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
    given += [noarkit.take_copies(place / "src", place / "copies", place / "src" / "case", by="Kari")]
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


@dataclass(frozen=True)
class _Part(JsonObject):
    size_bytes: int = field(metadata=json_field("bytes"))
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Whole(Result):
    path: Path
    spread: _Part | None = field(default=None, metadata=SPREAD)
    parts: list[_Part] = field(default_factory=list)
    why: str = field(default="", metadata=json_field(omitted=True))
    level: Literal["low", "high"] = field(default="low", metadata=json_field(closed=True))
    secret: str = field(default="", metadata=HIDDEN)
    _kept: int = 0

    @property
    @json_value("complete")
    def is_complete(self) -> bool:
        """True."""
        return True

    @property
    def untold(self) -> int:
        """Not declared."""
        return 1


def test_json_of_a_result_is_what_its_class_declares() -> None:
    base = {"path": "p", "parts": [], "level": "low", "complete": True}
    assert _Whole(Path("p")).to_dict() == {**base, "bytes": None, "names": []}
    whole = _Whole(Path("p"), _Part(1, ("a",)), [_Part(2)], "so", secret="x")
    parts = [{"bytes": 2, "names": []}]
    assert whole.to_dict() == {**base, "bytes": 1, "names": ["a"], "parts": parts, "why": "so"}


def test_kinds_of_a_result_are_those_of_its_attributes() -> None:
    kinds = kinds_of(_Whole)
    assert kinds.keys() == _Whole(Path("p"), why="so").to_dict().keys()
    assert {name: str(kind) for name, kind in kinds.items()} == {
        **{"path": "text", "bytes": "count?", "names": "list", "parts": "list", "why": "text?", "level": "text"},
        "complete": "flag",
    }
    assert kinds["level"].values == ("low", "high")
    row = kinds["parts"].of
    assert row is not None and row.fields == {
        "bytes": JsonKind("count"),
        "names": JsonKind("list", of=JsonKind("text")),
    }


def test_no_result_writes_its_json_by_hand() -> None:
    events()  # imports whatever is a line
    by_hand = [kind.__name__ for kind in _kinds_below(JsonObject) if "to_dict" in vars(kind)]
    assert by_hand == []


def _kinds_below(kind: type[JsonObject]) -> set[type[JsonObject]]:
    below = set(kind.__subclasses__())
    assert len(below) > 0 or kind is not JsonObject
    return below | {deeper for one in below for deeper in _kinds_below(one)}


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
