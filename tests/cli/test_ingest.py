"""The journey of ingest on the command line: real folders, a real archive, every exit code that a run can end with."""

from __future__ import annotations

import csv
import json
import os
import signal
import sqlite3
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.archive.http import connect
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.token import Credentials
from noarkit.archive.values import Delete, Query
from noarkit.cli.contract import events
from noarkit.cli.main import main
from noarkit.embedded import EmbeddedArchive, open_embedded
from noarkit.loading.folder import RunFolder
from tests.cli.elsewhere import PROGRAM, environment
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.usefixtures("one_archive")

INFECTED = "sh -c '! grep -q INFECTED'"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedArchive]:
    """One archive that all tests of this module join; each has a source, and so keys, of its own."""
    with open_embedded(tmp_path_factory.mktemp("archive"), client_id="admin") as running:
        yield running


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test works in an empty folder, with nobody's own config."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in [name for name in os.environ if name.startswith("NOARKIT_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def run(archive: EmbeddedArchive) -> Callable[..., int]:
    """A command line in this process, with the archive named by the environment."""

    def call(*arguments: str) -> int:
        return main(arguments, {"HOME": os.environ["HOME"], "NOARKIT_ARCHIVE": f"embedded:{archive.data_dir}"})

    return call


def files(folder: Path, *names: str, text: str = "") -> Path:
    """A source with these files, and with texts that no other has."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text or folder.absolute()} {name}", encoding="utf-8")
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    """A list of a run, as a spreadsheet would read it."""
    return list(csv.DictReader(path.read_text("utf-8-sig").splitlines(), delimiter=";"))


def report(run_folder: Path) -> dict[str, object]:
    """What report.json says."""
    found: dict[str, object] = json.loads((run_folder / "report.json").read_text("utf-8"))
    return found


def test_two_commands_bring_a_folder_into_the_archive_and_a_third_proves_it(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = files(tmp_path / "src", "case/a.txt", "case/b.txt", "other/c.txt")
    assert run("plan", str(source), "-o", "run") == 0
    assert run("ingest", "run") == 0
    assert run("verify", "run", "--depth", "bytes") == 0
    shown = capsys.readouterr()
    assert "exit code 0" in shown.out
    assert "Files, byte for byte: 3 of 3" in shown.out
    assert shown.err.splitlines()[0].startswith("Archive: embedded:/")
    assert {row["key"] for row in rows(Path("run/ids.csv"))} == {"case/a.txt", "case/b.txt", "other/c.txt"}
    assert report(Path("run"))["verdict"] == "whole"
    assert len(list(Path("run").glob("verify-*.html"))) == 1
    for name in ("plan.html", "report.html", "run.log"):
        assert stat.S_IMODE(Path("run", name).stat().st_mode) == 0o600, name


def test_the_same_command_again_sends_nothing_twice(run: Callable[..., int], tmp_path: Path) -> None:
    source = files(tmp_path / "src", "case/a.txt", "case/b.txt")
    assert run("ingest", str(source), "-o", "run") == 0
    assert run("ingest", str(source), "-o", "run") == 0
    assert run("ingest", "run") == 0
    assert run("verify", "run") == 0
    assert report(Path("run"))["numbers"]["archived"] == 2  # type: ignore[index]  # JSON


def test_a_run_folder_is_not_taken_for_another_source(run: Callable[..., int], tmp_path: Path) -> None:
    assert run("plan", str(files(tmp_path / "src", "case/a.txt")), "-o", "run") == 0
    assert run("ingest", str(files(tmp_path / "other", "case/a.txt")), "-o", "run") == 2
    assert run("plan", str(tmp_path / "src"), "-o", "run") == 2
    assert run("ingest", str(tmp_path / "src")) == 2


def test_a_dry_run_sends_nothing_and_leaves_the_run_as_it_was(run: Callable[..., int], tmp_path: Path) -> None:
    source = files(tmp_path / "src", "case/a.txt")
    assert run("plan", str(source), "-o", "run") == 0
    before = sorted(path.name for path in Path("run").iterdir())
    assert run("ingest", "run", "--dry-run") == 0
    assert sorted(path.name for path in Path("run").iterdir()) == sorted({*before, "run.log"})
    assert run("verify", "run") == 7  # nothing was archived: nothing is proven
    assert run("ingest", "run") == 0


def test_what_the_sites_own_check_refuses_is_set_aside_and_taken_up_again(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = files(tmp_path / "src", "case/a.txt", "case/b.txt")
    files(source, "case/bad.txt", text="INFECTED")
    assert run("ingest", str(source), "-o", "run", "--check-command", INFECTED) == 3
    (left,) = rows(Path("run/set-aside.csv"))
    assert (left["key"], left["state"], left["code"]) == ("case/bad.txt", "set_aside", "F207")
    assert "F207: 1" in capsys.readouterr().out
    assert run("retry", "run", "--fault", "f201") == 3
    assert run("retry", "run", "--fault", "F207", "--check-command", INFECTED) == 3
    assert run("retry", "run", "--fault", "F207") == 0
    assert report(Path("run"))["verdict"] == "whole"
    assert run("verify", "run", "--depth", "bytes") == 0


def test_too_many_errors_stop_the_run_in_good_order(run: Callable[..., int], tmp_path: Path) -> None:
    source = files(tmp_path / "src", *(f"case {n}/a.txt" for n in range(5)), text="INFECTED")
    arguments = ("ingest", str(source), "-o", "run", "--check-command", INFECTED, "--workers", "0")
    assert run(*arguments, "--max-errors", "50%") == 11
    assert run(*arguments) == 3


def test_a_time_that_has_come_stops_the_run_and_the_next_window_goes_on(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = files(tmp_path / "src", "case/a.txt")
    assert run("ingest", str(source), "-o", "run", "--until", "2020-01-01T06:00") == 11
    assert "F406" in capsys.readouterr().err
    assert stat.S_IMODE(Path("run/plan.json").stat().st_mode) == 0o600
    told = report(Path("run"))
    assert (told["verdict"], dict(told["numbers"])["archived"]) == ("open", 0)  # type: ignore[call-overload]  # an object
    with closing(sqlite3.connect(Path("run/run.db"))) as journal:
        # not even the fonds it would go into
        assert {state for (state,) in journal.execute("SELECT state FROM chunk")} == {"planned"}
    assert run("ingest", "run") == 0


@pytest.mark.parametrize(
    "option",
    [
        ("--until", "half past"),
        ("--max-rate", "fast"),
        ("--max-errors", "many"),
        ("--check-command", "no-such-program-anywhere"),
    ],
)
def test_an_option_that_cannot_be_understood_is_told_before_anything_is_sent(
    run: Callable[..., int], tmp_path: Path, option: tuple[str, str]
) -> None:
    source = files(tmp_path / "src", "case/a.txt")
    assert run("ingest", str(source), "-o", "run", *option) == 2
    assert not Path("run/run.db").exists()


def test_a_record_gone_from_the_archive_is_a_mismatch_with_a_name(
    run: Callable[..., int], archive: EmbeddedArchive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = files(tmp_path / "src", "case/a.txt", "case/b.txt")
    recipe = tmp_path / "recipe.toml"
    assert run("recipe", "new", str(source), "-o", str(recipe)) == 0
    recipe.write_text(recipe.read_text("utf-8").replace("close = true", "close = false"), "utf-8")
    assert run("ingest", str(source), "--recipe", str(recipe), "-o", "run") == 0
    lost = next(row for row in rows(Path("run/ids.csv")) if row["key"] == "case/a.txt")
    credentials = Credentials(archive.client_id, archive.client_secret)
    with closing(connect(ArchiveSettings(archive.url, credentials, token_url=archive.token_url))) as direct:
        found = direct.query(Query(lost["type"], "id = @id", {"@id": lost["id"]}, limit=1)).objects
        direct.transaction((Delete(found[0].type, found[0].id),))
    assert run("verify", "run") == 7
    shown = capsys.readouterr()
    assert "NOT verified" in shown.out
    assert "F700" in shown.err
    proof = json.loads(next(Path("run").glob("verify-*.json")).read_text("utf-8"))
    assert ["V201", "case/a.txt"] in [[one["code"], one["key"]] for one in proof["findings"]]
    assert proof["good"] is False


def test_another_archive_than_the_runs_own_is_refused(run: Callable[..., int], tmp_path: Path) -> None:
    assert run("ingest", str(files(tmp_path / "src", "case/a.txt")), "-o", "run") == 0
    for command in ("ingest", "verify", "close"):
        assert run(command, "run", "--archive", f"embedded:{tmp_path / 'second'}") == 2


def test_a_source_that_is_gone_is_told_with_its_own_code(run: Callable[..., int], tmp_path: Path) -> None:
    source = files(tmp_path / "src", "case/a.txt")
    assert run("plan", str(source), "-o", "run") == 0
    source.rename(tmp_path / "away")
    assert run("ingest", "run") == 8
    assert run("plan", str(source), "-o", "second") == 8


def test_where_nothing_is_nobody_is_asked_for_a_run(run: Callable[..., int], tmp_path: Path) -> None:
    source = files(tmp_path / "src", "case/a.txt")
    for command in ("plan", "ingest"):
        assert run(command, "nowhere") == 8
        assert run(command, "gopher://nowhere.example") == 2
        assert run(command, "crm:nobody") == 2
        assert run(command, str(source)) == 2


def test_a_run_that_another_process_holds_is_left_alone(run: Callable[..., int], tmp_path: Path) -> None:
    assert run("plan", str(files(tmp_path / "src", "case/a.txt")), "-o", "run") == 0
    with RunFolder(Path("run")).locked():
        assert run("ingest", "run") == 9
        assert run("status", "run") == 0


def test_a_recipe_with_faults_is_told_line_by_line_and_makes_no_plan(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = files(tmp_path / "src", "case/a.txt")
    recipe = tmp_path / "mine.toml"
    assert run("recipe", "new", str(source), "-o", str(recipe)) == 0
    assert run("recipe", "check", str(recipe), str(source)) == 0
    assert run("recipe", "new", str(source), "-o", str(recipe)) == 2
    recipe.write_text(recipe.read_text("utf-8").replace("tittel", "titel"), "utf-8")
    capsys.readouterr()
    assert run("recipe", "check", str(recipe)) == 4
    assert "mine.toml:" in capsys.readouterr().out
    assert run("plan", str(source), "--recipe", str(recipe), "-o", "run") == 4
    assert "F410" in capsys.readouterr().err
    assert not Path("run").exists()


def test_status_and_runs_tell_what_became_of_each(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = files(tmp_path / "src", "case/a.txt")
    assert run("status") == 2
    assert run("plan", str(source), "-o", "runs/first") == 0
    capsys.readouterr()
    assert run("status") == 0
    assert "first  planned" in capsys.readouterr().out
    assert run("ingest", "runs/first") == 0
    capsys.readouterr()
    assert run("status", "runs/first") == 0
    assert "2 of 2 done" in capsys.readouterr().out
    assert run("runs") == 0
    assert "archived 1" in capsys.readouterr().out


@pytest.mark.parametrize(("lang", "reason"), [("en", "a link"), ("nb", "en lenke")])
def test_why_something_was_skipped_is_told_in_the_language_asked_for(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str], lang: str, reason: str
) -> None:
    files(tmp_path / "source", "a/one.txt")
    (tmp_path / "source" / "b").symlink_to("a", target_is_directory=True)
    assert run("plan", "source", "-o", "run", "--lang", lang) == 0
    assert rows(tmp_path / "run" / "skipped.csv") == [{"key": "b", "reason": reason}]
    capsys.readouterr()
    assert run("scan", "source", "--lang", lang) == 0
    assert reason in capsys.readouterr().out


def test_reports_are_written_again_in_the_language_asked_for(run: Callable[..., int], tmp_path: Path) -> None:
    assert run("ingest", str(files(tmp_path / "src", "case/a.txt")), "-o", "run") == 0
    english = Path("run/report.html").read_bytes()
    assert run("report", "run", "--lang", "nb") == 0
    norwegian = Path("run/report.html").read_text("utf-8")
    assert '<html lang="nb">' in norwegian
    assert "Alt er i arkivet." in norwegian
    assert run("report", "run") == 0
    assert Path("run/report.html").read_bytes() == english


def test_json_lines_keep_the_contract_and_end_with_the_sums(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((Path(__file__).parents[2] / "schemas" / "events.json").read_text("utf-8"))
    judge = jsonschema.Draft202012Validator(schema)
    source = files(tmp_path / "src", "case/a.txt", "case/b.txt")
    os.mkfifo(source / "pipe")
    lines: list[dict[str, object]] = []
    for arguments in (
        ["scan", str(source)],
        ["plan", str(source), "-o", "run"],
        ["ingest", "run"],
        ["status", "run"],
        ["verify", "run", "--depth", "bytes"],
        ["close", "run"],
        ["runs"],
        ["report", "run"],
    ):
        run(*arguments, "--json")
        out, err = capsys.readouterr()
        assert err == ""
        said = [json.loads(line) for line in out.splitlines()]
        assert said[-1]["event"] == "summary"
        lines += said
        if arguments[0] == "ingest":
            assert said[0]["event"] == "target"
            sums = {name: said[-1][name] for name in ("read", "archived", "set_aside", "refused", "skipped", "exit")}
            assert sums == {"read": 3, "archived": 2, "set_aside": 1, "refused": 0, "skipped": 0, "exit": 3}
    for line in lines:
        judge.validate(line)
    assert {str(line["event"]) for line in lines} <= set(events())


def test_the_log_of_a_run_tells_no_name(run: Callable[..., int], tmp_path: Path) -> None:
    source = files(tmp_path / "src", "Kari Nordmann/a.txt")
    os.mkfifo(source / "Ola Nordmann")
    assert run("ingest", str(source), "-o", "run") == 3
    logged = Path("run/run.log").read_text("utf-8")
    assert "Nordmann" not in logged
    names = [json.loads(line)["event"] for line in logged.splitlines()]
    assert names[0] == "plan_begins"
    assert names[-1] == "ingest_ends"
    assert "chunk_done" in names


def test_a_source_that_grew_brings_only_what_is_new_even_without_the_first_run(
    run: Callable[..., int], tmp_path: Path
) -> None:
    source = files(tmp_path / "src", "case/a.txt", "case/b.txt")
    recipe = tmp_path / "open.toml"
    assert run("recipe", "new", str(source), "-o", str(recipe)) == 0
    recipe.write_text(recipe.read_text("utf-8").replace("close = true", "close = false"), "utf-8")
    assert run("ingest", str(source), "--recipe", str(recipe), "-o", "first") == 0
    files(source, "case/c.txt")
    assert run("plan", str(source), "--recipe", str(recipe), "-o", "since", "--since", "first") == 0
    assert json.loads(Path("since/plan-report.json").read_text("utf-8"))["records"]["already_there"] == 2
    for path in Path("first").iterdir():
        path.unlink()
    assert run("ingest", str(source), "--recipe", str(recipe), "-o", "second") == 0
    numbers = report(Path("second"))["numbers"]
    assert isinstance(numbers, dict)
    assert (numbers["archived"], numbers["already_there"]) == (1, 2)
    assert run("verify", "second") == 0


def test_known_content_under_a_new_name_is_told_by_the_plan(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = files(tmp_path / "src", "case/a.txt", "case/b.txt")
    assert run("ingest", str(source), "-o", "first") == 0
    (source / "case/a.txt").rename(source / "case/renamed.txt")
    assert run("plan", str(source), "-o", "second", "--since", "first", "--hash") == 0
    context = json.loads(Path("second/plan-report.json").read_text("utf-8"))["context"]
    assert context["reappeared"] == [["case/renamed.txt", "case/a.txt"]]
    assert "case/renamed.txt" in Path("second/plan.html").read_text("utf-8")
    assert "Renamed or moved" in capsys.readouterr().out


def test_sigterm_drains_and_the_same_command_goes_on(archive: EmbeddedArchive, tmp_path: Path) -> None:
    source = files(tmp_path / "src", *(f"case {n:02}/a.txt" for n in range(12)))
    command = [*PROGRAM, "ingest", str(source), "-o", "run", "--archive", f"embedded:{archive.data_dir}", "--json"]
    with subprocess.Popen(
        [*command, "--max-rate", "10/s", "--workers", "1"],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if json.loads(line)["event"] == "shard_started" and json.loads(line)["kind"] == "unit":
                child.send_signal(signal.SIGTERM)
                break
        rest = child.stdout.read()
        assert child.wait(PATIENCE_S) == 143, rest
    assert json.loads(rest.splitlines()[-1])["state"] == "paused"
    done = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert report(tmp_path / "run")["verdict"] == "whole"


def test_a_second_signal_ends_it_at_once_and_nothing_comes_twice(archive: EmbeddedArchive, tmp_path: Path) -> None:
    source = files(tmp_path / "src", "case/a.txt", "case/b.txt")
    command = [*PROGRAM, "ingest", str(source), "-o", "run", "--archive", f"embedded:{archive.data_dir}", "--json"]
    with subprocess.Popen(
        [*command, "--check-command", "sleep 60"],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if json.loads(line)["event"] == "shard_started" and json.loads(line)["kind"] == "unit":
                break
        child.send_signal(signal.SIGTERM)
        ends = time.monotonic() + PATIENCE_S
        while child.poll() is None and time.monotonic() < ends:
            child.send_signal(signal.SIGTERM)
            time.sleep(0.05)
        child.stdout.read()
    assert child.returncode == -signal.SIGTERM


def test_usr1_tells_how_far_it_is(archive: EmbeddedArchive, tmp_path: Path) -> None:
    source = files(tmp_path / "src", *(f"case {n:02}/a.txt" for n in range(6)))
    command = [*PROGRAM, "ingest", str(source), "-o", "run", "--archive", f"embedded:{archive.data_dir}"]
    with subprocess.Popen(
        [*command, "--max-rate", "12/s", "--workers", "1", "--progress", "none"],
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stderr is not None
        said = []
        for line in child.stderr:
            said.append(line)
            if line.startswith("Archive:"):
                child.send_signal(signal.SIGUSR1)
    assert any(line.startswith("[00:00:0") for line in said), said
    assert child.returncode == 0


def targets(text: str) -> list[str]:
    """The archives that a command named first."""
    return [line.removeprefix("Archive: ").partition(" (as ")[0] for line in text.splitlines() if "Archive: " in line]


def test_a_plan_for_an_archive_is_loaded_into_that_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = files(tmp_path / "source", "a.txt")
    assert main(["plan", str(source), "-o", "run", "--archive", "embedded:arkiv"], {}) == 0
    command = capsys.readouterr().out.strip().splitlines()[-1]
    assert command == f"Then load it: noarkit ingest run --archive embedded:{tmp_path / 'arkiv'}"
    assert main(["ingest", "run"], {}) == 0
    told = capsys.readouterr().err
    assert targets(told) == [f"embedded:{tmp_path / 'arkiv'}"]
    assert "another archive" not in told
    assert not (tmp_path / "noarkit-archive").exists()


def test_a_plan_loaded_into_another_archive_than_it_was_made_for_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = files(tmp_path / "source", "a.txt")
    assert main(["plan", str(source), "-o", "run", "--archive", "embedded:arkiv"], {}) == 0
    capsys.readouterr()
    assert main(["ingest", "run", "--archive", "embedded:other"], {}) == 0
    told = capsys.readouterr().err
    assert targets(told) == [f"embedded:{tmp_path / 'other'}"]
    assert f"this plan was made for, and checked against, another archive: embedded:{tmp_path / 'arkiv'}." in told


def test_a_plan_for_an_archive_says_so_where_the_settings_name_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = files(tmp_path / "source", "a.txt")
    (tmp_path / "noarkit.toml").write_text('[archive]\nurl = "embedded:usual"\n', "utf-8")
    assert main(["plan", str(source), "-o", "run", "--archive", "embedded:arkiv"], {}) == 0
    capsys.readouterr()
    assert main(["ingest", "run", "--dry-run"], {}) == 0
    told = capsys.readouterr().err
    assert targets(told) == [f"embedded:{tmp_path / 'arkiv'}"]
    assert f"; embedded:{tmp_path / 'usual'} in the settings is not used" in told


def test_closing_a_second_time_says_that_everything_was_closed_already(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An ingest from files closes what it makes; a document that comes later is closed, and said to be."""
    source = files(tmp_path / "src", "case/a.txt", "case/b.txt")
    assert run("ingest", str(source), "-o", "run") == 0
    for _ in range(2):
        capsys.readouterr()
        assert run("close", "run", "--lang", "en") == 0
        assert "already closed" in capsys.readouterr().out
    assert run("close", "run", "--json") == 0
    closed = next(json.loads(line) for line in capsys.readouterr().out.splitlines() if "closed_run" in line)
    assert closed["was_closed"] is True
    with closing(sqlite3.connect("run/run.db")) as db:
        db.execute("DELETE FROM closed_entity WHERE n = (SELECT max(n) FROM closed_entity)")
        db.commit()
    run("close", "run", "--lang", "en")
    assert "already closed" not in (out := capsys.readouterr().out)
    assert "Closed 1 object " in out
