"""The tables of a database, as `scan` tells them to a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from noarkit.words.texts import Texts, plain

_MOST_COLUMNS = 100


def table_lines(told: Texts, tables: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """Each table with its rows, size, key and relations, and below it its columns."""
    yield told.say("scan.database")
    for table in tables:
        yield f"  {_head(told, table)}"
        columns = _list(table["columns"])
        yield from (f"      {_column(told, one)}" for one in columns[:_MOST_COLUMNS])
        if len(columns) > _MOST_COLUMNS:
            yield f"      (+ {len(columns) - _MOST_COLUMNS})"


def _head(told: Texts, table: Mapping[str, object]) -> str:
    name = str(table["name"])
    if not table["readable"]:
        return told.say("scan.table_unreadable", table=name)
    count = int(str(table["rows"]))
    parts = [told.say("scan.table_about" if table["about"] else "scan.table", table=name, count=count)]
    if table["bytes"] is not None:
        parts.append(told.size(int(str(table["bytes"]))))
    if table["view"]:
        parts.append(told.say("scan.table_view"))
    else:
        key = ", ".join(str(one) for one in table["key"]) if isinstance(table["key"], list) else ""
        parts.append(told.say("scan.table_key", columns=key) if key else told.say("scan.table_keyless"))
    relations = ", ".join(f"{one['name']} ({one['table']})" for one in _list(table["relations"]))
    if relations:
        parts.append(told.say("scan.relations", relations=relations))
    columns = _list(table["columns"])
    for word, chosen in (
        ("scan.documents", [one for one in columns if one["document"]]),
        ("scan.personal", [one for one in columns if one["personal"]]),
    ):
        if chosen:
            parts.append(told.say(word, columns=", ".join(str(one["name"]) for one in chosen)))
    return "; ".join(parts)


def _column(told: Texts, column: Mapping[str, object]) -> str:
    sampled, filled = int(str(column.get("sampled") or 0)), int(str(column.get("filled") or 0))
    share = f"{100 * filled / sampled:.0f} %" if sampled else ""
    note = told.say(f"personal.{column['personal']}") if column["personal"] else ""
    shown = f"{plain(column['name']):<30} {plain(column['type'] or column['kind']):<28} {share:>6}  {note}"
    return shown.rstrip()


def _list(value: object) -> list[Mapping[str, object]]:
    return value if isinstance(value, list) else []
