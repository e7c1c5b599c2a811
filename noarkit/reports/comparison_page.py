"""The report of a comparison, as the facts of one page and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from noarkit.forms.comparison import CompareResult, Difference
from noarkit.model.disclosure import MASK, is_opaque, mask_key, mask_value, may_name_parts
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
    left, right = (fixity.to_dict() if fixity else None for fixity in fixities)
    facts |= {"imprint": imprint_facts(imprint), "fixity": {"left": left, "right": right}}
    if kind == "html":
        text = render("comparison.html", lang, facts)
    else:
        text = json.dumps(facts, ensure_ascii=False, indent=1) + "\n"
    atomic.write_text(path, text, mode=0o600)


def shown_keys(comparison: CompareResult) -> frozenset[str]:
    """The keys of the units that a page shows."""
    keys_by_kind = (
        [difference.key for difference in comparison.differences if difference.kind == kind][:MOST_PLACES]
        for kind in KINDS
    )
    return frozenset(key for keys in keys_by_kind for key in keys)


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
    name = names.get(difference.key)
    difference = mask_difference(difference)
    facts: dict[str, object] = {"type": difference.type, "key": difference.key}
    if name is not None:
        facts["unit"] = name
    if not difference.field:
        return facts
    return {**facts, "field": difference.field, "left": difference.left, "right": difference.right}


def mask_difference(difference: Difference) -> Difference:
    """A difference as people see it: what a screened unit, or a screened part of one, says stays with it."""
    name, within = difference.field.rpartition("/")[2], "/" in difference.field
    screened = difference.disclosure.is_screened or (
        difference.disclosure.hides_key and (within or may_name_parts(name))
    )
    left, right = (mask_value(name, value, screened=screened) for value in (difference.left, difference.right))  # type: ignore[arg-type]  # JSON
    return replace(difference, key=_masked_key(difference), left=left, right=right)


def _masked_key(difference: Difference) -> str:
    """The key of a unit; below a systemID the name that a screened one has there is masked."""
    above, slash, _ = difference.key.partition("/")
    is_below = difference.disclosure.is_screened and slash and is_opaque(above)
    return f"{above}/{difference.type}:{MASK}" if is_below else mask_key(difference.key, difference.disclosure)
