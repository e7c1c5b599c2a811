"""The report of a comparison, as the facts of one page and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, get_args

from noarkit.forms.comparison import CompareResult, Difference
from noarkit.reports.page import MOST_PLACES, render
from noarkit.safe import atomic
from noarkit.version import __version__

ReportFormat = Literal["html", "json"]
REPORT_FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
COMPARISON_VERSION = 1
KINDS = ("only-left", "only-right", "differs")
_MOST_FIELDS = 50


def write_comparison(
    comparison: CompareResult, sides: tuple[str, str], path: Path, kind: ReportFormat, lang: str
) -> None:
    """Writes the report of a comparison of two sides, by their names, to `path`, whole or not at all."""
    facts = comparison_facts(comparison, sides)
    if kind == "html":
        text = render("comparison.html", lang, facts)
    else:
        text = json.dumps(facts, ensure_ascii=False, indent=1) + "\n"
    atomic.write_text(path, text, mode=0o600)


def comparison_facts(comparison: CompareResult, sides: tuple[str, str]) -> dict[str, object]:
    """All that the page shows, as plain JSON values, with every difference that was kept."""
    fields = sorted(comparison.fields.items(), key=lambda entry: (-entry[1], entry[0]))
    return {
        "report": "comparison",
        "version": COMPARISON_VERSION,
        "noarkit": __version__,
        "left": sides[0],
        "right": sides[1],
        "by": comparison.by,
        "equal": comparison.equal,
        "held": {"left": sum(comparison.left.values()), "right": sum(comparison.right.values())},
        "counts": {kind: comparison.counts[kind] for kind in KINDS},
        "declared": dict(sorted(comparison.declared.items())),
        "types": [_type(comparison, name) for name in sorted({*comparison.left, *comparison.right})],
        "fields": [{"type": of, "field": name, "count": count} for (of, name), count in fields[:_MOST_FIELDS]],
        "fields_rest": max(0, len(fields) - _MOST_FIELDS),
        "differences": {
            kind: [_difference_facts(difference) for difference in comparison.differences if difference.kind == kind]
            for kind in KINDS
        },
        "shown": MOST_PLACES,
    }


def _type(comparison: CompareResult, name: str) -> dict[str, object]:
    counts = {kind: comparison.types[kind, name] for kind in ("only-left", "only-right", "differs")}
    return {"type": name, "left": comparison.left.get(name, 0), "right": comparison.right.get(name, 0), **counts}


def _difference_facts(difference: Difference) -> dict[str, object]:
    facts: dict[str, object] = {"type": difference.type, "key": difference.key}
    return (
        {**facts, "field": difference.field, "left": difference.left, "right": difference.right}
        if difference.field
        else facts
    )
