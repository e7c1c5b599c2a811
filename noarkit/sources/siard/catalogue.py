"""What a server's catalogue tells beside tables: routines, triggers and conditions, in the server's own words.

They are kept as they stand, for whoever wants to understand the database later; nothing in them is ever run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from noarkit.packages.siard.model import Check, Routine, Trigger
from noarkit.sources.database.address import MYSQL, POSTGRESQL, SQLITE
from noarkit.sources.database.schema import TableName
from noarkit.sources.database.session import Row, Session

_TIMES = ("BEFORE", "AFTER", "INSTEAD OF")
_ROUTINES = (
    "SELECT specific_name, routine_name, routine_definition, external_language, data_type, routine_type"
    " FROM information_schema.routines WHERE routine_schema = %s ORDER BY specific_name"
)
_TRIGGERS = (
    "SELECT event_object_table, trigger_name, action_timing, event_manipulation, action_statement"
    " FROM information_schema.triggers WHERE trigger_schema = %s ORDER BY 1, 2, 4"
)


def routines(session: Session, schema: str) -> tuple[Routine, ...]:
    """The functions and procedures of a schema, with their source where the account may see it."""
    if session.family not in (POSTGRESQL, MYSQL):
        return ()
    return tuple(_routine(row) for row in session.rows(_ROUTINES, (schema,)))


def triggers(session: Session, schema: str) -> Mapping[str, tuple[Trigger, ...]]:
    """What is done when rows change, by table; a trigger for several events is told once."""
    found: dict[str, dict[str, Trigger]] = {}
    for table, name, timing, event, action in _trigger_rows(session, schema):
        of_table = found.setdefault(table, {})
        before = of_table.get(name)
        events = event if before is None else f"{before.event} OR {event}"
        of_table[name] = Trigger(name, timing if timing in _TIMES else "AFTER", events, action=action)
    return {table: tuple(some.values()) for table, some in found.items()}


def checks(session: Session, table: TableName) -> tuple[Check, ...]:
    """The conditions that the rows of a table meet."""
    with session.faults():
        try:
            told = session.inspector.get_check_constraints(table.name, schema=table.schema)
        except NotImplementedError:
            return ()
    return tuple(
        Check(str(one.get("name") or f"check_{number}"), str(one.get("sqltext") or ""))
        for number, one in enumerate(told, start=1)
    )


def _routine(row: Row) -> Routine:
    specific, name, source, language, returns, kind = (None if one is None else str(one) for one in row)
    return Routine(
        specific or name or "",
        name or "",
        source=source or "",
        characteristic=" ".join(one for one in (kind, f"LANGUAGE {language}" if language else None) if one),
        return_type=returns if returns and kind != "PROCEDURE" else "",
    )


def _trigger_rows(session: Session, schema: str) -> Iterator[Sequence[str]]:
    if session.family in (POSTGRESQL, MYSQL):
        for row in session.rows(_TRIGGERS, (schema,)):
            yield [str(one or "") for one in row]
    elif session.family == SQLITE:
        statement = "SELECT tbl_name, name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name"
        for table, name, sql in session.rows(statement):
            words = " ".join(str(sql).upper().split())
            timing = next((one for one in _TIMES if f" {one} " in words), "BEFORE")
            event = next((one for one in ("INSERT", "DELETE", "UPDATE") if f" {one} " in words), "UPDATE")
            yield [str(table), str(name), timing, event, str(sql)]
