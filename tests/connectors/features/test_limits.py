"""Two windows at once, over changes and where it is switched on over reads too: never passed, by no one of many."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from noarkit.connectors.features import open_service, writing
from noarkit.connectors.features.settings import read
from noarkit.connectors.pace import Clock
from noarkit.connectors.settings import Connection
from noarkit.standins.serving import Wish
from tests.connectors.features.asking import connected
from tests.connectors.scripted import VirtualClock
from tests.connectors.standing import Standing, standing


@pytest.mark.parametrize("counted", [False, True])
def test_both_windows_are_kept_over_all_threads_in_real_time(tmp_path: Path, counted: bool) -> None:
    options = {"audit": "0", **({"reads": "counted"} if counted else {})}
    with standing("features", tmp_path, Wish(15, limits=((8, 0.3), (20, 1.5)), options=options)) as strict:
        service = open_service(strict.connection({"state": str(tmp_path / "s")}))

        def work(number: int) -> None:
            for place in range(8):
                if counted and place % 2:
                    service.calls.project()
                else:
                    writing.create(service.calls, "gates", {"name": f"g{number}-{place}"})

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        limits = strict.control("counts")["limits"]
        assert isinstance(limits, dict)
        assert (limits["calls"], limits["refused"]) == (32, 0)
        assert limits["most"][0] <= 8
        assert limits["most"][1] <= 20
        service.close()


def test_reads_share_the_windows_of_changes_unless_they_have_their_own(held: Standing, tmp_path: Path) -> None:
    for service in connected(held, tmp_path, read_rates=["shared"]):
        assert service.calls.reading.pace is service.calls.writing.pace
    for service in connected(held, tmp_path, read_rates=["5/s"]):
        assert service.calls.reading.pace is not service.calls.writing.pace


def test_two_thousand_five_hundred_changes_never_pass_either_window(held: Standing, tmp_path: Path) -> None:
    clock = VirtualClock(0.0)
    settings = {"state": str(tmp_path / "s"), "rates": ["100/10s", "900/900s"], "read_rates": ["shared"]}
    service = open_service(held.connection(settings), Clock(clock.now_s, clock.sleep_s))
    sent = []
    for place in range(2_500):
        client = service.calls.reading if place % 5 == 0 else service.calls.writing
        with client.pace.call("features:standin"):
            sent.append(clock.now_s())
    service.close()
    for most, span in ((100, 10.0), (900, 900.0)):
        within = max(sum(1 for at in sent[place : place + most + 1] if at - sent[place] < span - 1e-6)
                     for place in range(len(sent)))  # fmt: skip
        assert within == most
    assert 1_855 < sent[-1] < 1_870


def test_the_default_limits_leave_room_for_people_in_the_console(held: Standing) -> None:
    found = read(Connection("features", "x", {"console_api_url": held.url}, {}))
    assert [(rate.calls, rate.seconds) for rate in found.rates] == [(90, 10.0), (850, 900.0)]
    assert found.read_rates is None


def test_too_many_requests_without_a_word_hold_back_ten_then_thirty_seconds(held: Standing, tmp_path: Path) -> None:
    held.control("trouble", path="/project", status=429, times=2, body="{}")
    clock = VirtualClock(datetime.now(UTC).timestamp())
    service = open_service(held.connection({"state": str(tmp_path / "s")}), Clock(clock.now_s, clock.sleep_s))
    assert service.calls.project()["id"]
    assert [round(slept) for slept in clock.slept if slept > 1][:2] == [10, 30]
    service.close()
