"""`--hook`: what hooks are given, what they may do, and how long they may take."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]  # it tells no types
import pytest

from noarkit.config import OperationsConfig
from noarkit.errors import NoarkitError
from noarkit.events import Event
from noarkit.operations.hooks import EventPipe
from noarkit.operations.job import Job
from noarkit.operations.watch import Operations, WatchDeps
from noarkit.safe.foreground import WITHIN
from noarkit.words.texts import texts
from tests.operations.watching import datagrams, faults_in, needs, received, recorder, records, scan, script, summary_in
from tests.processes import have_ended
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A source whose file bears a name."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "Kari Nordmann.txt").write_text("letter", "utf-8")
    return tmp_path / "source"


def test_hooks_are_given_the_start_and_the_success_as_json(folder: Path, tmp_path: Path) -> None:
    record = tmp_path / "record"
    command = recorder(tmp_path / "hook.py", record)
    code = scan(
        folder,
        *("--hook", "start", command, "--hook", "success", command, "--hook", "failure", command),
    )
    assert code == 0
    start, success = records(record)
    assert (start["event"], start["command"], start["run"]) == ("start", "scan", "source")
    assert (success["event"], success["exit"], success["state"]) == ("success", 0, "done")
    assert start["id"] == success["id"]
    schema = json.loads((ROOT / "schemas" / "hook.json").read_text("utf-8"))
    for payload in (start, success):
        jsonschema.validate(payload, schema)


def test_a_failure_calls_the_hook_for_it_alone(tmp_path: Path) -> None:
    record = tmp_path / "record"
    command = recorder(tmp_path / "hook.py", record)
    code = scan(tmp_path / "missing", "--hook", "success", command, "--hook", "failure", command)
    (failure,) = records(record)
    assert (failure["event"], failure["exit"]) == ("failure", code)
    assert code != 0 and sum(dict(failure["faults"]).values()) == 1  # type: ignore[call-overload]  # counts by code


def test_which_exit_codes_are_a_success_the_settings_say(tmp_path: Path) -> None:
    record = tmp_path / "record"
    command = recorder(tmp_path / "hook.py", record)
    code = scan(tmp_path / "missing", "--hook", "success", command)
    assert records(record) == []
    assert scan(tmp_path / "missing", "--hook", "success", command, NOARKIT_SUCCESS_EXITS=f"0,{code}") == code
    assert [line["event"] for line in records(record)] == ["success"]


def test_a_start_hook_that_fails_stops_the_command_before_anything_is_done(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "record"
    no = script(tmp_path / "no.py", "raise SystemExit(4)")
    failure = recorder(tmp_path / "hook.py", record)
    second = recorder(tmp_path / "second.py", tmp_path / "second")
    options = ("--hook", "start", no, "--hook", "start", second, "--hook", "failure", failure)
    assert scan(folder, "--json", *options) == 2
    lines = capsys.readouterr().out
    assert [fault["code"] for fault in faults_in(lines)] == ["F471"]
    assert '"scan"' not in lines and not (tmp_path / "second").exists()
    assert [line["exit"] for line in records(record)] == [2]


def test_a_start_hook_may_ask_for_a_later_time(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later = script(tmp_path / "later.py", "raise SystemExit(75)")
    assert scan(folder, "--json", "--hook", "start", later) == 5
    lines = capsys.readouterr().out
    assert [(fault["code"], fault["transient"]) for fault in faults_in(lines)] == [("F472", True)]
    assert summary_in(lines)["state"] == "paused"


@pytest.mark.parametrize("hook", ["raise SystemExit(9)", "import time; time.sleep(600)", ""])
def test_a_hook_after_the_work_that_fails_is_told_and_changes_nothing(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], hook: str
) -> None:
    command = script(tmp_path / "hook.py", hook) if hook else str(tmp_path / "missing")
    began_s = time.monotonic()
    assert scan(folder, "--json", "--hook", "success", command, NOARKIT_HOOK_TIMEOUT_S="1") == 0
    assert time.monotonic() - began_s < PATIENCE_S
    lines = capsys.readouterr().out
    assert [(fault["code"], fault["exit"]) for fault in faults_in(lines)] == [("F473", 0)]
    assert summary_in(lines)["exit"] == 0


def test_what_hooks_print_goes_to_stderr(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    once = script(tmp_path / "once.py", "import sys; print('loud', flush=True); sys.stderr.write('clear')")
    each = script(tmp_path / "each.py", "import sys; print('again', flush=True); sys.stdin.read()")
    assert scan(folder, "--json", "--hook", "success", once, "--hook", "each", each) == 0
    output = capfd.readouterr()
    assert summary_in(output.out)["exit"] == 0 and faults_in(output.out) == [], "every line is JSON of ours"
    assert all(word in output.err for word in ("loud", "clear", "again"))


@pytest.mark.parametrize("when", ["start", "success", "each"])
def test_ctrl_c_leaves_no_hook_behind(folder: Path, tmp_path: Path, when: str) -> None:
    # the one for each event waits as soon as it has heard that the work is done
    waits = "import os, sys, time, pathlib\nif {!r} == 'each':\n    any('summary' in line for line in sys.stdin)\n"
    waits += "pathlib.Path({!r}).write_text(str(os.getpid()))\ntime.sleep(600)\n"
    places, hooks = [], []
    for moment in {when, "each"} if when == "success" else {when}:
        places.append(tmp_path / f"{moment}.pid")
        hooks += ["--hook", moment, script(tmp_path / f"{moment}.py", waits.format(moment, str(places[-1])))]
    words = [sys.executable, "-m", "noarkit", "scan", str(folder), *hooks]
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONPATH": str(ROOT)}
    streams = subprocess.DEVNULL
    program = f"import os, signal; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv({words[0]!r}, {words!r})"
    words = [
        sys.executable,
        "-c",
        program,
    ]  # whoever runs this in the background ignores Ctrl-C, and it would be inherited
    with subprocess.Popen(words, env=environment, stdout=streams, stderr=streams) as process:
        for place in places:
            wait_until_written(place)
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE_S)
    assert have_ended(int(place.read_text("utf-8")) for place in places), "a hook lives on"


def test_a_hook_whose_time_is_up_is_ended_with_everything_it_started(folder: Path, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    code = (
        "import subprocess, sys, time, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({str(pid)!r}).write_text(str(child.pid))\n"
        "time.sleep(600)\n"
    )
    assert scan(folder, "--hook", "start", script(tmp_path / "hook.py", code), NOARKIT_HOOK_TIMEOUT_S="3") == 2
    assert have_ended([int(pid.read_text("utf-8"))]), "the child of the hook lives on"


def test_a_hook_that_runs_as_another_user_is_told_and_breaks_nothing(folder: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can start a hook that it then may not end")
    hook = script(
        tmp_path / "hook.py",
        "import os, time\n"
        "parent = os.getppid()\n"
        "os.setuid(65534)\n"
        "while os.getppid() == parent:\n"
        "    time.sleep(0.05)\n",
    )
    # root without the right to signal the processes of others
    words = [needs("setpriv"), "--bounding-set=-kill", "--inh-caps=-kill", sys.executable, "-m", "noarkit"]
    done = subprocess.run(
        [*words, "scan", str(folder), "--json", "--hook", "each", hook],
        env={
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "PYTHONPATH": str(ROOT),
            "NOARKIT_HOOK_TIMEOUT_S": "1",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert [(fault["code"], fault["exit"]) for fault in faults_in(done.stdout)] == [("F473", 0)], done.stderr
    assert (done.returncode, summary_in(done.stdout)["exit"]) == (0, 0)


def test_no_shell_sees_the_command(folder: Path, tmp_path: Path) -> None:
    record = tmp_path / "args"
    command = script(tmp_path / "hook.py", f"import sys; open({str(record)!r}, 'w').write('|'.join(sys.argv[1:]))")
    assert scan(folder, "--hook", "success", f"{command} '$HOME' ; touch {tmp_path / 'touched'}") == 0
    assert record.read_text("utf-8") == f"$HOME|;|touch|{tmp_path / 'touched'}"
    assert not (tmp_path / "touched").exists()


def test_no_secret_of_ours_is_in_the_environment_of_a_hook(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NOARKIT_CLIENT_SECRET", "CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "WATCHDOG_PID", "SITE_SECRET"):
        monkeypatch.setenv(name, "canary")
    record = tmp_path / "record"
    assert scan(folder, "--hook", "success", recorder(tmp_path / "hook.py", record)) == 0
    assert [line["environment"] for line in records(record)] == [[]]


def test_the_hook_for_each_event_is_one_process_and_hears_no_names(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "record"
    command = recorder(tmp_path / "hook.py", record)
    monkeypatch.setenv("NOARKIT_HOOK", f"each {command}\n")
    assert scan(folder) == 0
    names = [line["event"] for line in records(record)]
    assert names[0] == "start" and names[-1] == "summary" and "scan" in names
    assert "Nordmann" not in record.read_text("utf-8")


def test_neither_hook_nor_log_hears_a_title_or_a_key(tmp_path: Path) -> None:
    record = tmp_path / "record"
    config = OperationsConfig(
        hook_each=(recorder(tmp_path / "hook.py", record),), log_to=(f"syslog:{tmp_path / 'log'}",)
    )
    faults: list[NoarkitError] = []
    operations = Operations(config, Job("scan", "source", time.time()), WatchDeps(texts("en"), {}, faults.append))
    with datagrams(tmp_path / "log") as listener:
        operations.begin()
        operations.on_event(Event("hit", {"title": "Kari Nordmann", "key": "Kari Nordmann.txt", "count": 7}))
        operations.end(0, "done", {"read": 1, "title": "Kari Nordmann"})
        messages = b"".join(received(listener))
    heard = record.read_text("utf-8") + messages.decode()
    assert "Nordmann" not in heard and heard.count('"count": 7') == 2
    assert faults == []


def test_a_hook_that_reads_nothing_never_stops_the_work() -> None:
    pipe = EventPipe("sleep 600")
    began_s = time.monotonic()
    for number in range(30_000):
        pipe.send({"event": "chunk_done", "number": number, "filler": "x" * 100})
    fault = pipe.close(0.2)
    assert fault is not None and (fault.code, fault.data["why"]) == ("F473", "hook-too-slow")
    assert time.monotonic() - began_s < PATIENCE_S


FED = """
import sys
from pathlib import Path
from tests.operations.test_hooks import wait_until_written
from noarkit.operations.hooks import EventPipe
pipe = EventPipe(sys.argv[1])
wait_until_written(Path(sys.argv[2]))
for number in range(int(sys.argv[3])):
    pipe.send({"number": number, "filler": "x" * 100})
