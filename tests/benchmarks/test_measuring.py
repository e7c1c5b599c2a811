"""What a stretch of work cost: whose processor time it was, and what others took."""

import os
import subprocess
import sys
import time

from scripts.benchmarks.compare import read_figures
from scripts.benchmarks.measuring import Cost, Meter

WORK_S = 0.6
BUSY = f"import os\nwhile sum(os.times()[:2]) < {WORK_S}: pass\n"
UNTIL_TOLD = "print(flush=True)\nsys.stdin.read()\n"
QUIET = Cost(10.0, 4.0, 2.0, 1.0, 0.5, 1.5, 0.5)


def work() -> None:
    began = time.process_time()
    while time.process_time() - began < WORK_S:
        pass


def test_our_time_our_childrens_and_servers_are_told_apart() -> None:
    meter = Meter()
    work()
    subprocess.run([sys.executable, "-c", BUSY], check=True)
    script = f"import sys\n{BUSY}{UNTIL_TOLD}"
    command = [sys.executable, "-c", script, "standin"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        cost = meter.cost()
    meter.close()
    slack_s = 0.4 + 0.02 * cost.elapsed_s  # the meter itself looks again and again
    assert abs(cost.ours_s - WORK_S) < slack_s
    assert abs(cost.children_s - WORK_S) < 0.4
    assert abs(cost.server_s - WORK_S) < 0.3


def test_another_process_is_measured_with_what_it_started() -> None:
    script = f"import subprocess, sys\n{BUSY}subprocess.run([sys.executable, '-c', {BUSY!r}])\n{UNTIL_TOLD}"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        meter = Meter(process.pid, every_s=0.05)
        assert process.stdout is not None
        process.stdout.readline()
        peak_mb, cost = meter.peak_mb(), meter.cost()
        meter.close()
    assert abs(cost.ours_s - WORK_S) < 0.3
    assert abs(cost.children_s - WORK_S) < 0.3
    assert cost.server_s == 0
    assert 10 < peak_mb < 100  # two interpreters, and not this one with all its tests


def test_what_others_take_makes_a_round_not_quiet() -> None:
    meter = Meter()
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        own = Meter(others[0].pid)
        time.sleep(1.0)
        assert own.cost().others_per_core > 0.3
        assert not own.cost().is_quiet or (os.cpu_count() or 1) == 1
        assert meter.cost().children_s > 0.2
    finally:
        for process in others:
            process.kill()
            process.wait()
        own.close()
        meter.close()


def test_a_round_is_quiet_up_to_half_a_core_of_others() -> None:
    assert QUIET.is_quiet
    assert "load before 0.5, during 1.5, others 0.50 a core: quiet" in QUIET.text()
    busy = Cost(10.0, 4.0, 2.0, 1.0, 0.5, 1.5, 0.51)
    assert not busy.is_quiet
    assert busy.text().endswith("not quiet")


def test_the_processor_time_behind_a_figure_is_read_from_what_a_bench_prints() -> None:
    printed = [
        f"| ^ before any: {QUIET.text()} | | | | |",
        "| scan, warm | 83,421 files/s | 205,111 files/s | 0.41 | a floor |",
        f"| ^ round 1 of 2: {QUIET.text()} | | | | |",
        f"| ^ round 2 of 2: {QUIET.text()} | | | | |",
        f"| ^ beside it, round 1 of 2: {QUIET.text()} | | | | |",
        "| plan | 17 entities/s | | | |",
    ]
    figures, beside, processor_s = read_figures("\n".join(printed))
    assert figures == {"scan, warm": (83_421.0, "files/s"), "plan": (17.0, "entities/s")}
    assert beside == {"scan, warm": 0.41}
    assert processor_s == {"scan, warm": 14.0}
