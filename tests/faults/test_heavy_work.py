"""Heavy work on many machines, really: scheduler and workers as processes over TLS, with the result of one machine."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import noarkit
from noarkit.api.clustering import cluster_jobs
from noarkit.api.extracting import ExtractOptions, extract
from noarkit.api.heavy_jobs import archive_identity
from noarkit.api.planning import plan
from noarkit.api.validating import validate
from noarkit.archive.values import Link, Save
from noarkit.errors import JobLost, OtherPlace, OtherSource, OtherVersion, UsageFault
from noarkit.extraction.remote import ArchiveMark, RemoteArchive
from noarkit.extraction.run import ExtractSettings
from noarkit.extraction.run import extract as extract_package
from noarkit.forms import validation
from noarkit.forms.validation import ValidateResult
from noarkit.loading.folder import RunFolder
from noarkit.safe.remote_jobs import Job, JobWorkers
from noarkit.server.clients import ClientsFile
from noarkit.settings import read_settings
from samples.packages.bad import BAD
from scripts.benchmarks.noark_package import make_package
from tests.extraction.rich import fill
from tests.extraction.world import World, case, document, post, world
from tests.faults.cluster import ROOT, Cluster
from tests.forked import run_forked

pytest.importorskip("distributed")

NOW = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
SETTINGS = replace(read_settings(environment={}), now_s=lambda: NOW.timestamp())


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """An archive with something of every kind in it, a large document, and more rows than one answer has."""
    with world(tmp_path_factory.mktemp("archive")) as live:
        names = [f"m{number}" for number in range(80)]
        actions = case("big", 5_000)
        for at, name in enumerate(names):
            content = bytes(9_000_000) if at == 7 else name.encode() * at
            actions += post(name, "big", 6_000 + at)
            actions += document(live.archive, f"{name}d", name, 7_000 + 2 * at, content)
            actions += [Save("Dokument", f"{name}d", {"dokumentstatus": "F"})]
            actions += [Save("Journalpost", name, {"journalstatus": "A"})]
        for number in range(2_100):
            actions += [Save("Noekkelord", f"w{number}", {"verdi": f"ord {number}"})]
            actions += [Link("Noekkelord", f"w{number}", "refMappe", ("big",))]
        fill(live.archive, [*actions, Save("Saksmappe", "big", {"saksstatus": "A"})])
        yield live


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, live: World) -> Iterator[Cluster]:
    """A scheduler and two machines with one worker each, for all tests here."""
    secret = ClientsFile(live.live.data_dir / "clients.toml").current().accounts["admin"].secret
    made = Cluster(tmp_path_factory.mktemp("cluster"), {"admin": secret})
    try:
        made.start_scheduler()
        for _ in range(2):
            made.start_machine(more=["--source-map", f"{made.root}/here={made.root}/there"])
        yield made
    finally:
        made.close()


def many(cluster: Cluster) -> noarkit.Cluster:
    """The machines of a cluster, as functions take them."""
    return noarkit.Cluster(cluster.address, cluster.tls)


def timeless(report: ValidateResult) -> ValidateResult:
    """A report without how long it took."""
    return replace(report, seconds=0.0)


@pytest.mark.parametrize("code", ["N007", "N103", "N109", "N301", "N402", "N405", "N505", "N601"])
def test_workers_find_what_one_machine_finds(code: str, tmp_path: Path, cluster: Cluster) -> None:
    next(bad for bad in BAD if bad.code == code).draft().write(tmp_path)
    shared = validate(tmp_path, cluster=many(cluster))
    assert timeless(shared) == timeless(validate(tmp_path))
    assert code in shared.codes


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """An extract of some hundred records: three portions of files."""
    folder = tmp_path / "package"
    make_package(folder, 1100)
    return folder


class Striking:
    """The workers of a cluster, of which those at work are killed so many times as soon as they have a job."""

    def __init__(self, workers: JobWorkers, cluster: Cluster, times: int, wanted: str = "") -> None:
        self._workers, self._cluster, self.left, self._wanted = workers, cluster, times, wanted

    @property
    def free(self) -> int:
        return self._workers.free

    def start(self, job: Job) -> None:
        self._workers.start(job)
        self._strike()

    def results(self, patience_s: float) -> list[tuple[Job, object]]:
        self._strike()
        return self._workers.results(min(patience_s, 0.05))

    def _strike(self) -> None:
        running = vars(self._workers)["_running"].values()
        if self.left and any(one.job.name.startswith(self._wanted) for one in running):
            self.left -= 1
            for machine in self._cluster.machines:
                for pid in machine.slots():
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)


def test_a_report_is_the_same_though_every_worker_is_killed_in_the_middle(package: Path, cluster: Cluster) -> None:
    with cluster_jobs(many(cluster)) as workers:
        struck = Striking(workers, cluster, 2)
        shared = validation.validate(package, job_workers=struck)
    assert not struck.left
    assert timeless(shared) == timeless(validation.validate(package))


def test_a_job_that_three_workers_died_of_ends_the_command(package: Path, cluster: Cluster) -> None:
    with cluster_jobs(many(cluster)) as workers, pytest.raises(JobLost) as fault:
        validation.validate(package, job_workers=Striking(workers, cluster, 1_000))
    assert fault.value.data["losses"] == 3


def test_a_worker_of_another_version_gets_nothing(package: Path, cluster: Cluster) -> None:
    machine = cluster.start_machine(program="tests.programs.other_version")
    try:
        with pytest.raises(OtherVersion):
            validate(package, cluster=many(cluster))
    finally:
        cluster.machines.remove(machine)
        machine.kill()


def test_a_worker_reads_the_package_where_its_source_map_says_and_no_other(cluster: Cluster, package: Path) -> None:
    here, there = cluster.root / "here", cluster.root / "there"

    def why() -> object:
        with pytest.raises(OtherSource) as fault:
            validate(here, cluster=many(cluster))
        return fault.value.data["why"]

    shutil.copytree(package, here)
    assert why() == "not-there"
    shutil.copytree(package, there)
    assert timeless(validate(here, cluster=many(cluster))) == timeless(validate(here))
    document = next(path for path in sorted((there / "dokumenter").rglob("*")) if path.is_file())
    content = document.read_bytes()
    document.write_bytes(bytes(len(content)))  # of the same size: only whoever reads it knows
    assert "N402" in validate(here, cluster=many(cluster)).codes
    document.write_bytes(content + b"more")
    assert why() == "other-size"
    document.unlink()  # what a worker cannot read is read here
    assert timeless(validate(here, cluster=many(cluster))) == timeless(validate(here))
    description = there / "arkivuttrekk.xml"
    text = description.read_text()
    description.write_text(text.replace("5.0", "4.0", 1) if "5.0" in text else text.swapcase())
    assert why() == "other-description"
    (there / "endringslogg.xml").write_text("other")
    assert why() == "other-files"


def test_names_that_are_no_text_and_links_are_found_as_on_one_machine(package: Path, cluster: Cluster) -> None:
    odd = package / "dokumenter"
    (Path(os.fsdecode(os.fsencode(odd) + b"/\xff\xe5.pdf"))).write_bytes(b"%PDF-1.4 odd")
    (odd / "back\\slash.pdf").write_bytes(b"%PDF-1.4 odd")
    (odd / "link.pdf").symlink_to(odd / "back\\slash.pdf")
    os.mkfifo(odd / "pipe.pdf")
    alone = validate(package)
    assert timeless(validate(package, cluster=many(cluster))) == timeless(alone)


def test_what_a_cluster_cannot_validate_is_refused(package: Path, tmp_path: Path, cluster: Cluster) -> None:
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", package)
    with pytest.raises(UsageFault) as fault:
        validate(packed, cluster=many(cluster))
    assert fault.value.data["what"] == "engine-form"


def contents(package: Path) -> dict[str, str]:
    """The sha256 of every file of a package."""
    files = (path for path in package.rglob("*") if not path.is_dir())
    return {str(path.relative_to(package)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def extracted(target: Path, live: World, cluster: Cluster | None, account: str = "admin") -> dict[str, str]:
    """Makes a package of the archive, with the cluster or without, and says what is in it."""
    environment = {"NOARKIT_CLIENT_ID": account, "NOARKIT_CLIENT_SECRET": cluster_secret(live, account)}
    settings = replace(read_settings(environment=environment), now_s=lambda: NOW.timestamp())
    options = ExtractOptions(include_open=True)
    if cluster is not None:
        options = replace(options, cluster=many(cluster))
    extract(target, options, archive=live.live.ready.url, settings=settings)
    return contents(target)


def cluster_secret(live: World, account: str) -> str:
    """The secret of an account at the archive."""
    return ClientsFile(live.live.data_dir / "clients.toml").current().accounts[account].secret


def test_a_package_that_a_cluster_fetched_has_the_bytes_of_one_machine(
    live: World, cluster: Cluster, tmp_path: Path
) -> None:
    alone = extracted(tmp_path / "alone" / "package", live, None)
    assert extracted(tmp_path / "shared" / "package", live, cluster) == alone
    assert extracted(cluster.root / "here" / "package", live, cluster) == alone  # its workers do not see that folder
    assert len(alone) > 90


def test_a_package_is_the_same_though_workers_are_killed_while_they_fetch(
    live: World, cluster: Cluster, tmp_path: Path
) -> None:
    struck: list[Striking] = []

    @contextmanager
    def open_workers() -> Iterator[JobWorkers]:
        with cluster_jobs(many(cluster)) as workers:
            struck.append(Striking(workers, cluster, 2, wanted=wanted))
            yield struck[-1]

    alone = extracted(tmp_path / "alone" / "package", live, None)
    account, address = "admin", live.live.ready.url
    mark = ArchiveMark(address, archive_identity(live.archive, address), account)
    for wanted in ("extract.fetch", "extract.download"):
        target = tmp_path / wanted / "package"
        remote = RemoteArchive(mark, open_workers)
        extract_package(
            live.archive, target, ExtractSettings(include_open=True, account=account, remote=remote, now=lambda: NOW)
        )
        assert contents(target) == alone
        assert not struck[-1].left


def test_a_worker_with_another_account_fetches_nothing(live: World, cluster: Cluster, tmp_path: Path) -> None:
    with pytest.raises(OtherPlace) as fault:
        extracted(tmp_path / "package", live, cluster, account="integration")
    assert (fault.value.data["expected"], fault.value.data["found"]) == ("integration", "admin")


def planned(source: Path, run: Path, cluster: Cluster | None) -> str:
    """The sha256 of a plan with checksums, hashed by the cluster or not."""
    plan(source, run, hash_contents=True, settings=SETTINGS, cluster=None if cluster is None else many(cluster))
    return str(RunFolder(run).plan()["sha256"])


def test_a_plan_that_a_cluster_hashed_is_that_of_one_machine(cluster: Cluster, tmp_path: Path) -> None:
    here, there = cluster.root / "here" / "files", cluster.root / "there" / "files"
    for at in range(450):
        folder = here / f"case {at % 9}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"børge {at}.txt").write_bytes(b"same" if at % 50 == 0 else b"text" * at)
    (here / "odd").mkdir()
    Path(os.fsdecode(os.fsencode(here) + b"/odd/\xff.txt")).write_bytes(b"odd")
    (here / "odd" / "secret.txt").write_bytes(b"no one's")
    (here / "odd" / "secret.txt").chmod(0)
    alone = planned(here, tmp_path / "alone", None)
    with pytest.raises(OtherSource) as fault:
        planned(here, tmp_path / "nowhere", cluster)
    assert fault.value.data["why"] == "not-there"
    shutil.copytree(here, there, symlinks=True)
    next(there.glob("case 3/*")).unlink()  # what a worker does not find is read here
    next(there.glob("case 4/*")).write_bytes(b"another size")
    assert planned(here, tmp_path / "shared", cluster) == alone
    twin = next(there.glob("case 5/*"))
    status = twin.stat()
    twin.write_bytes(bytes(status.st_size))
    os.utime(twin, ns=(status.st_atime_ns, status.st_mtime_ns))  # only whoever reads it knows
    assert planned(here, tmp_path / "twin", cluster) != alone


def test_a_plan_without_checksums_has_nothing_for_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    with pytest.raises(UsageFault) as fault:
        plan(tmp_path, tmp_path / "run", cluster=many(cluster), settings=SETTINGS)
    assert fault.value.data["what"] == "engine-no-hash"


def test_the_command_says_the_same_with_workers_and_tells_what_they_miss(package: Path, cluster: Cluster) -> None:
    def validate_command(*words: object) -> subprocess.CompletedProcess[str]:
        return run_forked(["noarkit", "validate", *words], cwd=ROOT)

    engine = ("--engine", cluster.address, "--tls", cluster.tls)
    shared, alone = validate_command(package, "--json", *engine), validate_command(package, "--json")
    assert shared.returncode == alone.returncode

    def findings(text: str) -> list[dict[str, object]]:
        lines = [json.loads(line) for line in text.splitlines()]
        return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]

    assert findings(shared.stdout) == findings(alone.stdout)
    missing = cluster.root / "here" / "nowhere"
    shutil.copytree(package, missing)
    refused = validate_command(missing, *engine)
    assert (refused.returncode, "F448" in refused.stderr, "--source-map" in refused.stderr) == (2, True, True)
