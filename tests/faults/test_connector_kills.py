"""An ingest of a CRM and of a spend service, killed before each of its steps: each request to the service and the
archive, each answer, each file and each transaction on disk. The same command again ends with the same archive as one
that was left alone, and a run after it finds nothing to do.

The ordinary suite takes a few steps of each kind; NOARKIT_DEEP=1 takes every one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from noarkit.archive.http import connect
from noarkit.archive.paging import objects
from noarkit.archive.retry import RetryingArchive, RetryPolicy
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.token import Credentials
from noarkit.archive.values import Query
from noarkit.secrets import Secret
from noarkit.server.clients import ClientsFile
from noarkit.services.inbox.store import Inbox, inbox_place
from noarkit.services.standins.server import StandinSpec
from tests.faults.world import DEEP, ROOT
from tests.loading.journey import copied
from tests.services.standing import Standing, standing
from tests.waiting import PATIENCE_S

RECORDS = {"crm": 1, "spend": 4}
SAMPLED = 4
CONSENT_NEEDED = 6
SET_ASIDE = 3
Held = Counter[tuple[str, str]]
Step = tuple[str, int]  # one of its name, by how many came before it


@dataclass
class Forks:
    """The process that has everything imported."""

    process: subprocess.Popen[str]

    def ask(self, verb: str, **told: object) -> dict[str, Any]:
        """One verb, one answer."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps({"verb": verb, **told}) + "\n")
        self.process.stdin.flush()
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Imports everything once."""
    command = [sys.executable, "-m", "tests.faults.stepping"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        yield Forks(process)
        assert process.stdin is not None
        process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE_S)
        with suppress(ProcessLookupError):  # its archives, where a test failed, too
            os.killpg(process.pid, signal.SIGKILL)


@dataclass
class Case:
    """One kill: a home, an archive and a consent of its own."""

    forks: Forks
    held: Standing
    root: Path
    archive: dict[str, Any]

    def ingest(self, run: str, kill_at: Step = ("", 0)) -> dict[str, Any]:
        """The command; what it came to."""
        return self._run("ingest", f"{self.held.service}:standin", "-o", str(self.root / run), kill_at=kill_at)

    def retry(self, run: str, fault: str) -> dict[str, Any]:
        """What was set aside with this fault is taken up."""
        return self._run("retry", str(self.root / run), "--fault", fault)

    def _run(self, *words: str, kill_at: Step = ("", 0)) -> dict[str, Any]:
        line = [*words, "--workers", "1", "--archive", self.archive["url"]]
        line += ["--config", str(self.held.config), "--progress", "none"]
        return self.forks.ask(
            "run", line=line, environment=self.environment, kill_at=kill_at, log=str(self.root / "log")
        )

    @property
    def environment(self) -> Mapping[str, str]:
        """Where nothing else is configured."""
        found = {"HOME": str(self.root), "PATH": os.environ["PATH"], "NOARKIT_TRANSACTION_DEADLINE_S": "0.2"}
        found |= {"NOARKIT_CLIENT_ID": "admin", "NOARKIT_CLIENT_SECRET": self.secret}
        consent = self.root / "consent.secret"
        token = f"NOARKIT_{self.held.service}_STANDIN_REFRESH_TOKEN".upper()
        return found | ({token: consent.read_text()} if consent.exists() else {})

    @property
    def secret(self) -> str:
        """The account's own."""
        return ClientsFile(self.root / "archive" / "clients.toml").current().accounts["admin"].secret

    def in_archive(self) -> Held:
        """How often the archive holds each key of the service, and each document."""
        session = connect(ArchiveSettings(self.archive["url"], Credentials("admin", Secret(self.secret))))
        with closing(RetryingArchive(session, RetryPolicy(first_s=0.02))) as archive:
            asked = Query("EksternId", "eksterntSystem = @s", {"@s": self.held.service}, order=(("id", "asc"),))
            keys = [("key", str(one.fields["eksternID"])) for one in objects(archive, asked)]
            versions = objects(archive, Query("Dokumentversjon", order=(("id", "asc"),)))
            return Counter([*keys, *(("document", str(one.fields["sjekksum"]).lower()) for one in versions)])

    def numbers(self, run: str) -> dict[str, int]:
        """What a run came to."""
        found: dict[str, int] = json.loads((self.root / run / "report.json").read_text("utf-8"))["numbers"]
        return found

    def log(self) -> str:
        """What the commands wrote."""
        return (self.root / "log").read_text()[-3_000:]

    def waiting(self) -> int:
        """How many hints wait in the inbox."""
        with closing(Inbox(inbox_place(self.environment))) as inbox:
            return sum(inbox.counts().values())


