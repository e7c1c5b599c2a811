"""A second opinion by a command: what it says by rule ids is held against ours, and its known false alarms are none."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.errors import UsageFault
from noarkit.extraction.convert import ConvertOptions, convert
from noarkit.forms.second_opinion import agrees, disagreement, second_opinion
from noarkit.forms.validation import ValidateResult, validate


@pytest.fixture
def report(tmp_path: Path) -> ValidateResult:
    """Ours, of a good package."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.txt").write_text("a")
    convert(tmp_path / "files", tmp_path / "sip", ConvertOptions("eark-sip"))
    found = validate(tmp_path / "sip")
    assert found.valid
    return found


def saying(place: Path, text: str, code: int = 0) -> str:
    """A command that says this of any package, and ends so."""
    script = place / "says.py"
    script.write_text(f"import sys\nassert sys.argv[1].endswith('sip')\nprint({text!r})\nsys.exit({code})\n")
    return f"{sys.executable} {script}"


def test_a_command_that_finds_nothing_agrees(tmp_path: Path, report: ValidateResult) -> None:
    opinion = second_opinion(report, command=saying(tmp_path, "{}"))
    assert opinion is not None and opinion.valid and agrees(report, opinion)


def test_a_rule_that_it_alone_finds_broken_is_told(tmp_path: Path, report: ValidateResult) -> None:
    found = {"messages": [{"severity": "Error", "rule_id": "CSIP58"}, {"severity": "Error", "rule_id": "SIP14"}]}
    opinion = second_opinion(report, command=saying(tmp_path, json.dumps(found)))
    assert opinion is not None and not opinion.valid
    assert disagreement(report, opinion) == (("CSIP58",), ())
    assert (agrees(report, opinion), opinion.known_reasons) == (False, ("SIP14",))


def test_known_false_alarms_alone_are_no_disagreement(tmp_path: Path, report: ValidateResult) -> None:
    outcome = [{"id": "CSIP63", "testing": {"outcome": "FAILED"}}, {"id": "CSIP1", "testing": {"outcome": "PASSED"}}]
    opinion = second_opinion(report, command=saying(tmp_path, json.dumps(outcome)))
    assert opinion is not None and opinion.valid and agrees(report, opinion)
    assert opinion.rules == ("CSIP63",)


def test_text_is_read_by_its_lines_and_a_bad_end_counts(tmp_path: Path, report: ValidateResult) -> None:
    opinion = second_opinion(report, command=saying(tmp_path, "OK CSIP1\nERROR in CSIP2", 1))
    assert opinion is not None and opinion.rules == ("CSIP2",)
    silent = second_opinion(report, command=saying(tmp_path, "", 1) + " {}")
    assert silent is not None and not silent.valid and not agrees(report, silent)


def test_a_command_that_is_not_there_is_a_fault_of_use(report: ValidateResult) -> None:
    with pytest.raises(UsageFault):
        second_opinion(report, command="/nonexistent/validator")
    with pytest.raises(UsageFault):
        second_opinion(report, command=" ")
    assert second_opinion(replace(report, form="noark5")) is None
