"""Several processes write one package: the same bytes as one alone, whatever is cut, killed or broken."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from noarkit.archive.http import HttpArchive, connect
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.token import Credentials
from noarkit.archive.values import Action, Link, Query, Save
from noarkit.embedded import open_embedded
from noarkit.errors import DiskFull, RunFault
from noarkit.extraction.run import ExtractSettings, extract, work_folder
from noarkit.extraction.workers import PoolSize, WorkerPool, default_count
from tests.extraction.rich import fill
from tests.extraction.test_extract import contents
from tests.extraction.test_resume import Stopped, stopping_at
from tests.extraction.world import World, uuid, world
from tests.forked import ROOT, run_forked
from tests.processes import have_ended

ALONE = PoolSize(0)
TOGETHER = PoolSize(4, portion_records=2, least_units=0)

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="children are made by fork")


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpArchive]:
    """The rich archive, with folders in folders, large ones, and records in odd places.

    It runs in a process of its own: workers are forked here, and a fork among threads of a service can wait forever for
    a lock that one of them held.
    """
    with open_embedded(tmp_path_factory.mktemp("hands") / "archive", client_id="admin") as service:
        credentials = Credentials(service.client_id, service.client_secret)
        with connect(ArchiveSettings(service.url, credentials, service.token_url)) as archive:
            fill(archive)
            (series,) = [one.id for one in archive.query(_series()).objects]
            archive.transaction(_folders(series))
            yield archive


def test_the_package_is_the_same_whoever_writes_it(live: HttpArchive, tmp_path: Path) -> None:
    alone = extract(live, tmp_path / "alone", _terms(ALONE))
    for portion in (1, 2, 3, 50):
        team = PoolSize(5, portion, least_units=0)
        together = extract(live, tmp_path / f"by-{portion}", _terms(team))
        assert contents(together.package) == contents(alone.package)
        assert _report(together.report) == _report(alone.report)
        assert together.units == alone.units


def test_stopped_anywhere_it_ends_in_the_same_bytes_and_leaves_no_child(live: HttpArchive, tmp_path: Path) -> None:
    whole = contents(extract(live, tmp_path / "whole", _terms(ALONE)).package)
    target = tmp_path / "stopped"
    stops = 0
    for step in range(0, 400, 3):
        try:
            extract(live, target, _terms(TOGETHER, stopping_at(step)))
        except Stopped:
            stops += 1
            assert not target.exists()
            assert _children() == set()
            continue
        break
    assert stops > 5
    assert contents(target) == whole
    assert _children() == set()


def test_killed_at_any_step_its_children_die_and_the_same_call_ends_in_the_same_bytes(tmp_path: Path) -> None:
    with world(tmp_path / "archive") as made:
        fill(made.archive)
        whole = contents(extract(made.archive, tmp_path / "whole", ExtractSettings(pool_size=ALONE)).package)
        steps = int(_command(made, tmp_path / "once", -1))
        every = 1 if os.environ.get("NOARKIT_DEEP") else max(1, steps // 6)
        assert steps > every
        for step in range(steps % every, steps, every):
            target = tmp_path / f"killed-{step}"
            children = json.loads(_command(made, target, step))
            assert len(children) == TOGETHER.count
            assert not target.exists()
            assert have_ended(children), "a child outlives its parent"
            _command(made, target, -1)
            assert contents(target) == whole
            assert not work_folder(target).exists()


def test_a_child_that_is_ended_from_outside_is_told(tmp_path: Path) -> None:
    with WorkerPool(PoolSize(1)) as hands:
        (hand,) = hands.all
        hand.begin(_Echo)
        os.kill(hand.process.pid or 0, signal.SIGKILL)
        with pytest.raises(RunFault) as caught:
            _ask(hand.order, hand.only_piece)
    assert caught.value.data["why"] == "lost-worker"


def test_a_fault_of_a_child_is_raised_as_it_is() -> None:
    with WorkerPool(PoolSize(2)) as hands:
        assert len(hands.all) == 2
        for hand in hands.all:
            hand.begin(_Full)
            hand.order("x")
            with pytest.raises(DiskFull) as caught:
                hand.only_piece(_nothing)
            assert caught.value.data == {"where": "x"}


def test_orders_may_be_given_ahead_and_a_hand_may_have_several_works() -> None:
    with WorkerPool(PoolSize(1)) as hands:
        (hand,) = hands.all
        for _ in range(2):
            hand.begin(_Echo)
            for number in range(3):
                hand.order(number)
            assert [hand.only_piece(_nothing) for _ in range(3)] == [0, 1, 2]
            hand.finish()


def test_what_waits_for_a_child_may_be_stopped() -> None:
    with WorkerPool(PoolSize(1)) as hands, pytest.raises(Stopped):
        hands.all[0].begin(_Asleep)
        hands.all[0].order(0)
        hands.all[0].only_piece(stopping_at(0))
    assert _children() == set()


def test_one_processor_has_no_children() -> None:
    assert default_count() == 0 or default_count() >= 4
    with WorkerPool(PoolSize(0)) as hands:
        assert hands.all == []


@dataclass
class _Echo:
    def act(self, order: object, tell: Callable[[object], None]) -> None:
        tell(order)

    def close(self) -> None:
        """Holds nothing."""


class _Full(_Echo):
    def act(self, order: object, tell: Callable[[object], None]) -> None:
        raise DiskFull(where=order)


class _Asleep(_Echo):
    def act(self, order: object, tell: Callable[[object], None]) -> None:
        time.sleep(60)


def _terms(team: PoolSize, pause: Callable[[], None] | None = None) -> ExtractSettings:
    """Open units are closed by rule when the extract begins, which is always the same moment here."""
    begun = datetime(2099, 1, 2, 3, 4, 5, tzinfo=UTC)
    return ExtractSettings(pool_size=team, include_open=True, now=lambda: begun, pause=pause or _nothing)


def _nothing() -> None:
    """No pause."""


def _ask(order: Callable[[object], None], only: Callable[[Callable[[], None]], object]) -> None:
    order("x")
    only(_nothing)


def _series() -> Query:
    return Query("Arkivdel", "tittel = @t", {"@t": "Saksarkiv"})


def _folders(series: str) -> list[Action]:
    """A large case file, plain folders within each other, and records of one moment, so that only uuids tell them."""
    made: list[Action] = []
    for folder in range(4):
        made += [
            Save("Mappe", f"m{folder}", {"tittel": f"Mappe {folder}", "uuid": uuid(900 + folder)}),
            Link("Mappe", f"m{folder}", "refArkivdel", (series,))
            if folder != 2
            else Link("Mappe", "m2", "refForelderMappe", ("m1",)),
        ]
        for record in range(0 if folder == 1 else folder * 3):
            name = f"b{folder}{record}"
            given = {"tittel": f"Ark {name}", "uuid": uuid(1000 + folder * 20 + record), "registreringsIdent": "same"}
            made += [
                Save("Basisregistrering", name, given),
                Link("Basisregistrering", name, "refMappe", (f"m{folder}",)),
            ]
    return made


def _report(path: Path) -> tuple[str, str]:
    table = path.with_name(path.name.removesuffix(".json") + ".csv")
    return path.read_text("utf-8"), table.read_text("utf-8")


def _children() -> set[str]:
    """The children of this process that are alive and of our making."""
    return {str(child.pid) for child in multiprocessing.active_children()}


def _command(made: World, target: Path, end_at: int) -> str:
    secret = tomllib.loads((made.live.data_dir / "clients.toml").read_text("utf-8"))["clients"]["admin"]["secret"]
    ready = made.live.ready
    team = [TOGETHER.count, TOGETHER.portion_records, TOGETHER.least_units]
    job = {"url": ready.url, "token_url": ready.token_url, "account": "admin", "secret": secret, "team": team}
    line = ["tests.extraction.extractor", json.dumps({**job, "target": str(target), "end_at": end_at})]
    told = run_forked(line, cwd=ROOT)
    assert told.returncode == (0 if end_at < 0 else -signal.SIGKILL), told.stderr
    return told.stdout
