"""Faults of usage and help speak the language of their reader: of an option, a variable, the config or the locale."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from noarkit.cli.main import COMMANDS, GROUPS, main

ENGLISH = re.compile(
    r"\b(?:is|not|the|of|value|missing|invalid|option|requires?|takes?|extra|unexpected|exist|command|try"
    r"|directory|file|readable|range|valid|there|must|cannot|with|and)\b(?!-)",
    re.IGNORECASE,
)
WRONG = (
    "plan",
    "plan --nosuch",
    "ingest x --workers abc",
    "ingest x --workers 999",
    "scan --progress x",
    "browse --port",
    "version more",
    "plan . --hash=3",
    "serve --port 99999999",
    "extract -o",
    "--hook start",
    "init a b",
    "convert . -o out",
    "config show more",
    "exract",
    "recipe",
    "connect",
    "standin nosuch",
    "estimate run --workers 0",
    "validate . --report pdf",
    "key",
    "plan . --recipe nosuch.toml -o r",
    "plan . --copies nosuch -o r",
    "init notat.txt",
    "report --json",
    "ls --sort",
)


def fault_text(line: str, environment: dict[str, str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(line.split(), environment) == 2, line
    return capsys.readouterr().err


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_line_is_told_in_norwegian_alone(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notat.txt").write_text("x", "utf-8")
    text = fault_text(line, {"LANG": "nb_NO.UTF-8"}, capsys)
    commands = re.sub(r"noarkit [\w-]+|--?[\w-]+|'\w+'", "", text)
    assert ENGLISH.findall(commands) == [], text


def test_the_language_is_that_of_the_nearest_who_says_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    nb, en = "Det mangler et argument", "An argument is missing"
    assert en in fault_text("plan", {}, capsys)
    assert en in fault_text("plan", {"LANG": "en_GB.UTF-8"}, capsys)
    assert nb in fault_text("plan", {"LANG": "en_GB.UTF-8", "LC_ALL": "nn_NO"}, capsys)
    assert en in fault_text("plan", {"LANG": "nb_NO", "NOARKIT_LANG": "en"}, capsys)
    assert en in fault_text("plan --lang en", {"LANG": "nb_NO"}, capsys)
    Path("noarkit.toml").write_text('lang = "nb"\n', "utf-8")
    assert nb in fault_text("plan", {"LANG": "en_GB.UTF-8"}, capsys)
    assert main(["--help"], {}) == 0
    assert "Last inn" in capsys.readouterr().out
    Path("noarkit.toml").write_text('lang = "en"\n', "utf-8")
    assert en in fault_text("plan", {"LANG": "nb_NO"}, capsys)
    Path("other.toml").write_text('lang = "nb"\n', "utf-8")
    assert nb in fault_text("plan --config other.toml", {}, capsys)


def test_each_command_stands_in_one_group() -> None:
    assert sorted(COMMANDS) == sorted(name for names in GROUPS.values() for name in names)
    assert len(COMMANDS) == len(set(COMMANDS))


@pytest.mark.parametrize("lang", ["en", "nb"])
def test_help_without_a_command_fits_on_a_screen(lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help", "--lang", lang], {"COLUMNS": "100"}) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 30
    assert set(COMMANDS) <= set(" ".join(lines).split())


@pytest.mark.parametrize(
    ("line", "sentence", "remedy"),
    [
        (
            "ingest notat.txt -o run --max-rate x",
            "En hastighet skrives slik",
            "Valg og eksempler: noarkit ingest --help",
        ),
        ("verify . --nosuch", "Det finnes ikke noe slikt valg.", "Valg og eksempler: noarkit verify --help"),
        ("extract", "Et obligatorisk valg mangler.", "Valg og eksempler: noarkit extract --help"),
        ("extract -o x --from y", "y er ikke en dato på formen", "Valg og eksempler: noarkit extract --help"),
    ],
)
def test_a_wrong_use_leads_to_the_help_of_its_command(
    line: str,
    sentence: str,
    remedy: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notat.txt").write_text("x", "utf-8")
    text = fault_text(f"{line} --lang nb", {}, capsys)
    assert sentence in text
    assert remedy in text
