"""An archive file of a million members: each costs the same, whatever its name, and none is let through for being one
of many."""

from __future__ import annotations

import io
import random
import struct
import sys
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.errors import NoarkitError, PackageFault, TooLarge, UnsafeMember
from noarkit.events import Event
from noarkit.forms.container.sinks import PlacedFile, sink_into
from noarkit.forms.container.storage import open_storage
from noarkit.safe import zipped
from noarkit.safe.unpack import UnpackLimits, members, stream_members

MOST_CALLS = 60
"""So many functions may be called for a member, Python's own among them, until a package of it can be read from."""


def zip_of(path: Path, names: Sequence[str], top: str = "bag") -> Path:
    """A zip of empty files in one folder."""
    with path.open("w+b", buffering=0) as file:
        sink = sink_into(file, "zip", top)
        placed: list[PlacedFile] = [sink.add(name, io.BytesIO(b""), None) for name in names]
        sink.finish(placed)
    return path


def numbered(count: int) -> list[str]:
    """As many names as a bag of small files has."""
    return [f"data/f{number:06}.txt" for number in range(count)]


def calls_of(work: Callable[[], object]) -> int:
    """How many functions were called, in Python and below."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("order", ["sorted", "shuffled", "folders in turn"])
def test_each_member_costs_the_same_however_many_there_are(tmp_path: Path, order: str) -> None:
    counted = []
    open_storage(zip_of(tmp_path / "first.zip", numbered(10))).close()  # what is made once is made now
    for count in (1_000, 2_000, 4_000):
        names = numbered(count)
        if order == "shuffled":
            random.Random(count).shuffle(names)
        elif order == "folders in turn":
            names = [f"data/{number % 7}/{number % 11}/f{number:06}.txt" for number in range(count)]
        path = zip_of(tmp_path / f"{count}.zip", names)
        counted.append(calls_of(lambda path=path: open_storage(path).close()))  # type: ignore[misc]  # bound now
    first, second = (counted[1] - counted[0]) / 1_000, (counted[2] - counted[1]) / 2_000
    assert first == pytest.approx(second, rel=0.05)
    assert second < MOST_CALLS


def test_the_directory_is_read_across_blocks(tmp_path: Path) -> None:
    names = [f"data/{number:05}-{'x' * (number % 97)}.txt" for number in range(12_000)]
    path = zip_of(tmp_path / "a.zip", names)
    with path.open("rb") as file, zipfile.ZipFile(path) as judge:
        found = [(one.name, one.size_bytes, one.packing.header_at) for one in zipped.entries(file)]
        assert found == [(one.filename, one.file_size, one.header_offset) for one in judge.infolist()]
        assert zipped.count_of(file) == len(names)


@pytest.mark.parametrize(
    ("first", "last", "why"),
    [
        ("data/f000000.txt", "data/f000000.txt", "duplicate"),
        ("data/f000000.txt", "DATA/F000000.TXT", "twin"),
        ("data/bl\u00e5.txt", "data/bla\u030a.txt", "twin"),
        ("data/f000000.txt", "data/f000000.txt/inner.txt", "duplicate"),
        ("Mappe/a.txt", "mappe/b.txt", "twin"),
        ("data/inner/a.txt", "data/inner", "duplicate"),
    ],
)
def test_two_names_for_one_are_refused_however_far_apart(tmp_path: Path, first: str, last: str, why: str) -> None:
    path = zip_of(tmp_path / "a.zip", [first, *numbered(6_000)[1:], last])
    with pytest.raises(UnsafeMember) as told:
        open_storage(path)
    assert told.value.data["why"] == why


def test_nothing_of_a_zip_is_given_before_all_of_it_is_judged(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "a.zip", [*numbered(100), "data/F000000.txt"])
    with pytest.raises(UnsafeMember, match="twin"):
        next(members(path))


def test_a_folder_that_stands_in_many_places_of_the_order_is_no_twin(tmp_path: Path) -> None:
    names = [f"data/{number % 6_000:04}/{number:06}.txt" for number in range(12_000)]
    with closing(open_storage(zip_of(tmp_path / "a.zip", names))) as storage:
        assert [stored.name for stored in storage.files()] == sorted(names)
        assert [stored.name for stored in storage.files_in_order()] == names
        assert [name for name, _ in storage.contents()] == names


def test_too_many_members_are_refused_before_any_is_read(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "a.zip", numbered(50))
    content = path.read_bytes().replace(b"PK\x01\x02", b"PK\x01\x03")
    path.write_bytes(content)
    with pytest.raises(TooLarge) as told:
        next(stream_members(path, limits=UnpackLimits(members=49)))
    assert told.value.data["why"] == "members"
    with pytest.raises(PackageFault, match="broken"):
        next(stream_members(path, limits=UnpackLimits(members=50)))


def test_a_directory_that_counts_more_than_it_can_hold_is_broken(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "a.zip", numbered(50))
    content = bytearray(path.read_bytes())
    at = content.rindex(b"PK\x06\x06")
    content[at + 32 : at + 40] = struct.pack("<Q", 1_000_000)
    path.write_bytes(content)
    with pytest.raises(PackageFault, match="too short"):
        next(stream_members(path))


def test_what_needs_one_top_folder_is_refused_at_the_first_file_outside(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("one/a", "two/b", "../out"):
            archive.writestr(name, b"")
    with pytest.raises(PackageFault, match="no-single-top-folder"):
        open_storage(path)


def test_shared_bytes_are_refused_also_where_entries_lie_in_another_order(tmp_path: Path) -> None:
    path = zip_of(tmp_path / "a.zip", numbered(3))
    content = bytearray(path.read_bytes())
    at = [place for place in range(len(content) - 4) if content[place : place + 4] == b"PK\x01\x02"]
    turned = bytes(content[at[2] : content.rindex(b"PK\x06\x06")]) + bytes(content[at[0] : at[2]])
    honest = content[: at[0]] + turned + content[content.rindex(b"PK\x06\x06") :]
    path.write_bytes(honest)
    with closing(open_storage(path)) as storage:
        assert [stored.name for stored in storage.files_in_order()] == numbered(3)
    own = len("bag/data/f000000.txt") + 46 + 4 + 16
    honest[at[0] + own : at[0] + own + 8] = honest[at[1] + own : at[1] + own + 8]  # the header of the next
    path.write_bytes(honest)
    with pytest.raises(NoarkitError, match="overlap"):
        open_storage(path)


def test_whoever_waits_hears_how_far_the_listing_is(tmp_path: Path) -> None:
    heard: list[Event] = []
    open_storage(zip_of(tmp_path / "a.zip", numbered(20_500)), emit=heard.append).close()
    assert [dict(event.data) for event in heard] == [{"members": many, "of": 20_500} for many in (10_000, 20_000)]
