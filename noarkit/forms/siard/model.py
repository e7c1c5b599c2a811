"""What a SIARD archive says of a database: schemas, tables, columns, keys, views, routines and users, as values.

The names are those of the specification, in English and snake case; empty texts and `None` mean «not said».
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MessageDigest:
    """A digest over everything that stands before the header."""

    algorithm: str
    digest: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """A part of a structured type: predefined (`type`) or of another type (`type_schema`, `type_name`)."""

    name: str
    type: str = ""
    type_schema: str = ""
    type_name: str = ""
    type_original: str = ""
    nullable: bool | None = None
    default: str = ""
    cardinality: int | None = None
    description: str = ""


@dataclass(frozen=True, slots=True)
class UserType:
    """A type that the database itself defines: another name for a base type, or a structure."""

    name: str
    category: str
    under_schema: str = ""
    under_type: str = ""
    instantiable: bool = True
    final: bool = True
    base: str = ""
    attributes: tuple[Attribute, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """A place inside a structured value."""

    name: str
    lob_folder: str = ""
    fields: tuple[Field, ...] = ()
    mime_type: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `type` is SQL:2008, `type_original` what the database called it. Said nothing, it may be NULL."""

    name: str
    lob_folder: str = ""
    type: str = ""
    mime_type: str = ""
    type_schema: str = ""
    type_name: str = ""
    type_original: str = ""
    fields: tuple[Field, ...] = ()
    nullable: bool | None = None
    default: str = ""
    cardinality: int | None = None
    description: str = ""


@dataclass(frozen=True, slots=True)
class Key:
    """A primary or candidate key."""

    name: str
    columns: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """A column and the one it refers to."""

    column: str
    referenced: str


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns whose values stand in another table."""

    name: str
    referenced_schema: str
    referenced_table: str
    references: tuple[Reference, ...] = ()
    match_type: str = ""
    delete_action: str = ""
    update_action: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """A condition that every row meets."""

    name: str
    condition: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Trigger:
    """What the database did when rows changed."""

    name: str
    action_time: str
    event: str
    alias_list: str = ""
    action: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table, its columns in order, and how many rows it has."""

    name: str
    folder: str = ""
    description: str = ""
    columns: tuple[Column, ...] = ()
    primary_key: Key | None = None
    foreign_keys: tuple[ForeignKey, ...] = ()
    candidate_keys: tuple[Key, ...] = ()
    checks: tuple[Check, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    rows: int = 0


@dataclass(frozen=True, slots=True)
class View:
    """A view: its query, never its rows."""

    name: str
    query: str = ""
    query_original: str = ""
    description: str = ""
    columns: tuple[Column, ...] = ()
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a routine is given or gives back."""

    name: str
    mode: str
    type: str = ""
    type_schema: str = ""
    type_name: str = ""
    type_original: str = ""
    cardinality: int | None = None
    description: str = ""


@dataclass(frozen=True, slots=True)
class Routine:
    """A function or procedure of the database."""

    specific_name: str
    name: str
    description: str = ""
    source: str = ""
    body: str = ""
    characteristic: str = ""
    return_type: str = ""
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema of the database."""

    name: str
    folder: str = ""
    description: str = ""
    types: tuple[UserType, ...] = ()
    tables: tuple[Table, ...] = ()
    views: tuple[View, ...] = ()
    routines: tuple[Routine, ...] = ()


@dataclass(frozen=True, slots=True)
class User:
    """Who could use the database."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Role:
    """A group of rights."""

    name: str
    admin: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Privilege:
    """A right that somebody was given."""

    type: str
    object: str = ""
    grantor: str = ""
    grantee: str = ""
    option: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Archive:
    """All that `header/metadata.xml` says."""

    version: str = "2.2"
    dbname: str = ""
    description: str = ""
    archiver: str = ""
    archiver_contact: str = ""
    data_owner: str = ""
    data_origin_timespan: str = ""
    lob_folder: str = ""
    producer_application: str = ""
    archival_date: str = ""
    digests: tuple[MessageDigest, ...] = ()
    client_machine: str = ""
    database_product: str = ""
    connection: str = ""
    database_user: str = ""
    schemas: tuple[Schema, ...] = ()
    users: tuple[User, ...] = ()
    roles: tuple[Role, ...] = ()
    privileges: tuple[Privilege, ...] = ()

    def tables(self) -> tuple[tuple[Schema, Table], ...]:
        """Every table with its schema, in order."""
        return tuple((schema, table) for schema in self.schemas for table in schema.tables)
