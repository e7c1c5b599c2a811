"""What a check of an archive and a backup of it look at, one thing at a time; read and spoilt with SQLite and the file
system alone."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.api.safekeeping import backup, check_archive
from noarkit.errors import ConfigFault, StoreDamaged, UsageFault
from noarkit.server.safekeeping.backup import back_up
from noarkit.server.safekeeping.manifest import begin_service
from tests.faults.test_backup import first_file, loaded, rot, rows, stored

__all__ = ["loaded"]
SHA256 = "ab" * 32


@pytest.fixture
def finished_backup(loaded: Path, tmp_path: Path) -> Path:
    """A finished backup of an archive with three records."""
    return backup(loaded, tmp_path / "finished_backup").folder


@pytest.fixture
def served_archive(finished_backup: Path, tmp_path: Path) -> Path:
    """The same as an archive that is no backup."""
    shutil.copytree(finished_backup, tmp_path / "served_archive")
    begin_service(tmp_path / "served_archive")
    return tmp_path / "served_archive"


def change(folder: Path, *statements: str, name: str = "archive.db") -> None:
    """A hand that meddles with a database."""
    with closing(sqlite3.connect(folder / name)) as db, db:
        for statement in statements:
            assert db.execute(statement).rowcount != 0, statement


def kinds_in(folder: Path) -> set[str]:
    """The kinds of flaws that a check finds."""
    return {flaw[0] for flaw in check_archive(folder).flaws}


PAIR = "p_abstraktmappe_refsekundaerklasse_klasse_refmappesomsekundaer"
FLAWS = {
    "a pair of nothing and nothing": (f"INSERT INTO {PAIR} VALUES (987654, 987655)", "link-dangling", PAIR),
    "a light copy of a file that is not there": ("INSERT INTO light_pdf VALUES (987654, 987655)", "light-pdf", ""),
    "a version of another size": ("UPDATE o_dokumentversjon SET filstoerrelse = 7 WHERE id > 0", "file-row", ""),
    "a uuid that is none": ("UPDATE o_arkiv SET uuid = upper(uuid) || 'x'", "row-value", "uuid"),
    "two parents": (
        "UPDATE o_abstraktregistrering SET refArkivdel = (SELECT min(id) FROM o_arkivdel),"
        " refMappe = (SELECT min(id) FROM o_abstraktmappe)",
        "row-value",
        "refArkivdel",
    ),
    "a value of another type": ("UPDATE o_abstraktmappe SET saksaar = 2020", "row-value", "saksaar"),
}


@pytest.mark.parametrize("what", FLAWS)
def test_each_flaw_of_a_row_is_found(what: str, loaded: Path, served_archive: Path) -> None:
    statement, kind, detail = FLAWS[what]
    if "o_abstraktmappe" in statement and not rows(served_archive, "o_abstraktmappe"):
        pytest.skip("there are no folders here")
    assert check_archive(served_archive).flaw_count == 0
    change(served_archive, statement)
    flaws = {(flaw[0], text) for flaw in check_archive(served_archive).flaws for text in flaw[1:]}
    assert any(found == kind and detail in text for found, text in flaws), flaws


def test_tables_of_another_version_are_not_judged_by_ours(served_archive: Path) -> None:
    change(served_archive, "UPDATE archive_schema SET version = version + 1")
    with pytest.raises(ConfigFault):
        check_archive(served_archive)


def test_what_waits_to_be_linked_or_removed_and_what_is_coming_in_is_no_surplus(served_archive: Path) -> None:
    """Each of three contents that no row refers to has its reason; without it each is surplus."""
    names = [f"{number:02x}" * 32 for number in (1, 2, 3)]
    for place, name in (("01", names[0]), ("02", names[1]), ("incoming", names[2])):
        (served_archive / "files" / place).mkdir(exist_ok=True)
        (served_archive / "files" / place / name).write_bytes(b"x")
    with closing(sqlite3.connect(served_archive / "uploads.db")) as db, db:
        db.execute("CREATE TABLE IF NOT EXISTS upload (file_id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL)")
        db.execute("INSERT INTO upload (file_id, sha256) VALUES (1, ?)", (names[0],))
    change(served_archive, f"INSERT INTO released_file VALUES (99, '{names[1]}')")
    assert check_archive(served_archive).flaws == ()
    change(served_archive, "DELETE FROM upload", name="uploads.db")
    change(served_archive, "DELETE FROM released_file")
    surplus = {flaw[1] for flaw in check_archive(served_archive).flaws if flaw[0] == "file-surplus"}
    assert surplus == {f"files/01/{names[0]}", f"files/02/{names[1]}"}


def test_while_it_is_served_what_comes_and_goes_is_asked_about_again(served_archive: Path) -> None:
    (served_archive / "serving.json").write_text("{}", "utf-8")
    stray = served_archive / "files" / "ab" / SHA256
    stray.parent.mkdir(exist_ok=True)
    stray.write_bytes(b"on its way")
    gone = first_file(served_archive)
    gone.unlink()
    assert kinds_in(served_archive) == {"file-surplus", "file-missing"}, "what is still wrong at last is told"

    def settle() -> None:
        stray.unlink()
        change(served_archive, f"DELETE FROM stored_file WHERE sha256 = '{gone.name}'")

    timer = threading.Timer(0.2, settle)
    timer.start()
    try:
        kinds = kinds_in(served_archive)
    finally:
        timer.join()
    assert not kinds & {"file-surplus", "file-missing"}, kinds


def rewritten_manifest(folder: Path, change_text: Callable[[str], str], *, vouched: bool) -> None:
    """The manifest as somebody changed it, `vouched` for in `backup.json` where they thought of that."""
    path = folder / "manifest-sha256.txt"
    path.write_text(change_text(path.read_text("utf-8")), "utf-8")
    if vouched:
        facts = json.loads((folder / "backup.json").read_text("utf-8"))
        facts["manifest_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        (folder / "backup.json").write_text(json.dumps(facts), "utf-8")


def test_a_manifest_that_was_changed_is_found(finished_backup: Path) -> None:
    rewritten_manifest(finished_backup, lambda text: text + f"{SHA256}  files/ab/{SHA256}\n", vouched=False)
    assert kinds_in(finished_backup) == {"manifest-differs"}


def test_a_manifest_that_leads_out_of_the_backup_is_not_followed(finished_backup: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(b"theirs")
    sha256 = hashlib.sha256(b"theirs").hexdigest()
    rewritten_manifest(finished_backup, lambda text: text + f"{sha256}  ../outside\n", vouched=True)
    assert kinds_in(finished_backup) == {"manifest-differs"}


def test_a_file_that_no_manifest_names_is_found(finished_backup: Path) -> None:
    (finished_backup / "notes.txt").write_text("somebody's", "utf-8")
    flaws = check_archive(finished_backup).flaws
    assert [flaw[:2] for flaw in flaws] == [("file-surplus", "notes.txt")]


def test_a_settings_file_that_was_changed_or_is_gone_is_found(finished_backup: Path) -> None:
    with (finished_backup / "clients.toml").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert kinds_in(finished_backup) == {"file-bytes"}
    (finished_backup / "clients.toml").unlink()
    assert kinds_in(finished_backup) == {"file-missing"}


def test_a_backup_of_a_later_version_is_not_judged_by_ours(finished_backup: Path) -> None:
    facts = json.loads((finished_backup / "backup.json").read_text("utf-8"))
    (finished_backup / "backup.json").write_text(json.dumps({**facts, "version": facts["version"] + 1}), "utf-8")
    with pytest.raises(UsageFault):
        check_archive(finished_backup)


def test_an_unfinished_backup_is_neither_served_nor_backed_up(finished_backup: Path, tmp_path: Path) -> None:
    (finished_backup / "backup-unfinished").touch()
    for refused in (
        lambda: begin_service(finished_backup),
        lambda: back_up(finished_backup, tmp_path / "second"),
        lambda: check_archive(finished_backup),
    ):
        with pytest.raises(UsageFault) as raised:
            refused()
        assert raised.value.data["what"] == "backup-unfinished"
    assert (finished_backup / "backup.json").exists() and not (tmp_path / "second").exists()


@pytest.fixture
def open_umask() -> Iterator[None]:
    """A user whose files others may read by default."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_logs_and_settings_come_along_and_are_for_the_owner_alone(
    loaded: Path, tmp_path: Path, open_umask: None
) -> None:
    folder = backup(loaded, tmp_path / "private").folder
    beside = {path.name for path in folder.iterdir() if path.is_file()}
    wanted = {name for name in ("archive.db", "logs.db", "server.toml", "clients.toml") if (loaded / name).exists()}
    assert {"archive.db", "logs.db", "clients.toml"} <= wanted and wanted <= beside
    assert (folder / "clients.toml").read_bytes() == (loaded / "clients.toml").read_bytes()
    with closing(sqlite3.connect(folder / "logs.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert db.execute("SELECT count(*) FROM sqlite_master WHERE type = 'table'").fetchone()[0] > 0
    readable = [path.name for path in [folder, *folder.rglob("*")] if path.stat().st_mode & 0o077]
    assert readable == []


def test_what_an_earlier_attempt_left_over_is_not_in_the_backup(loaded: Path, tmp_path: Path) -> None:
    part = tmp_path / "copy.unfinished"
    (part / "files" / "ab").mkdir(parents=True)
    (part / "files" / "ab" / SHA256).write_bytes(b"of a record that was deleted since")
    (part / "archive.db.part-journal").write_bytes(b"half")
    (part / "backup.json").write_text("{}", "utf-8")
    folder = backup(loaded, tmp_path / "copy").folder
    assert stored(folder).keys() == stored(loaded).keys()
    assert check_archive(folder).flaw_count == 0 and not list(folder.glob("*part*"))


def test_a_damaged_archive_is_told_by_its_own_file(served_archive: Path, tmp_path: Path) -> None:
    path = first_file(served_archive)
    rot(served_archive)
    with pytest.raises(StoreDamaged) as raised:
        back_up(served_archive, tmp_path / "one")
    assert (raised.value.data["where"], raised.value.data["why"]) == (str(path), "file-bytes")
    path.unlink()
    with pytest.raises(StoreDamaged) as raised:
        back_up(served_archive, tmp_path / "two")
    assert (raised.value.data["where"], raised.value.data["why"]) == (str(path), "file-missing")


def test_a_target_that_came_meanwhile_is_not_replaced(loaded: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy"

    def make_it(step: object) -> None:
        target.mkdir(exist_ok=True)

    with pytest.raises(UsageFault):
        back_up(loaded, target, progress=make_it)
    assert list(target.iterdir()) == []
    target.rmdir()
    assert back_up(loaded, target).folder == target
