"""`noarkit scan`: how much a source holds, which formats and years, and what will be trouble."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import click

from noarkit.api.scanning import scan_with
from noarkit.cli.next_command import next_command
from noarkit.cli.option_values import options_of
from noarkit.cli.options import Session, command
from noarkit.cli.running import settings, working
from noarkit.loading.next_step import propose_run
from noarkit.loading.options import SourceOptions
from noarkit.model.format_names import usual_name
from noarkit.sources.scan import FILES, ScanResult
from noarkit.words.texts import Texts, explain, grouped, plain

_MOST_LINES = 12


@command("scan", exits=(3, 5, 6, 8, 130, 143))
@click.argument("source", metavar="SOURCE")
@options_of(options=SourceOptions)
def scan_command(session: Session, source: str, *, options: SourceOptions) -> int:
    """Counts what a source holds; changes nothing."""
    with working(session) as work:
        report = scan_with(source, options, settings(session, None), work.emit)
    session.console.show(report, "\n".join(_lines(session.texts, report, source)))
    session.console.count(read=report.read, bytes=report.bytes, set_aside=sum(report.set_aside.values()))
    session.console.notify("scan.next", command=next_command("plan", source, "-o", propose_run(source)))
    return 3 if report.set_aside else 0


def _lines(texts: Texts, report: ScanResult, source: str) -> Iterator[str]:
    yield texts.say("scan.total", count=report.records, size=texts.size(report.bytes), where=report.where)
    if report.records:
        yield texts.say("scan.largest", size=texts.size(report.largest_bytes))
    yield from _table(texts, texts.say("scan.formats"), report.format_names, report.name_bytes)
    if report.source_kind == FILES:
        yield texts.say("scan.pronom")
    yield from _table(texts, texts.say("scan.years"), report.years, {})
    yield from _copies(texts, report)
    yield from _fault_lines(texts.say("scan.set_aside"), report.set_aside, texts)
    yield from _fault_lines(texts.say("scan.noted"), report.notes, texts)
    skipped = {texts.reason(reason): count for reason, count in report.skipped.items()}
    yield from _table(texts, texts.say("scan.skipped"), skipped, {})
    tables = report.profile.get("tables")
    if isinstance(tables, list):
        yield from table_lines(texts, tables)


def _table(texts: Texts, title: str, counts: Mapping[str, int], sizes: Mapping[str, int]) -> Iterator[str]:
    if not counts:
        return
    yield title
    total = sum(counts.values())
    # the most common ones where not all are shown, in the order of the report
    common_names = set(sorted(counts, key=lambda name: (-counts[name], name))[:_MOST_LINES])
    for name, count in counts.items():
        if name not in common_names:
            continue
        share = f"{100 * count / total:.0f} %"
        size = texts.size(sizes[name]) if name in sizes else ""
        yield f"  {usual_name(texts, name or '–'):<48} {grouped(count):>10} {share:>6}  {size}".rstrip()
    remaining = [count for name, count in counts.items() if name not in common_names]
    if remaining:
        yield f"  (+ {len(remaining)}) {'':<42} {grouped(sum(remaining)):>10}"


def _copies(texts: Texts, report: ScanResult) -> Iterator[str]:
    copied = report.copied
    if copied is not None and copied.files:
        yield texts.say("scan.copies", files=copied.files, contents=copied.contents, size=texts.size(copied.bytes))
    if copied is not None and copied.not_compared:
        yield texts.say("scan.not_compared", count=copied.not_compared)


def _fault_lines(title: str, counts: Mapping[str, int], texts: Texts) -> Iterator[str]:
    if counts:
        yield title
    for code, count in counts.items():
        yield f"  {code}  {grouped(count):>8}  {meaning(texts, code)}"


def meaning(texts: Texts, code: str) -> str:
    """What a code of a fault or a warning means, in one sentence."""
    if texts.has("codes", code):
        return texts.text("codes", code)
    return (explain(code, texts.lang) or [""])[0]


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
