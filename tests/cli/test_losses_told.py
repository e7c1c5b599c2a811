"""What the archive has no place for is told by every command and page that says how things stand."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from noarkit.cli.main import main
from tests.sources.package.made import folder, fonds, package, series

pytestmark = pytest.mark.usefixtures("one_archive")

PLACE = "<oppbevaringssted>Kjeller</oppbevaringssted>"
GRADE = "<gradering><grad>Strengt hemmelig (sikkerhetsgrad)</grad><gradertAv>Kari</gradertAv></gradering>"


@pytest.fixture(autouse=True)
def extracted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with a value that the archive has no place for."""
    monkeypatch.chdir(tmp_path)
    package(Path("uttrekk"), fonds(series(folder(10, before=PLACE))))


def test_verify_and_its_certificate_name_how_much_the_archive_has_no_place_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["plan", "uttrekk", "-o", "run", "--no-carry"], {}) in (0, 3)
    assert main(["ingest", "run"], {}) in (0, 3)
    assert "mappe/oppbevaringssted" in Path("run/report.html").read_text("utf-8")
    capsys.readouterr()
    main(["verify", "run", "--depth", "bytes"], {})
    said = " ".join(capsys.readouterr().out.split())
    assert "Not in the archive: 1 value of 1 field" in said
    assert "source, run and archive agree in everything" not in said
    facts = json.loads(next(Path("run").glob("verify-*.json")).read_text("utf-8"))["not_in_archive"]
    listed = Path("run/not-in-archive.csv").read_bytes()
    assert (facts["values"], facts["fields"], facts["sha256"]) == (1, 1, hashlib.sha256(listed).hexdigest())
    assert "except for 1 value of 1 field" in next(Path("run").glob("verify-*.html")).read_text("utf-8")


def test_a_certificate_of_a_part_names_it_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "uttrekk", "-o", "run", "--no-carry"], {}) in (0, 3)
    assert main(["ingest", "run"], {}) in (0, 3)
    capsys.readouterr()
    assert main(["verify", "run", "--depth", "counts"], {}) == 0
    assert "Verified in part" in capsys.readouterr().out
    page = " ".join(next(Path("run").glob("verify-*.html")).read_text("utf-8").split())
    assert "What was compared agrees, except for 1 value of 1 field that the archive has no place for." in page


def test_a_graded_record_ends_the_command_with_4_until_its_loss_is_accepted_by_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    package(Path("gradert"), fonds(series(folder(10, before=PLACE + GRADE))))
    assert main(["plan", "gradert", "-o", "run"], {}) == 4
    assert "F411" in capsys.readouterr().err
    assert main(["plan", "gradert", "-o", "run", "--accept-loss", "gradering"], {}) == 0


@pytest.mark.parametrize(("options", "carried"), [((), True), (("--no-carry-in-vsm",), False)])
def test_extract_ends_with_how_many_facts_the_package_carries_and_how_many_stand_beside_it(
    options: tuple[str, ...], carried: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("filer").mkdir()
    Path("filer/brev.txt").write_text("Hei", "utf-8")
    assert main(["ingest", "filer", "-o", "run-filer", "--archive", "embedded:arkiv"], {}) == 0
    capsys.readouterr()
    line = ["extract", "-o", "ut", "--archive", "embedded:arkiv", "--include-open", *options]
    assert main([*line, "--json"], {}) == 3
    lines = [json.loads(one) for one in capsys.readouterr().out.splitlines()]
    (made,) = (one for one in lines if one["event"] == "extracted")
    rows = len(Path("ut.not-in-form.csv").read_text("utf-8").splitlines()) - 1
    assert (made["carried"], made["beside"]) == ((rows, 0) if carried else (0, rows))
    shutil.rmtree("ut")
    assert main(line, {}) == 3
    said = capsys.readouterr().out
    assert (f"{rows} values without an element in Noark 5 are kept in virksomhetsspesifikkeMetadata" in said) is carried
    assert (f"{rows} values without an element in Noark 5 are only in" in said) is not carried
    assert ("<n:filnavn>brev.txt</n:filnavn>" in Path("ut/arkivstruktur.xml").read_text("utf-8")) is carried
