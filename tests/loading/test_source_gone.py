"""A source that is gone is one answer at every depth: verified in part, with all that can be proven without it. One
that was taken out of use can be held against the checksums of the plan."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

import noarkit
from noarkit.cli.exit_codes import verify_exit_code
from noarkit.loading.verification import Depth, VerifyResult
from noarkit.loading.verification.outcome import DEPTHS


def page(result: VerifyResult) -> str:
    """The certificate as it was written."""
    assert result.certificate is not None
    return result.certificate.read_text("utf-8")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A folder that was loaded into an archive of its own."""

    root: Path

    @property
    def source(self) -> Path:
        return self.root / "source"

    @property
    def archive(self) -> str:
        return f"embedded:{self.root / 'archive'}"

    def load(self, *, hash_contents: bool = False) -> Loaded:
        self.source.mkdir()
        for number in range(3):
            (self.source / f"{number}.txt").write_text(f"content {number}", "utf-8")
        noarkit.plan(self.source, self.root / "run", hash_contents=hash_contents)
        assert noarkit.ingest(self.root / "run", archive=self.archive).numbers.archived == 3
        return self

    def verify(self, depth: Depth = "bytes", *, without_source: bool = False) -> VerifyResult:
        return noarkit.verify(self.root / "run", depth=depth, archive=self.archive, without_source=without_source)

    def flip_a_byte(self) -> None:
        """Makes a stored file another of the same length."""
        path = next(
            path for path in (self.root / "archive" / "files").glob("??/*") if path.read_bytes() == b"content 1"
        )
        path.chmod(0o600)
        path.write_bytes(b"kontent 1")

    def forge_a_title(self) -> None:
        """Changes a title below the archive, which no log knows of."""
        with closing(sqlite3.connect(self.root / "archive" / "archive.db")) as db, db:
            assert (
                db.execute("UPDATE o_abstraktregistrering SET tittel = 'forged' WHERE tittel LIKE '1%'").rowcount == 1
            )


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return Loaded(tmp_path_factory.mktemp("loaded")).load()


@pytest.fixture
def loaded(template: Loaded) -> Loaded:
    """What was loaded, at its own place: a plan names the place of its source."""
    kept = template.root.with_name(f"{template.root.name}-kept")
    shutil.copytree(template.root, kept, symlinks=True)
    return template


@pytest.fixture(autouse=True)
def _restored(template: Loaded, request: pytest.FixtureRequest) -> object:
    yield
    kept = template.root.with_name(f"{template.root.name}-kept")
    if kept.exists():
        shutil.rmtree(template.root)
        kept.rename(template.root)


def missing(source: Path) -> None:
    shutil.rmtree(source)


def empty(source: Path) -> None:
    """A mount point with nothing mounted."""
    shutil.rmtree(source)
    source.mkdir()


def a_broken_link(source: Path) -> None:
    shutil.rmtree(source)
    source.symlink_to(source.with_name("elsewhere"))


WAYS: tuple[Callable[[Path], None], ...] = (missing, empty, a_broken_link)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("depth", DEPTHS)
def test_a_source_that_is_gone_leaves_a_verification_in_part(
    depth: Depth, way: Callable[[Path], None], loaded: Loaded
) -> None:
    way(loaded.source)
    result = loaded.verify(depth)
    assert (result.verdict, verify_exit_code(result), result.source, result.differences) == ("in_part", 3, "gone", 0)
    assert result.missing == {"source_gone": 3}
    assert (result.row("keys").agree, result.row("keys").differ) == (4, 0)
    assert [notice.code for notice in result.notices] == ["V104"], "once, not for every record"
    if depth != "counts":
        assert result.row("Dokument").agree == 3
    assert "--without-source" in page(result)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_wrong_in_the_archive_is_found_without_the_source(way: Callable[[Path], None], loaded: Loaded) -> None:
    way(loaded.source)
    loaded.flip_a_byte()
    loaded.forge_a_title()
    result = loaded.verify()
    assert {finding.code for finding in result.findings} == {"V302", "V210"}
    assert (result.verdict, verify_exit_code(result)) == ("not_verified", 7)


def test_a_source_without_checksums_in_the_plan_is_verified_in_part_without_it(loaded: Loaded) -> None:
    missing(loaded.source)
    result = loaded.verify(without_source=True)
    assert (result.verdict, result.missing, verify_exit_code(result)) == ("in_part", {"no_plan_checksum": 3}, 3)
    assert result.row("source records").agree == 3
    loaded.flip_a_byte()
    assert {finding.code for finding in loaded.verify(without_source=True).findings} == {"V302"}


def test_a_source_that_was_taken_out_of_use_is_held_against_the_checksums_of_the_plan(tmp_path: Path) -> None:
    loaded = Loaded(tmp_path).load(hash_contents=True)
    missing(loaded.source)
    assert loaded.verify().verdict == "in_part", "only where it is asked for"
    result = loaded.verify(without_source=True)
    assert (result.verdict, result.source, verify_exit_code(result), result.notices) == ("verified", "plan", 0, [])
    assert (result.compared_counts["source records"], result.compared_counts["files"]) == ((3, 3), (3, 3))
    assert "Verified against the plan" in page(result) and "The source was not read" in page(result)
    assert "Source, run and archive agree" not in page(result)
    loaded.flip_a_byte()
    assert verify_exit_code(loaded.verify(without_source=True)) == 7


def test_a_database_that_was_dropped_is_gone_as_a_folder_is(tmp_path: Path) -> None:
    file, run, archive = tmp_path / "cases.db", tmp_path / "run", f"embedded:{tmp_path / 'archive'}"
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, made TEXT)")
        db.execute("INSERT INTO note VALUES (1, 'first', '2020-01-02')")
    noarkit.plan(f"sqlite:///{file}", run)
    assert noarkit.ingest(run, archive=archive).numbers.archived == 1
    file.unlink()
    result = noarkit.verify(run, depth="bytes", archive=archive)
    assert (result.verdict, result.source, result.missing) == ("in_part", "gone", {"source_gone": 1})
