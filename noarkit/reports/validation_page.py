"""The report of a validation, as the facts of one page, as JSON, and as rows of CSV."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from noarkit.forms.findings import LEVELS, Count, Outcome, Place, ValidateResult
from noarkit.model.formats import classify_format
from noarkit.reports.citations import cited_sources
from noarkit.reports.fixity import Fixity
from noarkit.reports.page import MOST_PLACES, imprint_facts, render
from noarkit.reports.verdict_words import verdict_facts
from noarkit.safe import atomic
from noarkit.safe.csv_files import write_csv
from noarkit.settings import Imprint
from noarkit.version import __version__
from noarkit.words.texts import Texts, texts

ReportFormat = Literal["html", "json", "csv"]
REPORT_FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
VALIDATION_VERSION = 1

_YEARS = ("N908", "N914")
_PUID = re.compile(r"x?-?fmt/\d+")
_MEDIA_TYPE = re.compile(r"(?:application|audio|image|message|text|video)/[\w.+-]+")


def write_validation(
    report: ValidateResult,
    path: Path,
    kind: ReportFormat,
    lang: str,
    *,
    imprint: Imprint | None = None,
    fixity: Fixity | None = None,
    names: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Writes the report of a validation to `path`, whole or not at all; who made it, the package's checksum, and what
    units are called, by their systemIDs."""
    texts_ = texts(lang)
    if kind == "csv":
        head = [texts_.say(f"validation.{name}") for name in ("code", "level", "file", "line", "unit", "what")]
        write_csv(path, head, _rows(report, texts_))
        return
    facts = validation_facts(report, texts_, names)
    facts |= {"imprint": imprint_facts(imprint), "fixity": fixity.to_dict() if fixity else None}
    if kind == "html":
        text = render("validation.html", lang, facts)
    else:
        text = json.dumps(facts, ensure_ascii=False, indent=1) + "\n"
    atomic.write_text(path, text, mode=0o600)


def validation_facts(
    report: ValidateResult, texts_: Texts, names: Mapping[str, str] = MappingProxyType({})
) -> dict[str, object]:
    """All that the page shows, as plain JSON values, with every place that was kept."""
    broken_rules = {outcome.rule.code: outcome for outcome in report.outcomes}
    return {
        "report": "validation",
        "version": VALIDATION_VERSION,
        "noarkit": __version__,
        "package": report.package,
        "form": report.form,
        "form_version": report.version,
        "valid": report.valid,
        "verdict": verdict_facts(report.verdict, texts_),
        "numbers": {level: report.number(level) for level in LEVELS if level != "info"},
        "seconds": report.seconds,
        "summary": {name: list(words) for name, words in report.summary.items()},
        "rules": [
            {
                "code": rule.code,
                "level": rule.level,
                "area": rule.area,
                "cites": list(rule.cites),
                "title": texts_.text("rules", rule.code, "title"),
                "count": broken_rules[rule.code].count if rule.code in broken_rules else 0,
            }
            for rule in report.rules
            if rule.level != "info"
        ],
        "findings": [_finding_facts(outcome, texts_, names) for outcome in sorted(report.outcomes, key=_by_gravity)],
        "counts": [_count(count, texts_) for count in report.counts],
        "cited": cited_sources(cite for rule in report.rules for cite in rule.cites),
        "imprint": None,
        "fixity": None,
        "shown": MOST_PLACES,
    }


def place_sentence(code: str, place: Place, texts_: Texts, *, whole: bool = False) -> str:
    """What is wrong at one place, in a sentence. One that must be `whole` is empty where its facts are withheld."""
    if whole:
        return texts_.fill_whole(texts_.forms("rules", code, "told"), place.data)
    return texts_.fill(texts_.forms("rules", code, "told"), place.data)


def _by_gravity(outcome: Outcome) -> tuple[int, str]:
    return LEVELS.index(outcome.rule.level), outcome.rule.code


def _finding_facts(outcome: Outcome, texts_: Texts, names: Mapping[str, str]) -> dict[str, object]:
    rule = outcome.rule
    return {
        "code": rule.code,
        "level": rule.level,
        "cites": list(rule.cites),
        "title": texts_.text("rules", rule.code, "title"),
        "count": outcome.count,
        "places": [
            {
                "file": place.file,
                "line": place.line,
                "system_id": place.system_id,
                "unit": names.get(place.system_id or ""),
                "told": place_sentence(rule.code, place, texts_),
                "data": dict(place.data),
            }
            for place in outcome.places
        ],
    }


def _count(count: Count, texts_: Texts) -> dict[str, object]:
    code = count.rule.code
    rows = [{"labels": list(labels), "count": number, "name": _format_name(labels)} for labels, number in count.rows]
    labelled = [(" · ".join(word for word in labels if word) or "–", number) for labels, number in count.rows]
    chart = "columns" if code in _YEARS else ""
    return {
        "code": code,
        "cites": list(count.rule.cites),
        "title": texts_.text("rules", code, "title"),
        "total": count.total,
        "rest": count.remaining,
        "rows": rows,
        "chart": chart,
        "labelled": labelled if chart and len(labelled) > 1 else [],
    }


def _format_name(labels: Sequence[str]) -> str:
    """What people call the format that a row counts by its PRONOM identifier or media type; empty for other rows."""
    label = labels[0] if labels else ""
    if _PUID.fullmatch(label):
        name = classify_format(label, "", None).name
    elif _MEDIA_TYPE.fullmatch(label):
        name = classify_format(None, "", label).name
    else:
        return ""
    return "" if name in (label, "?") else name


def _rows(report: ValidateResult, texts_: Texts) -> Iterator[tuple[str, ...]]:
    for outcome in report.outcomes:
        code = outcome.rule.code
        for place in outcome.places:
            line = "" if place.line is None else str(place.line)
            sentence = place_sentence(code, place, texts_)
            yield code, texts_.say(f"level.{outcome.rule.level}"), place.file, line, place.system_id or "", sentence
