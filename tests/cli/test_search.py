"""`noarkit search` over a folder: hits with context, JSON by its schema, a table, and what is not searched is told."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]  # it has no types
import pytest

from noarkit.cli.main import main
from noarkit.safe.csv_files import cell_from_csv
from tests.copies.corpus.office import deleted, docx, paragraph
from tests.copies.corpus.pdf import pdf

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "events.json").read_text())


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a letter, a note and a map."""
    folder = tmp_path / "saker"
    (folder / "2019").mkdir(parents=True)
    (folder / "2019" / "brev.txt").write_text("Leie av gravemaskin ved Åsen", "utf-8")
    (folder / "2019" / "=notat.txt").write_text("Ingenting her", "utf-8")
    (folder / "2019" / "kart.pdf").write_bytes(pdf(["Her staar en gravemaskin"]))
    return folder


def search(place: Path, *arguments: str) -> int:
    """The exit code of a search."""
    return main(["search", str(place), *arguments, "--progress", "none"], {"HOME": str(place.parent)})


def test_hits_are_shown_with_their_words_in_context(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert search(place, "gravemaskin") == 0
    said = capsys.readouterr()
    assert "<2019/brev.txt>" in said.out and "Leie av gravemaskin ved Åsen" in said.out
    assert "1–2 of 2 hits" in said.err


def test_words_are_bold_where_there_is_colour(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    search(place, "kart", "--color", "always")
    assert "\x1b[1mkart\x1b[22m" in capsys.readouterr().out
    search(place, "kart")
    assert "\x1b" not in capsys.readouterr().out


def test_a_hit_in_deleted_text_says_so(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "vedtak.docx").write_bytes(docx(paragraph("Vedtak ", deleted("avslag"))))
    assert search(place, "avslag", "--read-documents") == 0
    assert "(in deleted text): avslag" in capsys.readouterr().out
    assert search(place, "avslag", "--json") == 0
    (hit,) = [line for line in map(json.loads, capsys.readouterr().out.splitlines()) if line["event"] == "hit"]
    assert [context["layer"] for context in hit["contexts"]] == ["deleted"]


def test_json_lines_follow_their_schema(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert search(place, "gravemaskin", "--json") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for line in lines:
        jsonschema.validate(line, SCHEMA)
    (hit,) = [line for line in lines if line["event"] == "hit" and line["ref"] == "2019/brev.txt"]
    (context,) = hit["contexts"]
    begin, end = context["marks"][0]
    assert context["text"][begin:end] == "gravemaskin"
    (total,) = [line for line in lines if line["event"] == "search"]
    assert (total["total"], total["exact"], total["unread"]) == (2, True, 0)


def test_a_table_has_all_hits_and_computes_nothing(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = place.parent / "treff.csv"
    assert search(place, "type:file", "--csv", str(table), "--limit", "1") == 0
    text = table.read_text("utf-8-sig")
    assert len(text.splitlines()) == 4
    assert '"\'=notat.txt"' in text
    assert cell_from_csv("'=notat.txt") == "=notat.txt"


def test_what_is_to_be_searched_must_be_said(place: Path) -> None:
    assert search(place) == 2


def test_many_documents_are_read_only_when_asked(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(501):
        (place / "2019" / f"{number}.txt").write_text("et felles ord")
    assert search(place, "felles") == 0
    said = capsys.readouterr()
    assert "Nothing was found." in said.err and "504" in said.err
    assert search(place, "felles", "--read-documents", "--json") == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (reading,) = [event for event in events if event["event"] == "documents_text"]
    assert reading["documents"] + reading["copies"] == 504 and reading["copies"] == 500
    assert [event["total"] for event in events if event["event"] == "search"] == [501]


def test_a_query_may_begin_with_a_hyphen_behind_two(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert search(place, "--", "-kart type:file") == 0
    assert "kart.pdf" not in capsys.readouterr().out
