"""What a server's own catalogue says of columns, keys and tables, asked once for a whole schema.

The library reads most of a database by itself; this is what it leaves out, or reads from a statement: types in the
server's own words, what a domain stands for, how a foreign key acts, and which tables hold rows of others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from noarkit.sources.database.address import MYSQL, POSTGRESQL, SQLITE
from noarkit.sources.database.session import Session
from noarkit.sources.database.sqlite_statement import Statement, read_statement


@dataclass(frozen=True, slots=True)
class DeclaredColumn:
    """A column in the server's own words: its type (of a domain, what that stands for), the domain, and how the server
    makes the value by itself, where it does."""

    words: str
    domain: str = ""
    generation: str = ""


@dataclass(frozen=True, slots=True)
class ForeignKeyActions:
    """What a foreign key does when the row it refers to goes or changes. `definition` is all of it, where the server
    tells more than these."""

    match: str = ""
    on_delete: str = ""
    on_update: str = ""
    definition: str = ""


def declared_columns(session: Session, schema: str | None) -> dict[tuple[str, str], DeclaredColumn]:
    """The columns of a schema, by table and name, where the server can be asked at once."""
    if session.family == POSTGRESQL:
        rows = session.rows(_POSTGRESQL_COLUMNS, (schema,))
        return {(str(row[0]), str(row[1])): DeclaredColumn(str(row[2]), str(row[3] or "")) for row in rows}
    if session.family == MYSQL:
        return _columns_of_mysql(session)
    if session.family == SQLITE:
        return _columns_of_sqlite(session)
    return {}


DOMAINS = (
    "WITH RECURSIVE step (domain, type, typmod) AS ("
    " SELECT oid, typbasetype, typtypmod FROM pg_catalog.pg_type WHERE typtype = 'd' UNION ALL"
    " SELECT s.domain, t.typbasetype, t.typtypmod FROM step s JOIN pg_catalog.pg_type t ON t.oid = s.type"
    " WHERE t.typtype = 'd'), base AS (SELECT s.domain, s.type, s.typmod FROM step s"
    " JOIN pg_catalog.pg_type b ON b.oid = s.type AND b.typtype <> 'd')"
)
"""The head of a question to PostgreSQL: `base` tells what each domain stands for in the end."""
_POSTGRESQL_COLUMNS = (
    f"{DOMAINS} SELECT c.relname, a.attname,"  # noqa: S608  # ours
    " pg_catalog.format_type(COALESCE(b.type, a.atttypid), COALESCE(b.typmod, a.atttypmod)),"
    " CASE WHEN b.type IS NOT NULL THEN pg_catalog.format_type(a.atttypid, a.atttypmod) END"
    " FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid"
    " JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN base b ON b.domain = a.atttypid"
    " WHERE n.nspname = %s AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r','p','v','m','f')"
)


def _columns_of_mysql(session: Session) -> dict[tuple[str, str], DeclaredColumn]:
    selected_columns = "table_name, column_name, column_type, extra"
    statement = f"SELECT {selected_columns}, %s FROM information_schema.columns WHERE table_schema = DATABASE()"  # noqa: S608  # ours
    generated = session.first_row(
        "SELECT 1 FROM information_schema.columns WHERE table_schema = 'information_schema'"
        " AND column_name = 'GENERATION_EXPRESSION'"
    )
    rows = session.rows(statement % ("generation_expression" if generated else "NULL"))
    columns = {
        (str(table), str(column)): DeclaredColumn(
            str(words), generation=_generation(str(extra or ""), str(formula or ""))
        )
        for table, column, words, extra, formula in rows
    }
    for table, column in _json_of_mariadb(session):
        columns[str(table), str(column)] = DeclaredColumn("json")
    return columns


def _columns_of_sqlite(session: Session) -> dict[tuple[str, str], DeclaredColumn]:
    rows = session.rows(
        "SELECT m.name, p.name, p.type FROM sqlite_schema m JOIN pragma_table_xinfo(m.name) p"
        " WHERE m.type IN ('table', 'view')"
    )
    generations = {name: statement.generation for name, statement in statements(session).items()}
    return {
        (str(table), str(column)): DeclaredColumn(
            str(words), "", generations.get(str(table), {}).get(str(column).lower(), "")
        )
        for table, column, words in rows
    }


def statements(session: Session, only: str | None = None) -> dict[str, Statement]:
    """What the statements say that made the tables of SQLite, or `only` one; none elsewhere."""
    if session.family != SQLITE:
        return {}
    query = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
    rows = session.rows(f"{query} AND (? IS NULL OR name = ?)", (only, only))
    return {str(name): read_statement(str(sql)) for name, sql in rows}


def _generation(extra: str, formula: str) -> str:
    """How MySQL makes the values of a column, as its own statement has it."""
    words = extra.upper()
    if "AUTO_INCREMENT" in words:
        return "AUTO_INCREMENT"
    if not formula:
        return ""
    if formula.upper() in ("ROW START", "ROW END"):
        return f"GENERATED ALWAYS AS {formula.upper()}"
    return f"GENERATED ALWAYS AS ({formula}) {'VIRTUAL' if 'VIRTUAL' in words else 'STORED'}"


def _json_of_mariadb(session: Session) -> list[Sequence[object]]:
    """There JSON is a long text that is checked."""
    if not getattr(session.dialect, "is_mariadb", False):
        return []
    return session.rows(
        "SELECT table_name, constraint_name FROM information_schema.check_constraints"
        " WHERE constraint_schema = DATABASE() AND check_clause = CONCAT('json_valid(`', constraint_name, '`)')"
    )


def foreign_key_actions(session: Session, schema: str | None) -> Mapping[tuple[str, object], ForeignKeyActions]:
    """How the foreign keys of a schema act: by table and the key's name; in SQLite, where few have one, by its columns.
    Empty for servers that only the library knows."""
    if session.family == POSTGRESQL:
        rows = session.rows(
            "SELECT c.relname, k.conname, k.confmatchtype::text, k.confdeltype::text, k.confupdtype::text,"
            " pg_catalog.pg_get_constraintdef(k.oid) FROM pg_catalog.pg_constraint k"
            " JOIN pg_catalog.pg_class c ON c.oid = k.conrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
            " WHERE k.contype = 'f' AND n.nspname = %s",
            (schema,),
        )
        return {(str(table), str(name)): _postgresql_actions(*map(str, actions)) for table, name, *actions in rows}
    if session.family == MYSQL:
        rows = session.rows(
            "SELECT table_name, constraint_name, delete_rule, update_rule"
            " FROM information_schema.referential_constraints WHERE constraint_schema = DATABASE()"
        )
        return {(str(row[0]), str(row[1])): ForeignKeyActions("", str(row[2]), str(row[3])) for row in rows}
    return _sqlite_actions(session) if session.family == SQLITE else {}


def _postgresql_actions(match: str, on_delete: str, on_update: str, definition: str) -> ForeignKeyActions:
    beyond = any(word in definition for word in ("DEFERRABLE", "NOT VALID", "SET NULL (", "SET DEFAULT ("))
    full_definition = definition if beyond else ""
    return ForeignKeyActions(
        _MATCHES.get(match, ""), _ACTIONS.get(on_delete, ""), _ACTIONS.get(on_update, ""), full_definition
    )


_MATCHES = {"f": "FULL", "p": "PARTIAL", "s": "SIMPLE"}
_ACTIONS = {"a": "NO ACTION", "r": "RESTRICT", "c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"}


def _sqlite_actions(session: Session) -> Mapping[tuple[str, object], ForeignKeyActions]:
    rows = session.rows(
        'SELECT m.name, f.id, f."table", f."from", f.on_delete, f.on_update FROM sqlite_schema m'
        " JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table' ORDER BY m.name, f.id, f.seq"
    )
    columns: dict[tuple[str, object], tuple[str, ...]] = {}
    key_actions: dict[tuple[str, object], ForeignKeyActions] = {}
    for table, number, _, column, *actions in rows:
        columns[str(table), number] = (*columns.get((str(table), number), ()), str(column))
        key_actions[str(table), number] = ForeignKeyActions("", str(actions[0]), str(actions[1]))
    referred = {(str(row[0]), row[1]): str(row[2]) for row in rows}
    return {(key[0], (referred[key], columns[key])): action for key, action in key_actions.items()}


@dataclass(frozen=True, slots=True)
class TableInheritance:
    """How a table of PostgreSQL belongs to another: it is a part of it, or inherits its columns. `bounds` tells which
    rows of a partitioned table it holds."""

    schema: str
    name: str
    parent_schema: str
    parent: str
    is_partition: bool
    bounds: str = ""


def list_inheritance(session: Session) -> list[TableInheritance]:
    """Every table of PostgreSQL that is a partition, or inherits; none elsewhere."""
    if session.family != POSTGRESQL:
        return []
    partitions = session.first_row("SELECT 1 FROM pg_catalog.pg_class WHERE relkind = 'p' LIMIT 1")
    bounds = "pg_catalog.pg_get_expr(c.relpartbound, c.oid)" if partitions else "NULL"
    rows = session.rows(
        f"SELECT n.nspname, c.relname, m.nspname, p.relname, p.relkind = 'p', {bounds}"  # noqa: S608  # ours
        " FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid"
        " JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
        " JOIN pg_catalog.pg_class p ON p.oid = i.inhparent JOIN pg_catalog.pg_namespace m ON m.oid = p.relnamespace"
        " WHERE c.relkind IN ('r','p','f') AND p.relkind IN ('r','p','f') ORDER BY 1, 2, i.inhseqno"
    )
    return [
        TableInheritance(str(schema), str(name), str(above), str(parent), bool(is_partition), str(row_bounds or ""))
        for schema, name, above, parent, is_partition, row_bounds in rows
    ]


def versioned_tables(session: Session) -> list[str]:
    """The tables of MariaDB that keep what their rows were before; none elsewhere."""
    if session.family != MYSQL:
        return []
    rows = session.rows(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()"
        " AND table_type = 'SYSTEM VERSIONED' ORDER BY table_name"
    )
    return [str(name) for (name,) in rows]
