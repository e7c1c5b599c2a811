"""What the archive holds of definitions is compared with what is listed: a deletion is reported once to each archive,
what appears late is read with all its versions and reviews, and a sweep looks at all of it again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from noarkit.events import ignore_event
from noarkit.services.features.service import Features
from noarkit.services.known_keys import KnownKeys, add_known_keys
from noarkit.services.port import DELETION_KEY_END, Deletion, Item, ServiceItem, Window
from noarkit.services.standins.server import StandinSpec
from tests.services.features.asking import connected
from tests.services.standing import Standing, standing


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Standing]:
    spec = StandinSpec(40, limits=(), options={"audit": "20"})
    with standing("features", tmp_path / "standin", spec) as found:
        yield found


class Memory:
    """What an archive holds, as its runs proved it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.now = datetime.now(UTC)

    def read(self, service: Features, stream: str, *, sweep: bool = False, first: bool = False) -> list[ServiceItem]:
        """One run of a stream, and what it proved is remembered."""
        (found,) = (one for one in service.streams() if one.name == stream)
        self.now += timedelta(days=3)
        since = None if first else self.now - timedelta(days=4)
        with closing(KnownKeys(self.place)) as known_keys:
            window = Window(since, self.now, sweep, known_keys=known_keys)
            items = list(service.items(found, window, ignore_event))
        held_keys = [item.key for item in items if isinstance(item, Item)]
        gone_keys = [item.key.removesuffix(DELETION_KEY_END) for item in items if isinstance(item, Deletion)]
        add_known_keys(self.place, "an archive", held_keys, gone_keys)
        return items


def deletions(items: list[ServiceItem]) -> list[str]:
    """The keys of the deletions."""
    return [item.key for item in items if isinstance(item, Deletion)]


def test_a_deletion_is_reported_once_to_each_archive_though_what_we_knew_is_lost(own: Standing, tmp_path: Path) -> None:
    first, second = Memory(tmp_path / "first.db"), Memory(tmp_path / "second.db")
    with connected(own, tmp_path / "here") as service:
        for memory in (first, second):
            memory.read(service, "gates", first=True)
        gate = str(next(iter(service.calls.definitions("gates")))["id"])
        key = f"{service.tenant}:gate:{gate}{DELETION_KEY_END}"
        own.control("change", gone=[{"kind": "gates", "id": gate}])
        assert deletions(first.read(service, "gates")) == [key]
        for memory in (first, first):
            assert deletions(memory.read(service, "gates")) == []
    with connected(own, tmp_path / "elsewhere") as service:  # another state: nothing is known of what was listed
        assert deletions(second.read(service, "gates")) == [key]
        assert deletions(second.read(service, "gates", sweep=True)) == []
        assert deletions(first.read(service, "gates", sweep=True)) == []


def test_what_was_deleted_comes_back_and_is_deleted_again_is_reported_again(own: Standing, tmp_path: Path) -> None:
    memory = Memory(tmp_path / "known.db")
    with connected(own, tmp_path) as service:
        memory.read(service, "gates", first=True)
        gate = str(next(iter(service.calls.definitions("gates")))["id"])
        for _ in range(2):
            own.control("change", gone=[{"kind": "gates", "id": gate}])
            assert len(deletions(memory.read(service, "gates"))) == 1
            assert len(deletions(memory.read(service, "gates"))) == 0
            own.control("change", definitions=[{"kind": "gates", "id": gate, "members": {"isEnabled": True}}])
            assert any(f":{gate}:" in item.key for item in memory.read(service, "gates") if isinstance(item, Item))


def test_a_definition_that_appears_late_is_read_with_its_versions_and_reviews(own: Standing, tmp_path: Path) -> None:
    memory = Memory(tmp_path / "known.db")
    with connected(own, tmp_path) as service:
        gates = {str(row["id"]): row for row in service.calls.definitions("gates")}
        late = next(
            one for one in gates if len(list(service.calls.versions("gates", one))) > 1
            and list(service.calls.reviews("gates", one)) and not gates[one].get("activeReview")
        )  # fmt: skip
        memory.read(service, "gates", first=True)
        memory.read(service, "reviews", first=True)
        forgotten = Memory(tmp_path / "other.db")  # an archive that saw all but this one
        with closing(KnownKeys(memory.place)) as known:
            others = [key for key in known.under("") if f":{late}:" not in key and ":review:" not in key]
        add_known_keys(forgotten.place, "an archive", others, [])
        forgotten.now = memory.now
        states = [item.key for item in forgotten.read(service, "gates") if f":{late}:" in item.key]
        assert len(states) == len(list(service.calls.versions("gates", late)))
        add_known_keys(forgotten.place, "an archive", [], states)  # as before it was loaded
        reviewed = {
            str(item.fields["definition"]) for item in forgotten.read(service, "reviews") if isinstance(item, Item)
        }
        assert late in reviewed


def test_a_sweep_reads_all_versions_reviews_and_log_again(own: Standing, tmp_path: Path) -> None:
    memory = Memory(tmp_path / "known.db")
    with connected(own, tmp_path) as service:
        for stream in ("gates", "reviews", "audit"):
            everything = {item.key for item in memory.read(service, stream, first=True)}
            quiet = {item.key for item in memory.read(service, stream)}
            assert len(quiet) < len(everything), stream
            assert {item.key for item in memory.read(service, stream, sweep=True)} == everything


def test_a_deletion_is_reported_once_though_the_marks_of_its_run_did_not_move_on(own: Standing, tmp_path: Path) -> None:
    memory = Memory(tmp_path / "known.db")
    with connected(own, tmp_path) as service:
        memory.read(service, "gates", first=True)
        gate = str(next(iter(service.calls.definitions("gates")))["id"])
        own.control("change", gone=[{"kind": "gates", "id": gate}])
        assert len(deletions(memory.read(service, "gates"))) == 1
        memory.now -= timedelta(days=3) - timedelta(seconds=5)  # the next run reads the same window again
        assert deletions(memory.read(service, "gates")) == []


def test_versions_are_read_again_for_a_day_after_a_change(own: Standing, tmp_path: Path) -> None:
    memory = Memory(tmp_path / "known.db")
    with connected(own, tmp_path) as service:
        gate = str(next(iter(service.calls.definitions("gates")))["id"])
        own.control("change", definitions=[{"kind": "gates", "id": gate, "members": {"isEnabled": True}}])
        versions = [item.key for item in memory.read(service, "gates", first=True) if f":{gate}:" in item.key]
        (gates,) = (one for one in service.streams() if one.name == "gates")
        mark = datetime.now(UTC) + timedelta(hours=1)
        with closing(KnownKeys(memory.place)) as known_keys:
            window = Window(mark - service.look_back, mark + timedelta(hours=1), known_keys=known_keys)
            found = [item.key for item in service.items(gates, window, ignore_event) if f":{gate}:" in item.key]
        assert found == versions and len(versions) > 1, "one may appear some time after its change"
