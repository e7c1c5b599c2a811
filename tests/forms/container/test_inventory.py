"""The files of a package in a database are those that were given, found by the rules of names and none other."""

from __future__ import annotations

import unicodedata
from contextlib import closing

from hypothesis import given
from hypothesis import strategies as st

from noarkit.forms.container.inventory import FileInventory
from noarkit.forms.container.storage import StoredFile

NAMES = st.lists(
    st.text(st.sampled_from("aA/0.é\u0301e-~ å"), min_size=1, max_size=6).filter(lambda name: "//" not in name),
    max_size=12,
)


@given(NAMES, NAMES)
def test_files_are_found_as_plain_sets_find_them(names: list[str], listed: list[str]) -> None:
    with closing(FileInventory("listed (name TEXT)")) as inventory:
        inventory.add(StoredFile(name, len(name)) for name in names)
        inventory.insert("INSERT INTO listed VALUES (?)", [(name,) for name in listed])
        present = set(names)
        assert list(inventory.unlisted("SELECT name FROM listed")) == sorted(present - set(listed))
        assert inventory.octets() == (sum(map(len, present)), len(present))
        for above in {name[: name.rfind("/") + 1] for name in (*names, *listed)} - {""}:
            assert inventory.has_below(above) == any(name.startswith(above) for name in present)
        for name in (*names, *listed):
            assert inventory.has(name) == (name in present)
            same = {one for one in present if not one.isascii() and nfc(one) == nfc(name)}
            assert inventory.alike(name) == sorted(same)[:2]


def test_a_link_is_there_and_counts_as_no_file() -> None:
    with closing(FileInventory("listed (name TEXT)")) as inventory:
        inventory.add([StoredFile("a", 3), StoredFile("b", 5, "link")])
        assert inventory.has("b")
        assert inventory.octets() == (3, 1)
        assert list(inventory.unlisted("SELECT name FROM listed")) == ["a"]


def nfc(name: str) -> str:
    return unicodedata.normalize("NFC", name)
