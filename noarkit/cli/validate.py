"""`noarkit validate`: holds a package to every rule of its form, and says where it does not keep them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from noarkit.api.validating import validate
from noarkit.cli.corrected_line import format_of
from noarkit.cli.next_command import next_command
from noarkit.cli.options import FOLDER, Session, command, option
from noarkit.cli.running import settings, working
from noarkit.cli.terminal import Mood
from noarkit.errors import PackageFault, UsageFault
from noarkit.events import EventFields
from noarkit.forms.findings import Opinion, Outcome, Place
from noarkit.forms.second_opinion import agrees, disagreement, second_opinion
from noarkit.forms.validation import ValidateResult
from noarkit.loading.options import parse_cluster
from noarkit.model.disclosure import MASK
from noarkit.reports.fixity import package_fixity
from noarkit.reports.unit_names import shown_report
from noarkit.reports.validation_page import REPORT_FORMATS, place_sentence, write_validation
from noarkit.reports.verdict_words import verdict_lines
from noarkit.safe.archive_names import named_encoding
from noarkit.safe.event_log import log_if_watched
from noarkit.safe.unpack import LIMITS
from noarkit.settings import imprint
from noarkit.verdict import NOT_READY_EXIT
from noarkit.words.texts import Texts, plain

_MOODS: Mapping[str, Mood] = {"error": "bad", "warning": "warn"}
_INVALID = PackageFault.exit_code
_SHOWN_PLACES = 3
"""So many places of each broken rule stand on the terminal; all of them in a report."""
_QUICKLY_READ_BYTES = 50_000_000
"""A structure up to this size is read once more for the names of its units, in some seconds; for a report, any is."""
_FOLDER = click.Path(path_type=Path)

EVENTS: EventFields = {
    "finding": {
        **{"code": "text", "level": "text", "count": "count", "title": "text"},
        "places": [{"file": "text", "line": "count?", "unit": "text?", "name": "text?"}],
    },
    "second_opinion": {
        **{"tool": "text", "asked": "flag", "valid": "flag", "agrees": "flag"},
        **dict.fromkeys(("theirs_alone", "ours_alone", "known", "messages"), "list"),
    },
}


@command("validate", exits=(3, 4, 5, 6, 8, 10))
@click.argument("package", metavar="PKG", type=_FOLDER)
@option("--report", "report", type=click.Choice(REPORT_FORMATS))
@option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE")
@option("--second-opinion", "second", is_flag=True)
@option("--second-opinion-command", "second_command", metavar="COMMAND", default="")
@option("--encoding", metavar="NAME")
@option("--schemas", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR")
@option("--accept", "accept", multiple=True, metavar="REASON")
@option("--by", metavar="NAME", default="")
@option("--note", metavar="TEXT", default="")
@option("--engine", metavar="dask://HOST:PORT")
@option("--tls", type=FOLDER, metavar="DIR")
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
    accept: tuple[str, ...],
    by: str,
    note: str,
    engine: str | None,
    tls: Path | None,
) -> int:
    """A line for each rule that does not hold, and the verdict; 4 where there are errors, 3 where it is not ready."""
    kind = next((item for item in REPORT_FORMATS if item == report), None)
    if output is not None and kind is None:
        raise UsageFault(what="bad-value", where="--output", fix=f"--report {format_of(output, REPORT_FORMATS)}")
    target = output or Path(f"{package.resolve().name}-validation.{kind}")
    if kind is not None and target.resolve().is_relative_to(package.resolve()):
        raise UsageFault(what="inside-package", where=str(target))
    limits = replace(LIMITS, encoding=named_encoding(encoding))
    with working(session) as work, log_if_watched(package, work.emit, time.time, "validate") as emit:
        result = validate(
            package,
            schemas=schemas,
            limits=limits,
            cluster=parse_cluster(engine, tls),
            accept=accept,
            by=by,
            note=note,
            listener=emit,
        )
    limits_of_terminal = {"most_places": _SHOWN_PLACES, "most_bytes": _QUICKLY_READ_BYTES} if kind is None else {}
    visible, names = shown_report(package, result, **limits_of_terminal)
    _print_findings(session, visible, names, frozenset(_found_alike(result, session.texts)))
    if kind is None and result.number("error") + result.number("warning") and not session.console.as_json:
        _print_next(session, package)
    if second or second_command:
        _print_opinion(session, result, second_opinion(result, command=second_command))
    if kind is not None:
        page_imprint = imprint(settings(session, None))
        write_validation(
            *(visible, target, kind, session.texts.lang),
            imprint=page_imprint,
            fixity=package_fixity(package),
            names=names,
        )
        session.console.result("report", session.texts.say("validate.written", path=target), path=str(target))
    _print_verdict(session, visible)
    if not result.valid:
        return _INVALID
    return 0 if result.verdict is None or result.verdict.is_ready else NOT_READY_EXIT


def _print_findings(session: Session, report: ValidateResult, names: Mapping[str, str], alike: frozenset[str]) -> None:
    """A finding for each rule that is broken."""
    texts = session.texts
    for outcome in report.outcomes:
        rule = outcome.rule
        if rule.level == "info" and not session.console.as_json and session.console.verbosity < 1:
            continue
        facts = [
            {"file": place.file, "line": place.line, "unit": place.system_id, "name": names.get(place.system_id or "")}
            for place in _shown_places(outcome)
        ]
        session.console.result(
            "finding",
            "\n".join(_finding_lines(session, outcome, names, is_alike=rule.code in alike)),
            code=rule.code,
            level=rule.level,
            count=outcome.count,
            title=texts.text("rules", rule.code, "title"),
            places=facts,
        )
    info_count = sum(outcome.rule.level == "info" for outcome in report.outcomes)
    if info_count and session.console.verbosity < 1:
        session.console.notify("validate.may", count=info_count)


def _print_verdict(session: Session, report: ValidateResult) -> None:
    """Whether the package is valid and, where that was judged, whether it is ready for deposit."""
    errors, warnings = report.number("error"), report.number("warning")
    session.console.count(errors=errors, warnings=warnings)
    key = "validate.bad" if errors else "validate.warned" if warnings else "validate.good"
    mood: Mood = "bad" if errors else "warn" if warnings else "good"
    session.console.notify_verdict(mood, key, errors=errors, warnings=warnings)
    if report.verdict is not None:
        session.console.show(report.verdict, "\n".join(verdict_lines(report.verdict, session.texts)))


def _shown_places(outcome: Outcome) -> Sequence[Place]:
    return outcome.places[:_SHOWN_PLACES] if outcome.rule.level in _MOODS else ()


def _finding_lines(session: Session, outcome: Outcome, names: Mapping[str, str], *, is_alike: bool) -> list[str]:
    """What was found, and where: in the head where it is the same in all places that there are, else with each."""
    texts, rule, places = session.texts, outcome.rule, _shown_places(outcome)
    sentences = [_found_at(place, rule.code, texts) for place in places]
    told = sentences[0] if is_alike and len(set(sentences)) == 1 else ""
    level, title = texts.say(f"level.{rule.level}"), texts.text("rules", rule.code, "title")
    is_counted = rule.level not in _MOODS
    line = texts.say(
        "validate.found" if told or is_counted else "validate.rule",
        **{"code": rule.code, "level": level, "count": outcome.count, "title": title, "told": told or title},
    )
    head = f"{rule.code}  {level}"
    if rule.level in _MOODS and line.startswith(head):
        line = session.console.verdict(head, _MOODS[rule.level]) + line.removeprefix(head)
    lines = [line]
    for place, sentence in zip(places, sentences, strict=True):
        place_line = _place_line(session, place, names)
        is_own = sentence and not told
        lines.append(texts.say("validate.place-told", place=place_line, told=sentence) if is_own else place_line)
    if places and outcome.count > len(places):
        lines.append(texts.say("validate.more-places", count=outcome.count - len(places)))
    return lines


def _found_alike(report: ValidateResult, texts: Texts) -> Iterator[str]:
    """The rules of which the same was found at every place, whether it is shown or not."""
    for outcome in report.outcomes:
        sentences = {_found_at(place, outcome.rule.code, texts) for place in outcome.places}
        if len(sentences) == 1 and outcome.count == len(outcome.places):
            yield outcome.rule.code


def _found_at(place: Place, code: str, texts: Texts) -> str:
    """What was found at a place, without the name of the file that it begins with: the place says that. Nothing where
    what it tells of is screened."""
    if MASK in place.data.values():
        return ""
    sentence = place_sentence(code, place, texts, whole=True)
    for value in place.data.values():
        sentence = sentence.removeprefix(f"{value}: ")
    return sentence


def _place_line(session: Session, place: Place, names: Mapping[str, str]) -> str:
    """A file, a line and a unit of it; what was found there may tell of what is screened, and stands in a report."""
    unit = names.get(place.system_id or "", place.system_id or "")
    return session.texts.say("validate.place", file=plain(place.file), line=place.line, unit=plain(unit) or None)


def _print_next(session: Session, package: Path) -> None:
    """The command that names every place: a report masks what is screened, and a line here could not."""
    whole = package.resolve()
    page = Path(f"{whole.name}-validation.html")
    if page.resolve().is_relative_to(whole):
        page = whole.parent / page
    command = next_command("validate", package, "--report", "html", "-o", page)
    session.console.notify("validate.places", command=command)


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
