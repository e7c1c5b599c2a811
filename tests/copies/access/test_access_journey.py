"""The whole journey of access copies: made, planned, loaded, left out of an extract, and brought along where asked."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from lxml import etree

import noarkit
from noarkit.cli.main import main
from noarkit.copies.store import CopyStore
from noarkit.model.conversions import parse_details
from tests.copies.access.made import write_masters

pytestmark = pytest.mark.usefixtures("one_archive")

NS = {"n": "http://www.arkivverket.no/standarder/noark5/arkivstruktur"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two masters and a letter in an archive with access copies, and two extracts of it."""
    folder = tmp_path_factory.mktemp("access")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (write_masters(folder) / "letter.txt").write_text("Hei på deg\n", "utf-8")
        noarkit.derive("saker", "copies", policy="policy.toml", workers=1)
        noarkit.plan("saker", "run", copies="copies")
        noarkit.ingest("run", archive="embedded:first", workers=0)
        noarkit.close("run", archive="embedded:first")
        noarkit.extract("package", archive="embedded:first")
        options = noarkit.ExtractOptions(with_access_copies=True)
        noarkit.extract("with-access", options, archive="embedded:first")
        yield folder


def _objects(package: Path) -> list[etree._Element]:
    return etree.parse(package / "arkivstruktur.xml").findall(".//n:dokumentobjekt", NS)


def _texts(package: Path, name: str) -> list[str]:
    return sorted(str(one.findtext(f"n:{name}", namespaces=NS)) for one in _objects(package))


def test_both_purposes_are_counted_apart_and_nothing_is_made_twice(place: Path) -> None:
    result = noarkit.derive(place / "saker", place / "copies", policy=place / "policy.toml", workers=1)
    assert (result.read, result.kept, result.made, result.converted) == (3, 3, 0, 0)
    assert (result.access, result.access_reasons) == ({"made": 2}, {})
    with CopyStore.open(place / "copies") as store:
        sizes = [size for _, size in store.objects()]
    assert result.access_bytes == sum(sizes)
    bare = noarkit.derive(place / "saker", place / "copies", workers=1)
    assert (bare.access, bare.access_bytes) == ({}, 0)


def test_a_master_is_delivered_and_its_access_copy_is_not(place: Path) -> None:
    masters = {hashlib.sha256(path.read_bytes()).hexdigest() for path in (place / "saker").rglob("*.*")}
    assert set(_texts(place / "package", "sjekksum")) == masters
    assert _texts(place / "package", "variantformat") == ["Arkivformat"] * 3
    assert {path.suffix for path in (place / "package" / "dokumenter").rglob("*.*")} == {".tif", ".txt"}


def test_an_access_copy_is_delivered_beside_its_master_where_that_is_asked(place: Path) -> None:
    assert _texts(place / "with-access", "variantformat") == [*["Arkivformat"] * 3, *["Produksjonsformat"] * 2]
    told = {
        str(one.findtext("n:format", namespaces=NS)): str(one.findtext("n:formatDetaljer", namespaces=NS))
        for one in _objects(place / "with-access")
        if one.find("n:konvertering", NS) is not None
    }
    conversion = parse_details(told["jpg"])
    assert set(told) == {"jpg", "pdf"}
    assert conversion is not None
    assert (conversion.purpose, conversion.rule) == ("access", "read-picture")
    lacks = "resolution-reduced height=400 original_height=600 original_width=900 width=600"
    assert conversion.findings == ("compressed-with-loss", lacks)
    assert {one.findtext("n:versjonsnummer", namespaces=NS) for one in _objects(place / "with-access")} == {"1"}


def test_an_archive_that_is_asked_for_what_has_no_copy_does_not_name_access_copies(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        assert main(["derive", "--archive", "embedded:first", "-o", "of-archive", "--dry-run", "--json"], {}) == 0
    (derived,) = [
        event for line in capsys.readouterr().out.splitlines() if (event := json.loads(line))["event"] == "derived"
    ]
    assert derived["read"] == 0


def test_the_extract_says_how_many_it_leaves_out(place: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        result = noarkit.extract("third", archive="embedded:first")
    assert (result.access_left_out, result.copies, result.originals_left_out) == (2, 0, 0)


def test_what_comes_back_of_an_extract_is_an_access_copy_still(place: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        noarkit.plan("with-access", "run-again")
        noarkit.ingest("run-again", archive="embedded:second", workers=0)
        noarkit.extract("again", archive="embedded:second")
    assert set(_texts(place / "again", "sjekksum")) == set(_texts(place / "package", "sjekksum"))


def test_a_store_without_a_second_purpose_is_taken_on(place: Path, tmp_path: Path) -> None:
    """What was sealed before stays sealed: the digest of a store of the first version is the same afterwards."""
    noarkit.derive(place / "saker", tmp_path / "copies", workers=1)
    with CopyStore.open(tmp_path / "copies") as store:
        before = store.digest()
    with closing(sqlite3.connect(tmp_path / "copies" / "derive.db")) as db:
        db.executescript(
            "DROP INDEX document_access; ALTER TABLE document DROP COLUMN access; ALTER TABLE copy DROP COLUMN purpose;"
            "UPDATE meta SET value = '1' WHERE name = 'version'"
        )
    with CopyStore.open(tmp_path / "copies") as store:
        assert store.digest() == before
        assert store.meta("version") == "2"
    result = noarkit.derive(place / "saker", tmp_path / "copies", policy=place / "policy.toml", workers=1)
    assert result.access == {"made": 2}
