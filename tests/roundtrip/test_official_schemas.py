"""Whatever an archive holds, its extract is valid by each official set of schemas, which our own validator takes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from lxml import etree

from noarkit.extraction.run import ExtractSettings, extract
from noarkit.forms.validation import validate
from tests.roundtrip.circle import BEGUN, archive_in
from tests.roundtrip.worlds import build

SETS = ("5.0", "5.0-latest-lf", "5.0-pre2023-as-bundled-in-arkade-2.12.4")
OF_SCHEMAS = {"N101", "N102", "N103", "N104", "N105", "N109", "N205", "N217"}
DOCUMENTS = ("arkivstruktur", "endringslogg", "loependeJournal", "offentligJournal", "addml")


@pytest.fixture(scope="module", params=[22, 23, 24])
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an archive."""
    place = tmp_path_factory.mktemp("official")
    with archive_in(place / "archive") as made:
        build(random.Random(request.param), made)
    return place / "archive"


@pytest.mark.parametrize("edition", SETS)
def test_an_extract_is_valid_by_the_official_schemas_that_it_takes_along(
    edition: str, archive: Path, tmp_path: Path, reference: Path
) -> None:
    schemas = reference / "xsd" / "noark5" / edition
    package = tmp_path / "package"
    with archive_in(archive) as held:
        made = extract(held, package, ExtractSettings(now=lambda: BEGUN, schemas=schemas, include_open=True))
    assert "own-schemas" not in made.flaws
    for document in DOCUMENTS:
        path = package / f"{'arkivuttrekk' if document == 'addml' else document}.xml"
        if document in ("arkivstruktur", "addml") or path.exists():
            judge = etree.XMLSchema(etree.parse(schemas / f"{document}.xsd"))
            assert judge.validate(etree.parse(path)), judge.error_log
    report = validate(package, schemas=schemas)
    assert report.codes.isdisjoint(OF_SCHEMAS), [one for one in report.outcomes if one.rule.code in OF_SCHEMAS]
