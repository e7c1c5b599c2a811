"""A package goes into an archive and out again, and into another and out again: the two packages are the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.roundtrip.circle import MONTH_S, NOW, archive_in, circle_of_package, extract_to, files_of, ingest

GOLDEN = ("synth-full-5.0", "synth-full-3.1", "arkade-Version5_5", "documaster-valid-case-archive/extraction")


@pytest.mark.parametrize("name", GOLDEN)
def test_a_package_comes_out_of_a_second_archive_as_it_came_out_of_the_first(
    name: str, reference: Path, tmp_path: Path
) -> None:
    package = reference.parent / "samples" / "noark5" / name
    circle = circle_of_package(package, tmp_path)
    for way in circle.ways:
        assert way.numbers.archived == way.numbers.read > 0
        assert way.closed.refused_count == 0
    first, second = files_of(circle.first), files_of(circle.second)
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []
    # the change log of the package stands in both
    assert (package / "endringslogg.xml").exists() == ("endringslogg.xml" in first)


@pytest.mark.parametrize("name", (*GOLDEN, "kdrs-uttrekk1/n5uttrekk", "documaster-duplicate-system-ids/extraction"))
def test_a_package_that_is_loaded_a_month_later_comes_out_as_the_same_bytes(
    name: str, reference: Path, tmp_path: Path
) -> None:
    package, packages = reference.parent / "samples" / "noark5" / name, []
    for later_s in (0, MONTH_S):
        place = tmp_path / str(later_s)
        with archive_in(place / "archive", NOW + later_s) as archive:
            ingest(package, place / "run", archive, NOW + later_s)
            extract_to(archive, place / "package", include_open=True, later_s=later_s)
        packages.append(files_of(place / "package"))
    first, second = packages
    assert sorted(first) == sorted(second)
    assert [path for path in first if first[path] != second[path]] == []
