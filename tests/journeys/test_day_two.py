"""A project on its second day: a register row, a recipe, a document is another. What is said beforehand comes about,
every face says the same, and the command that is printed leads on."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from noarkit.errors import UsageFault
from noarkit.model.organisation_numbers import normal_number
from noarkit.wings import EXTRAS, extra_command
from tests.journeys.deposits import answer, go_on, new_project, noarkit, states
from tests.journeys.faces import first_number, page_rows, page_text
from tests.journeys.old_share import Share, make_share
from tests.journeys.share_register import make_register

VERDICT_STOP = "have other values in the source than in the archive"


@pytest.fixture
def with_register(tmp_path: Path) -> tuple[Path, Share]:
    """A project whose cases stand in a register, loaded to a package."""
    share = make_share(tmp_path / "share", cases_a_year=2)
    make_register(share, "csv")
    assert noarkit("deposit", "new", "share", "-o", "p", "--no-copies", cwd=tmp_path).returncode == 0
    answer(tmp_path)
    recipe = tmp_path / "p" / "recipe.toml"
    text = recipe.read_text("utf-8").replace('no_folder = "ask"', 'no_folder = "make"')
    recipe.write_text(text.replace('no_row = "ask"', 'no_row = "report"'), "utf-8")
    go_on(tmp_path, code=4)
    go_on(tmp_path, "--approve", "--by", "Kari", code=3)
    return tmp_path, share


def correct_row(cwd: Path, number: str, title: str = "Rettet tittel", party: str = "Rettet Part") -> None:
    """Gives a case of the register another title, where one is given, and another party or none."""
    register = cwd / "share" / "Saksregister.csv"
    lines = register.read_text("utf-8").splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith(f'"{number}"'))
    cells = [cell.strip('"') for cell in lines[at].split(";")]
    cells[1], cells[3] = title or cells[1], party
    lines[at] = ";".join(f'"{cell}"' for cell in cells)
    register.write_text("\n".join(lines) + "\n", "utf-8")


def printed(said: str, beginning: str) -> list[str]:
    """The command that begins so, as it was printed."""
    match = re.search(rf"(noarkit {beginning}.*?)(?: {{3,}}|[.:]? *$|\. [A-ZÅ])", said, re.MULTILINE)
    assert match is not None, said
    return shlex.split(match[1])[1:]


def verdict_of(cwd: Path, package: str) -> dict[str, dict[str, object]]:
    """The reasons that a package is not ready, by their codes, as `validate` says them to programs."""
    done = noarkit("validate", package, "--json", cwd=cwd)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {reason["code"]: reason for line in lines for reason in line.get("reasons", ())}


def xml_of(package: Path) -> str:
    return (package / "arkivstruktur.xml").read_text("utf-8")


def test_a_corrected_row_is_told_everywhere_and_the_way_that_is_printed_brings_it_into_a_package(
    with_register: tuple[Path, Share],
) -> None:
    cwd, share = with_register
    number = next(iter(share.cases.values()))[0]
    correct_row(cwd, number)
    told = f"1 case has other values in the source than in the archive: {number}: Title, Party"
    said = go_on(cwd, code=4)
    assert told in said, "the plan says it"
    assert told in noarkit("deposit", "status", "p", cwd=cwd).stdout, "and so does the status"
    assert told in page_text(cwd / "p" / "run-2" / "plan.html")
    assert number in (cwd / "p" / "run-2" / "other-values.csv").read_text("utf-8-sig")

    loaded = go_on(cwd, "--approve", "--by", "Kari", code=3)
    assert told in loaded, "and the load"
    assert "not ready for deposit unless the receiving archive accepts it" in said, "whoever approves knows it before"
    assert "agree in everything" not in loaded, "a case differs, so not everything agrees"
    assert VERDICT_STOP in loaded and f"{number} (tittel, part)" in loaded
    reason = verdict_of(cwd, "p/package-2")["other-values"]
    assert (reason["grade"], reason["count"], reason["units"]) == ("stops", 1, f"{number} (tittel, part)")
    assert "Rettet tittel" not in xml_of(cwd / "p" / "package-2")

    go_on(cwd, "--accept", "other-values", "--by", "Kari", code=3)
    anew = noarkit(*printed(loaded, "deposit new"), cwd=cwd)
    assert anew.returncode == 0
    assert "is not taken over, since its package will be another: other-values" in anew.stdout + anew.stderr
    assert noarkit("deposit", "p-2", cwd=cwd).returncode == 4
    done = noarkit("deposit", "p-2", "--approve", "--by", "Kari", cwd=cwd)
    assert done.returncode == 3 and VERDICT_STOP not in done.stdout
    assert "Verified: source, run and archive agree in everything" in done.stdout
    assert "Rettet tittel" in xml_of(cwd / "p-2" / "package") and "Rettet Part" in xml_of(cwd / "p-2" / "package")
    assert "Rettet tittel" not in xml_of(cwd / "p" / "package-2"), "the other archive is as it was"


def test_a_party_that_is_named_no_more_is_told(with_register: tuple[Path, Share]) -> None:
    cwd, share = with_register
    number = next(iter(share.cases.values()))[0]
    correct_row(cwd, number, title="", party="")
    assert f"1 case has other values in the source than in the archive: {number}: Party" in go_on(cwd, code=4)


def test_a_correction_that_is_taken_back_is_told_no_longer(with_register: tuple[Path, Share]) -> None:
    cwd, share = with_register
    register = cwd / "share" / "Saksregister.csv"
    before = register.read_bytes()
    correct_row(cwd, next(iter(share.cases.values()))[0])
    go_on(cwd, code=4)
    go_on(cwd, "--approve", "--by", "Kari", code=3)
    register.write_bytes(before)
    assert "other values" not in go_on(cwd, code=4)
    assert VERDICT_STOP not in go_on(cwd, "--approve", "--by", "Kari", code=3)


def test_a_corrected_recipe_is_told_before_it_is_approved_and_a_new_project_has_it_right(tmp_path: Path) -> None:
    new_project(tmp_path)
    answer(tmp_path)
    go_on(tmp_path, code=4)
    go_on(tmp_path, "--approve", "--by", "Kari", code=3)
    recipe = tmp_path / "p" / "recipe.toml"
    text = recipe.read_text("utf-8")
    corrected = text.replace("join(' / '))", "join(' / ')) | upper")
    assert corrected != text
    recipe.write_text(corrected, "utf-8")
    said = go_on(tmp_path, code=4)
    count = sum(path.suffix in (".docx", ".txt") for path in (tmp_path / "share").rglob("*"))
    assert f"{count} records in the archive would get other values by this source and recipe" in said
    assert re.search(r"^Will be loaded +0$", said, re.MULTILINE)

    # whoever loads it all the same is told the same, and is not sent round in circles
    loaded = go_on(tmp_path, "--approve", "--by", "Kari", code=3)
    assert VERDICT_STOP in loaded
    assert states(tmp_path)["verify"] == "done"

    assert noarkit(*printed(said, "deposit new"), cwd=tmp_path).returncode == 0
    assert (tmp_path / "p-2" / "recipe.toml").read_text("utf-8") == corrected
    noarkit("deposit", "p-2", cwd=tmp_path)
    done = noarkit("deposit", "p-2", "--approve", "--by", "Kari", cwd=tmp_path)
    assert done.returncode == 3 and VERDICT_STOP not in done.stdout, done.stdout
    assert "01 SØKNAD.DOCX" in xml_of(tmp_path / "p-2" / "package")


def test_a_plan_that_nobody_approved_is_not_what_the_next_one_follows(tmp_path: Path) -> None:
    new_project(tmp_path)
    answer(tmp_path)
    go_on(tmp_path, code=4)
    go_on(tmp_path, "--approve", "--by", "Kari", code=3)
    for name in ("en", "to"):
        (next((tmp_path / "share" / "Saksmapper" / "2014").iterdir()) / f"nytt {name}.txt").write_text(name)
        said = go_on(tmp_path, code=4)
        assert "--since p/run " in said.replace("\n", " ")
    assert re.search(r"^Will be loaded +2$", said, re.MULTILINE)


@pytest.fixture
def with_copies(tmp_path: Path) -> Path:
    """A project of letters that are copied as PDF/A, loaded to a package."""
    make_share(tmp_path / "share", cases_a_year=1)
    for path in (tmp_path / "share").rglob("*"):
        if path.is_file() and path.suffix != ".txt":
            path.unlink()
    assert noarkit("deposit", "new", "share", "-o", "p", cwd=tmp_path).returncode == 0
    answer(tmp_path)
    go_on(tmp_path, code=4)
    go_on(tmp_path, "--approve", "--by", "Kari", code=3)
    return tmp_path


def test_a_new_version_of_a_document_is_known_to_the_verification_of_the_run_before(with_copies: Path) -> None:
    cwd = with_copies
    first = min((cwd / "share").rglob("*.txt"))
    first.write_bytes("Et rettet brev på æøå".encode("latin-1"))
    count = sum(1 for path in (cwd / "share").rglob("*.txt"))
    plan = go_on(cwd, code=4)
    loaded = go_on(cwd, "--approve", "--by", "Kari", code=3)
    rows = {row[0]: row[1] for row in page_rows(cwd / "p" / "run-2" / "plan.html") if len(row) == 3}
    for name, number in (("archived", 0), ("already there", count)):
        ours = "will be loaded" if name == "archived" else name
        (of_plan,) = (line for line in plan.splitlines() if line.lower().startswith(ours))
        (of_load,) = (line for line in loaded.splitlines() if line.startswith(f"  {name}"))
        assert [first_number(of_plan), int(rows[ours]), first_number(of_load)] == [number] * 3, ours
    assert "1 of them with new or changed documents" in plan and re.search(r"new versions +1 ", loaded)
    status = noarkit("deposit", "status", "p", cwd=cwd).stdout
    assert f"Documents: {count}; 1 with a copy, {count - 1} that need none, 0 with" in status, "the sum is whole"

    page = (cwd / "p" / "run" / "report.html").read_text("utf-8")
    command = re.search(r"noarkit (verify [^<]*)", page)
    assert command is not None
    done = noarkit(*shlex.split(command[1]), cwd=cwd)
    assert (done.returncode, "V221" in done.stdout) == (3, False), done.stdout
    assert "changed in the source" in done.stdout, "the earlier run loaded the document as it was then"
    assert "load" not in verdict_of(cwd, "p/package-2")
    assert states(cwd)["verify"] == "done", "the verdict and the status say the same"


def test_what_verification_found_wrong_waits_for_a_person_in_status_too(with_copies: Path) -> None:
    cwd = with_copies
    files = [path for path in (cwd / "p" / "archive" / "files").rglob("*") if path.is_file()]
    damaged, before = files[0], files[0].read_bytes()
    damaged.chmod(0o600)
    damaged.write_bytes(before + b"!")
    said = noarkit("deposit", "p", "--from", "verify", cwd=cwd)
    assert said.returncode == 7
    assert states(cwd)["verify"] == "waiting"
    again = go_on(cwd, code=7)
    assert "p/run is not verified: 1 difference" in again and "$ noarkit verify" not in again
    assert "load" in verdict_of(cwd, "p/package")
    damaged.write_bytes(before)
    assert noarkit(*printed(again, "deposit p --from"), cwd=cwd).returncode == 3
    assert states(cwd)["verify"] == "done"
    assert "load" not in verdict_of(cwd, "p/package-2")


def put_number_in_title(cwd: Path) -> str:
    """A document whose name bears a national identity number; the number."""
    number = "01010750160"
    (next((cwd / "share" / "Saksmapper" / "2014").iterdir()) / f"08 Klage fra {number}.txt").write_text("x")
    return number


def test_identity_numbers_are_accepted_by_nobody_along_with_other_reasons(tmp_path: Path) -> None:
    make_share(tmp_path / "share", cases_a_year=1)
    put_number_in_title(tmp_path)
    assert noarkit("deposit", "new", "share", "-o", "p", "--no-copies", cwd=tmp_path).returncode == 0
    answer(tmp_path)
    go_on(tmp_path, code=4)
    said = go_on(tmp_path, "--approve", "--by", "Kari", code=3)
    bundled = [line for line in said.splitlines() if "receiving archive agrees" in line]
    assert len(bundled) == 1 and "--accept formats" in bundled[0] and "identity-numbers" not in bundled[0]
    (alone,) = (line for line in said.splitlines() if "--accept identity-numbers" in line and "deposit p" in line)
    assert "[personal_data]" in alone
    listing = printed(alone, "validate")
    assert noarkit(*listing, cwd=tmp_path).returncode == 3
    assert "registrering tittel contains a national identity number" in page_text(tmp_path / listing[-1])

    accepted = go_on(tmp_path, *printed(bundled[0], "deposit p")[2:], "Kari", code=3)
    assert re.search(r"stops .*identity number.*: \d", accepted), "which still keeps the package back"


ANSWERS = (
    ("package.schemas", "nowhere/at-all", "There is no folder nowhere/at-all", "", ""),
    ("package.schemas", "share", "does not hold the official schemas", "", ""),
    ("creator.name", "", "needs an answer", "Sætre", "Sætre"),
    ("creator.identification", "abc", "abc is not an organisation number", "974 760 673", "974760673"),
    ("creator.identification", "974760674", "the last one checks the others", "", ""),
    ("creator.identification", "?", "Enhetsregisteret", "NO 974 760 673 MVA", "974760673"),
    ("system.name", "?", "Where the records were kept before", "Filserver", "Filserver"),
    ("source.case_name", "perhaps", "perhaps is not one of yes, no", "yes", None),
)


@pytest.mark.parametrize(("key", "bad", "why", "good", "written"), ANSWERS)
def test_an_answer_that_cannot_be_one_is_asked_for_again(
    key: str, bad: str, why: str, good: str, written: str | None, tmp_path: Path
) -> None:
    new_project(tmp_path)
    usual = {"package.schemas": "", "creator.name": "Sætre", "creator.identification": "", "system.name": "Filserver"}
    lines = [
        line
        for name, text in {**usual, "system.type": "Filområde", "source.case_name": "yes"}.items()
        for line in ([bad] if name == key else []) + [good if name == key else text]
    ]
    command = [sys.executable, "-m", "noarkit", "deposit", "p", "--ask", "--to", "recipe"]
    text = "".join(f"{line}\n" for line in lines)
    done = subprocess.run(command, cwd=tmp_path, input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, why in done.stderr) == (0, True), done.stderr
    if written is not None:
        section, name = key.split(".")
        document = tomllib.loads((tmp_path / "p" / "deposit.toml").read_text("utf-8"))
        assert document[section][name] == written


def test_a_folder_of_schemas_that_is_not_there_is_told_before_anything_is_loaded(tmp_path: Path) -> None:
    new_project(tmp_path)
    answer(tmp_path)
    file = tmp_path / "p" / "deposit.toml"
    file.write_text(file.read_text("utf-8").replace('schemas = ""', 'schemas = "gone"'), "utf-8")
    said = go_on(tmp_path, code=4)
    assert "gone" in said and "$ noarkit plan" not in said
    assert said.rstrip().splitlines()[-1] == "What is listed above must be corrected first (exit code 4)."


def test_a_municipality_number_is_told_with_an_example(tmp_path: Path) -> None:
    new_project(tmp_path)
    recipe = tmp_path / "p" / "recipe.toml"
    recipe.write_text(recipe.read_text("utf-8") + '\n[defaults.Eiendom]\nknr = "sætre"\n', "utf-8")
    said = noarkit("recipe", "check", "p/recipe.toml", cwd=tmp_path)
    assert "knr must have four digits, for example 1413" in said.stdout + said.stderr


def test_what_waits_for_a_person_says_last_that_nothing_is_wrong(tmp_path: Path) -> None:
    new_project(tmp_path)
    done = noarkit("deposit", "p", cwd=tmp_path)
    assert done.returncode == 4
    assert done.stderr.rstrip().splitlines()[-1].startswith("Nothing is wrong: the questions above wait for answers")
    answer(tmp_path)
    done = noarkit("deposit", "p", cwd=tmp_path)
    assert done.returncode == 4
    assert done.stderr.rstrip().splitlines()[-1].startswith("Nothing is wrong: the plan waits for a person")


@pytest.mark.parametrize("number", ["974760673", "971032146", "938 801 363"])
def test_numbers_of_organisations_that_there_are(number: str) -> None:
    assert normal_number(number) == number.replace(" ", "")
    digits = number.replace(" ", "")
    assert normal_number(digits[:-1] + str((int(digits[-1]) + 1) % 10)) is None


def test_every_extra_is_installed_by_a_command_of_one_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    text = Path("pyproject.toml").read_text("utf-8")
    for extra in EXTRAS:
        assert re.search(rf"(?m)^{extra} = \[", text), extra
        assert extra_command(extra) == f"pip install 'noarkit[{extra}]'"
    assert "pip install '.[copies]'" in Path("README.md").read_text("utf-8"), "what the road to a deposit needs"
    stray = [path for path in Path("noarkit").rglob("*.py") if "pip install 'noarkit[" in path.read_text("utf-8")]
    assert stray == [Path("noarkit/wings.py")]


def test_a_missing_extra_is_told_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    from noarkit.sources.files import puids

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageFault) as fault:
        puids.Puids()
    assert fault.value.data["do"] == "pip install 'noarkit[pronom]'"
