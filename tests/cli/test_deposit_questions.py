"""A question of a project says which files are meant, who publishes them and where they go."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.forms.noark5.spec import schema_files
from noarkit.words.texts import LANGUAGES


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_schemas_are_asked_for_by_publisher_and_set_and_explained_by_file(
    lang: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("share").mkdir()
    Path("share/letter.txt").write_text("letter")
    assert main(["deposit", "new", "share", "-o", "p", "--no-copies", "--lang", lang], {}) == 0
    asked = next(line for line in capsys.readouterr().out.splitlines() if "[package] schemas" in line)
    assert "Arkivverket" in asked and "Noark 5" in asked and "5.0" in asked and "ADDML 8.3" in asked
    monkeypatch.setattr("sys.stdin", io.StringIO("?\n"))
    main(["deposit", "p", "--ask", "--lang", lang], {})
    explained = next(line for line in capsys.readouterr().err.splitlines() if "addml.xsd" in line)
    assert all(name in explained for name in schema_files("5.0"))
    assert "noark5-xsd" in explained and "Arkivverket" in explained
