"""What a comparison found, as the facts of one page and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, get_args

from noarkit import __version__
from noarkit.report.page import MOST_PLACES, render
from noarkit.safe import atomic
from noarkit.validate.compare import Compared, Difference

ReportFormat = Literal["html", "json"]
REPORT_FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
COMPARISON_VERSION = 1
KINDS = ("only-left", "only-right", "differs")
_MOST_FIELDS = 50


def write_comparison(found: Compared, sides: tuple[str, str], path: Path, kind: ReportFormat, lang: str) -> None:
    """Writes the report of a comparison of two sides, by their names, to `path`, whole or not at all."""
    facts = comparison_facts(found, sides)
    if kind == "html":
        text = render("comparison.html", lang, facts)
    else:
        text = json.dumps(facts, ensure_ascii=False, indent=1) + "\n"
    atomic.write_text(path, text, mode=0o600)


def comparison_facts(found: Compared, sides: tuple[str, str]) -> dict[str, object]:
    """All that the page shows, as plain JSON values, with every difference that was kept."""
    fields = sorted(found.fields.items(), key=lambda entry: (-entry[1], entry[0]))
    return {
        "report": "comparison",
        "version": COMPARISON_VERSION,
        "noarkit": __version__,
        "left": sides[0],
        "right": sides[1],
        "by": found.by,
        "equal": found.equal,
        "held": {"left": sum(found.left.values()), "right": sum(found.right.values())},
        "counts": {kind: found.counts[kind] for kind in KINDS},
        "declared": dict(sorted(found.declared.items())),
        "types": [_type(found, name) for name in sorted({*found.left, *found.right})],
        "fields": [{"type": of, "field": name, "count": count} for (of, name), count in fields[:_MOST_FIELDS]],
        "fields_rest": max(0, len(fields) - _MOST_FIELDS),
        "differences": {kind: [_told(one) for one in found.differences if one.kind == kind] for kind in KINDS},
        "shown": MOST_PLACES,
    }


def _type(found: Compared, name: str) -> dict[str, object]:
    counted = {kind: found.types[kind, name] for kind in ("only-left", "only-right", "differs")}
    return {"type": name, "left": found.left.get(name, 0), "right": found.right.get(name, 0), **counted}


def _told(one: Difference) -> dict[str, object]:
    told: dict[str, object] = {"type": one.type, "key": one.key}
    return {**told, "field": one.field, "left": one.left, "right": one.right} if one.field else told
