"""Two windows at once, over changes and where it is switched on over reads too: never passed, by no one of many."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from noarkit.errors import ServiceBusy
from noarkit.events import ignore_event
from noarkit.services.features.service import open_service
from noarkit.services.features.settings import read_settings
from noarkit.services.pace import Clock
from noarkit.services.port import Window
from noarkit.services.settings import Connection
from noarkit.services.standins.server import StandinSpec
from noarkit.services.waiting import Wait, WaitReporter
from tests.services.features.asking import LATER, connected
from tests.services.scripted import VirtualClock
from tests.services.standing import Standing, standing
from tests.waiting import PATIENCE_S

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
# as many calls, in windows that are a part of ten seconds and of a quarter of an hour
STRICT, CALLS = (((100, 1.25), (900, 15.0)), 2_500) if DEEP else (((8, 0.3), (24, 1.5)), 48)
WORK = """
import sys, threading
from pathlib import Path
from noarkit.config import Sources, load
from noarkit.services.features import write_calls
from noarkit.services.features.service import open_service
from noarkit.services.connections import read_connection
config = load(Sources(file=Path(sys.argv[1])))
service = open_service(read_connection("features:standin", config, {"HOME": sys.argv[2]}))
name, calls, mixed = sys.argv[3], int(sys.argv[4]), sys.argv[5] == "mixed"
def work(number):
    for place in range(calls):
        if mixed and place % 2:
            service.calls.project()
        else:
            write_calls.create(service.calls, "gates", {"name": f"g{name}-{number}-{place}"})
threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
[one.start() for one in threads]
[one.join() for one in threads]
"""


@pytest.mark.parametrize("counted", [False, True], ids=["changes", "reads too"])
def test_both_windows_are_kept_over_all_threads_of_all_processes_in_real_time(tmp_path: Path, counted: bool) -> None:
    options = {"audit": "0", **({"reads": "counted"} if counted else {})}
    with standing("features", tmp_path, StandinSpec(15, limits=STRICT, options=options)) as strict:
        mixed = "mixed" if counted else "changes"
        line = [sys.executable, "-c", WORK, str(strict.config), str(tmp_path)]
        working = [subprocess.Popen([*line, str(one), str(CALLS // 4), mixed]) for one in range(2)]
        assert [one.wait(PATIENCE_S) for one in working] == [0, 0]
        limits = strict.control("counts")["limits"]
    assert isinstance(limits, dict)
    assert (limits["calls"], limits["refused"]) == (CALLS, 0)
    assert [most <= calls for most, (calls, _) in zip(limits["most"], STRICT, strict=True)] == [True, True]


def test_a_long_wait_for_a_limit_is_told_and_a_longer_one_than_is_allowed_is_a_fault(
    held: Standing, tmp_path: Path
) -> None:
    limits: dict[str, object] = {"rates": ["2/900s"], "read_rates": ["shared"]}
    with connected(held, tmp_path, **limits) as service:
        stream = next(one for one in service.streams() if one.name == "audit")
        heard: list[Wait] = []
        service.wire.waits = WaitReporter("features:standin", heard.append)
        list(service.items(stream, Window(None, LATER), ignore_event))  # a page, and whose project it is
        assert heard == []
        list(service.items(stream, Window(None, LATER), ignore_event))
    assert [wait.why for wait in heard] == ["limit"] * len(heard)
    assert (880 < heard[0].left_s <= 901, len(heard)) == (True, 16), "at once, and each minute"
    with connected(held, tmp_path / "other", wait_most_s=60, **limits) as service, pytest.raises(ServiceBusy):
        [service.calls.project() for _ in range(3)]


def test_reads_share_the_windows_of_changes_unless_they_have_their_own(held: Standing, tmp_path: Path) -> None:
    with connected(held, tmp_path, read_rates=["shared"]) as service:
        assert service.calls.read_client.pace is service.calls.write_client.pace
    with connected(held, tmp_path, read_rates=["5/s"]) as service:
        assert service.calls.read_client.pace is not service.calls.write_client.pace


def test_two_thousand_five_hundred_changes_never_pass_either_window(held: Standing, tmp_path: Path) -> None:
    clock = VirtualClock(0.0)
    settings = {"state": str(tmp_path / "s"), "rates": ["100/10s", "900/900s"], "read_rates": ["shared"]}
    service = open_service(held.connection(settings), Clock(clock.now_s, clock.sleep_s))
    sent = []
    for place in range(2_500):
        client = service.calls.read_client if place % 5 == 0 else service.calls.write_client
        with client.pace.call("features:standin"):
            sent.append(clock.now_s())
    service.close()
    for most, span in ((100, 10.0), (900, 900.0)):
        within = max(sum(1 for at in sent[place : place + most + 1] if at - sent[place] < span - 1e-6)
                     for place in range(len(sent)))  # fmt: skip
        assert within == most
    assert 1_855 < sent[-1] < 1_870


def test_the_default_limits_leave_room_for_people_in_the_console(held: Standing) -> None:
    found = read_settings(Connection("features", "x", {"console_api_url": held.url}, {}))
    assert [(rate.calls, rate.seconds) for rate in found.rates] == [(90, 10.0), (850, 900.0)]
    assert found.read_rates is None


def test_too_many_requests_without_a_word_hold_back_ten_then_thirty_seconds(held: Standing, tmp_path: Path) -> None:
    held.control("trouble", path="/project", status=429, times=2, body="{}")
    clock = VirtualClock(datetime.now(UTC).timestamp())
    service = open_service(held.connection({"state": str(tmp_path / "s")}), Clock(clock.now_s, clock.sleep_s))
    assert service.calls.project()["id"]
    assert [round(slept) for slept in clock.slept if slept > 1][:2] == [10, 30]
    service.close()
