"""Each service on a socket of its own, and a command line that has it configured as its only connection."""

from __future__ import annotations

import csv
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol  # lines of JSON, read back

import pytest

from noarkit.cli.main import main
from tests.ports import free_port
from tests.strict_services.appsec import API_KEY as APPSEC_KEY
from tests.strict_services.appsec import CLIENT_ID as APPSEC_CLIENT
from tests.strict_services.appsec import TENANT as APPSEC_TENANT
from tests.strict_services.appsec import Appsec
from tests.strict_services.content import ArchivedRecord, read_archive
from tests.strict_services.crm import CLIENT_ID, CLIENT_SECRET, PREFIX, Crm
from tests.strict_services.crm_data import Record
from tests.strict_services.crm_ledger import CrmLedger
from tests.strict_services.features import API_KEY as FEATURES_KEY
from tests.strict_services.features import Features
from tests.strict_services.serving import Service, serve
from tests.strict_services.spend import API_KEY, FileHost, Spend
from tests.strict_services.spend_data import Entry, SpendData, pdf
from tests.strict_services.spend_ledger import SpendLedger
from tests.strict_services.tables import read_table
from tests.waiting import PATIENCE_S

ARCHIVE = "embedded:archive"


class Ledger(Protocol):
    """What an archive must hold of a service, kept from run to run."""

    @property
    def connection(self) -> str:
        """The connection that is loaded from."""
        ...

    def observe(self) -> None:
        """Takes down all that a run that reads now must archive."""
        ...

    def differences(self, archive: Mapping[str, Sequence[ArchivedRecord]]) -> list[str]:
        """All that the archive lacks, holds twice, holds in the wrong place, or holds without its having been there."""
        ...


@dataclass
class Desk:
    """Where somebody works: a folder, a config, an archive of one's own; what a command said is kept."""

    home: Path
    capture: pytest.CaptureFixture[str]
    out: str = ""
    err: str = ""
    plan_said: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)

    def noarkit(self, *words: object, code: int | tuple[int, ...] = 0) -> int:
        """A command line, which ends as it should."""
        self.capture.readouterr()
        ended = main([*map(str, words), "--progress", "none"], {"HOME": str(self.home), **self.variables})
        self.out, self.err = self.capture.readouterr()
        wanted = (code,) if isinstance(code, int) else code
        assert ended in wanted, f"{words} ended {ended}\n{self.out}\n{self.err}"
        return ended

    def connect(self, connection: str, settings: Mapping[str, object]) -> None:
        """Writes the config: this connection, this archive."""
        service, name = connection.split(":")
        lines = [f"[connections.{service}.{name}]", *(f"{key} = {_toml(value)}" for key, value in settings.items())]
        (self.home / "noarkit.toml").write_text("\n".join(["[archive]", f'url = "{ARCHIVE}"', "", *lines, ""]), "utf-8")

    def secret(self, name: str, text: str) -> dict[str, str]:
        """A secret in a file that nobody else reads."""
        place = self.home / f"{name}.secret"
        place.write_text(text, "utf-8")
        place.chmod(0o600)
        return {"file": str(place)}

    def run(self, connection: str, *words: object, code: int | tuple[int, ...] = 0) -> str:
        """Plans what is new and loads it. Gives the folder of the run."""
        name = f"run{len(self.runs) + 1}"
        self.runs.append(name)
        wait_for_the_next_second()
        self.noarkit("plan", connection, "-o", name, *words, code=(0, 3))
        self.plan_said = self.out + self.err
        self.noarkit("ingest", name, "--workers", 0, code=code)
        return name

    def load_and_compare(self, ledger: Ledger, *words: object, code: int | tuple[int, ...] = 0) -> str:
        """One run, after which the archive holds what the service held."""
        ledger.observe()
        run = self.run(ledger.connection, *words, code=code)
        assert ledger.differences(self.archive()) == []
        return run

    def verify(self, run: str) -> None:
        """The run is verified, by what changed and against all that the service holds."""
        in_part = (0, 3)  # what changed of a folder that is not followed is not compared
        self.noarkit("verify", run, code=in_part)
        self.noarkit("verify", run, "--whole", code=in_part)

    def together(self, *commands: Sequence[str]) -> None:
        """Several commands at once, each in a process of its own."""
        lines = [[sys.executable, "-m", "noarkit", *words] for words in commands]
        environment = _plain_environment(self.home)
        running = [subprocess.Popen(line, env=environment, stdout=subprocess.DEVNULL) for line in lines]
        assert [process.wait(PATIENCE_S) for process in running] == [0] * len(running)

    def log_in(self, connection: str) -> None:
        """A person consents at the address that the command shows, and the browser comes back to this machine."""
        command = [sys.executable, "-m", "noarkit", "connect", connection, "login", "--wait", "60"]
        with subprocess.Popen(command, env=_plain_environment(self.home), stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            shown = ""
            for line in process.stderr:
                shown += line
                if address := re.search(r"https?://\S+", line):
                    _visit(address[0])
                    break
            shown += process.stderr.read()
        assert process.returncode == 0, shown

    @contextmanager
    def listening_after(self, connection: str, *words: str) -> Iterator[str]:
        """`noarkit listen`, after the service was asked to send messages to ADDRESS."""
        port = free_port()
        self.noarkit("connect", connection, *(word.replace("ADDRESS", f"http://127.0.0.1:{port}") for word in words))
        with self.listening(connection, port) as address:
            yield address

    @contextmanager
    def listening(self, connection: str, port: int | None = None) -> Iterator[str]:
        """`noarkit listen` on a port of its own, once it answers."""
        port = port or free_port()
        command = [sys.executable, "-m", "noarkit", "listen", connection, "--port", str(port)]
        with (self.home / "listen.log").open("ab") as log:
            process = subprocess.Popen(command, env=_plain_environment(self.home), stdout=log, stderr=log)
        try:
            while process.poll() is None:
                with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.02)
            assert process.poll() is None, (self.home / "listen.log").read_text()
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait(PATIENCE_S)

    def summary(self) -> dict[str, Any]:  # Any: read back from JSON
        """The last line of a command that was asked for JSON."""
        found: dict[str, Any] = json.loads(self.out.strip().splitlines()[-1])
        return found

    def archive(self) -> dict[str, list[ArchivedRecord]]:
        """What the archive holds, by the key of its source."""
        return read_archive(ARCHIVE, self.home / "contents")

    def skipped(self, run: str) -> list[tuple[str, str]]:
        """Each key that a run left out by rule, and the reason in words."""
        text = (self.home / run / "skipped.csv").read_text("utf-8-sig")
        return [(row["key"], row["reason"]) for row in csv.DictReader(text.splitlines(), delimiter=";")]


