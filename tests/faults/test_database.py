"""Database servers that die under a load: it pauses with a clear fault, and the same command ends what it began."""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.embedded import open_embedded
from noarkit.loading.folder import RunFolder
from noarkit.loading.numbers import outcomes
from tests.sources.database.sample import Sample, engine, fill
from tests.sources.database.servers import PrivateServer, installed

DEEP = os.environ.get("NOARKIT_DEEP") == "1"


@pytest.fixture(params=("postgresql", "mysql"))
def private(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[PrivateServer, Sample]]:
    """A server of our own that holds the sample."""
    family = str(request.param)
    if not installed(family):
        pytest.skip(f"no programs of a {family} server are installed here")
    # a folder that the server's own account may enter, which pytest's are not
    with tempfile.TemporaryDirectory(prefix="noarkit-server-") as home:
        yield from served(PrivateServer(family, Path(home) / "d"), tmp_path)


def served(server: PrivateServer, tmp_path: Path) -> Iterator[tuple[PrivateServer, Sample]]:
    """The server with its sample, until it is no longer wanted."""
    family = server.family
    try:
        server.make()
        with engine(server.url).connect() as db:
            db.exec_driver_sql("CREATE DATABASE arkiv")
        sample = Sample(server.url.rpartition("/")[0] + "/arkiv", family, tmp_path / "kilde")
        sample.place.mkdir()
        fill(sample)
        yield server, sample
    finally:
        server.stop()


def noarkit(place: Path, *arguments: str) -> int:
    """A command, run in a folder."""
    before = Path.cwd()
    os.chdir(place)
    try:
        environment = {"HOME": str(place), "PATH": os.environ["PATH"]}
        return main([*arguments, "--progress", "none"], environment)
    finally:
        os.chdir(before)


def killer(server: PrivateServer, place: Path, after: int) -> Path:
    """A check of the site's own that lets files pass, and kills the server at one of them."""
    number = "SIGQUIT" if server.family == "postgresql" else "SIGKILL"
    script = place / "check"
    script.write_text(
        f"#!{sys.executable}\nimport os, pathlib, signal\nseen = pathlib.Path({str(place / 'seen')!r})\n"
        f"with seen.open('a') as file: file.write('x')\n"
        f"if len(seen.read_text()) == {after}:\n    os.kill({server.pid}, signal.{number})\n"
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


def test_a_server_that_is_killed_in_the_middle_pauses_the_load_and_nothing_is_doubled_or_skipped(
    private: tuple[PrivateServer, Sample], capsys: pytest.CaptureFixture[str]
) -> None:
    server, sample = private
    place = sample.place
    to = ("--archive", "embedded:arkiv")
    with open_embedded(place / "arkiv"):
        assert noarkit(place, "recipe", "new", sample.url, "-o", "recipe.toml") == 0
        assert noarkit(place, "plan", sample.url, "--recipe", "recipe.toml", "-o", "run") == 0
        check = killer(server, place, 6)
        capsys.readouterr()
        assert noarkit(place, "ingest", "run", *to, "--check-command", str(check)) == 5
        assert "F291" in capsys.readouterr().err
        server.stop()
        assert noarkit(place, "ingest", "run", *to) == 5
        assert noarkit(place, "plan", sample.url, "--recipe", "recipe.toml", "-o", "run2") == 5
        assert list(outcomes(RunFolder(place / "run"), "set_aside", "refused")) == []
        server.start()
        assert noarkit(place, "ingest", "run", *to) == 0
        assert noarkit(place, "verify", "run", "--depth", "bytes") == 0
    numbers = json.loads((place / "run" / "report.json").read_text("utf-8"))["numbers"]
    assert numbers["archived"] + numbers["skipped"] == numbers["read"] == sum(sample.rows.values())
    certificate = json.loads(next((place / "run").glob("verify-*.json")).read_text("utf-8"))
    assert certificate["good"]


def test_a_row_that_changed_is_set_aside_and_one_that_is_gone_too_and_an_altered_table_stops_all(
    private: tuple[PrivateServer, Sample], capsys: pytest.CaptureFixture[str]
) -> None:
    _, sample = private
    place = sample.place
    to = ("--archive", "embedded:arkiv")
    with open_embedded(place / "arkiv"):
        assert noarkit(place, "recipe", "new", sample.url, "-o", "recipe.toml") == 0
        assert noarkit(place, "plan", sample.url, "--recipe", "recipe.toml", "-o", "run") == 0
        sample.run("ALTER TABLE brev ADD COLUMN ny integer")
        capsys.readouterr()
        assert noarkit(place, "ingest", "run", *to) == 8
        assert "F290" in capsys.readouterr().err
        assert list(outcomes(RunFolder(place / "run"), "set_aside", "refused")) == []
        assert noarkit(place, "plan", sample.url, "--recipe", "recipe.toml", "-o", "run2") == 0
        sample.run("UPDATE brev SET emne = 'x' WHERE id = 5", "DELETE FROM brev WHERE id = 10")
        assert noarkit(place, "ingest", "run2", *to) == 3
    fates = {one.key: (one.state, one.code) for one in outcomes(RunFolder(place / "run2"), "set_aside", "refused")}
    assert fates == {"brev:5": ("set_aside", "F203"), "brev:10": ("set_aside", "F202")}
