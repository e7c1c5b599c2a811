"""The parts of a cluster by themselves: what goes over the wire, leases, shares, the roster, certificates."""

from __future__ import annotations

import re
import socket
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from noarkit.errors import ConfigFault, LeaseEnded, NoarkitError, OtherVersion, SecretFault, UsageFault
from noarkit.events import Event
from noarkit.loading.clocks import Clocks
from noarkit.loading.engines.cluster import messages, tls
from noarkit.loading.engines.cluster.fence import FencedArchive, LeaseFence
from noarkit.loading.engines.cluster.messages import Beat, Order, Renewal, Report
from noarkit.loading.engines.cluster.roster import Roster
from noarkit.loading.engines.cluster.shares import RateShares
from noarkit.loading.engines.cluster.worker import BEATS, BenchHooks, LeaseWorker, RunBench
from noarkit.loading.engines.remote import RunReference, Timing
from noarkit.loading.governor import Rate
from noarkit.loading.journal import Journal
from noarkit.loading.lease import (
    BundleLeftOut,
    BytesDiffer,
    BytesMoved,
    ChunkDone,
    ChunkInDoubt,
    ChunkSent,
    ChunkSplit,
    ChunkTask,
    Guard,
    Lease,
    LinksMade,
    Outcome,
    RunFacts,
    ShardDone,
    ShardStopped,
    SourceTold,
    WaitingInDoubt,
)
from noarkit.loading.lease_end import latest_lease_end, promise_lease_end
from noarkit.version import __version__

FACTS = RunFacts("a" * 16, "tree", True, False, True, 60.0, codes={"list": {"a": "b"}}, mark="m", witness=None)
TASK = ChunkTask("3/0", (1, 2, 3), (4, 5, 6), sent_at=100.0)
LEASE = Lease(
    shard=3,
    kind="unit",
    attempt=2,
    facts=FACTS,
    tasks=(TASK, replace(TASK, key="3/1", sent_at=None, surely_sent=False)),
    known_ids={7: "41", 8: "42"},
    guard=Guard("9", "4"),
    excluded=frozenset({5}),
    already_there=frozenset({7}),
    late_links=((1, "refA", 2),),
)
OUTCOMES: tuple[Outcome, ...] = (
    ChunkSent("3/0", 5.0),
    ChunkDone("3/0", {1: "a"}, {2: "b"}, {1: ("f", "ab", 3)}, "5", True),
    ChunkDone("3/0", {}),
    ChunkInDoubt("3/0", "F302", 7.0),
    ChunkSplit("3/0", (TASK, TASK)),
    BundleLeftOut(4, "refused", "F310", {"key": "Blåbær 🫐", "line": 3, "status": None}),
    WaitingInDoubt(3.5, 2),
    BytesDiffer(4, "k", "aa", "bb"),
    BytesMoved(12),
    LinksMade(((1, "refA", 2),)),
    ShardDone(3),
    ShardStopped(3, None, 0),
    ShardStopped(3, "F301", 5, {"host": "h"}),
    SourceTold(Event("service_waits", {"where": "spend", "wait_s": 60.0})),
)
RUN = RunReference("plan.mark", "/run", "ab" * 32, "http://a", "id", "admin")


def order(lease: Lease = LEASE, **more: object) -> Order:
    """An order as a coordinator sends it."""
    plain: dict[str, object] = {
        "version": __version__,
        "topic": "t",
        "key": "r/3/2",
        "stamp": 50.0,
        "timing": Timing(),
        "run": RUN,
        "lease": lease,
        **more,
    }
    return Order(**plain)  # type: ignore[arg-type]  # a wrong name or kind fails here


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: type(outcome).__name__)
def test_an_outcome_arrives_as_it_was_sent(outcome: Outcome) -> None:
    report = messages.decode(Report, messages.encode(messages.report_of("k", 4, outcome)))
    assert (report.key, report.n, messages.outcome_of(report)) == ("k", 4, outcome)


def test_every_kind_of_outcome_is_among_these() -> None:
    assert {type(outcome) for outcome in OUTCOMES} == set(messages._OUTCOMES.values())


def test_an_order_arrives_as_it_was_sent() -> None:
    sent = order(rate=Rate(2.5, 1000.0))
    assert messages.decode(Order, messages.encode(sent)) == sent


@pytest.mark.parametrize(
    "message",
    [b"", b"[]", b"{}", b"\x80\x04N.", b'{"key":"k","stamp":1,"rate":{},"slower":"yes"}', b'{"more":1}'],
)
def test_what_is_no_message_of_ours_is_refused(message: bytes) -> None:
    with pytest.raises(messages.BadMessage):
        messages.decode(Renewal, message)


