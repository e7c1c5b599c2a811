"""An archive that is served and loaded into by other processes is backed up; what is in the backup is read with
SQLite and the file system alone, and compared with the source row by row and byte for byte."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.api.safekeeping import backup, check_archive
from noarkit.errors import StoreDamaged, UsageFault
from noarkit.server.safekeeping.backup import CopyProgress, back_up
from noarkit.server.safekeeping.manifest import BACKUP_FILE, RESTORED_FILE
from tests.faults.conftest import MakeWorld
from tests.faults.test_connector_kills import Forks, forks
from tests.faults.world import DEEP, World

__all__ = ["forks"]
SLOW = {"pause_s": 0.03}


def rows(folder: Path, table: str) -> dict[int, tuple[object, ...]]:
    """The rows of a table by their first column."""
    with closing(sqlite3.connect(f"{(folder / 'archive.db').as_uri()}?mode=ro", uri=True)) as db:
        return {row[0]: row for row in db.execute(f"SELECT * FROM {table}")}


def tables(folder: Path) -> list[str]:
    """Every table of the archive's database."""
    with closing(sqlite3.connect(f"{(folder / 'archive.db').as_uri()}?mode=ro", uri=True)) as db:
        found = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        return sorted(name for (name,) in found)


def stored(folder: Path) -> dict[str, bytes]:
    """Every file of the store, by its name."""
    return {
        path.name: path.read_bytes()
        for path in (folder / "files").rglob("*")
        if path.is_file() and path.parent.name != "incoming"
    }


def assert_files_of_rows(folder: Path, source: Path) -> int:
    """Every version has its file with its hash and the bytes of the source, and there is no other."""
    contents = stored(folder)
    versions = rows(folder, "stored_file").values()
    assert {row[1] for row in versions} == set(contents)
    for sha256, content in contents.items():
        assert hashlib.sha256(content).hexdigest() == sha256
        assert (source / "files" / sha256[:2] / sha256).read_bytes() == content
    with closing(sqlite3.connect(f"{(folder / 'archive.db').as_uri()}?mode=ro", uri=True)) as db:
        of_versions = db.execute("SELECT count(*) FROM o_dokumentversjon").fetchone()[0]
    assert of_versions == len(versions)
    return len(contents)


def test_a_backup_under_load_is_one_moment_of_the_archive_and_serves_again(world: MakeWorld, tmp_path: Path) -> None:
    here = world(60)
    here.serve()
    loading = here.start(**SLOW)
    loading.until_event("chunk_done", times=3)
    made = backup(here.archive, tmp_path / "during")
    assert loading.process.poll() is None, "the load was over before the backup"
    assert loading.end()["state"] == "done"
    assert 0 < assert_files_of_rows(made.folder, here.archive) < 60
    for table in (name for name in tables(made.folder) if name.startswith("o_")):
        later = rows(here.archive, table)
        for number, row in rows(made.folder, table).items():
            # what the load went on to change has another version; all else is the same to the last field
            assert row == later[number] or row[2] < later[number][2], (table, row)  # type: ignore[operator]
    here.stop()
    after = backup(here.archive, tmp_path / "after", previous=made.folder)
    assert after.linked == made.files and assert_files_of_rows(after.folder, here.archive) == 60
    for table in tables(here.archive):
        assert rows(after.folder, table) == rows(here.archive, table), table
    assert stored(after.folder) == stored(here.archive)
    restored_and_loaded(here, made.folder)


