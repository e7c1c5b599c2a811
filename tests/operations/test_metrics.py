"""`--metrics`: held to its format by the parser of its makers, by promtool, and by a node exporter that scrapes it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from noarkit.config import OperationsConfig
from noarkit.errors import NoarkitError
from noarkit.events import Event
from noarkit.operations.job import Job, Outcome
from noarkit.operations.metrics import METRICS, JobState, Sample, read_samples, render, write_metrics
from noarkit.operations.tally import take_event
from noarkit.operations.watch import Operations, WatchDeps
from noarkit.safe.locks import held_lock
from noarkit.words.texts import texts
from tests.operations.watching import faults_in, needs, scan, summary_in
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
Key = tuple[str, tuple[tuple[str, str], ...]]


def parsed(text: str) -> dict[Key, float]:
    """What the official parser reads: each sample once, in families that are gauges with a help."""
    samples: dict[Key, float] = {}
    names = []
    for family in text_string_to_metric_families(text):
        assert (family.type, bool(family.documentation)) == ("gauge", True), family
        names.append(family.name)
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in samples, "a sample that comes twice makes the collector refuse the whole file"
            samples[key] = sample.value
    assert len(names) == len(set(names))
    return samples


def value(samples: dict[Key, float], name: str, **labels: str) -> float | None:
    """The value of a sample."""
    return samples.get((f"noarkit_{name}", tuple(sorted(labels.items()))))


def ended(state: JobState, *, code: int = 0, ended_s: float = 200.0, **numbers: int) -> JobState:
    """The same command, when it has ended."""
    state.outcome = Outcome(code in (0, 3), code, ended_s, ended_s - state.job.began_s, "done", numbers, {})
    return state


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A source."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "letter.txt").write_text("letter", "utf-8")
    return tmp_path / "source"


def test_a_command_leaves_its_exit_code_its_success_and_its_time(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "noarkit.prom"
    before = time.time()
    assert scan(folder, "--metrics", str(file)) == 0
    samples = parsed(file.read_text("utf-8"))
    labels = {"command": "scan", "run": "source"}
    assert value(samples, "exit_code", **labels) == 0
    assert value(samples, "running", **labels) == 0
    assert before - 1 <= (value(samples, "last_success_timestamp_seconds", **labels) or 0) <= time.time() + 1
    assert stat.S_IMODE(file.stat().st_mode) == 0o644, "the collector runs as somebody else"
    assert {name for name, _ in samples} <= set(METRICS)


def test_a_failure_keeps_the_last_success(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "noarkit.prom"
    assert scan(folder, "--metrics", str(file)) == 0
    labels = {"command": "scan", "run": "source"}
    good = value(parsed(file.read_text("utf-8")), "last_success_timestamp_seconds", **labels)
    (folder / "letter.txt").unlink()
    folder.rmdir()
    code = scan(folder, "--metrics", str(file))
    samples = parsed(file.read_text("utf-8"))
    assert code != 0 and value(samples, "exit_code", **labels) == code
    assert good is not None and value(samples, "last_success_timestamp_seconds", **labels) == good
    assert sum(number for (name, _), number in samples.items() if name == "noarkit_faults") == 1


def test_numbers_bytes_and_rates_are_those_of_the_events(tmp_path: Path) -> None:
    file = tmp_path / "noarkit.prom"
    state = JobState(Job("ingest", "run", 100.0))
    for event, at_s in (
        (Event("load_began", {"objects": 50, "done": 10, "bytes": 4000, "bytes_done": 0}), 100.0),
        (Event("chunk_done", {"made": 20, "already": 0, "bytes": 3000}), 110.0),
    ):
        take_event(state.tally, event, at_s)
        state.note_step(at_s)
    write_metrics(file, state)
    samples = parsed(file.read_text("utf-8"))
    labels = {"command": "ingest", "run": "run"}
    assert value(samples, "running", **labels) == 1 and value(samples, "exit_code", **labels) is None
    step = {**labels, "step": "loading"}
    assert (value(samples, "step_done", **step), value(samples, "step_total", **step)) == (30, 50)
    assert (value(samples, "step_per_second", **step), value(samples, "step_bytes_per_second", **step)) == (2, 300)
    write_metrics(file, ended(state, read=7, archived=6, set_aside=1, bytes=4000, in_doubt=0))
    samples = parsed(file.read_text("utf-8"))
    assert value(samples, "records", **labels, state="set_aside") == 1
    assert (value(samples, "bytes", **labels), value(samples, "duration_seconds", **labels)) == (4000, 100)


def test_a_file_keeps_what_other_commands_and_runs_said(tmp_path: Path) -> None:
    file = tmp_path / "noarkit.prom"
    for command, run in (("ingest", "a"), ("verify", "a"), ("ingest", "b"), ("ingest", "a")):
        write_metrics(file, ended(JobState(Job(command, run, 100.0))))
    samples = parsed(file.read_text("utf-8"))
    assert {labels for name, labels in samples if name == "noarkit_exit_code"} == {
        (("command", "ingest"), ("run", "a")),
        (("command", "verify"), ("run", "a")),
        (("command", "ingest"), ("run", "b")),
    }


WRITES = """
import sys
from pathlib import Path
from noarkit.operations.job import Job
from noarkit.operations.metrics import JobState, write_metrics
print("ready", flush=True)
sys.stdin.readline()
for number in range(25):
    write_metrics(Path(sys.argv[1]), JobState(Job("ingest", f"{sys.argv[2]} {number}", 100.0 + number)))
