"""The nights of samples/secured-zone: its files are sound, and a test that plays systemd goes through every ending."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from noarkit.config import Sources, load
from noarkit.errors import GRAVITY
from tests.operations.test_health import CANARY as CHECK_CANARY
from tests.operations.test_health import serving
from tests.operations.watching import collected
from tests.ports import free_port
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "samples" / "secured-zone"
UNIT = (SAMPLE / "noarkit-night.service").read_text("utf-8")
SECRET = "canary-secret-of-the-night"
NAME = "Kari Nordmann"
NOBODY = 65534
SCRIPT = "/usr/local/libexec/noarkit-night"


def setting(name: str) -> list[str]:
    """What a unit says under a name, in its order."""
    return re.findall(rf"^{name}=(.*)$", UNIT, re.M)


def codes(name: str) -> set[int]:
    """The exit codes under a name."""
    return {int(code) for line in setting(name) for code in line.split()}


def needs(program: str) -> str:
    """Where a program is; the test is left out where it is not."""
    found = shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")
    if found is None:
        pytest.skip(f"there is no {program} here")
    return found


def test_every_exit_code_has_one_answer() -> None:
    good, again, bad = codes("SuccessExitStatus"), codes("RestartForceExitStatus"), codes("RestartPreventExitStatus")
    assert good | again | bad | {0, 130} == set(GRAVITY)
    assert not (good & again or good & bad or again & bad)
    table = (SAMPLE / "README.md").read_text("utf-8").split("| exit |", 1)[1]
    assert {int(code) for code in re.findall(r"\b\d+\b", " ".join(re.findall(r"^\| ([\d ]+) \|", table, re.M)))} == {
        0, *good, *again, *bad,
    }  # fmt: skip


def test_systemd_finds_nothing_wrong_and_little_exposed(tmp_path: Path) -> None:
    analyze = needs("systemd-analyze")
    for name in ("noarkit-night.service", "noarkit-night.timer"):
        text = (
            (SAMPLE / name)
            .read_text("utf-8")
            .replace("/usr/local/libexec/noarkit-night", str(SAMPLE / "noarkit-night"))
        )
        (tmp_path / name).write_text(text, "utf-8")
    units = [str(tmp_path / "noarkit-night.service"), str(tmp_path / "noarkit-night.timer")]
    verified = subprocess.run(
        [analyze, "verify", "--man=no", "--recursive-errors=no", *units], capture_output=True, text=True, check=False
    )
    assert (verified.returncode, verified.stderr) == (0, "")
    secure = subprocess.run(
        [analyze, "security", "--offline=true", "--threshold=15", units[0]], capture_output=True, text=True, check=False
    )
    assert secure.returncode == 0, secure.stdout + secure.stderr


def test_its_settings_name_secrets_and_hold_none() -> None:
    config = load(Sources(file=SAMPLE / "noarkit.toml"))
    source = config.archive.client_secret
    assert source is not None
    assert (source.kind, source.value) == ("credential", ("archive",))
    assert config.operations.ping is not None and config.operations.ping.value == ("ping-url",)
    assert setting("LoadCredential") == ["archive:/etc/noarkit/archive.secret", "ping-url:/etc/noarkit/ping-url"]
    assert set(config.operations.success_exits) == codes("SuccessExitStatus") | {0}


def test_the_rotation_is_understood_and_never_touches_a_run(tmp_path: Path) -> None:
    rotate = needs("logrotate")
    text = (SAMPLE / "noarkit.logrotate").read_text("utf-8")
    logs = tmp_path / "log"
    logs.mkdir(mode=0o700)
    (logs / "noarkit.log").write_text("{}\n", "utf-8")
    place = tmp_path / "conf"
    place.write_text(
        re.sub(r"^ *su .*$|\bnoarkit noarkit$", "", text, flags=re.M).replace("/var/log/noarkit", str(logs))
    )
    place.chmod(0o600)
    ran = subprocess.run(
        [rotate, "-f", "-s", str(tmp_path / "state"), str(place)], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert {path.name.split("-")[0] for path in logs.iterdir()} >= {"noarkit.log"} and len(list(logs.iterdir())) == 2
    assert not re.search(r"^/var/lib", text, re.M)


def test_the_line_for_cron_is_a_line_and_gives_no_secret() -> None:
    text = (SAMPLE / "noarkit.cron").read_text("utf-8")
    (line,) = (one for one in text.splitlines() if one and not re.match(r"#|[A-Z_]+=", one))
    fields = line.split(None, 6)
    assert len(fields) == 7 and fields[5] == "noarkit" and "%" not in line
    assert "umask 077" in fields[6] and "flock -n" in fields[6]
    assert not re.search(r"secret\s*=\s*\"", text)


def test_the_container_runs_as_nobody_in_particular() -> None:
    text = (SAMPLE / "Containerfile").read_text("utf-8")
    steps = re.findall(r"^([A-Z]+) ", text, re.M)
    assert steps.index("USER") < steps.index("ENTRYPOINT")
    assert "USER 2000:2000" in text and ":ro" in text and "--read-only" in text and "--cap-drop=all" in text
    assert not re.search(r"^(ENV|ARG).*(SECRET|PASSWORD|TOKEN)", text, re.M)
    for name in re.findall(r"^COPY (?:--\S+ )?(\S+)", text, re.M):
        assert name == "wheelhouse" or (SAMPLE / name).exists()


def test_the_container_is_built_with_any_python_that_is_supported() -> None:
    text = (SAMPLE / "Containerfile").read_text("utf-8")
    facts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    supported = {one.rpartition(" ")[2] for one in facts["classifiers"] if "Python :: 3." in one}
    (default,) = re.findall(r"^ARG PYTHON=(.+)$", text, re.M)
    assert default in supported
    (base,) = re.findall(r"^FROM (.+)$", text, re.M)
    assert "${PYTHON}" in base
    assert not re.search(r"3\.\d+", text.replace(f"ARG PYTHON={default}", "").replace("--build-arg PYTHON=3.13", ""))


@dataclass(frozen=True)
class Zone:
    """A machine: what it keeps over a reboot, and the archive it can reach."""

    place: Path
    port: int

    @property
    def state(self) -> Path:
        return self.place / "state"

    @property
    def run(self) -> Path:
        return self.state / "run"

    def archive(self) -> subprocess.Popen[str]:
        """The archive, up and serving."""
        command = [sys.executable, "-m", "noarkit", "serve", "--data", "archive", "--port", str(self.port), "--json"]
        process = subprocess.Popen(
            command, cwd=self.place, env=self.plain(), stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        assert process.stdout is not None
        json.loads(process.stdout.readline())
        return process

    def plain(self) -> dict[str, str]:
        return {"PATH": f"{self.place}:{os.environ['PATH']}", "HOME": "/nonexistent", "PYTHONPATH": str(ROOT)}

    def start(self, **more: str) -> subprocess.Popen[str]:
        """What systemd does with the unit: its environment, its mask, its credentials, an account without rights."""
        environment = dict(line.split("=", 1) for line in setting("Environment"))
        environment |= {
            "STATE_DIRECTORY": str(self.state),
            "LOGS_DIRECTORY": str(self.place / "logs"),
            "CREDENTIALS_DIRECTORY": str(self.place / "credentials"),
            "NOARKIT_CONFIG": str(self.place / "noarkit.toml"),
            "NIGHT_SOURCE": str(self.place / "source"),
            "NIGHT_RECIPE": "",
            **self.plain(),
            **more,
        }
        (command,) = setting("ExecStart")
        assert command == SCRIPT
        words = [str(SAMPLE / "noarkit-night")]
        if os.geteuid() == 0:  # root without capabilities is held to the rights of files like anybody
            words = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", *words]
        return subprocess.Popen(
            words,
            cwd=self.state,
            env=environment,
            umask=int(setting("UMask")[0], 8),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def night(self, **more: str) -> tuple[int, str]:
        """A whole night, and what it ended with."""
        process = self.start(**more)
        said, _ = process.communicate(timeout=PATIENCE_S)
        return process.returncode, said

    def wait_for(self, event: str, process: subprocess.Popen[str]) -> None:
        """Until the run has told of an event once more than before."""
        log = self.run / "run.log"
        before = log.read_text("utf-8").count(f'"{event}"') if log.exists() else 0
        ends = time.monotonic() + PATIENCE_S
        while time.monotonic() < ends:
            if log.exists() and log.read_text("utf-8").count(f'"{event}"') > before:
                return
            assert process.poll() is None, process.stdout and process.stdout.read()
            time.sleep(0.02)
        raise AssertionError(f"no {event} in two minutes")


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    """A source of somebody else's that can only be read, an archive that is away, a secret for the service alone."""
    if os.geteuid() == 0:
        needs("setpriv")
    source = tmp_path / "source"
    for number in range(24):
        (source / f"case {number % 6}").mkdir(parents=True, exist_ok=True)
        (source / f"case {number % 6}" / f"{NAME} {number}.txt").write_text(f"letter {number}", "utf-8")
    for path in (source, *source.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
        if os.geteuid() == 0:
            os.chown(path, NOBODY, NOBODY)
    for name in ("state", "logs", "credentials"):
        (tmp_path / name).mkdir(mode=0o700)
    (tmp_path / "noarkit").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m noarkit "$@"\n', "utf-8")
    (tmp_path / "noarkit").chmod(0o755)
    made = Zone(tmp_path, 0)
    first = subprocess.run(
        [sys.executable, "-m", "noarkit", "doctor", "--archive", f"embedded:{tmp_path / 'archive'}"],
        env=made.plain(),
        capture_output=True,
        check=False,
    )
    assert first.returncode == 0  # the archive is made
    clients = tmp_path / "archive" / "clients.toml"
    text = clients.read_text("utf-8")
    found = re.search(r'\[clients\.integration\][^\[]*?secret = "([^"]+)"', text, re.S)
    assert found is not None
    clients.write_text(text.replace(found[1], SECRET), "utf-8")
    (tmp_path / "credentials" / "archive").write_text(SECRET + "\n", "utf-8")
    port = free_port()
    (tmp_path / "noarkit.toml").write_text(
        f'[archive]\nurl = "http://127.0.0.1:{port}/rms/api/public"\nclient_id = "integration"\n'
        'client_secret = { credential = "archive" }\ntransaction_deadline_s = 1\n',
        "utf-8",
    )
    yield Zone(tmp_path, port)
    for path in (source, *source.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def listing(source: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything that a source holds, with times."""
    return {
        str(path): (path.stat().st_mtime_ns, path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in sorted(source.rglob("*"))
    }


def kill_all(process: subprocess.Popen[str]) -> None:
    """A power cut: everything of it is gone at once."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def test_nights_with_an_archive_away_a_stop_a_power_cut_and_an_end_come_to_a_whole_archive(zone: Zone) -> None:
    before = listing(zone.place / "source")
    good, again = codes("SuccessExitStatus") | {0}, codes("RestartForceExitStatus")
    late = (datetime.now(UTC) + timedelta(hours=9)).isoformat()
    said: list[str] = []

    code, told = zone.night(NIGHT_UNTIL=late)  # the archive is away
    said.append(told)
    assert code in again and code == 5, told

    archive = zone.archive()
    code, told = zone.night(NIGHT_UNTIL=datetime.now(UTC).isoformat())  # the window is over
    said.append(told)
    assert code in good and code == 11, told

    process = zone.start(NIGHT_UNTIL=late, NOARKIT_MAX_RATE="8/s")
    zone.wait_for("load_began", process)
    process.send_signal(signal.SIGTERM)  # systemctl stop
    said.append(process.communicate(timeout=PATIENCE_S)[0])
    assert process.returncode in good and process.returncode == 143, said[-1]

    process = zone.start(NIGHT_UNTIL=late, NOARKIT_MAX_RATE="8/s")
    zone.wait_for("load_began", process)
    time.sleep(1.0)  # somewhere in the middle; anywhere will do
    kill_all(process)  # the power goes, for the archive too
    kill_all(archive)

    archive = zone.archive()  # and comes back
    try:
        code, told = zone.night(NIGHT_UNTIL=late)
        said.append(told)
        assert (code, code in good) == (0, True), told
        certificates = sorted(zone.run.glob("verify-*.json"))
        assert json.loads(certificates[0].read_text("utf-8"))["good"]
        assert "Files, byte for byte: 24 of 24" in told
        code, told = zone.night(NIGHT_UNTIL=late)  # another night has nothing to do
        assert (code, sorted(zone.run.glob("verify-*.json"))) == (0, certificates)
    finally:
        kill_all(archive)

    assert listing(zone.place / "source") == before
    for path in (*zone.state.rglob("*"), *(zone.place / "logs").rglob("*")):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path
        assert SECRET.encode() not in path.read_bytes() if path.is_file() else True
    logs = "".join(path.read_text("utf-8") for path in (zone.place / "logs").iterdir()) + "".join(said)
    logs += (zone.run / "run.log").read_text("utf-8")
    assert NAME not in logs and SECRET not in logs


def test_everybody_is_told_of_a_night_and_a_hold_puts_it_off(zone: Zone) -> None:
    """The sample's own `[operations]`, with places of this test: metrics, hooks, journal, health check, watchdog."""
    place = zone.place
    late = (datetime.now(UTC) + timedelta(hours=9)).isoformat()
    operations = (SAMPLE / "noarkit.toml").read_text("utf-8").split("[operations]")[1]
    for name, own in (
        ("/var/lib/prometheus/node-exporter", str(place)),
        ("/usr/local/libexec", str(SAMPLE)),
        ('"journald"', f'"journald:{place / "journal"}"'),
        ('ping_ca = "/etc/noarkit/zone-ca.pem"', ""),
    ):
        assert name in operations
        operations = operations.replace(name, own)
    told = {"NOTIFY_SOCKET": str(place / "notify"), "WATCHDOG_USEC": "900000", "SYSTEMD_EXEC_PID": "1"}
    told |= {"WATCHDOG_PID": "1", "NIGHT_HOLD": str(place / "hold"), "NIGHT_UNTIL": late}
    archive = zone.archive()  # in its folder, and not to be watched itself
    with (place / "noarkit.toml").open("a", encoding="utf-8") as config:
        config.write(f"\n[operations]{operations}")
    try:
        with serving() as checks, collected(place / "journal") as journal, collected(place / "notify") as manager:
            (place / "credentials" / "ping-url").write_text(checks.url + "\n", "utf-8")
            (place / "hold").touch()
            code, said = zone.night(**told)
            assert code in codes("RestartForceExitStatus"), said
            assert not zone.run.exists(), "nothing was done"
            (place / "hold").unlink()
            held = list(manager)
            code, said = zone.night(**told)
            assert code == 0, said
        heard, entries = manager[len(held) :], journal
    finally:
        kill_all(archive)
    suffixes = [path.removeprefix(f"/{CHECK_CANARY}") for path, _ in checks.pings]
    assert suffixes == ["/start", "/fail", "/start", "", "/start", ""]
    assert not any(b"READY=1" in message for message in held)
    words = b"\n".join(heard)
    assert words.count(b"READY=1") == 2 and b"WATCHDOG=1" in words and b"STOPPING=1" not in words
    assert any(b"NOARKIT_EVENT=summary" in entry and b"NOARKIT_COMMAND=verify" in entry for entry in entries)
    metrics = (place / "noarkit.prom").read_text("utf-8")
    values = {
        (family.name, sample.labels["command"], sample.labels.get("state", "")): sample.value
        for family in text_string_to_metric_families(metrics)
        for sample in family.samples
    }
    assert values["noarkit_records", "ingest", "archived"] == 24
    assert values["noarkit_exit_code", "ingest", ""] == values["noarkit_exit_code", "verify", ""] == 0
    failures = [json.loads(line) for line in (place / "logs" / "failures.log").read_text("utf-8").splitlines()]
    assert [(failure["event"], failure["exit"]) for failure in failures] == [("failure", 5)]
    everything = metrics + said + json.dumps(failures) + json.dumps(checks.pings) + repr(heard + entries)
    everything += (place / "logs" / "noarkit.log").read_text("utf-8")
    assert NAME not in everything and SECRET not in everything
    assert CHECK_CANARY not in everything.replace(json.dumps(checks.pings), "")