def restored_and_loaded(here: World, folder: Path) -> None:
    """The backup, served, is the archive of its moment, and takes the rest: nothing twice, nothing lost."""
    before = {name: rows(folder, name) for name in tables(folder) if name.startswith("o_")}
    served = World(here.root, here.account, run_name="again", contents=here.contents)
    folder.rename(here.root / "backup")
    here.archive.rename(here.root / "lost")
    (here.root / "backup").rename(here.archive)
    served.serve()
    try:
        assert not (here.archive / BACKUP_FILE).exists() and (here.archive / RESTORED_FILE).exists()
        assert {name: rows(here.archive, name) for name in before} == before
        served.check(served.until_done())
    finally:
        served.close()


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An archive with some records, at rest."""
    import noarkit

    root = tmp_path_factory.mktemp("loaded")
    for number in range(3):
        (root / "source").mkdir(exist_ok=True)
        (root / "source" / f"{number}.txt").write_text(f"content {number}")
    noarkit.plan(root / "source", root / "run")
    noarkit.ingest(root / "run", archive=f"embedded:{root / 'archive'}", workers=0)
    yield root / "archive"


def change(folder: Path, sql: str) -> None:
    """A hand that meddles with the database."""
    with closing(sqlite3.connect(folder / "archive.db")) as db, db:
        assert db.execute(sql).rowcount == 1


def first_file(folder: Path) -> Path:
    """A file of the store."""
    return sorted(path for path in (folder / "files").rglob("*") if path.is_file())[0]


def rot(folder: Path) -> None:
    path = first_file(folder)
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    path.write_bytes(content)


def damage_page(folder: Path) -> None:
    """Overwrites the middle of the database."""
    with (folder / "archive.db").open("r+b") as file:
        file.seek((folder / "archive.db").stat().st_size // 8192 * 4096)
        file.write(b"\xff" * 4096)


def add_stray(folder: Path) -> None:
    (folder / "files" / "ab").mkdir(exist_ok=True)
    (folder / "files" / "ab" / ("ab" * 32)).write_bytes(b"nobody's")


def sql(statement: str) -> Callable[[Path], None]:
    return lambda folder: change(folder, statement)


DAMAGE: dict[str, tuple[str, Callable[[Path], None]]] = {
    "a rotten byte": ("file-bytes", rot),
    "a shorter file": ("file-bytes", lambda folder: os.truncate(first_file(folder), 3)),
    "a missing file": ("file-missing", lambda folder: first_file(folder).unlink()),
    "a surplus file": ("file-surplus", add_stray),
    "a row without its parent": (
        "link-dangling",
        sql("UPDATE o_dokument SET refRegistrering = 987654 WHERE id = (SELECT min(id) FROM o_dokument)"),
    ),
    "a row without a title": (
        "row-value",
        sql("UPDATE o_dokument SET tittel = NULL WHERE id = (SELECT min(id) FROM o_dokument)"),
    ),
    "a row of no type": (
        "row-value",
        sql("UPDATE o_dokument SET type = 'Dokumentt' WHERE id = (SELECT min(id) FROM o_dokument)"),
    ),
    "a time that is none": (
        "row-value",
        sql("UPDATE o_dokument SET opprettetDato = 'soon' WHERE id = (SELECT min(id) FROM o_dokument)"),
    ),
    "a version with another checksum": (
        "file-row",
        sql("UPDATE o_dokumentversjon SET sjekksum = 'x' WHERE id = (SELECT min(id) FROM o_dokumentversjon)"),
    ),
    "a file whose version is gone": (
        "file-unused",
        sql("DELETE FROM o_dokumentversjon WHERE id = (SELECT min(id) FROM o_dokumentversjon)"),
    ),
    "a damaged page": ("database-damaged", damage_page),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_what_is_damaged_is_found(what: str, loaded: Path, tmp_path: Path) -> None:
    kind, spoil = DAMAGE[what]
    folder = backup(loaded, tmp_path / "backup").folder
    assert check_archive(folder).flaw_count == 0 and check_archive(loaded).flaw_count == 0
    living = tmp_path / "living"
    shutil.copytree(folder, living)
    (living / BACKUP_FILE).unlink()
    (living / "manifest-sha256.txt").unlink()
    spoil(living)
    assert kind in {flaw[0] for flaw in check_archive(living).flaws}, check_archive(living).flaws
    spoil(folder)  # of a backup the manifest tells as well
    kinds = {flaw[0] for flaw in check_archive(folder).flaws}
    assert kind in kinds and kinds & {"file-bytes", "file-missing", "file-surplus"}, kinds


def test_a_damaged_archive_gives_no_backup(loaded: Path, tmp_path: Path) -> None:
    folder = backup(loaded, tmp_path / "backup").folder
    (folder / BACKUP_FILE).unlink()
    rot(folder)
    with pytest.raises(StoreDamaged) as raised:
        backup(folder, tmp_path / "second")
    assert raised.value.exit_code == 7 and raised.value.data["why"] == "file-bytes"
    assert not (tmp_path / "second").exists()
    with pytest.raises(UsageFault):
        check_archive(tmp_path / "second.unfinished")


def delete_what_is_not_copied(living: Path, part: Path) -> None:
    """As a delete and a sweep between the copy of the rows and that of their files."""
    with closing(sqlite3.connect(living / "archive.db")) as db, db:
        for number, sha256 in db.execute("SELECT file_id, sha256 FROM stored_file").fetchall():
            if not (part / "files" / sha256[:2] / sha256).exists():
                db.execute("DELETE FROM o_dokumentversjon WHERE referanseDokumentfil = ?", (str(number),))
                db.execute("DELETE FROM stored_file WHERE file_id = ?", (number,))
                (living / "files" / sha256[:2] / sha256).unlink()


def test_what_is_deleted_meanwhile_is_not_in_the_backup(loaded: Path, tmp_path: Path) -> None:
    living = backup(loaded, tmp_path / "living").folder

    def delete(step: object) -> None:
        if isinstance(step, CopyProgress) and step.copied == 1:
            delete_what_is_not_copied(living, tmp_path / "copy.unfinished")

    made = back_up(living, tmp_path / "copy", progress=delete)
    assert (made.files, made.copied) == (1, 1)
    assert assert_files_of_rows(made.folder, living) == 1


def test_a_rotten_earlier_backup_is_not_linked_to_again(loaded: Path, tmp_path: Path) -> None:
    earlier = backup(loaded, tmp_path / "earlier").folder
    rot(earlier)
    with pytest.raises(StoreDamaged):
        backup(loaded, tmp_path / "later", previous=earlier)
    made = backup(loaded, tmp_path / "later", previous=earlier)  # the same command again takes it from the archive
    assert made.copied == 1 and assert_files_of_rows(made.folder, loaded) == 3
    assert check_archive(made.folder).flaw_count == 0


def test_what_was_copied_is_read_again_at_the_end_and_not_in_every_round(loaded: Path, tmp_path: Path) -> None:
    living, part = backup(loaded, tmp_path / "living").folder, tmp_path / "copy.unfinished"
    rounds: list[int] = []

    def delete_once(step: object) -> None:
        if isinstance(step, CopyProgress) and not rounds:
            rounds.append(step.copied)
            delete_what_is_not_copied(living, part)
            rot(part)

    with pytest.raises(StoreDamaged) as raised:  # a round that had read it would have copied it once more
        back_up(living, tmp_path / "copy", progress=delete_once)
    assert raised.value.data["why"] == "file-bytes" and not (tmp_path / "copy").exists()
    made = back_up(living, tmp_path / "copy")
    assert (made.files, made.copied) == (1, 1) and check_archive(made.folder).flaw_count == 0


def test_a_target_that_exists_or_lies_in_the_archive_is_refused(loaded: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for target in (tmp_path / "there", loaded / "within"):
        with pytest.raises(UsageFault):
            backup(loaded, target)
    with pytest.raises(UsageFault):
        backup(tmp_path, tmp_path / "none")
    with pytest.raises(UsageFault):
        backup(loaded, tmp_path / "new", previous=loaded)


def test_killed_at_a_step_it_is_no_backup_and_the_same_command_again_is(
    loaded: Path, forks: Forks, tmp_path: Path
) -> None:
    def run(target: Path, kill_at: tuple[str, int] = ("", 0)) -> dict[str, object]:
        line = ["backup", str(loaded), "-o", str(target), "--progress", "none"]
        environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
        return forks.ask("run", line=line, environment=environment, kill_at=kill_at, log=str(tmp_path / "log"))

    alone = run(tmp_path / "alone" / "copy")
    assert alone["code"] == 0, (tmp_path / "log").read_text()
    names = alone["steps"]
    assert isinstance(names, list) and len(names) >= 8, names
    steps = [(name, names[: place + 1].count(name)) for place, name in enumerate(names)]
    for number, step in enumerate(steps if DEEP else [*steps[::3], steps[-1]]):
        target = tmp_path / f"case{number}" / "copy"
        assert run(target, step)["code"] == -signal.SIGKILL, step
        assert not target.exists(), step
        assert run(target)["code"] == 0, (step, (tmp_path / "log").read_text())
        assert not target.with_name(f"{target.name}.unfinished").exists()
        assert stored(target) == stored(tmp_path / "alone" / "copy") and check_archive(target).flaw_count == 0
        for name in tables(target):
            assert rows(target, name) == rows(tmp_path / "alone" / "copy", name), (step, name)
