"""What a server's catalogue tells beside tables: routines, types, triggers and conditions, in the server's own words.

They are kept as they stand, for whoever wants to understand the database later; nothing in them is ever run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from noarkit.forms.siard.model import Attribute, Check, Column, Parameter, Routine, Trigger, UserType
from noarkit.forms.siard.source.types import ColumnContents, siard_column
from noarkit.sources.database.address import MYSQL, POSTGRESQL, SQLITE
from noarkit.sources.database.catalogue import DOMAINS, statements
from noarkit.sources.database.columns import column_of
from noarkit.sources.database.schema import TableName
from noarkit.sources.database.session import Row, Session
from noarkit.sources.database.sqlite_statement import Statement

_TIMES = ("BEFORE", "AFTER", "INSTEAD OF")
_ROUTINES = (
    "SELECT specific_name, routine_name, routine_definition, external_language, dtd_identifier, routine_type,"
    " routine_comment FROM information_schema.routines WHERE routine_schema = %s ORDER BY specific_name, routine_type"
)
_ROUTINES_OF_POSTGRESQL = (
    "SELECT p.proname || '_' || p.oid, p.proname, CASE WHEN p.prokind <> 'a' THEN pg_catalog.pg_get_functiondef(p.oid)"
    " END, UPPER(l.lanname), CASE WHEN p.prokind <> 'p' THEN pg_catalog.pg_get_function_result(p.oid) END,"
    " CASE p.prokind WHEN 'p' THEN 'PROCEDURE' WHEN 'a' THEN 'AGGREGATE' ELSE 'FUNCTION' END,"
    " pg_catalog.obj_description(p.oid, 'pg_proc') FROM pg_catalog.pg_proc p"
    " JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace JOIN pg_catalog.pg_language l ON l.oid = p.prolang"
    " WHERE n.nspname = %s ORDER BY p.proname, p.oid"
)
_PARAMETERS = (
    "SELECT specific_name, routine_type, ordinal_position, parameter_name, parameter_mode, dtd_identifier"
    " FROM information_schema.parameters WHERE specific_schema = %s AND ordinal_position > 0 ORDER BY 1, 2, 3"
)
_PARAMETERS_OF_POSTGRESQL = (
    "SELECT p.proname || '_' || p.oid, CASE p.prokind WHEN 'p' THEN 'PROCEDURE' WHEN 'a' THEN 'AGGREGATE'"
    " ELSE 'FUNCTION' END, a.number, p.proargnames[a.number], CASE p.proargmodes[a.number]"
    " WHEN 'o' THEN 'OUT' WHEN 't' THEN 'OUT' WHEN 'b' THEN 'INOUT' ELSE 'IN' END,"
    " pg_catalog.format_type(a.type, NULL) FROM pg_catalog.pg_proc p"
    " JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace, LATERAL"
    " unnest(COALESCE(p.proallargtypes, p.proargtypes::oid[])) WITH ORDINALITY AS a (type, number)"
    " WHERE n.nspname = %s ORDER BY 1, 2, 3"
)
_TYPES = (
    f"{DOMAINS} SELECT t.typname, t.typtype::text, pg_catalog.format_type(b.type, b.typmod),"  # noqa: S608  # ours
    " CASE WHEN b.type <> t.typbasetype THEN pg_catalog.format_type(t.typbasetype, t.typtypmod) END,"
    " (SELECT string_agg(pg_catalog.quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder)"
    " FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid),"
    " (SELECT max(length(e.enumlabel)) FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid),"
    " (SELECT string_agg(pg_catalog.pg_get_constraintdef(k.oid), ' ' ORDER BY k.conname)"
    " FROM pg_catalog.pg_constraint k WHERE k.contypid = t.oid AND k.contype = 'c'), t.typdefault, t.typnotnull,"
    " pg_catalog.obj_description(t.oid, 'pg_type') FROM pg_catalog.pg_type t"
    " JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace LEFT JOIN base b ON b.domain = t.oid"
    " LEFT JOIN pg_catalog.pg_class c ON c.oid = t.typrelid"
    " WHERE n.nspname = %s AND (t.typtype IN ('d', 'e') OR c.relkind = 'c') ORDER BY t.typname"
)
_ATTRIBUTES = (
    "SELECT c.relname, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod),"
    " pg_catalog.col_description(c.oid, a.attnum) FROM pg_catalog.pg_attribute a"
    " JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = %s AND c.relkind = 'c' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1, a.attnum"
)
_TRIGGERS = (
    "SELECT event_object_table, trigger_name, action_timing, event_manipulation, action_statement"
    " FROM information_schema.triggers WHERE trigger_schema = %s ORDER BY 1, 2, 4"
)


def routines(session: Session, schema: str) -> tuple[Routine, ...]:
    """The functions and procedures of a schema, with their parameters; their source where the account may see it."""
    if session.family not in (POSTGRESQL, MYSQL):
        return ()
    own = session.family == POSTGRESQL
    rows = session.rows(_PARAMETERS_OF_POSTGRESQL if own else _PARAMETERS, (schema,))
    parameters = {
        (str(name), str(kind)): tuple(_parameter(session, row) for row in group)
        for (name, kind), group in groupby(rows, key=itemgetter(0, 1))
    }
    return tuple(
        _routine(row, parameters) for row in session.rows(_ROUTINES_OF_POSTGRESQL if own else _ROUTINES, (schema,))
    )


def user_types(session: Session, schema: str) -> tuple[UserType, ...]:
    """The types that a schema defines: domains and enumerations with their base, and structures with their parts.

    What they demand of a value (labels, conditions, default) stands in their description, in SQL.
    """
    if session.family != POSTGRESQL:
        return ()
    parts = {
        str(name): tuple(_attribute(session, row) for row in group)
        for name, group in groupby(session.rows(_ATTRIBUTES, (schema,)), key=itemgetter(0))
    }
    return tuple(_user_type(session, row, parts) for row in session.rows(_TYPES, (schema,)))


def triggers(session: Session, schema: str) -> Mapping[str, tuple[Trigger, ...]]:
    """What is done when rows change, by table; a trigger for several events is told once."""
    by_table: dict[str, dict[str, Trigger]] = {}
    for table, name, timing, event, action in _trigger_rows(session, schema):
        of_table = by_table.setdefault(table, {})
        before = of_table.get(name)
        events = event if before is None else f"{before.event} OR {event}"
        of_table[name] = Trigger(name, timing if timing in _TIMES else "AFTER", events, action=action)
    return {table: tuple(by_name.values()) for table, by_name in by_table.items()}


def checks(session: Session, table: TableName) -> tuple[Check, ...]:
    """The conditions that the rows of a table meet."""
    if session.family == SQLITE:
        own = statements(session, table.name).get(table.name, Statement()).checks
        return tuple(Check(name or f"check_{number}", words) for number, (name, words) in enumerate(own, start=1))
    with session.faults():
        try:
            constraints = session.inspector.get_check_constraints(table.name, schema=table.schema)
        except NotImplementedError:
            return ()
    return tuple(
        Check(str(constraint.get("name") or f"check_{number}"), str(constraint.get("sqltext") or ""))
        for number, constraint in enumerate(constraints, start=1)
    )


def _routine(row: Row, parameters: Mapping[tuple[str, str], tuple[Parameter, ...]]) -> Routine:
    specific, name, source, language, returns, kind, comment = ("" if value is None else str(value) for value in row)
    return Routine(
        specific or name,
        name,
        description=comment,
        source=source,
        characteristic=" ".join(value for value in (kind, f"LANGUAGE {language}" if language else "") if value),
        return_type=returns if kind != "PROCEDURE" else "",
        parameters=parameters.get((specific, kind), ()),
    )


def _parameter(session: Session, row: Row) -> Parameter:
    number, name, mode, words = row[2:]
    column = _typed_column(session, str(name or f"${number}"), str(words))
    return Parameter(column.name, str(mode), column.type, type_original=column.type_original)


def _attribute(session: Session, row: Row) -> Attribute:
    name, words, comment = (str(value or "") for value in row[1:])
    column = _typed_column(session, name, words)
    return Attribute(name, column.type, type_original=column.type_original, description=comment)


def _typed_column(session: Session, name: str, words: str) -> Column:
    """A value by its type; an array is a text here, for nobody knows how many elements it has at most."""
    return siard_column(session.family, column_of(session, name, words), ColumnContents(odd=words.endswith("[]")))


def _user_type(session: Session, row: Row, parts: Mapping[str, tuple[Attribute, ...]]) -> UserType:
    name, kind, base, over, labels, longest, conditions, default, not_null, comment = row
    if kind == "c":
        return UserType(str(name), "udt", attributes=parts.get(str(name), ()), description=str(comment or ""))
    if kind == "e":
        words, demands = f"character varying({longest or 1})", [f"ENUM ({labels or ''})"]
    else:
        words = str(base)
        clauses = (
            f"AS {over}" if over else "",
            f"DEFAULT {default}" if default is not None else "",
            "NOT NULL" if not_null else "",
            conditions,
        )
        demands = [str(clause) for clause in clauses if clause]
    column = _typed_column(session, str(name), words)
    description = "\n".join([*([str(comment)] if comment else []), *demands])
    return UserType(str(name), "distinct", base=column.type, description=description)


def _trigger_rows(session: Session, schema: str) -> Iterator[Sequence[str]]:
    if session.family in (POSTGRESQL, MYSQL):
        for row in session.rows(_TRIGGERS, (schema,)):
            yield [str(text or "") for text in row]
    elif session.family == SQLITE:
        statement = "SELECT tbl_name, name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name"
        for table, name, sql in session.rows(statement):
            words = " ".join(str(sql).upper().split())
            timing = next((text for text in _TIMES if f" {text} " in words), "BEFORE")
            event = next((text for text in ("INSERT", "DELETE", "UPDATE") if f" {text} " in words), "UPDATE")
            yield [str(table), str(name), timing, event, str(sql)]
