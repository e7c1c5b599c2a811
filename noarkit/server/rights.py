"""Who may what: permissions flow down from the root, nothing is readable unless all above it is.

The tree. Below the root stand fonds, classification systems and three registers (code lists, business-specific
metadata, precedents); below a fonds its series, folders, records, documents and versions; below a system its classes.
Labels (parties, keywords, notes, external ids, ...) are one with their owner.

The rules. `ReadThis` opens the object it is granted on, every other permission what is below that object; a group's
global permissions are granted on the root. An object is readable where it and all above it are opened; a permission
counts only where the object is readable. Code lists and classification systems that determine access control close
the objects that bear their values, until `ReadRelated` is granted on the value, on what is above it, or globally.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from noarkit.server.schema import schema, table_name

EXPLICIT_PERMISSIONS = (
    "ReadThis",
    "Read",
    "ReadRelated",
    "Create",
    "Update",
    "Delete",
    "Grant",
    "UpdateSystemManaged",
    "Move",
)
SERVICE_PERMISSIONS = (
    "Edit list values",
    "Write changelog",
    "Store light PDF",
    "Edit journaled",
    "Dispose documents",
    "Edit finalized",
    "Publish documents",
    "View changelog",
    "Journal",
    "Store documents",
    "GUI administrator",
    "Security administrator",
)
CONTROLLING_LISTS = ("administrativEnhet", "mappetype", "dokumenttype", "skjerming")

# Nodes of the tree that are no objects; each stands where a family stands, with object id 0.
ROOT = "GlobaleRettigheter"
LIST_REGISTER = "ListeRegister"
METADATA_REGISTER = "VsmRegister"
PRECEDENT_REGISTER = "PresedensRegister"
REGISTERS = (LIST_REGISTER, METADATA_REGISTER, PRECEDENT_REGISTER)

# What stands directly above an object: the first of these links that is set. Families that are not named stand below
# the root, labels below their owner.
_ABOVE: Mapping[str, tuple[str, ...]] = {
    "Arkivdel": ("refArkiv",),
    "Klasse": ("refForelderKlasse", "refKlassifikasjonssystem"),
    "AbstraktMappe": ("refForelderMappe", "refArkivdel"),
    "AbstraktRegistrering": ("refMappe", "refArkivdel"),
    "Dokument": ("refRegistrering",),
    "Dokumentversjon": ("refDokument",),
}
_CLASSIFIED = ("AbstraktMappe", "AbstraktRegistrering")
_NOTHING: frozenset[str] = frozenset()

Node = tuple[str, int]
_ROOT_NODE: Node = (ROOT, 0)


@dataclass(frozen=True, slots=True)
class Grants:
    """What an account has through its access groups, apart from what is granted on single objects."""

    groups: tuple[int, ...] = ()
    everywhere: frozenset[str] = _NOTHING
    service: frozenset[str] = _NOTHING
    controlling_lists: frozenset[str] = _NOTHING
    controlling_systems: frozenset[int] = frozenset()

    @property
    def controlled(self) -> bool:
        """True where some list or system determines access control."""
        return bool(self.controlling_lists or self.controlling_systems)


def load_grants(db: sqlite3.Connection, claims: Iterable[str]) -> Grants:
    """The grants of an account that presents these claims."""
    presented = frozenset(claims)
    groups: list[int] = []
    everywhere: set[str] = set()
    service: set[str] = set()
    rows = db.execute("SELECT id, claims, global_permissions, service_permissions FROM access_group ORDER BY id")
    for group, wanted, global_permissions, service_permissions in rows:
        if presented.intersection(json.loads(wanted)):
            groups.append(group)
            everywhere.update(json.loads(global_permissions))
            service.update(json.loads(service_permissions))
    modifiers = db.execute("SELECT kind, object FROM access_modifier").fetchall()
    return Grants(
        tuple(groups),
        frozenset(everywhere),
        frozenset(service),
        frozenset(name for kind, name in modifiers if kind == "list"),
        frozenset(int(name) for kind, name in modifiers if kind == "system"),
    )


def value_node(list_name: str) -> str:
    """The word under which permissions on single values of a list are kept."""
    return list_name + "Verdi"


@dataclass(frozen=True, slots=True)
class _Standing:
    """How a node stands: whether it is readable, and the permissions that flow to it from above."""

    readable: bool
    flowing: frozenset[str]


_CLOSED = _Standing(False, _NOTHING)


@dataclass(slots=True)
class _Memo:
    """What was found out, for as long as the database stands still."""

    db: sqlite3.Connection | None = None
    changes: int = -1
    standing: dict[Node, _Standing] = field(default_factory=dict)
    above: dict[Node, Node | None] = field(default_factory=dict)
    granted: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)

    def at(self, db: sqlite3.Connection) -> None:
        """Forgets everything where `db` is another connection, or has changed."""
        if db is not self.db or db.total_changes != self.changes:
            self.db, self.changes = db, db.total_changes
            self.standing.clear()
            self.above.clear()
            self.granted.clear()


class AccountRights:
    """The rights of one account, for one call."""

    __slots__ = ("_grants", "_groups", "_memo")

    def __init__(self, grants: Grants) -> None:
        self._grants = grants
        self._groups = json.dumps(grants.groups)
        self._memo = _Memo()

    @property
    def service(self) -> frozenset[str]:
        """The service permissions, by their exact strings."""
        return self._grants.service

    @property
    def reads_everything(self) -> bool:
        """True where no object can be hidden from this account."""
        grants = self._grants
        opened = "ReadThis" in grants.everywhere and "Read" in grants.everywhere
        return opened and (not grants.controlled or "ReadRelated" in grants.everywhere)

    def writes_everything(self, permission: str) -> bool:
        """True where `permission` holds for every object."""
        return permission in self._grants.everywhere and self.reads_everything

    def may_read(self, db: sqlite3.Connection, family: str, object_id: int) -> bool:
        """True where the object exists and the account may read it."""
        if self.reads_everything and family in schema().tables:
            return _exists(db, family, object_id)
        return self._standing(db, (family, object_id)).readable

    def may_change(self, db: sqlite3.Connection, permission: str, family: str, object_id: int) -> bool:
        """True where `permission` holds for the object itself: granted on something above it.

        A label is changed as a part of its owner: there Update is enough to delete it.
        """
        if self.writes_everything(permission):
            return True
        node = (family, object_id)
        standing = self._standing(db, node)
        if not is_label(family):
            return standing.readable and permission in standing.flowing
        words = {"Delete", "Update"} if permission == "Delete" else {permission}
        return standing.readable and not words.isdisjoint(self._standing(db, self._owner(db, node)).flowing)

    def may_below(self, db: sqlite3.Connection, permission: str, family: str, object_id: int) -> bool:
        """True where `permission` holds for what is directly below the object."""
        if self.writes_everything(permission):
            return True
        node = (family, object_id)
        standing = self._standing(db, node)
        return standing.readable and (permission in standing.flowing or permission in self._granted(db, *_key(node)))

    def _standing(self, db: sqlite3.Connection, node: Node) -> _Standing:
        self._memo.at(db)
        known = self._memo.standing
        chain: list[Node] = []
        at: Node | None = node
        while at is not None and at not in known:
            known[at] = _CLOSED  # until found out, so that a ring of links ends, and is closed
            chain.append(at)
            at = self._above(db, at)
        for step in reversed(chain):
            known[step] = self._find_standing(db, step)
        return known[node]

    def _find_standing(self, db: sqlite3.Connection, node: Node) -> _Standing:
        """How a node stands, once what stands above it is known."""
        if node == _ROOT_NODE:
            return _Standing("ReadThis" in self._grants.everywhere, _NOTHING)
        above = self._above(db, node)
        if above is None:
            return _CLOSED
        over, given = self._memo.standing[above], self._granted(db, *_key(above))
        flowing = over.flowing | given if given else over.flowing
        opened = is_label(node[0]) or "Read" in flowing or "ReadThis" in self._granted(db, *_key(node))
        return _Standing(over.readable and opened and self._related(db, node), flowing)

    def _ancestors(self, db: sqlite3.Connection, node: Node) -> Iterator[Node]:
        """What stands above the node, nearest first, without the root; a ring is gone round once."""
        seen: set[Node] = set()
        above = self._above(db, node)
        while above is not None and above != _ROOT_NODE and above not in seen:
            yield above
            seen.add(above)
            above = self._above(db, above)

    def _owner(self, db: sqlite3.Connection, label: Node) -> Node:
        node = label
        while is_label(node[0]):
            node = self._above(db, node) or _ROOT_NODE
        return node

    def _above(self, db: sqlite3.Connection, node: Node) -> Node | None:
        """What stands directly above; None for the root, and for what does not exist."""
        if node not in self._memo.above:
            self._memo.above[node] = _find_above(db, node)
        return self._memo.above[node]

    def _granted(self, db: sqlite3.Connection, kind: str, name: str) -> frozenset[str]:
        """What the account's groups have on that very node."""
        if kind == ROOT:
            return self._grants.everywhere
        if not self._grants.groups:
            return _NOTHING
        known = self._memo.granted.get((kind, name))
        if known is None:
            found = db.execute(
                "SELECT permissions FROM permission WHERE kind = ? AND object = ?"
                " AND access_group IN (SELECT value FROM json_each(?))",
                (kind, name, self._groups),
            )
            known = frozenset(word for (words,) in found for word in json.loads(words))
            self._memo.granted[kind, name] = known
        return known

    def _related(self, db: sqlite3.Connection, node: Node) -> bool:
        """True where no list or class that the object bears closes it."""
        if not self._grants.controlled or "ReadRelated" in self._grants.everywhere:
            return True
        return self._values_open(db, node) and self._classes_open(db, node)

    def _values_open(self, db: sqlite3.Connection, node: Node) -> bool:
        lists = [name for name in _list_columns(node[0]) if name in self._grants.controlling_lists]
        if not lists or "ReadRelated" in self._granted(db, LIST_REGISTER, ""):
            return True
        listed = ", ".join(f'"{name}"' for name in lists)
        sql = f"SELECT {listed} FROM {table_name(node[0])} WHERE id = ?"  # noqa: S608  # names of the metamodel
        codes = db.execute(sql, (node[1],)).fetchone()
        return all(
            code is None
            or "ReadRelated" in self._granted(db, name, "")
            or "ReadRelated" in self._granted(db, value_node(name), str(code))
            for name, code in zip(lists, codes, strict=True)
        )

    def _classes_open(self, db: sqlite3.Connection, node: Node) -> bool:
        if not self._grants.controlling_systems or node[0] not in _CLASSIFIED:
            return True
        return all(self._class_open(db, class_id) for class_id in _classes_of(db, node))

    def _class_open(self, db: sqlite3.Connection, class_id: int) -> bool:
        node = ("Klasse", class_id)
        path = [node, *self._ancestors(db, node)]
        system = path[-1]
        if system[0] == "Klassifikasjonssystem" and system[1] not in self._grants.controlling_systems:
            return True
        return any("ReadRelated" in self._granted(db, *_key(step)) for step in path)


