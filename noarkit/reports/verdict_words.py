"""A verdict in words: its sentence, and each reason with whose task it is and what to do about it."""

from __future__ import annotations

from noarkit.verdict import Reason, Verdict
from noarkit.words.texts import Texts

_INDENT = " " * 11
"""What stands below a reason on a terminal stands under its sentence."""


def verdict_sentence(verdict: Verdict, texts: Texts) -> str:
    """The verdict in one sentence, with how many reasons and remarks it has."""
    stops = sum(reason.stops for reason in verdict.reasons)
    return texts.say(f"verdict.{verdict.state}", stops=stops, remarks=len(verdict.reasons) - stops or None)


def verdict_facts(verdict: Verdict | None, texts: Texts) -> dict[str, object] | None:
    """The verdict as a page shows it; None where nobody judged."""
    if verdict is None:
        return None
    return {
        "state": verdict.state,
        "title": texts.say("verdict.title"),
        "sentence": verdict_sentence(verdict, texts),
        "reasons": [_reason_facts(reason, texts) for reason in verdict.reasons],
        "not_looked_at": texts.say("verdict.not-looked-at"),
    }


def verdict_lines(verdict: Verdict, texts: Texts) -> list[str]:
    """The verdict for a terminal: what stops first, then the remarks, each with its remedy."""
    lines = [verdict_sentence(verdict, texts)]
    for reason in verdict.reasons:
        facts = _reason_facts(reason, texts)
        rules = ", ".join(reason.rules)
        lines.append(
            texts.say("verdict.reason", grade=facts["grade_word"], sentence=facts["sentence"], rules=rules or None)
        )
        lines.append(f"{_INDENT}{facts['advice']}")
    return lines


def _reason_facts(reason: Reason, texts: Texts) -> dict[str, object]:
    grade = "accepted" if reason.accepted is not None else reason.grade
    return {
        **reason.to_dict(),
        "grade_word": texts.say(f"verdict.{grade}"),
        "sentence": texts.fill(
            texts.forms("verdict_reasons", reason.code), {"count": reason.count, "units": reason.units or None}
        ),
        "advice": _advice(reason, texts),
    }


def _advice(reason: Reason, texts: Texts) -> str:
    """Who accepted it; else what to do and whose task that is."""
    acceptance = reason.accepted
    if acceptance is not None:
        return texts.say("verdict.acceptance", by=acceptance.by, day=acceptance.on, note=acceptance.note or None)
    owner, remedy = texts.text("verdict_owners", reason.owner), texts.text("verdict_remedies", reason.code)
    return texts.say("verdict.remedy", owner=owner, remedy=remedy)