fault = pipe.close(0.5)
print(fault and fault.data["why"])
"""


def wait_until_written(place: Path) -> None:
    """Until a file has content."""
    ends = time.monotonic() + PATIENCE_S
    while not place.exists() or not place.read_text("utf-8"):
        assert time.monotonic() < ends
        time.sleep(0.01)


@pytest.fixture
def left_behind(tmp_path: Path) -> Iterator[Path]:
    """Where the number of a process is written that a hook leaves behind; it is ended with the test."""
    yield tmp_path / "left"
    os.kill(int((tmp_path / "left").read_text("utf-8")), signal.SIGKILL)


@pytest.mark.parametrize(
    ("count", "then"),
    [
        (30_000, "time.sleep(600)"),  # more than may wait
        (5_000, "time.sleep(600)"),
        (5_000, ""),  # the hook itself ends well, but nobody reads what was written for it
    ],
)
def test_a_process_that_holds_the_stdin_of_a_hook_keeps_nobody(
    tmp_path: Path, left_behind: Path, count: int, then: str
) -> None:
    hook = script(
        tmp_path / "hook.py",
        "import subprocess, sys, time, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        f"pathlib.Path({str(left_behind)!r}).write_text(str(child.pid))\n{then}\n",
    )
    done = subprocess.run(
        [sys.executable, "-c", FED, hook, str(left_behind), str(count)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # the process that is left holds it, too
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stdout) == (0, "hook-too-slow\n")


def test_events_that_a_slow_hook_loses_are_counted(tmp_path: Path) -> None:
    record, may_read = tmp_path / "record", tmp_path / "may-read"
    hook = script(
        tmp_path / "hook.py",
        "import pathlib, sys, time\n"
        f"while not pathlib.Path({str(may_read)!r}).exists():\n"
        "    time.sleep(0.01)\n"
        f"pathlib.Path({str(record)!r}).write_text(str(sum(1 for line in sys.stdin)))\n",
    )
    pipe = EventPipe(hook)
    for number in range(20_000):
        pipe.send({"number": number, "filler": "x" * 100})
    may_read.touch()
    fault = pipe.close(PATIENCE_S)
    heard = int(record.read_text("utf-8"))
    assert fault is not None and (fault.code, fault.data["why"]) == ("F473", "events-lost")
    assert 10_000 <= heard < 20_000 and fault.data["count"] == 20_000 - heard


def test_a_hook_that_stops_reading_is_told_with_its_status() -> None:
    pipe = EventPipe("false")
    for _ in range(10):
        pipe.send({"event": "x"})
    fault = pipe.close(PATIENCE_S)
    assert fault is not None and (fault.data["why"], fault.data["status"]) == ("hook-failed", 1)


def test_hooks_of_the_settings_and_a_bad_command(folder: Path, tmp_path: Path) -> None:
    record = tmp_path / "record"
    config = tmp_path / "noarkit.toml"
    config.write_text(f"[operations]\nhook_success = ['{recorder(tmp_path / 'hook.py', record)}']\n", "utf-8")
    assert scan(folder, "--config", str(config)) == 0
    assert len(records(record)) == 1
    config.write_text('[operations]\nhook_success = "tell \'half"\n', "utf-8")
    assert scan(folder, "--config", str(config)) == 2
    for no_program in ("''", "'' --now", "tell\\u0000"):
        config.write_text(f'[operations]\nhook_success = "{no_program}"\n', "utf-8")
        assert scan(folder, "--config", str(config)) == 2
    assert os.path.exists(record)  # noqa: PTH110  # and it was not run once more
    assert len(records(record)) == 1


def test_a_command_of_ours_in_a_hook_prints_its_own_next_step_though_a_project_runs_the_one_it_hooks(
    tmp_path: Path,
) -> None:
    """What comes next within a project is the project's to say: of its own commands, not of a hook's."""
    (tmp_path / "share").mkdir()
    (tmp_path / "share" / "a.txt").write_text("a")
    hook = tmp_path / "hook"
    line = shlex.join([sys.executable, "-m", "noarkit", "plan", "share", "-o", "hooked", "--lang", "en"])
    hook.write_text(f"#!/bin/sh\ncat >/dev/null\nenv >variables\n{line} >said 2>&1\n")
    hook.chmod(0o700)
    command = [sys.executable, "-m", "noarkit", "plan", "share", "-o", "run", "--hook", "success", str(hook)]
    variables = {**os.environ, WITHIN: "yes", "PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, check=True)
    assert "noarkit ingest hooked" in (tmp_path / "said").read_text()
    assert WITHIN not in (tmp_path / "variables").read_text()