@cache
def is_label(family: str) -> bool:
    """True for what lives and dies with its owner, and is read and changed as a part of it."""
    members = schema().model.concrete(family)
    return any(schema().model.types[name].owned for name in members)


def _key(node: Node) -> tuple[str, str]:
    family, object_id = node
    return family, str(object_id) if family in schema().tables else ""


@cache
def _list_columns(family: str) -> tuple[str, ...]:
    if is_label(family) or family not in schema().tables:
        return ()
    columns = schema().tables[family].columns
    return tuple(name for name in CONTROLLING_LISTS if name in columns)


@cache
def _above_links(family: str) -> tuple[tuple[str, str], ...]:
    """The columns that lead upwards from a family, with the families they lead to."""
    whole = schema()
    found: dict[str, str] = {}
    for type_name in whole.model.concrete(family):
        for name in whole.model.types[type_name].references:
            link = whole.links[type_name, name]
            if link.kind == "column":
                found.setdefault(name, link.other_family)
    wanted = tuple(found) if is_label(family) else _ABOVE.get(family, ())
    return tuple((name, found[name]) for name in wanted)


@cache
def _above_sql(family: str) -> str:
    listed = ", ".join(["id", *(f'"{name}"' for name, _ in _above_links(family))])
    return f"SELECT {listed} FROM {table_name(family)} WHERE id = ?"  # noqa: S608  # names of the metamodel


