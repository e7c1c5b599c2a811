"""A second opinion on a package: another tool looks at it in a process of its own, and knows nothing of what we found.

bagit-python is at hand for bags. For any other form, and in its place, a command that the user names is run with the
package's path behind it (or where `{}` stands); what it says by rule ids is held against what we say.
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
from noarkit.safe.children import child_environment
from noarkit.validate.bagit.second import Opinion
from noarkit.validate.findings import Report

KNOWN_ALARMS = frozenset(
    {"CSIP12", "CSIP13", "CSIP15", "CSIP16", "CSIP63", "CSIP101", "CSIP103", "CSIP105", "SIP11", "SIP14"}
)
"""Rules that eark-validator finds broken in packages that keep them: its own tests are at fault."""

_RULE = re.compile(r"(?<![A-Za-z0-9])(?:CSIPSTR|CSIP|SIP|AIPM|AIP|DIP)\d+(?![0-9])")
_BAD = frozenset({"error", "failed", "fatal"})
_MOST_MESSAGES = 100
_MOST_OUTPUT = 64 * 1024 * 1024
_PATIENCE_S = 6 * 3600.0


def second_opinion(report: Report, *, command: str = "") -> Opinion | None:
    """What another tool says of the package that `report` is about; None where nobody is at hand to ask.

    Raises `UsageFault` for a command that cannot be run.
    """
    path = Path(report.package)
    if command and report.form == "eark":
        from noarkit.validate.eark.second import second_opinion as of_eark

        name = Path(command.split(" ", 1)[0]).name
        return of_eark(path, report, command, otherwise=lambda said, code: _opinion(name, said, code))
    if command:
        return _of_command(path, report, command)
    if report.form == "bagit":
        from noarkit.validate.bagit.second import second_opinion as of_bag

        return of_bag(path, report)
    return None


def disagreement(report: Report, opinion: Opinion) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The rules that the other alone finds broken, and those that we alone do. Known false alarms are none."""
    theirs = set(opinion.rules) - KNOWN_ALARMS
    ours = {one.rule.code for one in report.outcomes}
    errors = {one.rule.code for one in report.outcomes if one.rule.level == "error" and _RULE.fullmatch(one.rule.code)}
    return tuple(sorted(theirs - ours)), tuple(sorted(errors - theirs)) if opinion.rules else ()


def agrees(report: Report, opinion: Opinion) -> bool:
    """True where both say the same, or where it is known why the other errs."""
    if opinion.known and not opinion.rules:
        return True
    alone = disagreement(report, opinion)
    return not any(alone) if opinion.rules else opinion.valid == report.valid


def _of_command(path: Path, report: Report, command: str) -> Opinion:
    words = shlex.split(command)
    if not words:
        raise UsageFault(what="bad-value", where="--second-opinion-command")
    line = [word.replace("{}", str(path)) for word in words]
    if "{}" not in command:
        line.append(str(path))
    try:
        done = subprocess.run(  # noqa: S603  # as the user says
            line, capture_output=True, check=False, timeout=_PATIENCE_S, env=child_environment()
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageFault(what="second-opinion-command", where=words[0], detail=type(error).__name__) from error
    return _opinion(Path(words[0]).name, done.stdout[:_MOST_OUTPUT] or done.stderr[:_MOST_OUTPUT], done.returncode)


def _opinion(name: str, printed: bytes, code: int) -> Opinion:
    said = printed.decode("utf-8", "replace")
    rules = frozenset(_broken(said))
    # those who speak by rule ids may end with 0 whatever they found
    valid = code == 0 and not rules - KNOWN_ALARMS
    known = tuple(sorted(rules & KNOWN_ALARMS))
    told = Opinion(name, True, valid, _messages(said, valid), known)
    return replace(told, rules=tuple(sorted(rules)))


def _messages(said: str, valid: bool) -> tuple[str, ...]:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return () if valid else tuple(line[:400] for line in lines[:_MOST_MESSAGES])


def _broken(said: str) -> Iterator[str]:
    """The ids of rules that the tool says are broken: from JSON by severity, from text by the line they stand in."""
    try:
        yield from _in_json(json.loads(said))
    except (ValueError, RecursionError):
        for line in said.splitlines():
            if any(word in line.casefold() for word in _BAD):
                yield from _RULE.findall(line)


def _in_json(found: object) -> Iterator[str]:
    if isinstance(found, list):
        for one in found:
            yield from _in_json(one)
    elif isinstance(found, dict):
        told = [one for one in found.values() if isinstance(one, str)]
        testing = found.get("testing")
        if isinstance(testing, dict):
            told += [one for one in testing.values() if isinstance(one, str)]
        if any(one.casefold() in _BAD for one in told):
            yield from (one for one in told if _RULE.fullmatch(one))
        for one in found.values():
            yield from _in_json(one)
