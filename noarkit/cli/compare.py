"""`noarkit compare`: two extracts, or an extract and an archive, unit by unit."""

from __future__ import annotations

from pathlib import Path

import click

from noarkit.api.comparing import compare
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings, working
from noarkit.errors import UsageFault, VerifyMismatch
from noarkit.forms.comparison import By, CompareResult, Difference
from noarkit.reports.comparison_page import REPORT_FORMATS, write_comparison
from noarkit.words.texts import plain

_MOST_SHOWN = 50


@command("compare", exits=(4, 5, 6, 7, 8, 10))
@click.argument("left", metavar="A")
@click.argument("right", metavar="B")
@option("--by", type=click.Choice(("id", "key")), default="id")
@option("--report", "report", type=click.Choice(REPORT_FORMATS))
@option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE")
def compare_command(session: Session, *, left: str, right: str, by: By, report: str | None, output: Path | None) -> int:
    """A line for each difference (the first of many), the sums, and a report where one is asked for; 7 where they
    differ."""
    kind = next((item for item in REPORT_FORMATS if item == report), None)
    if output is not None and kind is None:
        raise UsageFault(what="bad-value", where="--output", do="--report html|json -o FILE")
    target = output or Path(f"comparison.{kind}")
    if kind is not None and any(target.resolve().is_relative_to(Path(side).resolve()) for side in (left, right)):
        raise UsageFault(what="inside-package", where=str(target))
    with working(session) as work:
        comparison = compare(left, right, by=by, settings=settings(session, None), listener=work.emit)
    console = session.console
    differences = comparison.differences if console.as_json else comparison.differences[:_MOST_SHOWN]
    for item in differences:
        console.result("difference", _line(session, item), **_data(item))
    console.result(
        "comparison",
        "\n".join(_summary_lines(session, comparison)),
        **comparison.to_dict(),
    )
    if kind is not None:
        write_comparison(comparison, (left, right), target, kind, session.texts.lang)
        console.result("report", session.texts.say("compare.written", path=target), path=str(target))
    if comparison.equal:
        return 0
    if comparison.counts.total() > len(differences):
        console.notify("compare.more", count=comparison.counts.total() - len(differences))
    return VerifyMismatch.exit_code


def _line(session: Session, difference: Difference) -> str:
    texts = session.texts
    if difference.kind == "differs":
        values = {"left": _format_value(difference.left), "right": _format_value(difference.right)}
        return texts.say("compare.differs", type=difference.type, unit=difference.key, field=difference.field, **values)
    return texts.say(f"compare.{difference.kind}", type=difference.type, unit=difference.key)


def _data(difference: Difference) -> dict[str, object]:
    data: dict[str, object] = {"kind": difference.kind, "type": difference.type, "key": difference.key}
    return (
        {**data, "field": difference.field, "left": difference.left, "right": difference.right}
        if difference.field
        else data
    )


def _summary_lines(session: Session, comparison: CompareResult) -> list[str]:
    texts = session.texts
    lines = [texts.say("compare.held", left=sum(comparison.left.values()), right=sum(comparison.right.values()))]
    lines += [texts.say(f"compare.declared.{rule}", count=count) for rule, count in sorted(comparison.declared.items())]
    if comparison.equal:
        return [*lines, texts.say("compare.equal")]
    counts = {name: comparison.counts[name] for name in ("only-left", "only-right", "differs")}
    return [*lines, texts.say("compare.unequal", **{name.replace("-", "_"): n for name, n in counts.items()})]


def _format_value(value: object) -> str:
    items = value if isinstance(value, list) else [value]
    return plain("; ".join("–" if item is None else str(item) for item in items))[:200]
