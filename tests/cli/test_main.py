"""Whatever comes of a command line ends in words and an exit code of the contract."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from noarkit.cli.console import Console, size
from noarkit.cli.main import COMMANDS, Finder, main
from noarkit.cli.options import Command, Session, command
from noarkit.errors import ArchiveBusy, Paused
from noarkit.events import Event
from noarkit.words.texts import texts
from tests.cli.elsewhere import PROGRAM, environment


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test works in an empty folder, with nobody's own config."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in [name for name in os.environ if name.startswith("NOARKIT_")]:
        monkeypatch.delenv(name)


def run(*arguments: str, **environment: str) -> int:
    """The exit code of a command line."""
    return main(arguments, {"HOME": os.environ["HOME"], **environment})


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """What --json printed."""
    out, err = capsys.readouterr()
    assert err == ""
    return [json.loads(line) for line in out.splitlines()]


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    shown = capsys.readouterr().out
    assert all(f"  {name}" in shown for name in COMMANDS)


@pytest.mark.parametrize(
    ("arguments", "what", "where", "do"),
    [
        (["serv"], "There is no such command.", "noarkit serv", "Did you mean noarkit serve?"),
        (["version", "--jsn"], "There is no such option.", "--jsn", "Did you mean noarkit version --json?"),
        (
            ["serve", "--port", "x"],
            "This value is not allowed.",
            "noarkit serve --port: ",
            "Options and examples: noarkit serve --help",
        ),
        (["config"], "An argument is missing.", "noarkit config ", "Options and examples: noarkit config --help"),
        (["help", "exit-code"], "Nothing has this name", "exit-code", "Did you mean noarkit help exit-codes?"),
        (
            ["serve", "--faults", __file__],
            "A fault script is for tests only.",
            "--faults",
            f"noarkit serve --faults {__file__} --i-am-testing",
        ),
    ],
)
def test_a_line_that_cannot_be_understood_is_told_in_four_lines(
    arguments: list[str], what: str, where: str, do: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 2
    out, err = capsys.readouterr()
    told = err.splitlines()
    assert out == ""
    assert len(told) == 4
    assert told[0].startswith(f"F101  {what}")
    assert where in told[1]
    assert do in told[3]
    assert all(line.startswith("      ") for line in told[1:])


@pytest.mark.parametrize("option", ["--client-secret", "--password", "--token=hush"])
def test_a_secret_as_an_argument_is_refused_and_not_repeated(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("doctor", option, "hush") == 2
    out, err = capsys.readouterr()
    assert err.startswith("F102")
    assert "hush" not in out + err


@pytest.mark.parametrize("arguments", [["--lang", "nb", "vers"], ["vers", "--lang=nb"]])
def test_the_language_is_known_before_the_line_is_understood(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 2
    assert "Det finnes ingen slik kommando" in capsys.readouterr().err
    assert run("vers", NOARKIT_LANG="nb") == 2
    assert "Det finnes ingen slik kommando" in capsys.readouterr().err


def test_the_language_of_the_config_holds_where_none_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "noarkit.toml").write_text('lang = "nb"\n')
    assert run("help", "F405") == 0
    assert "Disken er full." in capsys.readouterr().out
    assert run("help", "F405", "--lang", "en") == 0
    assert "There is no space left" in capsys.readouterr().out


def test_global_options_work_before_and_after_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.toml").write_text('[profiles.night]\nzone = "UTC"\n')
    for arguments in (
        ["--config", "other.toml", "--profile", "night", "--json", "config", "show"],
        ["config", "show", "--config", "other.toml", "--profile", "night", "--json"],
        ["--profile", "night", "config", "--json", "show", "--config", "other.toml"],
    ):
        assert run(*arguments) == 0
        zone = next(line for line in lines_of(capsys) if line.get("key") == "zone")
        assert (zone["value"], zone["origin"], zone["where"]) == ("UTC", "profile", "other.toml:2")


def test_an_option_after_the_command_goes_before_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NOARKIT_PROFILE", "nobody")
    assert run("config", "check") == 2
    assert "nobody" in capsys.readouterr().err
    monkeypatch.setenv("NOARKIT_CONFIG", "none.toml")
    assert run("config", "check") == 2
    assert "none.toml" in capsys.readouterr().err


def test_json_ends_with_the_summary_and_keeps_stderr_silent(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("version", "--json") == 0
    version, summary = lines_of(capsys)
    assert version["event"] == "version"
    assert (summary["event"], summary["state"], summary["exit"]) == ("summary", "done", 0)
    assert run("vers", "--json") == 2
    fault, summary = lines_of(capsys)
    assert (fault["event"], fault["code"], fault["exit"], fault["transient"]) == ("fault", "F101", 2, False)
    assert {"what", "where", "so_what", "do"} <= set(fault)
    assert (summary["state"], summary["exit"]) == ("failed", 2)


def test_quiet_keeps_results_and_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("init", "-q") == 0
    out, err = capsys.readouterr()
    assert out.count("Created") == 2
    assert err == ""


Body = Callable[[], None]


def acting(body: Body) -> Finder:
    """Commands of which each does this, so that the ends of a command can be tried one by one."""
    return lambda name: Command(name, callback=body)


def raising(error: BaseException) -> Body:
    """A body that ends so."""

    def body() -> None:
        raise error

    return body


@pytest.mark.parametrize(
    ("error", "code", "start"),
    [
        (ArchiveBusy(call="query", status=503), 5, "F303"),
        (Paused(signal="SIGTERM"), 143, "F407"),
        (KeyboardInterrupt(), 130, "F407"),
        (click.Abort(), 130, "F407"),
        (ZeroDivisionError("a name nobody may see"), 1, "F900"),
        (click.FileError("a.toml", "locked"), 2, "F110"),
    ],
)
def test_every_end_has_its_exit_code(
    error: BaseException,
    code: int,
    start: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["version"], {}, acting(raising(error))) == code
    out, err = capsys.readouterr()
    assert err.startswith(start)
    assert len(err.splitlines()) == 4
    assert "Traceback" not in out + err
    assert "nobody may see" not in out + err


def test_the_trace_of_what_nobody_foresaw_stands_in_the_log_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    @command("version")
    def broken(session: Session) -> None:
        raise ZeroDivisionError

    assert main(["version", "--log-file", "run.log"], {}, lambda name: broken) == 1
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    logged = [json.loads(line) for line in (tmp_path / "run.log").read_text("utf-8").splitlines()]
    assert "ZeroDivisionError" in logged[0]["trace"]
    assert logged[0]["error_id"] in err
    assert "run.log" in err
    assert [line["event"] for line in logged] == ["trace", "fault", "summary"]
    assert stat.S_IMODE((tmp_path / "run.log").stat().st_mode) == 0o600


def test_a_log_that_cannot_be_written_is_a_fault_of_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("version", "--log-file", "no/such/folder/run.log") == 2
    assert "no/such/folder/run.log" in capsys.readouterr().err


def test_a_reader_that_leaves_early_is_no_fault(tmp_path: Path) -> None:
    line = f"{shlex.join(PROGRAM)} man; echo $? >&2"
    done = subprocess.run(
        ["bash", "-c", f"({line}) | head -c 1 >/dev/null"],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.strip() == "0"


def test_odd_names_do_not_break_a_narrow_terminal(tmp_path: Path) -> None:
    done = subprocess.run(
        [*PROGRAM, "help", "bl\udce5bær\x1b[31m"],
        cwd=tmp_path,
        env=environment(tmp_path, PYTHONIOENCODING="ascii"),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert b"\x1b" not in done.stderr
    assert b"Traceback" not in done.stderr


def test_sizes_are_told_as_people_say_them() -> None:
    assert [size(number) for number in (0, 999, 1500, 2_500_000_000, 3 * 10**15)] == [
        "0 B",
        "999 B",
        "1.5 kB",
        "2.5 GB",
        "3000.0 TB",
    ]


def test_events_of_the_core_reach_people_only_on_request_and_scripts_always(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    event = Event("remark", {"stream": "files", "why": "named", "key": "a\x1bb"})
    face = Console(texts("en"))
    face.open_log(tmp_path / "run.log")
    face.on_event(event)
    assert capsys.readouterr() == ("", "")
    face.verbosity = 1
    face.on_event(event)
    assert capsys.readouterr().err == "remark stream=files why=named key=a\\u001bb\n"
    face.close()
    assert [json.loads(line)["why"] for line in (tmp_path / "run.log").read_text().splitlines()] == ["named"] * 2
    Console(texts("en"), as_json=True).on_event(event)
    assert json.loads(capsys.readouterr().out) == {"event": "remark", **event.data}


def test_the_summary_carries_what_was_counted(capsys: pytest.CaptureFixture[str]) -> None:
    ticks = iter([10.0, 12.5])
    face = Console(texts("en"), as_json=True, clock=lambda: next(ticks))
    face.count(run="r1", read=7, archived=6, set_aside=1)
    face.finish(3)
    assert json.loads(capsys.readouterr().out) == {
        "event": "summary",
        "state": "done",
        "run": "r1",
        "read": 7,
        "archived": 6,
        "set_aside": 1,
        "seconds": 2.5,
        "exit": 3,
    }


@pytest.mark.parametrize(("topic", "told"), [("n410", "noarkit help copies"), ("CSIP1", "OBJID"), ("N901", "N901")])
def test_a_rule_of_validation_is_explained_by_its_code(
    topic: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("help", topic) == 0
    assert told in capsys.readouterr().out