def test_a_kind_of_outcome_that_nobody_knows_is_refused() -> None:
    with pytest.raises(messages.BadMessage):
        messages.outcome_of(Report("k", 0, "Popen", {"args": "true"}))


def test_times_of_sending_go_over_the_wire_as_ages() -> None:
    ages = messages.with_ages(LEASE, now_s=130.0)
    assert [task.sent_at for task in ages.tasks] == [30.0, None]
    assert [task.sent_at for task in messages.without_ages(ages, now_s=1_000.0).tasks] == [970.0, None]
    assert messages.at_own_time(ChunkSent("3/0", 970.0), 131.0) == ChunkSent("3/0", 131.0)


class Clock:
    """A clock that is set."""

    def __init__(self, now_s: float = 0.0) -> None:
        self.now_s = now_s

    def __call__(self) -> float:
        return self.now_s


def test_a_lease_ends_and_does_not_come_back() -> None:
    clock = Clock(100.0)
    fence = LeaseFence(110.0, clock)
    fence.check()
    fence.renew(120.0)
    clock.now_s = 115.0
    fence.renew(112.0)
    fence.check()
    clock.now_s = 120.0
    with pytest.raises(LeaseEnded):
        fence.check()
    fence.renew(500.0)  # whoever has the shard now may have begun
    with pytest.raises(LeaseEnded):
        fence.check()


def test_nothing_of_the_archive_is_called_after_the_end() -> None:
    calls: list[str] = []

    class Inner:
        def __getattr__(self, name: str) -> Callable[..., None]:
            return lambda *_, **__: calls.append(name)

    def ended() -> None:
        raise LeaseEnded()

    fenced = FencedArchive(Inner(), ended)  # type: ignore[arg-type]  # whatever is called of it is noted
    attempts: list[Callable[[], object]] = [
        lambda: fenced.transaction(()),
        lambda: fenced.query(None),  # type: ignore[arg-type]  # it is never looked at
        lambda: fenced.upload(None),  # type: ignore[arg-type]  # as above
        lambda: fenced.download("1", Path("x")),
        lambda: fenced.call(None),  # type: ignore[arg-type]  # as above
    ]
    for attempt in attempts:
        with pytest.raises(LeaseEnded):
            attempt()
    assert calls == []


class Bench:
    """Resources of a worker that say no."""

    rates: list[Rate]

    def __init__(self) -> None:
        self.rates = []
        self.slower = 0

    @property
    def context(self) -> None:
        raise LeaseEnded()

    def set_rate(self, rate: Rate) -> None:
        self.rates.append(rate)

    def slow_down(self) -> None:
        self.slower += 1


def worker_with(
    during: Callable[[LeaseWorker, BenchHooks], None],
) -> tuple[LeaseWorker, Bench, list[tuple[str, bytes]]]:
    """A worker that runs `during` when its resources are opened."""
    sent: list[tuple[str, bytes]] = []
    bench = Bench()

    @contextmanager
    def open_bench(run: RunReference, hooks: BenchHooks) -> Iterator[RunBench]:
        during(worker, hooks)
        yield bench  # type: ignore[misc]  # its context is never used

    worker = LeaseWorker("w", open_bench, lambda topic, message: sent.append((topic, message)))
    return worker, bench, sent


def stopped_with(sent: list[tuple[str, bytes]]) -> ShardStopped:
    """The outcome that ended the lease."""
    outcome = messages.outcome_of(messages.decode(Report, sent[-1][1]))
    assert isinstance(outcome, ShardStopped)
    return outcome


def test_a_renewal_counts_from_the_beat_that_it_answers_not_from_its_arrival() -> None:
    from noarkit.safe.clocks import boot_s

    stamps: list[bool] = []

    def during(worker: LeaseWorker, hooks: BenchHooks) -> None:
        now = boot_s()
        worker.renew(messages.encode(Renewal("r/3/2", now - 70.0, Rate())))  # it lay on the way for longer than a lease
        with pytest.raises(LeaseEnded):
            hooks.check()
        stamps.append(True)

    worker, _, sent = worker_with(during)
    worker.carry_out(messages.encode(order(stamp=boot_s() - 65.0)))
    assert stamps == [True]
    assert stopped_with(sent).code == "F441"


