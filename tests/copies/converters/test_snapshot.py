"""What a service answered is readable on paper: every key as a heading, every value, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from noarkit.copies.converters.snapshot import SNAPSHOT, heading_of
from noarkit.copies.reasons import Reason
from tests.copies.converters.library_tasks import Workbench, text_by_poppler

ANSWER = {
    "tittel": "Søknad om påbygg på Ærøya",
    "opprettetDato": "2026-02-03T10:11:12Z",
    "saksstatus": {"kode": "B", "kodenavn": "Under behandling"},
    "parter": [{"navn": "Åse Øvrebø", "rolle": "Søker"}, {"navn": "Bø AS", "rolle": "Tiltakshaver"}],
    "merknader": ["<script>alert(1)</script>", {"linje": "a\nb"}],
    "lukket": False,
    "antall": 12,
    "tom": None,
    "ingen": [],
}


def _store(folder: Path, content: str, name: str = "svar.json") -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def test_every_key_and_value_stands_on_the_page(tmp_path: Path, bench: Workbench) -> None:
    source = _store(tmp_path, json.dumps(ANSWER))
    product, _ = bench.copy(SNAPSHOT, bench.task(source, "pdfa-2b"))
    assert product.findings == ()
    text = text_by_poppler(product.path)
    if text is None:
        return
    plain = " ".join(text.split())
    for passage in (
        *("Søknad om påbygg på Ærøya", "Opprettet dato", "03.02.2026 10:11", "(2026-02-03T10:11:12Z)"),
        *("Under behandling", "Navn Rolle", "Åse Øvrebø Søker", "Bø AS Tiltakshaver", "<script>alert(1)</script>"),
        *("Lukket Nei", "Antall 12", "Data slik systemet leverte dem"),
    ):
        assert passage in plain, passage


def test_it_speaks_the_language_of_the_rule(tmp_path: Path, bench: Workbench) -> None:
    source = _store(tmp_path, '{"open": true}')
    product, _ = bench.copy(SNAPSHOT, bench.task(source, "pdfa-2b", language="en"))
    text = text_by_poppler(product.path)
    assert text is None or ("Open Yes" in " ".join(text.split()) and "Data as the system delivered them" in text)


def test_what_is_no_answer_is_refused(tmp_path: Path, bench: Workbench) -> None:
    broken = _store(tmp_path, '{"a": ', "broken.json")
    deep = _store(tmp_path, "[[1]," * 100 + "1" + "]" * 100, "deep.json")
    assert bench.refusal(SNAPSHOT, bench.task(broken, "pdfa-2b")) is Reason.DAMAGED
    assert bench.refusal(SNAPSHOT, bench.task(deep, "pdfa-2b")) is Reason.CONTENT_REFUSED


@pytest.mark.parametrize(
    ("key", "heading"),
    [("opprettetDato", "Opprettet dato"), ("system_id", "System id"), ("URL", "URL"), ("x", "X"), ("--", "--")],
)
def test_keys_are_headings(key: str, heading: str) -> None:
    assert heading_of(key) == heading
