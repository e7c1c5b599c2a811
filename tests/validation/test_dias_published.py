"""DIAS packages that others published get the verdict that is known of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from noarkit.forms.dias.read.package import open_dias
from noarkit.forms.dias.rules.documents import DocumentValidator
from noarkit.forms.dias.rules.run import RULES, looks_like_dias, validate_dias
from noarkit.forms.findings import Tally
from noarkit.forms.metadata.mets_facts import MetsReader

# What Arkade's report of the extract within says too: a checksum and a count that do not hold.
INNER = {"N205", "N208"}
# Made in 2020, by a writer of its time, and renamed since.
OUTER = {"D103", "D203", "D302", "D509"}


@pytest.fixture
def samples(reference: Path) -> Path:
    """Where the packages lie."""
    place = reference.parent / "samples"
    if not (place / "oais" / "dias").is_dir():
        pytest.skip("no published packages beside the reference tables")
    return place


@pytest.mark.parametrize("shape", ["pair", "tar", "unpacked"])
def test_a_complete_package_of_another_maker_is_whole_and_its_extract_is_not(
    shape: str, samples: Path, tmp_path: Path
) -> None:
    place = samples / "oais" / "dias" / "n5-eksempel"
    if shape == "tar":
        place = place / "n5-guid.tar"
    elif shape == "unpacked":
        place = tmp_path / "unpacked"
        shutil.copytree(samples / "noark5" / "arkade-n5-eksempel" / "unpacked", place)
    assert looks_like_dias(place)
    report = validate_dias(place)
    own = {code for code in report.codes if code.startswith("D")}
    assert own == (OUTER - {"D103", "D509"} | {"D502"} if shape == "unpacked" else OUTER)
    assert not any(outcome.rule.level == "error" for outcome in report.outcomes if outcome.rule.code in own)
    assert report.codes >= INNER
    assert not report.valid
    assert report.version == "SIP"


def test_its_seal_and_every_file_are_proven(samples: Path) -> None:
    with open_dias(samples / "oais" / "dias" / "n5-eksempel") as package:
        package.prove_seal()
        assert sum(len(content.read()) for _, content in package.contents()) > 300_000


def test_a_mets_as_a_later_writer_has_it_breaks_the_schema_in_the_two_known_ways(samples: Path, tmp_path: Path) -> None:
    path = samples / "oais" / "dias" / "dias-mets.xml"
    with path.open("rb") as file:
        reading = MetsReader(file, path.name)
        assert [listed.href for listed in reading.files()][1:] == [
            "file:content/dokumenter/5000000.pdf",
            "file:content/dokumenter/5000001.pdf",
            "file:content/dokumenter/underkatalog/5000002.pdf",
        ]
    assert reading.mixed_group_line == 72
    tally = Tally(RULES)
    DocumentValidator(tmp_path, None).judge(path, reading.header.namespace, ("D202", path.name), tally)
    (outcome,) = tally.outcomes({})
    assert outcome.count == 1
    assert "metsDocumentID" in str(outcome.places[0].data["why"])
    assert reading.header.record_status == "NEW"


def test_rules_name_the_published_package_that_breaks_them_or_none(samples: Path) -> None:
    found = validate_dias(samples / "oais" / "dias" / "n5-eksempel").codes
    for code, rule in RULES.items():
        assert (rule.foreign == "n5-eksempel") == (code in found), code
    assert {code for code, rule in RULES.items() if rule.foreign == "dias-mets"} == {"D202", "D204"}