MakeCase = Callable[[str], Case]


def cases(forks: Forks, held: Standing, template: Path, folder: Path) -> Iterator[MakeCase]:
    """Makes cases, and ends the archive of the one before."""
    made: list[Case] = []

    def ended() -> None:
        while made:
            forks.ask("end", pid=made.pop().archive["pid"])

    def make(name: str) -> Case:
        ended()
        root = folder / name
        copied(template, root / "archive")
        held.consent(root)
        case = Case(forks, held, root, forks.ask("archive", archive=str(root / "archive")))
        made.append(case)
        with closing(Inbox(inbox_place(case.environment))) as inbox:  # a hint that the first run takes
            inbox.add(f"{held.service}:standin", "m-1", "something", ("1",), 0.0)
        return case

    yield make
    ended()


def chosen(names: list[str]) -> list[Step]:
    """Which steps are killed at: all of them, or the last of what is kept with the connection and some between."""
    count: Counter[str] = Counter()
    steps = [(name, count.update((name,)) or count[name]) for name in names]
    if DEEP:
        return steps
    kept = [step for step in steps if "marks" in step[0] or step[0] == "write inbox.db" or "grant" in step[0]]
    spread = [steps[place * len(steps) // SAMPLED] for place in range(1, SAMPLED)]
    return list(dict.fromkeys([*spread, *kept[-2:]]))


def is_kept(step: Step) -> bool:
    """Whether a step writes what the next run goes by."""
    return step[0].startswith("place ") or step[0] == "write inbox.db"


@pytest.mark.parametrize("service", RECORDS)
def test_killed_at_a_step_the_same_command_again_gives_the_same_archive(
    service: str, forks: Forks, archive_template: Path, tmp_path: Path
) -> None:
    (tmp_path / "standin").mkdir()
    with standing(service, tmp_path / "standin", StandinSpec(RECORDS[service], limits=())) as held:
        for make in cases(forks, held, archive_template, tmp_path):
            alone = make("alone")
            done = alone.ingest("run")
            assert done["code"] == 0, alone.log()
            wanted, names = alone.in_archive(), done["steps"]
            assert {kind for kind, _ in wanted} == {"key", "document"}
            assert alone.waiting() == 0
            kinds = Counter(name.partition(" ")[0] for name in names)
            assert set(kinds) == {"ask", "hear", "place", "write"}
            steps = chosen(names)
            killed = [step for number, step in enumerate(steps) if went_on(make(f"{number:04}"), step, wanted)]
            print(f"{service}: {len(names)} steps {dict(kinds)}, killed at {len(killed)} of {len(steps)}")
            # threads share connections as they come: a last question or answer of a run may not come up in the next
            assert len(killed) >= len(steps) // 2 and [step for step in killed if is_kept(step)]


def went_on(case: Case, step: Step, wanted: Held) -> bool:
    """Kills before a step, and goes on: nothing is lost, nothing is doubled. False where it never came to the step."""
    killed: bool = case.ingest("run", kill_at=step)["code"] == -signal.SIGKILL
    again = case.ingest("run")
    if again["code"] == CONSENT_NEEDED:
        # a pair that rotates was given out, and died before it was on disk: a person is asked, plainly
        assert case.held.service == "spend" and "F363" in case.log()
        case.held.consent(case.root)
        again = case.ingest("run")
    if again["code"] == SET_ASIDE:
        # the step was a worker's, and the next worker came to it too: what they loaded is taken up when it is asked for
        assert not killed and "F432" in case.log()
        again = case.retry("run", "F432")
    assert again["code"] == 0, (step, case.log())
    assert case.in_archive() == wanted, step
    assert case.waiting() == 0, step
    if is_kept(step):
        after = case.ingest("after")
        assert after["code"] == 0, (step, case.log())
        assert (case.numbers("after")["archived"], case.numbers("after")["new_versions"]) == (0, 0), step
        assert case.in_archive() == wanted, step
    return killed