"""


def test_two_processes_that_write_beside_each_other_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "noarkit.prom"
    with ExitStack() as stack:
        writers = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", WRITES, str(file), name],
                    env={**os.environ, "PYTHONPATH": str(ROOT)},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                )
            )
            for name in ("a", "b")
        ]
        for writer in writers:
            assert writer.stdout is not None and writer.stdout.readline() == b"ready\n"
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write(b"\n")
            writer.stdin.flush()
        assert [writer.wait(PATIENCE_S) for writer in writers] == [0, 0]
    runs = {dict(labels)["run"] for _, labels in parsed(file.read_text("utf-8"))}
    assert runs == {f"{name} {number}" for name in ("a", "b") for number in range(25)}


def test_a_lock_that_nobody_lets_go_is_passed_by(tmp_path: Path) -> None:
    file = tmp_path / "noarkit.prom"
    with held_lock(tmp_path / ".noarkit.prom.lock"):
        write_metrics(file, JobState(Job("ingest", "a", 100.0)))
    assert {sample.job for sample in read_samples(file)} == {("ingest", "a")}


def watched(tmp_path: Path, faults: list[NoarkitError]) -> Operations:
    """A command whose metrics are written, by a clock that goes fast, below a service manager that is away."""
    environment = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "60000"}
    deps = WatchDeps(texts("en"), environment, faults.append, clock=lambda: time.monotonic() * 1000)
    config = OperationsConfig(metrics=tmp_path / "metrics" / "noarkit.prom")
    (tmp_path / "metrics").mkdir()
    return Operations(config, Job("ingest", "run", time.time()), deps)


def test_metrics_are_brought_up_to_date_while_the_command_is_under_way(tmp_path: Path) -> None:
    faults: list[NoarkitError] = []
    operations = watched(tmp_path, faults)
    operations.begin()
    operations.on_event(Event("load_began", {"objects": 50, "done": 10, "bytes": 0, "bytes_done": 0}))
    file, labels = tmp_path / "metrics" / "noarkit.prom", {"command": "ingest", "run": "run"}
    ends = time.monotonic() + PATIENCE_S
    while value(samples := parsed(file.read_text("utf-8")), "step_done", **labels, step="loading") != 10:
        assert time.monotonic() < ends
        time.sleep(0.01)
    assert value(samples, "running", **labels) == 1
    operations.end(0, "done", {})
    assert faults == []


def test_a_write_that_fails_midway_is_told_once_and_stops_nothing(tmp_path: Path) -> None:
    faults: list[NoarkitError] = []
    operations = watched(tmp_path, faults)
    operations.begin()
    shutil.rmtree(tmp_path / "metrics")
    ends = time.monotonic() + PATIENCE_S
    while not faults:
        assert time.monotonic() < ends
        operations.on_event(Event("read", {"records": 1}))
        time.sleep(0.01)
    operations.end(0, "done", {})
    assert [(fault.code, fault.data["why"]) for fault in faults] == [("F473", "not-writable")]


def test_a_file_that_many_runs_share_does_not_grow_for_ever(tmp_path: Path) -> None:
    file = tmp_path / "noarkit.prom"
    old = [
        Sample("noarkit_start_timestamp_seconds", number, (("command", "c"), ("run", f"{number}")))
        for number in range(500)
    ]
    file.write_text(render(old), "utf-8")
    write_metrics(file, JobState(Job("ingest", "new", 1000.0)))
    runs = {dict(labels)["run"] for _, labels in parsed(file.read_text("utf-8"))}
    assert len(runs) == 100 and {"new", "499"} <= runs and "1" not in runs


@given(st.text(min_size=1))
@example("a\rb")
@example("a\r\nb\nc")
@example("a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g")
@example('\\"\\n\\\n')
def test_any_name_of_a_run_is_read_back_by_them_and_by_us(run: str) -> None:
    run = run.encode("utf-8", "replace").decode("utf-8")
    sample = Sample("noarkit_running", 1, (("command", "c"), ("run", run)))
    text = render([sample])
    ((_, labels),) = parsed(text)
    assert dict(labels)["run"] == run
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "noarkit.prom"
        file.write_bytes(text.encode())
        assert read_samples(file) == [sample]


def test_a_line_of_another_is_not_kept_and_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "noarkit.prom"
    file.write_text('evil{command="x",run="y"} 1\nnoarkit_running{command="x} 1\nnoarkit_running{} NaN\n\x00', "utf-8")
    assert read_samples(file) == []
    write_metrics(file, JobState(Job("ingest", 'a "run"\\', 100.0)))
    assert "evil" not in file.read_text("utf-8")
    assert {sample.job for sample in read_samples(file)} == {("ingest", 'a "run"\\')}


def test_a_file_that_cannot_be_written_is_told_before_anything_is_done(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert scan(folder, "--json", "--metrics", str(tmp_path / "missing" / "noarkit.prom")) == 2
    lines = capsys.readouterr().out
    assert [fault["code"] for fault in faults_in(lines)] == ["F110"]
    assert summary_in(lines)["exit"] == 2


def test_metrics_are_refused_where_nobody_waits(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from noarkit.cli.main import main

    assert main(["version", "--metrics", str(tmp_path / "m.prom")], {}) == 2
    assert "F101" in capsys.readouterr().err
    assert main(["version"], {"NOARKIT_METRICS": str(tmp_path / "m.prom")}) == 0
    assert list(tmp_path.iterdir()) == []


def test_promtool_finds_nothing_to_say(folder: Path, tmp_path: Path) -> None:
    promtool = needs("promtool")
    file = tmp_path / "noarkit.prom"
    assert scan(folder, "--metrics", str(file)) == 0
    with file.open("rb") as text:
        checked = subprocess.run(
            [promtool, "check", "metrics"], stdin=text, capture_output=True, text=True, check=False
        )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_a_node_exporter_scrapes_the_file(folder: Path, tmp_path: Path) -> None:
    exporter = needs("prometheus-node-exporter")
    place = tmp_path / "textfile"
    place.mkdir()
    assert scan(folder, "--metrics", str(place / "noarkit.prom")) == 0
    write_metrics(place / "other.prom", ended(JobState(Job("ingest", "other", 100.0)), read=3))
    log_path = tmp_path / "log"
    words = [exporter, "--collector.disable-defaults", "--collector.textfile", "--web.listen-address=127.0.0.1:0"]
    words += [f"--collector.textfile.directory={place}", "--log.level=info"]
    with log_path.open("wb") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log)
    try:
        page = scraped(process, log_path).splitlines()
    finally:
        process.kill()
        process.wait()
    assert 'noarkit_exit_code{command="scan",run="source"} 0' in page
    assert 'noarkit_records{command="ingest",run="other",state="read"} 3' in page
    assert "node_textfile_scrape_error 0" in page


def scraped(process: subprocess.Popen[bytes], log: Path) -> str:
    """The page of an exporter, as soon as it says where it is."""
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends:
        assert process.poll() is None, log.read_text("utf-8")
        for part in log.read_text("utf-8").split():
            if part.startswith("address=127.0.0.1:"):
                try:
                    with urllib.request.urlopen(f"http://{part.removeprefix('address=')}/metrics") as page:
                        return str(page.read().decode())
                except urllib.error.URLError:
                    pass
        time.sleep(0.05)
    raise AssertionError(log.read_text("utf-8"))
