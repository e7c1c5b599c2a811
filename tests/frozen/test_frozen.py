"""Runs and archives of each format that there has been are still resumed, verified and taken back.

What noarkit writes into an archive, and into a run, is read again years later. A name that is changed everywhere in the
code passes every other test; here it meets what was written under the old one.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import noarkit
from noarkit.embedded import keep_services
from noarkit.graph.store import GRAPH_VERSION
from noarkit.loading.journal_tables import JOURNAL_VERSION
from noarkit.server.schema import SCHEMA_VERSION
from tests.frozen.letters import COUNT, source

SAMPLES = sorted(Path(__file__).parent.glob("graph-*.tar.xz"))


@dataclass(frozen=True, slots=True)
class Frozen:
    """A sample that was unpacked."""

    run: Path
    archive: str


@pytest.fixture(params=SAMPLES, ids=lambda path: path.name.partition(".")[0])
def frozen(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Frozen]:
    """Each sample in turn, in a folder of its own."""
    with tarfile.open(request.param) as packed:
        packed.extractall(tmp_path, filter="data")
    with keep_services():
        yield Frozen(tmp_path / "run", f"embedded:{tmp_path / 'archive'}")


def test_there_is_a_sample_of_the_formats_of_today() -> None:
    today = f"graph-{GRAPH_VERSION}-journal-{JOURNAL_VERSION}-archive-{SCHEMA_VERSION}"
    assert today in {path.name.partition(".")[0] for path in SAMPLES}, "make one: tests/frozen/make_sample.py"
    assert all(re.fullmatch(r"graph-\d+-journal-\d+-archive-\d+\.tar\.xz", path.name) for path in SAMPLES)


def test_a_run_of_then_goes_on_without_a_double_is_verified_and_taken_back(frozen: Frozen) -> None:
    before = noarkit.status(frozen.run)
    assert (before.state, before.numbers.open) == ("open", COUNT)

    loaded = noarkit.ingest(frozen.run, source=source(), archive=frozen.archive, workers=0)
    assert (loaded.state, loaded.numbers.archived, loaded.numbers.already_there) == ("done", COUNT, 0)
    assert loaded.closed is not None and loaded.closed.is_complete

    proof = noarkit.verify(frozen.run, source=source(), archive=frozen.archive, depth="bytes")
    assert proof.to_dict()["verdict"] == "verified"
    with noarkit.Archive(frozen.archive) as archive:
        assert archive.count("Basisregistrering") == COUNT

    taken = noarkit.retract(frozen.run, archive=frozen.archive, delete=True, closed=True)
    assert (taken.objects["Basisregistrering"], taken.absent, taken.kept) == (COUNT, 0, ())
