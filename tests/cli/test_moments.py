"""Commands tell moments in one form: the configured zone with its name; machines get ISO 8601."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from noarkit.cli.main import main

Output = pytest.CaptureFixture[str]
_SPOKEN = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d CES?T\b")
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")


@pytest.fixture(autouse=True)
def _planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.txt").write_text("a")
    assert main(["plan", "files", "-o", "run"], {}) == 0


@pytest.mark.parametrize(
    "words", [["approve", "run", "--by", "Kari"], ["runs"], ["show", "run", "a.txt"]], ids=lambda words: words[0]
)
def test_a_command_tells_moments_in_the_zone_and_a_program_gets_iso(words: list[str], capsys: Output) -> None:
    capsys.readouterr()
    assert main(words, {}) == 0
    shown = capsys.readouterr().out
    assert _SPOKEN.search(shown), shown
    assert not _ISO.search(shown), shown
    if words[0] != "runs":
        main([*words, "--json"], {})
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert _ISO.search(json.dumps(lines[0])) and not _SPOKEN.search(json.dumps(lines[0]))


def test_the_page_of_a_plan_tells_moments_in_the_same_form() -> None:
    page = Path("run/plan.html").read_text("utf-8")
    assert _SPOKEN.search(page)
    assert "UTC" not in page
