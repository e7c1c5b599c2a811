"""`noarkit compare`: two extracts, or an extract and an archive, unit by unit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from noarkit.api.comparing import compare, is_archive
from noarkit.catalogue.moments import spoken_apart
from noarkit.cli.corrected_line import format_of
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings, working
from noarkit.errors import UsageFault, VerifyMismatch
from noarkit.events import EventFields
from noarkit.forms.comparison import By, CompareResult, Difference
from noarkit.reports.comparison_page import REPORT_FORMATS, ReportFormat, mask_difference, shown_keys, write_comparison
from noarkit.reports.fixity import package_fixity
from noarkit.reports.unit_names import unit_names
from noarkit.settings import imprint
from noarkit.words.texts import plain

_MOST_SHOWN = 50

EVENTS: EventFields = {
    "difference": {"kind": "text", "type": "text", "key": "text", "field": "text?", "left": "any?", "right": "any?"}
}


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
        raise UsageFault(what="bad-value", where="--output", fix=f"--report {format_of(output, REPORT_FORMATS)}")
    target = output or Path(f"comparison.{kind}")
    if kind is not None and any(target.resolve().is_relative_to(Path(side).resolve()) for side in (left, right)):
        raise UsageFault(what="inside-package", where=str(target))
    with working(session) as work:
        comparison = compare(left, right, by=by, settings=settings(session, None), listener=work.emit)
    console = session.console
    sides = (right, left) if is_archive(left) else (left, right)  # an archive stands on the right, wherever it is named
    names = {} if console.as_json else _names(comparison, sides)
    differences = comparison.differences if console.as_json else comparison.differences[:_MOST_SHOWN]
    for item in map(mask_difference, differences):
        console.result("difference", _line(session, item, names.get(item.key, "")), **_data(item))
    console.show(comparison, "\n".join(_summary_lines(session, comparison, sides)))
    if kind is not None:
        _write_report(session, comparison, sides, target, kind)
        console.result("report", session.texts.say("compare.written", path=target), path=str(target))
    if comparison.equal:
        return 0
    if comparison.counts.total() > len(differences):
        console.notify("compare.more", count=comparison.counts.total() - len(differences))
    return VerifyMismatch.exit_code


def _names(comparison: CompareResult, sides: tuple[str, str]) -> Mapping[str, str]:
    """What the units that are shown are called in the packages, as people may see it."""
    keys = {difference.key for difference in comparison.differences[:_MOST_SHOWN]}
    return {**unit_names(Path(sides[1]), keys), **unit_names(Path(sides[0]), keys)} if keys else {}


def _write_report(
    session: Session, comparison: CompareResult, sides: tuple[str, str], target: Path, kind: ReportFormat
) -> None:
    """The report, with the checksum of each side and the names of its units, as far as it is a package."""
    left, right = Path(sides[0]), Path(sides[1])
    keys = shown_keys(comparison)
    write_comparison(
        *(comparison, sides, target, kind, session.texts.lang),
        imprint=imprint(settings(session, None)).of_day(),
        fixities=(package_fixity(left), package_fixity(right)),
        names={**unit_names(right, keys), **unit_names(left, keys)},
    )


def _line(session: Session, difference: Difference, name: str) -> str:
    texts, unit = session.texts, f"{difference.key}  {name}" if name else difference.key
    if difference.kind == "differs":
        left, right = spoken_apart(difference.left, difference.right, session.config().zone)
        values = {"left": _format_value(left), "right": _format_value(right)}
        return texts.say("compare.differs", type=difference.type, unit=unit, field=difference.field, **values)
    return texts.say(f"compare.{difference.kind}", type=difference.type, unit=unit)


def _data(difference: Difference) -> dict[str, object]:
    data: dict[str, object] = {"kind": difference.kind, "type": difference.type, "key": difference.key}
    return (
        {**data, "field": difference.field, "left": difference.left, "right": difference.right}
        if difference.field
        else data
    )


def _summary_lines(session: Session, comparison: CompareResult, sides: tuple[str, str]) -> list[str]:
    texts = session.texts
    lines = [texts.say("compare.sides", left=plain(sides[0]), right=plain(sides[1]))]
    lines += [texts.say("compare.held", left=sum(comparison.left.values()), right=sum(comparison.right.values()))]
    lines += [texts.say(f"compare.declared.{rule}", count=count) for rule, count in sorted(comparison.declared.items())]
    if comparison.equal:
        return [*lines, session.console.verdict(texts.say("compare.equal"), "good")]
    counts = {name: comparison.counts[name] for name in ("only-left", "only-right", "differs")}
    unequal = texts.say("compare.unequal", **{name.replace("-", "_"): n for name, n in counts.items()})
    return [*lines, session.console.verdict(unequal, "bad")]


def _format_value(value: object) -> str:
    items = value if isinstance(value, list) else [value]
    return plain("; ".join("–" if item is None else str(item) for item in items))[:200]
