"""Transactions that meet."""

from __future__ import annotations

import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from noarkit.server.settings import Settings
from noarkit.server.wire import Refusal
from tests.server.transaction.desk import Desk, link, save
from tests.server.transaction.world import World
from tests.waiting import PATIENCE_S

T = TypeVar("T")


def test_two_calls_at_one_case_file_conflict_where_the_settings_say_so(world: World) -> None:
    ids = world.desk.ids(*world.case_file("a"), *world.case_file("b"))
    desk = world.desk.under(Settings(concurrent_records_conflict=True))
    outcomes = meet(desk, world, ids["a"], ids["a"])
    assert sorted(outcomes) == [200, 409]
    assert meet(desk, world, ids["a"], ids["b"]) == [200, 200]
    assert desk.run(*world.post(ids["a"], "afterwards"))


def test_two_calls_at_one_case_file_follow_each_other_by_default(world: World) -> None:
    case = world.desk.ids(*world.case_file())["case"]
    assert meet(world.desk, world, case, case) == [200, 200]
    numbers = world.desk.rows(
        "SELECT journalpostnummer FROM o_abstraktregistrering WHERE refMappe = ? ORDER BY 1", case
    )
    assert numbers == [(1,), (2,)]


def test_a_link_from_the_case_file_is_seen_too(world: World) -> None:
    desk = world.desk.under(Settings(concurrent_records_conflict=True))
    case = desk.ids(*world.case_file())["case"]
    actions = world.post(case)
    actions[1] = link("Saksmappe", case, "refRegistrering", "post")
    with ThreadPoolExecutor(2) as pool, desk.service.db.transaction():
        first = pool.submit(desk.run, *actions)
        second = pool.submit(desk.run, *actions)
        assert wait_for_one(first, second)
    outcomes = [future.exception() for future in (first, second)]
    assert sorted(str(getattr(outcome, "status", 200)) for outcome in outcomes) == ["200", "409"]


def test_other_work_at_a_case_file_does_not_conflict(world: World) -> None:
    desk = world.desk.under(Settings(concurrent_records_conflict=True))
    case = desk.ids(*world.case_file())["case"]
    with ThreadPoolExecutor(2) as pool:
        titles = [f"t{number}" for number in range(10)]
        saved = list(pool.map(lambda title: desk.run(save("Saksmappe", case, tittel=title))[case], titles))
    assert [told["fields"]["tittel"] for told in saved] == titles
    versions = sorted(int(told["version"]) for told in saved)
    assert versions == list(range(versions[0], versions[0] + 10))


def meet(desk: Desk, world: World, *cases: str) -> list[int]:
    """Adds an entry to each case file at the same time; the statuses in their order."""
    waiting = threading.Barrier(len(cases) + 1)

    def add(case: str) -> int:
        waiting.wait(PATIENCE_S)
        try:
            desk.run(*world.post(case))
        except Refusal as refusal:
            return refusal.status
        return 200

    with ThreadPoolExecutor(len(cases)) as pool:
        with desk.service.db.transaction():
            # while the writer is taken, both calls stand in line
            futures = [pool.submit(add, case) for case in cases]
            waiting.wait(PATIENCE_S)
            if desk.service.settings.concurrent_records_conflict and len(set(cases)) == 1:
                wait_for_one(*futures)
        return [future.result(PATIENCE_S) for future in futures]


def wait_for_one(*futures: Future[T]) -> bool:
    """Waits until one of them is done."""
    done, _ = wait(futures, PATIENCE_S, FIRST_COMPLETED)
    return bool(done)
