"""Scan, plan and ingest, beside their floors and beside two peers: bagit.py making a bag, rclone copying to WebDAV."""

from __future__ import annotations

import itertools
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from noarkit.archive.http import connect
from noarkit.archive.retry import RetryingArchive
from noarkit.embedded import open_embedded
from noarkit.events import ignore_event
from noarkit.graph.builder import GraphBuilder
from noarkit.graph.checks import EntityChecks
from noarkit.graph.cut import Limits, cut
from noarkit.graph.entity import Content, CreationMode, Entity, MappedRecord
from noarkit.graph.freeze import digest
from noarkit.graph.store import GraphStore
from noarkit.loading.compose import compose
from noarkit.loading.engines.processes import ProcessWorkers
from noarkit.loading.engines.worker_factory import LocalWorkerFactory
from noarkit.loading.folder import RunFolder
from noarkit.loading.lease import RunFacts
from noarkit.loading.plan import PlanSpec, make_plan
from noarkit.loading.run import LoadResult, LoadSettings, load
from noarkit.loading.stopping import StopRequest
from noarkit.recipes import compile_recipe, read_recipe
from noarkit.records import ContentStream, Source
from noarkit.sources.files.policy import FilePolicy
from noarkit.sources.files.source import FileTree
from scripts.benchmarks.archive import settings_of
from scripts.benchmarks.documents import make_documents
from scripts.benchmarks.figures import machine, measured, medians, tell

_WORKERS = 2


