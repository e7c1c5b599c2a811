"""A second opinion on an E-ARK package: runs another validator by a command that the user names.

The output of eark-validator and commons-ip is understood. Their known false alarms are taken out of the result and
named. They get the package as a folder, unpacked into a temporary one if needed; a package with unsafe paths or hostile
XML is not given to them.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from noarkit.errors import UsageFault
from noarkit.forms.eark import spec
from noarkit.forms.findings import Opinion, ReadOpinion, ValidateResult
from noarkit.safe.children import child_environment
from noarkit.safe.unpack import LIMITS, UnpackLimits, unpack_to
from noarkit.safe.workplace import temporary_folder

EARK_VALIDATOR = "eark-validator"
COMMONS_IP = "commons-ip"
FALSE_ALARMS: Mapping[str, frozenset[str]] = {
    EARK_VALIDATOR: frozenset(
        {"CSIP12", "CSIP13", "CSIP15", "CSIP16", "CSIP63", "CSIP101", "CSIP103", "CSIP105", "SIP11", "SIP14"}
    ),
    COMMONS_IP: frozenset({"SIP2", "SIP15"}),
}
"""Rules that a tool finds broken in packages that keep them: they are believed only where we find them broken too."""

NEWER = frozenset({"SIP2", "DIP2"})
"""What eark-validator, which ends with 2.1.0, says of every package of a later version."""

CRASHES_FROM_BYTES = 60_000
"""From about here on eark-validator cannot read a METS document."""

_UNSAFE = frozenset({"EARK-HREF", "EARK-ODD", "EARK-NAME", "EARK-XML-HOSTILE"})
_MOST_BYTES = 256 * 1024 * 1024
_MOST_MESSAGES = 100
_PATIENCE_S = 3_600.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool said: which it is, and the messages of each rule that it says is broken."""

    tool: str
    broken: Mapping[str, tuple[str, ...]]


def second_opinion(
    path: Path,
    report: ValidateResult,
    command: str,
    *,
    fallback_reader: ReadOpinion | None = None,
    limits: UnpackLimits = LIMITS,
    patience_s: float = _PATIENCE_S,
) -> Opinion:
    """What the tool behind `command` says of the package that `report` is about.

    The package's folder stands where the command says `{}`, or behind it; `{out}` is a folder for reports. What comes
    in neither tool's format is read by `fallback_reader`. Raises `UsageFault` for a command that cannot be run.
    """
    words = shlex.split(command)
    if not words:
        raise UsageFault(what="bad-value", where="--second-opinion-command")
    name = Path(words[0]).name
    if not _UNSAFE.isdisjoint(report.codes):
        return Opinion(name, False, False, ())
    with temporary_folder("second") as home:
        package = _folder(path, home / "package", limits)
        if package is None:
            return Opinion(name, False, False, ())
        out = home / "out"
        out.mkdir()
        completed = _run(_line(words, package, out), out, patience_s)
        answer = _answer([completed.stdout[:_MOST_BYTES], *_written_reports(out)])
        if answer is None and fallback_reader is not None and (completed.stdout or completed.returncode == 0):
            return fallback_reader(completed.stdout[:_MOST_BYTES], completed.returncode)
        if answer is None:
            return _no_answer(name, package, completed.stderr)
    return _opinion(answer, report)


def _folder(path: Path, home: Path, limits: UnpackLimits) -> Path | None:
    """The package as a folder: what is packed goes through `safe`, for the tools unpack whatever they are given."""
    if path.is_dir():
        return path.resolve()
    home.mkdir()
    unpack_to(path, home, limits=limits)
    tops = list(home.iterdir())
    return tops[0] if len(tops) == 1 and tops[0].is_dir() else None


def _line(words: list[str], package: Path, out: Path) -> list[str]:
    line = [word.replace("{out}", str(out)).replace("{}", str(package)) for word in words]
    return line if any("{}" in word for word in words) else [*line, str(package)]


