"""`noarkit validate`: holds a package to every rule of its form, and says where it does not keep them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from noarkit.cli.options import Session, command, option
from noarkit.errors import PackageFault, UsageFault
from noarkit.forms.findings import Opinion
from noarkit.forms.second_opinion import agrees, disagreement, second_opinion
from noarkit.forms.validation import ValidateResult, validate
from noarkit.reports.validation_page import REPORT_FORMATS, write_validation
from noarkit.safe.archive_names import named_encoding
from noarkit.safe.unpack import LIMITS
from noarkit.words.texts import plain

_INVALID = PackageFault.exit_code
_FOLDER = click.Path(path_type=Path)


@command("validate", exits=(4, 8, 10))
@click.argument("package", metavar="PKG", type=_FOLDER)
@option("--report", "report", type=click.Choice(REPORT_FORMATS))
@option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE")
@option("--second-opinion", "second", is_flag=True)
@option("--second-opinion-command", "second_command", metavar="COMMAND", default="")
@option("--encoding", metavar="NAME")
@option("--schemas", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR")
def validate_command(
    session: Session,
    *,
    package: Path,
    report: str | None,
    output: Path | None,
    second: bool,
    second_command: str,
    encoding: str | None,
    schemas: Path | None,
) -> int:
    """A line for each rule that does not hold, a report where one is asked for; 4 where there are errors."""
    kind = next((item for item in REPORT_FORMATS if item == report), None)
    if output is not None and kind is None:
        raise UsageFault(what="bad-value", where="--output", do="--report html|json|csv -o FILE")
    target = output or Path(f"{package.resolve().name}-validation.{kind}")
    if kind is not None and target.resolve().is_relative_to(package.resolve()):
        raise UsageFault(what="inside-package", where=str(target))
    limits = replace(LIMITS, encoding=named_encoding(encoding))
    result = validate(package, schemas=schemas, limits=limits, listener=session.console.on_event)
    _print_report(session, result)
    if second or second_command:
        _print_opinion(session, result, second_opinion(result, command=second_command))
    if kind is not None:
        write_validation(result, target, kind, session.texts.lang)
        session.console.result("report", session.texts.say("validate.written", path=target), path=str(target))
    return 0 if result.valid else _INVALID


def _print_report(session: Session, report: ValidateResult) -> None:
    texts = session.texts
    for outcome in report.outcomes:
        rule = outcome.rule
        title = texts.text("rules", rule.code, "title")
        level = texts.say(f"level.{rule.level}")
        if rule.level == "info" and not session.console.as_json and session.console.verbosity < 1:
            continue
        line = texts.say("validate.rule", code=rule.code, level=level, count=outcome.count, title=title)
        session.console.result("finding", line, code=rule.code, level=rule.level, count=outcome.count, title=title)
    errors, warnings = report.number("error"), report.number("warning")
    session.console.count(errors=errors, warnings=warnings)
    key = "validate.bad" if errors else "validate.warned" if warnings else "validate.good"
    session.console.notify(key, errors=errors, warnings=warnings)
    info_count = sum(outcome.rule.level == "info" for outcome in report.outcomes)
    if info_count and session.console.verbosity < 1:
        session.console.notify("validate.may", count=info_count)


def _print_opinion(session: Session, report: ValidateResult, opinion: Opinion | None) -> None:
    texts = session.texts
    if opinion is None:
        session.console.notify("validate.nobody")
        return
    theirs, ours = disagreement(report, opinion)
    agree = opinion.was_asked and agrees(report, opinion)
    key = "unasked" if not opinion.was_asked else "agrees" if agree else "differs"
    if agree and opinion.valid != report.valid:
        key = "errs"
    verdict = texts.say("validate.theirs-valid" if opinion.valid else "validate.theirs-not-valid")
    lines = [texts.say(f"validate.second.{key}", tool=opinion.tool, verdict=verdict)]
    lines += [texts.say("validate.theirs-alone", rules=", ".join(theirs))] if theirs else []
    lines += [texts.say("validate.ours-alone", rules=", ".join(ours))] if ours else []
    lines += [texts.say("validate.known", why=", ".join(opinion.known_reasons))] if opinion.known_reasons else []
    if not agree:
        lines += [f"  {plain(message)}" for message in opinion.messages[:10]]
    session.console.result(
        "second_opinion",
        "\n".join(lines),
        tool=opinion.tool,
        asked=opinion.was_asked,
        valid=opinion.valid,
        agrees=agree,
        theirs_alone=list(theirs),
        ours_alone=list(ours),
        known=list(opinion.known_reasons),
        messages=list(opinion.messages),
    )
