"""The SQLite schema, derived from the metamodel: which table stores which field and which link.

One table a family (AbstraktMappe, AbstraktRegistrering, ..., else the type itself), so that a query on an abstract type
reads one table and an id names one row. A to-one link is a column on its own side; a to-many link is the inverse column
of the other side; where both sides are many, a pair table holds it. Ids come from one sequence over all families.

Stored values: timestamps as milliseconds since 1970 UTC, dates as `YYYY-MM-DD`, booleans as 0 and 1, numbers as they
are, business-specific metadata as JSON text, unset as NULL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from noarkit.model import Metamodel, Reference, metamodel

SCHEMA_VERSION = 1

# What integrations look things up by; every link column has an index of its own besides.
_INDEXED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "AbstraktMappe": (("mappeIdent",), ("saksaar", "sakssekvensnummer"), ("opprettetDato",)),
    "AbstraktRegistrering": (("registreringsIdent",), ("journalaar", "journalsekvensnummer"), ("opprettetDato",)),
    "Klasse": (("klasseIdent",),),
    "EksternId": (("eksternID", "eksterntSystem"),),
    "Arkivskaper": (("arkivskaperIdent",),),
    "Dokumentversjon": (("referanseDokumentfil",),),
    "Noekkelord": (("verdi",),),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a family table; `kind` is a field kind, or "link"."""

    name: str
    kind: str
    types: frozenset[str]


@dataclass(frozen=True, slots=True)
class Table:
    """The table of a family. The first columns are always id, type, version."""

    family: str
    name: str
    columns: Mapping[str, Column]


@dataclass(frozen=True, slots=True)
class Link:
    """Where a reference of a type is stored, seen from that type.

    column:  this family's own column `column` holds the target's id (to-one)
    inverse: the other family's column `column` holds our id (to-many, or to-one where `single`)
    pairs:   the table `pair_table` holds our id in `own_column` and the other's in `other_column`
    """

    kind: Literal["column", "inverse", "pairs"]
    reference: Reference
    other_family: str
    column: str = ""
    pair_table: str = ""
    own_column: str = ""
    other_column: str = ""
    single: bool = False


@dataclass(frozen=True, slots=True)
class Schema:
    """Tables by family, links by (type, reference name)."""

    model: Metamodel
    tables: Mapping[str, Table]
    links: Mapping[tuple[str, str], Link]
    pair_tables: tuple[str, ...]

    def link(self, type_name: str, reference: str) -> Link | None:
        """The link of a concrete type, or None if the type has no such reference."""
        return self.links.get((type_name, reference))

    def links_of(self, name: str, reference: str) -> list[Link]:
        """The links of that name over all concrete types behind `name`; they agree on where they are stored."""
        links = (self.links.get((concrete, reference)) for concrete in self.model.concrete(name))
        return [link for link in links if link is not None]


@cache
def schema() -> Schema:
    """The schema of the metamodel, worked out once."""
    model = metamodel()
    links = {
        (type_name, reference.name): _link(model, type_name, reference)
        for type_name, object_type in model.types.items()
        for reference in object_type.references.values()
    }
    families = dict.fromkeys(object_type.family for object_type in model.types.values())
    tables = {family: _table(model, family, links) for family in families}
    pairs = sorted({link.pair_table for link in links.values() if link.pair_table})
    return Schema(model, tables, links, tuple(pairs))


def statements() -> Iterator[str]:
    """The statements that make an empty archive's object tables."""
    archive_schema = schema()
    for table in archive_schema.tables.values():
        yield _create_table(table)
        yield from _create_indexes(table)
    for pair in archive_schema.pair_tables:
        yield f"CREATE TABLE {pair} (a INTEGER NOT NULL, b INTEGER NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID"
        yield f"CREATE INDEX {pair}_b ON {pair} (b, a)"


def table_name(family: str) -> str:
    """The table of a family."""
    return "o_" + family.lower()


def _link(model: Metamodel, type_name: str, reference: Reference) -> Link:
    own_family = model.family(type_name)
    other_family = model.family(reference.targets[0])
    inverse = model.types[model.concrete(reference.targets[0])[0]].references[reference.inverse]
    if reference.many and inverse.many:
        own_side, other_side = (own_family, reference.name), (other_family, inverse.name)
        first = min(own_side, other_side) == own_side
        pair = "_".join(["p", *(f"{family}_{name}" for family, name in sorted((own_side, other_side)))]).lower()
        return Link(
            "pairs",
            reference,
            other_family,
            pair_table=pair,
            own_column="a" if first else "b",
            other_column="b" if first else "a",
        )
    if reference.many:
        return Link("inverse", reference, other_family, column=inverse.name)
    if not inverse.many and (other_family, inverse.name) > (own_family, reference.name) and own_family == other_family:
        return Link("inverse", reference, other_family, column=inverse.name, single=True)
    return Link("column", reference, other_family, column=reference.name)


def _table(model: Metamodel, family: str, links: Mapping[tuple[str, str], Link]) -> Table:
    kinds: dict[str, str] = {"id": "number", "type": "string", "version": "number"}
    owners: dict[str, set[str]] = {}
    members = model.concrete(family)
    for type_name in members:
        for name, field in model.types[type_name].fields.items():
            kinds.setdefault(name, field.kind)
            owners.setdefault(name, set()).add(type_name)
        for name in model.types[type_name].references:
            link = links[type_name, name]
            if link.kind == "column":
                kinds[name] = "link"
                owners.setdefault(name, set()).add(type_name)
    all_types = set(members)
    columns = {name: Column(name, kind, frozenset(owners.get(name, all_types))) for name, kind in kinds.items()}
    return Table(family, table_name(family), columns)


_SQL_KIND = {
    "string": "TEXT",
    "timestamp": "INTEGER",
    "date": "TEXT",
    "number": "NUMERIC",
    "boolean": "INTEGER",
    "object": "TEXT",
    "link": "INTEGER",
}


def _create_table(table: Table) -> str:
    columns = ["id INTEGER PRIMARY KEY", "type TEXT NOT NULL", "version INTEGER NOT NULL"]
    columns += [
        f'"{column.name}" {_SQL_KIND[column.kind]}'
        for column in table.columns.values()
        if column.name not in ("id", "type", "version")
    ]
    return f"CREATE TABLE {table.name} ({', '.join(columns)})"


def _create_indexes(table: Table) -> Iterator[str]:
    yield f"CREATE UNIQUE INDEX {table.name}_uuid ON {table.name} (uuid)"
    for column in table.columns.values():
        if column.kind == "link":
            yield (
                f'CREATE INDEX {table.name}_{column.name.lower()} ON {table.name} ("{column.name}")'
                f' WHERE "{column.name}" IS NOT NULL'
            )
    for names in _INDEXED.get(table.family, ()):
        columns_sql = ", ".join(f'"{name}"' for name in names)
        yield f"CREATE INDEX {table.name}_{'_'.join(names).lower()} ON {table.name} ({columns_sql})"
