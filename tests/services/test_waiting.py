"""A wait for a service is told: what is waited for and until when, at once and each minute, by whoever waits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from datetime import timedelta
from email.utils import formatdate
from pathlib import Path

import pytest

import noarkit
from noarkit.cli.console import Console
from noarkit.cli.main import main
from noarkit.cli.progress import Progress
from noarkit.errors import ServiceBusy
from noarkit.events import Event
from noarkit.safe.urls import UrlPolicy
from noarkit.services.client import Client
from noarkit.services.pace import Pace, Rate
from noarkit.services.scrub import Scrubber
from noarkit.services.spend.calls import Calls as SpendCalls
from noarkit.services.spend.jobs import wait_for
from noarkit.services.standins.server import StandinSpec
from noarkit.services.waiting import TELL_EVERY_S, Clock, Wait, WaitReporter, wait_event
from noarkit.services.wire import Request, Wire, WireSettings
from noarkit.words.texts import texts
from tests.services.conftest import kept_open
from tests.services.scripted import ScriptedService, Told, VirtualClock, one_after_another, serving, told
from tests.services.standing import standing
from tests.services.world import NOW, make_rig, thing
from tests.waiting import PATIENCE_S

LOOPBACK = frozenset({"127.0.0.1"})
ROOT = Path(__file__).parents[2]
LOADS_WITH_CHILDREN = """
import json, os, sys
from pathlib import Path
import noarkit
from noarkit.config import Sources, load
from noarkit.settings import Settings
folder, archive = sys.argv[1:]
config = load(Sources(flags={"archive.url": archive}, environment=os.environ, file=Path(folder, "noarkit.toml")))
heard = []
settings = Settings(config, os.environ)
noarkit.ingest(f"{folder}/run", archive=archive, workers=2, settings=settings, listener=heard.append)
print(json.dumps([event.data["until"] for event in heard if event.name == "service_waits"]))
"""


class Waits:
    """What was told, and when by the clock."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.told: list[tuple[float, Wait]] = []

    def __call__(self, wait: Wait) -> None:
        """Notes one."""
        self.told.append((self.clock.now_s(), wait))

    def longest_silence(self, ended_s: float) -> float:
        """The longest time in which nothing was told, up to an end."""
        moments = [moment for moment, _ in self.told]
        return max(after - before for before, after in zip(moments, [*moments[1:], ended_s], strict=True))


def client_for(service: ScriptedService, clock: VirtualClock, waits: Waits, rates: tuple[Rate, ...] = ()) -> Client:
    """A client whose waits take no time, and are noted."""
    timing = Clock(clock.now_s, clock.sleep_s)
    line = WireSettings("crm:test", UrlPolicy(LOOPBACK, frozenset({"http"}), LOOPBACK), answer_timeout_s=PATIENCE_S)
    wire = kept_open(Wire(line, Scrubber(), waits))
    return Client(wire, service.url, None, Pace(rates, clock=timing), clock=timing, jitter=lambda: 1.0)


