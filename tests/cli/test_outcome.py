"""What `ingest` says when it has ended, in one step, quietly, or with nothing left to do."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from noarkit.cli.main import main


@pytest.fixture(autouse=True)
def documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mapper/sak 1").mkdir(parents=True)
    Path("mapper/sak 1/brev.txt").write_text("Hei")


def test_one_step_tells_the_outcome_and_asks_for_no_second_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", "mapper", "-o", "run"], {}) == 0
    said = capsys.readouterr().out
    assert "noarkit ingest" not in said
    assert "noarkit verify run" in said
    assert "archived         1" in said


@pytest.mark.parametrize(("lang", "archived"), [("en", "archived 1"), ("nb", "arkivert 1")])
def test_quiet_tells_the_outcome_in_one_line(lang: str, archived: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-q", "--lang", lang, "ingest", "mapper", "-o", "run"], {}) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert len(said.out.splitlines()) == 1
    assert said.out.startswith("run: ")
    assert archived in said.out


def test_a_finished_run_says_that_nothing_was_left_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", "mapper", "-o", "run"], {}) == 0
    assert "there was nothing left to do" not in capsys.readouterr().out
    assert main(["ingest", "run", "--until", "23:59"], {}) == 0
    assert "there was nothing left to do" in capsys.readouterr().out


@pytest.mark.parametrize("until", ["2020-01-01T06:00", "06:00"])
def test_a_finished_run_is_finished_whatever_time_it_was_given(until: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", "mapper", "-o", "run"], {}) == 0
    capsys.readouterr()
    assert main(["ingest", "run", "--until", until], {}) == 0
    assert "there was nothing left to do" in capsys.readouterr().out


def test_no_number_of_a_journey_in_norwegian_has_a_decimal_point(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mapper/sak 1/stor.txt").write_bytes(b"a" * 1_551_234)
    Path("mapper/2.fil").write_bytes(b"b")
    for line in (
        ["scan", "mapper"],
        ["plan", "mapper", "-o", "run"],
        ["ingest", "run"],
        ["verify", "run", "--depth", "bytes", "--sample", "2.5%"],
        ["convert", "mapper", "--as", "bagit", "-o", "bag"],
    ):
        assert main(["--lang", "nb", *line], {}) in (0, 3), line
    said = capsys.readouterr()
    pages = [
        re.sub(r"<(style|svg).*?</\1>", "", page.read_text("utf-8"), flags=re.S) for page in Path().glob("run/*.html")
    ]
    assert len(pages) == 3
    for text in (said.out, said.err, *pages):
        assert re.findall(r"\d\.\d+\s*(?:%|[kMG]?B)", text) == []
    assert any("2,5 %" in page for page in pages)


def test_numbers_in_norwegian_have_a_decimal_comma(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mapper/sak 1/stor.txt").write_bytes(b"a" * 1_551_234)
    assert main(["--lang", "nb", "scan", "mapper"], {}) == 0
    assert "1,6 MB" in capsys.readouterr().out


def test_the_commonest_years_are_shown_in_order_where_not_all_are(capsys: pytest.CaptureFixture[str]) -> None:
    for year in range(1990, 2010):
        for copy in range(3 if year == 2009 else 1):
            file = Path(f"mapper/{year}-{copy}.txt")
            file.write_text(str(year))
            os.utime(file, (0, (year - 1970) * 365.25 * 86400 + 40 * 86400))
    assert main(["scan", "mapper"], {}) == 0
    years = [
        line.split()[0] for line in capsys.readouterr().out.splitlines() if line[:4] == "  19" or line[:4] == "  20"
    ]
    assert "2009" in years
    assert years == sorted(years)
