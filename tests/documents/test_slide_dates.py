"""Which presentations before 2007 show the day on which they are opened, as LibreOffice writes them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import olefile
import pytest

from noarkit.documents.slide_dates import STREAM, count_automatic_dates
from tests.copies.corpus import binary, odf
from tests.waiting import PATIENCE_S


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not on this machine")
def test_the_date_of_the_day_is_told_from_one_that_stays(tmp_path: Path) -> None:
    sources = ("current-date", "fixed")
    paths = [tmp_path / f"{source}.odp" for source in sources]
    for path in paths:
        path.write_bytes(odf.dated_odp(path.stem))
    profile = f"-env:UserInstallation=file://{tmp_path}/profile"
    command: list[str | Path] = ["soffice", profile, "--headless", "--convert-to", "ppt", "--outdir", tmp_path]
    subprocess.run([*command, *paths], check=True, capture_output=True, timeout=PATIENCE_S)
    counts = {}
    for path in paths:
        with olefile.OleFileIO(path.with_suffix(".ppt")) as container:
            counts[path.stem] = count_automatic_dates(container.openstream(STREAM).read())
    assert counts == {"current-date": 1, "fixed": 0}


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_record_that_ends_early_ends_the_reading(cut: int) -> None:
    whole = binary.headers_of_slide(0x23)
    assert count_automatic_dates(whole + whole[:-cut]) == 1
