"""A cluster whose every role is a machine of its own: a network namespace where that is allowed, else this machine with
relays between its roles. `scripts/faults cluster --namespaces` plays all of it, and for long."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.faults.cluster import HOSTS, LEASE_S
from tests.faults.cluster_machines import Machines, refuse_strangers, until_line
from tests.faults.network import Loopback, Namespaces, Network, why_not

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """The machines, for all tests here."""
    reason = why_not()
    if reason:
        print(f"{reason} The machines are this one, with relays between them.")
    network: Network = Loopback() if reason else Namespaces(HOSTS)
    with closing(network), closing(Machines(tmp_path_factory.mktemp("machines"), network, files=24)) as made:
        yield made


def test_strangers_are_refused_and_send_nothing(machines: Machines) -> None:
    assert refuse_strangers(machines).endswith("nothing was sent")


def test_a_machine_that_is_cut_off_beyond_its_lease_costs_nothing(machines: Machines) -> None:
    with machines.load() as (world, load):
        assert until_line(load, 6), "it ended before anything befell it"
        machines.cut("worker1", 1.5 * LEASE_S)
        assert machines.finish(world, load)["state"] == "done"


def test_a_machine_that_dies_and_one_that_is_stopped_beyond_its_lease_cost_nothing(machines: Machines) -> None:
    chance = random.Random(7)
    with machines.load() as (world, load):
        assert until_line(load, 6), "it ended before anything befell it"
        machines.kill("worker", world, load, chance)
        machines.pause(1.5 * LEASE_S, chance)
        assert machines.finish(world, load)["state"] == "done"
