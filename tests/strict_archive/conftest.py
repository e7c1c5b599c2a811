"""A strict archive for each test, and the command line with it as the archive that the environment names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from noarkit.cli.main import main
from tests.strict_archive.account import Account
from tests.strict_archive.archive import Archive
from tests.strict_archive.service import serve
from tests.strict_archive.store import Object

ACCOUNT = Account("integrasjon", "not-so-secret")


@dataclass
class Strict:
    """An archive with its address, and a command line that loads into it."""

    archive: Archive
    url: str
    home: Path
    capture: pytest.CaptureFixture[str]
    out: str = ""
    err: str = ""

    def noarkit(self, *words: object) -> int:
        """A command line; what it said is kept."""
        environment = {
            "HOME": str(self.home),
            "NOARKIT_ARCHIVE": self.url,
            "NOARKIT_CLIENT_ID": ACCOUNT.id,
            "NOARKIT_CLIENT_SECRET": ACCOUNT.secret,
        }
        self.capture.readouterr()
        code = main([*map(str, words), "--progress", "none"], environment)
        self.out, self.err = self.capture.readouterr()
        return code

    def objects(self, kind: str) -> list[Object]:
        """Every object of a type, in the order in which they were made."""
        return [self.archive.store.objects[id] for id in sorted(self.archive.store.ids_of[kind])]

    def harm(self, seen: Object, **fields: str | None) -> None:
        """Changes fields below the interface, where no version and no log tells of it."""
        seen.fields.update(fields)
        self.archive.store.forget_indexes()


@pytest.fixture
def strict(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Strict]:
    """The archive as it is published, with the codes that a recipe here needs; in an empty folder of nobody's."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("NOARKIT_")]:
        monkeypatch.delenv(name)
    archive = Archive(reference, [ACCOUNT])
    archive.codes["administrativEnhet"].values["ADM"] = {"code": "ADM", "name": "Administrasjonen"}
    archive.codes["skjerming"].values["U"] = {"code": "U", "name": "Unntatt", "authority": "Offl. § 13"}
    with serve(archive) as url:
        yield Strict(archive, url, tmp_path, capsys)
    assert archive.crashes == []
