"""What an extract tells and the archive has no place for is put back; the package made of it says so, and is valid."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from noarkit.forms.validation import validate
from samples.packages.changes import replaced
from samples.packages.describe import seal
from samples.packages.good import good_draft

FIRST_ENTRY = "2019-03-01"
ACCEPTED = ("--accept-loss", "gradering", "--accept-loss", "utfoertKassasjon")


def noarkit(*words: str, cwd: Path) -> None:
    """One command, to its end; what it says of deposit is not asked for."""
    done = subprocess.run(
        [sys.executable, "-m", "noarkit", *words], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 3, 4), done.stdout + done.stderr


@pytest.mark.parametrize("period", ["2019-01-01", ""])
def test_a_package_that_was_read_back_tells_of_all_that_was_put_back(
    period: str, tmp_path: Path, reference: Path
) -> None:
    schemas = reference / "xsd" / "noark5"
    draft = good_draft("5.0", schemas / "5.0")
    if not period:  # then it is that of the units
        replaced("arkivstruktur.xml", "<arkivperiode[A-Za-z]*>[^<]*</arkivperiode[A-Za-z]*>\n", "", 0)(draft)
    seal(draft)
    draft.write(tmp_path / "package")
    noarkit("ingest", "package", "-o", "run", "--archive", "embedded:archive", *ACCEPTED, cwd=tmp_path)
    extracted = ("extract", "-o", "extract", "--archive", "embedded:archive", "--as", "noark5")
    noarkit(*extracted, "--schemas", str(schemas / "5.0"), cwd=tmp_path)
    report = validate(tmp_path / "extract")
    # the package's own schema does not come along
    assert report.codes == {"N108"}, [(one.rule.code, one.places[:2]) for one in report.outcomes]
    description = (tmp_path / "extract" / "arkivuttrekk.xml").read_text("utf-8")
    assert re.search(rf"\"startDate\">\s*<value>{period or FIRST_ENTRY}<", description)
