"""The report beside the package: what the form cannot say, entity by entity, and what was filled in by which rule.

`PKG.not-in-form.json` holds the counts and the first finds of each kind, `PKG.not-in-form.csv` every find.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from noarkit.extraction.account import AccountRights
from noarkit.extraction.assemble import Assembly
from noarkit.extraction.copies import FormatCounts
from noarkit.extraction.rows import LEFT_OUT
from noarkit.extraction.store import ExtractStore
from noarkit.model.mapping import mapping
from noarkit.safe.atomic import open_atomic
from noarkit.verdict import Load
from noarkit.words.texts import texts

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class ReportContext:
    """What the report needs beside the assembly."""

    rights: AccountRights
    flaws: tuple[str, ...]
    open_units: Mapping[str, int]
    formats: FormatCounts
    loads: tuple[Load, ...] = ()
    restored: int = 0
    """How many things got the dates, years and numbers of their source back."""


def table_path(target: Path) -> Path:
    """Where the table of every find stands."""
    return target.parent / f"{target.name}.not-in-form.csv"


def report_path(target: Path) -> Path:
    """Where the report stands."""
    return target.parent / f"{target.name}.not-in-form.json"


def write_report(store: ExtractStore, target: Path, assembly: Assembly, context: ReportContext) -> Path:
    """Writes the JSON and says where it is; the table is there by then."""
    path = report_path(target)
    content = json.dumps(_build_report(store, assembly, context), ensure_ascii=False, indent=1) + "\n"
    with open_atomic(path, sync=False) as file:
        file.write(content.encode())
    return path


def _build_report(store: ExtractStore, assembly: Assembly, context: ReportContext) -> dict[str, object]:
    return {
        "format": _FORMAT,
        "description_sha256": assembly.description_sha256,
        "depositable": False,  # until somebody judged it
        "flaws": list(context.flaws),
        "restored": context.restored,
        "loads": [asdict(load) for load in context.loads],
        "as_seen_by": asdict(context.rights),
        "open_units": dict(context.open_units),
        "units": dict(sorted(assembly.tally.units.items())),
        "not_in_form": _describe_fields(assembly.unsupported_fields),
        "never_fetched": sorted(LEFT_OUT),
        "entities": dict(sorted(assembly.lost_counts.items())),
        "defaults": [
            {"type": kind, "element": element, "rule": rule, "count": count, **_meaning("mapping_rules", rule)}
            for (kind, element, rule), count in sorted(assembly.tally.defaults.items())
        ],
        "placed_by_rule": {
            "made_classes": assembly.placement.made_classes,
            "made_folders": assembly.placement.made_folders,
            "repeated_systems": assembly.placement.repeated_systems,
            "systems_left_out": assembly.placement.left_out_systems,
        },
        "journals": {
            "entries": assembly.journals.entries,
            "posts_outside_case_files": assembly.journals.outside_cases,
            "posts_without_parties": assembly.journals.without_parties,
        },
        "originals": {
            "restored": assembly.tally.restore_count.values,
            "left_out": assembly.tally.restore_count.left_out,
        },
        "changes": {
            "entries": assembly.changes,
            "left_out": _changes_left_out(store),
            "unseen": store.fact("changes-unseen"),
        },
        "replaced_signs": assembly.replaced_signs,
        "references_to_nothing": list(_orphans(store)),
        "gaps": list(_gaps(store)),
        "copies": {
            "originals_left_out": context.formats.stood_for,
            "numbered_as_original": context.formats.renumbered,
            "access_left_out": context.formats.access_left_out,
        },
        "formats_not_taken": context.formats.not_taken,
        "files_left_out": store.number("SELECT count(*) FROM version WHERE done = 2"),
    }


def _describe_fields(fields: Counter[tuple[str, str]]) -> list[dict[str, object]]:
    """Fields that have no element, each with its reason and how many objects have it set."""
    entries = []
    for (kind, name), count in sorted(fields.items()):
        mapped_field = mapping().types[kind].fields.get(name)
        if mapped_field is not None and mapped_field.path is None and mapped_field.reason is not None:
            entry = {"type": kind, "field": name, "count": count, "reason": mapped_field.reason}
            entries.append({**entry, **_meaning("mapping_reasons", mapped_field.reason)})
    return entries


def _meaning(table: str, word: str) -> dict[str, str]:
    """What a reason or a rule of the mapping means, in both languages: the report outlives the run."""
    english, norwegian = texts("en"), texts("nb")
    if not english.has(table, word):
        return {"means": word, "means_nb": word}
    return {"means": english.text(table, word), "means_nb": norwegian.text(table, word)}


def _changes_left_out(store: ExtractStore) -> dict[str, int]:
    rows = store.rows("SELECT name, value FROM fact WHERE name LIKE 'changes-left-out/%' ORDER BY name")
    return {str(name).partition("/")[2]: int(str(value)) for name, value in rows}


def _orphans(store: ExtractStore) -> Iterator[dict[str, object]]:
    """Objects whose parent is not among what was fetched: it is gone, or this account may not see it."""
    for table, sql in (
        (
            "folder",
            "SELECT count(*) FROM unit u WHERE kind = 'M' AND typeof(parent) = 'integer' AND NOT EXISTS"
            " (SELECT 1 FROM unit m WHERE m.id = u.parent AND m.kind = 'M')",
        ),
        (
            "record",
            "SELECT count(*) FROM unit u WHERE kind = 'R' AND typeof(parent) = 'integer' AND NOT EXISTS"
            " (SELECT 1 FROM unit m WHERE m.id = u.parent AND m.kind = 'M')",
        ),
        (
            "class",
            "SELECT count(*) FROM unit u WHERE klasse IS NOT NULL AND kind IN ('M', 'R') AND NOT EXISTS"
            " (SELECT 1 FROM unit k WHERE k.id = u.klasse AND k.kind = 'K')",
        ),
        ("document", "SELECT count(*) FROM document d WHERE NOT EXISTS (SELECT 1 FROM unit u WHERE u.id = d.parent)"),
        ("version", "SELECT count(*) FROM version v WHERE NOT EXISTS (SELECT 1 FROM document d WHERE d.id = v.parent)"),
        (
            "link",
            "SELECT count(*) FROM link k WHERE k.data = '' AND k.name NOT LIKE 'refSekundaer%' AND NOT EXISTS"
            " (SELECT 1 FROM unit u WHERE u.id = k.target)",
        ),
    ):
        count = store.number(sql)
        if count:
            yield {"what": table, "count": count}


def _gaps(store: ExtractStore) -> Iterator[dict[str, object]]:
    """Years whose numbers of case files or journal posts leave some out."""
    for series, kinds, year, number in (
        ("sakssekvensnummer", "type = 'Saksmappe'", "saksaar", "sakssekvensnummer"),
        ("journalsekvensnummer", "type = 'Journalpost'", "journalaar", "journalsekvensnummer"),
    ):
        sql = (
            f"SELECT y, min(n), max(n), count(DISTINCT n) FROM (SELECT json_extract(data, '$.f.{year}') y,"  # noqa: S608  # our own names
            f" json_extract(data, '$.f.{number}') n FROM unit WHERE {kinds}) WHERE y IS NOT NULL GROUP BY y ORDER BY y"
        )
        for told_year, low, high, count in store.rows(sql):
            missing = int(str(high)) - int(str(low)) + 1 - int(str(count))
            if missing:
                yield {"series": series, "year": told_year, "from": low, "to": high, "missing": missing}
