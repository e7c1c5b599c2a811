"""What became of documents, in words: names of reasons and findings, and what is known of one document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from noarkit.wings import require_wing
from noarkit.words.texts import Texts, fields

if TYPE_CHECKING:
    from noarkit.copies.port import Finding

_SIZES = frozenset({"bytes", "limit", "limit_bytes"})
_PARTS = ("what", "so_what", "do")


def reason_name(words: Texts, reason: str) -> str:
    """A reason in a few words; its code where nobody wrote them."""
    key = ("copies", "reason_name", reason)
    return words.text(*key) if words.has(*key) else reason


def reason_sentences(words: Texts, reason: str) -> dict[str, str]:
    """What happened, what follows, and what to do."""
    return {part: words.text("copies", "reason", reason, part) for part in _PARTS}


def finding_name(words: Texts, code: str) -> str:
    """A finding in a few words; its code where nobody wrote them."""
    key = ("copies", "finding_name", code)
    return words.text(*key) if words.has(*key) else code


def finding_sentence(words: Texts, finding: Finding) -> str:
    """A finding in words, with its data; its code where nobody wrote a sentence."""
    key = ("copies", "finding", finding.code)
    if not words.has(*key):
        return finding.code
    return words.fill(
        words.forms(*key), {name: _finding_value(words, name, value) for name, value in finding.data.items()}
    )


def reason_detail(
    words: Texts, reason: str, data: Mapping[str, object], *, rule: str = "", format_: str = "", suffix: str = ""
) -> str:
    """What is known of one document beyond its reason; empty where that is nothing. For a document that is left to a
    person: why its rule does that, and the steps."""
    require_wing("copies")
    from noarkit.copies.reasons import Reason

    if reason == Reason.MANUAL:
        return " ".join(manual_steps(words, rule, data))
    key = "not-isolated" if reason == Reason.EXTERNAL_CONTENT and data.get("isolated") is False else reason
    if not words.has("copies", "detail", key):
        return ""
    known = {name: _value(words, name, value) for name, value in data.items() if value not in ("", [], None)}
    known.setdefault("what_differs", known.pop("what", ""))
    known |= {name: value for name, value in (("format", format_), ("suffix", suffix)) if value and name not in known}
    known = {name: value for name, value in known.items() if value}
    form = next((form for form in words.forms("copies", "detail", key) if fields(form) <= known.keys()), None)
    return words.fill((form,), known) if form is not None else ""


def manual_steps(words: Texts, rule: str, data: Mapping[str, object]) -> list[str]:
    """Why a rule leaves its documents to a person, and what that person does: of a shipped rule in this language."""
    if words.has("copies_manual", rule, "why"):
        return [words.text("copies_manual", rule, part) for part in ("why", "steps")]
    steps = data.get("steps")
    sentences = [str(data.get("why") or ""), *(map(str, steps) if isinstance(steps, list) else ())]
    return [sentence for sentence in sentences if sentence]


def _value(words: Texts, name: str, value: object) -> str:
    if name == "findings" and isinstance(value, list):
        return ", ".join(finding_name(words, str(code)) for code in value)
    if name in _SIZES and isinstance(value, int):
        return words.size(value)
    if isinstance(value, float):
        return words.decimal(value)
    text = str(_plain(value))
    return words.text("copies", "value", text) if words.has("copies", "value", text) else text


def _finding_value(words: Texts, name: str, value: object) -> object:
    """A value of a finding; kinds of content by their names."""
    if name not in ("kind", "kinds"):
        return _plain(value)
    names = value if isinstance(value, list | tuple) else [value]
    keys = [("copies", "content_kind", str(kind)) for kind in names]
    return ", ".join(words.text(*key) if words.has(*key) else key[-1] for key in keys)


def _plain(value: object) -> object:
    """A list as people write it; everything else as it is."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
