"""Worlds: each scenario gets its own, made from an archive that was started once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from noarkit.server.areas import open_service
from tests.faults.world import World
from tests.loading.journey import add_plain_account, copied

MakeWorld = Callable[..., World]


@pytest.fixture(scope="session")
def archive_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive that has been started once."""
    path = tmp_path_factory.mktemp("template") / "archive"
    service = open_service(path)
    add_plain_account(service)
    service.close()
    return path


@pytest.fixture
def world(archive_template: Path, tmp_path: Path) -> Iterator[MakeWorld]:
    """Makes worlds: `honours_versions`, `account`, and how many files the source holds."""
    with ExitStack() as stack:

        def make(
            files: int = 40, *, honours_versions: bool = True, account: str = "admin", root: Path | None = None
        ) -> World:
            root = root or tmp_path / "world"
            copied(archive_template, root / "archive")
            (root / "archive" / "server.toml").write_text(f"honours_versions = {str(honours_versions).lower()}\n")
            made = World(root, account)
            stack.callback(made.close)
            made.grow(files)
            return made

        yield make