@pytest.mark.parametrize("header", ["150", "date", "86400"])
@pytest.mark.parametrize("is_download", [False, True])
def test_a_pause_that_a_service_asks_for_is_told_at_once_and_each_minute(header: str, is_download: bool) -> None:
    clock = VirtualClock()
    waits, began_s = Waits(clock), clock.now_s()
    value = formatdate(began_s + 150, usegmt=True) if header == "date" else header
    with serving(one_after_another(Told(429, b"", {"Retry-After": value}), told({"good": 1}))) as service:
        client = client_for(service, clock, waits)
        request = Request("GET", service.url + "/x")
        if is_download:
            with client.download(request) as reply:
                reply.read()
        else:
            client.ask(request)
    wait_s = 900 if header == "86400" else 150
    assert {wait.why for _, wait in waits.told} == {"asked"}
    assert waits.told[0][0] == began_s
    assert all(wait.until_s == pytest.approx(began_s + wait_s, abs=1) for _, wait in waits.told)
    assert len(waits.told) == -(-wait_s // TELL_EVERY_S)
    assert waits.longest_silence(clock.now_s()) <= TELL_EVERY_S


def test_a_limit_of_our_own_is_told_by_its_name() -> None:
    clock = VirtualClock()
    waits = Waits(clock)
    with serving(one_after_another(told({}))) as service:
        client = client_for(service, clock, waits, (Rate(1, 300),))
        client.ask(Request("GET", service.url + "/x"))
        assert waits.told == []
        client.ask(Request("GET", service.url + "/x"))
    assert [wait.why for _, wait in waits.told] == ["limit"] * len(waits.told)
    assert waits.longest_silence(clock.now_s()) <= TELL_EVERY_S + 0.1


def test_calls_that_are_held_back_for_another_say_that_the_service_asked() -> None:
    clock = VirtualClock()
    waits = Waits(clock)
    with serving(one_after_another(told({}))) as service:
        client = client_for(service, clock, waits)
        client.pace.hold_back(90)
        client.ask(Request("GET", service.url + "/x"))
    assert [wait.why for _, wait in waits.told] == ["asked", "asked"]


def test_a_service_that_is_away_is_told_once_the_waits_grow_long() -> None:
    clock = VirtualClock()
    waits = Waits(clock)
    with serving(one_after_another(*[told({}, 503)] * 4, told({}))) as service:
        client = client_for(service, clock, waits)
        client.persistence = type(client.persistence)(attempts=6, first_wait_s=20)
        client.ask(Request("GET", service.url + "/x"))
    assert {wait.why for _, wait in waits.told} == {"again"}
    assert waits.longest_silence(clock.now_s()) <= TELL_EVERY_S


def test_a_job_that_does_not_end_is_told_each_minute() -> None:
    clock = VirtualClock()
    waits, began_s = Waits(clock), clock.now_s()
    states = ["processing"] * 30 + ["completed"]
    with serving(one_after_another(*(told({"data": {"status": state}}) for state in states))) as service:
        calls = SpendCalls(client_for(service, clock, waits), ("company_id", "1"))
        assert wait_for(calls, 1, "7")["status"] == "completed"
    assert clock.now_s() - began_s > 4 * TELL_EVERY_S
    assert {wait.why for _, wait in waits.told} == {"job"}
    assert waits.told[0][0] <= began_s + TELL_EVERY_S
    assert waits.longest_silence(clock.now_s()) <= TELL_EVERY_S + 15


def test_a_fault_after_all_waits_was_told_before() -> None:
    clock = VirtualClock()
    waits = Waits(clock)
    with serving(one_after_another(Told(429, b"", {"Retry-After": "400"}))) as service, pytest.raises(ServiceBusy):
        client_for(service, clock, waits).ask(Request("GET", service.url + "/x"))
    assert waits.longest_silence(clock.now_s()) <= TELL_EVERY_S


def test_short_waits_are_silent_until_they_add_up() -> None:
    clock = VirtualClock()
    waits = Waits(clock)
    reporter, timing = WaitReporter("crm:test", waits), Clock(clock.now_s, clock.sleep_s)
    for _ in range(14):
        reporter.sleep(timing, 4, "limit")
    assert waits.told == []
    for _ in range(100):
        reporter.sleep(timing, 4, "limit")
    assert 6 <= len(waits.told) <= 8
    assert waits.longest_silence(clock.now_s()) <= TELL_EVERY_S + 4


def test_threads_that_wait_for_the_same_thing_tell_it_once() -> None:
    clock = VirtualClock()
    waits = Waits(clock)
    reporter, barrier = WaitReporter("crm:test", waits), threading.Barrier(8)

    def wait() -> None:
        barrier.wait()
        reporter.sleep(Clock(clock.now_s, lambda seconds: None), 50, "asked")

    threads = [threading.Thread(target=wait) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(waits.told) == 1


@pytest.mark.parametrize(("lang", "pause"), [("en", "asked for a pause"), ("nb", "ba om en pause")])
def test_a_person_reads_what_is_waited_for_and_until_when(
    lang: str, pause: str, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = Progress(Console(texts(lang)), "plain")
    for why in ("asked", "limit", "again"):
        progress.on_event(wait_event(Wait("crm:main", why, 1_767_225_600.0, 61.6)))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 and pause in lines[0]
    assert all("crm:main" in line and "62 s" in line and ":00:00" in line for line in lines), lines


@pytest.mark.usefixtures("one_archive")
def test_waits_are_told_while_a_plan_is_made(tmp_path: Path) -> None:
    archive, heard = f"embedded:{tmp_path / 'archive'}", list[Event]()
    with standing("spend", tmp_path, StandinSpec(4)) as held:
        site = held.site(archive)
        held.control("trouble", path="/v1/accounting-entries:search", status=429, retry_after="6", times=1)
        noarkit.plan("spend:standin", tmp_path / "run", archive=archive, settings=site, listener=heard.append)
        planned = [event.data["why"] for event in heard if event.name == "service_waits"]
        assert planned == ["asked"]


def test_waits_of_the_children_that_load_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_archive: None
) -> None:
    rig = make_rig(tmp_path, monkeypatch)
    rig.set([thing(n, NOW - timedelta(days=1), waits=True) for n in range(3)])
    rig.plan("run")
    # in a process of its own, whose listener no child can reach but by what the children send
    environment = {"HOME": str(rig.folder), "PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}{os.pathsep}{rig.site}"}
    line = [sys.executable, "-c", LOADS_WITH_CHILDREN, str(rig.folder), rig.archive]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["2026-01-01T00:00:00+00:00"] * 3


def test_a_command_that_asks_a_service_tells_its_waits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with standing("features", tmp_path, StandinSpec(4)) as held:
        held.control("trouble", path="/project", status=429, retry_after="6", times=1)
        assert main(["connect", "features:standin", "--config", str(held.config), "--json"], held.environment) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["why"] for event in events if event["event"] == "service_waits"] == ["asked"]
