"""The walk-through of samples/copies is run as its README has it, and other programs look at what it makes."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from lxml import etree

from noarkit.forms.siard.read.archive import open_siard
from tests.walks import SAMPLES, follow

pytestmark = pytest.mark.skipif(
    not (shutil.which("gs") and shutil.which("ffmpeg")), reason="no Ghostscript and FFmpeg here: scripts/copies-tools"
)

NS = {"n": "http://www.arkivverket.no/standarder/noark5/arkivstruktur"}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("samples") / "copies"
    shutil.copytree(SAMPLES / "copies", folder, ignore=shutil.ignore_patterns("__pycache__"))
    follow("copies", folder)
    return folder


def _variants(package: Path) -> list[str]:
    found = etree.parse(package / "arkivstruktur.xml").findall(".//n:variantformat", NS)
    return sorted(str(one.text) for one in found)


def test_access_copies_are_delivered_only_where_they_are_asked_for(here: Path) -> None:
    assert _variants(here / "package") == ["Arkivformat"] * 5
    assert _variants(here / "package-with-access") == [*["Arkivformat"] * 5, *["Produksjonsformat"] * 5]


def test_other_programs_read_what_was_made(here: Path) -> None:
    (case,) = (here / "sip" / "representations" / "access" / "data").iterdir()
    assert {path.name for path in case.iterdir()} == {
        *("kart.jpg", "sak.pdf", "skann.pdf", "regnskap.siard", "møte.mp3"),
    }
    command = ["ffprobe", "-v", "error", "-show_entries", "stream=codec_name,sample_rate", "-of", "json"]
    told = subprocess.run([*command, str(case / "møte.mp3")], capture_output=True, check=True).stdout
    assert json.loads(told)["streams"][0]["codec_name"] == "mp3"
    if shutil.which("pdfimages"):
        told = subprocess.run(["pdfimages", "-list", str(case / "skann.pdf")], capture_output=True, check=True).stdout
        assert told.decode().splitlines()[2].split()[12:14] == ["150", "150"]


def test_the_ledger_is_a_table_whose_columns_have_types(here: Path) -> None:
    (path,) = (here / "sip" / "representations" / "access" / "data").rglob("*.siard")
    with open_siard(path) as siard:
        ((_, table),) = siard.archive.tables()
    types = {column.name: column.type for column in table.columns}
    assert types == {
        **{"sheet_row": "INTEGER", "Navn": "CHARACTER VARYING(13)", "Konto": "CHARACTER VARYING(4)"},
        **{"Beløp": "DOUBLE PRECISION", "Dato": "DATE"},
    }
    assert table.rows == 3
