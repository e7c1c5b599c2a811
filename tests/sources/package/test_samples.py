"""Every extract that others made is read, or refused with a fault that says why."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.errors import PackageFault
from noarkit.forms.noark5.source import find_extract
from tests.roundtrip.circle import plan_extract

# what each sample holds: folders and records, and how many of them are set aside and why
READ: dict[str, tuple[int, dict[str, int]]] = {
    "synth-full-5.0": (105, {}),
    "synth-full-3.1": (105, {}),
    "arkade-Version5_5": (3, {}),
    "arkade-Small": (3, {}),
    "arkade-n5-eksempel/unpacked": (3, {}),
    "n5tester-noark5": (3, {}),
    "documaster-valid-case-archive/extraction": (5, {}),
    "documaster-duplicate-system-ids/extraction": (5, {}),
    "kdrs-uttrekk1/n5uttrekk": (6, {"F202": 1, "F203": 1}),
    "arkade-Noark5Archive": (6, {"F202": 4}),
    "arkade-StructureChecksums/correct": (3, {"F202": 2}),
    "arkade-StructureChecksums/errors": (3, {"F202": 2}),
}
REFUSED: dict[str, str] = {
    "documaster-incomplete-structure/extraction": "malformed-xml",
    "arkade-StructureChecksums/missingValue": "not-a-structure",
    "arkade-StructureChecksums/missingProperty": "not-a-structure",
    "arkade-StructureChecksums/missingAlgorithm": "not-a-structure",
    "arkade-StructureChecksums/unsupportedAlgorithm": "not-a-structure",
}
NO_EXTRACT = ("mottak-metadatafil", "arkade-StructureChecksums/missingTargetFile")


@pytest.fixture
def samples(reference: Path) -> Path:
    """Where the samples lie."""
    return reference.parent / "samples" / "noark5"


def files_of_the_package(sample: Path) -> Iterator[Path]:
    """The files of an unpacked DIAS package that are no content of it."""
    for top in (mets.parent for mets in sample.rglob("dias-mets.xml")):
        yield from (path for path in top.rglob("*") if path.is_file() and top / "content" not in path.parents)


@pytest.mark.parametrize("name", READ)
def test_a_sample_is_planned_and_its_numbers_add_up(name: str, samples: Path, tmp_path: Path) -> None:
    read, aside = READ[name]
    planned = plan_extract(samples / name, tmp_path / "run")
    around = planned.records.get("skipped", 0)  # the documents of the package that the sample lies in
    assert sum(planned.records.values()) == read + around
    assert around == len(list(files_of_the_package(samples / name)))
    assert planned.records.get("mapped", 0) == read - sum(aside.values())
    with closing(sqlite3.connect(tmp_path / "run" / "graph.db")) as graph, graph:
        counted = graph.execute("SELECT code, count(*) FROM record WHERE code IS NOT NULL GROUP BY code").fetchall()
    graph.close()
    assert dict(counted) == aside


@pytest.mark.parametrize("name", REFUSED)
def test_a_sample_that_is_none_is_refused_by_name(name: str, samples: Path, tmp_path: Path) -> None:
    with pytest.raises(PackageFault) as caught:
        plan_extract(samples / name, tmp_path / "run")
    assert caught.value.data["why"] == REFUSED[name]


@pytest.mark.parametrize("name", NO_EXTRACT)
def test_a_folder_without_structure_is_no_extract(name: str, samples: Path) -> None:
    assert find_extract(str(samples / name)) is None


def test_no_sample_is_forgotten(samples: Path) -> None:
    found = {path.parent for path in samples.rglob("arkivstruktur.xml")}
    named = {samples / name for name in (*READ, *REFUSED)}
    assert all(any(place == one or one in place.parents for one in named) for place in found)
