"""A package goes into an archive and out again, and into another and out again: the two packages are the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.roundtrip.circle import circle_of_package, files_of

GOLDEN = ("synth-full-5.0", "synth-full-3.1", "arkade-Version5_5", "documaster-valid-case-archive/extraction")


@pytest.mark.parametrize("name", GOLDEN)
def test_a_package_comes_out_of_a_second_archive_as_it_came_out_of_the_first(
    name: str, reference: Path, tmp_path: Path
) -> None:
    package = reference.parent / "samples" / "noark5" / name
    circle = circle_of_package(package, tmp_path)
    for way in circle.ways:
        assert way.numbers.archived == way.numbers.read > 0
        assert way.closed.refused == 0
    first, second = files_of(circle.first), files_of(circle.second)
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []
    # the change log of the package stands in both
    assert (package / "endringslogg.xml").exists() == ("endringslogg.xml" in first)
