"""`noarkit verify` against a real archive over HTTP: verdicts, exit codes, and who changed what."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any  # facts read back from JSON

import pytest

from noarkit.archive.http import connect
from noarkit.archive.port import Archive
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.token import Credentials
from noarkit.archive.values import Query, Save
from noarkit.cli.main import main
from noarkit.embedded import EmbeddedArchive, open_embedded
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.usefixtures("one_archive")


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedArchive]:
    """One archive that all tests of this module join; each has a source, and so keys, of its own."""
    with open_embedded(tmp_path_factory.mktemp("archive"), client_id="admin") as running:
        yield running


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test works in an empty folder, with nobody's own config, on a run of three files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in [name for name in os.environ if name.startswith("NOARKIT_")]:
        monkeypatch.delenv(name)
    for name in ("case/a.txt", "case/b.txt", "other/c.txt"):
        path = tmp_path / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{tmp_path} {name}", encoding="utf-8")


@pytest.fixture
def run(archive: EmbeddedArchive) -> Callable[..., int]:
    """A command line in this process, with the archive named by the environment."""

    def call(*arguments: str) -> int:
        return main(arguments, {"HOME": os.environ["HOME"], "NOARKIT_ARCHIVE": f"embedded:{archive.data_dir}"})

    return call


@pytest.fixture
def loaded(run: Callable[..., int]) -> Callable[..., int]:
    assert run("ingest", "src", "-o", "run") == 0
    return run


@pytest.fixture
def another_user(archive: EmbeddedArchive) -> Iterator[Archive]:
    """An account that is not the run's."""
    credentials = Credentials(archive.client_id, archive.client_secret)
    with closing(connect(ArchiveSettings(archive.url, credentials, token_url=archive.token_url))) as direct:
        yield direct


def proof() -> dict[str, Any]:
    """The newest certificate, as data."""
    found: dict[str, Any] = json.loads(max(Path("run").glob("verify-*.json")).read_text("utf-8"))
    for path in Path("run").glob("verify-*"):
        path.unlink()
    return found


def codes() -> list[str]:
    return sorted({one["code"] for one in proof()["findings"]})


def id_of(key: str) -> str:
    with closing(sqlite3.connect("run/run.db")) as db:
        db.execute("ATTACH 'run/graph.db' AS plan")
        statement = "SELECT e.id FROM entity e JOIN plan.entity p ON p.n = e.n WHERE p.key = ?"
        return str(db.execute(statement, (key,)).fetchone()[0])


def stored(archive: EmbeddedArchive, another_user: Archive, record: str) -> Path:
    """Where the archive keeps the file of a record."""
    where = "refDokument.refRegistrering.id = @r"
    (version,) = another_user.query(Query("Dokumentversjon", where, {"@r": id_of(record)})).objects
    (path,) = (path for path in archive.data_dir.rglob(f"*{str(version.fields['sjekksum'])[8:]}*") if path.is_file())
    return path


def test_a_run_is_verified_whole_and_in_part_where_less_was_asked_for(
    loaded: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert loaded("verify", "run") == 0
    assert "Verified in part" in capsys.readouterr().out
    assert (proof()["verdict"], loaded("verify", "run", "--depth", "bytes", "--lang", "nb")) == ("in_part", 0)
    assert "Verifisert: kilde, kjøring og arkiv stemmer overens" in capsys.readouterr().out
    assert "Verifisert" in max(Path("run").glob("verify-*.html")).read_text("utf-8")
    assert proof()["verdict"] == "verified"


def test_a_plan_that_was_never_ingested_is_not_verified(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("plan", "src", "-o", "run") == 0
    assert run("verify", "run", "--depth", "bytes") == 7
    assert "NOT verified: there was nothing to compare" in capsys.readouterr().out
    assert proof()["verdict"] == "not_verified"


def test_sources_that_are_gone_are_named_and_the_run_is_verified_in_part(
    loaded: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("src/case/a.txt").unlink()
    assert loaded("verify", "run", "--depth", "bytes") == 3
    assert "no longer in the source" in capsys.readouterr().out
    facts = proof()
    assert (facts["verdict"], facts["missing"]) == ("in_part", {"source_gone": 1})
    assert {"code": "V101", "key": "case/a.txt", "detail": ""} in facts["notices"]


@pytest.mark.parametrize("harm", ["missing", "shorter", "longer"])
def test_a_stored_file_that_cannot_be_had_whole_is_a_finding_and_the_rest_goes_on(
    harm: str, loaded: Callable[..., int], archive: EmbeddedArchive, another_user: Archive
) -> None:
    path = stored(archive, another_user, "case/b.txt")
    whole = path.read_bytes()
    path.unlink()
    if harm != "missing":
        path.write_bytes(whole[:-3] if harm == "shorter" else whole + b"more")
    assert loaded("verify", "run", "--depth", "bytes") == 7
    facts = proof()
    files = next(row for row in facts["rows"] if row["name"] == "files")
    assert (files["compared"], files["agree"]) == (3, 2)
    assert [one["code"] for one in facts["findings"]] == ["V305"]


def test_what_another_user_changed_is_told_with_user_and_time_and_verified_in_part(
    loaded: Callable[..., int], another_user: Archive, capsys: pytest.CaptureFixture[str]
) -> None:
    another_user.transaction((Save("Basisregistrering", id_of("case/a.txt"), {"tittel": "corrected"}),))
    assert loaded("verify", "run", "--depth", "bytes") == 3
    facts = proof()
    assert (facts["verdict"], facts["changes"], facts["differences"]) == ("in_part", 1, 0)
    (notice,) = facts["notices"]
    assert (notice["code"], notice["key"]) == ("V501", "case/a.txt")
    assert notice["detail"].startswith("Basisregistrering.tittel: admin, 20")


def test_the_same_change_without_a_trace_in_the_log_is_a_difference(
    loaded: Callable[..., int], archive: EmbeddedArchive
) -> None:
    with closing(sqlite3.connect(archive.data_dir / "archive.db", isolation_level=None, timeout=PATIENCE_S)) as db:
        db.execute("UPDATE o_abstraktregistrering SET tittel = 'forged' WHERE id = ?", (int(id_of("case/a.txt")),))
    assert loaded("verify", "run") == 7
    assert codes() == ["V210"]


def test_a_second_run_over_a_damaged_archive_is_not_verified(
    loaded: Callable[..., int], archive: EmbeddedArchive, another_user: Archive
) -> None:
    path = stored(archive, another_user, "case/b.txt")
    path.write_bytes(b"X" + path.read_bytes()[1:])
    Path("run").rename("first")
    assert loaded("ingest", "src", "-o", "run") == 0
    assert loaded("verify", "run", "--depth", "bytes") == 7
    assert codes() == ["V302"]