@dataclass(frozen=True)
class Bench:
    """A folder for everything, and how much work to do."""

    folder: Path
    rounds: int
    small: bool

    def share(self, number: int) -> int:
        return max(1, number // 10) if self.small else number


def run(rounds: int, *, small: bool, only: str) -> None:
    """Every figure, as rows of one table."""
    print(f"\ningest: {machine()}, medians of {rounds} rounds\n")
    print("| figure | ours | beside it | ratio | what that is |\n|---|---|---|---|---|")
    parts: dict[str, Callable[[Bench], None]] = {
        "scan": _scan,
        "plan": _plan,
        "documents": _plan_documents,
        "metadata": _metadata,
        "small-files": _small_files,
        "large-files": _large_files,
        "memory": _memory,
    }
    for name, part in parts.items():
        if only in name:
            with _folder() as folder:
                part(Bench(folder, rounds, small))


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="noarkit-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_files(root: Path, count: int, size: int) -> Path:
    """`count` files of `size` random bytes, a hundred to a folder."""
    for i in range(count):
        folder = root / f"case {i // 100:05}"
        if i % 100 == 0:
            folder.mkdir(parents=True)
        (folder / f"letter {i:07}.txt").write_bytes(os.urandom(size))
    return root


def _scan(bench: Bench) -> None:
    count = bench.share(100_000)
    root = make_files(bench.folder / "files", count, 10)
    source = FileTree(root, FilePolicy(look_inside=False))

    def ours() -> float:
        began = time.perf_counter()
        seen = sum(1 for _ in source.records(ignore_event))
        assert seen == count
        return count / (time.perf_counter() - began)

    def floor() -> float:
        began = time.perf_counter()
        waiting = [str(root)]
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        return count / (time.perf_counter() - began)

    _beside("scan, warm, without MIME", "files/s", bench, ours, floor, "os.scandir with stat, nothing kept")


def _plan(bench: Bench) -> None:
    count = bench.share(20_000)
    root = make_files(bench.folder / "files", count, 100)
    for name, policy in (("without MIME", FilePolicy(look_inside=False)), ("with MIME", FilePolicy())):
        speeds = []
        for number in range(bench.rounds):
            folder = RunFolder(bench.folder / f"run-{policy.look_inside}-{number}")
            speeds.append(measured(partial(_plan_speed, _planned(FileTree(root, policy)), folder)))
        tell(
            f"plan of {count:,} files, {name}", statistics.median(speeds), "entities/s", what="read, map, check, freeze"
        )


def _plan_documents(bench: Bench) -> None:
    """Documents as people keep them, which libmagic knows sooner than random bytes."""
    count = bench.share(20_000)
    root = make_documents(bench.folder / "documents", count)
    source = {inside: FileTree(root, FilePolicy(look_inside=inside)) for inside in (True, False)}
    rounds = itertools.count()

    def speed(*, inside: bool) -> float:
        return _plan_speed(_planned(source[inside]), RunFolder(bench.folder / f"run-{next(rounds)}"))

    figures = medians(bench.rounds, lambda: speed(inside=True), lambda: speed(inside=False))
    tell(f"plan of {count:,} documents, with MIME", figures[0], "entities/s", figures[1], "without MIME", figures[2])


def _plan_speed(spec: PlanSpec, folder: RunFolder) -> float:
    began = time.perf_counter()
    result = make_plan(spec, folder, ignore_event, time.time)
    return sum(result.entities.values()) / (time.perf_counter() - began)


def _planned(source: Source) -> PlanSpec:
    text = source.default_recipe()
    recipe = read_recipe(text, "default")
    return PlanSpec(source, compile_recipe(recipe), text, recipe.target.external_system)


def _metadata(bench: Bench) -> None:
    count = bench.share(40_000)
    pairs = [
        (measured(partial(_load_synthetic, bench, count, number)), _bare_client(bench, count, number))
        for number in range(bench.rounds)
    ]
    ours = statistics.median(one for one, _ in pairs)
    bare = statistics.median(other for _, other in pairs)
    ratio = statistics.median(one / other for one, other in pairs)
    tell("ingest of metadata", ours, "entities/s", bare, "the archive client alone, the same actions", ratio)


def synthetic(folder: RunFolder, records: int) -> int:
    """A frozen plan of folders, records, parties and documents without contents; returns how many entities."""
    folder.path.mkdir(parents=True)
    store = GraphStore.create(folder.graph)
    builder = GraphBuilder(store, "bench", EntityChecks())
    either = CreationMode.FIND_OR_CREATE
    builder.targets(
        (
            Entity("arkiv", "Arkiv", {"tittel": "fonds"}, target=either),
            Entity(
                "skaper",
                "Arkivskaper",
                {"arkivskaperIdent": "1", "arkivskaperNavn": "creator"},
                "arkiv",
                "refArkiv",
                target=either,
            ),
            Entity("del", "Arkivdel", {"tittel": "series"}, "arkiv", "refArkiv", target=either),
        )
    )
    for i in range(records):
        builder.add(_record(f"f{i // 50}", f"{i}"))
    builder.finish()
    store.remember("external_system", "bench")
    cut(store, Limits(shard_entities=10_000))
    folder.write_plan({"sha256": digest(store.db)})
    count = store.count("entity")
    store.db.execute("PRAGMA journal_mode = DELETE")
    store.close()
    return count


def _record(case: str, key: str) -> MappedRecord:
    party = {"korrespondanseparttype": "EA", "korrespondansepartNavn": f"sender {key}"}
    document = {"tittel": f"document {key}", "tilknyttetRegistreringSom": "H"}
    return MappedRecord(
        key,
        (
            Entity(f"case:{case}", "Mappe", {"tittel": case}, "del", "refArkivdel"),
            Entity(key, "Basisregistrering", {"tittel": f"record {key}"}, f"case:{case}", "refMappe"),
            Entity(f"{key}#p1", "Korrespondansepart", party, key, "refRegistrering"),
            Entity(f"{key}#d1", "Dokument", document, key, "refRegistrering"),
        ),
    )


def _load_synthetic(bench: Bench, records: int, number: int) -> float:
    folder = RunFolder(bench.folder / f"synthetic-{number}")
    count = synthetic(folder, records)
    loaded, taken = _loaded(folder, bench.folder / f"archive-{number}", None)
    assert loaded.numbers.archived == records, loaded
    return count / taken


def _loaded(folder: RunFolder, archive_dir: Path, source: Source | None) -> tuple[LoadResult, float]:
    with open_embedded(archive_dir) as embedded:
        settings = settings_of(embedded)
        archive = RetryingArchive(connect(settings))
        opener = source.open if source is not None else _no_content
        began = time.perf_counter()
        loaded = load(
            folder,
            archive,
            lambda: ProcessWorkers(LocalWorkerFactory(folder.graph, settings, opener), _WORKERS),
            LoadSettings(embedded.url),
            stop_request=StopRequest(),
            emit=ignore_event,
            now_s=time.time,
        )
        taken = time.perf_counter() - began
        archive.close()
    return loaded, taken


def _no_content(content: Content) -> AbstractContextManager[ContentStream]:
    raise AssertionError("a plan without contents opens none")


def _bare_client(bench: Bench, records: int, number: int) -> float:
    """The same actions, made beforehand, sent by the client alone: no journal, no guard, no anchor."""
    folder = RunFolder(bench.folder / f"bare-{number}")
    count = synthetic(folder, records)
    store = GraphStore.open(folder.graph)
    facts = RunFacts("0" * 16, "bench", False, True, True, 60.0)
    with open_embedded(bench.folder / f"bare-archive-{number}") as embedded:
        archive = connect(settings_of(embedded))
        known: dict[int, str] = {}
        taken = 0.0
        for chunk in store.chunks():
            entities = list(store.between(chunk.first, chunk.last))
            actions = compose(entities, store.links_between(chunk.first, chunk.last), known, {}, facts).actions
            began = time.perf_counter()
            saved = archive.transaction(actions)
            taken += time.perf_counter() - began
            known.update((entity.n, saved[f"e{entity.n}"].id) for entity in entities)
        archive.close()
    store.close()
    return count / taken


def _small_files(bench: Bench) -> None:
    count = bench.share(20_000)
    root = make_files(bench.folder / "files", count, 4096)
    source = FileTree(root, FilePolicy(look_inside=False))

    def ours(number: int) -> float:
        folder = RunFolder(bench.folder / f"run-{number}")
        make_plan(_planned(source), folder, ignore_event, time.time)
        loaded, taken = _loaded(folder, bench.folder / f"archive-{number}", source)
        assert loaded.numbers.archived == count, loaded
        return count / taken

    speed = statistics.median(ours(number) for number in range(bench.rounds))
    tell(f"{count:,} files of 4 KB, each a full record", speed, "records/s", what="upload, record, document, version")
    _peers(bench, root, count, "files/s")


def _large_files(bench: Bench) -> None:
    size = (100 if bench.small else 1024) * 1024 * 1024
    root = bench.folder / "files" / "case"
    root.mkdir(parents=True)
    for i in range(4):
        with (root / f"film {i}.bin").open("wb") as file:
            for _ in range(size // (1024 * 1024)):
                file.write(os.urandom(1024 * 1024))
    source = FileTree(root.parent, FilePolicy(look_inside=False))
    megabytes = 4 * size / 1e6

    def ours(number: int) -> float:
        folder = RunFolder(bench.folder / f"run-{number}")
        make_plan(_planned(source), folder, ignore_event, time.time)
        loaded, taken = _loaded(folder, bench.folder / f"archive-{number}", source)
        assert loaded.numbers.archived == 4, loaded
        shutil.rmtree(bench.folder / f"archive-{number}")
        return megabytes / taken

    speed = statistics.median(ours(number) for number in range(bench.rounds))
    tell("4 files of 1 GB", speed, "MB/s", what="hashed at both ends, durable")
    _peers(bench, root.parent, megabytes, "MB/s")


def _peers(bench: Bench, root: Path, work: float, unit: str) -> None:
    """The same files by bagit.py and by rclone, in the same run."""
    bag = bench.folder / "bag"
    shutil.copytree(root, bag)
    command = [sys.executable, "-m", "bagit", "--processes", "2", "--sha256", "--quiet", str(bag)]
    tell("beside it: bagit.py --processes 2", work / _timed(command), unit, what="makes a bag in place, no server")
    shutil.rmtree(bag)
    if shutil.which("rclone") is None:
        print("| beside it: rclone to WebDAV | no rclone on this machine | | | |", flush=True)
        return
    target = bench.folder / "webdav"
    target.mkdir()
    server = subprocess.Popen(
        ["rclone", "serve", "webdav", "--addr", "127.0.0.1:18099", str(target)], stderr=subprocess.DEVNULL
    )
    try:
        time.sleep(1.5)
        remote = ":webdav,url='http://127.0.0.1:18099':"
        tell(
            "beside it: rclone copy",
            work / _timed(["rclone", "copy", str(root), remote]),
            unit,
            what="to its own WebDAV",
        )
    finally:
        server.terminate()
        server.wait()


def _timed(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - began


def _memory(bench: Bench) -> None:
    for entities in (bench.share(100_000), bench.share(1_000_000)):
        command = [
            sys.executable,
            "-m",
            "scripts.benchmarks.ingest",
            str(entities // 5),
            str(bench.folder / str(entities)),
        ]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        planned, loaded, seconds_plan, seconds_load = done.stdout.split()
        tell(f"{entities:,} entities: peak memory of planning", float(planned), "MiB", what=f"{seconds_plan} s")
        tell(
            f"{entities:,} entities: peak memory of loading",
            float(loaded),
            "MiB",
            what=f"{seconds_load} s, largest process",
        )


def _measured() -> None:
    """In a process of its own: plans and loads, and says the peaks and the times."""
    records, folder = int(sys.argv[1]), Path(sys.argv[2])
    began = time.perf_counter()
    run_folder = RunFolder(folder / "run")
    synthetic(run_folder, records)
    planned = time.perf_counter() - began
    peak_plan = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with open_embedded(folder / "archive") as embedded:
        settings = settings_of(embedded)
        archive = RetryingArchive(connect(settings))
        workshop = LocalWorkerFactory(run_folder.graph, settings, _no_content)
        began = time.perf_counter()
        load(
            run_folder,
            archive,
            lambda: ProcessWorkers(workshop, _WORKERS),
            LoadSettings(embedded.url),
            stop_request=StopRequest(),
            emit=ignore_event,
            now_s=time.time,
        )
        taken = time.perf_counter() - began
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"{peak_plan:.0f} {max(own, children) / 1024:.0f} {planned:.1f} {taken:.1f}")


def _beside(
    name: str, unit: str, bench: Bench, ours: Callable[[], float], other: Callable[[], float], what: str
) -> None:
    figures = medians(bench.rounds, ours, other)
    tell(name, figures[0], unit, figures[1], what, figures[2])


if __name__ == "__main__":
    _measured()
