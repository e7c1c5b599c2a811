"""The steps of a file that was made of another: who made it of what, and who took it as it is where it was held.

A place that has the whole conversion (`formatDetaljer`) makes the steps of it. An extract tells a conversion in
elements and a comment, and a package in events of PREMIS; what these say is read when a chain is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

from noarkit.catalogue.moments import exact, zoned
from noarkit.catalogue.port import CustodyStep, Document
from noarkit.model.conversions import Comment, Conversion, parse_comment, parse_details

CONVERTED, ACCEPTED, COPIED, CHECKED = "converted", "accepted", "copied", "checked"
COMMENT, DETAIL = "comment", "detail"
"""Facts of a step that are read when it is shown: the comment of a conversion, the detail of an event of PREMIS."""
PURPOSE = "purpose"
"""The fact of a step that says what a copy is for, where that is access."""
_MIGRATION, _VALIDATION = "migration", "validation"
_MIGRATED = re.compile(
    r"(?P<from_format>\S+) to (?P<to_format>\S+), rule (?P<rule>.+),"
    r" sha256 (?P<source_sha256>[0-9a-f]{64}) to (?P<sha256>[0-9a-f]{64})(?P<access>, for access)?"
)
_PASSED = re.compile(r"every check of the rule (?P<rule>.+) passed before the file counted as a copy")
_TAKEN = re.compile(r"accepted as a copy by a person, as it is:(?: (?P<findings>.+))?")
_FIRST = datetime.min.replace(tzinfo=UTC)


def steps_of_details(details: str) -> tuple[CustodyStep, ...]:
    """The steps that a `formatDetaljer` tells of; none where it is any other text."""
    conversion = parse_details(details)
    return () if conversion is None else steps_of(conversion)


def steps_of(conversion: Conversion) -> tuple[CustodyStep, ...]:
    """The conversion, and its acceptance where there was one."""
    facts = {
        "tool": conversion.tool,
        "rule": conversion.rule,
        "from_format": conversion.source_format,
        "to_format": conversion.result_format,
        "source_sha256": conversion.source_sha256,
        "findings": ", ".join(conversion.findings),
        PURPOSE: _told_purpose(conversion),
    }
    converted = CustodyStep(
        *(CONVERTED, conversion.made_at, conversion.result_sha256, conversion.made_by), facts=_without_empty(facts)
    )
    return (converted, *_acceptance(conversion))


def role_of(document: Document, beside: Iterable[Document]) -> Literal["copy", "access", "original", ""]:
    """What a document is among those of its item: an archival copy, one for access, the original of one, or neither."""
    sources = {step.facts.get("source_sha256", "") for step in document.custody if step.step == CONVERTED}
    if sources and document.sha256 not in sources:
        return "access" if any(step.facts.get(PURPOSE) for step in document.custody) else "copy"
    made_of = {
        step.facts.get("source_sha256", "")
        for neighbour in beside
        for step in neighbour.custody
        if step.step == CONVERTED
    }
    return "original" if document.sha256 and document.sha256 in made_of else ""


def complete_steps(steps: Iterable[CustodyStep], sha256: str, zone: str) -> tuple[CustodyStep, ...]:
    """The steps of a file with this checksum as they are shown: comments and details read, what two sources tell told
    once, moments in one zone, and in the order of time as far as it is told."""
    steps_by_key: dict[tuple[str, str, str], CustodyStep] = {}
    for step in _read(steps, sha256):
        moment = replace(step, at=exact(step.at, zone))
        of = "" if step.step == ACCEPTED else step.facts.get("source_sha256", "")
        key = (step.step, moment.at, of or step.agent)
        earlier = steps_by_key.get(key)
        steps_by_key[key] = moment if earlier is None else _merge_steps(earlier, moment)
    complete = list(steps_by_key.values())
    if any(step.step == CONVERTED for step in complete):
        # the conversion itself says that every check passed
        complete = [step for step in complete if step.step != CHECKED]
    if all(zoned(step.at, zone) for step in complete):
        complete.sort(key=lambda step: zoned(step.at, zone) or _FIRST)
    return tuple(complete)


def _read(steps: Iterable[CustodyStep], sha256: str) -> Iterator[CustodyStep]:
    for step in steps:
        if COMMENT in step.facts:
            yield from _comment_steps(step)
        elif DETAIL in step.facts:
            yield _event_step(step, sha256)
        else:
            yield step


def _comment_steps(step: CustodyStep) -> Iterator[CustodyStep]:
    """A conversion of an extract, and the acceptance that its comment tells."""
    comment = parse_comment(step.facts[COMMENT])
    facts = {name: text for name, text in step.facts.items() if name != COMMENT}
    comment_facts = {
        "rule": comment.rule,
        "source_sha256": comment.source_sha256,
        "findings": ", ".join(comment.findings),
        PURPOSE: _told_purpose(comment),
    }
    if not comment.source_sha256:  # the words of somebody else
        comment_facts = {"note": step.facts[COMMENT]}
    yield replace(step, sha256=comment.result_sha256, facts=_without_empty({**facts, **comment_facts}))
    yield from _acceptance(comment)


def _told_purpose(statement: Conversion | Comment) -> str:
    """The purpose of a copy where it is not that of every copy."""
    return "access" if statement.purpose == "access" else ""


def _acceptance(statement: Conversion | Comment) -> Iterator[CustodyStep]:
    if statement.accepted_by or statement.accepted_at:
        facts = _without_empty({"findings": ", ".join(statement.findings)})
        yield CustodyStep(ACCEPTED, statement.accepted_at, statement.result_sha256, statement.accepted_by, facts)


def _event_step(step: CustodyStep, sha256: str) -> CustodyStep:
    """An event of PREMIS; one that tells of an archival copy under the name that other places have for it."""
    detail = step.facts[DETAIL]
    if step.step == _MIGRATION and (match := _MIGRATED.fullmatch(detail)):
        facts = match.groupdict()
        result = facts.pop("sha256")
        facts[PURPOSE] = "access" if facts.pop("access") else ""
        if sha256 == facts["source_sha256"]:
            about = {name: facts[name] for name in ("rule", "to_format", PURPOSE)}
            copied = _without_empty({**about, "copy_sha256": result, "tool": step.agent})
            return CustodyStep(COPIED, step.at, sha256, "", copied)
        tool, _, maker = step.agent.partition("; ")
        return CustodyStep(CONVERTED, step.at, result, maker or tool, _without_empty({**facts, "tool": tool}))
    if step.step == _VALIDATION and (match := _PASSED.fullmatch(detail)):
        return CustodyStep(CHECKED, step.at, "", step.agent, match.groupdict())
    if step.step == _VALIDATION and (match := _TAKEN.fullmatch(detail)):
        return CustodyStep(ACCEPTED, step.at, sha256, step.agent, _without_empty({"findings": match["findings"] or ""}))
    return replace(step, facts={})


def _merge_steps(first: CustodyStep, second: CustodyStep) -> CustodyStep:
    """What two sources tell of one step."""
    facts = {**second.facts, **first.facts}
    return replace(first, sha256=first.sha256 or second.sha256, agent=first.agent or second.agent, facts=facts)


def _without_empty(facts: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in facts.items() if text}
