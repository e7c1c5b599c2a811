"""What is tampered with: an archive that was loaded from files, the same met by a second run, and one loaded from a
package."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import noarkit
from noarkit.api.origins import reopen_source
from noarkit.archive.answers import CallContext
from noarkit.errors import ArchiveBroken, NoarkitError
from noarkit.events import ignore_event
from noarkit.loading.engines.assembly import check_same_archive
from noarkit.loading.folder import RunFolder
from noarkit.loading.verification import Depths, verify
from noarkit.records import Source
from noarkit.server.areas import open_service
from noarkit.settings import resolve_settings
from tests.loading.damage.library import StoredArchive, load_library
from tests.roundtrip.circle import NOW, extract_to, ingest, source_in

OTHER_USER = '\n[clients.other]\nsecret = "another secret of the tests"\ngroups = ["admin"]\n'
LETTER = (
    b"From: Kari <kari@example.org>\r\nTo: Per <per@example.org>\r\nSubject: A letter\r\n"
    b"Date: Fri, 07 May 2021 10:00:00 +0200\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\nDear Per\r\n"
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of a verification, or the code of the fault it ended with, and every code and reason it named."""

    verdict: str
    codes: frozenset[str]


class ServedArchive(StoredArchive):
    """The archive in this process, which answers what it cannot make sense of as a server does: with a 500."""

    def _post(self, path: str, body: bytes, asked: CallContext) -> dict[str, object]:
        try:
            return super()._post(path, body, asked)
        except NoarkitError:
            raise
        except Exception as fault:  # as a server answers: whatever it was
            raise ArchiveBroken(call=path, status=500) from fault


@dataclass(frozen=True)
class Base:
    """An archive in `root/archive` and a run in `root/run`; the source lies elsewhere and is never copied."""

    name: str
    root: Path
    source: Source
    run_name: str = "run"

    @property
    def archive_folder(self) -> Path:
        return self.root / "archive"

    @property
    def folder(self) -> RunFolder:
        return RunFolder(self.root / self.run_name)

    def copy_to(self, place: Path) -> Base:
        """A copy of archive and run, to be tampered with."""
        for name in ("archive", self.run_name):
            shutil.copytree(self.root / name, place / name, dirs_exist_ok=True)
        return Base(self.name, place, self.source, self.run_name)

    @contextmanager
    def sql(self) -> Iterator[sqlite3.Connection]:
        """The archive's own database, while the archive is stopped."""
        with closing(sqlite3.connect(self.archive_folder / "archive.db")) as db:
            db.execute("PRAGMA synchronous = OFF")
            yield db
            db.commit()

    @contextmanager
    def serving(self, account: str = "admin") -> Iterator[ServedArchive]:
        """The archive, started for as long as the block lasts."""
        service = open_service(self.archive_folder, None, lambda: NOW + 3600)
        try:
            yield ServedArchive(service, account)
        finally:
            service.close()

    @cached_property
    def ids(self) -> dict[int, str]:
        """The type of every object of the run that has an id in the archive."""
        with closing(sqlite3.connect(self.folder.graph)) as db:
            db.execute("ATTACH ? AS run", (str(self.folder.journal),))
            rows = db.execute(
                "SELECT r.id, g.type FROM entity g JOIN run.entity r ON r.n = g.n WHERE coalesce(r.id, '') != ''"
            ).fetchall()
        return {int(id_): str(kind) for id_, kind in rows}

    def judge(self) -> Judgement:
        """Verifies to the last byte, as the command does."""
        with self.serving() as archive:
            try:
                check_same_archive(self.folder, archive, "test")
                result = verify(self.folder, self.source, archive, Depths("bytes"), ignore_event)
            except NoarkitError as fault:
                return Judgement(fault.code, frozenset({fault.code}))
        codes = (found.code for found in (*result.findings, *result.notices))
        return Judgement(result.verdict, frozenset({*codes, *result.missing}))


def from_files(root: Path) -> Base:
    """A folder of cases with texts and a letter, loaded and closed by the library as a command would."""
    place = root / "source"
    for folder in ("2020/one", "2020/two"):
        (place / folder).mkdir(parents=True)
        for number in range(2):
            (place / folder / f"sheet {number}.txt").write_text(f"{folder} sheet {number}", "utf-8")
    (place / "2020/one/letter.eml").write_bytes(LETTER)
    _load(place, root, "run")
    _add_another_user(root / "archive")
    return Base("files", root, _reopened(root / "run"))


def met_again(first: Base, root: Path) -> Base:
    """A second run of the same files: all of it is already there."""
    shutil.copytree(first.archive_folder, root / "archive")
    place = first.root / "source"
    _load(place, root, "again")
    return Base("again", root, _reopened(root / "again"), "again")


def from_package(template: Path, root: Path) -> Base:
    """A deposit with something of every kind, loaded from its package and closed."""
    library = load_library(template, root / "library")
    with library.serving() as archive:
        extract_to(archive, root / "package")
    shutil.copytree(template, root / "archive")
    _add_another_user(root / "archive")
    base = Base("package", root, source_in(root / "package"))
    service = open_service(base.archive_folder, None, lambda: NOW)
    try:
        loaded = ingest(root / "package", root / "run", StoredArchive(service))
    finally:
        service.close()
    assert loaded.numbers.archived == loaded.numbers.read and loaded.closed.is_complete, loaded
    with closing(base.folder.open_journal()) as journal:
        journal.remember(closed="yes")  # as the command notes it
    return base


def _load(source: Path, root: Path, run: str) -> None:
    archive = f"embedded:{root / 'archive'}"
    planned = noarkit.plan(source, root / run, hash_contents=True)
    numbers = noarkit.ingest(planned.folder.path, archive=archive).numbers
    assert numbers.archived + numbers.already_there == numbers.read == 5, numbers


def _reopened(run: Path) -> Source:
    return reopen_source(RunFolder(run), resolve_settings(None, None))


def _add_another_user(archive: Path) -> None:
    clients = archive / "clients.toml"
    clients.write_text(clients.read_text("utf-8") + OTHER_USER, "utf-8")
