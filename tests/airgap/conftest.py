"""One archive that all tests of a module join; each has a folder, keys and a source of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.embedded import EmbeddedArchive, open_embedded
from tests.airgap.gap import Gap, files


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedArchive]:
    """The archive on the receiving side."""
    with open_embedded(tmp_path_factory.mktemp("archive"), client_id="admin") as running:
        yield running


@pytest.fixture
def gap(
    archive: EmbeddedArchive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Gap:
    """Both sides, in an empty folder with nobody's own config, and a source of three files."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("NOARKIT_")]:
        monkeypatch.delenv(name)
    files(tmp_path / "src", "case/a.txt", "case/b.txt", "other/c.txt")
    return Gap(tmp_path, archive, capsys)
