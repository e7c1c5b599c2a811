"""Plans that follow a run, and plans that a webhook asked for: they take what is new once, and pass nothing over."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import pytest

import noarkit
from noarkit.errors import OtherTenant
from noarkit.events import Event
from noarkit.services.standins.server import StandinSpec
from tests.forked import run_forked
from tests.ports import free_port
from tests.services.standing import Standing, standing
from tests.services.world import NOW, Rig, make_rig, thing
from tests.waiting import PATIENCE_S

OLD = NOW - timedelta(days=400)
ROOT = Path(__file__).parents[2]


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_archive: None) -> Rig:
    return make_rig(tmp_path, monkeypatch)


def follow(rig: Rig, run: str, earlier: str) -> noarkit.IngestResult:
    """A plan that follows an earlier run, loaded."""
    rig.now += timedelta(hours=1)
    noarkit.plan("world:main", rig.folder / run, since=rig.folder / earlier, archive=rig.archive, settings=rig.settings)
    return rig.ingest(run)


def test_a_plan_that_follows_a_run_takes_what_is_new_and_what_that_run_left_out(rig: Rig) -> None:
    things = [thing(n, OLD) for n in range(4)]
    rig.set([{**things[0], "troubles": {"letter.txt": 404}}, *things[1:]])
    rig.load("first")
    more = {"letter.txt": "text 1", "answer.txt": "an answer"}
    rig.set([things[0], thing(1, rig.now, papers=more), *things[2:], thing(9, rig.now)])
    second = follow(rig, "second", "first").numbers
    assert (second.read, second.archived, second.already_there, second.new_versions) == (3, 2, 1, 1)
    whole = rig.verify("second", whole=True)
    assert (whole.differences, whole.source_new, whole.source_late) == (0, 0, 0)
    assert follow(rig, "third", "second").numbers.read == 0


def test_a_plan_that_follows_an_older_run_passes_nothing_over(rig: Rig) -> None:
    rig.set([thing(n, OLD) for n in range(2)])
    rig.load("first")
    rig.set([*(thing(n, OLD) for n in range(2)), thing(5, rig.now)])
    rig.load("second")
    rig.set([*(thing(n, OLD) for n in range(2)), thing(5, NOW + timedelta(hours=1)), thing(6, rig.now)])
    assert follow(rig, "third", "first").numbers.archived == 1
    assert rig.verify("third", whole=True).differences == 0


def test_a_plan_that_follows_a_run_of_another_tenant_is_refused(rig: Rig) -> None:
    rig.set([thing(1, OLD)])
    rig.load("first")
    rig.set([thing(1, OLD)], tenant="22")
    with pytest.raises(OtherTenant):
        follow(rig, "second", "first")


@contextmanager
def listening(held: Standing, port: int) -> Iterator[None]:
    """`noarkit listen` as a process of its own, once its port answers."""
    line = [sys.executable, "-m", "noarkit", "listen", "crm:standin", "--config", str(held.config), "--port", str(port)]
    environment = held.environment | {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(6_000):
                with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                assert process.poll() is None
                time.sleep(0.01)
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)


def command(held: Standing, *words: str) -> list[dict[str, object]]:
    """A command that ends well, and what it tells a script."""
    environment = held.environment | {"PATH": os.environ["PATH"]}
    done = run_forked(
        ["noarkit", *words, "--config", str(held.config), "--json"], cwd=held.home, env=environment, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.usefixtures("one_archive")
def test_a_message_that_the_service_sent_is_counted_by_the_next_plan_which_takes_its_record(tmp_path: Path) -> None:
    archive, heard = f"embedded:{tmp_path / 'archive'}", list[Event]()
    with standing("crm", tmp_path, StandinSpec(4)) as held:
        site = held.site(archive)
        noarkit.plan("crm:standin", tmp_path / "first", archive=archive, settings=site)
        noarkit.ingest(tmp_path / "first", archive=archive, workers=0, settings=site)
        port = free_port()
        opens = ("connect", "crm:standin", "notifications", "open", f"http://127.0.0.1:{port}")
        command(held, *opens, "--arguments", '{"events": ["Deals.edit"]}')
        with listening(held, port):
            rows = command(held, "connect", "crm:standin", "records", "list", "Deals")
            deal = next(row["result"] for row in rows if row["event"] == "tool_result")
            assert isinstance(deal, dict)
            change = json.dumps({"records": [{"id": deal["id"], "Deal_Name": "Et nytt navn"}]})
            command(held, "connect", "crm:standin", "records", "update", "Deals", "--arguments", change)
            for number in range(600):  # until the message has come: it is sent by a thread of the service
                heard.clear()
                noarkit.plan(
                    "crm:standin", tmp_path / f"run-{number}", archive=archive, settings=site, listener=heard.append
                )
                if hints := [dict(event.data) for event in heard if event.name == "hints"]:
                    break
        events = hints[0]["events"]
        assert isinstance(events, dict) and hints[0]["count"] == 1
        assert [name.split(".")[0] for name in events] == ["Deals"]
        loaded = noarkit.ingest(tmp_path / f"run-{number}", archive=archive, workers=0, settings=site)
        heard.clear()
        noarkit.plan("crm:standin", tmp_path / "after", archive=archive, settings=site, listener=heard.append)
        assert [event for event in heard if event.name == "hints"] == [], "taken once it was archived"
        after = noarkit.ingest(tmp_path / "after", archive=archive, workers=0, settings=site)
        # what changed in the second of a plan is the next one's
        assert loaded.numbers.new_versions + after.numbers.new_versions >= 1, "the deal as it is now"
