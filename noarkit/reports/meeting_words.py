"""What a plan meets of earlier runs, in words: which cases and records have other values in the source than were
loaded, and what the load does about them. Plan, load, project and page say it by these lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any  # facts of a page, plain JSON

from noarkit.words.labels import field_label
from noarkit.words.texts import Texts

_STAY = ("cases", "records", "others")


def meeting_lines(facts: Mapping[str, Any] | None, texts: Texts) -> Iterator[str]:
    """A line for each kind that has other values, and one for those that will be changed; none where nothing has."""
    if not facts:
        return
    for kind in (*_STAY, "followed"):
        if facts[kind]:
            cases_of_kind = [case for case in facts["first"] if case["follows"] == (kind == "followed")]
            cases = case_names(cases_of_kind, facts[kind], texts) if kind in ("cases", "followed") else None
            yield texts.say(f"meeting.{kind}", count=facts[kind], cases=cases)


def case_names(cases: list[Mapping[str, Any]], count: int, texts: Texts) -> str | None:
    """The first cases, each with the names of its fields: `2014/73: title, party`."""
    lines = [f"{case['name']}: {', '.join(field_label(texts, name) for name in case['fields'])}" for case in cases]
    return "; ".join([*lines, *(["…"] if count > len(lines) else [])]) or None


def keeps_values(facts: Mapping[str, Any] | None) -> bool:
    """True if anything in the archive keeps other values than the source has."""
    return facts is not None and any(facts[kind] for kind in _STAY)
