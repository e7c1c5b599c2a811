"""What somebody closed, changed, moved or used since a run stays when the run is taken back, and is named; so does all
that it needs. The rest goes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import noarkit
from noarkit.archive.administration import Administration
from noarkit.archive.http import connect
from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.registers import AccessGroup, OnObject, Permission
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.token import Credentials
from noarkit.archive.values import Action, Link, Page, Query, Save, SavedObject, Unlink
from noarkit.embedded import open_embedded
from noarkit.errors import NotAllowed, UsageFault
from noarkit.events import Event
from noarkit.loading.clocks import system_clocks
from noarkit.loading.folder import RunFolder
from noarkit.loading.retraction.run import RetractSettings, retract
from noarkit.loading.stopping import StopRequest
from noarkit.model.own_marks import MARKER_TITLE
from tests.faults.test_retract import Scene, journal_rows, loaded, made_by, rows_of, write_tree

__all__ = ["loaded"]


@contextmanager
def archive_of(scene: Scene, account: str = "admin") -> Iterator[Archive]:
    """The scene's archive, for one account."""
    with open_embedded(scene.archive, account) as service:
        credentials = Credentials(service.client_id, service.client_secret)
        with closing(connect(ArchiveSettings(service.url, credentials, token_url=service.token_url))) as archive:
            yield archive


def only_object(archive: Archive, kind: str, title: str) -> SavedObject:
    """The object of this title."""
    return next(iter(objects(archive, Query(kind, "tittel = @t", {"@t": title}))))


def record(archive: Archive) -> SavedObject:
    """A record that the run made, in a folder that it made."""
    return only_object(archive, "Basisregistrering", "four.txt")


def change_title(archive: Archive) -> None:
    archive.transaction((Save("Basisregistrering", record(archive).id, {"tittel": "better"}),))


def fill_a_field(archive: Archive) -> None:
    archive.transaction((Save("Basisregistrering", record(archive).id, {"beskrivelse": "read and understood"}),))


def close_it(archive: Archive) -> None:
    archive.transaction((Save("Basisregistrering", record(archive).id, {"avsluttetDato": "2024-01-01T00:00:00.000Z"}),))


def move_it(archive: Archive) -> None:
    target, moved = only_object(archive, "Mappe", "old"), record(archive)
    archive.transaction(
        (
            Unlink("Basisregistrering", moved.id, "refMappe", (moved.links["refMappe"],)),
            Link("Basisregistrering", moved.id, "refMappe", (target.id,)),
        )
    )


def add_a_note(archive: Archive) -> None:
    archive.transaction(
        (
            Save("Merknad", "n", {"tekst": "mine", "merknadstype": "MER"}),
            Link("Merknad", "n", "refRegistrering", (record(archive).id,)),
        )
    )


def refer_to_it(archive: Archive) -> None:
    other = only_object(archive, "Basisregistrering", "two.txt")
    archive.transaction(
        (Link("Basisregistrering", other.id, "refKryssreferanseTilRegistrering", (record(archive).id,)),)
    )


def add_a_document(archive: Archive) -> None:
    archive.transaction(
        (
            Save("Dokument", "d", {"tittel": "more", "tilknyttetRegistreringSom": "V"}),
            Link("Dokument", "d", "refRegistrering", (record(archive).id,)),
        )
    )


def screen_it(archive: Archive) -> None:
    document = next(iter(objects(archive, Query("Dokument", "refRegistrering.id = @r", {"@r": record(archive).id}))))
    archive.transaction((Save("Dokument", document.id, {"tittel": "another"}),))


