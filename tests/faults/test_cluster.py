"""Scheduler, workers and coordinator as processes over TLS: killed, stopped, cut off, refused."""

from __future__ import annotations

import os
import random
import signal
import socket
import sqlite3
import ssl
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from noarkit.loading.engines.cluster.tls import write_certificates
from noarkit.server.clients import ClientsFile
from tests.faults.cluster import LEASE_S, TIMING, Cluster, CountingProxy, journal_rows
from tests.faults.conftest import MakeWorld
from tests.faults.network import Cable
from tests.forked import run_forked
from tests.waiting import came

pytest.importorskip("distributed")
SLOW = {"call": "POST transaction", "kind": "delay-answer", "seconds": 0.08}
SLOWER = {"call": "POST transaction", "kind": "delay", "seconds": 0.4}


@pytest.fixture(scope="module")
def started(archive_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster for all tests here."""
    accounts = ClientsFile(archive_template / "clients.toml").current().accounts
    secrets = {name: account.secret for name, account in accounts.items()}
    with closing(Cluster(tmp_path_factory.mktemp("cluster"), secrets)) as made:
        yield made


@pytest.fixture
def cluster(started: Cluster) -> Cluster:
    """A scheduler and one machine with three workers, whatever became of them in the test before."""
    if started.scheduler is None:
        started.start_scheduler()
    for machine in started.machines[1:]:
        machine.kill()
    del started.machines[1:]
    if not started.machines or started.machines[0].process.poll() is not None:
        started.machines.clear()
        started.start_machine(3)
    return started


def test_a_run_loaded_by_a_cluster_has_the_journal_of_a_single_machine(world: MakeWorld, cluster: Cluster) -> None:
    here, beside = world(60), world(60, root=cluster.root / "single")
    here.serve()
    end = here.load(**cluster.job())
    assert (end["exit"], end["state"]) == (0, "done"), (end, here.log(), cluster.machines[0].log.read_text())
    here.check(end)
    beside.serve()
    beside.check(beside.load(workers=0))
    assert journal_rows(here.run) == journal_rows(beside.run)


@pytest.mark.parametrize("event", ["shard_started", "chunk_done"])
def test_a_killed_worker_costs_the_run_nothing(event: str, world: MakeWorld, cluster: Cluster) -> None:
    here = world(60)
    here.serve(SLOW)
    load = here.start(**cluster.job())
    for _ in range(2):
        load.until_event(event, 2)
        os.kill(random.choice(cluster.machines[0].slots()), signal.SIGKILL)
    end = load.end()
    assert end.get("state") == "done", (end, here.log(), cluster.machines[0].log.read_text())
    here.check(end)


@pytest.mark.parametrize("honours_versions", [True, False], ids=["guard", "settling alone"])
def test_a_lost_machine_is_waited_for_until_its_lease_has_ended(
    honours_versions: bool, world: MakeWorld, cluster: Cluster
) -> None:
    here = world(60, honours_versions=honours_versions)
    here.serve(SLOW)
    load = here.start(**cluster.job())
    load.until_event("chunk_done", 2)
    began = time.monotonic()
    cluster.machines[0].kill()
    cluster.start_machine(3)
    load.until_event("shard_handed_on")
    assert time.monotonic() - began >= LEASE_S - 2 * 0.3 - 0.3  # it was renewed just before, or some 0.3 s earlier
    end = load.end()
    assert end.get("state") == "done", (end, here.log())
    here.check(end)


def test_a_scheduler_that_dies_pauses_the_run_and_the_same_command_goes_on(world: MakeWorld, cluster: Cluster) -> None:
    here = world(60)
    here.serve(SLOW)
    load = here.start(**cluster.job())
    load.until_event("chunk_done", 2)
    cluster.kill_scheduler()
    end = load.end()
    assert (end["exit"], end["code"]) == (5, "F442"), (end, here.log())
    cluster.start_scheduler()
    here.check(here.until_done(**cluster.job()))


def test_the_heir_of_a_coordinator_that_died_waits_until_its_workers_cannot_send_any_more(
    world: MakeWorld, cluster: Cluster
) -> None:
    here = world(30, honours_versions=False)
    here.serve(SLOWER)
    job = cluster.job(chunk_actions=8)
    began = time.monotonic()
    load = here.start(**job)
    load.until_event("chunk_done", 3)
    assert load.kill()
    (promised,) = journal_row(here.run, "SELECT value FROM meta WHERE name = 'leases_end_s'")
    assert float(str(promised)) > began + LEASE_S
    heir = here.start(**job)
    heir.until_event("in_doubt")
    (doubted,) = journal_row(here.run, "SELECT max(sent_at) FROM chunk WHERE state = 'in_doubt'")
    assert float(str(doubted)) >= float(str(promised))  # the same, unless the heir comes later than that
    end = heir.end()
    assert end.get("state") == "done", (end, here.log())
    here.check(end)
    assert journal_row(here.run, "SELECT value FROM meta WHERE name = 'leases_end_s'") == ("",)


def journal_row(run: Path, query: str) -> tuple[object, ...]:
    """The one row of a query."""
    with closing(sqlite3.connect(f"file:{run}/run.db?mode=ro", uri=True)) as db:
        row: tuple[object, ...] = db.execute(query).fetchone()
        return row


def test_a_worker_that_was_stopped_past_its_lease_sends_nothing_when_it_goes_on(
    world: MakeWorld, cluster: Cluster
) -> None:
    here = world(30, honours_versions=False)
    here.serve(SLOWER)
    cluster.machines[0].kill()
    with closing(CountingProxy(here)) as proxy:
        machine = cluster.start_machine(1, archive=proxy.url)
        load = here.start(**cluster.job(chunk_actions=8))
        assert came(lambda: proxy.count(b"transaction") >= 3), (here.log(), machine.log.read_text())
        machine.signal(signal.SIGSTOP)
        cluster.start_machine(3)
        load.until_event("shard_handed_on")
        load.until_event("chunk_done")
        end = load.end()
        assert end.get("state") == "done", (end, here.log())
        before = len(proxy.sent)  # no sooner: it may be given another shard
        machine.signal(signal.SIGCONT)
        time.sleep(2 * LEASE_S)
        assert proxy.sent[before:] == []
    here.check(end)


def test_a_machine_that_is_cut_off_stops_by_itself_and_its_shard_goes_on_elsewhere(
    world: MakeWorld, cluster: Cluster
) -> None:
    here = world(30, honours_versions=False)
    here.serve(SLOWER)
    cluster.machines[0].kill()
    with closing(CountingProxy(here)) as proxy, closing(Cable(cluster.port)) as cable:
        cluster.start_machine(1, archive=proxy.url, port=cable.port)
        load = here.start(**cluster.job(chunk_actions=8))
        assert came(lambda: proxy.count(b"transaction") >= 3), here.log()
        cable.cut()
        cluster.start_machine(3)
        load.until_event("shard_handed_on")
        handed_on = time.monotonic()
        load.until_event("chunk_done")
        end = load.end()
        assert end.get("state") == "done", (end, here.log())
        cable.mend()  # no sooner: it may be given another shard
        time.sleep(2 * LEASE_S)
        assert [line for at, line in proxy.sent if at > handed_on] == []
    here.check(end)


def test_a_machine_that_is_ended_in_order_gives_its_work_back(world: MakeWorld, cluster: Cluster) -> None:
    here = world(60)
    here.serve(SLOW)
    machine = cluster.start_machine(2)
    load = here.start(**cluster.job(timing=(20.0, *TIMING[1:])))  # a lease that ends of itself is told as a loss here
    load.until_event("chunk_done", 3)
    assert machine.end() == 0
    end = load.end()
    assert end.get("state") == "done", (end, here.log())
    assert load.events("shard_handed_on") == load.events("chunk_in_doubt") == [], (
        str(load.events("shard_handed_on")),
        machine.log.read_text(),
        here.log(),
    )
    here.check(end)


def test_a_load_that_is_ended_in_order_is_paused_with_nothing_in_doubt(world: MakeWorld, cluster: Cluster) -> None:
    here = world(60)
    here.serve(SLOW)
    load = here.start(**cluster.job())
    load.until_event("chunk_done", 2)
    load.process.send_signal(signal.SIGTERM)
    end = load.end()
    assert (end["exit"], end["in_doubt"]) == (143, 0), end
    again = here.until_done(**cluster.job())
    here.check(again)


def test_a_worker_of_another_version_is_refused(world: MakeWorld, cluster: Cluster) -> None:
    here = world(4)
    here.serve()
    machine = cluster.start_machine(1, program="tests.programs.other_version")
    end = here.load(**cluster.job())
    assert (end["exit"], end["code"]) == (2, "F444"), end
    assert "9.9.9" in str(end["data"])
    machine.end()
    here.check(here.until_done(**cluster.job()))


def test_without_a_worker_the_run_pauses(world: MakeWorld, cluster: Cluster) -> None:
    here = world(4)
    here.serve()
    cluster.machines[0].kill()
    end = here.load(**cluster.job(worker_patience_s=0.5))
    assert (end["exit"], end["code"]) == (5, "F443"), end
    cluster.start_machine(3)
    here.check(here.until_done(**cluster.job()))


def test_a_worker_refuses_another_plan_than_the_run_s(world: MakeWorld, cluster: Cluster) -> None:
    here = world(4)
    here.serve()
    here.load(only_plan=True)
    plan = here.run / "plan.json"
    end = here.load(**cluster.job(plan_named="0" * 64))
    assert (end["exit"], [line["code"] for line in here.commands[-1].events("shard_stopped")]) == (2, ["F402"]), end
    assert plan.exists()
    here.check(here.until_done(**cluster.job()))


def test_a_worker_whose_port_is_taken_says_so_and_ends(cluster: Cluster) -> None:
    port = cluster.worker_port()
    address = ["noarkit", "worker", cluster.address, "--tls", cluster.tls, "--listen", f"127.0.0.1:{port}"]
    ended = run_forked(address, cwd=cluster.root, env={**os.environ, "HOME": str(cluster.root)})
    assert ended.returncode == 2, ended.stderr
    assert "F110" in ended.stderr and f"127.0.0.1:{port}" in ended.stderr, ended.stderr


def test_a_worker_that_listens_at_an_address_of_another_machine_says_so_and_ends(cluster: Cluster) -> None:
    address = ["noarkit", "worker", cluster.address, "--tls", cluster.tls, "--listen", "192.0.2.1:9000"]
    ended = run_forked(address, cwd=cluster.root, env={**os.environ, "HOME": str(cluster.root)})
    assert ended.returncode == 2, ended.stderr
    assert "192.0.2.1:9000" in ended.stderr, ended.stderr


def test_certificates_of_another_authority_are_refused(world: MakeWorld, cluster: Cluster, tmp_path: Path) -> None:
    here = world(4)
    here.serve()
    write_certificates(tmp_path / "other", ("127.0.0.1",), datetime.now(UTC))
    end = here.load(**cluster.job(tls=str(tmp_path / "other")))
    assert (end["exit"], end["code"]) == (6, "F445"), end
    scheduler, worker = cluster.port, cluster.worker_port()
    for port in (scheduler, worker):
        assert first_bytes(port, cluster.tls, "coordinator") != b""
        assert first_bytes(port, tmp_path / "other", "coordinator") == b""
        assert first_bytes(port, cluster.tls, None) == b""
        with closing(socket.create_connection(("127.0.0.1", port), 5)) as plain:
            plain.sendall(bytes(64))
            with suppress(ConnectionResetError):
                assert b"compression" not in plain.recv(4096)


def first_bytes(port: int, folder: Path, role: str | None) -> bytes:
    """What a peer with these certificates gets to read; nothing where it is refused."""
    context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if role is not None:
        context.load_cert_chain(folder / f"{role}.pem", folder / f"{role}.key")
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as plain, context.wrap_socket(plain) as line:
            return line.recv(64)
    except (ssl.SSLError, ConnectionResetError):
        return b""


@pytest.mark.parametrize("ships", [False, True], ids=["plan", "plan and contents"])
def test_a_machine_without_the_run_s_folder_gets_what_it_needs_from_the_coordinator(
    ships: bool, world: MakeWorld, cluster: Cluster
) -> None:
    here = world(30)
    here.grow(1, size_bytes=3 * 1024 * 1024)
    here.serve()
    end = here.load(**cluster.job(elsewhere="/nowhere/run", ships=ships))
    assert end.get("state") == "done", (end, here.log())
    here.check(end)


def test_a_shipped_content_that_changes_on_its_way_is_set_aside(world: MakeWorld, cluster: Cluster) -> None:
    here = world(12)
    here.serve()
    here.load(only_plan=True, hash=True)
    end = here.load(**cluster.job(ships=True, flip=next(iter(here.contents))))
    assert (end.get("state"), end["exit"], end["set_aside"]) == ("done", 0, 1), (end, here.log())
    here.check(end, aside=1)


def test_one_rate_limits_all_workers_together(world: MakeWorld, cluster: Cluster) -> None:
    here = world(120)  # long enough that what is sent before the shares are known does not decide
    here.serve()
    cluster.machines[0].kill()
    with closing(CountingProxy(here)) as proxy:
        cluster.start_machine(3, archive=proxy.url)
        end = here.load(**cluster.job(max_rate="25/s"))
        assert end.get("state") == "done", (end, here.log())
        times = [at for at, line in proxy.sent if line.startswith((b"POST", b"GET"))]
    assert len(times) > 100
    assert len(times) / (times[-1] - times[0]) < 25 * 1.3
    here.check(end)


def test_the_command_that_comes_next_names_the_cluster_too(world: MakeWorld, cluster: Cluster, tmp_path: Path) -> None:
    here = world(2)
    here.serve()
    environment = {
        **os.environ,
        "NOARKIT_ARCHIVE": here.url,
        "NOARKIT_CLIENT_ID": "admin",
        "NOARKIT_CLIENT_SECRET": cluster.secrets["admin"],
    }
    assert run_forked(["noarkit", "plan", here.source, "-o", here.run], cwd=tmp_path, env=environment).returncode == 0
    engine = ["--engine", "dask://127.0.0.1:1", "--tls", str(cluster.tls)]
    ended = run_forked(["noarkit", "ingest", here.run, *engine, "--ship"], cwd=tmp_path, env=environment)
    assert (ended.returncode, "F442" in ended.stderr) == (5, True), ended
    assert f"noarkit ingest {here.run} --archive {here.url} {' '.join(engine)} --ship" in ended.stdout, ended.stdout
