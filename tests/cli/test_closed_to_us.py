"""What may not be read is told as that by every command that reads a place, wherever in it the closed thing lies."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from noarkit.cli.main import main
from tests.rights import held_to_file_rights

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="rights of files are tested on Linux")

Layout = Callable[[Path], Path]


def closed_root(place: Path) -> Path:
    """The folder itself can be neither listed nor searched."""
    place.mkdir()
    (place / "a.txt").write_text("a")
    return place


def closed_folder(place: Path) -> Path:
    """One of several folders is closed."""
    for name in ("open", "closed"):
        (place / name).mkdir(parents=True)
        (place / name / "a.txt").write_text(name)
    return place / "closed"


def only_folder_closed(place: Path) -> Path:
    """The only folder is closed: every form looks into it for its marks."""
    (place / "closed").mkdir(parents=True)
    (place / "closed" / "a.txt").write_text("a")
    return place / "closed"


def closed_deep_down(place: Path) -> Path:
    """A folder far below is closed."""
    deep = place / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (place / "a.txt").write_text("a")
    (deep / "a.txt").write_text("a")
    return deep


def closed_file(place: Path) -> Path:
    """One file is closed."""
    place.mkdir()
    (place / "b.txt").write_text("b")
    (place / "a.txt").write_text("a")
    return place / "a.txt"


def closed_mark(name: str, *beside: str) -> Layout:
    """The file by which a form is known is closed."""

    def layout(place: Path) -> Path:
        for each in (name, *beside):
            (place / each).parent.mkdir(parents=True, exist_ok=True)
            (place / each).write_text("x")
        return place / name

    return layout


LAYOUTS: dict[str, Layout] = {
    **{each.__name__: each for each in (closed_root, closed_folder, only_folder_closed, closed_deep_down, closed_file)},
    "bagit.txt": closed_mark("bagit.txt", "manifest-sha256.txt", "data/a.txt"),
    "METS.xml": closed_mark("METS.xml", "representations/a.txt"),
    "dias-mets.xml": closed_mark("dias-mets.xml", "content/a.txt"),
    "arkivstruktur.xml": closed_mark("arkivstruktur.xml", "dokumenter/a.txt"),
    "siard": closed_mark("header/metadata.xml", "content/a.txt"),
    "tar": closed_mark("a.tar", "a.xml"),
    "description": closed_mark("a.xml", "a.tar"),
}
COMMANDS = (
    ("scan", "place"),
    ("plan", "place", "-o", "run"),
    ("ingest", "place", "-o", "run"),
    ("convert", "place", "--as", "bagit", "-o", "bag"),
    ("validate", "place"),
    ("compare", "place", "place"),
    ("recipe", "new", "place", "-o", "recipe.toml"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_what_is_closed_to_us_is_never_unforeseen(
    layout: Layout,
    command: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    closed = layout(Path("place"))
    mode = closed.stat().st_mode
    closed.chmod(0)
    try:
        with held_to_file_rights():
            code = main(list(command), {})
    finally:
        closed.chmod(mode)
    said = capsys.readouterr()
    assert code != 1, said.err
    assert "F900" not in said.err + said.out
    if command[0] != "recipe":  # a proposal is made of what can be read
        assert "F201" in said.err + said.out or code != 0, "nothing was said of it"
