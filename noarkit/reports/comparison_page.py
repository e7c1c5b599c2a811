"""The report of a comparison, as the facts of one page and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from noarkit.catalogue.masking import MASK
from noarkit.forms.comparison import CompareResult, Difference
from noarkit.reports.fixity import Fixity
from noarkit.reports.page import MOST_PLACES, imprint_facts, render
from noarkit.safe import atomic
from noarkit.settings import Imprint
from noarkit.version import __version__

ReportFormat = Literal["html", "json"]
REPORT_FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
COMPARISON_VERSION = 1
KINDS = ("only-left", "only-right", "differs")
_MOST_FIELDS = 50


def write_comparison(
    comparison: CompareResult,
    sides: tuple[str, str],
    path: Path,
    kind: ReportFormat,
    lang: str,
    *,
    imprint: Imprint | None = None,
    fixities: tuple[Fixity | None, Fixity | None] = (None, None),
    names: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Writes the report of a comparison of two sides, by their names, to `path`, whole or not at all; with who made
    it, the checksums of both, and what units are called, by their keys."""
    facts = comparison_facts(comparison, sides, names)
    left, right = (fixity.as_data() if fixity else None for fixity in fixities)
    facts |= {"imprint": imprint_facts(imprint), "fixity": {"left": left, "right": right}}
    if kind == "html":
        text = render("comparison.html", lang, facts)
    else:
        text = json.dumps(facts, ensure_ascii=False, indent=1) + "\n"
    atomic.write_text(path, text, mode=0o600)


def shown_keys(comparison: CompareResult) -> frozenset[str]:
    """The keys of the units that a page shows."""
    shown = (
        [difference.key for difference in comparison.differences if difference.kind == kind][:MOST_PLACES]
        for kind in KINDS
    )
    return frozenset(key for keys in shown for key in keys)


def comparison_facts(
    comparison: CompareResult, sides: tuple[str, str], names: Mapping[str, str] = MappingProxyType({})
) -> dict[str, object]:
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
            kind: [_difference_facts(item, names) for item in comparison.differences if item.kind == kind]
            for kind in KINDS
        },
        "shown": MOST_PLACES,
        "imprint": None,
        "fixity": {"left": None, "right": None},
    }


def _type(comparison: CompareResult, name: str) -> dict[str, object]:
    counts = {kind: comparison.types[kind, name] for kind in ("only-left", "only-right", "differs")}
    sides = {"left": comparison.left.get(name, 0), "right": comparison.right.get(name, 0)}
    return {"type": name, **sides, **counts, "differing": any(counts.values())}


def _difference_facts(difference: Difference, names: Mapping[str, str]) -> dict[str, object]:
    facts: dict[str, object] = {"type": difference.type, "key": difference.key}
    name = names.get(difference.key)
    if name is not None:
        facts["unit"] = name
    if not difference.field:
        return facts
    left, right = difference.left, difference.right
    if name is not None and MASK in name:  # what a screened unit says stays with it
        left, right = (None if value is None else MASK for value in (left, right))
    return {**facts, "field": difference.field, "left": left, "right": right}
