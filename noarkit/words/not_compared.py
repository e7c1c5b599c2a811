"""Rows of a verification as sentences: what agrees, and what was not compared for which reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from noarkit.words.texts import Texts

_NOT_OBJECTS = ("source records", "keys", "sums", "below", "links", "order", "fields", "files", "listing")


def format_row(texts: Texts, facts: Mapping[str, object]) -> str:
    """One row: so many of so many agree, and why the rest was not compared."""
    reasons = reasons_of(texts, facts)
    fields = {"name": name_of(texts, facts), "agree": facts["agree"], "comparable": facts["comparable"]}
    return texts.say("verify.row-left", **fields, left=reasons) if reasons else texts.say("verify.row", **fields)


def name_of(texts: Texts, facts: Mapping[str, object]) -> str:
    """What a row is about; the archive's own name of a type where there is no other."""
    name = str(facts["name"])
    return texts.say(f"compared.{name}") if texts.has("say", f"compared.{name}") else name


def reasons_of(texts: Texts, facts: Mapping[str, object]) -> str:
    """Why some of a row were not compared; empty if all were."""
    counts = facts["not_compared"]
    return ", ".join(_reason(texts, reason, count) for reason, count in _pairs(counts))


def format_summary(texts: Texts, rows: Iterable[Mapping[str, object]], reasons: Iterable[str]) -> str:
    """What was not compared, by reason, with how many of each kind; all types of objects are one kind."""
    counts: dict[str, dict[str, int]] = {reason: {} for reason in reasons}
    for facts in rows:
        kind = str(facts["name"]) if facts["name"] in _NOT_OBJECTS else "objects"
        for reason, count in _pairs(facts["not_compared"]):
            if reason in counts:
                counts[reason][kind] = counts[reason].get(kind, 0) + count
    return "; ".join(
        texts.say(
            "verify.left",
            reason=texts.say(f"left.{reason}"),
            kinds=", ".join(texts.say(f"kinds.{kind}", count=count) for kind, count in kinds.items()),
        )
        for reason, kinds in counts.items()
    )


def _reason(texts: Texts, reason: str, count: int) -> str:
    return texts.say("verify.reason", count=count, reason=texts.say(f"left.{reason}"))


def _pairs(counts: object) -> list[tuple[str, int]]:
    return [(str(reason), int(count)) for reason, count in counts.items()] if isinstance(counts, Mapping) else []
