"""`noarkit scan`: how much a source holds, which formats and years, and what will be trouble."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import click

from noarkit.api.scanning import scan
from noarkit.cli.form_choices import SOURCE_KINDS
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings, working
from noarkit.cli.tables import table_lines
from noarkit.sources.scan import FILES, ScanResult
from noarkit.words.texts import Texts, explain, grouped

_MOST_LINES = 12


@command("scan", exits=(3, 5, 6, 8, 130, 143))
@click.argument("source", metavar="SOURCE")
@option("--source-kind", type=SOURCE_KINDS)
@option("--despite-damage", is_flag=True)
@option("--encoding", metavar="NAME")
def scan_command(
    session: Session, source: str, *, source_kind: str | None, despite_damage: bool, encoding: str | None
) -> int:
    """Counts what a source holds; changes nothing."""
    with working(session) as work:
        report = scan(
            source,
            source_kind=source_kind,
            despite_damage=despite_damage,
            encoding=encoding,
            settings=settings(session, None),
            listener=work.emit,
        )
    session.console.result("scan", "\n".join(_lines(session.texts, report, source)), **report.to_dict())
    session.console.count(read=report.read, bytes=report.bytes, set_aside=sum(report.set_aside.values()))
    session.console.notify("scan.next", source=source)
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
    yield from _table(texts, texts.say("scan.skipped"), report.skipped, {})
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
        yield f"  {name or '–':<48} {grouped(count):>10} {share:>6}  {size}".rstrip()
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
