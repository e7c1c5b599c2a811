"""The other validators of E-ARK packages are asked in a place of their own, and their known false alarms are named."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from noarkit.errors import UsageFault
from noarkit.forms.eark.rules.run import validate_eark
from noarkit.forms.eark.rules.second import second_opinion
from noarkit.forms.findings import Opinion, ValidateResult
from samples.packages.eark import Draft, good, write_folder, write_tar
from samples.packages.eark_bad import BAD_PACKAGES


def message(rule: str, severity: str = "Error") -> dict[str, str]:
    """A message in the shape of eark-validator's."""
    return {"rule_id": rule, "severity": severity, "location": "/mets:mets", "message": f"{rule} is broken"}


def eark_answer(*rules: str) -> str:
    """What eark-validator prints."""
    answer = {
        "uid": "1",
        "structure": {"status": "WellFormed", "messages": [message("CSIPSTR3", "Info")]},
        "metadata": {
            "schema_results": {"status": "VALID", "messages": []},
            "schematron_results": {"status": "INVALID", "messages": [message(rule) for rule in rules]},
        },
    }
    return f"Path x, struct result is: WellFormed\n{json.dumps(answer)}"


def commons_answer(*rules: str) -> str:
    """What commons-ip writes."""
    tests = [
        {"specification": "CSIP", "id": rule, "level": "MUST", "testing": {"outcome": outcome, "issues": issues}}
        for rule, outcome, issues in [("CSIP1", "PASSED", []), *((rule, "FAILED", [f"{rule} fails"]) for rule in rules)]
    ]
    return json.dumps({"header": {}, "validation": tests, "summary": {"result": "INVALID" if rules else "VALID"}})


def fake(folder: Path, body: str) -> str:
    """A command that does what `body` says; `package` and `out` are its two arguments."""
    script = folder / "tool.py"
    script.write_text(f"import os, pathlib, sys\nout, package = map(pathlib.Path, sys.argv[1:])\n{body}\n", "utf-8")
    return shlex.join([sys.executable, str(script), "{out}"])


def prints(folder: Path, answer: str) -> str:
    """A command that prints an answer."""
    (folder / "answer.txt").write_text(answer, "utf-8")
    return fake(folder, f"print(pathlib.Path({str(folder / 'answer.txt')!r}).read_text())")


def asked(draft: Draft, folder: Path, command: str) -> tuple[ValidateResult, Opinion]:
    """Our report, and the other's opinion."""
    path = write_folder(draft, folder)
    report = validate_eark(path)
    return report, second_opinion(path, report, command)


def test_known_false_alarms_are_taken_out_and_named(tmp_path: Path) -> None:
    command = prints(tmp_path, eark_answer("CSIP12", "CSIP63", "CSIP103", "SIP14", "SIP2"))
    report, opinion = asked(good(), tmp_path, command)
    assert report.valid and opinion.valid
    assert opinion.known_reasons == ("CSIP103", "CSIP12", "CSIP63", "SIP14", "SIP2")
    assert (opinion.tool, opinion.rules, opinion.messages) == ("eark-validator", (), ())


def test_a_profile_it_knows_is_no_false_alarm(tmp_path: Path) -> None:
    _, opinion = asked(good("SIP", "2.1.0"), tmp_path, prints(tmp_path, eark_answer("SIP2")))
    assert (opinion.valid, opinion.rules) == (False, ("SIP2",))


def test_an_alarm_that_we_raise_too_is_believed(tmp_path: Path) -> None:
    bad = next(bad for bad in BAD_PACKAGES if bad.code == "CSIP16")
    report, opinion = asked(bad.draft(), tmp_path, prints(tmp_path, eark_answer("CSIP16", "CSIP63")))
    assert not report.valid and not opinion.valid
    assert (opinion.rules, opinion.known_reasons) == (("CSIP16",), ("CSIP63",))
    assert opinion.messages == ("CSIP16: CSIP16 is broken",)


def test_where_the_two_disagree_the_rule_is_named(tmp_path: Path) -> None:
    _, opinion = asked(good(), tmp_path, prints(tmp_path, eark_answer("CSIP60")))
    assert (opinion.valid, opinion.rules) == (False, ("CSIP60",))


def test_a_report_that_is_written_is_read_where_nothing_is_printed(tmp_path: Path) -> None:
    (tmp_path / "answer.txt").write_text(commons_answer("CSIP71", "SIP15"), "utf-8")
    body = f"(out / 'report.json').write_text(pathlib.Path({str(tmp_path / 'answer.txt')!r}).read_text())"
    _, opinion = asked(good(), tmp_path, fake(tmp_path, body))
    assert (opinion.tool, opinion.valid, opinion.rules) == ("commons-ip", False, ("CSIP71",))
    assert opinion.known_reasons == ("SIP15",)
    assert opinion.messages == ("CSIP71: CSIP71 fails",)


def test_it_is_shown_a_folder_and_leaves_nothing_behind(tmp_path: Path) -> None:
    body = (
        "assert (package / 'METS.xml').is_file() and pathlib.Path.cwd() == out.resolve()\n"
        f"(pathlib.Path(os.environ['TMPDIR']) / 'left').write_text('x')\n"
        f"pathlib.Path({str(tmp_path / 'seen')!r}).write_text(str(out))\nprint({eark_answer()!r})"
    )
    path = write_tar(good(), tmp_path / "package.tar")
    opinion = second_opinion(path, validate_eark(path), fake(tmp_path, body))
    assert opinion.was_asked and opinion.valid
    assert not Path((tmp_path / "seen").read_text()).exists()


def test_a_package_that_could_lead_it_astray_is_not_shown(tmp_path: Path) -> None:
    command = fake(tmp_path, f"pathlib.Path({str(tmp_path / 'seen')!r}).write_text('x')")
    for code in ("EARK-HREF", "EARK-XML-HOSTILE"):
        bad = next(bad for bad in BAD_PACKAGES if bad.code == code)
        _, opinion = asked(bad.draft(), tmp_path / code, command)
        assert not opinion.was_asked
    assert not (tmp_path / "seen").exists()


def test_a_crash_is_an_answer_that_is_none(tmp_path: Path) -> None:
    _, opinion = asked(good(), tmp_path, fake(tmp_path, "raise TypeError('no file name')"))
    assert (opinion.was_asked, opinion.valid, opinion.rules, opinion.known_reasons) == (True, False, (), ())
    assert opinion.messages == ("TypeError: no file name",)


def test_its_crash_on_a_large_document_is_known(tmp_path: Path) -> None:
    draft = good()
    draft.edit("METS.xml", "</mets>", f"<!--{'x' * 70_000}--></mets>")
    script = tmp_path / "eark-validator"
    script.write_text(f"#!{sys.executable}\nraise SystemExit('crash')\n", "utf-8")
    script.chmod(0o755)
    _, opinion = asked(draft, tmp_path, str(script))
    assert (opinion.valid, opinion.known_reasons, opinion.messages) == (False, ("crashes-on-large-mets",), ("crash",))


@pytest.mark.parametrize("command", ["", "/nowhere/at/all"])
def test_a_command_that_cannot_be_run_is_a_fault_of_use(tmp_path: Path, command: str) -> None:
    with pytest.raises(UsageFault):
        asked(good(), tmp_path, command)


def test_one_that_never_ends_is_given_up(tmp_path: Path) -> None:
    path = write_folder(good(), tmp_path)
    command = fake(tmp_path, "import time\ntime.sleep(60)")
    with pytest.raises(UsageFault):
        second_opinion(path, validate_eark(path), command, patience_s=0.2)
