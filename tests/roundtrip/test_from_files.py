"""A messy folder of files goes into an archive, out as a package, into another and out again: the same bytes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

import noarkit
from noarkit.words.texts import LANGUAGES, texts
from tests.roundtrip.circle import files_of

FACTS = """
[agreement]
number = "2026/1"
[delivery]
description = "Fellesområdet, som det var"
[[creator]]
name = "Prøve kommune"
[system]
name = "Fellesområdet"
"""
PDF = b"%PDF-1.4 <x:xmpmeta pdfaid:part='1'/>"
MESS: Mapping[bytes, bytes] = {
    "Byggesaker/2019/Søknad om påbygg.pdf".encode(): PDF,
    "Byggesaker/2019/Søknad om påbygg (kopi).pdf".encode(): PDF,
    b"Byggesaker/2019/a & b <c>.txt": b"amp; and angles",
    b"Byggesaker/notat.TXT": "æøå\r\n".encode("latin-1"),
    b"Byggesaker/tomt.txt": b"",
    b"Byggesaker/uten ending": b"\x00\x01\x02",
    b"Personal/dypt/ned/i/en/mappe/brev.docx": b"PK\x03\x04 no document at all",
    b"Personal/.skjult": b"hidden",
    b"Personal/\xff\xfe ikke tekst.pdf": PDF + b"2",
    b"Personal/linje\nskift.csv": b"a;b\n1;2\n",
    b"Personal/" + b"langt" * 40 + b".xml": b"<a/>",
    b"les meg.md": b"# top level",
    b"e-post.eml": b"From: a@b.no\r\nSubject: =?utf-8?q?Sv=C3=B8r?=\r\n\r\nHei\r\n",
    b"bilde.png": b"\x89PNG\r\n\x1a\n no picture",
}


def made_mess(folder: Path) -> Path:
    """The folder."""
    for name, content in MESS.items():
        path = os.path.join(os.fsencode(folder), name)  # noqa: PTH118  # names that are no text
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103,PTH120  # as above
        with open(path, "wb") as file:  # noqa: PTH123  # as above
            file.write(content)
        os.utime(path, (1_552_000_000, 1_552_000_000))
    (folder / "lenke.pdf").symlink_to(folder / "les meg.md")
    return folder


def moved(source: Path, run: Path, archive: str) -> noarkit.IngestResult:
    """Plans, ingests and closes."""
    noarkit.plan(source, run)
    return noarkit.ingest(run, archive=archive, workers=1)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both packages, with what they were made of."""
    place = tmp_path_factory.mktemp("from-files")
    facts = place / "package.toml"
    facts.write_text(FACTS, "utf-8")
    archives = tuple(f"embedded:{place / name}" for name in ("archive-a", "archive-b"))
    before = Path.cwd()
    os.chdir(place)
    try:
        first = moved(made_mess(place / "mess"), place / "run-a", archives[0])
        assert first.numbers.archived >= len(MESS)
        noarkit.extract(
            place / "a", noarkit.ExtractOptions(package=facts, change_log="from-archive"), archive=archives[0]
        )
        second = moved(place / "a", place / "run-b", archives[1])
        assert second.numbers.archived == second.numbers.read > 0
        noarkit.extract(
            place / "b", noarkit.ExtractOptions(package=facts, change_log="from-archive"), archive=archives[1]
        )
    finally:
        os.chdir(before)
    return place


def test_the_two_packages_are_the_same_bytes(place: Path) -> None:
    first, second = files_of(place / "a"), files_of(place / "b")
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []


def test_every_file_of_the_folder_lies_in_them_once_a_record(place: Path) -> None:
    contents = sorted(content for name, content in files_of(place / "a").items() if name.startswith("dokumenter/"))
    assert contents == sorted(MESS.values())


def test_both_are_valid(place: Path) -> None:
    for name in ("a", "b"):
        report = noarkit.validate(place / name)
        assert report.valid, [(one.rule.code, one.places[:2]) for one in report.outcomes]


def test_what_the_report_says_it_means_are_the_words_of_the_mapping(place: Path) -> None:
    said = json.loads((place / "a.not-in-form.json").read_text("utf-8"))
    assert said["defaults"] and said["not_in_form"]
    words = {lang: texts(lang).tables for lang in LANGUAGES}
    for table, word, entries in (("mapping_rules", "rule", "defaults"), ("mapping_reasons", "reason", "not_in_form")):
        for entry in said[entries]:
            assert entry["means"] == words["en"][table][entry[word]]
            assert entry["means_nb"] == words["nb"][table][entry[word]]
