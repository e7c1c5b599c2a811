"""What a command says last, what it leaves out unasked, and that a remedy names what helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.cli.main import main

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / "cases" / name).mkdir(parents=True)
        for number in range(3):
            (tmp_path / "cases" / name / f"{number}.txt").write_text(f"{name} {number}", "utf-8")
    (tmp_path / "cases" / "b" / "empty.txt").touch()


def lines_printed(capsys: Captured, *words: str, code: int = 0) -> list[str]:
    capsys.readouterr()
    assert main([*words], {}) == code
    return capsys.readouterr().out.splitlines()


def test_a_plan_says_keys_versions_batches_and_its_checksum_only_when_asked(capsys: Captured) -> None:
    text = "\n".join(lines_printed(capsys, "plan", "cases", "-o", "run"))
    assert not any(word in text for word in ("EksternId", "Dokumentversjon", "sha256", "Batches"))
    more = "\n".join(lines_printed(capsys, "plan", "cases", "-o", "more", "-v"))
    assert all(word in more for word in ("EksternId", "Dokumentversjon", "sha256", "Batches"))
    assert lines_printed(capsys, "plan", "cases", "-o", "quiet", "-q") == [
        "quiet: planned; read 7, to be loaded 7, already there 0, set aside 0, skipped 0"
    ]


def test_the_verdict_of_a_verification_stands_last_and_what_compares_more_before_it(capsys: Captured) -> None:
    lines_printed(capsys, "ingest", "cases", "-o", "run")
    *before, verdict = lines_printed(capsys, "verify", "run")
    assert verdict == "Verified in part: no differences. Not compared: files: 7 (outside this --depth)."
    assert before[-1].startswith("To compare every byte: noarkit verify run --depth bytes")
    assert not any(line.startswith(("EksternId", "The totals add up")) for line in before)
    assert lines_printed(capsys, "verify", "run", "--depth", "bytes")[-1].startswith(
        "Verified: source, run and archive agree"
    )


def test_validation_says_what_was_found_and_not_what_should_hold(capsys: Captured) -> None:
    lines_printed(capsys, "ingest", "cases", "-o", "run")
    lines_printed(capsys, "extract", "-o", "out", code=3)
    lines = lines_printed(capsys, "validate", "out", code=3)
    assert "N406  warning  1  The document file is empty" in lines
    assert not any("No document file is empty" in line for line in lines)


def test_what_was_found_is_said_of_all_places_only_if_it_is_the_same_in_all(capsys: Captured) -> None:
    for name in ("a1.db", "a2.db", "a3.db", "z.exe"):
        Path("cases", "a", name).write_bytes(b"\x00\x01" + name.encode())
    lines_printed(capsys, "ingest", "cases", "-o", "run")
    lines_printed(capsys, "extract", "-o", "out", code=3)
    lines = lines_printed(capsys, "validate", "out", code=3)
    at = lines.index("N410  warning  4  places do not follow the rule: Documents are in an archival format")
    assert all(line.endswith(".db: db is not accepted for deposit") for line in lines[at + 1 : at + 4])
    assert all(line.count(".db") == 1 for line in lines[at + 1 : at + 4])


def test_many_objects_that_stay_are_told_by_their_reasons(capsys: Captured) -> None:
    lines_printed(capsys, "ingest", "cases", "-o", "run")
    lines = lines_printed(capsys, "retract", "run", code=3)
    assert sum(" stay. Reason: " in line for line in lines) == 2
    assert not any(line.startswith("stays: ") for line in lines)
    assert (
        len([line for line in lines_printed(capsys, "retract", "run", "-v", code=3) if line.startswith("stays: ")]) > 20
    )


def test_a_person_who_is_nowhere_was_not_found(capsys: Captured) -> None:
    lines_printed(capsys, "ingest", "cases", "-o", "run")
    number = Path("number.txt")
    number.write_text("13097248022", "utf-8")
    number.chmod(0o600)
    lines = lines_printed(capsys, "find-person", "run", "--id", "number.txt", "--because", "request 2026/88")
    assert lines[-2:] == ["The person was not found.", "Everything was searched."]


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("plan", "cases", "-o", "run"), "To load the plan: noarkit ingest run. To make another, name another folder"),
        (("status", "nosuch"), "List the runs that are here: noarkit runs"),
        (("recipe", "check", "nosuch.toml"), "noarkit recipe new proposes a recipe for a source."),
        (("recipe", "new", "cases"), "noarkit recipe new cases -o cases.toml"),
        (("connect", "crm:main"), "Add the connection to noarkit.toml: noarkit help services"),
        (("help", "F250"), "noarkit help faults"),
    ],
)
def test_a_remedy_names_what_helps(words: tuple[str, ...], remedy: str, capsys: Captured) -> None:
    lines_printed(capsys, "plan", "cases", "-o", "run")
    assert main([*words], {}) == 2
    assert remedy in capsys.readouterr().err