def _find_above(db: sqlite3.Connection, node: Node) -> Node | None:
    family, object_id = node
    if family in REGISTERS:
        return _ROOT_NODE
    if family not in schema().tables:
        return None
    row = db.execute(_above_sql(family), (object_id,)).fetchone()
    if row is None:
        return None
    for (_, other), target in zip(_above_links(family), row[1:], strict=True):
        if target is not None:
            return other, int(target)
    return (PRECEDENT_REGISTER, 0) if family == "Presedens" else _ROOT_NODE


def _classes_of(db: sqlite3.Connection, node: Node) -> list[int]:
    family, object_id = node
    primary = f'SELECT "refPrimaerKlasse" FROM {table_name(family)} WHERE id = ?'  # noqa: S608  # names of the metamodel
    link = schema().links_of(family, "refSekundaerKlasse")[0]
    secondary = f"SELECT {link.theirs} FROM {link.pair_table} WHERE {link.mine} = ?"  # noqa: S608  # names of the metamodel
    found = [*db.execute(primary, (object_id,)), *db.execute(secondary, (object_id,))]
    return [int(class_id) for (class_id,) in found if class_id is not None]


def _exists(db: sqlite3.Connection, family: str, object_id: int) -> bool:
    sql = f"SELECT 1 FROM {table_name(family)} WHERE id = ?"  # noqa: S608  # names of the metamodel
    return db.execute(sql, (object_id,)).fetchone() is not None
