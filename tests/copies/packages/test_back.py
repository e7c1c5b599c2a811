"""A package with copies read as a source: a copy comes back beside its original, and none is a record of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import noarkit
from noarkit.model.conversions import parse_details
from tests.copies.packages.test_rules import REP2, edited
from tests.copies.planning.made import BORN, LETTER, MINUTES, NOTE, SHEET, Copies, lay, sha256

pytestmark = pytest.mark.usefixtures("one_archive")

DOCUMENTS = (BORN, LETTER, MINUTES, NOTE, SHEET)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Copies:
    """A package of five documents and copies of two, in the working folder."""
    monkeypatch.chdir(tmp_path)
    documents, copies = lay(tmp_path)
    noarkit.convert(documents, "package", form="eark-sip", copies=copies.folder)
    return copies


@pytest.mark.parametrize("tail", ["", ".zip", ".tar"])
def test_a_copy_comes_back_as_a_version_beside_its_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tail: str
) -> None:
    monkeypatch.chdir(tmp_path)
    documents, copies = lay(tmp_path)
    noarkit.convert(documents, f"package{tail}", form="eark-sip", copies=copies.folder)
    planned = noarkit.plan(f"package{tail}", "run")
    result = noarkit.ingest("run", archive="embedded:first", workers=0)
    assert result.state == "done"
    numbers = result.numbers
    assert numbers.read == numbers.archived + numbers.skipped
    with noarkit.Archive("embedded:first") as archive:
        versions = archive.find("Dokumentversjon")
        held = {str(one.fields["sjekksum"]): one.fields for one in versions}
        labels = {
            one.fields["eksternID"]
            for one in archive.find("EksternId")
            if one.fields["eksterntSystem"] == "noarkit:derived-from"
        }
        records = len(list(archive.find("Basisregistrering")))
    made = {sha256(copies.made[sha256(one)]): sha256(one) for one in (LETTER, MINUTES)}
    assert {sha256(one) for one in DOCUMENTS} | set(made) <= set(held)
    for copy, source in made.items():
        assert (held[copy]["variantformat"], held[source]["variantformat"]) == ("A", "P")
        assert held[copy]["versjonsnummer"] == held[source]["versjonsnummer"]
        told = parse_details(str(held[copy]["formatDetaljer"]))
        assert told is not None
        assert (told.source_sha256, told.result_sha256) == (source, copy)
        assert (told.tool, told.rule, told.made_by, told.made_at) == (
            "LibreOffice 7.4.7.2",
            "office-text",
            "noarkit",
            "2026-01-22T09:12:03Z",
        )
        assert (told.source_format, told.result_format) == ("fmt/40", "fmt/477")
    assert labels == {f"sha256:{source}" for source in made.values()}
    assert records == planned.entities["Dokument"] == planned.entities["Dokumentversjon"] - len(made)


def test_a_whole_circle_keeps_every_conversion(made: Copies) -> None:
    """Folder, package, archive, extract: `konvertering` says what `derive` did."""
    noarkit.plan("package", "run")
    noarkit.ingest("run", archive="embedded:first", workers=0)
    proof = noarkit.verify("run", archive="embedded:first")
    assert proof.good, proof.findings
    noarkit.close("run", archive="embedded:first")
    noarkit.extract("out", archive="embedded:first", form="noark5")
    text = Path("out/arkivstruktur.xml").read_text("utf-8")
    told = re.findall(r"<konverteringskommentar>.*?sha256 (\w{64}) → (\w{64})", text)
    assert set(told) == {(sha256(one), sha256(made.made[sha256(one)])) for one in (LETTER, MINUTES)}


@pytest.mark.parametrize(
    ("pattern", "new"),
    [
        (r"(?<=Value>)ID-rep1-file-2(?=</related)", "elsewhere"),
        (r"has source(?=</[^>]*><relatedObjectIdentifier><[^>]*>local</[^>]*><[^>]*>ID-)", "is part of"),
        (r"<premis ", "<other "),
    ],
)
def test_a_copy_whose_source_is_not_told_stays_a_file_of_its_own(
    made: Copies, tmp_path: Path, pattern: str, new: str
) -> None:
    whole = noarkit.plan("package", "whole")
    package = edited(Path("package").absolute(), tmp_path / "changed", REP2, pattern, new, count=1)
    planned = noarkit.plan(package, "run", despite_damage=True)
    assert planned.entities["Dokumentversjon"] == whole.entities["Dokumentversjon"]
    assert planned.entities["Dokument"] > whole.entities["Dokument"]
