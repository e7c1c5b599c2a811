"""`noarkit derive`: makes archival copies of the documents of a source; the same again goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from noarkit.api import deriving
from noarkit.cli.form_choices import SOURCE_KINDS
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings, working
from noarkit.copies.numbers import STATES, FormatRow
from noarkit.copies.store import CopyStore
from noarkit.errors import ItemUnreadable, UsageFault, gravest
from noarkit.loading.coordinator import stop_fault
from noarkit.reports.copies_page import REPORT_FORMATS, write_copies_report
from noarkit.words.texts import Texts, grouped

_CHANGED = 7
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)


@command("derive", exits=(3, 4, 5, 6, 7, 8, 9, 10, 130, 143))
@click.argument("source", metavar="SOURCE", required=False)
@option("-o", "--output", type=_FOLDER, required=True, metavar="COPIES")
@option("--policy", metavar="FILE")
@option("--recipe", type=_FILE, metavar="FILE")
@option("--workers", type=click.IntRange(1, 1000), metavar="N")
@option("--only", multiple=True, metavar="PUID")
@option("--retry", multiple=True, metavar="REASON")
@option("--dry-run", is_flag=True)
@option("--accept", multiple=True, metavar="WHAT")
@option("--by", metavar="NAME")
@option("--check", is_flag=True)
@option("--report", "report", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE")
@option("--titles", is_flag=True)
@option("--source-kind", type=SOURCE_KINDS)
@option("--despite-damage", is_flag=True)
@option("--encoding", metavar="NAME")
def derive_command(
    session: Session,
    *,
    source: str | None,
    output: Path,
    policy: str | None,
    recipe: Path | None,
    workers: int | None,
    only: tuple[str, ...],
    retry: tuple[str, ...],
    dry_run: bool,
    accept: tuple[str, ...],
    by: str | None,
    check: bool,
    report: Path | None,
    titles: bool,
    source_kind: str | None,
    despite_damage: bool,
    encoding: str | None,
) -> int:
    """Makes copies, or accepts or checks those that are there."""
    if accept:
        _accept(session, output, accept, by)
    if check:
        return _check(session, output)
    if source is None:
        if report is not None:
            _report(session, output, report, titles=titles)
        if accept or report is not None:
            return 0
        raise UsageFault(what="source-wanted", do=f"noarkit derive SOURCE -o {output}")
    with working(session, drains=True) as work:
        result = deriving.derive(
            source,
            output,
            policy=policy,
            recipe=recipe,
            workers=workers,
            only=only,
            retry=retry,
            dry_run=dry_run,
            source_kind=source_kind,
            despite_damage=despite_damage,
            encoding=encoding,
            settings=settings(session, None),
            stop_request=work.stopping,
            listener=work.emit,
        )
    session.console.result("derived", "\n".join(_lines(session.texts, result)), **result.to_dict())
    session.console.count(read=result.read, bytes=result.bytes, set_aside=result.set_aside, skipped=result.skipped)
    if report is not None and not dry_run:
        _report(session, output, report, titles=titles)
    if result.held and not result.stopped_by:
        session.console.notify("derive.held", count=result.held, path=output)
    return exit_code_of(result)


def exit_code_of(result: deriving.DeriveResult) -> int:
    """3 where a document has no copy, and the code of the signal where one stopped the work."""
    items_code = ItemUnreadable.exit_code if result.held + result.failed + result.set_aside else 0
    return gravest(items_code, stop_fault(result.stopped_by).exit_code if result.stopped_by else 0)


def _accept(session: Session, copies: Path, what: Sequence[str], by: str | None) -> None:
    count = deriving.accept_copies(copies, what, by=by or "", settings=settings(session, None))
    session.console.result(
        "accepted", session.texts.say("derive.accepted", count=count, by=by), copies=str(copies), accepted=count, by=by
    )


def _report(session: Session, copies: Path, path: Path, *, titles: bool) -> None:
    kind = next((kind for kind in REPORT_FORMATS if path.suffix == f".{kind}"), None)
    if kind is None:
        raise UsageFault(what="bad-value", where="--report", do="--report FILE.html|FILE.json|FILE.csv")
    with CopyStore.open(copies) as store:
        write_copies_report(store, path, kind, session.texts.lang, titles=titles)
    session.console.result("report", session.texts.say("derive.report", path=path), path=str(path))


def _check(session: Session, copies: Path) -> int:
    result, texts = deriving.check_copies(copies), session.texts
    size = texts.size(result.bytes)
    lines = [texts.say("derive.checked", count=result.objects, size=size)]
    lines += [texts.say("derive.missing", sha256=sha256) for sha256 in result.missing]
    lines += [texts.say("derive.changed", sha256=sha256) for sha256 in result.changed]
    if result.unknown:
        lines.append(texts.say("derive.unknown", count=result.unknown))
    session.console.result("copies_checked", "\n".join(lines), **result.to_dict())
    return 0 if result.good else _CHANGED


def _lines(texts: Texts, result: deriving.DeriveResult) -> Iterator[str]:
    yield texts.say("derive.would" if result.dry_run else "derive.done", count=result.read, path=result.copies)
    for state in STATES:
        count = getattr(result, state)
        if count:
            yield f"  {texts.say(f'derive.state.{state}'):<44} {grouped(count):>10}"
    if result.set_aside:
        yield f"  {texts.say('derive.set_aside'):<44} {grouped(result.set_aside):>10}"
    if result.formats:
        yield ""
        yield from _table(texts, result.formats)
    if result.reasons:
        yield ""
        for reason, count in result.reasons.items():
            yield f"  {grouped(count):>8}  {reason}: {texts.text('copies', 'reason', reason, 'what')}"
            yield f"            {texts.text('copies', 'reason', reason, 'do')}"


def _table(texts: Texts, rows: Sequence[FormatRow]) -> Iterator[str]:
    names = [texts.say(f"derive.column.{state}") for state in STATES]
    yield f"  {texts.say('derive.column.format'):<14}" + "".join(f"{name:>12}" for name in names)
    for puid in dict.fromkeys(row.puid for row in rows):
        counts = [sum(row.documents for row in rows if (row.puid, row.state) == (puid, state)) for state in STATES]
        cells = "".join(f"{grouped(count) if count else '':>12}" for count in counts)
        yield f"  {puid or texts.say('derive.unknown_format'):<14}{cells}".rstrip()
