"""Turns reference paths of a query into joins; within one query the same path always means the same linked object.

A `LinkedObject` is one such object: the table row that a path prefix or an alias leads to. Joins are outer, so that a
condition can ask for a missing object. For callers with limited rights each join leaves out hidden objects.

    refMappe.refArkivdel.tittel   ->   LEFT JOIN o_abstraktmappe t1 ON t1.id = o."refMappe"
                                       LEFT JOIN o_arkivdel t2 ON t2.id = t1."refArkivdel"      column t2."tittel"
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
class LinkedObject:
    """One object that a query refers to: the root object, or an object that references lead to from there."""

    number: int
    name: str
    family: str
    types: tuple[str, ...]
    link: Link | None = None
    parent: LinkedObject | None = None
    depth: int = 0
    reads_table: bool = False
    children: dict[tuple[str, str], LinkedObject] = field(default_factory=dict)

    @property
    def table(self) -> str:
        """The alias of its table in SQL."""
        return f"t{self.number}" if self.parent else "o"

    def id_sql(self, *, checks_rights: bool) -> str:
        """SQL for its id, taken from the link column where possible so that its own table need not be joined."""
        if self.parent is None or self.link is None:
            return "o.id"
        if self.link.kind == "pairs":
            return f"p{self.number}.{self.link.other_column}"
        if self.link.kind == "inverse" or checks_rights:
            return f"{self.table}.id"
        return f'{self.parent.table}."{self.link.column}"'

    def lineage(self) -> list[LinkedObject]:
        """The object itself and its parents, nearest first, without the root object."""
        ancestors: list[LinkedObject] = []
        current = self
        while current.parent is not None:
            ancestors.append(current)
            current = current.parent
        return ancestors


@dataclass(frozen=True, slots=True)
class Target:
    """The end of a path: a column of an object or, without a field, the object itself."""

    linked_object: LinkedObject
    column: str
    field: Field | None

    @property
    def kind(self) -> str:
        """The field kind that the column holds; ids and links are numbers."""
        return "number" if self.field is None or self.field.name in ("id", "version") else self.field.kind

    def sql(self, *, checks_rights: bool) -> str:
        """The column in SQL."""
        if self.column == "id":
            return self.linked_object.id_sql(checks_rights=checks_rights)
        return f'{self.linked_object.table}."{self.column}"'


class Paths:
    """All objects that one query refers to, by path and by alias."""

    def __init__(self, type_name: str, aliases: Mapping[str, str], settings: Settings) -> None:
        self._model: Metamodel = schema().model
        self._settings = settings
        self._aliases = aliases
        self._resolved: dict[str, LinkedObject] = {}
        self._count = 0
        self.root = LinkedObject(0, type_name, self._family(type_name), self._known_types(type_name))
        for alias in aliases:
            self._alias(alias, ())

    def target(self, path: Path) -> Target:
        """What the path leads to; a Refusal where there is no such field or link."""
        linked_object = self._alias(path.alias, ()) if path.alias else self.root
        for name in path.names[:-1]:
            linked_object = self._follow(linked_object, name)
        name = path.names[-1]
        if self._reference(linked_object, name) is not None:
            return Target(self._follow(linked_object, name), "id", None)
        model_field = self.field(linked_object, name)
        if not model_field.queryable:
            raise Refusal(400, f"Field {name} of {linked_object.name} cannot be queried.")
        return Target(linked_object, model_field.name, model_field)

    def field(self, linked_object: LinkedObject, name: str) -> Field:
        """The field of that name on one of the possible types."""
        for type_name in linked_object.types:
            fields = self._model.types[type_name].fields
            match = fields.get(name) or next(
                (candidate for candidate in fields.values() if candidate.also == name), None
            )
            if match is not None and self._is_known(match):
                return match
        raise Refusal(400, f"A field with name {name} was not found in {linked_object.name} or its hierarchy.")

    def is_reference(self, name: str) -> bool:
        """True if the object asked for has a link of that name."""
        return self._reference(self.root, name) is not None

    def _alias(self, alias: str, waiting: tuple[str, ...]) -> LinkedObject:
        if alias in self._resolved:
            return self._resolved[alias]
        if alias not in self._aliases:
            raise Refusal(400, f"Alias {alias} is not among the joins.")
        if alias in waiting:
            raise Refusal(400, f"joins: {alias} is built on itself.")
        if len(waiting) >= self._settings.query_depth:
            raise self._too_deep()
        path = parse_path(self._aliases[alias])
        parent = self._alias(path.alias, (*waiting, alias)) if path.alias else self.root
        for name in path.names[:-1]:
            parent = self._follow(parent, name)
        if self._reference(parent, path.names[-1]) is None:
            self.field(parent, path.names[-1])
            raise Refusal(400, f"joins: {alias} must lead along a reference, which {path.names[-1]} is not.")
        linked_object = self._resolved[alias] = self._follow(parent, path.names[-1], alias)
        return linked_object

    def _follow(self, parent: LinkedObject, name: str, alias: str = "") -> LinkedObject:
        existing = parent.children.get((name, alias))
        if existing is not None:
            return existing
        reference = self._reference(parent, name)
        if reference is None:
            model_field = self.field(parent, name)
            raise Refusal(400, f"Field {model_field.name} of {parent.name} is no reference; nothing can follow it.")
        if parent.depth >= self._settings.query_depth:
            raise self._too_deep()
        links = [link for type_name in parent.types if (link := schema().link(type_name, name)) is not None]
        self._count += 1
        linked_object = LinkedObject(
            number=self._count,
            name=reference.targets[0] if len(reference.targets) == 1 else links[0].other_family,
            family=links[0].other_family,
            types=self._targets(links),
            link=links[0],
            parent=parent,
            depth=parent.depth + 1,
        )
        parent.children[name, alias] = linked_object
        return linked_object

    def _reference(self, linked_object: LinkedObject, name: str) -> Reference | None:
        for type_name in linked_object.types:
            reference = self._model.types[type_name].references.get(name)
            if reference is not None and self._is_known(reference):
                return reference
        return None

    def _targets(self, links: list[Link]) -> tuple[str, ...]:
        """The types that may stand at the other end; all of the family where the archive is not strict about them."""
        if not self._settings.journal_posts_in_case_files_only:
            return self._model.concrete(links[0].other_family)
        names = [name for link in links for target in link.reference.targets for name in self._model.concrete(target)]
        return tuple(dict.fromkeys(names))

    def _is_known(self, member: Field | Reference) -> bool:
        return self._settings.show_newer or not member.newer

    def _known_types(self, type_name: str) -> tuple[str, ...]:
        types = self._model.concrete(type_name)
        return tuple(name for name in types if self._settings.show_newer or not self._model.types[name].newer)

    def _family(self, type_name: str) -> str:
        if not self._known_types(type_name):
            raise Refusal(400, f"There is no type {type_name}.")
        return self._model.family(type_name)

    def _too_deep(self) -> Refusal:
        return Refusal(400, f"A path may follow at most {self._settings.query_depth} references.")


def require_tables(target: Target) -> list[LinkedObject]:
    """The linked objects on the way to a target, nearest to it first; their tables will be joined where needed."""
    if target.column != "id":
        target.linked_object.reads_table = True
    lineage = target.linked_object.lineage()
    for linked_object in lineage:
        if linked_object.parent is not None and linked_object.link is not None and linked_object.link.kind == "column":
            linked_object.parent.reads_table = True
    return lineage


def joins_sql(
    linked_objects: list[LinkedObject], required: frozenset[LinkedObject], *, checks_rights: bool
) -> list[str]:
    """The join clauses of `linked_objects` (parents first), inner joins for those that must exist.

    Inner joins come first: SQLite may then begin at any of them.
    """
    ordered = [candidate for candidate in linked_objects if candidate in required] + [
        candidate for candidate in linked_objects if candidate not in required
    ]
    return [
        clause
        for linked_object in ordered
        for clause in _clauses(
            linked_object, "JOIN" if linked_object in required else "LEFT JOIN", checks_rights=checks_rights
        )
    ]


def _clauses(linked_object: LinkedObject, join: str, *, checks_rights: bool) -> list[str]:
    link, parent = linked_object.link, linked_object.parent
    if link is None or parent is None:
        return []
    table = f"{join} {schema().tables[linked_object.family].name} {linked_object.table} ON"
    parent_id = parent.id_sql(checks_rights=checks_rights)

    def right(column: str) -> str:
        return f" AND {MAY_READ}('{linked_object.family}', {column})" if checks_rights else ""

    own_id = f"{linked_object.table}.id"
    if link.kind == "inverse":
        return [f'{table} {linked_object.table}."{link.column}" = {parent_id}{right(own_id)}']
    if link.kind == "pairs":
        column = f"p{linked_object.number}.{link.other_column}"
        pair_alias = f"p{linked_object.number}"
        on_parent = f"{pair_alias}.{link.own_column} = {parent_id}{right(column)}"
        pair = f"{join} {link.pair_table} {pair_alias} ON {on_parent}"
        return [pair, f"{table} {own_id} = {column}"] if linked_object.reads_table else [pair]
    if linked_object.reads_table or checks_rights:
        return [f'{table} {own_id} = {parent.table}."{link.column}"{right(own_id)}']
    return []
