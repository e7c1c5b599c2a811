"""Paths through links as joined tables: within one query the same chain always means the same linked object.

A `Linked` is one such object: the table row a chain prefix or an alias leads to. Joins are outer, so that a condition
can ask for what is not there. Where the caller may not read everything, each join leaves out what is hidden from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from noarkit.model import Field, Metamodel, Reference
from noarkit.server.query.language import Path, parse_path
from noarkit.server.schema import Link, schema
from noarkit.server.settings import Settings
from noarkit.server.wire import Refusal

MAY_READ = "noarkit_may_read"


@dataclass(slots=True, eq=False)
class Linked:
    """One object that a condition speaks of: the one asked for, or one that links lead to from there."""

    number: int
    name: str
    family: str
    types: tuple[str, ...]
    link: Link | None = None
    parent: Linked | None = None
    depth: int = 0
    reads_table: bool = False
    children: dict[tuple[str, str], Linked] = field(default_factory=dict)

    @property
    def table(self) -> str:
        """The alias of its table in SQL."""
        return f"t{self.number}" if self.parent else "o"

    def id_sql(self, *, guarded: bool) -> str:
        """Where its id stands: in the link itself, so that its table is not needed for that."""
        if self.parent is None or self.link is None:
            return "o.id"
        if self.link.kind == "pairs":
            return f"p{self.number}.{self.link.theirs}"
        if self.link.kind == "inverse" or guarded:
            return f"{self.table}.id"
        return f'{self.parent.table}."{self.link.column}"'

    def lineage(self) -> list[Linked]:
        """Itself and all above it but the object asked for."""
        found: list[Linked] = []
        at = self
        while at.parent is not None:
            found.append(at)
            at = at.parent
        return found


@dataclass(frozen=True, slots=True)
class Target:
    """What a path ends at: a column of an object, or, without a field, the object itself."""

    linked: Linked
    column: str
    field: Field | None

    @property
    def kind(self) -> str:
        """The field kind that the column holds; ids and links are numbers."""
        return "number" if self.field is None or self.field.name in ("id", "version") else self.field.kind

    def sql(self, *, guarded: bool) -> str:
        """The column in SQL."""
        if self.column == "id":
            return self.linked.id_sql(guarded=guarded)
        return f'{self.linked.table}."{self.column}"'


class Paths:
    """All objects that one query speaks of."""

    def __init__(self, type_name: str, aliases: Mapping[str, str], settings: Settings) -> None:
        self._model: Metamodel = schema().model
        self._settings = settings
        self._aliases = aliases
        self._resolved: dict[str, Linked] = {}
        self._count = 0
        self.root = Linked(0, type_name, self._family(type_name), self._known_types(type_name))
        for alias in aliases:
            self._alias(alias, ())

    def target(self, path: Path) -> Target:
        """What the path leads to; a Refusal where there is no such field or link."""
        at = self._alias(path.alias, ()) if path.alias else self.root
        for name in path.names[:-1]:
            at = self._follow(at, name)
        name = path.names[-1]
        if self._reference(at, name) is not None:
            return Target(self._follow(at, name), "id", None)
        found = self.field(at, name)
        if not found.queryable:
            raise Refusal(400, f"Field {name} of {at.name} cannot be queried.")
        return Target(at, found.name, found)

    def field(self, at: Linked, name: str) -> Field:
        """The field of that name on one of the possible types."""
        for type_name in at.types:
            fields = self._model.types[type_name].fields
            found = fields.get(name) or next((each for each in fields.values() if each.also == name), None)
            if found is not None and self._is_known(found):
                return found
        raise Refusal(400, f"A field with name {name} was not found in {at.name} or its hierarchy.")

    def is_reference(self, name: str) -> bool:
        """True where the object asked for has a link of that name."""
        return self._reference(self.root, name) is not None

    def _alias(self, alias: str, waiting: tuple[str, ...]) -> Linked:
        if alias in self._resolved:
            return self._resolved[alias]
        if alias not in self._aliases:
            raise Refusal(400, f"Alias {alias} is not among the joins.")
        if alias in waiting:
            raise Refusal(400, f"joins: {alias} is built on itself.")
        if len(waiting) >= self._settings.query_depth:
            raise self._too_deep()
        path = parse_path(self._aliases[alias])
        at = self._alias(path.alias, (*waiting, alias)) if path.alias else self.root
        for name in path.names[:-1]:
            at = self._follow(at, name)
        if self._reference(at, path.names[-1]) is None:
            self.field(at, path.names[-1])
            raise Refusal(400, f"joins: {alias} must lead along a reference, which {path.names[-1]} is not.")
        found = self._resolved[alias] = self._follow(at, path.names[-1], alias)
        return found

    def _follow(self, at: Linked, name: str, alias: str = "") -> Linked:
        known = at.children.get((name, alias))
        if known is not None:
            return known
        reference = self._reference(at, name)
        if reference is None:
            found = self.field(at, name)
            raise Refusal(400, f"Field {found.name} of {at.name} is no reference; nothing can follow it.")
        if at.depth >= self._settings.query_depth:
            raise self._too_deep()
        links = [link for type_name in at.types if (link := schema().link(type_name, name)) is not None]
        self._count += 1
        reached = Linked(
            number=self._count,
            name=reference.targets[0] if len(reference.targets) == 1 else links[0].other_family,
            family=links[0].other_family,
            types=self._targets(links),
            link=links[0],
            parent=at,
            depth=at.depth + 1,
        )
        at.children[name, alias] = reached
        return reached

    def _reference(self, at: Linked, name: str) -> Reference | None:
        for type_name in at.types:
            found = self._model.types[type_name].references.get(name)
            if found is not None and self._is_known(found):
                return found
        return None

    def _targets(self, links: list[Link]) -> tuple[str, ...]:
        """The types that may stand at the other end; all of the family where the archive is not strict about them."""
        if not self._settings.journal_posts_in_case_files_only:
            return self._model.concrete(links[0].other_family)
        names = [name for link in links for target in link.reference.targets for name in self._model.concrete(target)]
        return tuple(dict.fromkeys(names))

    def _is_known(self, named: Field | Reference) -> bool:
        return self._settings.show_newer or not named.newer

    def _known_types(self, type_name: str) -> tuple[str, ...]:
        types = self._model.concrete(type_name)
        return tuple(each for each in types if self._settings.show_newer or not self._model.types[each].newer)

    def _family(self, type_name: str) -> str:
        if not self._known_types(type_name):
            raise Refusal(400, f"There is no type {type_name}.")
        return self._model.family(type_name)

    def _too_deep(self) -> Refusal:
        return Refusal(400, f"A path may follow at most {self._settings.query_depth} references.")


def reach(target: Target) -> list[Linked]:
    """The linked objects on the way to a target, nearest to it first; their tables will be joined where needed."""
    if target.column != "id":
        target.linked.reads_table = True
    lineage = target.linked.lineage()
    for linked in lineage:
        if linked.parent is not None and linked.link is not None and linked.link.kind == "column":
            linked.parent.reads_table = True
    return lineage


def joins_sql(wanted: list[Linked], required: frozenset[Linked], *, guarded: bool) -> list[str]:
    """The join clauses of the objects in `wanted` (parents first), inner ones for those that must be there.

    Inner joins stand first: SQLite may then begin at any of them.
    """
    ordered = [each for each in wanted if each in required] + [each for each in wanted if each not in required]
    return [
        clause
        for linked in ordered
        for clause in _clauses(linked, "JOIN" if linked in required else "LEFT JOIN", guarded=guarded)
    ]


def _clauses(linked: Linked, join: str, *, guarded: bool) -> list[str]:
    link, parent = linked.link, linked.parent
    if link is None or parent is None:
        return []
    table = f"{join} {schema().tables[linked.family].name} {linked.table} ON"
    parent_id = parent.id_sql(guarded=guarded)

    def guard(column: str) -> str:
        return f" AND {MAY_READ}('{linked.family}', {column})" if guarded else ""

    own_id = f"{linked.table}.id"
    if link.kind == "inverse":
        return [f'{table} {linked.table}."{link.column}" = {parent_id}{guard(own_id)}']
    if link.kind == "pairs":
        column = f"p{linked.number}.{link.theirs}"
        pair = f"{join} {link.pair_table} p{linked.number} ON p{linked.number}.{link.mine} = {parent_id}{guard(column)}"
        return [pair, f"{table} {own_id} = {column}"] if linked.reads_table else [pair]
    if linked.reads_table or guarded:
        return [f'{table} {own_id} = {parent.table}."{link.column}"{guard(own_id)}']
    return []