def test_a_renewal_of_another_lease_renews_nothing_and_brings_no_rate() -> None:
    from noarkit.safe.clocks import boot_s

    def during(worker: LeaseWorker, hooks: BenchHooks) -> None:
        worker.renew(messages.encode(Renewal("r/4/1", boot_s(), Rate(9.0))))
        with pytest.raises(LeaseEnded):
            hooks.check()

    worker, bench, _ = worker_with(during)
    worker.carry_out(messages.encode(order(stamp=boot_s() - 65.0, rate=Rate(1.0))))
    assert bench.rates == [Rate(1.0)]


def test_an_order_of_another_version_is_refused() -> None:
    worker, _, sent = worker_with(lambda *_: pytest.fail("it was begun"))
    worker.carry_out(messages.encode(order(version="0.0.1")))
    assert (stopped_with(sent).code, stopped_with(sent).exit_code) == ("F444", 2)


def test_a_fault_of_a_worker_s_own_machine_says_which_machine_that_is() -> None:
    def during(worker: LeaseWorker, hooks: BenchHooks) -> None:
        raise ConfigFault(where="archive.client_id", why="not-set")

    worker, _, sent = worker_with(during)
    worker.carry_out(messages.encode(order()))
    data = stopped_with(sent).data
    assert (data["machine"], data["where"]) == (socket.gethostname(), f"archive.client_id ({socket.gethostname()})")


def test_a_defect_ends_a_lease_as_a_loss_that_is_certain() -> None:
    def during(*_: object) -> None:
        raise ZeroDivisionError

    worker, _, sent = worker_with(during)
    worker.carry_out(messages.encode(order()))
    assert stopped_with(sent) == ShardStopped(3, "F431", 5, {"error": "ZeroDivisionError"})
    assert worker.is_idle


def test_an_order_that_comes_to_a_worker_that_leaves_is_given_back_untouched() -> None:
    worker, _, sent = worker_with(lambda *_: pytest.fail("it was begun"))
    worker.leave()
    (_, said) = sent[0]
    assert (messages.decode(Beat, said).is_leaving, messages.decode(Beat, said).key) == (True, "")
    worker.carry_out(messages.encode(order()))
    assert stopped_with(sent) == ShardStopped(3, None, 0)


def test_a_lease_begun_before_its_worker_leaves_is_named_by_the_beat_that_says_so() -> None:
    worker, _, sent = worker_with(lambda worker, _: worker.leave())
    worker.carry_out(messages.encode(order()))
    (said,) = [messages.decode(Beat, message) for topic, message in sent if topic == BEATS]
    assert (said.is_leaving, said.key) == (True, "r/3/2")


def test_shares_are_halved_once_for_a_busy_spell_and_grow_back() -> None:
    clock = Clock(100.0)
    shares = RateShares(Rate(40.0, None), clock)
    assert shares.share(4) == Rate(10.0, None)
    assert shares.heard_busy()
    assert not shares.heard_busy()  # the same spell, met by another worker
    assert shares.share(4) == Rate(5.0, None)
    clock.now_s += 2.0
    assert shares.heard_busy()
    assert shares.share(2) == Rate(5.0, None)
    for _ in range(10):
        clock.now_s += 10.0
        shares.share(1)
    assert shares.share(1) == Rate(40.0, None)
    assert RateShares(Rate(), clock).share(3) == Rate()


def beat(worker: str, **more: object) -> Beat:
    """What a worker says."""
    plain: dict[str, object] = {"address": worker, "machine": "m", "version": __version__, "stamp": 1.0, **more}
    return Beat(worker, **plain)  # type: ignore[arg-type]  # a wrong name or kind fails here


def test_only_workers_that_were_heard_of_lately_and_are_idle_get_a_lease() -> None:
    clock = Clock()
    roster = Roster(5.0, clock)
    for member in (beat("a"), beat("b", key="r/1/1"), beat("c", is_leaving=True), beat("d", version="0"), beat("e")):
        roster.hear(member)
    assert [member.beat.worker for member in roster.idle({"e"})] == ["a"]
    roster.finish("b", "r/2/1")
    assert [member.beat.worker for member in roster.idle({"e"})] == ["a"]
    roster.finish("b", "r/1/1")
    assert {member.beat.worker for member in roster.idle({"e"})} == {"a", "b"}
    with pytest.raises(OtherVersion):
        roster.check_versions()
    clock.now_s = 6.0
    assert roster.idle(()) == []
    roster.hear(beat("f", ended=("a", "d")))
    assert roster.has_ended("a")
    roster.check_versions()
    roster.hear(beat("a"))  # a last word that came late
    assert [member.beat.worker for member in roster.idle(())] == ["f"]