CHANGES: dict[str, tuple[str, Callable[[Archive], None]]] = {
    "another title": ("changed", change_title),
    "a field filled in": ("changed", fill_a_field),
    "closed": ("closed", close_it),
    "moved": ("moved", move_it),
    "a note": ("in-use", add_a_note),
    "a cross reference from another": ("in-use", refer_to_it),
    "one more document": ("in-use", add_a_document),
    "another title of its document": ("changed", screen_it),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_changed_since_stays_whole_and_the_rest_goes(what: str, loaded: Scene, tmp_path: Path) -> None:
    reason, change = CHANGES[what]
    scene = loaded.copy_to(tmp_path / "scene")
    made = made_by(scene.run)
    with archive_of(scene) as archive:
        kept = record(archive).id
        change(archive)
        documents = [item.id for item in objects(archive, Query("Dokument", "refRegistrering.id = @r", {"@r": kept}))]
        result = scene.retract(delete=True)
        stays = {entry.id: entry.reason for entry in result.kept}
        assert reason in stays.values() and kept in stays, stays
        assert set(documents) & set(made) <= stays.keys()
        standing = list(objects(archive, Query("Dokument", "refRegistrering.id = @r", {"@r": kept})))
        assert [item.id for item in standing] == documents
        if what != "moved":  # the folder that it hangs in stays with it
            assert only_object(archive, "Mappe", "new").id in stays
        gone = {row[0] for row in journal_rows(scene.run, "SELECT id FROM retraction WHERE state = 'gone'")}
        assert gone == set(made) - stays.keys() and len(gone) >= 5
        for archive_id in gone:
            for kind in ("AbstraktMappe", "AbstraktRegistrering", "Dokument", "Dokumentversjon", "EksternId"):
                assert not archive.query(Query(kind, "id = @i", {"@i": archive_id}, limit=1)).objects
    assert noarkit.status(scene.run).state == "retracted_in_part"
    assert noarkit.check_archive(scene.archive).flaw_count == 0
    assert scene.retract(delete=True).gone == 0


def test_what_stood_in_the_way_goes_when_it_is_out_of_the_way(loaded: Scene, tmp_path: Path) -> None:
    scene = loaded.copy_to(tmp_path / "scene")
    with archive_of(scene) as archive:
        change_title(archive)
        assert scene.retract(delete=True).kept_count > 0
        changed = only_object(archive, "Basisregistrering", "better")
        archive.transaction((Save("Basisregistrering", changed.id, {"tittel": "four.txt"}),))
        assert scene.retract(delete=True).kept_count == 0
    assert {name: rows for name, rows in rows_of(scene.archive).items() if rows != scene.before[name]} == {}
    assert noarkit.status(scene.run).state == "retracted"


def test_what_the_run_closed_goes_only_when_that_is_said(tmp_path: Path) -> None:
    source = write_tree(tmp_path / "src", "a/one.txt", "a/two.txt")
    scene = Scene(tmp_path, {})
    place = f"embedded:{scene.archive}"
    noarkit.plan(source, scene.run)
    noarkit.ingest(scene.run, archive=place, workers=0)
    made = made_by(scene.run)
    result = scene.retract(delete=True)
    assert (result.gone, result.kept_count) == (0, sum(made.values()))
    assert {entry.reason for entry in result.kept} == {"closed-by-run", "needed"}
    assert noarkit.status(scene.run).state == "done"  # nothing went, so it is the run that it was
    assert scene.retract(delete=True, closed=True).gone == sum(made.values())
    assert all(not rows for name, rows in rows_of(scene.archive).items() if name.startswith("o_"))


class AddsMeanwhile:
    """An archive in which somebody adds something just before the first transaction that deletes a record."""

    def __init__(self, archive: Archive, add: Callable[[Archive], None]) -> None:
        self._archive = archive
        self._add: Callable[[Archive], None] | None = add

    def transaction(self, actions: Sequence[Action]) -> object:
        if self._add is not None and any(action.type == "Basisregistrering" for action in actions):
            add, self._add = self._add, None
            add(self._archive)
        return self._archive.transaction(actions)

    def __getattr__(self, name: str) -> object:
        return getattr(self._archive, name)


@pytest.mark.parametrize("what", ["a note", "one more document", "another title of its document"])
def test_what_is_added_between_the_judgement_and_the_delete_is_not_deleted(
    what: str, loaded: Scene, tmp_path: Path
) -> None:
    scene = loaded.copy_to(tmp_path / "scene")
    with archive_of(scene) as archive:
        kept = record(archive).id
        settings = RetractSettings(f"embedded:{scene.archive}", deletes=True, deadline_s=0.0, clocks=system_clocks())
        result = retract(
            RunFolder(scene.run),
            AddsMeanwhile(archive, CHANGES[what][1]),  # type: ignore[arg-type]  # the rest is the archive's own
            settings,
            stop_request=StopRequest(),
            emit=lambda event: None,
            now_s=lambda: 0.0,
        )
        assert kept in {entry.id for entry in result.kept}
        assert record(archive).id == kept
        assert result.gone > 0


def test_a_record_with_more_parts_than_are_checked_stays_whole(loaded: Scene, tmp_path: Path) -> None:
    scene = loaded.copy_to(tmp_path / "scene")
    before = rows_of(scene.archive)
    with archive_of(scene) as archive:
        kept = record(archive).id
        would, result = [
            retract(
                RunFolder(scene.run),
                archive,
                RetractSettings(f"embedded:{scene.archive}", deletes=deletes, deadline_s=0.0, most_checks=1),
                stop_request=StopRequest(),
                emit=lambda event: None,
                now_s=lambda: 0.0,
            )
            for deletes in (False, True)
        ]
    assert (would.objects, would.kept, would.kept_count) == ({}, result.kept, result.kept_count), (
        "a dry run says so too"
    )
    assert result.gone == 0 and {entry.reason for entry in result.kept} == {"too-large", "needed"}
    assert ("too-large", "2 > 1") in {(entry.reason, entry.detail) for entry in result.kept if entry.id == kept}
    assert rows_of(scene.archive) == before


class Lags:
    """An archive whose index lags: of what was added last it shows nothing where it is asked in the order of ids."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.is_behind = False

    def query(self, query: Query) -> Page:
        is_hidden = self.is_behind and "refRegistrering" in query.where and query.order == (("id", "asc"),)
        return Page((), has_more=False) if is_hidden else self._archive.query(query)

    def __getattr__(self, name: str) -> object:
        return getattr(self._archive, name)


def test_where_versions_mean_nothing_all_is_asked_again_in_every_order(loaded: Scene, tmp_path: Path) -> None:
    scene = loaded.copy_to(tmp_path / "scene")
    with closing(sqlite3.connect(scene.run / "run.db")) as db, db:
        db.execute("UPDATE meta SET value = 'False' WHERE name = 'honours_versions'")
    with archive_of(scene) as archive:
        kept = record(archive).id
        lagging = Lags(archive)

        def add_after_the_judgement(event: Event) -> None:
            if event.name == "judged" and not lagging.is_behind:
                add_a_note(archive)
                lagging.is_behind = True

        settings = RetractSettings(f"embedded:{scene.archive}", deletes=True, deadline_s=0.0)
        result = retract(
            RunFolder(scene.run),
            lagging,  # type: ignore[arg-type]  # the rest is the archive's own
            settings,
            stop_request=StopRequest(),
            emit=add_after_the_judgement,
            now_s=lambda: 0.0,
        )
        assert ("in-use", kept) in {(entry.reason, entry.id) for entry in result.kept}
        assert record(archive).id == kept and result.gone > 0


def test_an_account_that_may_not_delete_deletes_nothing_and_says_so(loaded: Scene, tmp_path: Path) -> None:
    scene = loaded.copy_to(tmp_path / "scene")
    before = rows_of(scene.archive)
    with archive_of(scene, "integration") as archive:
        settings = RetractSettings(f"embedded:{scene.archive}", deletes=True, deadline_s=0.0)
        with pytest.raises(NotAllowed):
            retract(
                RunFolder(scene.run),
                archive,
                settings,
                stop_request=StopRequest(),
                emit=lambda event: None,
                now_s=lambda: 0.0,
            )
    assert rows_of(scene.archive) == before


class ShowsNothing:
    """An archive as an account sees it that lost its rights to the run's objects: it shows none of them."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def query(self, query: Query) -> Page:
        return Page((), has_more=False) if query.where.startswith("id = ") else self._archive.query(query)

    def __getattr__(self, name: str) -> object:
        return getattr(self._archive, name)


def intend_to_delete(run: Path, count: int, account: str = "") -> None:
    """As a retraction leaves the journal that is killed before it sent a delete of the first of these."""
    with closing(sqlite3.connect(run / "run.db")) as db, db:
        db.execute("INSERT INTO meta VALUES ('retraction', 'retracting'), ('retracted_at', '0.0')")
        db.execute(
            "INSERT INTO retraction SELECT e.n, 'Mappe', e.id, 'intent', '', ?, 0.0 FROM entity e"
            " WHERE e.state = 'done' AND e.id != '' ORDER BY e.n LIMIT ?",
            (account, count),
        )


@pytest.mark.parametrize("intents", [0, 1])
def test_an_account_that_is_shown_nothing_closes_no_retraction(intents: int, loaded: Scene, tmp_path: Path) -> None:
    scene = loaded.copy_to(tmp_path / "scene")
    if intents:
        intend_to_delete(scene.run, intents)
    before, entities = rows_of(scene.archive), journal_rows(scene.run, "SELECT * FROM entity ORDER BY n")
    settings = RetractSettings(f"embedded:{scene.archive}", deletes=True, deadline_s=0.0)
    with archive_of(scene) as archive, pytest.raises(NotAllowed):
        retract(
            RunFolder(scene.run),
            ShowsNothing(archive),  # type: ignore[arg-type]  # the rest is the archive's own
            settings,
            stop_request=StopRequest(),
            emit=lambda event: None,
            now_s=lambda: 0.0,
        )
    assert rows_of(scene.archive) == before
    assert journal_rows(scene.run, "SELECT * FROM entity ORDER BY n") == entities
    assert journal_rows(scene.run, "SELECT count(*) FROM retraction WHERE state != 'intent'") == [(0,)]
    assert scene.retract(delete=True).kept_count == 0  # and an account that sees it takes it


def add_blind_account(scene: Scene, *, sees_above: bool) -> None:
    """An account that may do everything but read. It is shown the mark by which a run knows its archive, and, where it
    `sees_above`, what stood there before the run, without what is below."""
    sql = "SELECT p.type, e.id FROM plan.entity p JOIN entity e ON e.n = p.n WHERE e.state = 'already_there'"
    with closing(sqlite3.connect(scene.run / "run.db")) as db:
        db.execute("ATTACH ? AS plan", (str(scene.run / "graph.db"),))
        above = db.execute(sql).fetchall() if sees_above else []
    with archive_of(scene) as archive:
        administration = Administration(archive)
        marker = only_object(archive, "Klassifikasjonssystem", MARKER_TITLE)
        group = administration.add_access_group(
            AccessGroup(
                "Blind", claims=("blind",), global_permissions=("ReadThis", "Create", "Update", "Delete", "Move")
            )
        )
        assert group.id is not None
        place = OnObject("Klassifikasjonssystem", marker.id)
        administration.add_permission(Permission(group.id, place, ("ReadThis", "Read")))
        for kind, archive_id in above:
            if kind in ("Arkiv", "Arkivdel", "Mappe"):
                administration.add_permission(Permission(group.id, OnObject(kind, archive_id), ("ReadThis",)))
    with (scene.archive / "clients.toml").open("a", encoding="utf-8") as file:
        file.write('\n[clients.blind]\nsecret = "of the blind"\ngroups = ["blind"]\n')


@pytest.mark.parametrize(("begun_by", "sees_above"), [("admin", True), ("admin", False), ("blind", False)])
def test_an_account_that_sees_nothing_does_not_end_what_was_about_to_go(
    begun_by: str, sees_above: bool, loaded: Scene, tmp_path: Path
) -> None:
    """Every object has an intent, and stands. What began it was another account, or this one before it lost rights."""
    scene = loaded.copy_to(tmp_path / "scene")
    add_blind_account(scene, sees_above=sees_above)
    intend_to_delete(scene.run, -1, begun_by)
    before, entities = rows_of(scene.archive), journal_rows(scene.run, "SELECT * FROM entity ORDER BY n")
    settings = RetractSettings(f"embedded:{scene.archive}", "blind", deletes=True, deadline_s=0.0)
    with archive_of(scene, "blind") as archive, pytest.raises(NotAllowed):
        retract(
            RunFolder(scene.run),
            archive,
            settings,
            stop_request=StopRequest(),
            emit=lambda event: None,
            now_s=lambda: 0.0,
        )
    assert rows_of(scene.archive) == before
    assert journal_rows(scene.run, "SELECT * FROM entity ORDER BY n") == entities
    assert journal_rows(scene.run, "SELECT count(*) FROM retraction WHERE state != 'intent'") == [(0,)]
    assert noarkit.status(scene.run).state == "retracting"
    assert scene.retract(delete=True).kept_count == 0  # and an account that sees it takes it


def test_a_run_that_was_never_loaded_has_nothing_to_take_back(tmp_path: Path) -> None:
    noarkit.plan(write_tree(tmp_path / "src", "one.txt"), tmp_path / "run")
    (tmp_path / "archive").mkdir()
    with pytest.raises(UsageFault):
        noarkit.retract(tmp_path / "run", archive=f"embedded:{tmp_path / 'archive'}")
