"""When a transaction claims files, makes them durable, and lets them go."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass, field

import pytest

from noarkit.server.transaction.plan import plans
from noarkit.server.transaction.request import read_actions
from noarkit.server.transaction.run import finish, perform
from noarkit.server.transaction.stage import leniency, open_stage
from noarkit.server.wire import Caller, Refusal
from tests.server.transaction.desk import Action, delete, save
from tests.server.transaction.world import World


@dataclass(frozen=True)
class Facts:
    """What is known of a file."""

    sha256: str = "ab"
    size_bytes: int = 2
    name: str = ""
    media_type: str = ""


@dataclass
class RecordingFiles:
    """Files that tell what was asked of them, and whether the version was already written then."""

    calls: list[tuple[str, object]] = field(default_factory=list)
    refuses: str = ""
    db: sqlite3.Connection | None = None

    def claim(self, db: sqlite3.Connection, file_id: str, account: str) -> Facts:
        """Any file is there."""
        self.calls.append(("claim", (file_id, account)))
        self.db = db
        if self.refuses == "claim":
            raise Refusal(403, "not yours")
        return Facts()

    def make_durable(self, claims: Collection[Facts]) -> None:
        """Asks the database what stands in it by now."""
        assert self.db is not None
        written = self.db.execute("SELECT count(*) FROM o_dokumentversjon WHERE sjekksum = 'ab'").fetchone()[0]
        self.calls.append(("durable", (len(claims), written)))
        if self.refuses == "durable":
            raise Refusal(400, "the file has gone")

    def release(self, db: sqlite3.Connection, file_ids: Collection[str]) -> None:
        """Notes them."""
        self.calls.append(("release", set(file_ids)))


def transact(world: World, files: RecordingFiles, *actions: Action) -> None:
    """One transaction over these files."""
    desk = world.desk
    settings = desk.service.settings
    read = read_actions({"actions": list(actions)}, plans(leniency(settings)), settings.max_actions)
    with desk.service.db.transaction() as db:
        stage = open_stage(db, settings, Caller("me", "Me", desk.rights), 0)
        perform(stage, read)
        finish(stage, files)


@pytest.fixture
def document(world: World) -> str:
    """A document without versions."""
    ids = world.desk.ids(*world.folder(), *world.record("folder"), *world.document("record"))
    return ids["document"]


def test_files_are_claimed_once_each_and_durable_before_the_commit(world: World, document: str) -> None:
    files = RecordingFiles()
    actions = [
        *world.version(document, "1", "a"),
        *world.version(document, "1", "b"),
        *world.version(document, "2", "c"),
    ]
    transact(world, files, *actions)
    assert files.calls == [("claim", ("1", "me")), ("claim", ("2", "me")), ("durable", (2, 3))]
    world.desk.execute("UPDATE o_dokumentversjon SET sjekksum = 'cd' WHERE sjekksum = 'ab'")


@pytest.mark.parametrize("step", ["claim", "durable"])
def test_a_file_that_cannot_be_had_stops_everything(world: World, document: str, step: str) -> None:
    before = world.desk.trace()
    with pytest.raises(Refusal):
        transact(world, RecordingFiles(refuses=step), *world.version(document, "1"))
    assert world.desk.trace() == before


def test_a_nameless_file_of_unknown_type_still_has_both(world: World, document: str) -> None:
    transact(world, RecordingFiles(), *world.version(document, "1"))
    told = world.desk.rows("SELECT filnavn, innholdstype FROM o_dokumentversjon WHERE refDokument = ?", document)
    assert told == [("file", "application/octet-stream")]
    world.desk.execute("UPDATE o_dokumentversjon SET sjekksum = 'cd' WHERE sjekksum = 'ab'")


def test_replaced_and_deleted_files_are_let_go(world: World, document: str) -> None:
    transact(world, RecordingFiles(), *world.version(document, "1"))
    key = str(world.desk.rows("SELECT id FROM o_dokumentversjon WHERE refDokument = ?", document)[0][0])
    files = RecordingFiles()
    transact(world, files, save("Dokumentversjon", key, referanseDokumentfil="2"))
    assert ("release", {"1"}) in files.calls
    transact(world, files, delete("Dokumentversjon", key))
    assert files.calls[-1] == ("release", {"2"})
