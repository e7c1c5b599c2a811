"""What a package lacks is set aside with advice that fits, or taken as metadata where the user wants that."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.api import planning
from noarkit.errors import UsageFault
from noarkit.forms.finders import reopen
from noarkit.forms.noark5.source import ExtractSource
from noarkit.graph.losses import losses
from noarkit.graph.store import GraphStore
from noarkit.words.texts import explain
from tests.sources.package.made import (
    CASE,
    PARTY,
    classified,
    document,
    folder,
    fonds,
    package,
    record,
    series,
    version,
)

POST = record(31, document(32, version(33, "dokumenter/c.pdf")), kind="journalpost").replace(PARTY, "")
INSIDE = (
    record(11, document(12, version(13, "dokumenter/gone.pdf"))),
    record(21, document(22, version(23, "dokumenter/damaged.pdf"))),
    POST,
)


@pytest.fixture
def incomplete(tmp_path: Path) -> Path:
    place = tmp_path / "package"
    files = ["dokumenter/damaged.pdf", "dokumenter/c.pdf"]
    package(place, fonds(series(classified(folder(10, *INSIDE, kind="saksmappe", after=CASE)))), files)
    (place / "dokumenter" / "damaged.pdf").write_bytes(b"something else")
    return place


def test_without_being_asked_a_record_that_lacks_something_is_set_aside(incomplete: Path, tmp_path: Path) -> None:
    planned = planning.plan(incomplete, tmp_path / "run", hash_contents=False)
    assert planned.records["set_aside"] == 3, "the file that is not what is stated is set aside by the plan, too"
    for lang in ("en", "nb"):
        for code in ("F202", "F203"):
            assert "--take-incomplete" in (explain(code, lang) or [""])[-1]


def test_where_it_is_wanted_such_records_are_taken_and_what_is_left_out_is_named(
    incomplete: Path, tmp_path: Path
) -> None:
    planned = planning.plan(incomplete, tmp_path / "run", take_incomplete=True)
    assert dict(planned.records) == {"mapped": 4}
    assert (planned.entities["Dokument"], planned.entities["Dokumentversjon"]) == (3, 1)
    assert planned.entities["Korrespondansepart"] == 1
    graph = GraphStore.open(planned.folder.graph)
    left = [one.value for one in losses(graph.db) if one.element == "dokumentobjekt/referanseDokumentfil"]
    graph.close()
    assert left == ["dokumenter/gone.pdf", "dokumenter/damaged.pdf"]


def test_the_source_that_is_opened_again_takes_the_same(incomplete: Path) -> None:
    source = ExtractSource(incomplete, take_incomplete=True)
    again = reopen(source.identity)
    assert again.identity == source.identity


def test_only_an_extract_can_be_taken_incomplete(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.txt").write_text("a")
    with pytest.raises(UsageFault):
        planning.plan(tmp_path / "files", tmp_path / "run", take_incomplete=True)