def _run(line: list[str], place: Path, patience_s: float) -> subprocess.CompletedProcess[bytes]:
    """What the tool prints. What it leaves behind lies in `place`."""
    settings = {**child_environment(), "TMPDIR": str(place), "PYTHONIOENCODING": "utf-8"}
    try:
        return subprocess.run(  # noqa: S603  # the user's own command
            line, capture_output=True, check=False, timeout=patience_s, cwd=place, env=settings
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageFault(what="second-opinion-command", where=line[0], detail=type(error).__name__) from error


def _written_reports(out: Path) -> Iterator[bytes]:
    """Reports that the tool wrote instead of printing them."""
    for path in sorted(out.glob("*.json")):
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= _MOST_BYTES:
            yield path.read_bytes()


def _answer(texts: list[bytes]) -> Answer | None:
    for text in texts:
        for document in _objects(text):
            if "structure" in document:
                return Answer(EARK_VALIDATOR, _group_by_rule(_of_eark_validator(document)))
            if "validation" in document:
                return Answer(COMMONS_IP, _group_by_rule(_of_commons_ip(document)))
    return None


def _objects(text: bytes) -> Iterator[Mapping[str, object]]:
    """The JSON objects of a text: the whole of it, or lines of it among others."""
    for part in (text, *(line for line in text.splitlines() if line.startswith(b"{"))):
        try:
            document = json.loads(part)
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            yield document
            return


def _of_eark_validator(document: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    metadata = _inner(document, "metadata")
    parts = (_inner(document, "structure"), _inner(metadata, "schema_results"), _inner(metadata, "schematron_results"))
    for part in parts:
        for message in _list(part, "messages"):
            if str(message.get("severity", "")).lower() == "error":
                yield str(message.get("rule_id") or ""), str(message.get("message") or "")


def _of_commons_ip(document: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for requirement in _list(document, "validation"):
        testing = _inner(requirement, "testing")
        if testing.get("outcome") == "FAILED" and str(requirement.get("level", "MUST")).upper().startswith("MUST"):
            issues = testing.get("issues")
            texts = issues if isinstance(issues, list) and issues else [requirement.get("name", "")]
            for issue in texts:
                yield str(requirement.get("id") or ""), str(issue)


def _inner(parent: Mapping[str, object], name: str) -> Mapping[str, object]:
    inner = parent.get(name)
    return inner if isinstance(inner, dict) else {}


def _list(parent: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    inner = parent.get(name)
    return [item for item in inner if isinstance(item, dict)] if isinstance(inner, list) else []


def _group_by_rule(findings: Iterator[tuple[str, str]]) -> Mapping[str, tuple[str, ...]]:
    messages_by_rule: dict[str, tuple[str, ...]] = {}
    for rule, message in findings:
        messages = messages_by_rule.setdefault(rule, ())
        if len(messages) < _MOST_MESSAGES:
            messages_by_rule[rule] = (*messages, message[:400])
    return messages_by_rule


def _no_answer(name: str, package: Path, complaints: bytes) -> Opinion:
    last = complaints.decode("utf-8", "replace").strip().splitlines()[-1:]
    mets = package / spec.METS_FILE
    large = mets.is_file() and mets.stat().st_size > CRASHES_FROM_BYTES
    known_reasons = ("crashes-on-large-mets",) if large and EARK_VALIDATOR in name else ()
    return Opinion(name, True, False, tuple(text[:400] for text in last), known_reasons)


def _opinion(answer: Answer, report: ValidateResult) -> Opinion:
    """The answer without its known false alarms, which are named."""
    doubtful = FALSE_ALARMS[answer.tool]
    if answer.tool == EARK_VALIDATOR and report.version not in ("2.0.4", "2.1.0"):
        doubtful |= NEWER
    known_alarms = sorted(rule for rule in answer.broken if rule in doubtful and rule not in report.codes)
    remaining = {rule: rule_texts for rule, rule_texts in answer.broken.items() if rule not in known_alarms}
    messages = [f"{rule}: {text}" for rule, texts in sorted(remaining.items()) for text in texts]
    return Opinion(
        answer.tool,
        True,
        not remaining,
        tuple(messages[:_MOST_MESSAGES]),
        tuple(known_alarms),
        tuple(sorted(remaining)),
    )
