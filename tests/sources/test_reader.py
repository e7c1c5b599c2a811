"""Somebody else's reader at our port: what it yields is checked, what it raises is told, what it opens is watched."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from noarkit.errors import (
    ItemChanged,
    ItemMalformed,
    ItemUnreadable,
    ItemVanished,
    NoarkitError,
    SourceGone,
    UsageFault,
)
from noarkit.events import ignore_event
from noarkit.forms.finders import open_source, reopen
from noarkit.forms.registry import known_forms
from noarkit.graph.entity import Content, SetAside, Skipped
from noarkit.recipes import check, read_recipe
from noarkit.recipes.read import SOURCE_KEYS
from noarkit.records import SourceIdentity, SourceRecord, released
from noarkit.safe.digest import Readable
from noarkit.service_names import service_names
from noarkit.sources.reader import OUR_NAMES, Record, from_reader

Opened = bytes | AbstractContextManager[Readable]


class Given:
    """A reader of what a test gives it."""

    def __init__(self, items: Iterable[object] = (), opening: Callable[[str], Opened] = lambda locator: b"x") -> None:
        self._items = items
        self._opening = opening
        self.closed = 0

    def records(self) -> Iterator[Record | SetAside | Skipped]:
        yield from self._items  # type: ignore[misc]  # what somebody else's code yields is not sure

    def open(self, locator: str) -> Opened:
        return self._opening(locator)

    def close(self) -> None:
        self.closed += 1


def raising(error: Exception) -> Callable[[str], Opened]:
    """An `open` that raises."""

    def fail(locator: str) -> Opened:
        raise error

    return fail


def test_it_is_a_source_with_an_identity_a_recipe_and_a_proposal() -> None:
    items = [Record("letter", "1", {"title": "T", "case": "19/1"}, (Content("a", "a.txt"),)), Skipped("2", "draft")]
    source = from_reader(Given(items), "my-letters", "/srv/x")
    assert source.identity == SourceIdentity("my-letters", "my-letters:/srv/x")
    assert list(source.records(ignore_event)) == items
    for text in (source.default_recipe(), source.proposal(ignore_event)):
        recipe = read_recipe(text)
        assert recipe.kinds == ("my-letters",) and recipe.target.external_system == "my-letters:/srv/x"
        assert check(recipe, [item for item in items if isinstance(item, SourceRecord)]) == []


def test_its_own_recipe_goes_before_ours_and_it_is_closed_when_the_work_is_done() -> None:
    class Better(Given):
        def default_recipe(self) -> str:
            return "[source]"

    reader = Better()
    with released(from_reader(reader, "better")) as source:
        assert source.default_recipe() == "[source]"
        assert reader.closed == 0
    assert reader.closed == 1


def test_values_become_plain_ones() -> None:
    fields = {"d": date(1998, 3, 4), "t": datetime(1998, 3, 4, 5, 6), "n": Decimal("1.50"), "p": Path("a/b"),
              "s": {"b", "a"}, "l": (1, [None, True]), "m": {1: "x"}}  # fmt: skip
    (told,) = from_reader(Given([Record("k", "1", fields)]), "plain").records(ignore_event)
    assert isinstance(told, SourceRecord)
    assert told.fields == {
        "d": "1998-03-04", "t": "1998-03-04T05:06:00", "n": "1.50", "p": "a/b", "s": ["a", "b"],
        "l": [1, [None, True]], "m": {"1": "x"},
    }  # fmt: skip


@pytest.mark.parametrize(
    "item",
    [{"key": "1"}, Record("k", "", {}), Record("", "1", {}), Record("k", "1", {"x": b"bytes"}),
     Record("k", "1", {"x": object()}), Record("k", "1", {}, ("a.txt",))],  # type: ignore[arg-type]  # as untyped code does
)  # fmt: skip
def test_what_is_no_record_is_the_readers_fault_and_says_so(item: object) -> None:
    with pytest.raises(UsageFault) as told:
        list(from_reader(Given([item]), "odd").records(ignore_event))
    assert told.value.data["what"] == "reader-yields"


def test_a_place_that_cannot_be_read_stops_and_any_other_fault_comes_through() -> None:
    def broken(error: Exception) -> Iterator[object]:
        yield Record("k", "1", {})
        raise error

    with pytest.raises(SourceGone) as gone:
        list(from_reader(Given(broken(FileNotFoundError(2, "no"))), "gone").records(ignore_event))
    assert gone.value.data == {"where": "gone:", "why": "ENOENT"}
    with pytest.raises(KeyError):
        list(from_reader(Given(broken(KeyError("slip"))), "slip").records(ignore_event))


@pytest.mark.parametrize(
    ("opening", "kind"),
    [
        (raising(FileNotFoundError(2, "no")), ItemVanished),
        (raising(PermissionError(13, "no")), ItemUnreadable),
        (raising(ValueError("no header: Kari Nordmann")), ItemMalformed),
        (raising(ItemChanged(key="a")), ItemChanged),
        (lambda locator: "text", ItemMalformed),
        (lambda locator: io.StringIO("text"), ItemMalformed),
        (lambda locator: None, ItemMalformed),
    ],
)
def test_what_open_raises_sets_one_item_aside(opening: Callable[[str], Opened], kind: type[NoarkitError]) -> None:
    source = from_reader(Given(opening=opening), "bad")
    with pytest.raises(kind) as told, source.open(Content("a", "a.txt")) as stream:
        stream.read()
    assert told.value.data["key"] == "a"
    assert "Kari" not in str(told.value.data)


def test_a_fault_of_whoever_reads_is_not_the_readers() -> None:
    with pytest.raises(ZeroDivisionError), from_reader(Given(), "good").open(Content("a", "a.txt")):
        raise ZeroDivisionError


def test_bytes_that_are_not_as_many_as_planned_are_noticed() -> None:
    source = from_reader(Given(opening=lambda locator: b"four"), "sized")
    for size, same in ((None, True), (4, True), (3, False), (5, False)):
        with source.open(Content("a", "a.txt", size)) as stream:
            assert b"".join(iter(lambda: stream.read(3), b"")) == b"four"
            assert stream.still_the_same() is same


def test_a_file_is_watched_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one")
    source = from_reader(Given(opening=lambda locator: path.open("rb")), "watched")
    planned = Content("a", "a.txt", modified_ns=path.stat().st_mtime_ns)
    with source.open(planned) as stream:
        stream.read()
        assert stream.still_the_same()
        os.utime(path, ns=(1, 1))
        assert not stream.still_the_same()
    with pytest.raises(ItemChanged), source.open(planned):
        pass


@pytest.mark.parametrize("name", ["files", "crm", "Mine", "x", "my reader", "a:b", ""])
def test_a_name_that_is_taken_or_none_is_refused(name: str) -> None:
    with pytest.raises(UsageFault) as told:
        from_reader(Given(), name)
    assert told.value.data["what"] == "reader-name"


def installed(place: Path, package: str, points: str, code: str = "") -> None:
    """A package as an installer lays it out."""
    told = place / f"{package}-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", "utf-8")
    (told / "entry_points.txt").write_text(f"[noarkit.sources]\n{points}\n", "utf-8")
    (place / f"{package}.py").write_text(code, "utf-8")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Path]:
    """A folder that packages are installed in."""
    sys.path.insert(0, str(tmp_path))
    yield tmp_path
    sys.path.remove(str(tmp_path))


_READER = """
class Mine:
    def __init__(self, place):
        self.place = place
        if place.endswith("gone"):
            raise FileNotFoundError(2, "no")
    def records(self):
        return []
    def open(self, locator):
        return b""
