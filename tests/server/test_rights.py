"""Who may what, in process: each permission opens what the table says, and taking it away closes exactly that."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from noarkit.model import metamodel
from noarkit.server import rights
from noarkit.server.areas import open_service
from noarkit.server.rights import AccountRights, load_grants
from noarkit.server.schema import schema, table_name
from noarkit.server.service import Service
from tests.server.rights_table import (
    ALL,
    EVERYWHERE,
    GRAPH,
    LISTS,
    METADATA,
    PRECEDENTS,
    READ_ALL,
    REGISTERS,
    ROWS,
    SERVICE,
    SERVICES,
    WRITING,
    Grant,
    Row,
    Sight,
    Thing,
)

IDS = {thing.name: 100 + place for place, thing in enumerate(GRAPH)}
TYPES = {thing.name: thing.type for thing in GRAPH}
PLACES: Mapping[str, tuple[str, int]] = {
    EVERYWHERE: (rights.ROOT, 0),
    LISTS: (rights.LIST_REGISTER, 0),
    METADATA: (rights.METADATA_REGISTER, 0),
    PRECEDENTS: (rights.PRECEDENT_REGISTER, 0),
    **{name: (metamodel().family(TYPES[name]), IDS[name]) for name in TYPES},
}
GROUP = 77


IDS |= {"free": 200, "leaf": 201}


def store(db: sqlite3.Connection, things: tuple[Thing, ...]) -> None:
    """Puts things straight into the tables."""
    for thing in things:
        family = metamodel().family(thing.type)
        row: dict[str, object] = {"id": IDS[thing.name], "type": thing.type, "version": 1, "uuid": thing.name}
        row |= thing.fields
        row |= {ref: IDS[target] for ref, target in thing.links.items()}
        columns = ", ".join(f'"{name}"' for name in row)
        marks = ", ".join("?" for _ in row)
        db.execute(f"INSERT INTO {table_name(family)} ({columns}) VALUES ({marks})", list(row.values()))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    opened = open_service(tmp_path_factory.mktemp("rights"))
    with opened.db.transaction() as db:
        store(db, GRAPH)
    yield opened
    opened.close()


def node_of(where: str) -> tuple[str, str]:
    """How a place of the table is kept among the permissions."""
    words = where.split()
    if words[0] == "list":
        return words[1], ""
    if words[0] == "value":
        return rights.value_node(words[1]), words[2]
    kind, object_id = PLACES[where]
    return kind, str(object_id) if kind in schema().tables else ""


class Undo(Exception):
    """Ends a transaction without keeping it."""


Sighted = tuple[AccountRights, sqlite3.Connection]


@contextmanager
def granted(service: Service, *grants: Grant, determining: tuple[str, ...] = ()) -> Iterator[Sighted]:
    """The rights of an account of one group that has these grants, and the archive; all is undone after the block."""
    try:
        with service.db.transaction() as db:
            everywhere = [grant.word for grant in grants if grant.where == EVERYWHERE]
            words = [grant.word for grant in grants if grant.where == SERVICE]
            db.execute(
                "INSERT INTO access_group (id, name, claims, global_permissions, service_permissions)"
                " VALUES (?, 'tested', '[\"tested\"]', ?, ?)",
                (GROUP, json.dumps(everywhere), json.dumps(words)),
            )
            on_nodes: dict[tuple[str, str], list[str]] = {}
            for grant in grants:
                if grant.where not in (EVERYWHERE, SERVICE):
                    on_nodes.setdefault(node_of(grant.where), []).append(grant.word)
            for (kind, name), listed in on_nodes.items():
                db.execute("INSERT INTO permission VALUES (?, ?, ?, ?)", (kind, name, GROUP, json.dumps(listed)))
            for what in determining:
                kind, name = ("system", str(IDS[what])) if what in IDS else ("list", what)
                db.execute("INSERT INTO access_modifier VALUES (?, ?)", (kind, name))
            yield AccountRights(load_grants(db, ["tested"])), db
            raise Undo
    except Undo:
        pass


def sights(service: Service, row: Row, *, with_it: bool) -> frozenset[Sight]:
    """Everything that an account may, with or without the permission of the row."""
    grants = (*row.beside, row.grant) if with_it else row.beside
    with granted(service, *grants, determining=row.determining) as (account, db):
        return frozenset(seen(account, db))


def seen(account: AccountRights, db: sqlite3.Connection) -> Iterator[Sight]:
    for name in ALL | REGISTERS | {EVERYWHERE}:
        family, object_id = PLACES[name]
        if name != EVERYWHERE and account.may_read(db, family, object_id):
            yield Sight("Read", "read", name)
        for word in WRITING:
            if account.may_change(db, word, family, object_id) and name != EVERYWHERE:
                yield Sight(word, "change", name)
            if account.may_below(db, word, family, object_id):
                yield Sight(word, "below", name)
    for name in (LISTS, METADATA):
        if account.may_below(db, "Read", *PLACES[name]):
            yield Sight("Read", "below", name)
    for word in SERVICES:
        if word in account.service:
            yield Sight(word, "service", word)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.title)
def test_a_permission_opens_what_the_table_says_and_its_absence_closes_exactly_that(service: Service, row: Row) -> None:
    with_it, without = sights(service, row, with_it=True), sights(service, row, with_it=False)
    assert without <= with_it
    assert with_it - without == row.opens


def test_nothing_counts_where_the_object_cannot_be_read(service: Service) -> None:
    with granted(service, *(Grant(word) for word in WRITING)) as (account, db):
        assert set(seen(account, db)) == set()


def test_reading_needs_every_ancestor(service: Service) -> None:
    with granted(service, Grant("ReadThis"), Grant("Read", "fonds"), Grant("ReadThis", "case")) as (account, db):
        assert set(seen(account, db)) == set()


def test_a_secondary_class_of_a_determining_system_closes_too(service: Service) -> None:
    pair = schema().links_of("Mappe", "refSekundaerKlasse")[0]
    with granted(service, Grant("ReadThis"), Grant("Read"), determining=("system",)) as (account, db):
        assert account.may_read(db, *PLACES["folder"])
        db.execute(
            f"INSERT INTO {pair.pair_table} ({pair.own_column}, {pair.other_column}) VALUES (?, ?)",
            (IDS["folder"], IDS["class"]),
        )
        assert not account.may_read(db, *PLACES["folder"])


def test_a_class_of_another_system_does_not_close(service: Service) -> None:
    with granted(service, Grant("ReadThis"), Grant("Read"), determining=("system",)) as (account, db):
        store(
            db,
            (Thing("free", "Klassifikasjonssystem"), Thing("leaf", "Klasse", {}, {"refKlassifikasjonssystem": "free"})),
        )
        db.execute("UPDATE o_abstraktmappe SET refPrimaerKlasse = ? WHERE id = ?", (IDS["leaf"], IDS["folder"]))
        assert account.may_read(db, *PLACES["folder"])
        assert not account.may_read(db, *PLACES["case"])


def test_what_moves_is_judged_where_it_stands_now(service: Service) -> None:
    grants = (Grant("ReadThis"), Grant("ReadThis", "fonds"), Grant("Read", "fonds"))
    with granted(service, *grants) as (account, db):
        assert account.may_read(db, *PLACES["document"])
        db.execute("UPDATE o_abstraktmappe SET refArkivdel = ? WHERE id = ?", (IDS["other series"], IDS["case"]))
        assert not account.may_read(db, *PLACES["document"])


def test_a_ring_of_folders_is_closed_and_hangs_nobody(service: Service) -> None:
    with granted(service, Grant("ReadThis"), Grant("Update", "folder"), determining=("skjerming",)) as (account, db):
        db.execute("UPDATE o_abstraktmappe SET refForelderMappe = ? WHERE id = ?", (IDS["subfolder"], IDS["folder"]))
        assert not account.may_read(db, *PLACES["basic record"])
        assert not account.may_change(db, "Update", *PLACES["subfolder"])


def test_folders_nested_ten_thousand_deep_are_judged(service: Service) -> None:
    with granted(service, Grant("ReadThis"), Grant("ReadThis", "other fonds"), Grant("Read", "other fonds")) as (
        account,
        db,
    ):
        parents = [IDS["subfolder"], *range(10_001, 20_000)]
        rows = ((10_001 + place, parent) for place, parent in enumerate(parents))
        db.executemany(
            "INSERT INTO o_abstraktmappe (id, type, version, refForelderMappe) VALUES (?, 'Mappe', 1, ?)", rows
        )
        assert account.may_read(db, "AbstraktMappe", 20_000)


@pytest.mark.parametrize("place", [("Arkiv", 999), ("NoSuchFamily", 1), ("AbstraktMappe", 100)])
def test_what_does_not_exist_is_unreadable_for_everybody(service: Service, place: tuple[str, int]) -> None:
    everything = [Grant("ReadThis"), Grant("Read"), Grant("ReadRelated")]
    with granted(service, *everything) as (account, db):
        assert account.reads_everything
        assert not account.may_read(db, *place)


def test_a_determining_list_ends_the_sight_of_everything_until_read_related(service: Service) -> None:
    with granted(service, *READ_ALL, Grant("Update"), determining=("skjerming",)) as (account, _):
        assert not account.reads_everything
        assert not account.writes_everything("Update")
    with granted(service, *READ_ALL, Grant("ReadRelated"), Grant("Update"), determining=("skjerming",)) as (account, _):
        assert account.reads_everything
        assert account.writes_everything("Update")
        assert not account.writes_everything("Delete")


def test_the_groups_of_an_account_add_up(service: Service) -> None:
    with granted(service, Grant("ReadThis"), Grant("Journal", SERVICE)) as (_, db):
        db.execute(
            "INSERT INTO access_group (name, claims, global_permissions, service_permissions)"
            " VALUES ('second', '[\"x\", \"more\"]', '[\"Read\"]', '[\"Store documents\"]')"
        )
        both = AccountRights(load_grants(db, ["tested", "more"]))
        assert both.reads_everything
        assert both.service == {"Journal", "Store documents"}
        assert not AccountRights(load_grants(db, ["more"])).reads_everything
        assert AccountRights(load_grants(db, ["tested "])).service == frozenset()
