"""What other programs export is read as far as it is there; what is not there is told place by place."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.errors import PackageFault
from noarkit.events import ignore_event
from noarkit.extraction.convert import ConvertOptions, set_aside_path
from noarkit.extraction.databases import convert_database
from noarkit.forms.finders import reopen
from noarkit.forms.siard.read.gaps import LOST, RULES, Gap
from noarkit.forms.siard.rules.run import RULES as JUDGED
from noarkit.forms.siard.rules.run import validate_siard
from noarkit.forms.siard.source.source import SiardArchiveSource
from noarkit.forms.siard.sqlite.database import SqliteOrder, sqlite_of
from noarkit.graph.entity import SetAside
from noarkit.records import SourceRecord
from noarkit.words.texts import LANGUAGES, texts
from tests.forms.siard.exports import EXPORTS, WRONG


def rows(place: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(place)) as db:
        return db.execute("SELECT * FROM papers ORDER BY rowid").fetchall()


@pytest.mark.parametrize("kind", EXPORTS)
def test_what_is_there_is_read_and_what_is_not_is_told_place_by_place(kind: str, tmp_path: Path) -> None:
    export = EXPORTS[kind]
    path = export.written(tmp_path / "x.siard")
    told: list[Gap] = []
    sqlite_of(path, tmp_path / "x.db", SqliteOrder(gaps=told.append))
    assert {(gap.why, gap.row, gap.column) for gap in told if gap.why != "stray-element"} == {
        one for one in export.gaps if one[0] != "stray-element"
    }
    assert [gap.why for gap in told].count("stray-element") == (len(export.rows) if export.stray else 0)
    assert rows(tmp_path / "x.db") == [tuple(row) for row in export.read]


@pytest.mark.parametrize("kind", EXPORTS)
def test_a_conversion_lists_what_was_told_beside_it(kind: str, tmp_path: Path) -> None:
    export = EXPORTS[kind]
    path = export.written(tmp_path / "x.siard")
    made = convert_database(str(path), tmp_path / "x.db", ConvertOptions("sqlite"), despite_damage=True)
    assert bool(made.set_aside) is bool(export.gaps)
    listed = set_aside_path(tmp_path / "x.db")
    assert listed.exists() is bool(export.gaps)
    if export.gaps:
        text = listed.read_text("utf-8-sig")
        assert text.count("\n") == made.set_aside + 1
        assert all(why in text and RULES[why] in text for why, _, _ in export.gaps)  # type: ignore[index]  # a word each


@pytest.mark.parametrize("kind", EXPORTS)
def test_a_plan_takes_every_row_and_sets_aside_only_what_is_not_there(kind: str, tmp_path: Path) -> None:
    export = EXPORTS[kind]
    source = SiardArchiveSource(export.written(tmp_path / "x.siard")).despite_damage()
    items = list(source.records(ignore_event))
    records = [item for item in items if isinstance(item, SourceRecord)]
    aside = [item for item in items if isinstance(item, SetAside)]
    assert len(records) == len(export.rows)
    lost = {why for why, _, _ in export.gaps} & LOST
    assert {item.data["why"] for item in aside} == lost
    assert not {item.record_key for item in aside} & {item.key for item in records}
    run = tmp_path / "run"
    source.settle(run)
    assert [item for item in source.records(ignore_event) if isinstance(item, SetAside)] == aside
    assert WRONG not in b"".join(place.read_bytes() for place in run.rglob("*.db"))


@pytest.mark.parametrize("kind", EXPORTS)
def test_validation_tells_the_same_by_the_rules_own_ids(kind: str, tmp_path: Path) -> None:
    export = EXPORTS[kind]
    report = validate_siard(export.written(tmp_path / "x.siard"))
    quiet = {"lob-nested", "key-broken"}  # a key's rows are the database's own affair
    assert {RULES[why] for why, _, _ in export.gaps if why not in quiet} <= report.codes  # type: ignore[index]  # the same


def test_each_gap_has_a_rule_and_words() -> None:
    assert set(RULES.values()) <= set(JUDGED)
    for lang in LANGUAGES:
        assert all(texts(lang).forms("reasons", why) for why in RULES), lang


def test_a_file_whose_name_stands_in_several_places_is_taken_from_none(tmp_path: Path) -> None:
    export = EXPORTS["db2-with-files-in-capitals-a-doubled-key-and-rows-that-are-not-there"]
    path = export.written(tmp_path / "x.siard")
    import zipfile

    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("content/OTHER/record0.bin", b"big")
        archive.writestr("content/third/record0.bin", b"big")
    told: list[Gap] = []
    sqlite_of(path, tmp_path / "x.db", SqliteOrder(gaps=told.append))
    assert [gap.row for gap in told if gap.why == "lob-not-there"] == [1, 2]


def test_rows_that_no_parser_can_read_are_none_and_told(tmp_path: Path) -> None:
    import zipfile

    path = EXPORTS["version-1.0-with-blobs"].written(tmp_path / "whole.siard")
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(tmp_path / "x.siard", "w") as broken:
        for name in archive.namelist():
            content = archive.read(name)
            broken.writestr(name, content[:-9] if name.endswith("table0.xml") else content)
    told: list[Gap] = []
    sqlite_of(tmp_path / "x.siard", tmp_path / "x.db", SqliteOrder(gaps=told.append))
    assert [(gap.key, gap.why) for gap in told] == [("papers#table-broken", "table-broken")]
    assert "table0.xml (1): malformed-xml" in told[0].name
    assert rows(tmp_path / "x.db") == []


@pytest.mark.parametrize(
    "kind", [kind for kind, export in EXPORTS.items() if "message-digest" in {why for why, _, _ in export.gaps}]
)
def test_an_archive_that_is_not_what_its_message_digest_says_is_taken_only_where_that_is_wished(
    kind: str, tmp_path: Path
) -> None:
    export = EXPORTS[kind]
    path = export.written(tmp_path / "x.siard")
    with pytest.raises(PackageFault, match="damaged-source"):
        convert_database(str(path), tmp_path / "x.db", ConvertOptions("sqlite"))
    assert not (tmp_path / "x.db").exists()
    source = SiardArchiveSource(path)
    with pytest.raises(PackageFault, match="damaged-source"):
        list(source.records(ignore_event))
    again = reopen(source.despite_damage().identity)
    assert len([item for item in again.records(ignore_event) if isinstance(item, SourceRecord)]) == len(export.rows)
