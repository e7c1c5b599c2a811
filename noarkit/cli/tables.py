"""The tables of a database, as `scan` tells them to a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from noarkit.words.texts import Texts, plain

_MOST_COLUMNS = 100


def table_lines(texts: Texts, tables: Sequence[Mapping[str, object]]) -> Iterator[str]:
    """Each table with its rows, size, key and relations, and below it its columns."""
    yield texts.say("scan.database")
    for table in tables:
        yield f"  {_head(texts, table)}"
        columns = _list(table["columns"])
        yield from (f"      {_column(texts, column)}" for column in columns[:_MOST_COLUMNS])
        if len(columns) > _MOST_COLUMNS:
            yield f"      (+ {len(columns) - _MOST_COLUMNS})"


def _head(texts: Texts, table: Mapping[str, object]) -> str:
    name = str(table["name"])
    if not table["readable"]:
        return texts.say("scan.table_unreadable", table=name)
    count = int(str(table["rows"]))
    parts = [texts.say("scan.table_about" if table["about"] else "scan.table", table=name, count=count)]
    if table["bytes"] is not None:
        parts.append(texts.size(int(str(table["bytes"]))))
    if table["view"]:
        parts.append(texts.say("scan.table_view"))
    else:
        key = ", ".join(str(item) for item in table["key"]) if isinstance(table["key"], list) else ""
        parts.append(texts.say("scan.table_key", columns=key) if key else texts.say("scan.table_keyless"))
    relations = ", ".join(f"{item['name']} ({item['table']})" for item in _list(table["relations"]))
    if relations:
        parts.append(texts.say("scan.relations", relations=relations))
    columns = _list(table["columns"])
    for word, subset in (
        ("scan.documents", [item for item in columns if item["document"]]),
        ("scan.personal", [item for item in columns if item["personal"]]),
    ):
        if subset:
            parts.append(texts.say(word, columns=", ".join(str(item["name"]) for item in subset)))
    return "; ".join(parts)


def _column(texts: Texts, column: Mapping[str, object]) -> str:
    sampled, filled_count = int(str(column.get("sampled") or 0)), int(str(column.get("filled") or 0))
    share = f"{100 * filled_count / sampled:.0f} %" if sampled else ""
    note = texts.say(f"personal.{column['personal']}") if column["personal"] else ""
    line = f"{plain(column['name']):<30} {plain(column['type'] or column['kind']):<28} {share:>6}  {note}"
    return line.rstrip()


def _list(value: object) -> list[Mapping[str, object]]:
    return value if isinstance(value, list) else []
