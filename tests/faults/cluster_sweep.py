"""scripts/faults cluster [--namespaces] [--seeds A-B] [--only PART] | --cold WHEELHOUSE: what may befall a cluster.

Each seed is a load of its own with one to three blows; at its end each key is in the archive once and no number is off.
Without `--namespaces` all machines are this one. With it (root, `ip netns`) each role has a network namespace of its
own, and before the seeds come: strangers, who are refused; SIGKILL of each role at every sampled step; stops beyond
the lease; and cables that are pulled for 90 s, with leases as long as outside of tests.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from pathlib import Path

from noarkit.server.clients import ClientsFile
from tests.faults import cluster_machines as several
from tests.faults import cold_cluster
from tests.faults.cluster import HOSTS, LEASE_S, Cluster
from tests.faults.network import why_not
from tests.faults.world import Command, World
from tests.loading.journey import copied

_BLOWS = ("slot", "machine", "scheduler", "coordinator", "stop")
_DELAY = {"call": "POST transaction", "kind": "delay", "seconds": 0.15}
_CUT_S = 90.0
_LONG_DELAY = {"call": "POST transaction", "kind": "delay", "seconds": 3.0}
_STEPS = range(1, 40, 4)
_PARTS = ("strangers", "kills", "stops", "cuts", "seeds")


def main() -> int:
    """0 where every schedule kept its promise; else the first that did not is told."""
    parser = argparse.ArgumentParser(prog="scripts/faults cluster")
    parser.add_argument("--seeds", default="1-20", metavar="A-B")
    parser.add_argument("--namespaces", action="store_true", help="each role in a network namespace of its own")
    parser.add_argument("--only", choices=_PARTS, action="append", help="with --namespaces: this part alone")
    parser.add_argument("--cold", type=Path, metavar="DIR", help="set one up by the manual, from this wheelhouse")
    told = parser.parse_args()
    first, last = (int(number) for number in told.seeds.split("-"))
    seeds = range(first, last + 1)
    if told.only and not told.namespaces:
        parser.error("--only is for --namespaces")
    if (told.namespaces or told.cold) and (reason := why_not()):
        sys.stderr.write(f"{reason} Without --namespaces the same machines are processes on this one.\n")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that namespaces are removed then too
    if told.cold:
        cold_cluster.main(told.cold.absolute())
        return 0
    with tempfile.TemporaryDirectory(prefix="noarkit-cluster-") as name:
        if told.namespaces:
            sweep_namespaces(Path(name), told.only or _PARTS, seeds)
        else:
            sweep_loopback(Path(name), seeds)
    return 0


def sweep_namespaces(root: Path, parts: tuple[str, ...] | list[str], seeds: range) -> None:
    """The parts one after another; pulled cables at the same time, for they take minutes and do next to nothing."""
    quick: dict[str, Callable[[several.Machines], Iterator[str]]] = {
        "strangers": _strangers,
        "kills": _kills,
        "stops": _stops,
        "seeds": lambda machines: _seeds(machines, seeds),
    }
    with several.machines_in_namespaces(root / "quick") as machines:
        for part in parts:
            if part == "cuts":
                with ThreadPoolExecutor(len(HOSTS)) as pool:
                    for done in as_completed([pool.submit(_long_cut, root / host, host) for host in HOSTS[:4]]):
                        print(f"cuts: {done.result()}", flush=True)
                continue
            for line in quick[part](machines):
                print(f"{part}: {line}", flush=True)


def _strangers(machines: several.Machines) -> Iterator[str]:
    yield several.refuse_strangers(machines)


def _kills(machines: several.Machines) -> Iterator[str]:
    for role in several.ROLES:
        struck = []
        for step in _STEPS:
            with machines.load() as (world, load):
                if several.until_line(load, step):
                    machines.kill(role, world, load, random.Random(step))
                    struck.append(step)
                machines.finish(world, load)
        yield f"{role}: SIGKILL after the events {', '.join(map(str, struck))}"


def _stops(machines: several.Machines) -> Iterator[str]:
    for step in _STEPS[:5]:
        with machines.load() as (world, load):
            several.until_line(load, step)
            machines.pause(LEASE_S * 2, random.Random(step))
            machines.finish(world, load)
    yield f"SIGSTOP for {LEASE_S * 2} s with a lease of {LEASE_S} s, SIGCONT when its shard was with another"


def _seeds(machines: several.Machines, seeds: range) -> Iterator[str]:
    for seed in seeds:
        yield f"{seed}: {several.shake(machines, seed)}"


def _long_cut(root: Path, host: str) -> str:
    """A cable that is pulled for 90 s, with a lease of 60 s; then the machine comes back by itself and loads alone."""
    began = time.monotonic()
    with several.machines_in_namespaces(root, real_times=True, rule=_LONG_DELAY) as machines:
        with machines.load() as (world, load):
            load.until_event("chunk_done", 5)
            machines.cut(host, _CUT_S)
            machines.finish(world, load)
            codes = [command.lines[-1].get("code", command.lines[-1].get("state")) for command in world.commands]
            handed_on = sum(len(command.events("shard_handed_on")) for command in world.commands)
            machines.end_others(host)
            world.grow(10)
            world.run_name = "run-after"
            world.check(world.until_done(**machines.job()))
        seconds = time.monotonic() - began
        return f"{host} for {_CUT_S:.0f} s: calls ended with {codes}, {handed_on} shards handed on, {seconds:.0f} s"


def sweep_loopback(root: Path, seeds: range) -> None:
    """The seeds on this machine alone."""
    template = several.make_template(root / "template")
    accounts = ClientsFile(template / "clients.toml").current().accounts
    (root / "cluster").mkdir()
    with closing(Cluster(root / "cluster", {name: known.secret for name, known in accounts.items()})) as cluster:
        for seed in seeds:
            told = play(seed, template, root / "world", cluster)
            print(f"seed {seed}: {told}", flush=True)


def play(seed: int, template: Path, root: Path, cluster: Cluster) -> str:
    """One schedule. Raises AssertionError where a key is lost or doubled."""
    chance = random.Random(seed)
    honours_versions = chance.random() < 0.5
    account = "admin" if honours_versions else chance.choice(("admin", "plain"))
    if cluster.scheduler is None:
        cluster.start_scheduler()
    for machine in cluster.machines:
        machine.kill()
    cluster.machines.clear()
    for _ in range(2):
        cluster.start_machine(2, account=account)
    copied(template, root / "archive")
    (root / "archive" / "server.toml").write_text(f"honours_versions = {str(honours_versions).lower()}\n")
    blows = [chance.choice(_BLOWS) for _ in range(chance.randint(1, 3))]
    with closing(World(root, account)) as world:
        world.grow(40)
        world.serve(_DELAY)
        load = world.start(**cluster.job(chunk_actions=20))
        for blow in blows:
            load.until_event(chance.choice(("shard_started", "chunk_done")), chance.randint(1, 4))
            strike(blow, load, cluster, chance, account)
        end = load.end()
        if end.get("state") != "done":
            if cluster.scheduler is None:
                cluster.start_scheduler()
            end = world.until_done(**cluster.job(chunk_actions=20))
        world.check(end)
    shutil.rmtree(root, ignore_errors=True)
    return f"{', '.join(blows)}{'' if honours_versions else f', no versions, {account}'}"


def strike(blow: str, load: Command, cluster: Cluster, chance: random.Random, account: str) -> None:
    """One blow."""
    machine = chance.choice(cluster.machines)
    if blow == "slot" and machine.process.poll() is None and machine.slots():
        machine.strike_slot(chance.choice(machine.slots()))
    elif blow == "machine":
        machine.kill()
        cluster.machines.remove(machine)
        cluster.start_machine(2, account=account)
    elif blow == "scheduler":
        cluster.kill_scheduler()
    elif blow == "coordinator":
        load.kill()
    elif blow == "stop":
        machine.signal(signal.SIGSTOP)
        time.sleep(LEASE_S * chance.choice((0.3, 0.9, 1.5)))
        machine.signal(signal.SIGCONT)


if __name__ == "__main__":
    raise SystemExit(main())
