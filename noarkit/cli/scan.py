"""`noarkit scan`: how much a source holds, which formats and years, and what will be trouble."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import click

from noarkit import ingestion
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings, working
from noarkit.cli.tables import table_lines
from noarkit.sources.opening import PLACES
from noarkit.sources.scan import FILES, ScanReport
from noarkit.words.texts import Texts, explain, grouped

_MOST_LINES = 12


@command("scan", exits=(3, 5, 6, 8, 130, 143))
@click.argument("source", metavar="SOURCE")
@option("--source-kind", type=click.Choice(tuple(PLACES)))
@option("--despite-damage", is_flag=True)
@option("--encoding", metavar="NAME")
def scan_command(
    session: Session, source: str, *, source_kind: str | None, despite_damage: bool, encoding: str | None
) -> int:
    """Counts what a source holds; changes nothing."""
    with working(session) as work:
        report = ingestion.scan(
            source,
            source_kind=source_kind,
            despite_damage=despite_damage,
            encoding=encoding,
            settings=settings(session, None),
            tell=work.tell,
        )
    session.face.result("scan", "\n".join(_lines(session.texts, report, source)), **report.as_json())
    session.face.count(read=report.read, bytes=report.bytes, set_aside=sum(report.set_aside.values()))
    session.face.tell("scan.next", source=source)
    return 3 if report.set_aside else 0


def _lines(told: Texts, report: ScanReport, source: str) -> Iterator[str]:
    yield told.say("scan.total", count=report.records, size=told.size(report.bytes), where=report.where)
    if report.records:
        yield told.say("scan.largest", size=told.size(report.largest_bytes))
    yield from _table(told, told.say("scan.formats"), report.format_names, report.name_bytes)
    if report.source_kind == FILES:
        yield told.say("scan.pronom")
    yield from _table(told, told.say("scan.years"), report.years, {})
    yield from _copies(told, report)
    yield from _trouble(told.say("scan.set_aside"), report.set_aside, told)
    yield from _trouble(told.say("scan.noted"), report.noted, told)
    yield from _table(told, told.say("scan.skipped"), report.skipped, {})
    tables = report.profile.get("tables")
    if isinstance(tables, list):
        yield from table_lines(told, tables)


def _table(told: Texts, title: str, counts: Mapping[str, int], sizes: Mapping[str, int]) -> Iterator[str]:
    if not counts:
        return
    yield title
    total = sum(counts.values())
    # the most common ones where not all are shown, in the order of the report
    shown = set(sorted(counts, key=lambda name: (-counts[name], name))[:_MOST_LINES])
    for name, count in counts.items():
        if name not in shown:
            continue
        share = f"{100 * count / total:.0f} %"
        held = told.size(sizes[name]) if name in sizes else ""
        yield f"  {name or '–':<48} {grouped(count):>10} {share:>6}  {held}".rstrip()
    rest = [count for name, count in counts.items() if name not in shown]
    if rest:
        yield f"  (+ {len(rest)}) {'':<42} {grouped(sum(rest)):>10}"


def _copies(told: Texts, report: ScanReport) -> Iterator[str]:
    copied = report.copied
    if copied is not None and copied.files:
        yield told.say("scan.copies", files=copied.files, contents=copied.contents, size=told.size(copied.bytes))
    if copied is not None and copied.not_compared:
        yield told.say("scan.not_compared", count=copied.not_compared)


def _trouble(title: str, counts: Mapping[str, int], told: Texts) -> Iterator[str]:
    if counts:
        yield title
    for code, count in counts.items():
        yield f"  {code}  {grouped(count):>8}  {meaning(told, code)}"


def meaning(told: Texts, code: str) -> str:
    """What a code of a fault or a warning means, in one sentence."""
    if told.has("codes", code):
        return told.text("codes", code)
    return (explain(code, told.lang) or [""])[0]
