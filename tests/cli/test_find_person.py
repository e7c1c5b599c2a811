"""`noarkit find-person`: secrets by file, JSON, table and page, what could not be searched, the access log."""

from __future__ import annotations

import io
import json
import sys
import zlib
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]  # it has no types
import pytest

from noarkit.cli.main import main
from tests.copies.corpus.office import docx
from tests.copies.corpus.pdf import pdf

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "events.json").read_text())
NUMBER = "01010750160"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a letter about a person, one that is locked, and one about nobody."""
    folder = tmp_path / "saker"
    folder.mkdir()
    (folder / "brev.docx").write_bytes(docx("Vedtak for 010107 50160, Åse Nordmann"))
    (folder / "laast.pdf").write_bytes(pdf(["hemmelig"], lock="passord"))
    (folder / "annet.txt").write_text("Ingenting", "utf-8")
    return folder


@pytest.fixture
def number(tmp_path: Path) -> Path:
    path = tmp_path / "nummer.txt"
    path.write_text(f"{NUMBER}\n", "utf-8")
    path.chmod(0o600)
    return path


def find(*arguments: object) -> int:
    """The exit code of a search."""
    return main(["find-person", *map(str, arguments), "--progress", "none"], {"HOME": "/nonexistent"})


def test_a_report_tells_places_and_what_was_not_searched(
    place: Path, number: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert find(place, "--id", number, "--because", "krav 2026/88") == 3
    said = capsys.readouterr()
    assert "certain   brev.docx" in said.out and "not searched  laast.pdf" in said.out
    assert "1 certain and 0 possible hits.\n1 document or item could not be searched" in said.out
    assert "Nordmann" not in said.out + said.err and "50160" not in said.out + said.err


def test_json_lines_follow_their_schema(place: Path, number: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "laast.pdf").unlink()
    assert find(place, "--id", number, "--json") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for line in lines:
        jsonschema.validate(line, SCHEMA)
    (hit,) = [line for line in lines if line["event"] == "person_hit"]
    assert (hit["ref"], hit["layer"], hit["certainty"]) == ("brev.docx", "document", "certain")
    (sums,) = [line for line in lines if line["event"] == "person"]
    assert (sums["certain"], sums["documents"], sums["complete"]) == (1, 2, True)


def test_the_access_log_has_the_search_and_not_the_person(place: Path, number: Path) -> None:
    find(place, "--id", number, "--because", "krav 2026/88")
    (log,) = place.parent.glob("*.noarkit-access.jsonl")
    (line,) = [json.loads(text) for text in log.read_text("utf-8").splitlines()]
    assert (line["what"], line["by"], line["why"]) == ("person", "id", "krav 2026/88")
    assert NUMBER not in log.read_text("utf-8")


def test_a_table_and_a_page_hold_every_line_and_no_person(place: Path, number: Path) -> None:
    table, page = place.parent / "rapport.csv", place.parent / "rapport.html"
    find(place, "--id", number, "--csv", table, "--html", page, "--because", "krav 2026/88")
    rows = table.read_text("utf-8-sig").splitlines()
    assert len(rows) == 3 and '"certain"' in rows[1] and '"not searched"' in rows[2]
    text = page.read_text("utf-8")
    assert "brev.docx" in text and "laast.pdf" in text and "krav 2026/88" in text
    for report in (*rows, text):
        assert "50160" not in report and "Nordmann" not in report
    assert all(path.stat().st_mode & 0o077 == 0 for path in (table, page))


def test_the_number_may_come_through_stdin(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Stdin:
        buffer = io.BytesIO("Nordmann Åse\n".encode())

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert find(place, "--name", "-") == 3
    assert "certain   brev.docx" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [("--id", NUMBER, "F102"), ("--id", "010107 50160", "F102"), ("--name", "Kari Nordmann", "F101")],
)
def test_a_number_or_name_on_the_command_line_is_refused_and_not_repeated(
    option: str, value: str, code: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert find(place, option, value) == 2
    said = capsys.readouterr()
    assert code in said.err and value not in said.out + said.err


def test_a_file_that_others_may_read_is_refused(place: Path, number: Path, capsys: pytest.CaptureFixture[str]) -> None:
    number.chmod(0o644)
    assert find(place, "--id", number) == 2
    assert "F111" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"1234\n", b"0101075016x\n", b"\xff\xfe\xfa"])
def test_a_file_without_a_number_is_refused(
    content: bytes, place: Path, number: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    number.write_bytes(content)
    assert find(place, "--id", number) == 2
    assert "F101" in capsys.readouterr().err


def test_a_place_that_cannot_be_opened_is_told_and_the_others_are_searched(
    place: Path, number: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert find(place.parent / "borte", place, "--id", number) == 8
    said = capsys.readouterr()
    assert "certain   brev.docx" in said.out and "F290" in said.err and "NOT SEARCHED" in said.out


def test_without_documents_each_is_listed(place: Path, number: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert find(place, "--id", number, "--without-documents", "--lang", "nb") == 3
    said = capsys.readouterr()
    assert said.out.count("ikke gjennomsøkt  ") == 3 and "--without-documents" in said.out


def test_a_mistyped_number_is_searched_for_and_told(
    place: Path, number: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    number.write_text("01010750161")
    assert find(place, "--id", number) == 3
    assert "wrong check digits" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lang", "line", "reason"),
    [
        ("en", "Not searched: 2 pictures, 1 sound recording, 1 video.", "a picture; text in pictures is not read"),
        ("nb", "Ikke gjennomsøkt: 2 bilder, 1 lydopptak, 1 video.", "et bilde; tekst i bilder leses ikke"),
    ],
)
def test_pictures_sound_and_video_are_counted_and_listed_as_not_looked_into(
    lang: str, line: str, reason: str, place: Path, number: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "laast.pdf").unlink()
    (place / "skannet.png").write_bytes(png())
    (place / "bilde.tiff").write_bytes(b"II*\x00" + b"\x00" * 64)
    (place / "samtale.wav").write_bytes(b"RIFF$\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00" + b"\x00" * 32)
    (place / "film.mp4").write_bytes(b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom" + b"\x00" * 64)
    page, table = place.parent / "side.html", place.parent / "tabell.csv"
    assert find(place, "--id", number, "--json", "--csv", table, "--html", page, "--lang", lang) == 3
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for each in lines:
        jsonschema.validate(each, SCHEMA)
    media = {each["ref"]: each.get("medium") for each in lines if each["event"] == "person_unsearched"}
    assert media == {"skannet.png": "picture", "bilde.tiff": "picture", "samtale.wav": "sound", "film.mp4": "video"}
    (sums,) = [each for each in lines if each["event"] == "person"]
    assert sums["not_looked_into"] == {"picture": 2, "sound": 1, "video": 1} and not sums["complete"]
    assert line in page.read_text("utf-8") and reason in page.read_text("utf-8")
    assert reason in table.read_text("utf-8-sig")
    assert find(place, "--id", number, "--lang", lang) == 3
    said = capsys.readouterr()
    assert line in said.out and f"skannet.png  {reason}" in said.out
    assert {"en": "Text in pictures is not searched", "nb": "Tekst i bilder er ikke gjennomsøkt"}[lang] in said.err


def png(width: int = 1) -> bytes:
    """A picture."""
    head = b"IHDR" + width.to_bytes(4, "big") + b"\x00\x00\x00\x01\x08\x00\x00\x00\x00"
    rows = b"IDAT" + zlib.compress(b"\x00" * (width + 1))
    chunks = (head, rows, b"IEND")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (len(chunk) - 4).to_bytes(4, "big") + chunk + zlib.crc32(chunk).to_bytes(4, "big") for chunk in chunks
    )
