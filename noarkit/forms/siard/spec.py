"""The elements of `metadata.xml` as data: what the reader, the writer and the schemas are made from.

An `Item` is one element of a complex type, in order: its tag, the field that holds it, and what stands in it. Versions
differ in little; `FROM_10` says how 1.0 names what later versions name otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from noarkit.forms.siard import model

Version = Literal["2.1", "2.2"]
WRITTEN: tuple[Version, ...] = ("2.1", "2.2")
READ = ("1.0", "2.0", "2.1", "2.2")
METADATA = "header/metadata.xml"
METADATA_SCHEMA = "header/metadata.xsd"
NAMESPACE = "http://www.bar.admin.ch/xmlns/siard/2/metadata.xsd"
NAMESPACE_10 = "http://www.bar.admin.ch/xmlns/siard/1.0/metadata.xsd"
NAMESPACES = {
    "1.0": (NAMESPACE_10,),
    "2.0": (NAMESPACE, "http://www.bar.admin.ch/xmlns/siard/2.0/metadata.xsd"),
    "2.1": (NAMESPACE,),
    "2.2": (NAMESPACE,),
}
XSI = "http://www.w3.org/2001/XMLSchema-instance"

DIGEST_TYPES = ("MD5", "SHA-1", "SHA-256")
HASHES = {"MD5": "md5", "SHA-1": "sha1", "SHA-256": "sha256"}

Kind = Literal[
    "text", "mandatory", "uri", "date", "boolean", "integer", "folder", "type", "choice", "one", "list", "many"
]
"""`one` is a complex element, `many` repeats it, `list` wraps repeats in an element of their own."""


@dataclass(frozen=True, slots=True)
class Item:
    """One element. `least` is how often it must stand; `of` the class or code list in it, `entry_tag` the tag in a
    list.

    `branch` is 1 or 2 where either the items of the one or of the other stand.
    """

    tag: str
    field: str
    kind: Kind = "text"
    least: int = 0
    of: str = ""
    entry_tag: str = ""
    branch: int = 0


CODES: dict[str, tuple[str, ...]] = {
    "digestTypeType": DIGEST_TYPES,
    "privOptionType": ("ADMIN", "GRANT"),
    "actionTimeType": ("BEFORE", "INSTEAD OF", "AFTER"),
    "matchTypeType": ("FULL", "PARTIAL", "SIMPLE"),
    "referentialActionType": ("CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION"),
    "categoryType": ("distinct", "udt"),
}

_DESCRIPTION = Item("description", "description")


def _typed(*, original: bool, mime: bool = False) -> tuple[Item, ...]:
    return (
        Item("type", "type", "type", 1, branch=1),
        *((Item("mimeType", "mime_type", branch=1),) if mime else ()),
        Item("typeSchema", "type_schema", branch=2),
        Item("typeName", "type_name", least=1, branch=2),
        *((Item("typeOriginal", "type_original"),) if original else ()),
    )


ITEMS: dict[type, tuple[Item, ...]] = {
    model.Archive: (
        Item("dbname", "dbname", "mandatory", 1),
        _DESCRIPTION,
        Item("archiver", "archiver"),
        Item("archiverContact", "archiver_contact"),
        Item("dataOwner", "data_owner", "mandatory", 1),
        Item("dataOriginTimespan", "data_origin_timespan", "mandatory", 1),
        Item("lobFolder", "lob_folder", "uri"),
        Item("producerApplication", "producer_application"),
        Item("archivalDate", "archival_date", "date", 1),
        Item("messageDigest", "digests", "many", of="MessageDigest"),
        Item("clientMachine", "client_machine"),
        Item("databaseProduct", "database_product"),
        Item("connection", "connection"),
        Item("databaseUser", "database_user"),
        Item("schemas", "schemas", "list", 1, "Schema", "schema"),
        Item("users", "users", "list", 1, "User", "user"),
        Item("roles", "roles", "list", 0, "Role", "role"),
        Item("privileges", "privileges", "list", 0, "Privilege", "privilege"),
    ),
    model.MessageDigest: (
        Item("digestType", "algorithm", "choice", 1, "digestTypeType"),
        Item("digest", "digest", least=1),
    ),
    model.Schema: (
        Item("name", "name", least=1),
        Item("folder", "folder", "folder", 1),
        _DESCRIPTION,
        Item("types", "types", "list", 0, "UserType", "type"),
        Item("tables", "tables", "list", 0, "Table", "table"),
        Item("views", "views", "list", 0, "View", "view"),
        Item("routines", "routines", "list", 0, "Routine", "routine"),
    ),
    model.UserType: (
        Item("name", "name", least=1),
        Item("category", "category", "choice", 1, "categoryType"),
        Item("underSchema", "under_schema"),
        Item("underType", "under_type"),
        Item("instantiable", "instantiable", "boolean", 1),
        Item("final", "final", "boolean", 1),
        Item("base", "base", "type"),
        Item("attributes", "attributes", "list", 0, "Attribute", "attribute"),
        _DESCRIPTION,
    ),
    model.Attribute: (
        Item("name", "name", least=1),
        *_typed(original=True),
        Item("nullable", "nullable", "boolean"),
        Item("defaultValue", "default"),
        Item("cardinality", "cardinality", "integer"),
        _DESCRIPTION,
    ),
    model.Table: (
        Item("name", "name", least=1),
        Item("folder", "folder", "folder", 1),
        _DESCRIPTION,
        Item("columns", "columns", "list", 1, "Column", "column"),
        Item("primaryKey", "primary_key", "one", 0, "Key"),
        Item("foreignKeys", "foreign_keys", "list", 0, "ForeignKey", "foreignKey"),
        Item("candidateKeys", "candidate_keys", "list", 0, "Key", "candidateKey"),
        Item("checkConstraints", "checks", "list", 0, "Check", "checkConstraint"),
        Item("triggers", "triggers", "list", 0, "Trigger", "trigger"),
        Item("rows", "rows", "integer", 1),
    ),
    model.View: (
        Item("name", "name", least=1),
        Item("query", "query"),
        Item("queryOriginal", "query_original"),
        _DESCRIPTION,
        Item("columns", "columns", "list", 1, "Column", "column"),
        Item("rows", "rows", "integer"),
    ),
    model.Column: (
        Item("name", "name", least=1),
        Item("lobFolder", "lob_folder", "uri"),
        *_typed(original=True, mime=True),
        Item("fields", "fields", "list", 0, "Field", "field"),
        Item("nullable", "nullable", "boolean"),
        Item("defaultValue", "default"),
        Item("cardinality", "cardinality", "integer"),
        _DESCRIPTION,
    ),
    model.Field: (
        Item("name", "name", least=1),
        Item("lobFolder", "lob_folder", "uri"),
        Item("fields", "fields", "list", 0, "Field", "field"),
        Item("mimeType", "mime_type"),
        _DESCRIPTION,
    ),
    model.Key: (
        Item("name", "name", least=1),
        _DESCRIPTION,
        Item("column", "columns", "many", 1),
    ),
    model.ForeignKey: (
        Item("name", "name", least=1),
        Item("referencedSchema", "referenced_schema", least=1),
        Item("referencedTable", "referenced_table", least=1),
        Item("reference", "references", "many", 1, "Reference"),
        Item("matchType", "match_type", "choice", 0, "matchTypeType"),
        Item("deleteAction", "delete_action", "choice", 0, "referentialActionType"),
        Item("updateAction", "update_action", "choice", 0, "referentialActionType"),
        _DESCRIPTION,
    ),
    model.Reference: (
        Item("column", "column", least=1),
        Item("referenced", "referenced", least=1),
    ),
    model.Check: (
        Item("name", "name", least=1),
        Item("condition", "condition", least=1),
        _DESCRIPTION,
    ),
    model.Trigger: (
        Item("name", "name", least=1),
        Item("actionTime", "action_time", "choice", 1, "actionTimeType"),
        Item("triggerEvent", "event", least=1),
        Item("aliasList", "alias_list"),
        Item("triggeredAction", "action", least=1),
        _DESCRIPTION,
    ),
    model.Routine: (
        Item("specificName", "specific_name", least=1),
        Item("name", "name", least=1),
        _DESCRIPTION,
        Item("source", "source"),
        Item("body", "body"),
        Item("characteristic", "characteristic"),
        Item("returnType", "return_type"),
        Item("parameters", "parameters", "list", 0, "Parameter", "parameter"),
    ),
    model.Parameter: (
        Item("name", "name", least=1),
        Item("mode", "mode", least=1),
        *_typed(original=True),
        Item("cardinality", "cardinality", "integer"),
        _DESCRIPTION,
    ),
    model.User: (Item("name", "name", least=1), _DESCRIPTION),
    model.Role: (Item("name", "name", least=1), Item("admin", "admin", least=1), _DESCRIPTION),
    model.Privilege: (
        Item("type", "type", least=1),
        Item("object", "object"),
        Item("grantor", "grantor", least=1),
        Item("grantee", "grantee", least=1),
        Item("option", "option", "choice", 0, "privOptionType"),
        _DESCRIPTION,
    ),
}
CLASSES: dict[str, type] = {kind.__name__: kind for kind in ITEMS}

FROM_10 = {("Column", "folder"): "lob_folder"}
"""What 1.0 names otherwise: a tag of a class, and the field it fills."""


def table_namespace(schema_folder: str, table_folder: str) -> str:
    """The namespace of a table's XML, as it is written."""
    return f"http://www.admin.ch/xmlns/siard/2/{schema_folder}/{table_folder}.xsd"


def table_base(schema_folder: str, table_folder: str) -> str:
    """Where a table's files stand in the archive file, without their tails."""
    return f"content/{schema_folder}/{table_folder}/{table_folder}"


def version_mark(version: str) -> str:
    """The empty folder that tells the version."""
    return f"header/siardversion/{version}/"
