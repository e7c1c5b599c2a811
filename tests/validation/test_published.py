"""Packages that others published get the verdict that is known of them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from noarkit.errors import PackageFault
from noarkit.forms.findings import rules_of
from noarkit.forms.validation import ValidateResult, validate

# What the note beside each says, in our codes: those that must be found, and whether the package is valid.
VERDICTS: Mapping[str, tuple[set[str], bool]] = {
    "arkade-Noark5Archive": ({"N414"}, False),  # journals, but no documents
    "arkade-Small": ({"N003", "N323", "N413"}, False),  # no journals; a letter that is not archived
    "arkade-Version5_5": ({"N103", "N105"}, False),  # 5.0 with the schemas of 3.1 and ids that are none
    "arkade-n5-eksempel/unpacked": ({"N205", "N208"}, False),  # Arkade's own report tells the same two
    "documaster-duplicate-system-ids/extraction": ({"N301", "N602"}, False),
    "documaster-incomplete-structure/extraction": ({"N001", "N007", "N010"}, False),
    "documaster-valid-case-archive/extraction": ({"N602"}, True),
    "kdrs-uttrekk1/n5uttrekk": ({"N301", "N404"}, False),  # "87 kB", and one id twice
    "n5tester-noark5": ({"N001"}, False),
    "synth-full-3.1": ({"N350", "N409", "N522"}, False),  # the id of a class is screened, and in the public journal
    "synth-full-5.0": ({"N350", "N409", "N522"}, False),
}
# What one of several packages says of the checksum of its arkivstruktur, and the rules on checksums that it breaks.
CHECKSUMS: Mapping[str, set[str]] = {
    "correct": set(),
    "errors": {"N205"},
    "missingAlgorithm": {"N203"},
    "missingProperty": {"N203"},
    "missingTargetFile": {"N002"},
    "missingValue": {"N203"},
    "unsupportedAlgorithm": {"N203", "N204"},  # and it has no value either
}
ON_CHECKSUMS = {"N002", "N203", "N204", "N205", "N217"}
COLLECTED = ("SOURCE.txt", ".gitattributes")
"""Not of the package: left by whoever collected it."""


@pytest.fixture
def published(reference: Path) -> Path:
    """Where the packages lie."""
    place = reference.parent / "samples" / "noark5"
    if not place.is_dir():
        pytest.skip("no published packages beside the reference tables")
    return place


def validated(published: Path, name: str, folder: Path) -> ValidateResult:
    """The report on a copy without what does not belong to it."""
    target = folder / name.replace("/", "-")
    shutil.copytree(published / name, target, ignore=shutil.ignore_patterns(*COLLECTED))
    return validate(target)


@pytest.mark.parametrize("name", VERDICTS)
def test_a_published_package_gets_its_verdict(name: str, published: Path, tmp_path: Path) -> None:
    report = validated(published, name, tmp_path)
    found = sorted(report.codes)
    must, valid = VERDICTS[name]
    assert must <= report.codes, found
    assert report.valid == valid, found


@pytest.mark.parametrize("name", CHECKSUMS)
def test_a_published_checksum_gets_its_verdict(name: str, published: Path, tmp_path: Path) -> None:
    target = tmp_path / name
    shutil.copytree(published / "arkade-StructureChecksums" / name, target)
    for path in target.rglob("*.x*"):  # whoever collected them lost the line ends of which the checksums were made
        path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    assert validate(target).codes & ON_CHECKSUMS == CHECKSUMS[name]


def test_every_published_package_is_judged_here(published: Path) -> None:
    named = {name.split("/")[0] for name in VERDICTS} | {"arkade-StructureChecksums"}
    assert {one.name for one in (published / "arkade-StructureChecksums").iterdir() if one.is_dir()} == CHECKSUMS.keys()
    assert {entry.name for entry in published.iterdir() if entry.is_dir()} - named == {"mottak-metadatafil"}


def test_a_folder_without_an_extract_is_no_package(published: Path) -> None:
    with pytest.raises(PackageFault) as fault:
        validate(published / "mottak-metadatafil")
    assert fault.value.data["why"] == "no-package"


def test_a_rule_names_a_published_package_that_breaks_it_or_none(published: Path, tmp_path: Path) -> None:
    found: dict[str, set[str]] = {}
    for name in (*VERDICTS, *(f"arkade-StructureChecksums/{one}" for one in CHECKSUMS)):
        for code in validated(published, name, tmp_path).codes:
            found.setdefault(code, set()).add(name)
    assert len(rules_of("noarkit.forms.noark5.rules")) > 100
    for code, rule in rules_of("noarkit.forms.noark5.rules").items():
        if rule.level == "info":
            continue
        known = {name for name in found.get(code, ()) if name == rule.foreign or name.split("/")[0] == rule.foreign}
        assert bool(known) == bool(rule.foreign), f"{code} is broken by {sorted(found.get(code, ()))}"
        assert bool(found.get(code)) == bool(rule.foreign), f"{code} is broken by {sorted(found.get(code, ()))}"


def test_totals_of_a_package_that_a_known_validator_reported_on_are_the_same(published: Path, tmp_path: Path) -> None:
    report = validated(published, "arkade-n5-eksempel/unpacked", tmp_path)
    totals = {count.rule.code: count.total for count in report.counts}
    assert (totals["N901"], totals["N902"], totals["N904"]) == (1, 1, 1)
    assert (totals["N907"], totals["N912"], totals["N921"]) == (1, 2, 2)
