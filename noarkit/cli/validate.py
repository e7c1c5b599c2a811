"""`noarkit validate`: holds a package to every rule of its form, and says where it does not keep them."""

from __future__ import annotations

from pathlib import Path

import click

from noarkit.cli.options import Session, command, option
from noarkit.errors import PackageFault, UsageFault
from noarkit.report.validated import REPORT_FORMATS, write_validation
from noarkit.validate import Report, validate

_INVALID = PackageFault.exit_code
_FOLDER = click.Path(path_type=Path)


@command("validate", exits=(4, 10))
@click.argument("package", metavar="PKG", type=_FOLDER)
@option("--report", "report", type=click.Choice(REPORT_FORMATS))
@option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE")
@option("--schemas", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR")
def validate_command(
    session: Session, *, package: Path, report: str | None, output: Path | None, schemas: Path | None
) -> int:
    """A line for each rule that does not hold, a report where one is asked for; 4 where there are errors."""
    kind = next((one for one in REPORT_FORMATS if one == report), None)
    if output is not None and kind is None:
        raise UsageFault(what="bad-value", where="--output", do="--report html|json|csv -o FILE")
    target = output or Path(f"{package.resolve().name}-validation.{kind}")
    if kind is not None and target.resolve().is_relative_to(package.resolve()):
        raise UsageFault(what="inside-package", where=str(target))
    found = validate(package, schemas=schemas, tell=session.face.hear)
    _tell(session, found)
    if kind is not None:
        write_validation(found, target, kind, session.texts.lang)
        session.face.result("report", session.texts.say("validate.written", path=target), path=str(target))
    return 0 if found.valid else _INVALID


def _tell(session: Session, found: Report) -> None:
    told = session.texts
    for outcome in found.outcomes:
        rule = outcome.rule
        title = told.text("rules", rule.code, "title")
        level = told.say(f"level.{rule.level}")
        line = told.say("validate.rule", code=rule.code, level=level, count=outcome.count, title=title)
        session.face.result("finding", line, code=rule.code, level=rule.level, count=outcome.count, title=title)
    errors, warnings = found.number("error"), found.number("warning")
    session.face.count(errors=errors, warnings=warnings)
    key = "validate.bad" if errors else "validate.warned" if warnings else "validate.good"
    session.face.tell(key, errors=errors, warnings=warnings)
