"""What the archive holds is compared with what the service lists: nothing that appears late is missed, what is deleted
is reported once, and a sweep looks at all of it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from noarkit.events import ignore_event
from noarkit.services.appsec.papers import RETENTION_S
from noarkit.services.appsec.service import AppSec
from noarkit.services.appsec.states import FORGOTTEN_AFTER
from noarkit.services.known_keys import KnownKeys, add_known_keys
from noarkit.services.port import DELETION_KEY_END, Deletion, Item, ServiceItem, Window
from noarkit.services.source.source import SWEEP_DAYS
from noarkit.services.standins.server import StandinSpec
from tests.services.appsec.there import connected
from tests.services.standing import Standing, standing

LONG_AGO = timedelta(days=35)


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Standing]:
    with standing("appsec", tmp_path / "standin", StandinSpec(60, options={"decided": "0"})) as found:
        yield found


class Memory:
    """What an archive holds, as its runs proved it."""

    def __init__(self, service: AppSec, place: Path) -> None:
        self.service = service
        self.place = place
        self.now = datetime.now(UTC) + timedelta(minutes=1)

    def read(self, stream: str, *, sweep: bool = False, first: bool = False) -> list[ServiceItem]:
        """One run of a stream, and what it proved is remembered."""
        (found,) = (one for one in self.service.streams() if one.name == stream)
        self.now += timedelta(hours=1)
        since = None if first else self.now - timedelta(minutes=5)
        with closing(KnownKeys(self.place)) as known_keys:
            window = Window(since, self.now, sweep, known_keys=known_keys)
            items = list(self.service.items(found, window, ignore_event))
        held_keys = [item.key for item in items if isinstance(item, Item)]
        gone_keys = [item.key.removesuffix(DELETION_KEY_END) for item in items if isinstance(item, Deletion)]
        add_known_keys(self.place, "an archive", held_keys, gone_keys)
        return items


@contextmanager
def archive(held: Standing, folder: Path) -> Iterator[Memory]:
    """An archive that a first run filled."""
    with connected(held, folder, reports=False, sbom=False, policies=False) as service:
        memory = Memory(service, folder / "known.db")
        for stream in ("projects", "scans"):
            assert memory.read(stream, first=True)
        yield memory


def ids_of(items: Sequence[ServiceItem], kind: type[ServiceItem], part: str) -> list[str]:
    """The ids of the objects of a kind."""
    keys = [item.key.removesuffix(DELETION_KEY_END) for item in items if isinstance(item, kind)]
    return [key.rpartition(":")[2] for key in keys if f":{part}:" in key]


def test_a_scan_that_appears_late_is_read_whenever_it_began_and_only_once(held: Standing, tmp_path: Path) -> None:
    with archive(held, tmp_path) as memory:
        assert ids_of(memory.read("scans"), Item, "scan") == [], "what is known is not read again"
        project = str(held.control("counts")["scans"][0]["projectId"])  # type: ignore[index]  # scans
        late = str(held.control("scan", project=project)["id"])
        held.control("age", scan=late, created=(datetime.now(UTC) - LONG_AGO).isoformat().replace("+00:00", "Z"))
        assert ids_of(memory.read("scans"), Item, "scan") == [late]
        assert ids_of(memory.read("scans"), Item, "scan") == []


def test_scans_and_projects_that_are_deleted_are_reported_once_and_what_comes_again_is_read(
    held: Standing, tmp_path: Path
) -> None:
    with archive(held, tmp_path) as memory:
        calls = memory.service.calls
        scan = next(str(row["id"]) for row in calls.scans(None, memory.now) if row["status"] == "Completed")
        project = str(calls.write("POST", "/api/projects", {"name": "kort liv"})["id"])
        assert project in ids_of(memory.read("projects"), Item, "project")
        calls.write("DELETE", f"/api/scans/{scan}")
        calls.write("DELETE", f"/api/projects/{project}")
        told = {part: ids_of(memory.read(f"{part}s"), Deletion, part) for part in ("scan", "project")}
        assert told == {"scan": [scan], "project": [project]}
        for part in ("scan", "project"):
            assert ids_of(memory.read(f"{part}s"), Deletion, part) == [], "once"
            assert ids_of(memory.read(f"{part}s", sweep=True), Deletion, part) == [], "a sweep tells nothing twice"


def test_what_is_not_listed_and_stands_under_its_id_or_may_not_be_seen_is_not_deleted(
    held: Standing, tmp_path: Path
) -> None:
    with archive(held, tmp_path) as memory:
        elsewhere = [f"{memory.service.tenant}:project:hidden", f"{memory.service.tenant}:scan:hidden"]
        add_known_keys(memory.place, "an archive", elsewhere, [])
        held.control("trouble", path="/api/projects/hidden", status=403)
        assert ids_of(memory.read("projects"), Deletion, "project") == []
        assert ids_of(memory.read("projects"), Deletion, "project") == ["hidden"], "nobody has it"
        assert ids_of(memory.read("scans"), Deletion, "scan") == ["hidden"]


def test_a_sweep_reads_all_scans_decisions_and_days_again(held: Standing, tmp_path: Path) -> None:
    with archive(held, tmp_path) as memory:
        calls = memory.service.calls
        ended = [row for row in calls.scans(None, memory.now) if row["status"] in ("Completed", "Failed")]
        finding = next(
            (row, one) for row in reversed(ended) for one in calls.findings(str(row["id"])) if one["type"] == "sast"
        )
        day = (memory.now - timedelta(days=30)).date().isoformat()
        held.control("act", day=day, deed="late")
        held.control(
            "triage", project=finding[0]["projectId"], similarity=finding[1]["similarityId"], state="CONFIRMED"
        )
        assert not [item for item in memory.read("audit") if day in item.key]
        assert [item for item in memory.read("audit", sweep=True) if day in item.key]
        swept = ids_of(memory.read("scans", sweep=True), Item, "scan")
        assert set(swept) >= {str(row["id"]) for row in ended}
        assert len([item for item in memory.read("decisions", sweep=True) if isinstance(item, Item)]) == 1


def test_a_report_is_kept_until_no_sweep_can_ask_for_it_again() -> None:
    assert FORGOTTEN_AFTER.total_seconds() + SWEEP_DAYS * 86_400 <= RETENTION_S
