"""The circle: a package into an archive, the archive into a package, and again; in one process, without a socket."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from noarkit.archive.answers import CallContext, Refusal, refused_answer
from noarkit.archive.port import Archive
from noarkit.archive.values import Call, Json
from noarkit.events import Event, ignore_event
from noarkit.extraction.run import ExtractResult, extract
from noarkit.extraction.run import ExtractSettings as ExtractTerms
from noarkit.forms.noark5.source import EXTERNAL_SYSTEM, ExtractSource, find_extract
from noarkit.graph.store import GraphStore
from noarkit.loading.close import CloseResult, close
from noarkit.loading.contents import no_gate
from noarkit.loading.engines.inline import InlineWorkers
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import Numbers
from noarkit.loading.plan import PlanResult, PlanSpec, make_plan
from noarkit.loading.run import LoadSettings, load
from noarkit.loading.stopping import StopRequest
from noarkit.loading.work import WorkerContext, WorkerControl
from noarkit.server import calling
from noarkit.server import wire as served
from noarkit.server.areas import all_routes, open_service
from noarkit.server.service import Service
from tests.loading.direct import DirectArchive

BEGUN = datetime(2026, 1, 1, 12, tzinfo=UTC)
NOW = 1_767_268_800.0
MONTH_S = 31 * 24 * 3600


class WholeArchive(DirectArchive):
    """The service in this process with every call it has."""

    def __init__(self, service: Service, account: str = "admin") -> None:
        super().__init__(service, account)
        self._routes = [(re.compile(_pattern(route.path)), route) for route in all_routes()]

    def acting(self, account: str) -> WholeArchive:
        """The same archive, as another account."""
        return WholeArchive(self._service, account)

    @property
    def service(self) -> Service:
        """The service itself."""
        return self._service

    def call(self, call: Call) -> Json:
        """Any other call."""
        path, asked = (
            "/".join(part.replace("/", "\0") for part in call.path),
            CallContext(call.name, changes=call.changes),
        )
        for pattern, route in self._routes:
            found = pattern.fullmatch(path)
            if found is not None and route.method == call.method:
                parts = {name: value.replace("\0", "/") for name, value in found.groupdict().items()}
                given = calling.Call(self._service, self._caller, path=parts, query=dict(call.query), body=call.body)
                try:
                    answer = route.handler(given)
                except served.Refusal as refusal:
                    told = refusal.description.encode()
                    raise refused_answer(Refusal(refusal.status, told), asked, NOW) from refusal
                raw = answer.raw if answer.raw is not None else orjson.dumps(answer.body)
                told_back: Json = orjson.loads(raw)
                return told_back
        raise AssertionError(f"no such call: {call.method} {path}")


def _pattern(path: str) -> str:
    return re.sub(r"\\?\{(\w+)\\?\}", r"(?P<\1>[^/]+)", re.escape(path.strip("/")))


@contextmanager
def archive_in(place: Path, now_s: float = NOW) -> Iterator[WholeArchive]:
    """The archive in a folder, made where there is none."""
    service = open_service(place, None, lambda: now_s)
    try:
        yield WholeArchive(service)
    finally:
        service.close()


@dataclass(frozen=True)
class Ingested:
    """What one way into an archive came to."""

    plan: PlanResult
    numbers: Numbers
    closed: CloseResult
    events: tuple[Event, ...]


@dataclass(frozen=True)
class _Workshop:
    bench: WorkerContext

    def __call__(self) -> _Workshop:
        return self

    def __enter__(self) -> WorkerContext:
        return self.bench

    def __exit__(self, *_: object) -> None:
        self.bench.graph.close()


ACCEPTED = ("gradering", "utfoertKassasjon")


def source_in(place: Path, *, carry: bool = True) -> ExtractSource:
    """The extract in a folder, which must be there; it may carry what the archive does not act on."""
    found = find_extract(str(place))
    assert found is not None
    return ExtractSource(found.place, accepted=ACCEPTED, carry=carry)


def plan_extract(package: Path, run: Path, *, carry: bool = True) -> PlanResult:
    """A frozen plan of a package."""
    source = source_in(package, carry=carry)
    what = PlanSpec(source, source.mapper(), source.default_recipe(), EXTERNAL_SYSTEM, accept_loss=ACCEPTED)
    return make_plan(what, RunFolder(run), ignore_event, lambda: NOW)


def ingest(
    package: Path,
    run: Path,
    archive: Archive,
    now_s: float = NOW,
    *,
    carry: bool = True,
    todays_dates: bool = False,
) -> Ingested:
    """Plans, loads and closes a package."""
    planned = plan_extract(package, run, carry=carry)
    folder, told = RunFolder(run), list[Event]()
    control = WorkerControl(lambda: now_s, lambda seconds: None, lambda: False)
    with closing(GraphStore.open(folder.graph)) as graph:
        bench = WorkerContext(archive, graph, source_in(package).open, no_gate)
        loaded = load(
            folder,
            archive,
            lambda: InlineWorkers(_Workshop(bench), control),
            LoadSettings("direct", 0.0, todays_dates=todays_dates),
            stop_request=StopRequest(),
            emit=told.append,
            now_s=lambda: now_s,
        )
    closed = close(folder, archive, stop_request=StopRequest(), emit=told.append, now_s=lambda: now_s)
    return Ingested(planned, loaded.numbers, closed, tuple(told))


def extract_to(archive: Archive, target: Path, *, include_open: bool = False, later_s: float = 0) -> ExtractResult:
    """The archive as a package; begun at the same time each time, or so much later."""
    begun = BEGUN + timedelta(seconds=later_s)
    # each archive was closed at its own time, and its log says so
    terms = ExtractTerms(now=lambda: begun, include_open=include_open, change_log="from-archive")
    return extract(archive, target, terms)


def files_of(package: Path) -> Mapping[str, bytes]:
    """Every file of a package by its path."""
    return {path.relative_to(package).as_posix(): path.read_bytes() for path in package.rglob("*") if path.is_file()}


@dataclass(frozen=True)
class Circle:
    """Two packages that should be one, and what the ways into the archives came to."""

    first: Path
    second: Path
    ways: tuple[Ingested, ...]


def circle_of_package(package: Path, place: Path) -> Circle:
    """package → archive A → extract → archive B → extract."""
    with archive_in(place / "a") as archive:
        there = ingest(package, place / "run-a", archive)
        extract_to(archive, place / "first", include_open=True)
    return Circle(place / "first", *circle_of_extract(place / "first", place, there))


def circle_of_extract(first: Path, place: Path, *before: Ingested) -> tuple[Path, tuple[Ingested, ...]]:
    """extract → archive B → extract, a month after the first: nothing in it may be of today."""
    with archive_in(place / "b", NOW + MONTH_S) as archive:
        back = ingest(first, place / "run-b", archive, NOW + MONTH_S)
        extract_to(archive, place / "second", include_open=True, later_s=MONTH_S)
    return place / "second", (*before, back)
