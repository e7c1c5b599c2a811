"""Any order of plans, sends, kills, late commits, new tokens, edits and resumes: what the archive holds was planned.

An ordinary run plays twenty, other ones each time; NOARKIT_DEEP=1 two thousand.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from noarkit.errors import NoarkitError
from noarkit.graph.cut import Limits
from noarkit.loading.numbers import numbers
from noarkit.server.areas import open_service
from noarkit.server.service import Service
from noarkit.server.settings import Settings
from tests.loading.journey import Journey, add_plain_account, record
from tests.loading.trouble import ARCHIVE_TROUBLES, JOURNAL_TROUBLES, SOURCE_TROUBLES, Killed, Schedule

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
EXAMPLES, STEPS, LONGEST_S = (2000, 50, 3600.0) if DEEP else (20, 20, 10.0)
KEYS = st.sampled_from([f"k{n}" for n in range(8)])
SENT = "SELECT p.key, e.id FROM graph.entity p JOIN entity e ON e.n = p.n WHERE e.state = 'done' AND p.type = ?"


class Loads(RuleBasedStateMachine):
    """One archive, one source that is edited, and runs that are broken at any step."""

    template: Path
    ends_at: float

    @initialize(
        protection=st.sampled_from([(True, "admin"), (True, "plain"), (False, "plain")]),
        actions=st.sampled_from([12, 30, 1000]),
    )
    def begin(self, protection: tuple[bool, str], actions: int) -> None:
        """An archive, and a source that holds one record."""
        self.home = Path(tempfile.mkdtemp(prefix="noarkit-machine-"))
        shutil.copytree(self.template, self.home / "archive")
        honours_versions, account = protection
        limits = Limits(chunk_actions=actions, shard_entities=20)
        self.journey = Journey(
            self.home, {"k0": b"first"}, Settings(honours_versions=honours_versions), account, limits
        )
        self.service: Service = self.journey.service()
        self.planned: set[str] = set()
        self.runs = 0
        self.open_run = False

    @rule(key=KEYS, content=st.binary(min_size=1, max_size=40))
    def edit_source(self, key: str, content: bytes) -> None:
        """A file comes, or has other bytes."""
        self.journey.contents = {**self.journey.contents, key: content}

    @precondition(lambda self: not self.open_run)
    @rule(forget=st.booleans())
    def plan(self, forget: bool) -> None:
        """A new run over all that the source holds; the folder of the one before may be gone."""
        if forget and self.runs:
            shutil.rmtree(self.journey.folder.path)
        self.runs += 1
        self.journey = self.journey.another(f"run{self.runs}")
        contents = self.journey.contents
        self.journey.plan([record(key, f"f{key[1]}" if key < "k4" else "f", contents[key]) for key in sorted(contents)])
        self.planned |= {*contents, *(f"folder:f{key[1]}" if key < "k4" else "folder:f" for key in contents)}
        self.open_run = True

    @precondition(lambda self: self.open_run)
    @rule(
        kind=st.sampled_from(["", *ARCHIVE_TROUBLES, *JOURNAL_TROUBLES, *SOURCE_TROUBLES]),
        step=st.integers(1, 30),
    )
    def send(self, kind: str, step: int) -> None:
        """The command, perhaps broken at a step; at the next turn it resumes."""
        with suppress(Killed, NoarkitError):
            self.open_run = self.journey.once(self.service, Schedule(kind, step)).state != "done"

    @rule(seconds=st.sampled_from([1.0, 30.0, 100.0, 4000.0]))
    def pass_time(self, seconds: float) -> None:
        """Late commits land, uploads grow old and are swept."""
        self.journey.time.sleep(seconds)
        self.service.files.sweep()

    @rule()
    def renew(self) -> None:
        """The archive is started again: tokens, and calls that it had not answered yet, are gone."""
        self.journey.time.due.clear()
        self.service.close()
        self.service = self.journey.service()

    @invariant()
    def nothing_is_there_twice_or_unplanned(self) -> None:
        if not hasattr(self, "service"):
            return
        keys = self.journey.keys(self.service)
        assert {key: count for key, count in keys.items() if count != 1} == {}
        assert keys.keys() <= self.planned
        assert len({one.fields["uuid"] for one in self.journey.all(self.service, "Dokument")}) <= len(self.planned)

    @invariant()
    def what_the_journal_calls_done_is_present(self) -> None:
        if not getattr(self, "runs", 0) or not self.journey.folder.journal.exists():
            return
        with closing(sqlite3.connect(self.journey.folder.journal)) as db:
            db.execute("ATTACH ? AS graph", (str(self.journey.folder.graph),))
            for kind in ("Basisregistrering", "Dokumentversjon"):
                present = {one.id for one in self.journey.all(self.service, kind)}
                done = {archive_id for _, archive_id in db.execute(SENT, (kind,))}
                assert done <= present, kind
        assert numbers(self.journey.folder).add_up

    @invariant()
    def no_document_has_the_same_version_twice(self) -> None:
        if not hasattr(self, "service"):
            return
        held = [
            (one.links["refDokument"], one.fields["sjekksum"])
            for one in self.journey.all(self.service, "Dokumentversjon")
        ]
        assert len(held) == len(set(held))

    def teardown(self) -> None:
        """Whatever happened, the same command brings it to its end."""
        if not hasattr(self, "service"):
            return
        try:
            if self.open_run:
                self.journey.time.sleep(100)
                loaded = self.journey.until_done(self.service, Schedule())
                counted = loaded.numbers
                assert counted.read == counted.archived + counted.already_there + counted.set_aside
            self.nothing_is_there_twice_or_unplanned()
            self.what_the_journal_calls_done_is_present()
        finally:
            self.service.close()
            shutil.rmtree(self.home)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> type[Loads]:
    """The machine with an archive to copy."""
    path = tmp_path_factory.mktemp("template") / "archive"
    service = open_service(path)
    add_plain_account(service)
    service.close()
    Loads.template = path
    return Loads


def test_whatever_happens_the_archive_holds_what_was_planned_and_nothing_twice(machine: type[Loads]) -> None:
    from hypothesis.stateful import run_state_machine_as_test

    began = time.process_time()
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=not DEEP,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
    assert time.process_time() - began < LONGEST_S * 3, "the search takes more than its share of the suite"
