"""A copy and its original bear the same title; every look says which is which."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import noarkit
from noarkit.cli.main import main
from noarkit.reading_room.cards import shown_value
from noarkit.words.labels import glossed
from noarkit.words.texts import texts
from tests.reading_room.conftest import open_room
from tests.reading_room.wire import ask, enter

Output = pytest.CaptureFixture[str]


@pytest.fixture
def _copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan of a text that is not UTF-8, with its copy."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "brev.txt").write_bytes("Blåbærsyltetøy på kjøkkenbenken".encode("cp1252"))
    noarkit.derive("files", "copies", workers=1)
    noarkit.plan("files", "run", copies="copies")


@pytest.mark.usefixtures("_copied")
def test_a_copy_and_its_original_are_told_apart(capsys: Output, tmp_path: Path) -> None:
    capsys.readouterr()
    assert main(["show", "run", "brev.txt", "--lang", "en"], {}) == 0
    files = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  brev")]
    assert [line.split("  ")[2].partition("(")[0].strip() for line in files] == ["[original]", "[archival copy"], files
    assert main(["get", "run", "brev.txt", "-o", "x.txt", "--lang", "en"], {}) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "[original]" in told and "[archival copy (" in told
    from noarkit.api.browsing import open_catalogue

    with open_catalogue("run") as catalogue:
        place = catalogue.place
        with open_room(place, tmp_path / "room.db") as room:
            cookie = enter(room)
            card = ask(room.url, "/item/brev.txt", cookie=cookie).body
    assert "Produksjonsformat (production format)" in card
    assert card.count("archival copy (") == 1 and card.count('<span class="mark">original</span>') == 1
    shutil.rmtree("copies")


def test_values_of_code_lists_have_their_meaning_beside_them() -> None:
    assert glossed(texts("en"), "Produksjonsformat") == "Produksjonsformat (production format)"
    assert glossed(texts("nb"), "Produksjonsformat") == "Produksjonsformat"
    assert glossed(texts("en"), "Something of ours") == "Something of ours"
    assert shown_value("Arkivert", "journalstatus").kind == "choice"
    assert shown_value("Arkivert", "tittel").kind == "text"
