"""noarkit compare on the command line."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from noarkit.cli.main import main
from tests.roundtrip.circle import archive_in, extract_to
from tests.roundtrip.worlds import build

pytestmark = pytest.mark.usefixtures("one_archive")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An extract; the archive it is from lies beside it."""
    place = tmp_path_factory.mktemp("compare")
    with archive_in(place / "archive") as archive:
        build(random.Random(22), archive)
        extract_to(archive, place / "package")
    return place / "package"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test works in an empty folder."""
    monkeypatch.chdir(tmp_path)


def test_two_that_are_alike_end_with_0(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(package), str(package)], {}) == 0
    assert "There are no differences." in capsys.readouterr().out


def test_two_that_differ_end_with_7_and_name_what_differs(
    package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    shutil.copytree(package, other)
    structure = other / "arkivstruktur.xml"
    text = structure.read_text("utf-8")
    structure.write_text(text.replace("<arkivstatus>Avsluttet", "<arkivstatus>Opprettet", 1), "utf-8")
    assert main(["compare", str(package), str(other), "--json"], {}) == 7
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (one,) = [line for line in lines if line["event"] == "difference"]
    assert (one["kind"], one["field"], one["left"], one["right"]) == (
        "differs",
        "arkivstatus",
        ["Avsluttet"],
        ["Opprettet"],
    )
    assert lines[-1]["exit"] == 7


def test_an_extract_is_compared_with_the_archive_it_came_from(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(package), f"embedded:{package.parent / 'archive'}"], {}) == 0
    assert "There are no differences." in capsys.readouterr().out


def test_two_archives_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "embedded:a", "embedded:b"], {}) == 2
    assert "F101" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["html", "json"])
def test_a_report_is_written_where_it_is_asked_for(
    kind: str, package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(package), str(package), "--report", kind, "-o", "told"], {}) == 0
    assert "told" in capsys.readouterr().out
    assert main(["compare", str(package), str(package), "--report", kind], {}) == 0
    assert (tmp_path / "told").read_bytes() == (tmp_path / f"comparison.{kind}").read_bytes()


def test_a_report_never_lands_in_a_package_nor_without_being_asked_for(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for options in (["--report", "html", "-o", str(package / "x.html")], ["-o", "x.html"]):
        assert main(["compare", str(package), str(package), *options], {}) == 2
    assert not (package / "x.html").exists()
