"""A record has one day, wherever it is looked at: in the run that loads it, the archive, and the package made of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import noarkit
from noarkit.embedded import keep_services
from noarkit.model import metamodel
from noarkit.model.headings import DAY_FIELDS

MAIL = b"From: kari@a.example\nTo: post@b.example\nDate: Mon, 3 Jun 2002 10:00:00 +0200\nSubject: Klage\n\nHei\n"


def day_in(place: object, words: str) -> str:
    """The day of the one thing that a place has with these words in its title."""
    (hit,) = noarkit.search(str(place), f'title:"{words}"').page.hits
    return hit.entry.day


@pytest.mark.parametrize(
    ("name", "content", "words", "day"),
    [("Skjema.txt", b"Skjema", "Skjema", "1999-05-18"), ("klage.eml", MAIL, "Klage", "2002-06-03")],
    ids=["file", "mail"],
)
def test_the_day_of_a_record_is_the_same_in_run_archive_and_extract(
    name: str, content: bytes, words: str, day: str, tmp_path: Path
) -> None:
    case = tmp_path / "share" / "Sak"
    case.mkdir(parents=True)
    (case / name).write_bytes(content)
    os.utime(case / name, (927_000_000, 927_000_000))
    archive = f"embedded:{tmp_path / 'archive'}"
    with keep_services():
        noarkit.plan(tmp_path / "share", tmp_path / "run", archive=archive)
        noarkit.ingest(tmp_path / "run", archive=archive, workers=0)
        noarkit.extract(tmp_path / "package", archive=archive)
        days = {place: day_in(place, words) for place in (tmp_path / "run", archive, tmp_path / "package")}
        found = {
            (place, kind): noarkit.search(str(place), f"type:{kind}").page.total.number
            for place in days
            for kind in ("Basisregistrering", "registrering", "Mappe")
        }
    assert days == dict.fromkeys(days, day)
    assert found == dict.fromkeys(found, 1)


def test_the_fields_that_say_a_day_are_fields_of_the_model_or_elements_of_an_extract() -> None:
    known = {name for kind in metamodel().types.values() for name in kind.fields}
    assert set(DAY_FIELDS) - known == {"journaldato"}, "what an extract calls registreringsDato"