"""


def test_a_registered_reader_is_found_by_its_name_with_the_whole_path(site: Path) -> None:
    installed(site, "reader_found", "reader-found = reader_found:Mine", _READER)
    assert "reader_found" not in sys.modules
    found = open_source(f"reader-found:{os.path.relpath(site)}")
    assert found.identity == SourceIdentity("reader-found", f"reader-found:{site}")
    assert reopen(found.identity).identity == found.identity
    assert open_source("reader-found:server 7").identity.where == "reader-found:server 7"
    with pytest.raises(SourceGone):
        open_source("reader-found:gone")


def test_readers_that_nobody_has_or_that_are_broken_or_registered_twice_are_told(site: Path) -> None:
    installed(site, "reader_broken", "reader-broken = reader_broken:Mine", "import nothing_of_that_name")
    installed(site, "reader_one", "reader-twice = reader_one:Mine", _READER)
    installed(site, "reader_two", "reader-twice = reader_two:Mine", _READER)
    installed(site, "reader_files", "files = reader_files:Mine\ncrm = reader_files:Mine", _READER)
    for where, what in (
        ("reader-broken:x", "reader-broken"),
        ("reader-twice:x", "reader-twice"),
        ("files:x", "unknown-source"),
    ):
        with pytest.raises(UsageFault) as told:
            open_source(where)
        assert told.value.data["what"] == what
    assert "reader_files" not in sys.modules and "reader_one" not in sys.modules
    with pytest.raises(UsageFault) as missing:
        reopen(SourceIdentity("reader-missing", "reader-missing:x"))
    assert missing.value.data["what"] == "no-such-reader"


def test_no_reader_may_take_a_name_that_the_registries_know() -> None:
    forms = known_forms()
    ours = {*service_names(), *forms.source_kinds, *(form.source_kind for form in forms.forms)}
    assert len(ours) > 10
    assert ours - OUR_NAMES == {"bagit"}, "the form; its sources are called bag"
    assert SOURCE_KEYS.keys() <= OUR_NAMES