def clocks(now: float, boot: str) -> Clocks:
    """The clocks of a boot."""
    return Clocks(lambda: now, boot, lambda: None)


def test_who_takes_up_a_run_knows_until_when_workers_may_send(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run.db")
    journal.keep_time(clocks(1_000.0, "boot"))
    assert latest_lease_end(journal, clocks(1_000.0, "boot")) == 1_000.0
    promise_lease_end(journal, 1_082.0, 1_000.0)
    assert latest_lease_end(journal, clocks(1_030.0, "boot")) == 1_082.0
    assert latest_lease_end(journal, clocks(1_100.0, "boot")) == 1_100.0
    assert latest_lease_end(journal, clocks(20.0, "other boot")) == 102.0  # nobody knows how long ago that was
    assert latest_lease_end(journal, clocks(20.0, "")) == 102.0
    promise_lease_end(journal, None, 1_100.0)
    assert latest_lease_end(journal, clocks(20.0, "other boot")) == 20.0
    journal.close()


NOW = datetime(2026, 11, 24, tzinfo=UTC)


def test_certificates_are_made_once_and_their_keys_are_for_their_owner(tmp_path: Path) -> None:
    folder = tmp_path / "tls"
    paths = tls.write_certificates(folder, ("node.example", "10.0.0.1", "::1"), datetime.now(UTC))
    assert {path.name for path in paths} == {
        f"{name}.{ending}" for name in ("ca", "scheduler", "worker", "coordinator") for ending in ("pem", "key")
    }
    assert {path.stat().st_mode & 0o777 for path in paths if path.suffix == ".key"} == {0o600}
    before = {path: path.read_bytes() for path in paths}
    with pytest.raises(UsageFault):
        tls.write_certificates(folder, ("node.example",), datetime.now(UTC))
    assert {path: path.read_bytes() for path in paths} == before
    for role in tls.ROLES:
        tls.security(folder, role)


def _remove(folder: Path) -> None:
    (folder / "worker.pem").unlink()


def _open_to_all(folder: Path) -> None:
    (folder / "worker.key").chmod(0o644)


def _swap(folder: Path) -> None:
    (folder / "scheduler.key").replace(folder / "worker.key")


def _spoil(folder: Path) -> None:
    (folder / "ca.pem").write_text("nothing")


@pytest.mark.parametrize(
    ("damage", "fault", "why"),
    [
        (_remove, ConfigFault, "not-there"),
        (_open_to_all, SecretFault, "secret-open"),
        (_swap, ConfigFault, "not-a-pem-file"),
        (_spoil, ConfigFault, "not-a-pem-file"),
    ],
)
def test_certificates_that_cannot_be_used_are_refused(
    damage: Callable[[Path], None], fault: type[NoarkitError], why: str, tmp_path: Path
) -> None:
    tls.write_certificates(tmp_path / "tls", ("h",), datetime.now(UTC))
    damage(tmp_path / "tls")
    with pytest.raises(fault) as caught:
        tls.security(tmp_path / "tls", "worker")
    assert caught.value.data["why"] == why


def test_certificates_that_have_expired_are_refused(tmp_path: Path) -> None:
    tls.write_certificates(tmp_path / "tls", ("h",), datetime.now(UTC), days=3)
    with pytest.raises(ConfigFault) as caught:
        tls.security(tmp_path / "tls", "scheduler", datetime.now(UTC) + timedelta(days=4))
    assert caught.value.data["why"] == "expired"


def test_nothing_starts_without_certificates() -> None:
    for role in tls.ROLES:
        with pytest.raises(UsageFault):
            tls.security(None, role)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("dask://node:8786", ("tls://node:8786", "node", 8786)),
        ("dask://[::1]:1", ("tls://[::1]:1", "::1", 1)),
    ],
)
def test_addresses_of_schedulers_are_read(address: str, expected: tuple[str, str, int]) -> None:
    assert tls.read_address(address, "--engine") == expected


@pytest.mark.parametrize("address", ["tcp://node:1", "dask://node", "dask://node:99999", "node:1", "dask://:1", ""])
def test_what_is_no_address_of_a_scheduler_is_refused(address: str) -> None:
    with pytest.raises(UsageFault):
        tls.read_address(address, "--engine")


def test_the_extra_brings_what_carries_the_work_and_what_makes_the_certificates() -> None:
    project = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[\W]", need)[0] for need in project["optional-dependencies"]["cluster"]}
    assert names == {"distributed", "cryptography"}
