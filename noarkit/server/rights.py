"""The rights of an account: permissions are inherited from the root down, and need every ancestor to be readable.

The tree. Below the root are fonds, classification systems and three registers (code lists, business-specific metadata,
precedents); below a fonds its series, folders, records, documents and versions; below a system its classes. Labels
(parties, keywords, notes, external ids, ...) share the rights of their owner.

The rules. `ReadThis` applies to the object it is granted on, every other permission to everything below that object; a
group's global permissions are granted on the root. An object is readable where it and all its ancestors are opened; a
permission counts only where the object is readable. Code lists and classification systems that determine access control
close the objects that use their values, until `ReadRelated` is granted on the value, above it, or globally.
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

# Nodes of the tree that are no objects; they are used in place of a family, with object id 0.
ROOT = "GlobaleRettigheter"
LIST_REGISTER = "ListeRegister"
METADATA_REGISTER = "VsmRegister"
PRECEDENT_REGISTER = "PresedensRegister"
REGISTERS = (LIST_REGISTER, METADATA_REGISTER, PRECEDENT_REGISTER)

# The link to the parent of an object: the first of these that is set. Families that are not named are directly below
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
    """The permissions of an account through its access groups, without those on single objects."""

    groups: tuple[int, ...] = ()
    everywhere: frozenset[str] = _NOTHING
    service: frozenset[str] = _NOTHING
    controlling_lists: frozenset[str] = _NOTHING
    controlling_systems: frozenset[int] = frozenset()

    @property
    def controlled(self) -> bool:
        """True if some list or system determines access control."""
        return bool(self.controlling_lists or self.controlling_systems)


def load_grants(db: sqlite3.Connection, claims: Iterable[str]) -> Grants:
    """The grants of an account that presents these claims."""
    presented = frozenset(claims)
    groups: list[int] = []
    everywhere: set[str] = set()
    service: set[str] = set()
    rows = db.execute("SELECT id, claims, global_permissions, service_permissions FROM access_group ORDER BY id")
    for group, group_claims, global_permissions, service_permissions in rows:
        if presented.intersection(json.loads(group_claims)):
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
    """The `"kind"` under which permissions on single values of a list are stored."""
    return list_name + "Verdi"


@dataclass(frozen=True, slots=True)
class _NodeAccess:
    """The access to a node: whether it is readable, and the permissions that it inherits."""

    readable: bool
    flowing: frozenset[str]


_CLOSED = _NodeAccess(False, _NOTHING)


@dataclass(slots=True)
class _RightsCache:
    """Cached results, valid until the connection changes its database."""

    db: sqlite3.Connection | None = None
    changes: int = -1
    access_by_node: dict[Node, _NodeAccess] = field(default_factory=dict)
    above_by_node: dict[Node, Node | None] = field(default_factory=dict)
    granted_by_key: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)

    def reset_if_changed(self, db: sqlite3.Connection) -> None:
        """Forgets everything where `db` is another connection, or has changed."""
        if db is not self.db or db.total_changes != self.changes:
            self.db, self.changes = db, db.total_changes
            self.access_by_node.clear()
            self.above_by_node.clear()
            self.granted_by_key.clear()


class AccountRights:
    """The rights of one account, for one call."""

    __slots__ = ("_grants", "_groups", "_memo")

    def __init__(self, grants: Grants) -> None:
        self._grants = grants
        self._groups = json.dumps(grants.groups)
        self._memo = _RightsCache()

    @property
    def service(self) -> frozenset[str]:
        """The service permissions, by their exact strings."""
        return self._grants.service

    @property
    def reads_everything(self) -> bool:
        """True if no object can be hidden from this account."""
        grants = self._grants
        is_open = "ReadThis" in grants.everywhere and "Read" in grants.everywhere
        return is_open and (not grants.controlled or "ReadRelated" in grants.everywhere)

    def writes_everything(self, permission: str) -> bool:
        """True if `permission` holds for every object."""
        return permission in self._grants.everywhere and self.reads_everything

    def may_read(self, db: sqlite3.Connection, family: str, object_id: int) -> bool:
        """True if the object exists and the account may read it."""
        if self.reads_everything and family in schema().tables:
            return _exists(db, family, object_id)
        return self._find_access(db, (family, object_id)).readable

    def may_change(self, db: sqlite3.Connection, permission: str, family: str, object_id: int) -> bool:
        """True if `permission` holds for the object itself: granted on something above it.

        A label is changed as a part of its owner: there Update is enough to delete it.
        """
        if self.writes_everything(permission):
            return True
        node = (family, object_id)
        access = self._find_access(db, node)
        if not is_label(family):
            return access.readable and permission in access.flowing
        words = {"Delete", "Update"} if permission == "Delete" else {permission}
        return access.readable and not words.isdisjoint(self._find_access(db, self._find_owner(db, node)).flowing)

    def may_below(self, db: sqlite3.Connection, permission: str, family: str, object_id: int) -> bool:
        """True if `permission` holds for what is directly below the object."""
        if self.writes_everything(permission):
            return True
        node = (family, object_id)
        access = self._find_access(db, node)
        return access.readable and (permission in access.flowing or permission in self._find_granted(db, *_key(node)))

    def _find_access(self, db: sqlite3.Connection, node: Node) -> _NodeAccess:
        self._memo.reset_if_changed(db)
        access_by_node = self._memo.access_by_node
        chain: list[Node] = []
        current: Node | None = node
        while current is not None and current not in access_by_node:
            access_by_node[current] = _CLOSED  # until found out, so that a ring of links ends, and is closed
            chain.append(current)
            current = self._find_above(db, current)
        for step in reversed(chain):
            access_by_node[step] = self._compute_access(db, step)
        return access_by_node[node]

    def _compute_access(self, db: sqlite3.Connection, node: Node) -> _NodeAccess:
        """Computes the access to a node from the access to its parent, which must be known."""
        if node == _ROOT_NODE:
            return _NodeAccess("ReadThis" in self._grants.everywhere, _NOTHING)
        above = self._find_above(db, node)
        if above is None:
            return _CLOSED
        above_access, granted = self._memo.access_by_node[above], self._find_granted(db, *_key(above))
        flowing = above_access.flowing | granted if granted else above_access.flowing
        is_open = is_label(node[0]) or "Read" in flowing or "ReadThis" in self._find_granted(db, *_key(node))
        return _NodeAccess(above_access.readable and is_open and self._related(db, node), flowing)

    def _ancestors(self, db: sqlite3.Connection, node: Node) -> Iterator[Node]:
        """The ancestors of a node, nearest first, without the root; a ring of links is followed once."""
        visited: set[Node] = set()
        above = self._find_above(db, node)
        while above is not None and above != _ROOT_NODE and above not in visited:
            yield above
            visited.add(above)
            above = self._find_above(db, above)

    def _find_owner(self, db: sqlite3.Connection, label: Node) -> Node:
        node = label
        while is_label(node[0]):
            node = self._find_above(db, node) or _ROOT_NODE
        return node

    def _find_above(self, db: sqlite3.Connection, node: Node) -> Node | None:
        """The parent of a node; None for the root, and for a node that does not exist."""
        if node not in self._memo.above_by_node:
            self._memo.above_by_node[node] = _find_above(db, node)
        return self._memo.above_by_node[node]

    def _find_granted(self, db: sqlite3.Connection, kind: str, name: str) -> frozenset[str]:
        """The permissions that the account's groups have on exactly that node."""
        if kind == ROOT:
            return self._grants.everywhere
        if not self._grants.groups:
            return _NOTHING
        permissions = self._memo.granted_by_key.get((kind, name))
        if permissions is None:
            rows = db.execute(
                "SELECT permissions FROM permission WHERE kind = ? AND object = ?"
                " AND access_group IN (SELECT value FROM json_each(?))",
                (kind, name, self._groups),
            )
            permissions = frozenset(word for (words,) in rows for word in json.loads(words))
            self._memo.granted_by_key[kind, name] = permissions
        return permissions

    def _related(self, db: sqlite3.Connection, node: Node) -> bool:
        """True if no list or class that the object bears closes it."""
        if not self._grants.controlled or "ReadRelated" in self._grants.everywhere:
            return True
        return self._values_open(db, node) and self._classes_open(db, node)

    def _values_open(self, db: sqlite3.Connection, node: Node) -> bool:
        lists = [name for name in _list_columns(node[0]) if name in self._grants.controlling_lists]
        if not lists or "ReadRelated" in self._find_granted(db, LIST_REGISTER, ""):
            return True
        columns_sql = ", ".join(f'"{name}"' for name in lists)
        sql = f"SELECT {columns_sql} FROM {table_name(node[0])} WHERE id = ?"  # noqa: S608  # names of the metamodel
        codes = db.execute(sql, (node[1],)).fetchone()
        return all(
            code is None
            or "ReadRelated" in self._find_granted(db, name, "")
            or "ReadRelated" in self._find_granted(db, value_node(name), str(code))
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
        return any("ReadRelated" in self._find_granted(db, *_key(step)) for step in path)


@cache
def is_label(family: str) -> bool:
    """True for a family whose objects are parts of their owner: read, changed and deleted with it."""
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
    archive_schema = schema()
    family_by_column: dict[str, str] = {}
    for type_name in archive_schema.model.concrete(family):
        for name in archive_schema.model.types[type_name].references:
            link = archive_schema.links[type_name, name]
            if link.kind == "column":
                family_by_column.setdefault(name, link.other_family)
    column_names = tuple(family_by_column) if is_label(family) else _ABOVE.get(family, ())
    return tuple((name, family_by_column[name]) for name in column_names)


@cache
def _above_sql(family: str) -> str:
    columns_sql = ", ".join(["id", *(f'"{name}"' for name, _ in _above_links(family))])
    return f"SELECT {columns_sql} FROM {table_name(family)} WHERE id = ?"  # noqa: S608  # names of the metamodel


def _find_above(db: sqlite3.Connection, node: Node) -> Node | None:
    family, object_id = node
    if family in REGISTERS:
        return _ROOT_NODE
    if family not in schema().tables:
        return None
    row = db.execute(_above_sql(family), (object_id,)).fetchone()
    if row is None:
        return None
    for (_, parent_family), target in zip(_above_links(family), row[1:], strict=True):
        if target is not None:
            return parent_family, int(target)
    return (PRECEDENT_REGISTER, 0) if family == "Presedens" else _ROOT_NODE


def _classes_of(db: sqlite3.Connection, node: Node) -> list[int]:
    family, object_id = node
    primary = f'SELECT "refPrimaerKlasse" FROM {table_name(family)} WHERE id = ?'  # noqa: S608  # names of the metamodel
    link = schema().links_of(family, "refSekundaerKlasse")[0]
    secondary = f"SELECT {link.other_column} FROM {link.pair_table} WHERE {link.own_column} = ?"  # noqa: S608  # names of the metamodel
    rows = [*db.execute(primary, (object_id,)), *db.execute(secondary, (object_id,))]
    return [int(class_id) for (class_id,) in rows if class_id is not None]


def _exists(db: sqlite3.Connection, family: str, object_id: int) -> bool:
    sql = f"SELECT 1 FROM {table_name(family)} WHERE id = ?"  # noqa: S608  # names of the metamodel
    return db.execute(sql, (object_id,)).fetchone() is not None
