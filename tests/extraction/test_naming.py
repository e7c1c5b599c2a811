"""What files are called in a new package: the same every time, and never two alike on any system."""

from __future__ import annotations

import os

from hypothesis import given, settings
from hypothesis import strategies as st

from noarkit.extraction.naming import MOST_PATH_BYTES, Naming
from noarkit.safe.paths import Names
from noarkit.safe.portable import is_portable_name_of

steps = st.sampled_from(
    [
        b"Brev",
        b"brev",
        b"BREV",
        b"BREV.",
        "blå".encode(),
        b"bl\xe5",
        "bla\u030a".encode(),
        b"a:b",
        b"a=3Ab",
        b"CON",
        b"x " * 90,
    ]
)
paths = st.lists(steps, min_size=1, max_size=3).map(b"/".join)


def without_folders(found: list[bytes]) -> list[str]:
    """Paths of files alone: none lies in what is a file itself."""
    files = set(found)
    return sorted(
        os.fsdecode(one) for one in files if not any(other != one and other.startswith(one + b"/") for other in files)
    )


@given(st.lists(paths, min_size=1, max_size=9))
@settings(max_examples=300, deadline=None)
def test_no_system_takes_two_files_for_one(found: list[bytes]) -> None:
    files = without_folders(found)
    with Naming(lambda: files) as naming, Names() as names:
        told = [naming.of(name) for name in files]
        for one in told:
            names.add(tuple(one.split("/")))  # raises for twins, also of folders
        assert len(set(told)) == len(files)
        for called, key in naming.list_renamed():
            assert is_portable_name_of(key, called) and naming.original(called) == key
    with Naming(lambda: reversed(files)) as again:
        assert [again.of(name) for name in files] == told


def test_the_first_of_names_that_differ_in_case_keeps_its_own() -> None:
    with Naming(lambda: ["sak/Brev.txt", "sak/brev.txt", "sak/notat.txt"]) as naming:
        assert naming.of("sak/Brev.txt") == "sak/Brev.txt" and naming.of("sak/notat.txt") == "sak/notat.txt"
        assert naming.of("sak/brev.txt").startswith("sak/brev~")
        assert naming.count == 1


def test_a_path_that_is_too_long_as_a_whole_is_told_by_its_key() -> None:
    long = "/".join(["x" * 200] * 20)
    with Naming(lambda: [long, "a"]) as naming:
        assert list(naming.too_long()) == [long] and len(long) > MOST_PATH_BYTES
        assert not naming.fits(naming.of(long)) and naming.fits("å" * 1_900) and not naming.fits("å" * 1_901)