def send(address: str, body: bytes, headers: Mapping[str, str]) -> int:
    """The status of the answer to a message."""
    request = urllib.request.Request(address, body, {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code


def _visit(address: str) -> None:
    """Visits a page, and comes back: the port may open a moment after its address is shown."""
    for _ in range(100):
        try:
            with urllib.request.urlopen(address, timeout=PATIENCE_S) as answer:
                answer.read()
                return
        except urllib.error.URLError:
            time.sleep(0.05)
    raise AssertionError("nobody waits for the browser")


def _plain_environment(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}


def wait_for_the_next_second() -> None:
    """Services tell times in whole seconds: what changes in the second of a plan belongs to the next."""
    time.sleep(1.05 - time.time() % 1)


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + " }"
    return json.dumps(value)


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], one_archive: None
) -> Desk:
    """An empty folder, in which nothing is configured."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("NOARKIT_") and name != "NOARKIT_REFERENCE"]:
        monkeypatch.delenv(name)
    return Desk(tmp_path, capsys)


def without_faults(service: Service) -> None:
    """Nothing was asked that is not published, and nothing answered."""
    assert service.crashes == []
    assert service.breaches == []


@pytest.fixture
def crm(reference: Path, desk: Desk) -> Iterator[Crm]:
    """A CRM that is configured as `crm:strict`, with a consent that was given before."""
    with ExitStack() as stack:
        found = Crm(read_table(reference, "crm", "strict"))
        stack.enter_context(serve(found))
        desk.connect("crm:strict", crm_settings(desk, found))
        yield found
    without_faults(found)


def crm_settings(desk: Desk, crm: Crm, **more: object) -> dict[str, object]:
    """The settings of a connection to a CRM."""
    return {
        "api_url": crm.url,
        "accounts_url": crm.url,
        "auth_prefix": PREFIX,
        "client_id": CLIENT_ID,
        "client_secret": desk.secret("client", CLIENT_SECRET),
        "refresh_token": desk.secret("refresh", crm.refresh_token),
        **more,
    }


@pytest.fixture
def spend(reference: Path, desk: Desk) -> Iterator[Spend]:
    """A spend service that is configured as `spend:strict` with a key; receipts lie on another host."""
    with ExitStack() as stack:
        files = FileHost(read_table(reference, "spend", "strict"), SpendData())
        stack.enter_context(serve(files))
        found = Spend(read_table(reference, "spend", "strict"), files)
        stack.enter_context(serve(found))
        desk.connect("spend:strict", spend_settings(desk, found))
        yield found
    without_faults(found)
    without_faults(files)


def spend_settings(desk: Desk, spend: Spend, **more: object) -> dict[str, object]:
    """The settings of a connection to a spend service, with a key."""
    return {
        "api_url": spend.url,
        "auth": "key",
        "api_key": desk.secret("key", API_KEY),
        "company_id": spend.data.company_id,
        **more,
    }


@pytest.fixture
def deals(crm: Crm) -> list[Record]:
    """Three deals, each with all that can hang on one, and a case."""
    data = crm.data
    account = data.add("Accounts", Account_Name="Fjord AS")
    contact = data.add("Contacts", First_Name="Ola", Last_Name="Kunde", Email="ola@kunde.example", Account_Name=account)
    found = []
    for number in range(3):
        deal = data.add(
            "Deals", Deal_Name=f"Avtale {number}", Stage="Negotiation", Account_Name=account, Contact_Name=contact
        )
        data.note(deal, f"Notat {number}", f"Ringt om {number}", at=deal.created)
        data.attach(deal, f"vedlegg {number}.txt", b"innhold %d" % number, at=deal.created)
        data.add("Quotes", Subject=f"Tilbud {number}", Deal_Name=deal)
        data.add("Tasks", Subject=f"Oppgave {number}", What_Id=deal)
        data.mail(deal, f"Post {number}", f"Hei {number}", at=deal.created, brev=b"brev %d" % number)
        found.append(deal)
    case = data.add("Cases", Subject="Klage på levering", Status="New", Account_Name=account)
    data.note(case, "Første samtale", "Ringte om levering", at=case.created)
    return found


@pytest.fixture
def crm_ledger(crm: Crm, deals: list[Record]) -> CrmLedger:
    """What must be in the archive of the CRM."""
    return CrmLedger(crm)


@pytest.fixture
def entries(spend: Spend) -> list[Entry]:
    """Three vouchers that are final, the last of long ago, each with two receipts; all of them were exported."""
    data = spend.data
    found = [data.entry(days_ago, note=f"Bilag {days_ago}") for days_ago in (20, 45, 200)]
    for number, entry in enumerate(found):
        data.receipt(entry, pdf(f"receipt {number}"), at=entry.time("settledAt"))
        data.receipt(entry, b"<bilag>%d</bilag>" % number, "application/xml", at=entry.time("settledAt"))
    data.job(found)
    return found


@pytest.fixture
def spend_ledger(spend: Spend, entries: list[Entry]) -> SpendLedger:
    """What must be in the archive of the spend service."""
    return SpendLedger(spend)


@pytest.fixture
def features(reference: Path, desk: Desk) -> Iterator[Features]:
    """A feature service that is configured as `features:strict`."""
    with ExitStack() as stack:
        found = Features(read_table(reference, "features", "strict"))
        stack.enter_context(serve(found))
        desk.connect("features:strict", features_settings(desk, found))
        yield found
    without_faults(found)


def features_settings(desk: Desk, features: Features, **more: object) -> dict[str, object]:
    """The settings of a connection to a feature service."""
    return {
        "console_api_url": features.url,
        "http_api_url": features.url,
        "api_key": desk.secret("key", FEATURES_KEY),
        "key_header": "STRICT-API-KEY",
        "version_header": "STRICT-API-VERSION",
        "rates": ["10000/10s"],
        **more,
    }


@pytest.fixture
def appsec(reference: Path, desk: Desk) -> Iterator[Appsec]:
    """A security service that is configured as `appsec:strict`."""
    with ExitStack() as stack:
        found = Appsec(read_table(reference, "appsec", "strict"))
        stack.enter_context(serve(found))
        desk.connect("appsec:strict", appsec_settings(desk, found))
        yield found
    without_faults(found)


def appsec_settings(desk: Desk, appsec: Appsec, **more: object) -> dict[str, object]:
    """The settings of a connection to a security service."""
    return {
        "api_url": appsec.url,
        "auth_url": appsec.url,
        "tenant": APPSEC_TENANT.upper(),
        "client_id": APPSEC_CLIENT,
        "api_key": desk.secret("key", APPSEC_KEY),
        "poll_s": 0.05,
        "rates": ["10000/s"],
        **more,
    }
