"""A second opinion on a package: runs another validator in a child process and compares its result with ours.

bagit-python is built in for bags. For any other form, or instead of it, a command of the user is run with the package's
path behind it (or in place of `{}`); the rule ids in its output are compared with ours.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from noarkit.errors import UsageFault
from noarkit.forms.findings import Opinion, Outcome, ValidateResult
from noarkit.forms.registry import known_forms
from noarkit.safe.children import child_environment

_OF_AN_EXTRACT = re.compile(r"N\d{3}")
"""Rules of the Noark 5 extract in a package: a tool for packages knows nothing of them."""
_BAD = frozenset({"error", "failed", "fatal"})
_MOST_MESSAGES = 100
_MOST_OUTPUT = 64 * 1024 * 1024
_PATIENCE_S = 6 * 3600.0


def second_opinion(report: ValidateResult, *, command: str = "") -> Opinion | None:
    """What another tool says of the package that `report` is about; None if nobody is at hand to ask.

    Raises `UsageFault` for a command that cannot be run.
    """
    form = known_forms().find(report.form)
    if form is not None and form.second_opinion is not None:
        name = Path(command.split(" ", 1)[0]).name
        opinion = form.second_opinion(report, command, lambda output, code: _opinion(name, output, code))
        if opinion is not None:
            return opinion
    return _of_command(Path(report.package), command) if command else None


def disagreement(report: ValidateResult, opinion: Opinion) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The rules that the other alone finds broken, and those that we alone do. Known false alarms are none."""
    their_rules = set(opinion.rules) - known_forms().false_alarms
    outcomes = _of_the_package(report)
    our_rules = {outcome.rule.code for outcome in outcomes}
    errors = {
        outcome.rule.code for outcome in outcomes if outcome.rule.level == "error" and _is_rule_id(outcome.rule.code)
    }
    return tuple(sorted(their_rules - our_rules)), tuple(sorted(errors - their_rules)) if opinion.rules else ()


def agrees(report: ValidateResult, opinion: Opinion) -> bool:
    """True if both say the same, or where it is known why the other errs."""
    if opinion.known_reasons and not opinion.rules:
        return True
    disagreements = disagreement(report, opinion)
    valid = not any(outcome.rule.level == "error" for outcome in _of_the_package(report))
    return not any(disagreements) if opinion.rules else opinion.valid == valid


def _of_the_package(report: ValidateResult) -> list[Outcome]:
    """What was found in the package itself; of an extract that lies in no other package, all of it."""
    if report.form == "noark5":
        return list(report.outcomes)
    return [outcome for outcome in report.outcomes if _OF_AN_EXTRACT.fullmatch(outcome.rule.code) is None]


def _of_command(path: Path, command: str) -> Opinion:
    words = shlex.split(command)
    if not words:
        raise UsageFault(what="bad-value", where="--second-opinion-command")
    line = [word.replace("{}", str(path)) for word in words]
    if "{}" not in command:
        line.append(str(path))
    try:
        completed = subprocess.run(  # noqa: S603  # as the user says
            line, capture_output=True, check=False, timeout=_PATIENCE_S, env=child_environment()
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageFault(what="second-opinion-command", where=words[0], detail=type(error).__name__) from error
    return _opinion(
        Path(words[0]).name, completed.stdout[:_MOST_OUTPUT] or completed.stderr[:_MOST_OUTPUT], completed.returncode
    )


def _opinion(name: str, printed: bytes, code: int) -> Opinion:
    output = printed.decode("utf-8", "replace")
    rules = frozenset(_broken_rules(output))
    # those who speak by rule ids may end with 0 whatever they found
    valid = code == 0 and not rules - known_forms().false_alarms
    known_alarms = tuple(sorted(rules & known_forms().false_alarms))
    opinion = Opinion(name, True, valid, _messages(output, valid), known_alarms)
    return replace(opinion, rules=tuple(sorted(rules)))


def _messages(output: str, valid: bool) -> tuple[str, ...]:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return () if valid else tuple(line[:400] for line in lines[:_MOST_MESSAGES])


def _is_rule_id(text: str) -> bool:
    """True for the id of a rule that other tools know by that name."""
    return any(pattern.fullmatch(text) for pattern in known_forms().rule_ids)


def _broken_rules(output: str) -> Iterator[str]:
    """The ids of rules that the tool says are broken: from JSON by severity, from text by the line they stand in."""
    try:
        yield from _in_json(json.loads(output))
    except (ValueError, RecursionError):
        for line in output.splitlines():
            if any(word in line.casefold() for word in _BAD):
                yield from (text for pattern in known_forms().rule_ids for text in pattern.findall(line))


def _in_json(document: object) -> Iterator[str]:
    if isinstance(document, list):
        for item in document:
            yield from _in_json(item)
    elif isinstance(document, dict):
        texts = [item for item in document.values() if isinstance(item, str)]
        testing = document.get("testing")
        if isinstance(testing, dict):
            texts += [item for item in testing.values() if isinstance(item, str)]
        if any(item.casefold() in _BAD for item in texts):
            yield from (item for item in texts if _is_rule_id(item))
        for item in document.values():
            yield from _in_json(item)
