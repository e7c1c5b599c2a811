"""`noarkit compare`: two extracts, or an extract and an archive, unit by unit."""

from __future__ import annotations

from pathlib import Path

import click

from noarkit import deliveries
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings, working
from noarkit.errors import UsageFault, VerifyMismatch
from noarkit.report.comparison_page import REPORT_FORMATS, write_comparison
from noarkit.validate.compare import By, Compared, Difference
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
    kind = next((one for one in REPORT_FORMATS if one == report), None)
    if output is not None and kind is None:
        raise UsageFault(what="bad-value", where="--output", do="--report html|json -o FILE")
    target = output or Path(f"comparison.{kind}")
    if kind is not None and any(target.resolve().is_relative_to(Path(side).resolve()) for side in (left, right)):
        raise UsageFault(what="inside-package", where=str(target))
    with working(session) as work:
        found = deliveries.compare(left, right, by=by, settings=settings(session, None), tell=work.tell)
    face = session.face
    shown = found.differences if face.as_json else found.differences[:_MOST_SHOWN]
    for one in shown:
        face.result("difference", _line(session, one), **_data(one))
    face.result(
        "comparison",
        "\n".join(_sums(session, found)),
        equal=found.equal,
        left=dict(found.left),
        right=dict(found.right),
        differences=dict(found.counts),
        declared=dict(found.declared),
    )
    if kind is not None:
        write_comparison(found, (left, right), target, kind, session.texts.lang)
        face.result("report", session.texts.say("compare.written", path=target), path=str(target))
    if found.equal:
        return 0
    if found.counts.total() > len(shown):
        face.tell("compare.more", count=found.counts.total() - len(shown))
    return VerifyMismatch.exit_code


def _line(session: Session, one: Difference) -> str:
    told = session.texts
    if one.kind == "differs":
        values = {"left": _value(one.left), "right": _value(one.right)}
        return told.say("compare.differs", type=one.type, unit=one.key, field=one.field, **values)
    return told.say(f"compare.{one.kind}", type=one.type, unit=one.key)


def _data(one: Difference) -> dict[str, object]:
    data: dict[str, object] = {"kind": one.kind, "type": one.type, "key": one.key}
    return {**data, "field": one.field, "left": one.left, "right": one.right} if one.field else data


def _sums(session: Session, found: Compared) -> list[str]:
    told = session.texts
    lines = [told.say("compare.held", left=sum(found.left.values()), right=sum(found.right.values()))]
    lines += [told.say(f"compare.declared.{rule}", count=count) for rule, count in sorted(found.declared.items())]
    if found.equal:
        return [*lines, told.say("compare.equal")]
    counts = {name: found.counts[name] for name in ("only-left", "only-right", "differs")}
    return [*lines, told.say("compare.unequal", **{name.replace("-", "_"): n for name, n in counts.items()})]


def _value(value: object) -> str:
    held = value if isinstance(value, list) else [value]
    return plain("; ".join("–" if one is None else str(one) for one in held))[:200]
