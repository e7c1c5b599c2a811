"""What a verification found is remembered: every command says it until a retry mended it or a person accepted it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.archive.http import connect
from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.token import Credentials
from noarkit.archive.values import Delete, Query, Save
from noarkit.cli.main import main
from noarkit.embedded import open_embedded
from tests.cli.test_ingest import elsewhere, files

__all__ = ["elsewhere"]
NAMES = ("case/a.txt", "case/b.txt", "other/c.txt")


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., int]:
    """A command line with an archive of the test's own."""

    def call(*arguments: str) -> int:
        return main([*arguments, "--lang", "en"], {"HOME": str(tmp_path), "NOARKIT_ARCHIVE": "embedded:archive"})

    return call


@pytest.fixture
def loaded(run: Callable[..., int], tmp_path: Path) -> Path:
    """A run of three files that was loaded, closed and verified."""
    assert run("ingest", str(files(tmp_path / "src", *NAMES)), "-o", "run", "--workers", "0") == 0
    assert run("verify", "run", "--depth", "bytes") == 0
    return tmp_path / "archive"


def change(place: Path, do: Callable[[Archive], None]) -> None:
    """What somebody does in the archive."""
    with open_embedded(place, client_id="admin") as service:
        credentials = Credentials(service.client_id, service.client_secret)
        with closing(connect(ArchiveSettings(service.url, credentials, token_url=service.token_url))) as archive:
            do(archive)


def keys_in(place: Path) -> list[str]:
    """The source keys that the archive holds."""
    found: list[str] = []

    def read(archive: Archive) -> None:
        query = Query("EksternId", order=(("id", "asc"),))
        found.extend(str(one.fields["eksternID"]) for one in objects(archive, query) if "case" in str(one.fields))

    change(place, read)
    return sorted(key for key in found if key.endswith(".txt"))


def flip_a_byte(place: Path) -> None:
    with closing(sqlite3.connect(place / "archive.db")) as db:
        sha256 = db.execute("SELECT sha256 FROM stored_file ORDER BY sha256 LIMIT 1").fetchone()[0]
    path = place / "files" / sha256[:2] / sha256
    path.chmod(0o600)
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    path.write_bytes(content)


def lose_a_record(place: Path) -> None:
    def delete(archive: Archive) -> None:
        (record,) = objects(archive, Query("Basisregistrering", "tittel = @t", {"@t": "a.txt"}))
        archive.transaction((Delete("Basisregistrering", record.id, record.version),))

    change(place, delete)
    with closing(sqlite3.connect(place / "archive.db")) as db, db:
        db.execute("DELETE FROM change_log")  # nobody says who did it


DAMAGE = {"a flipped byte": flip_a_byte, "a lost record": lose_a_record}


def said(run: Callable[..., int], capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    capsys.readouterr()
    code = run(*words)
    shown = capsys.readouterr()
    return code, shown.out + shown.err


@pytest.mark.parametrize("what", DAMAGE)
def test_what_verify_found_is_said_by_all_until_the_retry_that_it_advises_mended_it(
    what: str, run: Callable[..., int], loaded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = keys_in(loaded)
    DAMAGE[what](loaded)
    assert run("verify", "run", "--depth", "bytes") == 7
    for words in (("status", "run"), ("ingest", "run", "--workers", "0"), ("ingest", "run", "--workers", "0")):
        assert said(run, capsys, *words)[0] == 7, words
    block = said(run, capsys, "ingest", "run", "--workers", "0")[1].partition("Next")[2]
    assert "noarkit retry run" in block.splitlines()[0]
    assert "errors in the archive" in said(run, capsys, "runs", ".")[1]
    assert json.loads(Path("run/report.json").read_text("utf-8"))["verdict"] == "found_wrong"
    assert "the archive differs from it" in Path("run/plan.html").read_text("utf-8")
    code, text = said(run, capsys, "retry", "run", "--workers", "0")
    assert code == 0, text
    assert "Corrected in the archive" in text and "Not corrected" not in text
    assert said(run, capsys, "status", "run")[0] == 0
    assert said(run, capsys, "ingest", "run", "--workers", "0")[0] == 0
    code, text = said(run, capsys, "verify", "run", "--depth", "bytes")
    assert code == 0, text
    assert keys_in(loaded) == before


def test_what_a_retry_cannot_mend_is_named_with_why_and_accepted_by_its_key(
    run: Callable[..., int], loaded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def retitle(archive: Archive) -> None:
        (record,) = objects(archive, Query("Basisregistrering", "tittel = @t", {"@t": "a.txt"}))
        archive.transaction((Save("Basisregistrering", record.id, {"tittel": "forged"}),))

    change(loaded, retitle)
    with closing(sqlite3.connect(loaded / "archive.db")) as db, db:
        db.execute("DELETE FROM change_log")
    assert run("verify", "run") == 7
    code, text = said(run, capsys, "retry", "run", "--workers", "0")
    assert code == 7
    assert "Not corrected: case/a.txt (V210)" in text
    assert run("retry", "run", "--accept", "case/b.txt") == 2
    assert said(run, capsys, "retry", "run", "--accept", "case/a.txt", "--workers", "0")[0] == 0
    assert said(run, capsys, "status", "run")[0] == 0
    assert said(run, capsys, "verify", "run")[0] == 3, "accepted as it is, and said so"
    change(loaded, lambda archive: retitle_again(archive))
    assert said(run, capsys, "verify", "run")[0] == 7, "it is not as it was accepted"


def retitle_again(archive: Archive) -> None:
    (record,) = objects(archive, Query("Basisregistrering", "tittel = @t", {"@t": "forged"}))
    archive.transaction((Save("Basisregistrering", record.id, {"tittel": "forged once more"}),))


def test_what_an_older_backup_lacks_is_made_again_exactly_once(
    run: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("ingest", str(files(tmp_path / "first", "case/early.txt")), "-o", "run-first", "--workers", "0") == 0
    shutil.copytree("archive", "backup")
    assert run("ingest", str(files(tmp_path / "src", *NAMES)), "-o", "run", "--workers", "0") == 0
    before = keys_in(tmp_path / "archive")
    shutil.rmtree("archive")
    shutil.move("backup", "archive")
    assert run("verify", "run") == 7
    assert said(run, capsys, "ingest", "run", "--workers", "0")[0] == 7
    code, text = said(run, capsys, "retry", "run", "--workers", "0")
    assert code == 0, text
    assert run("verify", "run", "--depth", "bytes") == 0
    assert keys_in(tmp_path / "archive") == before
